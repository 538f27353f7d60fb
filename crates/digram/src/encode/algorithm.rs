//! The algorithm by which pretokens become ids, which depends on the kind of model.

use std::sync::Arc;

use crate::events::Event;
use crate::merges::Rank;
use crate::pretokenize::Pretokenizer;

/// The algorithm by which pretokens become ids.
#[derive(Debug, Clone)]
pub enum Algorithm {
    /// BPE: the merge of the lowest rank is always applied first.
    Ranked {
        /// Whether a pretoken that is a token becomes that token even if the merges give other ids.
        ignore_merges: bool,
    },
    /// BPE whose pretokens are split into words. Each word is merged separately first; then words that became a
    /// single token join their neighbours (Schmidt et al., "Boundless Byte Pair Encoding", COLM 2025).
    Superwords {
        /// Splits a pretoken into words.
        words: Arc<Pretokenizer>,
        /// The ranks of the merges that join words, in rising order.
        ranks: Vec<Rank>,
    },
    /// Tokens are merged and split again by these events, in this order; there are no other merges. Tokens
    /// are numbered: first the bytes by value, or the characters of the vocabulary by code point, then each
    /// token in the order in which it is first made.
    Events(Arc<[Event]>),
}

impl Algorithm {
    /// BPE by rank alone.
    pub const RANKED: Algorithm = Algorithm::Ranked { ignore_merges: false };
}
