//! Merging many runs into one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};

use super::Piece;
use super::limits::too_often;
use super::run::{RunReader, RunWriter};

/// The totals of a run.
#[derive(Default)]
pub(crate) struct Merged {
    pub(crate) pieces: u64,
    /// The bytes of the distinct pieces.
    pub(crate) text: u64,
    /// The counts, summed.
    pub(crate) pretokens: u128,
    /// Count times length, summed.
    pub(crate) bytes: u128,
}

impl Merged {
    /// The totals of a single run; each of its blocks is checked against its digest.
    pub(crate) fn of_run(run: &Path, interrupt: &dyn Interrupt) -> Result<Merged> {
        let (mut totals, mut reader) = (Merged::default(), RunReader::open(run)?);
        let mut pacer = Pacer::new(interrupt);
        while reader.next()? {
            let piece = reader.piece();
            pacer.after(1 + piece.bytes.len())?;
            totals.add(piece);
        }
        Ok(totals)
    }

    fn add(&mut self, piece: Piece<'_>) {
        self.pieces += 1;
        self.text += piece.bytes.len() as u64;
        self.pretokens += u128::from(piece.count);
        self.bytes += u128::from(piece.count) * piece.bytes.len() as u128;
    }
}

/// Writes the pieces of several runs as one run, each once, in blocks of `size` bytes. Memory: a
/// block and the longest piece for each of them and for the output.
pub(crate) fn merge<P: AsRef<Path>>(
    runs: impl IntoIterator<Item = P>,
    to: &Path,
    size: usize,
    interrupt: &dyn Interrupt,
) -> Result<Merged> {
    let mut heads = BinaryHeap::new();
    let (mut merged_pieces, mut total_pieces) = (0, 0);
    for path in runs {
        total_pieces += RunReader::pieces(path.as_ref())?;
        let mut reader = RunReader::open(path.as_ref())?;
        if reader.next()? {
            heads.push(RunHead(Box::new(reader)));
        }
    }
    let mut writer = RunWriter::create(to, size)?;
    let (mut bytes, mut merged) = (Vec::new(), Merged::default());
    while let Some(RunHead(minimum)) = heads.peek() {
        let Piece { bytes: piece, mut count, mut first } = minimum.piece();
        bytes.clear();
        bytes.extend_from_slice(piece);
        advance(&mut heads)?;
        merged_pieces += 1;
        while let Some(RunHead(other)) = heads.peek()
            && other.piece().bytes == bytes
        {
            count = count.checked_add(other.piece().count).ok_or_else(too_often)?;
            first = first.min(other.piece().first);
            advance(&mut heads)?;
            merged_pieces += 1;
        }
        let piece = Piece { bytes: &bytes, count, first };
        merged.add(piece);
        if writer.push(piece)? {
            interrupt.check()?;
            interrupt.progress(merged_pieces, total_pieces);
        }
    }
    writer.finish()?;
    Ok(merged)
}

/// Advances the run with the smallest piece.
fn advance(heads: &mut BinaryHeap<RunHead>) -> Result<()> {
    if let Some(mut head) = heads.peek_mut()
        && !head.0.next()?
    {
        PeekMut::pop(head);
    }
    Ok(())
}

/// A run in the heap; the greatest one is the run with the smallest piece.
struct RunHead(Box<RunReader>);

impl Ord for RunHead {
    fn cmp(&self, other: &RunHead) -> Ordering {
        other.0.piece().bytes.cmp(self.0.piece().bytes)
    }
}

impl PartialOrd for RunHead {
    fn partial_cmp(&self, other: &RunHead) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunHead {
    fn eq(&self, other: &RunHead) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunHead {}
