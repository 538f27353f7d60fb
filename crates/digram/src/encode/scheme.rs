//! Ways to apply merges other than by rank alone.

use std::sync::Arc;

use crate::events::Event;
use crate::merges::Rank;
use crate::pretokenize::Pretokenizer;

/// A way to apply merges other than by rank alone.
#[derive(Debug, Clone)]
pub enum Scheme {
    /// Every pretoken is split into words. Each word is merged separately first; then words that became a
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
