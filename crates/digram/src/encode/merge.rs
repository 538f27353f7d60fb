//! What is in no table: the ids of a run of bytes by merges alone.

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;
use crate::watch::{Paced, Watch};

use super::short::{self, SHORT};
use super::{Choices, DropoutScratch, Encoder, OnUnknown, Scratch, Sink, Unit};
use super::{dropout, long};

impl Encoder {
    /// The ids of a run of bytes by merges alone.
    pub(super) fn merge(
        &self,
        run: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match &self.unit {
            Unit::Byte { ids } => {
                let symbols = run.iter().map(|&byte| (ids[byte as usize], 1));
                self.merge_run(symbols, run.len(), scratch, watch, sink)
            }
            Unit::Char { on_unknown } => {
                self.merge_characters(run, on_unknown, watch, sink, |known, sink| {
                    let symbols = known.chars().map(|c| (self.characters[&c], c.len_utf8()));
                    self.merge_run(symbols, known.len(), scratch, watch, sink)
                })
            }
        }
    }

    /// Emits the ids of a pretoken, some merges of which are left out. Nothing is looked up: what a
    /// whole pretoken becomes otherwise is one of many encodings here.
    pub(crate) fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        choices: &mut Choices,
        scratch: &mut DropoutScratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if !self.is_by_rank() {
            let reason = "dropout leaves merges out by rank, and this tokenizer applies them otherwise.";
            return Err(Error::Option { reason: reason.into() });
        }
        match &self.unit {
            Unit::Byte { ids } => {
                let symbols = pretoken.iter().map(|&byte| ids[byte as usize]);
                dropout::merge(symbols, &self.merges, choices, scratch, watch, sink)
            }
            Unit::Char { on_unknown } => {
                self.merge_characters(pretoken, on_unknown, watch, sink, |known, sink| {
                    let symbols = known.chars().map(|c| self.characters[&c]);
                    dropout::merge(symbols, &self.merges, choices, scratch, watch, sink)
                })
            }
        }
    }

    /// Characters without a token join with nothing, so the runs between them stand alone: `merge`
    /// is called with each.
    pub(super) fn merge_characters<S: Sink>(
        &self,
        pretoken: &[u8],
        on_unknown: &OnUnknown,
        watch: &dyn Watch,
        sink: &mut S,
        mut merge: impl FnMut(&str, &mut S) -> Result<()>,
    ) -> Result<()> {
        let text = std::str::from_utf8(pretoken)
            .map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let (mut start, mut paced) = (0, Paced::new(watch));
        for (at, c) in text.char_indices() {
            paced.after(c.len_utf8())?;
            if self.characters.contains_key(&c) {
                continue;
            }
            sink.reserve(c.len_utf8())?;
            if start < at {
                merge(&text[start..at], sink)?;
            }
            start = at + c.len_utf8();
            match on_unknown {
                OnUnknown::Fail => return Err(Error::UnknownCharacter { character: c, offset: at }),
                OnUnknown::Token(id) => sink.one(*id),
                OnUnknown::Bytes { ids } => {
                    pretoken[at..start].iter().for_each(|&byte| sink.one(ids[byte as usize]))
                }
            }
        }
        if start < text.len() {
            merge(&text[start..], sink)?;
        }
        Ok(())
    }

    /// Merges a run of symbols, given with their lengths, that is `len` bytes long.
    #[inline]
    fn merge_run(
        &self,
        symbols: impl Iterator<Item = (TokenId, usize)>,
        len: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(numbered) = &self.events {
            return numbered.merge(symbols, len, &mut scratch.events, watch, sink);
        }
        // Most words of most languages have up to 16 bytes: two vectors of keys to look through.
        if len <= 16 {
            sink.reserve(len)?;
            short::merge::<16>(symbols.map(|(id, _)| id), &self.merges, self.way, sink);
        } else if len <= SHORT {
            sink.reserve(len)?;
            short::merge::<SHORT>(symbols.map(|(id, _)| id), &self.merges, self.way, sink);
        } else {
            return long::merge(symbols, len, &self.merges, &self.vocabulary, &mut scratch.long, watch, sink);
        }
        Ok(())
    }
}
