//! Counts wherever they lie.

use crate::error::Result;

use super::Totals;

/// A distinct pretoken with its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The pretoken.
    pub bytes: &'a [u8],
    /// How often it stands in the corpus.
    pub count: u64,
    /// Where it first stands: a number that grows along the corpus.
    pub first: u64,
}

/// Distinct pretokens with their counts, in memory or on disk. They can be gone through again and
/// again, always in the same order.
pub trait Pieces {
    /// The sums over the corpus.
    fn totals(&self) -> Totals;

    /// How many distinct pretokens there are.
    fn distinct(&self) -> u64;

    /// Calls `visit` with each of them; its first error stops and is the result.
    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>;
}
