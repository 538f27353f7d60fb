//! What tokens are made of, and what becomes of text that is made of something else.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::{Paced, Watch};

use super::Sink;

/// What text is made of before anything is merged.
#[derive(Debug, Clone)]
pub enum Unit {
    /// Bytes: each has a token.
    Byte {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// Characters: each token of one character is a base token.
    Char {
        /// What becomes of characters that have none.
        on_unknown: OnUnknown,
    },
}

/// What becomes of a character that no token holds.
#[derive(Debug, Clone)]
pub enum OnUnknown {
    /// An error that names the character and its place.
    Fail,
    /// One token for each of its bytes.
    Bytes {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// This token.
    Token(TokenId),
}

/// The base tokens of a vocabulary, which texts are made of first.
pub(crate) struct Symbols {
    unit: Unit,
    characters: HashMap<char, TokenId>,
}

/// What joins symbols.
pub(super) trait Join {
    /// Emits the ids of a run of symbols, given with their lengths, that is `len` bytes long.
    fn join(
        &mut self,
        symbols: impl Iterator<Item = (TokenId, usize)>,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<()>;
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

    /// The tokens of single symbols, by the values of bytes or the code points of characters.
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

    /// How many bytes of `text`, which begins with what `id` was made of, it stands for.
    pub(super) fn len_in_text(&self, id: TokenId, text: &[u8], vocabulary: &Vocabulary) -> usize {
        match &self.unit {
            Unit::Char { on_unknown: OnUnknown::Token(unknown) } if *unknown == id => decode(text).1,
            _ => vocabulary.len_of(id),
        }
    }

    /// Emits the ids of a piece of text whose symbols `join` joins.
    #[inline]
    pub(super) fn join(
        &self,
        piece: &[u8],
        join: &mut impl Join,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match &self.unit {
            Unit::Byte { ids } => {
                join.join(piece.iter().map(|&byte| (ids[byte as usize], 1)), piece.len(), sink)
            }
            Unit::Char { on_unknown } => self.join_characters(piece, on_unknown, join, watch, sink),
        }
    }

    /// Characters without a token join with nothing, so the runs between them stand alone.
    fn join_characters(
        &self,
        piece: &[u8],
        on_unknown: &OnUnknown,
        join: &mut impl Join,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let mut run = |known: &str, sink: &mut _| {
            join.join(known.chars().map(|c| (self.characters[&c], c.len_utf8())), known.len(), sink)
        };
        let (mut start, mut paced) = (0, Paced::new(watch));
        for (at, c) in text.char_indices() {
            paced.after(c.len_utf8())?;
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
                OnUnknown::Token(id) => sink.one(*id),
                OnUnknown::Bytes { ids } => {
                    piece[at..start].iter().for_each(|&byte| sink.one(ids[byte as usize]))
                }
            }
        }
        if start < text.len() {
            run(&text[start..], sink)?;
        }
        Ok(())
    }
}
