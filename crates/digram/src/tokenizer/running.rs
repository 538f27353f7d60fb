//! The number of ids of a text that grows at both ends.

use super::Tokenizer;
use super::tail::Tail;
use crate::error::Result;
use crate::utf8::{complete, is_inside};
use crate::watch::Watch;

/// A text that grows, of which only the ends are kept: what stands before the first cut and after
/// the last one. Between them more text changes nothing.
#[derive(Debug, Default)]
pub struct Running {
    /// Text before the first cut; in a text without cuts it is empty.
    left: Vec<u8>,
    /// In `left` the text begins here; the bytes before are room to grow.
    room: usize,
    /// Whether there is a cut.
    is_cut: bool,
    /// The number of ids between the cuts.
    middle: usize,
    /// Text after the last cut.
    right: Vec<u8>,
    /// Where `right` is counted from.
    tail: Tail,
    /// The number of ids of each end, if it was asked for since it changed.
    of_left: Option<usize>,
    of_right: Option<usize>,
}

/// How many bytes at the start of a text may belong to a character that begins before it.
fn begun_before(text: &[u8]) -> usize {
    text.iter().take(INSIDE).take_while(|&&byte| is_inside(byte)).count()
}

/// A character may begin so many bytes before the place where two chunks meet.
const INSIDE: usize = 3;

impl Running {
    /// Puts text after what is there.
    pub fn append(&mut self, tokenizer: &Tokenizer, chunk: &[u8], watch: &dyn Watch) -> Result<()> {
        let before = self.right.len();
        self.right.extend_from_slice(chunk);
        // Places farther back were looked at when their neighbours came.
        let from = before.saturating_sub(INSIDE).max(1);
        let grown = self.settle_right(tokenizer, from, watch);
        match grown {
            Ok(()) => self.of_right = None,
            Err(_) => self.right.truncate(before),
        }
        grown
    }

    fn settle_right(&mut self, tokenizer: &Tokenizer, from: usize, watch: &dyn Watch) -> Result<()> {
        let right = &self.right[..];
        let from = if self.is_cut { from } else { from.max(begun_before(right) + 1) };
        // A character that is only begun may become any other.
        let Some(last) = (from..complete(right)).rev().find(|&at| tokenizer.is_cut(right, at)) else {
            return Ok(());
        };
        let first = if self.is_cut { 0 } else { tokenizer.cut_from(right, from) };
        let mut scratch = tokenizer.kept.lend();
        let counted = tokenizer.count_ordinary(&right[first..last], &mut scratch, watch);
        self.middle += counted.map_err(|error| error.shifted(first))?;
        if !self.is_cut {
            self.left = right[..first].to_vec();
            (self.room, self.is_cut, self.of_left) = (0, true, None);
        }
        self.right.drain(..last);
        self.tail = Tail::default();
        Ok(())
    }

    /// Puts text before what is there.
    pub fn prepend(&mut self, tokenizer: &Tokenizer, chunk: &[u8], watch: &dyn Watch) -> Result<()> {
        if !self.is_cut {
            // All is at the right end; there it is put together anew, and looked through.
            let whole = [chunk, &self.right].concat();
            let before = std::mem::replace(&mut self.right, whole);
            let grown = self.settle_right(tokenizer, 1, watch);
            match grown {
                Ok(()) => (self.tail, self.of_right) = (Tail::default(), None),
                Err(_) => self.right = before,
            }
            return grown;
        }
        self.make_room(chunk.len());
        let start = self.room - chunk.len();
        self.left[start..self.room].copy_from_slice(chunk);
        let left = &self.left[start..];
        let until = (chunk.len() + INSIDE).min(left.len().saturating_sub(1));
        if let Some(first) = (begun_before(left) + 1..=until).find(|&at| tokenizer.is_cut(left, at)) {
            let mut scratch = tokenizer.kept.lend();
            let counted = tokenizer.count_ordinary(&left[first..], &mut scratch, watch);
            self.middle += counted.map_err(|error| error.shifted(first))?;
            self.left.truncate(start + first);
        }
        self.room = start;
        self.of_left = None;
        Ok(())
    }

    /// Makes room before the left end for `bytes` more: as much again as is there, so that a byte
    /// is moved few times however small the chunks are.
    fn make_room(&mut self, bytes: usize) {
        if self.room < bytes {
            let more = bytes + self.left.len();
            let mut grown = vec![0; more];
            grown.extend_from_slice(&self.left);
            (self.left, self.room) = (grown, self.room + more);
        }
    }

    /// The number of ids of the whole text.
    ///
    /// Asked after each of many small appends, it takes near-linear time in all: of a pretoken that
    /// has no end only the last is encoded again.
    pub fn count(&mut self, tokenizer: &Tokenizer, watch: &dyn Watch) -> Result<usize> {
        let mut scratch = tokenizer.kept.lend();
        let left = match self.of_left {
            Some(count) => count,
            None => tokenizer.count_ordinary(&self.left[self.room..], &mut scratch, watch)?,
        };
        self.of_left = Some(left);
        let right = match self.of_right {
            Some(count) => count,
            None => self.tail.count(tokenizer, &self.right, &mut scratch, watch)?,
        };
        self.of_right = Some(right);
        Ok(left + self.middle + right)
    }
}
