//! From the bytes of a pretoken to ids: the merge of the lowest rank first, the leftmost first.
//!
//! A pretoken that is a token is looked up whole. Otherwise a short run of symbols is merged by
//! looking for the lowest rank again and again, a long one by going through the ranks in order.
//! All three give what the definition gives; the tests hold them against it.

mod cache;
mod cuts;
mod dropout;
mod group;
mod long;
#[cfg(test)]
pub(crate) mod naive;
mod reach;
mod scratch;
mod short;
mod singles;

use std::sync::Arc;

use crate::bits::bits;
use crate::error::{Error, Result};
pub(crate) use crate::index::AT_ONCE;
use crate::index::{TokenIndex, start_of};
use crate::memory::Way;
use crate::merges::Merges;
use crate::model::{Known, Model};
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::{Unwatched, Watch};

use cuts::Cuts;
pub use dropout::Dropout;
pub(crate) use dropout::{Choices, Scratch as DropoutScratch};
use group::Group;
pub(crate) use scratch::{Kept, Lent, Scratch};
use singles::{Packed, Singles};

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

/// From this many bytes on pretokens of a group are encoded one by one.
const LONG: usize = 1 << 14;

/// Pretokens up to this many bytes take less time to merge than to look for cuts in.
const WORD: usize = 16;

/// Where ids go: to a list, or to nowhere if they are counted only.
pub(crate) trait Sink {
    fn one(&mut self, id: TokenId);
    fn many(&mut self, ids: &[TokenId]);
    /// The first `count` of these.
    fn few(&mut self, ids: [TokenId; Packed::MOST], count: usize);
    /// Those of a group of pretokens.
    fn group(&mut self, group: &Group);
    /// How many there were.
    fn len(&self) -> usize;
}

impl Sink for Vec<TokenId> {
    #[inline]
    fn one(&mut self, id: TokenId) {
        self.push(id);
    }

    #[inline]
    fn many(&mut self, ids: &[TokenId]) {
        self.extend_from_slice(ids);
    }

    #[inline]
    fn few(&mut self, ids: [TokenId; Packed::MOST], count: usize) {
        // To copy all and forget the rest takes fewer instructions than to copy as many.
        let end = Vec::len(self) + count;
        self.extend_from_slice(&ids);
        self.truncate(end);
    }

    #[inline]
    fn group(&mut self, group: &Group) {
        group.append_to(self);
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }
}

/// How many ids went to a sink.
#[derive(Default)]
pub(crate) struct Tally(pub(crate) usize);

impl Sink for Tally {
    #[inline]
    fn one(&mut self, _: TokenId) {
        self.0 += 1;
    }

    #[inline]
    fn many(&mut self, ids: &[TokenId]) {
        self.0 += ids.len();
    }

    #[inline]
    fn few(&mut self, _: [TokenId; Packed::MOST], count: usize) {
        self.0 += count;
    }

    #[inline]
    fn group(&mut self, group: &Group) {
        self.0 += group.count();
    }

    fn len(&self) -> usize {
        self.0
    }
}

/// Bytes of one pretoken between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 16;

/// The part of a tokenizer that turns pretokens into ids.
pub(crate) struct Encoder {
    vocabulary: Arc<Vocabulary>,
    merges: Arc<Merges>,
    unit: Unit,
    characters: hashbrown::HashMap<char, TokenId>,
    /// The tokens that a whole pretoken becomes.
    whole: Arc<TokenIndex>,
    /// The same, but for a piece of a pretoken, where they differ.
    whole_piece: Option<TokenIndex>,
    cuts: Cuts,
    singles: Singles,
    unreachable: Arc<[TokenId]>,
    /// Whether every token is found in `whole`.
    whole_is_all: bool,
    way: Way,
}

impl Encoder {
    /// An encoder; `ordinary` says which tokens text can become (special tokens and the bytes of
    /// a fallback are not).
    pub(crate) fn new(
        model: Model,
        unit: Unit,
        ignore_merges: bool,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Encoder> {
        let Model { vocabulary, merges, known } = model;
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
        let cuts = Cuts::new(&vocabulary, merges.in_order());
        let mut encoder = Encoder {
            vocabulary,
            merges,
            unit,
            characters,
            whole: Arc::new(TokenIndex::new(&[])),
            whole_piece: None,
            cuts,
            singles: Singles::new(),
            unreachable: Arc::default(),
            whole_is_all: false,
            way: Way::best(),
        };
        let known = known.filter(|_| matches!(encoder.unit, Unit::Byte { .. }));
        encoder.unreachable = match &known {
            Some(known) => known.unreachable.clone(),
            None => encoder.find_unreachable(&ordinary)?.into(),
        };
        let all: Vec<_> = encoder.vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
        let trusted = |(id, _): &&(TokenId, &[u8])| encoder.unreachable.binary_search(id).is_err();
        let reached = || TokenIndex::new(&all.iter().filter(trusted).copied().collect::<Vec<_>>());
        let whole = || known.map_or_else(|| Arc::new(TokenIndex::new(&all)), |known| known.index);
        encoder.whole_is_all = encoder.unreachable.is_empty() || ignore_merges;
        if encoder.unreachable.is_empty() {
            encoder.whole = whole();
        } else if ignore_merges {
            (encoder.whole, encoder.whole_piece) = (whole(), Some(reached()));
        } else {
            encoder.whole = Arc::new(reached());
        }
        Ok(encoder)
    }

    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    /// What the encoder was made of, with what was found out.
    pub(crate) fn model(&self) -> Model {
        let known = self.whole_is_all && matches!(self.unit, Unit::Byte { .. });
        Model {
            vocabulary: self.vocabulary.clone(),
            merges: self.merges.clone(),
            known: known.then(|| Known { index: self.whole.clone(), unreachable: self.unreachable.clone() }),
        }
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
        if let Some(reached) = reach::reached(self.vocabulary.size(), &self.merges, self.base()) {
            let unreachable = |id: &TokenId| ordinary(*id) && !reached[*id as usize];
            return Ok(self.vocabulary.iter().map(|(id, _)| id).filter(unreachable).collect());
        }
        let mut scratch = Scratch::new();
        let (mut unreachable, mut ids) = (Vec::new(), Vec::new());
        for (id, bytes) in self.vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
            ids.clear();
            let known = self.merge(bytes, &mut scratch, &Unwatched, &mut ids);
            match known {
                Ok(()) => {}
                // A token of several characters, one of which has no token.
                Err(Error::UnknownCharacter { .. }) => ids.clear(),
                Err(error) => return Err(error),
            }
            if ids != [id] {
                unreachable.push(id);
            }
        }
        Ok(unreachable)
    }

    /// Whether every slice of a pretoken's ids is what its text becomes as a pretoken.
    pub(crate) fn slices_are_valid(&self) -> bool {
        self.whole_piece.is_none() && self.merges.is_rising()
    }

    /// How many bytes of `text`, which begins with what `id` was made of, it stands for.
    pub(crate) fn len_in_text(&self, id: TokenId, text: &[u8]) -> usize {
        match &self.unit {
            Unit::Char { on_unknown: OnUnknown::Token(unknown) } if *unknown == id => decode(text).1,
            _ => self.vocabulary.len_of(id),
        }
    }

    /// Whether nothing joins what stands before and after the place `at` of a pretoken, whatever
    /// else is in it.
    pub(crate) fn is_cut(&self, pretoken: &[u8], at: usize) -> bool {
        // A pretoken that is a token although its merges say otherwise may span any place.
        self.whole_piece.is_none() && self.cuts.is_cut(pretoken, at)
    }

    /// The tokens of single symbols.
    fn base(&self) -> Vec<TokenId> {
        match &self.unit {
            Unit::Byte { ids } => ids.to_vec(),
            Unit::Char { .. } => self.characters.values().copied().collect(),
        }
    }

    /// The token that a whole pretoken becomes at once, if there is one.
    #[inline]
    pub(crate) fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        self.whole.get(pretoken)
    }

    /// Emits the ids of up to [`AT_ONCE`] pretokens that stand one after the other in `text`, from
    /// `start`, each up to one of `ends`.
    #[inline]
    pub(crate) fn encode(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if ends.last().is_some_and(|end| end - start > LONG) {
            return self.encode_long(text, start, ends, scratch, watch, sink);
        }
        let group = &mut *scratch.group;
        let ids = group.ids.first_chunk_mut().expect("longer");
        group.missing = self.whole.get_many(text, start, ends, &mut group.asked, ids);
        group.len = ends.len();
        if group.missing != 0 {
            self.encode_missing(text, start, ends, scratch, watch)?;
        }
        sink.group(&scratch.group);
        Ok(())
    }

    /// The same where there is a pretoken so long, or several, that their ids should not be copied
    /// on their way to the sink.
    #[cold]
    fn encode_long(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        for &end in ends {
            let from = std::mem::replace(&mut start, end);
            if end - from <= LONG {
                self.encode(text, from, &[end], scratch, watch, sink)?;
            } else if let Some(id) = self.whole.get_in(text, from, end) {
                sink.one(id);
            } else {
                self.encode_in_pieces(text, from, end, scratch, watch, sink)
                    .map_err(|error| error.shifted(from))?;
            }
        }
        Ok(())
    }

    /// Finds out what those pretokens of the group become that are no tokens.
    #[inline]
    fn encode_missing(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
    ) -> Result<()> {
        scratch.group.start_misses(text, start, ends, &scratch.cache);
        for (miss, number) in bits(scratch.group.missing).enumerate() {
            let key = scratch.group.asked.keys[number];
            if let Some((ids, count)) = scratch.cache.get_short(key) {
                scratch.group.set_few(miss, ids, count);
                continue;
            }
            let from = start_of(number, start, ends);
            self.encode_long_or_new(text, from, ends[number], miss, scratch, watch)
                .map_err(|error| error.shifted(from))?;
        }
        Ok(())
    }

    /// Finds out what the miss of that number becomes, the pretoken `text[start..end]`.
    fn encode_long_or_new(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        miss: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
    ) -> Result<()> {
        let pretoken = &text[start..end];
        let (is_word, has_cuts) = (pretoken.len() <= WORD, has_cuts(pretoken));
        // Long ones of scripts without spaces hardly ever come again.
        let returns = is_word || !has_cuts;
        if returns && let Some(ids) = scratch.cache.get_longer(text, start, end) {
            scratch.group.set(miss, ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            match is_word && !has_cuts {
                true => self.merge(pretoken, scratch, watch, ids)?,
                false => self.encode_in_pieces(text, start, end, scratch, watch, ids)?,
            }
            if returns {
                scratch.cache.put(text, start, end, ids);
            }
            scratch.group.set(miss, ids);
            Ok(())
        })
    }

    /// Cuts the pretoken `text[start..end]` where no merge can cross, and looks up or merges the
    /// pieces.
    fn encode_in_pieces(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut at = start;
        self.cuts.split(&text[start..end], watch, |piece, single| {
            let from = at;
            at += piece.len();
            let known = single.and_then(|c| self.singles.get(c, || self.of_singles()));
            match known {
                Some(packed) => {
                    let (ids, count) = packed.ids();
                    sink.few(ids, count);
                }
                // A pretoken without a cut was looked up already.
                None if piece.len() == end - start => self.merge(piece, scratch, watch, sink)?,
                None => self
                    .encode_piece(text, from, at, scratch, watch, sink)
                    .map_err(|error| error.shifted(from - start))?,
            }
            Ok(())
        })
    }

    /// Emits the ids of the piece `text[start..end]` of a pretoken.
    fn encode_piece(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let whole = self.whole_piece.as_ref().unwrap_or(&self.whole);
        if let Some(id) = whole.get_in(text, start, end) {
            sink.one(id);
            return Ok(());
        }
        let piece = &text[start..end];
        if let Some(ids) = scratch.cache.get(text, start, end) {
            sink.many(ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.merge(piece, scratch, watch, ids)?;
            scratch.cache.put(text, start, end, ids);
            sink.many(ids);
            Ok(())
        })
    }

    /// What gives the ids of a piece that is one character; `None` if it has none.
    fn of_singles(&self) -> impl FnMut(char) -> Option<Vec<TokenId>> {
        let mut scratch = Scratch::new();
        move |c| {
            let mut ids = Vec::new();
            let mut buffer = [0; 4];
            let piece = c.encode_utf8(&mut buffer).as_bytes();
            self.encode_piece(piece, 0, piece.len(), &mut scratch, &Unwatched, &mut ids).ok().map(|()| ids)
        }
    }

    /// The ids of a run of bytes by merges alone.
    fn merge(
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
    fn merge_characters<S: Sink>(
        &self,
        pretoken: &[u8],
        on_unknown: &OnUnknown,
        watch: &dyn Watch,
        sink: &mut S,
        mut merge: impl FnMut(&str, &mut S) -> Result<()>,
    ) -> Result<()> {
        let text = std::str::from_utf8(pretoken)
            .map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let (mut start, mut check) = (0, BETWEEN_CHECKS);
        for (at, c) in text.char_indices() {
            if at >= check {
                check = at + BETWEEN_CHECKS;
                watch.check()?;
            }
            if self.characters.contains_key(&c) {
                continue;
            }
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
        // Most words of most languages have up to 16 bytes: two vectors of keys to look through.
        if len <= 16 {
            short::merge::<16>(symbols.map(|(id, _)| id), &self.merges, self.way, sink);
        } else if len <= SHORT {
            short::merge::<SHORT>(symbols.map(|(id, _)| id), &self.merges, self.way, sink);
        } else {
            return long::merge(symbols, len, &self.merges, &self.vocabulary, &mut scratch.long, watch, sink);
        }
        Ok(())
    }
}

/// Whether looking for cuts is worth its time. They are frequent in scripts of three-byte characters
/// only, which are those without spaces.
#[inline]
fn has_cuts(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| byte >= 0xe0)
}
