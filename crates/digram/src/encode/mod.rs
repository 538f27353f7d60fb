//! From the bytes of a pretoken to ids: the merge of the lowest rank first, the leftmost first.
//!
//! A pretoken that is a token is looked up whole. Otherwise a short run of symbols is merged by
//! looking for the lowest rank again and again, a long one by going through the ranks in order.
//! All three give what the definition gives; the tests hold them against it.

mod cache;
mod cuts;
mod long;
mod short;

use crate::error::{Error, Result};
use crate::merges::Merges;
use crate::vocabulary::{Glance, ShortKey, TokenId, TokenIndex, Vocabulary};
use crate::watch::{Unwatched, Watch};

use cache::Cache;
use cuts::Cuts;

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

/// Runs up to this many bytes are merged by scanning. Measured on prose and code: beyond it the
/// scan, which is quadratic, begins to lose to going by rank.
const SHORT: usize = 64;

/// Memory that a thread reuses from one pretoken to the next. It never changes a result.
pub(crate) struct Scratch {
    cache: Cache,
    merged: Vec<TokenId>,
    long: long::Scratch,
}

impl Scratch {
    /// Memory for a text of `bytes` bytes, or several of that length together.
    pub(crate) fn new(bytes: usize) -> Scratch {
        Scratch { cache: Cache::new(bytes), merged: Vec::new(), long: long::Scratch::default() }
    }
}

/// How many pretokens are encoded at once, see [`TokenIndex::glance`].
pub(crate) const AT_ONCE: usize = 64;

/// Bytes of one pretoken between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 16;

/// The part of a tokenizer that turns pretokens into ids.
pub(crate) struct Encoder {
    vocabulary: Vocabulary,
    merges: Merges,
    unit: Unit,
    characters: hashbrown::HashMap<char, TokenId>,
    /// The tokens that a whole pretoken becomes.
    whole: TokenIndex,
    /// The same, but for a piece of a pretoken, where they differ.
    whole_piece: Option<TokenIndex>,
    cuts: Cuts,
    unreachable: Vec<TokenId>,
}

impl Encoder {
    /// An encoder; `ordinary` says which tokens text can become (special tokens and the bytes of
    /// a fallback are not).
    pub(crate) fn new(
        vocabulary: Vocabulary,
        merges: Merges,
        unit: Unit,
        ignore_merges: bool,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Encoder> {
        let mut characters = hashbrown::HashMap::default();
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
        let cuts = Cuts::new(merges.in_order().iter().filter_map(|merge| vocabulary.get(merge.id)));
        let whole = TokenIndex::new(&[]);
        let mut encoder = Encoder {
            vocabulary,
            merges,
            unit,
            characters,
            whole,
            whole_piece: None,
            cuts,
            unreachable: Vec::new(),
        };
        encoder.unreachable = encoder.find_unreachable(&ordinary)?;
        let all: Vec<_> = encoder.vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
        let trusted = |(id, _): &&(TokenId, &[u8])| encoder.unreachable.binary_search(id).is_err();
        let reached = || all.iter().filter(trusted).copied().collect::<Vec<_>>();
        if encoder.unreachable.is_empty() {
            encoder.whole = TokenIndex::new(&all);
        } else if ignore_merges {
            (encoder.whole, encoder.whole_piece) = (TokenIndex::new(&all), Some(TokenIndex::new(&reached())));
        } else {
            encoder.whole = TokenIndex::new(&reached());
        }
        Ok(encoder)
    }

    pub(crate) fn merges(&self) -> &Merges {
        &self.merges
    }

    /// Tokens whose own bytes are encoded otherwise, in rising order: no text becomes them by
    /// merging.
    pub(crate) fn unreachable(&self) -> &[TokenId] {
        &self.unreachable
    }

    fn find_unreachable(&self, ordinary: &impl Fn(TokenId) -> bool) -> Result<Vec<TokenId>> {
        let mut scratch = Scratch::new(0);
        let mut unreachable = Vec::new();
        for (id, bytes) in self.vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
            let (mut first, mut count) = (None, 0);
            let known = self.merge(bytes, &mut scratch, &Unwatched, &mut |id| {
                first.get_or_insert(id);
                count += 1;
            });
            match known {
                Ok(()) => {}
                // A token of several characters, one of which has no token.
                Err(Error::UnknownCharacter { .. }) => count = 0,
                Err(error) => return Err(error),
            }
            if (first, count) != (Some(id), 1) {
                unreachable.push(id);
            }
        }
        Ok(unreachable)
    }

    /// The token that a whole pretoken becomes at once, if there is one.
    #[inline]
    pub(crate) fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        self.whole.get(pretoken)
    }

    /// Emits the ids of up to [`AT_ONCE`] pretokens that stand one after the other. Offsets in
    /// errors count from the start of the first.
    #[inline]
    pub(crate) fn encode(
        &self,
        pretokens: &[&[u8]],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        let mut glances = [Glance::NONE; AT_ONCE];
        for (glance, pretoken) in glances.iter_mut().zip(pretokens) {
            if let Some(key) = ShortKey::new(pretoken) {
                *glance = self.whole.glance(key);
            }
        }
        let mut at = 0;
        for (glance, pretoken) in glances.iter().zip(pretokens) {
            let id = match glance.key {
                ShortKey::NONE => self.whole.get(pretoken),
                _ => self.whole.resolve(glance),
            };
            match id {
                Some(id) => emit(id),
                None => {
                    self.encode_cached(pretoken, scratch, watch, emit).map_err(|error| error.shifted(at))?
                }
            }
            at += pretoken.len();
        }
        Ok(())
    }

    /// Emits the ids of a pretoken that is no token: from the cache, or merged.
    #[inline]
    fn encode_cached(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        if let Some(ids) = scratch.cache.get(pretoken) {
            ids.iter().for_each(|&id| emit(id));
            return Ok(());
        }
        if pretoken.len() > SHORT {
            return self.encode_in_pieces(pretoken, scratch, watch, emit);
        }
        let mut ids = std::mem::take(&mut scratch.merged);
        ids.clear();
        let encoded = self.encode_in_pieces(pretoken, scratch, watch, &mut |id| ids.push(id));
        if encoded.is_ok() {
            scratch.cache.put(pretoken, &ids);
            ids.iter().for_each(|&id| emit(id));
        }
        scratch.merged = ids;
        encoded
    }

    /// Cuts a pretoken where no merge can cross, and looks up or merges the pieces.
    fn encode_in_pieces(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        let whole = self.whole_piece.as_ref().unwrap_or(&self.whole);
        let mut at = 0;
        self.cuts.split(pretoken, watch, |piece| {
            // A pretoken without a cut was looked up already.
            let known = if piece.len() < pretoken.len() { whole.get(piece) } else { None };
            match known {
                Some(id) => emit(id),
                None => self.merge(piece, scratch, watch, emit).map_err(|error| error.shifted(at))?,
            }
            at += piece.len();
            Ok(())
        })
    }

    /// The ids of a run of bytes by merges alone.
    fn merge(
        &self,
        run: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        match &self.unit {
            Unit::Byte { ids } => {
                let symbols = run.iter().map(|&byte| (ids[byte as usize], 1));
                self.merge_run(symbols, run.len(), scratch, watch, emit)
            }
            Unit::Char { on_unknown } => self.merge_characters(run, on_unknown, scratch, watch, emit),
        }
    }

    /// Characters without a token join with nothing, so the runs between them stand alone.
    fn merge_characters(
        &self,
        pretoken: &[u8],
        on_unknown: &OnUnknown,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        let text = std::str::from_utf8(pretoken)
            .map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let mut start = 0;
        let mut run = |range: std::ops::Range<usize>, emit: &mut _| {
            let symbols = text[range.clone()].chars().map(|c| (self.characters[&c], c.len_utf8()));
            self.merge_run(symbols, range.len(), scratch, watch, emit)
        };
        for (at, c) in text.char_indices().filter(|(_, c)| !self.characters.contains_key(c)) {
            if start < at {
                run(start..at, emit)?;
            }
            start = at + c.len_utf8();
            match on_unknown {
                OnUnknown::Fail => return Err(Error::UnknownCharacter { character: c, offset: at }),
                OnUnknown::Token(id) => emit(*id),
                OnUnknown::Bytes { ids } => {
                    pretoken[at..start].iter().for_each(|&byte| emit(ids[byte as usize]))
                }
            }
        }
        if start < text.len() {
            run(start..text.len(), emit)?;
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
        emit: &mut impl FnMut(TokenId),
    ) -> Result<()> {
        if len <= SHORT {
            short::merge(symbols.map(|(id, _)| id), &self.merges, emit);
            Ok(())
        } else {
            long::merge(symbols, len, &self.merges, &self.vocabulary, &mut scratch.long, watch, emit)
        }
    }
}
