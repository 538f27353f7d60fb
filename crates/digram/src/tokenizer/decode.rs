//! Decoding ids to bytes.

use std::ops::Range;

use super::Tokenizer;
use super::slots::{AppendError, TokenSlots};
use crate::error::{Error, Result};
use crate::interrupt::{CHECK_INTERVAL, Interrupt, Pacer};
use crate::memory;
use crate::parallel::{ItemResult, items_in_parallel, task_ranges};
use crate::pretokenize::ALONE_BYTES;
use crate::vocabulary::{TokenId, Vocabulary};

/// The handling of decoded bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// Replace them with U+FFFD.
    Replace,
    /// Fail.
    Fail,
}

/// The decoded bytes of several sequences of ids, end to end.
#[derive(Debug, Default)]
pub struct FlatBytes {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl FlatBytes {
    /// The number of all bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of each sequence, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = |index: usize| if index == 0 { 0 } else { self.ends[index - 1] };
        (0..self.ends.len()).map(move |index| &self.bytes[start(index)..self.ends[index]])
    }
}

impl Tokenizer {
    /// Removes special tokens. An id without a token is an error that gives its index.
    pub fn without_special(&self, ids: &[TokenId], interrupt: &dyn Interrupt) -> Result<Vec<TokenId>> {
        let mut result = Vec::new();
        memory::try_reserve(&mut result, ids.len())?;
        for (chunk, chunk_ids) in ids.chunks(CHECK_INTERVAL).enumerate() {
            if chunk > 0 {
                interrupt.check()?;
            }
            for (index, &id) in chunk_ids.iter().enumerate() {
                if self.added.may_leave_out(id) {
                    continue;
                }
                if self.token(id).is_none() {
                    let vocab_size = self.vocabulary.size() as u32;
                    return Err(Error::TokenId { index: chunk * CHECK_INTERVAL + index, id, vocab_size });
                }
                result.push(id);
            }
        }
        Ok(result)
    }

    /// Appends the decoded bytes of `ids` to `bytes`. On an error `bytes` is unchanged.
    pub fn decode(&self, ids: &[TokenId], interrupt: &dyn Interrupt, bytes: &mut Vec<u8>) -> Result<()> {
        self.decode_range(ids, 0..ids.len(), interrupt, bytes)
    }

    /// As [`Tokenizer::decode`], for the ids of a range. An index in an error is that in the range.
    fn decode_range(
        &self,
        ids: &[TokenId],
        range: Range<usize>,
        interrupt: &dyn Interrupt,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let start = bytes.len();
        self.append_bytes(ids, range.clone(), true, interrupt, bytes)
            .inspect_err(|_| bytes.truncate(start))?;
        if self.ends_word(&ids[range]) {
            bytes.pop();
        }
        Ok(())
    }

    /// Fails if a step of the decoding needs the whole list of ids, so that single tokens have no text of their own;
    /// `what` is what is impossible then.
    pub fn check_single_tokens(&self, what: &str) -> Result<()> {
        match self.decoding.as_ref().and_then(|decoding| decoding.whole()) {
            None => Ok(()),
            Some(step) => {
                let cause = "needs all tokens of a text at once";
                Err(Error::Option { reason: format!("{what}: the step {step} of the decoding {cause}.") })
            }
        }
    }

    /// Fails if bytes that are not UTF-8 shall be an error, and a step of the decoding of these ids replaces some: in
    /// decoded text they are not known any more. The place of the error is that in the text which the step makes.
    pub fn check_invalid(
        &self,
        ids: &[TokenId],
        on_invalid: OnInvalid,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match &self.decoding {
            Some(decoding) if on_invalid == OnInvalid::Fail && decoding.replaces_invalid() => {
                decoding.append(ids, &self.vocabulary, (true, OnInvalid::Fail), interrupt, &mut Vec::new())
            }
            _ => Ok(()),
        }
    }

    /// Whether the last token of a sequence ends a word, so that decoded text is without the space at its end.
    pub(super) fn ends_word(&self, ids: &[TokenId]) -> bool {
        let ends = |&id: &TokenId| {
            let token = self.vocabulary.get(id).unwrap_or_default();
            token.ends_with(b" ") && !self.added.contains(id)
        };
        self.strips_last_space && ids.last().is_some_and(ends)
    }

    /// Appends the decoded bytes of the tokens of a range, which are the first ones or come after others.
    pub(super) fn append_bytes(
        &self,
        ids: &[TokenId],
        range: Range<usize>,
        are_first: bool,
        interrupt: &dyn Interrupt,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(decoding) = &self.decoding {
            let are_first = (are_first, OnInvalid::Replace);
            return decoding.append(&ids[range], &self.vocabulary, are_first, interrupt, bytes);
        }
        let start = bytes.len();
        let Some(forms) = &self.word_forms else {
            self.append_tokens(&self.vocabulary, ids, range, interrupt, bytes)?;
            if are_first && self.strips_first_space && bytes.get(start) == Some(&b' ') {
                bytes.remove(start);
            }
            return Ok(());
        };
        match ids[range.clone()].first() {
            Some(&id) if are_first => match forms.first.get(id) {
                Some(first) => {
                    bytes.extend_from_slice(first);
                    let rest = range.start + 1..range.end;
                    let appended = self.append_tokens(&forms.later, ids, rest, interrupt, bytes);
                    appended.map_err(|error| match error {
                        Error::TokenId { index, id, vocab_size } => {
                            Error::TokenId { index: index + 1, id, vocab_size }
                        }
                        error => error,
                    })
                }
                None => Err(Error::TokenId { index: 0, id, vocab_size: self.vocabulary.size() as u32 }),
            },
            _ => self.append_tokens(&forms.later, ids, range, interrupt, bytes),
        }
    }

    /// Whether tokens after these ids are not the first ones: a token without bytes does not count unless it is a word
    /// of its own.
    pub(super) fn is_begun_by(&self, ids: &[TokenId]) -> bool {
        match &self.word_forms {
            _ if self.decoding.is_some() => !ids.is_empty(),
            None => ids.iter().any(|&id| self.vocabulary.len_of(id) > 0),
            Some(_) => !ids.is_empty(),
        }
    }

    /// Appends the bytes of the tokens of a range, which are those of `vocabulary`, always the same one.
    fn append_tokens(
        &self,
        vocabulary: &Vocabulary,
        ids: &[TokenId],
        range: Range<usize>,
        interrupt: &dyn Interrupt,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        // Tokens have about 3.5 bytes on average; the buffer grows if that is not enough.
        memory::try_reserve(bytes, range.len() * 4)?;
        let slots = self.slots.get_or_try_init(|| TokenSlots::new(vocabulary).map(Box::new))?;
        let mut start = range.start;
        while start < range.end {
            if start > range.start {
                interrupt.check()?;
            }
            let end = range.end.min(start + CHECK_INTERVAL);
            slots.append(ids, start..end, vocabulary, bytes).map_err(|error| match error {
                AppendError::Memory(error) => error,
                AppendError::NoToken(index) => Error::TokenId {
                    index: index - range.start,
                    id: ids[index],
                    vocab_size: self.vocabulary.size() as u32,
                },
            })?;
            start = end;
        }
        Ok(())
    }

    /// Decodes several sequences of ids on this thread, as [`Tokenizer::decode_batch`]; `decoded`, whose memory is
    /// used again, then holds all of them.
    pub fn decode_again(
        &self,
        ids: &[TokenId],
        ranges: &[Range<usize>],
        interrupt: &dyn Interrupt,
        decoded: &mut FlatBytes,
    ) -> ItemResult<()> {
        decoded.bytes.clear();
        decoded.ends.clear();
        self.append_sequences(ids, ranges, 0..ranges.len(), interrupt, decoded)
    }

    /// Appends the bytes of the sequences with these indices.
    fn append_sequences(
        &self,
        ids: &[TokenId],
        ranges: &[Range<usize>],
        indices: Range<usize>,
        interrupt: &dyn Interrupt,
        decoded: &mut FlatBytes,
    ) -> ItemResult<()> {
        let mut pacer = Pacer::new(interrupt);
        memory::try_reserve(&mut decoded.ends, indices.len()).map_err(|error| (0, error))?;
        for index in indices {
            let start = decoded.bytes.len();
            self.decode_range(ids, ranges[index].clone(), interrupt, &mut decoded.bytes)
                .and_then(|()| pacer.after_text(decoded.bytes.len() - start))
                .map_err(|error| (index, error))?;
            decoded.ends.push(decoded.bytes.len());
        }
        Ok(())
    }

    /// Decodes several sequences of ids on up to `threads` threads. Each [`FlatBytes`] holds consecutive
    /// sequences.
    ///
    /// Sequence *n* is `ids[ranges[n]]`; panics if a range is not inside `ids`. An error names the sequence
    /// by its index.
    pub fn decode_batch(
        &self,
        ids: &[TokenId],
        ranges: &[Range<usize>],
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<Vec<FlatBytes>> {
        let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let threads = if total < ALONE_BYTES / 4 { 1 } else { threads };
        let shares = task_ranges(ranges.len(), threads);
        items_in_parallel(
            threads,
            shares.len(),
            interrupt,
            |_| Ok(()),
            |(), task, interrupt| {
                let mut part = FlatBytes::default();
                self.append_sequences(ids, ranges, shares[task].clone(), interrupt, &mut part)?;
                Ok(part)
            },
        )
    }
}
