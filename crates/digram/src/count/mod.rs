//! Counting pretokens: training needs nothing else of a corpus.

mod again;
mod arithmetic;
mod build;
mod counter;
mod digest;
mod folder;
mod gather;
mod join;
mod limits;
mod long;
mod merge;
mod order;
mod parts;
mod pieces;
mod run;
mod short;
mod sort;
mod sorted;
mod spill;
mod stretched;
mod table;
mod tally;

use std::borrow::Cow;

use once_cell::race::OnceBox;

use crate::error::Result;
use crate::interrupt::{Interrupt, Never};

pub(crate) use folder::Folder;
pub(crate) use run::{RunReader, RunWriter, read_varint, write_varint};
pub(crate) use sort::sort;
pub(crate) use spill::Spill;

pub use arithmetic::Weight;
pub use build::{Adder, Rows};
pub use counter::{Checkpoint, Counter, MIN_MEMORY};
pub use digest::digest;
pub use join::Joiner;
pub use pieces::{Piece, Pieces};
pub use sorted::{Counted, SortedCounts};
pub use stretched::{Stretched, Stretches};
use table::CountTable;

/// Distinct pretokens with their counts in a corpus, and optionally their first occurrences.
///
/// The result does not depend on how the corpus was split into batches, nor on the number of
/// threads.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// The pieces, each once.
    bytes: Vec<u8>,
    /// In the order of first occurrence. If first occurrences are unknown, every `first` is 0 and the
    /// order is that of the pieces, so equal counts have equal entries.
    entries: Vec<CountEntry>,
    totals: Totals,
    /// The end of the corpus in the unit of `first`; `None` if first occurrences are unknown.
    end: Option<u64>,
    /// The indices of the entries in the order of their pieces, computed at first use.
    by_piece: OnceBox<Vec<u32>>,
}

/// The sums over a corpus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Texts.
    pub documents: u64,
    /// Bytes of text: the sum of count times length.
    pub bytes: u64,
    /// Pretokens, repeated ones included: the sum of the counts.
    pub pretokens: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct CountEntry {
    start: u64,
    len: u32,
    count: u64,
    /// The first occurrence, in bytes from the start of the corpus; 0 if unknown.
    first: u64,
}

impl Counts {
    /// Counts from pieces that were counted elsewhere, in the order of first occurrence.
    pub fn from_pieces<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = (T, u64)>) -> Result<Counts> {
        let mut adder = Adder::new(true);
        for (order, (piece, count)) in pieces.into_iter().enumerate() {
            adder.add(piece.as_ref(), count, order as u64)?;
        }
        adder.finish(1, &Never)
    }

    /// The counts of a text. The entries are in the order of first occurrence and add up to it.
    fn counted(bytes: Vec<u8>, entries: Vec<CountEntry>, totals: Totals) -> Counts {
        Counts { bytes, entries, totals, end: Some(totals.bytes), by_piece: OnceBox::new() }
    }

    /// Sorts entries and computes their totals.
    fn assembled(
        bytes: Vec<u8>,
        mut entries: Vec<CountEntry>,
        documents: u64,
        end: Option<u64>,
        interrupt: &dyn Interrupt,
    ) -> Result<Counts> {
        order::sort(&mut entries, &bytes, end.is_some(), interrupt)?;
        let totals = Totals { documents, ..sum_totals(&entries)? };
        Ok(Counts { bytes, entries, totals, end, by_piece: OnceBox::new() })
    }

    /// These counts with another number of documents, and with the end of the corpus at `end` if that is
    /// later and first occurrences are known.
    pub fn of_corpus(&self, documents: u64, end: Option<u64>) -> Counts {
        let end = self.end.map(|own_end| own_end.max(end.unwrap_or(0)));
        Counts { totals: Totals { documents, ..self.totals }, end, ..self.clone() }
    }

    /// The number of distinct pretokens.
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

    /// The end of the corpus in the unit of first occurrences; `None` if those are unknown.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// Each distinct pretoken with its count, in the order of first occurrence, or in the order of the
    /// pieces if first occurrences are unknown.
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

    fn distinct_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn memory_in_use(&self) -> u64 {
        self.in_memory()
    }

    fn to_memory(&self, _interrupt: &dyn Interrupt) -> Result<Cow<'_, Counts>> {
        Ok(Cow::Borrowed(self))
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        self.entries.iter().try_for_each(|entry| {
            visit(Piece { bytes: entry.piece(&self.bytes), count: entry.count, first: entry.first })
        })
    }
}

impl CountEntry {
    fn piece<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..self.start as usize + self.len as usize]
    }
}

/// The totals of entries, without documents.
fn sum_totals(entries: &[CountEntry]) -> Result<Totals> {
    let sums = entries.iter().try_fold((0u64, 0u64), |(bytes, pretokens), entry| {
        let length = entry.count.checked_mul(u64::from(entry.len))?;
        Some((bytes.checked_add(length)?, pretokens.checked_add(entry.count)?))
    });
    let (bytes, pretokens) = sums.ok_or_else(limits::too_much)?;
    Ok(Totals { documents: 0, bytes, pretokens })
}

/// A piece, escaped and shortened for an error message.
fn escaped(piece: &[u8]) -> String {
    let ellipsis = if piece.len() > 60 { "…" } else { "" };
    format!("b'{}'{ellipsis}", piece[..piece.len().min(60)].escape_ascii())
}
