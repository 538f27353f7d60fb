//! How merges are applied, where it is not simply the lowest rank first.

use std::sync::Arc;

use crate::events::Event;
use crate::merges::Rank;
use crate::pretokenize::Pretokenizer;

/// A way to apply merges other than by rank alone.
#[derive(Debug, Clone)]
pub enum Scheme {
    /// Every pretoken is cut into words. Words are merged first, each for itself; then those that
    /// became one token join their neighbours (Schmidt et al., "Boundless Byte Pair Encoding",
    /// COLM 2025).
    Superwords {
        /// How a pretoken is cut into words.
        words: Arc<Pretokenizer>,
        /// The ranks of the merges that join words, in rising order.
        ranks: Vec<Rank>,
    },
    /// Tokens are merged and split again by these events, in this order; there are no merges beside.
    /// Their numbers are the bytes by their values, or the characters of the vocabulary by their code
    /// points, and then each token in the order in which it is made first.
    Events(Arc<[Event]>),
}
