//! The number of bytes of text that each id of an encoding stands for.
//!
//! That is the length of its token, except for the unknown token and, in WordPiece, for a token that is written with
//! its prefix.

use super::Tokenizer;
use crate::encode::Unknown;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::utf8;
use crate::vocabulary::TokenId;

/// Gives the lengths of the tokens of one text, from the left.
pub(super) struct Lengths<'a> {
    tokenizer: &'a Tokenizer,
    unknown: Unknown,
    /// The ends of the pretokens, or of the runs of unknown characters, if one of them is an unknown token; and the
    /// index of the first that is not passed.
    ends: Vec<usize>,
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
        let ends = match unknown {
            Unknown::Pretoken(id) if ids.contains(&id) => ends()?,
            Unknown::Run(id) if ids.contains(&id) => self.run_ends(text, &ends()?, interrupt)?,
            _ => Vec::new(),
        };
        Ok(Lengths { tokenizer: self, unknown, ends, next: 0 })
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
    /// The ends of the runs of unknown characters in pretokens. Added tokens may be among these.
    fn run_ends(&self, text: &[u8], pretokens: &[usize], interrupt: &dyn Interrupt) -> Result<Vec<usize>> {
        let (mut ends, mut start) = (Vec::new(), 0);
        for &end in pretokens {
            self.encoder.unknown_ends(&text[start..end], start, interrupt, &mut ends)?;
            start = end;
        }
        Ok(ends)
    }
}

impl Lengths<'_> {
    /// The number of bytes that `id` stands for at this offset of the text; 0 if it is not in the vocabulary. Offsets
    /// must not fall.
    pub(super) fn at(&mut self, text: &[u8], offset: usize, id: TokenId) -> usize {
        match self.unknown {
            Unknown::Character(unknown) if unknown == id => utf8::decode(&text[offset..]).1,
            Unknown::Pretoken(unknown) | Unknown::Run(unknown) if unknown == id => {
                while self.ends.get(self.next).is_some_and(|&end| end <= offset) {
                    self.next += 1;
                }
                self.ends.get(self.next).map_or(0, |end| end - offset)
            }
            _ => {
                let token = self.tokenizer.vocabulary.get(id).unwrap_or_default();
                self.tokenizer.encoder.len_in_text(token, &text[offset..])
            }
        }
    }
}
