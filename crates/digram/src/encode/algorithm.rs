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
    /// The longest token at the start of a pretoken, then the longest one after it, and so on.
    WordPiece(WordPieceRules),
}

/// The rules of WordPiece. A pretoken begins with a space, which is part of the first token.
///
/// Where no token matches, the whole pretoken is the unknown token, which the vocabulary must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPieceRules {
    /// A pretoken of more characters, the first space not counted, is the unknown token.
    pub max_word_chars: usize,
    /// The prefix that marks tokens without a space in files. A pretoken that begins with it, after the space, may
    /// begin with such a token.
    pub prefix: String,
}

impl Algorithm {
    /// BPE by rank alone.
    pub const RANKED: Algorithm = Algorithm::Ranked { ignore_merges: false };
}
