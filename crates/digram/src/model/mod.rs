//! Tokens with their merges, shared by all tokenizers made from them.

mod stored;

use std::sync::Arc;

use crate::error::Result;
use crate::index::TokenIndex;
use crate::interrupt::Interrupt;
use crate::merges::{Merge, Merges};
use crate::ranks::Ranks;
use crate::vocabulary::{TokenId, Vocabulary};

/// Ordinary tokens and their merges: the large part of a tokenizer, without special tokens,
/// pretokenizer and unknown characters. Cheap to clone.
#[derive(Clone)]
pub struct Model {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) merges: Arc<Merges>,
    /// Computed as a by-product, if the units are bytes.
    pub(crate) known: Option<Known>,
}

/// Results that need not be computed again.
#[derive(Clone)]
pub(crate) struct Known {
    /// All tokens by their bytes.
    pub(crate) index: Arc<TokenIndex>,
    /// The tokens that merging never makes from any text, in ascending order.
    pub(crate) unreachable: Arc<[TokenId]>,
}

impl Model {
    /// Tokens and merges in rank order. Fails if the merges do not fit the tokens; see
    /// [`Merges::new`].
    pub fn new(vocabulary: Vocabulary, merges: Vec<Merge>) -> Result<Model> {
        let merges = Merges::new(merges, &vocabulary)?;
        Ok(Model { vocabulary: Arc::new(vocabulary), merges: Arc::new(merges), known: None })
    }

    /// Tokens in rank order, and the merges behind the ranks; see [`Ranks::merges`].
    pub fn from_ranks(ranks: &Ranks, interrupt: &dyn Interrupt) -> Result<Model> {
        let (merges, unreachable) = ranks.merges(interrupt)?;
        Ok(Model {
            vocabulary: ranks.vocabulary.clone(),
            merges: Arc::new(merges),
            known: Some(Known { index: ranks.index.clone(), unreachable: unreachable.into() }),
        })
    }

    /// The tokens that merging never makes from any text, in ascending order, if known.
    pub fn unreachable(&self) -> Option<&[TokenId]> {
        self.known.as_ref().map(|known| &known.unreachable[..])
    }

    /// The tokens.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The merges.
    pub fn merges(&self) -> &Merges {
        &self.merges
    }
}
