//! The number of ids of a text that grows at both ends.

use std::ops::Range;

use super::Tokenizer;
use super::tail::Tail;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, find_first, find_last};
use crate::memory;
use crate::utf8::{complete, is_inside};

/// A text that grows, of which only the ends are kept: what stands before the first cut and after
/// the last one. Between them more text changes nothing.
#[derive(Debug, Default)]
pub struct Running {
    /// Text before the first cut; in a text without cuts it is empty.
    left: GrowingBytes,
    /// Whether there is a cut.
    is_split: bool,
    /// The number of ids between the cuts.
    middle: usize,
    /// Text after the last cut.
    right: GrowingBytes,
    /// Where `right` is counted from.
    tail: Tail,
    /// The number of ids of each end, if it was asked for since it changed.
    of_left: Option<usize>,
    of_right: Option<usize>,
    /// How much text there is, in bytes.
    len: usize,
    /// How many bytes of long ends were encoded to answer.
    encoded: usize,
}

/// An end of at most this many bytes is encoded at each count, without a limit.
const SHORT: usize = 1 << 14;

/// The budget for encoding longer ends again: this many bytes, and this many times the length of the
/// text. Without it, many small appends to a text without a place to cut would take quadratic time.
const ENCODED: usize = 1 << 25;
const TIMES: usize = 64;

/// Bytes that grow at both ends, each of which is moved few times however small the chunks are.
#[derive(Debug, Default)]
struct GrowingBytes {
    bytes: Vec<u8>,
    /// Here they begin; the bytes before are room to grow.
    room: usize,
}

impl GrowingBytes {
    fn get(&self) -> &[u8] {
        &self.bytes[self.room..]
    }

    fn append(&mut self, chunk: &[u8]) -> Result<()> {
        memory::try_reserve(&mut self.bytes, chunk.len())?;
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    fn prepend(&mut self, chunk: &[u8]) -> Result<()> {
        if self.room < chunk.len() {
            // As much again as is there.
            let room = chunk.len() + self.get().len();
            let mut grown = Vec::new();
            memory::try_reserve(&mut grown, room + self.get().len())?;
            grown.resize(room, 0);
            grown.extend_from_slice(self.get());
            (self.bytes, self.room) = (grown, room);
        }
        self.room -= chunk.len();
        self.bytes[self.room..][..chunk.len()].copy_from_slice(chunk);
        Ok(())
    }

    /// Keeps the first `len` bytes.
    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(self.room + len);
    }

    /// Takes away the first `len` bytes.
    fn forget(&mut self, len: usize) {
        self.room += len;
        if self.room > self.bytes.len() / 2 {
            self.bytes.drain(..self.room);
            self.room = 0;
        }
    }
}

/// How many bytes at the start of a text may belong to a character that begins before it.
fn begun_before(text: &[u8]) -> usize {
    text.iter().take(INSIDE).take_while(|&&byte| is_inside(byte)).count()
}

/// A character may begin so many bytes before the place where two chunks meet.
const INSIDE: usize = 3;

impl Running {
    /// Puts text after what is there.
    pub fn append(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        let before = self.right.get().len();
        self.right.append(chunk)?;
        // Places farther back were looked at when their neighbours came.
        let grown = self.settle_right(tokenizer, before.saturating_sub(INSIDE)..usize::MAX, interrupt);
        match grown {
            Ok(()) => (self.of_right, self.len) = (None, self.len + chunk.len()),
            Err(_) => self.right.truncate(before),
        }
        grown
    }

    /// Counts the right end up to the last cut among `places`, the only ones that may be cuts.
    fn settle_right(
        &mut self,
        tokenizer: &Tokenizer,
        places: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let right = self.right.get();
        let first = if self.is_split { 1 } else { begun_before(right) + 1 };
        // A character that is only begun may become any other.
        let places = places.start.max(first)..places.end.min(complete(right));
        let from = places.start;
        let Some(last) = find_last(places, interrupt, |at| tokenizer.can_split_at(right, at))? else {
            return Ok(());
        };
        let first = if self.is_split { 0 } else { tokenizer.next_split(right, from, interrupt)? };
        let mut scratch = tokenizer.scratch_pool.take();
        let counted = tokenizer.count_ordinary(&right[first..last], &mut scratch, interrupt);
        self.middle += counted.map_err(|error| error.shifted(first))?;
        if !self.is_split {
            self.left = GrowingBytes { bytes: right[..first].to_vec(), room: 0 };
            (self.is_split, self.of_left) = (true, None);
        }
        self.right.forget(last);
        self.tail = Tail::default();
        Ok(())
    }

    /// Puts text before what is there.
    pub fn prepend(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        // Places farther in were looked at when their neighbours came.
        let places = 1..chunk.len() + INSIDE + 1;
        if self.is_split {
            self.left.prepend(chunk)?;
            let grown = self.settle_left(tokenizer, places, interrupt);
            match grown {
                Ok(()) => (self.of_left, self.len) = (None, self.len + chunk.len()),
                Err(_) => self.left.forget(chunk.len()),
            }
            return grown;
        }
        // All is at the right end.
        self.right.prepend(chunk)?;
        let grown = self.settle_right(tokenizer, places, interrupt);
        match grown {
            Ok(()) => {
                (self.tail, self.of_right) = (Tail::default(), None);
                self.len += chunk.len();
            }
            Err(_) => self.right.forget(chunk.len()),
        }
        grown
    }

    /// Counts the left end from the first cut on among `places`, the only ones that may be cuts.
    fn settle_left(
        &mut self,
        tokenizer: &Tokenizer,
        places: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let left = self.left.get();
        let places = places.start.max(begun_before(left) + 1)..places.end.min(left.len());
        let Some(first) = find_first(places, interrupt, |at| tokenizer.can_split_at(left, at))? else {
            return Ok(());
        };
        let mut scratch = tokenizer.scratch_pool.take();
        let counted = tokenizer.count_ordinary(&left[first..], &mut scratch, interrupt);
        self.middle += counted.map_err(|error| error.shifted(first))?;
        self.left.truncate(first);
        Ok(())
    }

    /// The number of ids of the whole text.
    ///
    /// Called after each of many small appends, it takes near-linear time in total: of an open pretoken
    /// only the last part is encoded again. If the kind of tokenizer rules that out, and the text has no
    /// place to split, it fails with [`Error::Limit`] before it has taken much longer.
    pub fn count(&mut self, tokenizer: &Tokenizer, interrupt: &dyn Interrupt) -> Result<usize> {
        let mut scratch = tokenizer.scratch_pool.take();
        let left = match self.of_left {
            Some(count) => count,
            None => {
                self.allow(self.left.get().len())?;
                tokenizer.count_ordinary(self.left.get(), &mut scratch, interrupt)?
            }
        };
        self.of_left = Some(left);
        let right = match self.of_right {
            Some(count) => count,
            None => {
                self.allow(self.tail.rest_of(self.right.get()).len())?;
                self.tail.count(tokenizer, self.right.get(), &mut scratch, interrupt)?
            }
        };
        self.of_right = Some(right);
        Ok(left + self.middle + right)
    }

    /// Adds `bytes` to the work done, or fails with [`Error::Limit`] if that exceeds the budget.
    fn allow(&mut self, bytes: usize) -> Result<()> {
        if bytes <= SHORT {
            return Ok(());
        }
        let encoded = self.encoded.saturating_add(bytes);
        if encoded > ENCODED.saturating_add(self.len.saturating_mul(TIMES)) {
            return Err(Error::Limit {
                reason: format!(
                    "{bytes} bytes of the text have no place to cut, so each count encodes all of them; {encoded} bytes would have been encoded for a text of {}. Count less often.",
                    self.len
                ),
            });
        }
        self.encoded = encoded;
        Ok(())
    }
}
