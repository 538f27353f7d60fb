//! Counting pretokens: all that training needs to know of a corpus.

mod counter;
mod folder;
mod gather;
mod long;
mod merge;
mod parts;
mod pieces;
mod run;
mod short;
mod sort;
mod sorted;
mod spill;
mod table;
mod tally;

use crate::error::{Error, Result};

pub(crate) use folder::Folder;
pub(crate) use merge::merge as merge_runs;
pub(crate) use run::{Reader, Writer, put as put_number, take as take_number};

pub use counter::{Checkpoint, Counter, LEAST_MEMORY};
pub use pieces::{Piece, Pieces};
pub use sorted::{Counted, SortedCounts};
use table::Table;

/// Distinct pretokens and how often each stands in the corpus, in the order of first occurrence.
///
/// The order and the numbers are the same however the corpus was cut into batches and however many
/// threads counted.
#[derive(Debug, Default)]
pub struct Counts {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    totals: Totals,
}

/// What was counted in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Texts.
    pub documents: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Pretokens, repeated ones included.
    pub pretokens: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    start: u64,
    len: u32,
    count: u64,
    /// Where the pretoken first stood, in bytes from the start of the corpus.
    first: u64,
}

impl Counts {
    /// Counts from pieces that were counted elsewhere, in the order of first occurrence.
    pub fn from_pieces<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = (T, u64)>) -> Result<Counts> {
        let mut table = Table::default();
        let mut totals = Totals { documents: 1, ..Totals::default() };
        for (order, (piece, count)) in pieces.into_iter().enumerate() {
            let (piece, too_many) =
                (piece.as_ref(), || Error::Limit { reason: "the counts add up to more than 2^64.".into() });
            table.add(piece, count, order as u64)?;
            let bytes = (piece.len() as u64).checked_mul(count).ok_or_else(too_many)?;
            totals.bytes = totals.bytes.checked_add(bytes).ok_or_else(too_many)?;
            totals.pretokens = totals.pretokens.checked_add(count).ok_or_else(too_many)?;
        }
        Ok(Counts { bytes: table.bytes, entries: table.entries, totals })
    }

    /// How many distinct pretokens there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The sums over the corpus.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Each distinct pretoken with its count, in the order of first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (entry.piece(&self.bytes), entry.count))
    }
}

impl Pieces for Counts {
    fn totals(&self) -> Totals {
        self.totals
    }

    fn distinct(&self) -> u64 {
        self.entries.len() as u64
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        self.entries.iter().try_for_each(|entry| {
            visit(Piece { bytes: entry.piece(&self.bytes), count: entry.count, first: entry.first })
        })
    }
}

impl Entry {
    fn piece<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..self.start as usize + self.len as usize]
    }
}
