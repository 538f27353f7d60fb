//! Offsets at which a text can be split without changing its ids, and its segments between special tokens.

use std::ops::Range;

use super::Tokenizer;
use crate::encode::{IdCount, Scratch};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, find_first, find_last};
use crate::pretokenize::GoesOn;
use crate::special::OnSpecial;
use crate::text::Text;

/// A segment of a text: ordinary text, or a special token.
pub(super) enum Segment {
    Text(Range<usize>),
    Special(Range<usize>),
}

/// An iterator over the segments of a text.
pub(super) struct Segments<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    on_special: OnSpecial<'a>,
    offset: usize,
    /// A special token after the segment that was returned last.
    pending_special: Option<Range<usize>>,
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment>;

    fn next(&mut self) -> Option<Result<Segment>> {
        if let Some(range) = self.pending_special.take() {
            return Some(Ok(Segment::Special(range)));
        }
        if self.offset == self.text.len() {
            return None;
        }
        let start = self.offset;
        let Some((special_start, end, (token, _))) =
            self.tokenizer.find_special(self.text, start, self.on_special)
        else {
            self.offset = self.text.len();
            return Some(Ok(Segment::Text(start..self.offset)));
        };
        if special_start > start && matches!(self.on_special, OnSpecial::Fail) {
            // The text before the special token comes first; the next call finds the token again.
            self.offset = special_start;
            return Some(Ok(Segment::Text(start..special_start)));
        }
        if let OnSpecial::Fail = self.on_special {
            self.offset = self.text.len();
            return Some(Err(Error::SpecialToken { token: token.clone(), offset: special_start }));
        }
        self.offset = end;
        if special_start == start {
            return Some(Ok(Segment::Special(special_start..end)));
        }
        self.pending_special = Some(special_start..end);
        Some(Ok(Segment::Text(start..special_start)))
    }
}

impl Tokenizer {
    pub(super) fn segments<'a>(&'a self, text: &'a [u8], on_special: OnSpecial<'a>) -> Segments<'a> {
        Segments { tokenizer: self, text, on_special, offset: 0, pending_special: None }
    }

    /// Whether every text with these two characters around `offset`, and no special token there, can be split
    /// at `offset`: its ids are then those of its two parts.
    pub(super) fn can_split_at(&self, text: &[u8], offset: usize) -> bool {
        if offset == 0 || offset >= text.len() {
            return false;
        }
        if self.pretokenizer.is_whole() {
            self.encoder.can_split_at(text, offset)
        } else {
            // Valid also if the text before the offset is removed or extended.
            self.pretokenizer.is_border_anywhere(text, offset)
        }
    }

    /// The first split at or after `from`; the end of the text if there is none.
    pub(super) fn next_split(&self, text: &[u8], from: usize, interrupt: &dyn Interrupt) -> Result<usize> {
        Ok(self.first_split(text, from..text.len(), interrupt)?.unwrap_or(text.len()))
    }

    /// The first split at one of some offsets.
    pub(super) fn first_split(
        &self,
        text: &[u8],
        offsets: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<usize>> {
        find_first(self.possible_splits(offsets), interrupt, |offset| self.can_split_at(text, offset))
    }

    /// As [`first_split`](Tokenizer::first_split), in the characters of a text that is not in UTF-8.
    pub(super) fn first_split_of_characters(
        &self,
        text: Text<'_>,
        indices: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<usize>> {
        find_first(self.possible_splits(indices), interrupt, |index| {
            let before = index.checked_sub(1).and_then(|index| text.character(index));
            let (Some(before), Some(after)) = (before, text.character(index)) else { return false };
            let mut both = [0; 2 * char::MAX.len_utf8()];
            let middle = before.encode_utf8(&mut both).len();
            let end = middle + after.encode_utf8(&mut both[middle..]).len();
            self.can_split_at(&both[..end], middle)
        })
    }

    /// Those of some offsets that may be splits: all, or none.
    fn possible_splits(&self, offsets: Range<usize>) -> Range<usize> {
        if self.pretokenizer.is_whole() || self.pretokenizer.has_borders() { offsets } else { 0..0 }
    }

    /// The last split at or before `until`; 0 if there is none.
    pub(super) fn last_split_until(
        &self,
        text: &[u8],
        until: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let offsets = self.possible_splits(1..until + 1);
        Ok(find_last(offsets, interrupt, |offset| self.can_split_at(text, offset))?.unwrap_or(0))
    }

    /// The number of ids of text without special tokens.
    pub(super) fn count_ordinary(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let mut count = IdCount::default();
        self.each_ordinary(text, 0, GoesOn::No, scratch, interrupt, &mut count)?;
        Ok(count.0)
    }
}
