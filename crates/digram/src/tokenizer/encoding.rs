//! Encoding one text: it is normalized, added tokens are found in it, and the rest is split and looked up.

use std::ops::{Deref, Range};

use super::Tokenizer;
use super::working::Working;
use crate::added_tokens::{AddedMatch, AddedToken, OnSpecial};
use crate::encode::{GROUP, Group, IdCount, Place, Pooled, Scratch, Sink};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::text::{AsText, Text};
use crate::vocabulary::TokenId;

impl Tokenizer {
    /// Encodes `text` and appends the ids to `ids`. On an error `ids` is unchanged.
    ///
    /// Takes near-linear time for any text.
    pub fn encode(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (text, previous_len) = (text.as_text(), ids.len());
        let scratch = &mut self.scratch_for(text.len_hint(), Place::ALONE);
        self.each_of(text, special, scratch, interrupt, ids)
            .map(|_| ())
            .inspect_err(|_| ids.truncate(previous_len))
    }

    /// The ids that [`Tokenizer::encode`] gives, in memory that a later call uses again.
    pub fn ids(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<TextIds<'_>> {
        let text = text.as_text();
        let mut scratch = self.scratch_for(text.len_hint(), Place::ALONE);
        let mut ids = std::mem::take(&mut scratch.ids);
        ids.clear();
        self.each_of(text, special, &mut scratch, interrupt, &mut ids)?;
        scratch.ids = ids;
        Ok(TextIds(scratch))
    }

    /// The number of ids that [`Tokenizer::encode`] would give, without storing them.
    pub fn count(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let (text, mut count) = (text.as_text(), IdCount(0));
        let scratch = &mut self.scratch_for(text.len_hint(), Place::ALONE);
        self.each_of(text, special, scratch, interrupt, &mut count)?;
        Ok(count.0)
    }

    /// The memory of one of several threads, which encodes texts of this many bytes together.
    pub(super) fn scratch_for(&self, bytes: usize, place: Place) -> Pooled<'_> {
        let mut scratch = self.scratch_pool.take_for(place);
        self.encoder.expect(bytes, &mut scratch);
        scratch
    }

    /// Emits the ids of a text, and returns its number of bytes in UTF-8.
    #[inline]
    pub(super) fn each_of(
        &self,
        text: Text<'_>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        if let Text::Utf8(bytes) = text {
            return self.each_id(bytes, special, scratch, interrupt, sink).map(|()| bytes.len());
        }
        let is_kept = match &self.normalizer {
            Some(normalizer) if self.given_cuts(special).is_none() => normalizer.keeps(text, interrupt)?,
            _ => false,
        };
        let mut converter = std::mem::take(&mut scratch.converter);
        let converted = converter.utf8(text, interrupt);
        let emitted = converted.and_then(|bytes| {
            match is_kept {
                true => self.each_kept(bytes, special, scratch, interrupt, sink)?,
                false => self.each_id(bytes, special, scratch, interrupt, sink)?,
            }
            Ok(bytes.len())
        });
        scratch.converter = converter;
        emitted
    }

    pub(super) fn each_id(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(cuts) = self.given_cuts(special) {
            return self.each_of_given(cuts, text, special, scratch, interrupt, sink);
        }
        self.each_normalized(text, special, scratch, interrupt, sink)
    }

    /// Emits the ids of a text that the normalizer leaves as it is.
    fn each_kept(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let working = Working::of_kept(text, self.recognized(special));
        self.each_of_working(&working, special, scratch, interrupt, sink)
    }

    /// Emits the ids of a text that is normalized as a whole.
    pub(super) fn each_normalized(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let working = self.working(text, special, false, interrupt)?;
        let emitted = self.each_of_working(&working, special, scratch, interrupt, sink);
        emitted.map_err(|error| self.in_given(error, text, special, interrupt))
    }

    /// Emits the ids of a text that is normalized.
    #[inline]
    pub(super) fn each_of_working(
        &self,
        working: &Working<'_>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (text, mut offset, mut pacer) = (working.text(), 0, Pacer::new(interrupt));
        for AddedMatch { range, token } in working.added_tokens() {
            pacer.after_text(range.end.saturating_sub(offset))?;
            if offset < range.start {
                self.each_of_part(working, offset..range.start, scratch, interrupt, sink)?;
            }
            push_added(special, token, range.start, sink)?;
            offset = range.end;
        }
        self.each_of_part(working, offset..text.len(), scratch, interrupt, sink)
    }

    /// Emits the ids of a part of a normalized text between added tokens.
    #[inline]
    pub(super) fn each_of_part(
        &self,
        working: &Working<'_>,
        part: Range<usize>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(ends) = working.word_ends(&part) {
            return self.for_words(working.text(), part.start, ends, interrupt, |start, ends| {
                self.encoder.encode(Group::new(working.text(), start, ends), scratch, interrupt, sink)
            });
        }
        let encoded =
            self.each_ordinary(&working.text()[part.clone()], 0, GoesOn::No, scratch, interrupt, sink);
        encoded.map(|_| ()).map_err(|error| error.shifted(part.start))
    }

    /// Calls `visit` with the pretokens of words, up to [`GROUP`] at a time: the start of the first, and the ends of
    /// all.
    pub(super) fn for_words(
        &self,
        text: &[u8],
        start: usize,
        word_ends: &[usize],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(usize, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let (mut word_start, mut start, mut pacer) = (start, start, Pacer::new(interrupt));
        let mut visit_all = |ends: &[usize]| {
            for ends in ends.chunks(GROUP) {
                let first = std::mem::replace(&mut start, ends[ends.len() - 1]);
                visit(first, ends)?;
                pacer.after_text(start - first)?;
            }
            Ok(())
        };
        if self.pretokenizer.is_whole() {
            return visit_all(word_ends);
        }
        let mut ends = Vec::new();
        for &word_end in word_ends {
            let word = &text[word_start..word_end];
            if self.pretokenizer.cuts_at_spaces() && !word[1..].contains(&b' ') {
                word_start = word_end;
                memory::try_reserve(&mut ends, 1)?;
                ends.push(word_end);
                if ends.len() >= GROUP {
                    visit_all(&ends)?;
                    ends.clear();
                }
                continue;
            }
            self.pretokenizer.for_many(word, 0, GoesOn::No, interrupt, |_, word_pretokens| {
                memory::try_reserve(&mut ends, word_pretokens.len())?;
                ends.extend(word_pretokens.iter().map(|end| word_start + end));
                if ends.len() >= GROUP {
                    visit_all(&ends)?;
                    ends.clear();
                }
                Ok(())
            })?;
            word_start = word_end;
        }
        visit_all(&ends)
    }

    /// Encodes text without special tokens from `from` on. Returns the number of bytes encoded: all, unless
    /// the text may continue in a way that matters.
    pub(super) fn each_ordinary(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let rest = &text[from..];
        let encoded = self.pretokenizer.for_many(text, from, goes_on, interrupt, |mut start, ends| {
            ends.chunks(GROUP).try_for_each(|ends| {
                let start = std::mem::replace(&mut start, ends[ends.len() - 1]);
                self.encoder.encode(Group::new(rest, start, ends), scratch, interrupt, sink)
            })
        });
        encoded.map_err(|error| error.shifted(from))
    }
}

/// The ids of one text.
pub struct TextIds<'t>(Pooled<'t>);

impl Deref for TextIds<'_> {
    type Target = [TokenId];

    fn deref(&self) -> &[TokenId] {
        &self.0.ids
    }
}

/// Emits an added token found at byte `offset`.
pub(super) fn push_added(
    special: OnSpecial<'_>,
    token: &AddedToken,
    offset: usize,
    sink: &mut impl Sink,
) -> Result<()> {
    if token.is_special && matches!(special, OnSpecial::Fail) {
        return Err(Error::SpecialToken { token: token.text.clone(), offset });
    }
    sink.reserve(1)?;
    sink.push_id(token.id);
    Ok(())
}
