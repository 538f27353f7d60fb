//! The number of bytes of text that each id of an encoding stands for.
//!
//! That is the length of its token, except for the unknown token, for a token that text becomes by its name and, in
//! WordPiece, for a token that is written with its prefix.

use std::ops::Range;

use super::Tokenizer;
use crate::encode::{Mark, Unknown};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::vocabulary::TokenId;

/// Gives the lengths of the tokens of one text, from the left.
pub(super) struct Lengths<'a> {
    tokenizer: &'a Tokenizer,
    unknown: Unknown<'a>,
    /// The pretokens, or the marks of the text, if one of them is of an unknown token; and the index of the first that
    /// is not passed.
    marks: Vec<Mark>,
    next: usize,
}

impl Tokenizer {
    /// For a text whose ids these are; `ends` finds the ends of its pretokens if they matter.
    pub(super) fn lengths(
        &self,
        text: &[u8],
        ids: &[TokenId],
        interrupt: &dyn Interrupt,
        ends: impl FnOnce() -> Result<Vec<usize>>,
    ) -> Result<Lengths<'_>> {
        let unknown = self.encoder.unknown();
        let marks = match unknown {
            Unknown::Pretoken(id) if ids.contains(&id) => whole(&ends()?)?,
            Unknown::Marked(marked) if ids.iter().any(|id| marked.contains(id)) => {
                self.marks(text, &ends()?, interrupt)?
            }
            _ => Vec::new(),
        };
        Ok(Lengths { tokenizer: self, unknown, marks, next: 0 })
    }

    /// For ordinary text whose ids these are.
    pub(super) fn ordinary_lengths(
        &self,
        text: &[u8],
        ids: &[TokenId],
        interrupt: &dyn Interrupt,
    ) -> Result<Lengths<'_>> {
        self.lengths(text, ids, interrupt, || {
            let mut ends = Vec::new();
            self.pretokenizer.for_many(text, 0, GoesOn::No, interrupt, |_, more| {
                memory::try_reserve(&mut ends, more.len())?;
                ends.extend_from_slice(more);
                Ok(())
            })?;
            Ok(ends)
        })
    }
}

impl Tokenizer {
    /// The marks of pretokens. Added tokens may be among these.
    fn marks(&self, text: &[u8], pretokens: &[usize], interrupt: &dyn Interrupt) -> Result<Vec<Mark>> {
        let (mut marks, mut start) = (Vec::new(), 0);
        let mut scratch = self.scratch_pool.take();
        for &end in pretokens {
            self.encoder.marks(&text[start..end], start, &mut scratch, interrupt, &mut marks)?;
            start = end;
        }
        Ok(marks)
    }
}

/// A mark for each pretoken.
fn whole(ends: &[usize]) -> Result<Vec<Mark>> {
    let (mut marks, mut start) = (Vec::new(), 0);
    memory::try_reserve(&mut marks, ends.len())?;
    for &end in ends {
        marks.push(Mark { start, end, has_bytes: false });
        start = end;
    }
    Ok(marks)
}

impl Lengths<'_> {
    /// The number of bytes that `id` stands for at this offset of the text; 0 if it is not in the vocabulary. Offsets
    /// must not fall.
    pub(super) fn at(&mut self, text: &[u8], offset: usize, id: TokenId) -> usize {
        match self.unknown {
            Unknown::Character(unknown) if unknown == id => {
                self.tokenizer.encoder.unknown_len(&text[offset..])
            }
            Unknown::Pretoken(unknown) if unknown == id => {
                self.mark(offset).map_or(0, |mark| mark.end - offset)
            }
            Unknown::Marked(marked) if marked.contains(&id) => match self.mark(offset) {
                Some(mark) if mark.has_bytes => 1,
                Some(mark) => mark.end - offset,
                None => self.of_token(text, offset, id),
            },
            _ => self.of_token(text, offset, id),
        }
    }

    /// What an id covers that stands for a range of the text, the last one that was asked for: a byte of an unknown
    /// character may cover all of a run.
    pub(super) fn covered(&self, range: Range<usize>, id: TokenId) -> Range<usize> {
        let mark = self.marks.get(self.next).filter(|mark| mark.has_bytes && mark.start <= range.start);
        match (self.unknown, mark) {
            (Unknown::Marked(marked), Some(mark)) if marked.contains(&id) => mark.start..mark.end,
            _ => range,
        }
    }

    /// The mark at an offset.
    fn mark(&mut self, offset: usize) -> Option<Mark> {
        while self.marks.get(self.next).is_some_and(|mark| mark.end <= offset) {
            self.next += 1;
        }
        self.marks.get(self.next).copied().filter(|mark| mark.start <= offset)
    }

    fn of_token(&self, text: &[u8], offset: usize, id: TokenId) -> usize {
        let token = self.tokenizer.vocabulary.get(id).unwrap_or_default();
        self.tokenizer.encoder.len_in_text(token, &text[offset..])
    }
}
