//! Building counts from pieces that were counted elsewhere or are stored in a file.

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

use super::limits::{length, too_far};
use super::{CountEntry, CountTable, Counts, Totals, escaped, sum_totals};

/// Adds up pieces that were counted elsewhere, in any order; a piece may come several times.
pub struct Adder {
    table: CountTable,
    /// One more than the last first occurrence; `None` if first occurrences are unknown.
    end: Option<u64>,
}

impl Adder {
    /// An empty sum. `ordered` states whether first occurrences are known.
    pub fn new(ordered: bool) -> Adder {
        Adder { table: CountTable::default(), end: ordered.then_some(0) }
    }

    /// Reserves memory for `additional` pieces; optional, but faster than growing.
    pub fn reserve(&mut self, additional: usize) {
        self.table.reserve(additional);
    }

    /// Adds `count` occurrences of a piece, the first of them at `first`, which is ignored if first
    /// occurrences are unknown.
    pub fn add(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        let Some(end) = &mut self.end else { return self.table.add(piece, count, 0) };
        let after = first.checked_add(1).ok_or_else(too_far)?;
        *end = after.max(*end);
        self.table.add(piece, count, first)
    }

    /// The sum as counts of `documents` documents.
    pub fn finish(self, documents: u64, interrupt: &dyn Interrupt) -> Result<Counts> {
        Counts::assembled(self.table.bytes, self.table.entries, documents, self.end, interrupt)
    }
}

/// Distinct rows in the order of their pieces, as in a file: they need no look-up and no sorting by
/// piece.
pub struct Rows {
    bytes: Vec<u8>,
    entries: Vec<CountEntry>,
    end: Option<u64>,
}

impl Rows {
    /// An empty list of rows. The corpus ends at `end`; `None` if first occurrences are unknown.
    pub fn new(end: Option<u64>) -> Rows {
        Rows { bytes: Vec::new(), entries: Vec::new(), end }
    }

    /// Appends a row; an invalid one is an [`Error::Option`].
    pub fn push(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        let invalid = |reason: String| Err(Error::Option { reason });
        if piece.is_empty() || count == 0 {
            return invalid(format!("{} with count {count} is not a pretoken of a text", escaped(piece)));
        }
        if self.entries.last().is_some_and(|last| last.piece(&self.bytes) >= piece) {
            return invalid(format!("{} does not come after the piece before it", escaped(piece)));
        }
        if self.end.map_or(first != 0, |end| first >= end) {
            return invalid(format!("{} first stands at {first}, past the end", escaped(piece)));
        }
        let len = length(piece.len())?;
        if self.entries.len() == u32::MAX as usize {
            return Err(Error::TooManyPretokens);
        }
        self.entries.push(CountEntry { start: self.bytes.len() as u64, len, count, first });
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// The rows as counts of `documents` documents.
    pub fn finish(self, documents: u64, interrupt: &dyn Interrupt) -> Result<Counts> {
        let Rows { bytes, entries, end } = self;
        if end.is_some() {
            return Counts::assembled(bytes, entries, documents, end, interrupt);
        }
        let totals = Totals { documents, ..sum_totals(&entries)? };
        Ok(Counts { bytes, entries, totals, end, by_piece: Default::default() })
    }
}
