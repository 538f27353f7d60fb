//! The base symbols of tokens (bytes or characters), and the handling of text without a symbol.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};

use super::character_ids::CharacterIds;
use super::{Affixes, Mark, Sink};

/// The base symbols of text, before merging.
#[derive(Debug, Clone)]
pub enum Unit {
    /// Bytes: each byte has a token.
    Byte {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// Characters: each token of one character is a base token.
    Char {
        /// The handling of characters without a token.
        on_unknown: OnUnknown,
    },
}

/// How to encode a character that has no token.
#[derive(Debug, Clone)]
pub enum OnUnknown {
    /// Fail with an error that names the character and its place.
    Fail,
    /// Emit a token for each of its bytes.
    Bytes {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// Emit this token.
    Token(TokenId),
}

/// The base tokens of a vocabulary.
pub(crate) struct Symbols {
    unit: Unit,
    /// The tokens of single characters, with the spaces that belong to them.
    characters: HashMap<Letter, TokenId>,
    /// The same by character, if the units are characters to which no spaces belong.
    character_ids: Option<Arc<CharacterIds>>,
    spaces: Spaces,
    /// The token of all consecutive unknown characters, if they are one token.
    unknown_run: HashSet<TokenId>,
}

/// Which spaces belong to the character beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spaces {
    before: bool,
    behind: bool,
}

/// A character, and whether a space before it and one behind it belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Letter(u32);

impl Letter {
    fn new(c: char, begins: bool, ends: bool) -> Letter {
        Letter(u32::from(c) | u32::from(begins) << 21 | u32::from(ends) << 22)
    }

    /// The character, if no spaces belong to it.
    fn character(self) -> Option<char> {
        char::from_u32(self.0)
    }
}

/// The letters of a text from the left, each with its length in bytes.
struct Letters<'t> {
    rest: std::str::Chars<'t>,
    spaces: Spaces,
}

impl Iterator for Letters<'_> {
    type Item = (Letter, char, usize);

    #[inline]
    fn next(&mut self) -> Option<(Letter, char, usize)> {
        let mut c = self.rest.next()?;
        let begins = self.spaces.before && c == ' ' && !self.rest.as_str().is_empty();
        if begins {
            c = self.rest.next()?;
        }
        let ends = self.spaces.behind && self.rest.as_str().starts_with(' ');
        if ends {
            self.rest.next();
        }
        Some((Letter::new(c, begins, ends), c, usize::from(begins) + c.len_utf8() + usize::from(ends)))
    }
}

/// A symbol and its length in bytes.
pub(super) type Symbol = (TokenId, usize);

/// Consecutive symbols of a text.
pub(super) struct SymbolRun<I> {
    pub(super) symbols: I,
    /// The sum of their lengths.
    pub(super) len: usize,
}

/// Merges symbols.
pub(super) trait Join {
    /// Emits the ids that a run of symbols becomes.
    fn join(&mut self, run: SymbolRun<impl Iterator<Item = Symbol>>, sink: &mut impl Sink) -> Result<()>;
}

impl Symbols {
    /// The base tokens of a vocabulary; `ordinary` says which tokens text can become.
    pub(super) fn new(
        unit: Unit,
        affixes: &Affixes,
        vocabulary: &Vocabulary,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Symbols> {
        let mut characters = HashMap::default();
        let spaces = Spaces { before: affixes.prefix.is_some(), behind: affixes.ends() };
        if let Unit::Char { .. } = unit {
            for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
                let text = std::str::from_utf8(bytes).map_err(|_| Error::Vocabulary {
                    reason: format!("token {id} is not UTF-8, which a character vocabulary needs."),
                })?;
                let mut letters = Letters { rest: text.chars(), spaces };
                if let (Some((letter, c, _)), None) = (letters.next(), letters.next())
                    && characters.insert(letter, id).is_some()
                {
                    return Err(Error::Vocabulary { reason: format!("character {c:?} has two tokens.") });
                }
            }
        }
        let by_character = || {
            let tokens = characters.iter().filter_map(|(letter, &id)| Some((letter.character()?, id)));
            Arc::new(CharacterIds::new(tokens))
        };
        let is_plain = matches!(unit, Unit::Char { .. }) && !spaces.before && !spaces.behind;
        let character_ids = is_plain.then(by_character);
        Ok(Symbols { unit, characters, character_ids, spaces, unknown_run: HashSet::new() })
    }

    /// The tokens of characters, and of the bytes of unknown ones, if nothing else makes the symbols of a text.
    pub(super) fn character_ids(&self) -> Option<(&Arc<CharacterIds>, &[TokenId; 256])> {
        match &self.unit {
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } => Some((self.character_ids.as_ref()?, ids)),
            _ => None,
        }
    }

    /// The token of a letter, which is a character and the spaces that belong to it.
    #[inline(always)]
    fn letter_id(&self, letter: Letter, c: char) -> Option<TokenId> {
        match &self.character_ids {
            Some(ids) => ids.get(c),
            None => self.characters.get(&letter).copied(),
        }
    }

    /// Makes consecutive unknown characters one token, if they have a token.
    pub(super) fn fuse_unknown(&mut self) {
        if let Unit::Char { on_unknown: OnUnknown::Token(id) } = &self.unit {
            self.unknown_run.insert(*id);
        }
    }

    /// The token of all consecutive unknown characters, if they are one token.
    pub(super) fn unknown_run(&self) -> Option<&HashSet<TokenId>> {
        Some(&self.unknown_run).filter(|ids| !ids.is_empty())
    }

    /// Appends the places of the runs of unknown characters in a piece of text.
    pub(super) fn push_unknown_runs(&self, piece: &[u8], marks: &mut Vec<Mark>) -> Result<()> {
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let (mut is_after_unknown, mut start) = (false, 0);
        for (letter, _, len) in (Letters { rest: text.chars(), spaces: self.spaces }) {
            let is_unknown = !self.characters.contains_key(&letter);
            if is_unknown {
                Mark::push_unknown(marks, start..start + len, is_after_unknown)?;
            }
            is_after_unknown = is_unknown;
            start += len;
        }
        Ok(())
    }

    /// Appends the places of the unknown characters in a piece of text, or of their runs if these are one token.
    pub(super) fn push_unknown(&self, piece: &[u8], marks: &mut Vec<Mark>) -> Result<()> {
        if self.are_bytes() {
            return Ok(());
        }
        if !self.unknown_run.is_empty() {
            return self.push_unknown_runs(piece, marks);
        }
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let mut start = 0;
        for (letter, _, len) in (Letters { rest: text.chars(), spaces: self.spaces }) {
            if !self.characters.contains_key(&letter) {
                Mark::push(marks, start..start + len, false)?;
            }
            start += len;
        }
        Ok(())
    }

    pub(super) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Whether a space may belong to the character beside it.
    pub(super) fn has_spaces(&self) -> bool {
        !self.are_bytes() && (self.spaces.before || self.spaces.behind)
    }

    /// The length of the first character of a text, with the spaces that belong to it.
    pub(super) fn first_len(&self, text: &[u8]) -> usize {
        let word = &text[..text.len().min(1 + char::MAX.len_utf8() + 1)];
        // The last character may be cut.
        let valid = match std::str::from_utf8(word) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&word[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut letters = Letters { rest: valid.chars(), spaces: self.spaces };
        letters.next().map_or_else(|| decode(text).1, |(_, _, len)| len)
    }

    pub(super) fn are_bytes(&self) -> bool {
        matches!(self.unit, Unit::Byte { .. })
    }

    /// The tokens of single symbols, in the order of bytes or of code points.
    pub(super) fn base(&self) -> Vec<TokenId> {
        match &self.unit {
            Unit::Byte { ids } => ids.to_vec(),
            Unit::Char { .. } => {
                let mut sorted: Vec<_> = self.characters.iter().collect();
                sorted.sort_unstable();
                sorted.into_iter().map(|(_, &id)| id).collect()
            }
        }
    }

    /// Emits the ids of a piece of text, merging its symbols with `join`.
    #[inline]
    pub(super) fn join(
        &self,
        piece: &[u8],
        join: &mut impl Join,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match &self.unit {
            Unit::Byte { ids } => {
                let symbols = piece.iter().map(|&byte| (ids[byte as usize], 1));
                join.join(SymbolRun { symbols, len: piece.len() }, sink)
            }
            Unit::Char { on_unknown } => self.join_characters(piece, on_unknown, join, interrupt, sink),
        }
    }

    /// Characters without a token merge with nothing, so the text between them is merged separately.
    fn join_characters(
        &self,
        piece: &[u8],
        on_unknown: &OnUnknown,
        join: &mut impl Join,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let mut run = |known: &str, sink: &mut _| {
            let letters = Letters { rest: known.chars(), spaces: self.spaces };
            let symbols = letters.filter_map(|(letter, c, len)| Some((self.letter_id(letter, c)?, len)));
            join.join(SymbolRun { symbols, len: known.len() }, sink)
        };
        let (mut start, mut end, mut pacer) = (0, 0, Pacer::new(interrupt));
        for (letter, c, len) in (Letters { rest: text.chars(), spaces: self.spaces }) {
            pacer.after(len)?;
            let at = end;
            end += len;
            if self.letter_id(letter, c).is_some() {
                continue;
            }
            sink.reserve(len)?;
            if start < at {
                run(&text[start..at], sink)?;
            }
            let is_after_unknown = at > 0 && start == at;
            start = end;
            match on_unknown {
                OnUnknown::Fail => return Err(Error::UnknownCharacter { character: c, offset: at }),
                OnUnknown::Token(_) if is_after_unknown && !self.unknown_run.is_empty() => {}
                OnUnknown::Token(id) => sink.push_id(*id),
                OnUnknown::Bytes { ids } => {
                    piece[at..start].iter().for_each(|&byte| sink.push_id(ids[byte as usize]))
                }
            }
        }
        if start < text.len() {
            run(&text[start..], sink)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(prefix: bool, ends: bool) -> Symbols {
        let tokens = [" a ", " a", "a ", "a", " ", "é ", "ab"];
        let affixes = Affixes { prefix: prefix.then(|| "##".into()), suffix: ends.then(|| "</w>".into()) };
        let unit = Unit::Char { on_unknown: OnUnknown::Fail };
        Symbols::new(unit, &affixes, &Vocabulary::new(tokens.map(Some)).unwrap(), |_| true).unwrap()
    }

    fn letters(text: &str, symbols: &Symbols) -> Vec<Option<TokenId>> {
        let letters = Letters { rest: text.chars(), spaces: symbols.spaces };
        letters.map(|(letter, ..)| symbols.characters.get(&letter).copied()).collect()
    }

    #[test]
    fn a_space_belongs_to_the_character_beside_it() {
        let (both, behind, neither) = (symbols(true, true), symbols(false, true), symbols(false, false));
        assert_eq!(letters(" a ", &both), [Some(0)]);
        assert_eq!(letters(" aa ", &both), [Some(1), Some(2)]);
        assert_eq!(letters("aé ", &behind), [Some(3), Some(5)]);
        assert_eq!(letters("a ü a", &behind), [Some(2), None, Some(3)]);
        assert_eq!(letters("a é ", &neither), [Some(3), Some(4), None, Some(4)]);
        // Spaces alone, which no word has.
        assert_eq!((letters(" ", &both), letters("  ", &behind)), (vec![Some(4)], vec![None]));
    }

    #[test]
    fn the_length_of_a_character_includes_its_spaces() {
        let both = symbols(true, true);
        let lens =
            [" 🙂 日", "a 日", " é", "日本", " ", "a\u{ff}"].map(|text| both.first_len(text.as_bytes()));
        assert_eq!(lens, [6, 2, 3, 3, 1, 1]);
        assert_eq!((both.first_len(b"\xff\xff"), both.first_len(b"a\xff")), (1, 1));
    }
}
