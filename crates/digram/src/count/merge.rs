//! Many runs as one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;

use crate::error::{Error, Result};
use crate::watch::Watch;

use super::Piece;
use super::run::{Reader, Writer};

/// What a run of merged ones holds.
pub(crate) struct Merged {
    pub(crate) pieces: u64,
    /// Count times length, summed.
    pub(crate) bytes: u64,
}

/// Writes the pieces of several runs as one run, each once, in blocks of `size` bytes. Memory: a
/// block for each of them and one more, and as many times the longest piece.
pub(crate) fn merge<P: AsRef<Path>>(
    runs: impl IntoIterator<Item = P>,
    to: &Path,
    size: usize,
    watch: &dyn Watch,
) -> Result<Merged> {
    let mut heads = BinaryHeap::new();
    for path in runs {
        let mut reader = Reader::open(path.as_ref())?;
        if reader.next()? {
            heads.push(Head(Box::new(reader)));
        }
    }
    let mut writer = Writer::create(to, size)?;
    let (mut bytes, mut all) = (Vec::new(), 0);
    while let Some(Head(least)) = heads.peek() {
        let Piece { bytes: piece, mut count, mut first } = least.piece();
        bytes.clear();
        bytes.extend_from_slice(piece);
        advance(&mut heads)?;
        while let Some(Head(other)) = heads.peek()
            && other.piece().bytes == bytes
        {
            let too_many = || Error::Limit { reason: "a pretoken was counted more than 2^64 times.".into() };
            count = count.checked_add(other.piece().count).ok_or_else(too_many)?;
            first = first.min(other.piece().first);
            advance(&mut heads)?;
        }
        all += count * bytes.len() as u64;
        if writer.push(Piece { bytes: &bytes, count, first })? {
            watch.check()?;
        }
    }
    Ok(Merged { pieces: writer.finish()?, bytes: all })
}

/// Goes on to the next piece of the run with the least.
fn advance(heads: &mut BinaryHeap<Head>) -> Result<()> {
    if let Some(mut head) = heads.peek_mut()
        && !head.0.next()?
    {
        PeekMut::pop(head);
    }
    Ok(())
}

/// A run; the greatest one is that whose piece is the least.
struct Head(Box<Reader>);

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        other.0.piece().bytes.cmp(self.0.piece().bytes)
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
