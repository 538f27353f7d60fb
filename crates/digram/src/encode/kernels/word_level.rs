//! WordLevel: a word that is a token is that token, and any other one is the unknown token.

use hashbrown::HashSet;

use crate::encode::{OnUnknown, Unit};
use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::Pacer;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::build::Ordinary;
use super::super::{Context, IdCount, Mark, Sink};

const SPACE: u8 = b' ';

/// Looks up words.
pub(in crate::encode) struct WordLevel {
    index: TokenIndex,
    unknown: Option<TokenId>,
    splits: bool,
    /// The unknown token, which stands for one or more words.
    marked: HashSet<TokenId>,
}

impl WordLevel {
    pub(in crate::encode) fn new(
        splits: bool,
        unit: &Unit,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<WordLevel> {
        let unknown = match unit {
            Unit::Char { on_unknown: OnUnknown::Token(id) } => Some(*id),
            Unit::Char { on_unknown: OnUnknown::Fail } => None,
            _ => {
                let reason = "WordLevel needs the unit \"char\", and has a token for unknown words, or none.";
                return Err(Error::Vocabulary { reason: reason.into() });
            }
        };
        let tokens: Vec<_> = vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
        let marked = unknown.into_iter().collect();
        Ok(WordLevel { index: TokenIndex::new(&tokens), unknown, splits, marked })
    }

    /// The ids that do not stand for the bytes of their tokens.
    pub(in crate::encode) fn marked(&self) -> &HashSet<TokenId> {
        &self.marked
    }

    /// Emits the ids of a pretoken in linear time.
    pub(super) fn encode(
        &self,
        pretoken: &[u8],
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.encode_with(pretoken, context, None, sink)
    }

    /// Appends the places of unknown words.
    pub(in crate::encode) fn marks(
        &self,
        pretoken: &[u8],
        context: &mut Context<'_>,
        marks: &mut Vec<Mark>,
    ) -> Result<()> {
        self.encode_with(pretoken, context, Some(marks), &mut IdCount::default())
    }

    fn encode_with(
        &self,
        pretoken: &[u8],
        context: &mut Context<'_>,
        mut marks: Option<&mut Vec<Mark>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let text = std::str::from_utf8(pretoken)
            .map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let mut pacer = Pacer::new(context.interrupt);
        let (mut start, mut is_after_unknown) = (0, false);
        while start < pretoken.len() {
            let end = if self.splits { end_of_word(pretoken, start) } else { pretoken.len() };
            let word = &pretoken[start..end];
            pacer.after(word.len())?;
            sink.reserve(1)?;
            let known = self.index.get(word);
            if let Some(id) = known {
                sink.push_id(id);
            } else {
                let Some(id) = self.unknown else { return Err(unknown_word(&text[start..end], start)) };
                if let Some(marks) = &mut marks {
                    Mark::push_unknown(marks, start..end, is_after_unknown)?;
                }
                if !is_after_unknown {
                    sink.push_id(id);
                }
            }
            is_after_unknown = known.is_none();
            start = end;
        }
        Ok(())
    }
}

/// The end of a word: the next space.
fn end_of_word(text: &[u8], start: usize) -> usize {
    text[start + 1..].iter().position(|&byte| byte == SPACE).map_or(text.len(), |len| start + 1 + len)
}

/// The error for a word without a token; it shows the beginning of a long one.
fn unknown_word(text: &str, offset: usize) -> Error {
    let word = text.strip_prefix(' ').unwrap_or(text).chars().take(40).collect();
    Error::UnknownWord { word, offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Scratch;
    use crate::interrupt::Never;

    const UNKNOWN: TokenId = 100;

    fn ids(splits: bool, on_unknown: OnUnknown, text: &str) -> Result<Vec<TokenId>> {
        let vocabulary = Vocabulary::new(["a", " a", " b", " a b"].iter().map(Some)).unwrap();
        let unit = Unit::Char { on_unknown };
        let words = WordLevel::new(splits, &unit, &vocabulary, &|_| true).unwrap();
        let (mut scratch, mut ids) = (Scratch::new(), Vec::new());
        let context = &mut Context { scratch: &mut scratch, interrupt: &Never };
        words.encode(text.as_bytes(), context, &mut ids).map(|()| ids)
    }

    #[test]
    fn whole_pretokens_or_words_of_them_are_looked_up() {
        for (text, whole, split) in [
            ("", &[][..], &[][..]),
            (" a b", &[3], &[1, 2]),
            ("a b", &[UNKNOWN], &[0, 2]),
            (" x y b z", &[UNKNOWN], &[UNKNOWN, 2, UNKNOWN]),
            ("  b", &[UNKNOWN], &[UNKNOWN, 2]),
        ] {
            assert_eq!(ids(false, OnUnknown::Token(UNKNOWN), text).unwrap(), whole, "{text:?}");
            assert_eq!(ids(true, OnUnknown::Token(UNKNOWN), text).unwrap(), split, "{text:?}");
        }
        let error = ids(true, OnUnknown::Fail, " a xy").unwrap_err();
        assert_eq!(error, Error::UnknownWord { word: "xy".into(), offset: 2 });
    }
}
