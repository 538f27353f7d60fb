//! How merges are applied, where it is not simply the lowest rank first.

use std::sync::Arc;

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
}
