//! Offsets of the tokens of an encoding in their text, and the indices of their pretokens.
//!
//! Both are computed afterwards, from the text and its ids, so they do not slow encoding down. The
//! result is exact, because the bytes of the tokens join to the normalized text, and no token crosses the boundary
//! of a pretoken.

use std::ops::Range;

use super::Tokenizer;
use super::working::Working;
use crate::added_tokens::{AddedMatch, OnSpecial};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::parallel::in_parallel;
use crate::pretokenize::{ALONE_BYTES, GoesOn, TASK_BYTES};
use crate::utf8;
use crate::vocabulary::TokenId;

/// The unit of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OffsetUnit {
    /// Bytes.
    Bytes,
    /// Characters; invalid bytes count as the U+FFFD that would replace them.
    Characters,
    /// Units of UTF-16: two for a character beyond U+FFFF, one for any other.
    Utf16,
}

/// Several texts with their ids, as [`Tokenizer::encode_batch`] gives them.
#[derive(Debug, Clone, Copy)]
pub struct EncodedTexts<'a, T> {
    /// The texts.
    pub texts: &'a [T],
    /// The treatment of special tokens with which they were encoded.
    pub special: OnSpecial<'a>,
    /// The ids of all texts.
    pub ids: &'a [TokenId],
    /// The end of each text in `ids`, after a leading zero.
    pub bounds: &'a [u64],
}

impl<T: AsRef<[u8]> + Sync> EncodedTexts<'_, T> {
    /// The range of texts of each task, and the number of bytes of all. A text is read in order, so a long
    /// one is a task of its own.
    fn tasks(&self) -> (Vec<Range<usize>>, usize) {
        let (mut tasks, mut start, mut task_start, mut bytes) = (Vec::new(), 0, 0, 0);
        for (index, text) in self.texts.iter().enumerate() {
            bytes += text.as_ref().len();
            if bytes - task_start >= TASK_BYTES || index + 1 == self.texts.len() {
                tasks.push(std::mem::replace(&mut start, index + 1)..index + 1);
                task_start = bytes;
            }
        }
        (tasks, bytes)
    }

    /// Calls `work` for each text and its ids on up to `threads` threads, and joins the results.
    fn each<R: Send>(
        &self,
        threads: usize,
        interrupt: &dyn Interrupt,
        work: impl Fn(usize, &[u8], &[TokenId], &mut Vec<R>, &dyn Interrupt) -> Result<()> + Sync,
    ) -> Result<Vec<R>> {
        let (tasks, bytes) = self.tasks();
        let threads = if bytes < ALONE_BYTES { 1 } else { threads };
        let ids = |texts: Range<usize>| self.bounds[texts.start] as usize..self.bounds[texts.end] as usize;
        let parts = in_parallel(
            threads,
            tasks.len(),
            interrupt,
            || (),
            |(), task, interrupt| {
                let mut results = Vec::new();
                memory::try_reserve(&mut results, ids(tasks[task].clone()).len())?;
                let mut pacer = Pacer::new(interrupt);
                for text in tasks[task].clone() {
                    let ids = &self.ids[ids(text..text + 1)];
                    work(text, self.texts[text].as_ref(), ids, &mut results, interrupt)?;
                    pacer.after_text(self.texts[text].as_ref().len())?;
                }
                Ok(results)
            },
        );
        let mut parts = parts?;
        match parts.len() {
            1 => Ok(parts.pop().expect("one part")),
            _ => {
                let mut joined = Vec::new();
                memory::try_reserve(&mut joined, parts.iter().map(Vec::len).sum())?;
                parts.into_iter().for_each(|part| joined.extend(part));
                Ok(joined)
            }
        }
    }
}

impl Tokenizer {
    /// The start and end of each id in its text, in the unit that `unit` returns for that text.
    ///
    /// A token covers every character of which it has a byte, so tokens that share a character all have the
    /// full span of that character. If the text was normalized, these are the characters of the given text from
    /// which its bytes come. Takes linear time.
    pub fn spans<T: AsRef<[u8]> + Sync>(
        &self,
        encoded: &EncodedTexts<'_, T>,
        unit: impl Fn(usize) -> OffsetUnit + Sync,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<[usize; 2]>> {
        encoded.each(threads, interrupt, |index, text, ids, spans, interrupt| {
            let unit = if text.is_ascii() { OffsetUnit::Bytes } else { unit(index) };
            let mut offsets = OffsetConverter::new(text, unit);
            let working = self.working(text, encoded.special, true, interrupt)?;
            self.each_span(&working, ids, interrupt, |_, covered| {
                spans.push(offsets.convert(working.given(covered)))
            })
        })
    }

    /// The normalized text that each token with the id `wanted` stands for, in order. Takes linear time.
    pub fn texts_of(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        ids: &[TokenId],
        wanted: TokenId,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Vec<u8>>> {
        let working = self.working(text, special, false, interrupt)?;
        let (mut ranges, mut rest) = (Vec::new(), ids.iter());
        memory::try_reserve(&mut ranges, ids.iter().filter(|id| **id == wanted).count())?;
        self.each_span(&working, ids, interrupt, |range, _| {
            if rest.next() == Some(&wanted) {
                ranges.push(range);
            }
        })?;
        let mut texts = Vec::new();
        memory::try_reserve(&mut texts, ranges.len())?;
        for range in ranges {
            let mut one = Vec::new();
            memory::try_reserve(&mut one, range.len())?;
            one.extend_from_slice(&working.text()[range]);
            texts.push(one);
        }
        Ok(texts)
    }

    /// The index of the pretoken that each id belongs to, from 0 in each text. A special token counts as a
    /// pretoken. Takes linear time.
    pub fn pretoken_numbers<T: AsRef<[u8]> + Sync>(
        &self,
        encoded: &EncodedTexts<'_, T>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u32>> {
        encoded.each(threads, interrupt, |_, text, ids, numbers, interrupt| {
            let working = self.working(text, encoded.special, false, interrupt)?;
            let ends = self.pretoken_ends(&working, interrupt)?;
            let mut number = 0;
            self.each_span(&working, ids, interrupt, |span, _| {
                numbers.push(number);
                number += u32::from(ends.get(number as usize) == Some(&span.end));
            })
        })
    }

    /// Calls `visit` with the byte range of each id in the normalized text, in order, and with the range that it covers.
    /// The ranges follow each other; only bytes of unknown characters cover more.
    pub(super) fn each_span(
        &self,
        working: &Working<'_>,
        ids: &[TokenId],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(Range<usize>, Range<usize>),
    ) -> Result<()> {
        let mismatch = || Error::Internal { reason: "the ids are not those of the text.".into() };
        let mut lengths =
            self.lengths(working.text(), ids, interrupt, || self.pretoken_ends(working, interrupt))?;
        let (text, mut added_tokens) = (working.text(), working.added_tokens());
        let (mut position, mut rest, mut pacer) = (0, ids.iter(), Pacer::new(interrupt));
        loop {
            let added = added_tokens.next();
            let segment_end = added.as_ref().map_or(text.len(), |found| found.range.start);
            while position < segment_end {
                let id = *rest.next().ok_or_else(mismatch)?;
                let len = lengths.at(text, position, id);
                let end = position + len;
                if len == 0 || end > segment_end {
                    return Err(mismatch());
                }
                visit(position..end, lengths.covered(position..end, id));
                position = end;
                pacer.after(len)?;
            }
            let Some(AddedMatch { range, .. }) = added else { break };
            rest.next().ok_or_else(mismatch)?;
            position = range.end;
            visit(range.clone(), range);
            pacer.after_text(0)?;
        }
        if rest.next().is_some() { Err(mismatch()) } else { Ok(()) }
    }

    /// The end of each pretoken of the normalized text, in bytes.
    fn pretoken_ends(&self, working: &Working<'_>, interrupt: &dyn Interrupt) -> Result<Vec<usize>> {
        let (text, mut added_tokens) = (working.text(), working.added_tokens());
        let mut ends = Vec::new();
        let (mut position, mut pacer) = (0, Pacer::new(interrupt));
        loop {
            let added = added_tokens.next();
            let segment_end = added.as_ref().map_or(text.len(), |found| found.range.start);
            let segment = position..segment_end.max(position);
            pacer.after_text(segment.len())?;
            let mut add = |offset, segment_ends: &[usize]| {
                memory::try_reserve(&mut ends, segment_ends.len() + 1)?;
                ends.extend(segment_ends.iter().map(|end| offset + end));
                Ok(())
            };
            match working.word_ends(&segment) {
                Some(word_ends) => {
                    self.for_words(text, position, word_ends, interrupt, |_, ends| add(0, ends))?
                }
                None => {
                    let add = |_, ends: &[usize]| add(position, ends);
                    self.pretokenizer.for_many(&text[segment], 0, GoesOn::No, interrupt, add)?;
                }
            }
            let Some(AddedMatch { range, .. }) = added else { return Ok(ends) };
            memory::try_reserve(&mut ends, 1)?;
            ends.push(range.end);
            position = range.end;
        }
    }
}

/// Converts byte ranges into another unit. Those in order read the text once; for one before the last, the text
/// between them is read again.
pub(super) struct OffsetConverter<'t> {
    text: &'t [u8],
    unit: OffsetUnit,
    /// The range of the character reached last, in bytes and in the unit.
    bytes: Range<usize>,
    units: Range<usize>,
}

impl OffsetConverter<'_> {
    pub(super) fn new(text: &[u8], unit: OffsetUnit) -> OffsetConverter<'_> {
        OffsetConverter { text, unit, bytes: 0..0, units: 0..0 }
    }

    #[inline]
    pub(super) fn convert(&mut self, span: Range<usize>) -> [usize; 2] {
        if self.unit == OffsetUnit::Bytes {
            return [span.start, span.end];
        }
        while span.start < self.bytes.start {
            self.step_back();
        }
        while self.bytes.end <= span.start && self.bytes.end < self.text.len() {
            self.advance();
        }
        if span.is_empty() {
            // Nothing of the text, before a character or at the end.
            let place = if span.start < self.bytes.end { self.units.start } else { self.units.end };
            return [place; 2];
        }
        let start = self.units.start;
        while self.bytes.end < span.end {
            self.advance();
        }
        [start, self.units.end]
    }

    #[inline]
    fn advance(&mut self) {
        let (_, len) = utf8::decode(&self.text[self.bytes.end..]);
        self.bytes = self.bytes.end..self.bytes.end + len;
        self.units = self.units.end..self.units.end + self.units_of(len);
    }

    #[cold]
    fn step_back(&mut self) {
        let start = utf8::character_until(self.text, self.bytes.start - 1);
        self.bytes = start..self.bytes.start;
        self.units = self.units.start - self.units_of(self.bytes.len())..self.units.start;
    }

    /// The units of a character of this many bytes.
    #[inline]
    fn units_of(&self, len: usize) -> usize {
        1 + usize::from(len == 4 && self.unit == OffsetUnit::Utf16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_inside_characters_covers_them_whole() {
        // é is two bytes, 🙂 four, and the last byte is not UTF-8.
        let text = "aé🙂".bytes().chain([0xff]).collect::<Vec<_>>();
        let mut offsets = OffsetConverter::new(&text, OffsetUnit::Utf16);
        assert_eq!(
            [3..5, 0..1, 5..8, 1..3].map(|span| offsets.convert(span)),
            [[2, 4], [0, 1], [2, 5], [1, 2]]
        );
        let converted = |unit| {
            let mut offsets = OffsetConverter::new(&text, unit);
            [0..2, 2..3, 3..5, 5..6, 6..8].map(|span| offsets.convert(span))
        };
        assert_eq!(converted(OffsetUnit::Bytes), [[0, 2], [2, 3], [3, 5], [5, 6], [6, 8]]);
        assert_eq!(converted(OffsetUnit::Characters), [[0, 2], [1, 2], [2, 3], [2, 3], [2, 4]]);
        assert_eq!(converted(OffsetUnit::Utf16), [[0, 2], [1, 2], [2, 4], [2, 4], [2, 5]]);
    }
}
