//! Places at which a text can be split without changing its ids, and its segments between special tokens.

use std::ops::Range;

use super::Tokenizer;
use crate::encode::{IdCount, Scratch};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, find_first, find_last};
use crate::pretokenize::GoesOn;
use crate::special::OnSpecial;

/// A segment of a text: ordinary text, or a special token.
pub(super) enum Segment {
    Text(Range<usize>),
    Special(Range<usize>),
}

/// An iterator over the segments of a text.
pub(super) struct Segments<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    rule: OnSpecial<'a>,
    at: usize,
    found: Option<Range<usize>>,
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment>;

    fn next(&mut self) -> Option<Result<Segment>> {
        if let Some(found) = self.found.take() {
            return Some(Ok(Segment::Special(found)));
        }
        if self.at == self.text.len() {
            return None;
        }
        let start = self.at;
        let Some((found, end, (token, _))) = self.tokenizer.find_special(self.text, start, self.rule) else {
            self.at = self.text.len();
            return Some(Ok(Segment::Text(start..self.at)));
        };
        if found > start && matches!(self.rule, OnSpecial::Fail) {
            // The text before the special token comes first; the next call finds the token again.
            self.at = found;
            return Some(Ok(Segment::Text(start..found)));
        }
        if let OnSpecial::Fail = self.rule {
            self.at = self.text.len();
            return Some(Err(Error::SpecialToken { token: token.clone(), offset: found }));
        }
        self.at = end;
        if found == start {
            return Some(Ok(Segment::Special(found..end)));
        }
        self.found = Some(found..end);
        Some(Ok(Segment::Text(start..found)))
    }
}

impl Tokenizer {
    pub(super) fn parts<'a>(&'a self, text: &'a [u8], rule: OnSpecial<'a>) -> Segments<'a> {
        Segments { tokenizer: self, text, rule, at: 0, found: None }
    }

    /// Whether every text with these two characters around `at`, and no special token there, can be split
    /// at `at`: its ids are then those of its two parts.
    pub(super) fn can_split_at(&self, text: &[u8], at: usize) -> bool {
        if at == 0 || at >= text.len() {
            return false;
        }
        if self.pretokenizer.is_whole() {
            self.encoder.can_split_at(text, at)
        } else {
            // Valid also if the text before the place is cut off or extended.
            self.pretokenizer.is_border_anywhere(text, at)
        }
    }

    /// The first place to split at or after `from`; the end of the text if there is none.
    pub(super) fn next_split(&self, text: &[u8], from: usize, interrupt: &dyn Interrupt) -> Result<usize> {
        let has_splits = self.pretokenizer.is_whole() || self.pretokenizer.has_borders();
        let places = if has_splits { from..text.len() } else { 0..0 };
        let found = find_first(places, interrupt, |at| self.can_split_at(text, at))?;
        Ok(found.unwrap_or(text.len()))
    }

    /// The last place to split at or before `until`; 0 if there is none.
    pub(super) fn last_split_until(
        &self,
        text: &[u8],
        until: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        if !self.pretokenizer.is_whole() && !self.pretokenizer.has_borders() {
            return Ok(0);
        }
        Ok(find_last(1..until + 1, interrupt, |at| self.can_split_at(text, at))?.unwrap_or(0))
    }

    /// The number of ids of text without special tokens.
    pub(super) fn count_ordinary(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let mut tally = IdCount::default();
        self.each_ordinary(text, 0, GoesOn::No, scratch, interrupt, &mut tally)?;
        Ok(tally.0)
    }
}
