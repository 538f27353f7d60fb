//! Counting the ids of a text that grows at both ends.

use std::ops::Range;

use super::Tokenizer;
use super::tail::Tail;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, find_first, find_last};
use crate::memory;
use crate::utf8::{complete, is_inside};

/// A text that grows, of which only the ends are stored: the text before the first split and after the last
/// one. New text does not change the ids between them.
#[derive(Debug, Default)]
pub struct Running {
    /// Text before the first split; empty if there is no split.
    left: GrowingBytes,
    /// Whether there is a split.
    is_split: bool,
    /// The number of ids between the first and the last split.
    middle: usize,
    /// Text after the last split.
    right: GrowingBytes,
    /// The state for counting `right` incrementally.
    tail: Tail,
    /// The number of ids of each end, if it was counted since its last change.
    of_left: Option<usize>,
    of_right: Option<usize>,
    /// The length of the text, in bytes.
    len: usize,
    /// The number of bytes of long ends that counts have encoded.
    encoded: usize,
}

/// An end of at most this many bytes is encoded at each count, without a limit.
const SHORT: usize = 1 << 14;

/// The budget for encoding longer ends again: this many bytes, and this many times the length of the
/// text. Without it, many small appends to a text without a place to cut would take quadratic time.
const ENCODED: usize = 1 << 25;
const TIMES: usize = 64;

/// A byte buffer that grows at both ends; each byte is moved few times, however small the chunks are.
#[derive(Debug, Default)]
struct GrowingBytes {
    bytes: Vec<u8>,
    /// The start of the contents; the bytes before are free capacity.
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
            // Doubles the size.
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

    /// Removes the first `len` bytes.
    fn forget(&mut self, len: usize) {
        self.room += len;
        if self.room > self.bytes.len() / 2 {
            self.bytes.drain(..self.room);
            self.room = 0;
        }
    }
}

/// The number of bytes at the start of a text that may belong to a character that begins before it.
fn begun_before(text: &[u8]) -> usize {
    text.iter().take(INSIDE).take_while(|&&byte| is_inside(byte)).count()
}

/// The maximum number of bytes of a character before the place where two chunks meet.
const INSIDE: usize = 3;

impl Running {
    /// Appends text.
    pub fn append(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        let before = self.right.get().len();
        self.right.append(chunk)?;
        // Earlier places were tested when their neighbours were added.
        let grown = self.settle_right(tokenizer, before.saturating_sub(INSIDE)..usize::MAX, interrupt);
        match grown {
            Ok(()) => (self.of_right, self.len) = (None, self.len + chunk.len()),
            Err(_) => self.right.truncate(before),
        }
        grown
    }

    /// Counts the right end up to the last split among `places`, the only ones that may be splits.
    fn settle_right(
        &mut self,
        tokenizer: &Tokenizer,
        places: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let right = self.right.get();
        let first = if self.is_split { 1 } else { begun_before(right) + 1 };
        // An incomplete character may become any character.
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

    /// Prepends text.
    pub fn prepend(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        // Later places were tested when their neighbours were added.
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
        // The whole text is in the right end.
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

    /// Counts the left end from the first split among `places` on; only these may be splits.
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
