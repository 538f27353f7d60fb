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
    middle_count: usize,
    /// Text after the last split.
    right: GrowingBytes,
    /// The state for counting `right` incrementally.
    tail: Tail,
    /// The number of ids of each end, if it was counted since its last change.
    left_count: Option<usize>,
    right_count: Option<usize>,
    /// The length of the text, in bytes.
    len: usize,
    /// The number of bytes of long ends that counts have encoded.
    encoded: usize,
}

/// An end of at most this many bytes is encoded at each count, without a limit.
const SHORT_END: usize = 1 << 14;

/// The budget for encoding longer ends again: this many bytes, and this many times the length of the
/// text. Without it, many small appends to a text without a split would take quadratic time.
const ENCODING_BUDGET: usize = 1 << 25;
const ENCODING_FACTOR: usize = 64;

/// A byte buffer that grows at both ends; each byte is moved few times, however small the chunks are.
#[derive(Debug, Default)]
struct GrowingBytes {
    bytes: Vec<u8>,
    /// The start of the contents; the bytes before it are free capacity.
    start: usize,
}

impl GrowingBytes {
    fn get(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn append(&mut self, chunk: &[u8]) -> Result<()> {
        memory::try_reserve(&mut self.bytes, chunk.len())?;
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    fn prepend(&mut self, chunk: &[u8]) -> Result<()> {
        if self.start < chunk.len() {
            // Doubles the size.
            let start = chunk.len() + self.get().len();
            let mut buffer = Vec::new();
            memory::try_reserve(&mut buffer, start + self.get().len())?;
            buffer.resize(start, 0);
            buffer.extend_from_slice(self.get());
            (self.bytes, self.start) = (buffer, start);
        }
        self.start -= chunk.len();
        self.bytes[self.start..][..chunk.len()].copy_from_slice(chunk);
        Ok(())
    }

    /// Keeps the first `len` bytes.
    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(self.start + len);
    }

    /// Removes the first `len` bytes.
    fn forget(&mut self, len: usize) {
        self.start += len;
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

/// The number of bytes at the start of a text that may belong to a character that begins before it.
fn leading_continuation_bytes(text: &[u8]) -> usize {
    text.iter().take(MAX_CONTINUATION).take_while(|&&byte| is_inside(byte)).count()
}

/// The maximum number of bytes after the first byte of a character.
const MAX_CONTINUATION: usize = 3;

impl Running {
    /// Appends text.
    pub fn append(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        let previous_len = self.right.get().len();
        self.right.append(chunk)?;
        // Earlier offsets were tested when their neighbours were added.
        let result = self.settle_right(
            tokenizer,
            previous_len.saturating_sub(MAX_CONTINUATION)..usize::MAX,
            interrupt,
        );
        match result {
            Ok(()) => (self.right_count, self.len) = (None, self.len + chunk.len()),
            Err(_) => self.right.truncate(previous_len),
        }
        result
    }

    /// Counts the right end up to the last split among `offsets`, the only ones that may be splits.
    fn settle_right(
        &mut self,
        tokenizer: &Tokenizer,
        offsets: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let right = self.right.get();
        let first = if self.is_split { 1 } else { leading_continuation_bytes(right) + 1 };
        // An incomplete character may become any character.
        let offsets = offsets.start.max(first)..offsets.end.min(complete(right));
        let from = offsets.start;
        let Some(last) = find_last(offsets, interrupt, |offset| tokenizer.can_split_at(right, offset))?
        else {
            return Ok(());
        };
        let first = if self.is_split { 0 } else { tokenizer.next_split(right, from, interrupt)? };
        let mut scratch = tokenizer.scratch_pool.take();
        let count = tokenizer.count_ordinary(&right[first..last], &mut scratch, interrupt);
        self.middle_count += count.map_err(|error| error.shifted(first))?;
        if !self.is_split {
            self.left = GrowingBytes { bytes: right[..first].to_vec(), start: 0 };
            (self.is_split, self.left_count) = (true, None);
        }
        self.right.forget(last);
        self.tail = Tail::default();
        Ok(())
    }

    /// Prepends text.
    pub fn prepend(&mut self, tokenizer: &Tokenizer, chunk: &[u8], interrupt: &dyn Interrupt) -> Result<()> {
        // Later offsets were tested when their neighbours were added.
        let offsets = 1..chunk.len() + MAX_CONTINUATION + 1;
        if self.is_split {
            self.left.prepend(chunk)?;
            let buffer = self.settle_left(tokenizer, offsets, interrupt);
            match buffer {
                Ok(()) => (self.left_count, self.len) = (None, self.len + chunk.len()),
                Err(_) => self.left.forget(chunk.len()),
            }
            return buffer;
        }
        // The whole text is in the right end.
        self.right.prepend(chunk)?;
        let buffer = self.settle_right(tokenizer, offsets, interrupt);
        match buffer {
            Ok(()) => {
                (self.tail, self.right_count) = (Tail::default(), None);
                self.len += chunk.len();
            }
            Err(_) => self.right.forget(chunk.len()),
        }
        buffer
    }

    /// Counts the left end from the first split among `offsets` on; only these may be splits.
    fn settle_left(
        &mut self,
        tokenizer: &Tokenizer,
        offsets: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let left = self.left.get();
        let offsets = offsets.start.max(leading_continuation_bytes(left) + 1)..offsets.end.min(left.len());
        let Some(first) = find_first(offsets, interrupt, |offset| tokenizer.can_split_at(left, offset))?
        else {
            return Ok(());
        };
        let mut scratch = tokenizer.scratch_pool.take();
        let count = tokenizer.count_ordinary(&left[first..], &mut scratch, interrupt);
        self.middle_count += count.map_err(|error| error.shifted(first))?;
        self.left.truncate(first);
        Ok(())
    }

    /// The number of ids of the whole text.
    ///
    /// Called after each of many small appends, it takes near-linear time in total: of an open pretoken
    /// only the last part is encoded again. If the kind of tokenizer does not allow this, and the text has no
    /// split, it fails with [`Error::Limit`] before it has taken much longer.
    pub fn count(&mut self, tokenizer: &Tokenizer, interrupt: &dyn Interrupt) -> Result<usize> {
        let mut scratch = tokenizer.scratch_pool.take();
        let left = match self.left_count {
            Some(count) => count,
            None => {
                self.spend_budget(self.left.get().len())?;
                tokenizer.count_ordinary(self.left.get(), &mut scratch, interrupt)?
            }
        };
        self.left_count = Some(left);
        let right = match self.right_count {
            Some(count) => count,
            None => {
                self.spend_budget(self.tail.rest_of(self.right.get()).len())?;
                self.tail.count(tokenizer, self.right.get(), &mut scratch, interrupt)?
            }
        };
        self.right_count = Some(right);
        Ok(left + self.middle_count + right)
    }

    /// Adds `bytes` to the work done, or fails with [`Error::Limit`] if that exceeds the budget.
    fn spend_budget(&mut self, bytes: usize) -> Result<()> {
        if bytes <= SHORT_END {
            return Ok(());
        }
        let encoded = self.encoded.saturating_add(bytes);
        if encoded > ENCODING_BUDGET.saturating_add(self.len.saturating_mul(ENCODING_FACTOR)) {
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
