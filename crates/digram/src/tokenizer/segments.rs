//! Offsets at which a text can be split without changing its ids, and its segments between added tokens.

use std::ops::Range;

use super::Tokenizer;
use super::working::FoundTokens;
use crate::added_tokens::{AddedMatch, AddedTokens, OnSpecial};
use crate::encode::{IdCount, Scratch};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer, find_first, find_last};
use crate::memory;
use crate::normalize::Normalizer;
use crate::text::Text;

/// A segment of a text: ordinary text, or an added token.
pub(super) enum Segment {
    Text(Range<usize>),
    Added(Range<usize>),
}

/// An iterator over the segments of a text that normalization does not change.
pub(super) struct Segments<'a> {
    added_tokens: FoundTokens<'a>,
    on_special: OnSpecial<'a>,
    offset: usize,
    len: usize,
    /// An added token after the segment that was returned last.
    pending: Option<AddedMatch<'a>>,
}

impl Segments<'_> {
    fn added(&mut self, AddedMatch { range, token }: AddedMatch<'_>) -> Result<Segment> {
        if token.is_special && matches!(self.on_special, OnSpecial::Fail) {
            self.offset = self.len;
            self.added_tokens = FoundTokens::None;
            return Err(Error::SpecialToken { token: token.text.clone(), offset: range.start });
        }
        self.offset = range.end;
        Ok(Segment::Added(range))
    }
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment>;

    fn next(&mut self) -> Option<Result<Segment>> {
        if let Some(found) = self.pending.take() {
            return Some(self.added(found));
        }
        if self.offset == self.len {
            return None;
        }
        let start = self.offset;
        let Some(found) = self.added_tokens.next() else {
            self.offset = self.len;
            return Some(Ok(Segment::Text(start..self.len)));
        };
        if found.range.start == start {
            return Some(self.added(found));
        }
        // The text before the token comes first.
        let end = found.range.start;
        self.pending = Some(found);
        Some(Ok(Segment::Text(start..end)))
    }
}

impl Tokenizer {
    /// The segments of a text that normalization does not change, and in which tokens do not depend on what is
    /// beside them.
    pub(super) fn segments<'a>(&'a self, text: &'a [u8], on_special: OnSpecial<'a>) -> Segments<'a> {
        let added_tokens = match self.recognized(on_special) {
            None => FoundTokens::None,
            Some(set) => FoundTokens::Searched(set.matches(text, 0)),
        };
        Segments { added_tokens, on_special, offset: 0, len: text.len(), pending: None }
    }

    /// Whether a text can be read segment by segment: normalization does not change it, and added tokens do not
    /// depend on what is beside them.
    pub(super) fn has_segments(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        let depends = self.recognized(special).is_some_and(AddedTokens::depends_on_neighbours);
        Ok(!depends && self.changing(text, interrupt)?.is_none())
    }

    /// Whether a text can always be split after a token of the first pass: what follows is then as at the start of
    /// a text.
    pub(super) fn can_split_after_added(&self, special: OnSpecial<'_>) -> bool {
        let depends = self.recognized(special).is_some_and(AddedTokens::depends_on_neighbours);
        !depends && self.normalizer.as_ref().is_none_or(|normalizer| !normalizer.depends_on_start())
    }

    /// Whether every text with these two characters around `offset`, and no special token over it that is found
    /// as it is written, can be split at `offset`: its ids are then those of its two parts.
    pub(super) fn can_split_at(&self, text: &[u8], offset: usize) -> bool {
        if offset == 0 || offset >= text.len() || self.added.may_cross(text[offset - 1], text[offset]) {
            return false;
        }
        if let Some(normalizer) = &self.normalizer {
            let Some(seam) = normalizer.seam_at(text, offset) else { return false };
            // Some tokens are found in the normal form.
            if self.added.may_cross_between(seam.before, seam.after) {
                return false;
            }
            if let Some(divides) = normalizer.divides(seam) {
                return divides;
            }
            if !self.pretokenizer.is_whole() {
                return seam.is_border(&self.pretokenizer);
            }
            return seam.within(|both, middle| self.encoder.can_split_at(both, middle));
        }
        if self.pretokenizer.is_whole() {
            self.encoder.can_split_at(text, offset)
        } else {
            // Valid also if the text before the offset is removed or extended.
            self.pretokenizer.is_border_anywhere(text, offset)
        }
    }

    /// Whether the ids of every text with these two characters around `offset`, and no special token over it that is
    /// found as it is written, begin with those of its part before it. Where the text can be split they do; this also
    /// holds where the ids of what follows are not those of a text of its own.
    pub(super) fn can_end_beginning_at(&self, text: &[u8], offset: usize) -> bool {
        if offset == 0 || offset >= text.len() || self.added.may_cross(text[offset - 1], text[offset]) {
            return false;
        }
        let ends_pretokens = |text: &[u8], offset| match self.pretokenizer.is_whole() {
            true => self.encoder.can_end_beginning_at(text, offset),
            false => self.pretokenizer.is_border_anywhere(text, offset),
        };
        let Some(normalizer) = &self.normalizer else { return ends_pretokens(text, offset) };
        normalizer.end_of_beginning(text, offset).is_some_and(|seam| {
            // Some tokens are found in the normal form.
            !self.added.may_cross_between(seam.before, seam.after)
                && normalizer.divides_beginning(seam).unwrap_or_else(|| seam.within(ends_pretokens))
        })
    }

    /// Whether some text can be cut in this way.
    pub(super) fn may_end_beginning(&self) -> bool {
        let normalizer = self.normalizer.as_deref();
        normalizer.is_none_or(Normalizer::has_beginnings)
            && (self.pretokenizer.is_whole() && self.encoder.has_beginnings()
                || self.pretokenizer.has_borders()
                || normalizer.is_some_and(Normalizer::has_words))
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
        let normalizer = self.normalizer.as_deref();
        let may_split = normalizer.is_none_or(Normalizer::has_seams)
            && (self.pretokenizer.is_whole() && self.encoder.has_splits()
                || self.pretokenizer.has_borders()
                || normalizer.is_some_and(Normalizer::has_words));
        if may_split { offsets } else { 0..0 }
    }

    /// The last split at or before `until`; 0 if there is none.
    pub(super) fn last_split_until(
        &self,
        text: &[u8],
        until: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        Ok(self.last_split_in(text, 1..until + 1, interrupt)?.unwrap_or(0))
    }

    /// The last split at one of some offsets.
    pub(super) fn last_split_in(
        &self,
        text: &[u8],
        offsets: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<usize>> {
        find_last(self.possible_splits(offsets), interrupt, |offset| self.can_split_at(text, offset))
    }

    /// The last of some places that is not inside an added token of the first pass; or the end of such a token, if the
    /// text can be split there. Tokens that start before `certain` are complete; `find` returns the last place among
    /// offsets.
    pub(super) fn last_outside_added(
        &self,
        text: &[u8],
        places: Range<usize>,
        certain: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        find: impl Fn(Range<usize>) -> Result<Option<usize>>,
    ) -> Result<Option<usize>> {
        let (set, ends_split) = (self.recognized(special), self.can_split_after_added(special));
        let (mut found_tokens, mut pacer) = (Vec::new(), Pacer::new(interrupt));
        for AddedMatch { range, .. } in set.iter().flat_map(|set| set.matches_of_pass(false, text)) {
            if range.start >= certain {
                break;
            }
            pacer.after_text(range.len())?;
            if range.end >= places.start {
                memory::try_reserve(&mut found_tokens, 1)?;
                found_tokens.push(range);
            }
        }
        let mut end = places.end;
        for found in found_tokens.into_iter().rev() {
            let place = find(found.end.max(places.start)..end)?;
            if let Some(place) = place.or((ends_split && found.end <= certain).then_some(found.end)) {
                return Ok(Some(place));
            }
            end = end.min(found.start + 1);
        }
        find(places.start..end)
    }

    /// The number of ids of text in which special tokens are plain text.
    pub(super) fn count_ordinary(
        &self,
        text: &[u8],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        self.count_with(text, OnSpecial::Text, scratch, interrupt)
    }

    /// The number of ids of text.
    pub(super) fn count_with(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let mut count = IdCount::default();
        self.each_id(text, special, scratch, interrupt, &mut count)?;
        Ok(count.0)
    }
}
