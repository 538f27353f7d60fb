//! Counting pretokens: all that training needs to know of a corpus.

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
mod table;
mod tally;

use std::borrow::Cow;

use once_cell::race::OnceBox;

use crate::error::Result;
use crate::interrupt::{Interrupt, Never};

pub(crate) use folder::Folder;
pub(crate) use run::{RunReader, RunWriter, put as put_number, take as take_number};
pub(crate) use sort::sort;
pub(crate) use spill::Spill;

pub use arithmetic::Weight;
pub use build::{Adder, Rows};
pub use counter::{Checkpoint, Counter, MIN_MEMORY};
pub use digest::digest;
pub use join::Joiner;
pub use pieces::{Piece, Pieces};
pub use sorted::{Counted, SortedCounts};
use table::CountTable;

/// Distinct pretokens and how often each stands in a corpus, and perhaps where each first stands.
///
/// The order and the numbers are the same however the corpus was cut into batches and however many
/// threads counted.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    /// The pieces, each once.
    bytes: Vec<u8>,
    /// In the order of first occurrence. Where nothing is known of that, every `first` is 0 and the
    /// order is that of the pieces. So equal counts have equal entries.
    entries: Vec<Entry>,
    totals: Totals,
    /// Where the corpus ends, in the measure of `first`; `None` where first occurrences are unknown.
    end: Option<u64>,
    /// The numbers of the entries in the order of their pieces, once somebody asked.
    by_piece: OnceBox<Vec<u32>>,
}

/// What was counted in all.
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
struct Entry {
    start: u64,
    len: u32,
    count: u64,
    /// Where the pretoken first stood, in bytes from the start of the corpus; 0 where unknown.
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

    /// What was counted in a text: entries in the order of first occurrence, which add up to it.
    fn counted(bytes: Vec<u8>, entries: Vec<Entry>, totals: Totals) -> Counts {
        Counts { bytes, entries, totals, end: Some(totals.bytes), by_piece: OnceBox::new() }
    }

    /// Puts entries in order and adds them up.
    fn assembled(
        bytes: Vec<u8>,
        mut entries: Vec<Entry>,
        documents: u64,
        end: Option<u64>,
        interrupt: &dyn Interrupt,
    ) -> Result<Counts> {
        order::sort(&mut entries, &bytes, end.is_some(), interrupt)?;
        let totals = Totals { documents, ..added_up(&entries)? };
        Ok(Counts { bytes, entries, totals, end, by_piece: OnceBox::new() })
    }

    /// The same, of so many documents, and of a corpus that ends at `end` where that is later and
    /// first occurrences are known.
    pub fn of_corpus(&self, documents: u64, end: Option<u64>) -> Counts {
        let end = self.end.map(|known| known.max(end.unwrap_or(0)));
        Counts { totals: Totals { documents, ..self.totals }, end, ..self.clone() }
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

    /// Where the corpus ends, in the measure of first occurrences; `None` where those are unknown.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// Each distinct pretoken with its count, in the order of first occurrence; in that of the
    /// pieces where first occurrences are unknown.
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

    fn held(&self) -> u64 {
        self.in_memory()
    }

    fn to_memory(&self, _watch: &dyn Interrupt) -> Result<Cow<'_, Counts>> {
        Ok(Cow::Borrowed(self))
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

/// The totals of entries, without the documents.
fn added_up(entries: &[Entry]) -> Result<Totals> {
    let sums = entries.iter().try_fold((0u64, 0u64), |(bytes, pretokens), entry| {
        let more = entry.count.checked_mul(u64::from(entry.len))?;
        Some((bytes.checked_add(more)?, pretokens.checked_add(entry.count)?))
    });
    let (bytes, pretokens) = sums.ok_or_else(limits::too_much)?;
    Ok(Totals { documents: 0, bytes, pretokens })
}

/// A piece in an error message.
fn shown(piece: &[u8]) -> String {
    let dots = if piece.len() > 60 { "…" } else { "" };
    format!("b'{}'{dots}", piece[..piece.len().min(60)].escape_ascii())
}
