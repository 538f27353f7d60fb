//! Access to counts in memory or on disk.

use std::borrow::Cow;

use crate::error::Result;
use crate::interrupt::Interrupt;

use super::{CountEntry, Counts, Totals};

/// A distinct pretoken with its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The pretoken.
    pub bytes: &'a [u8],
    /// The number of its occurrences.
    pub count: u64,
    /// Its first occurrence: a number that increases along the corpus.
    pub first: u64,
}

/// Distinct pretokens with their counts, in memory or on disk. They can be iterated repeatedly,
/// always in the same order.
pub trait Pieces {
    /// The sums over the corpus.
    fn totals(&self) -> Totals;

    /// The number of distinct pretokens.
    fn distinct(&self) -> u64;

    /// The total length of the distinct pretokens, in bytes.
    fn distinct_bytes(&self) -> u64;

    /// The memory in use now, in bytes; 0 on disk.
    fn memory_in_use(&self) -> u64;

    /// The memory that they would take in memory, in bytes.
    fn in_memory(&self) -> u64 {
        self.distinct() * size_of::<CountEntry>() as u64 + self.distinct_bytes()
    }

    /// The same counts in memory, in the order of first occurrence if it is known; a borrow if they are
    /// in memory already.
    ///
    /// # Errors
    /// [`Error::TooManyPretokens`](crate::Error::TooManyPretokens), and
    /// [`Error::Io`](crate::Error::Io) for those on disk.
    fn to_memory(&self, interrupt: &dyn Interrupt) -> Result<Cow<'_, Counts>>;

    /// Calls `visit` with each piece; the first error stops the iteration and is returned.
    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>;
}
