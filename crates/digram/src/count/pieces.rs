//! Counts wherever they lie.

use std::borrow::Cow;

use crate::error::Result;
use crate::interrupt::Interrupt;

use super::{Counts, Entry, Totals};

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

    /// The bytes of the distinct pretokens, each once.
    fn distinct_bytes(&self) -> u64;

    /// How many bytes of memory they hold as they lie: on disk none.
    fn held(&self) -> u64;

    /// How many bytes of memory they hold once they are in memory.
    fn in_memory(&self) -> u64 {
        self.distinct() * size_of::<Entry>() as u64 + self.distinct_bytes()
    }

    /// The same counts in memory, in the order of first occurrence where that is known; themselves
    /// where they lie there.
    ///
    /// # Errors
    /// [`Error::TooManyPretokens`](crate::Error::TooManyPretokens), and
    /// [`Error::Io`](crate::Error::Io) for those on disk.
    fn to_memory(&self, interrupt: &dyn Interrupt) -> Result<Cow<'_, Counts>>;

    /// Calls `visit` with each of them; its first error stops and is the result.
    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>;
}
