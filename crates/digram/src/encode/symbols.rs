//! The base symbols of tokens (bytes or characters), and the handling of text without a symbol.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::vocabulary::{TokenId, Vocabulary};

use super::Sink;

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
    characters: HashMap<char, TokenId>,
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
        vocabulary: &Vocabulary,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Symbols> {
        let mut characters = HashMap::default();
        if let Unit::Char { .. } = unit {
            for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
                let text = std::str::from_utf8(bytes).map_err(|_| Error::Vocabulary {
                    reason: format!("token {id} is not UTF-8, which a character vocabulary needs."),
                })?;
                let mut chars = text.chars();
                if let (Some(c), None) = (chars.next(), chars.next())
                    && characters.insert(c, id).is_some()
                {
                    return Err(Error::Vocabulary { reason: format!("character {c:?} has two tokens.") });
                }
            }
        }
        Ok(Symbols { unit, characters })
    }

    pub(super) fn unit(&self) -> &Unit {
        &self.unit
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
            let symbols = known.chars().map(|c| (self.characters[&c], c.len_utf8()));
            join.join(SymbolRun { symbols, len: known.len() }, sink)
        };
        let (mut start, mut pacer) = (0, Pacer::new(interrupt));
        for (at, c) in text.char_indices() {
            pacer.after(c.len_utf8())?;
            if self.characters.contains_key(&c) {
                continue;
            }
            sink.reserve(c.len_utf8())?;
            if start < at {
                run(&text[start..at], sink)?;
            }
            start = at + c.len_utf8();
            match on_unknown {
                OnUnknown::Fail => return Err(Error::UnknownCharacter { character: c, offset: at }),
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
