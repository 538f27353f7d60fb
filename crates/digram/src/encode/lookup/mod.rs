//! The ids of pretokens: looked up in tables, or made by the kernel.
//!
//! This module does not depend on the model. A pretoken that is a token is looked up whole, and the results
//! of the kernel for other pretokens are cached. A pretoken is split at places that no token spans, and its
//! pieces are looked up.

mod char_table;
mod given;
mod group;
mod misses;
mod new_words;
mod scripts;
mod sums;
mod table;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::index::TokenIndex;
use crate::interrupt::{Never, Pacer};
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

use super::kernels::Kernel;
use super::safe_splits::SafeSplits;
use super::text_slice::TextSlice;
use super::{Context, Scratch, Sink};
use char_table::CharTable;
pub(super) use char_table::Packed;
pub(crate) use given::EncodeWords;
pub(super) use given::{GivenMisses, LONGEST_GIVEN};
pub(crate) use group::{GROUP, Group};
pub(super) use misses::{MissedIds, Misses};
pub(super) use new_words::NewWords;
use scripts::has_splits;
pub(super) use sums::Sums;
use table::{AHEAD, Owner};
pub(super) use table::{Keys, Table};
pub(super) use words::MissedWords;

/// A group of more bytes is divided into groups of [`AHEAD`] pretokens; one that is still longer is encoded
/// pretoken by pretoken.
const LONG: usize = 1 << 14;

/// The total size of the texts, in bytes, from which on a table starts with all tokens.
const MANY: usize = 1 << 20;

/// The total size from which on it starts with twice the space for words, so that few entries are in the second
/// line of their keys and the table does not grow soon: later passes over 12 MB of English and code were 4 to 8 %
/// faster, first passes over many languages 11 %.
const PLENTY: usize = 8 * MANY;

/// Up to this many bytes, merging a pretoken takes less time than searching it for places to split.
const WORD: usize = 16;

/// Finds the ids of pretokens.
pub(super) struct Lookup {
    /// The tokens that a whole pretoken becomes.
    whole: Arc<TokenIndex>,
    /// The tokens that a whole piece of a pretoken becomes, if they differ.
    whole_piece: Option<TokenIndex>,
    /// The places of a pretoken that no token spans; `None` if its parts may not be encoded separately.
    splits: Option<SafeSplits>,
    /// How long pretokens are encoded, if the kernel adds scores.
    sums: Option<Sums>,
    char_table: CharTable,
    kernel: Kernel,
    /// The owner of the keys of its pretokens.
    owner: Owner,
    /// Whether pretokens that may have places to split are split before they are looked up.
    splits_first: bool,
    /// Whether a table was filled with all tokens: the first one is, since a process that encodes once mostly does
    /// so again.
    has_filled: AtomicBool,
}

impl Lookup {
    pub(super) fn new(
        whole: Arc<TokenIndex>,
        whole_piece: Option<TokenIndex>,
        splits: Option<SafeSplits>,
        kernel: Kernel,
    ) -> Lookup {
        let owner = if kernel.looks_up() { Owner::Upper } else { Owner::Pretoken };
        // Only if a piece has the ids of a pretoken of the same bytes.
        let splits_first = splits.is_some() && whole_piece.is_none() && owner == Owner::Pretoken;
        let (sums, char_table, has_filled) = (None, CharTable::new(), AtomicBool::new(false));
        Lookup { whole, whole_piece, splits, sums, char_table, kernel, owner, splits_first, has_filled }
    }

    /// Encodes long pretokens in parts, between places that no token spans. The kernel adds scores.
    pub(super) fn with_sums(self, sums: Sums) -> Lookup {
        Lookup { sums: Some(sums), ..self }
    }

    /// With other tokens that whole pretokens, and whole pieces of them, become.
    pub(super) fn with_wholes(self, whole: Arc<TokenIndex>, piece: TokenIndex) -> Lookup {
        Lookup { whole, whole_piece: Some(piece), splits_first: false, ..self }
    }

    /// Looks up pretokens before they are split, each on its own: the splits of several are found only if they begin
    /// and end between characters.
    pub(super) fn look_up_whole(&mut self) {
        self.splits_first = false;
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The tokens that a whole pretoken becomes.
    pub(super) fn wholes(&self) -> &Arc<TokenIndex> {
        &self.whole
    }

    /// Whether a piece of a pretoken has the same ids as a pretoken of the same bytes.
    pub(super) fn pieces_are_pretokens(&self) -> bool {
        self.whole_piece.is_none()
    }

    /// Whether a pretoken can be split at `at`: no merge crosses that place, whatever else the pretoken
    /// contains.
    pub(super) fn can_split_at(&self, pretoken: &[u8], at: usize) -> bool {
        // With `ignore_merges`, a pretoken that is a token may span any place.
        self.whole_piece.is_none()
            && self.splits.as_ref().is_some_and(|splits| splits.can_split_at(pretoken, at))
    }

    /// Whether some pretoken may be split.
    pub(super) fn has_splits(&self) -> bool {
        self.whole_piece.is_none() && self.splits.is_some()
    }

    /// Whether the ids of every pretoken with these two characters around `at` begin with those of its part before it.
    pub(super) fn can_end_beginning_at(&self, pretoken: &[u8], at: usize) -> bool {
        // The best segmentation of what precedes a place that no token spans does not depend on what follows.
        self.can_split_at(pretoken, at)
            || self.sums.as_ref().is_some_and(|sums| sums.splits.can_split_at(pretoken, at))
    }

    /// Whether some pretoken has such a place.
    pub(super) fn has_beginnings(&self) -> bool {
        self.has_splits() || self.sums.is_some()
    }

    /// The token whose bytes are the whole pretoken, if there is one.
    #[inline]
    pub(super) fn whole(&self, pretoken: TextSlice<'_>) -> Option<TokenId> {
        pretoken.token(&self.whole)
    }

    /// Emits the ids of a group.
    #[inline]
    pub(super) fn encode(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match self.sums {
            Some(_) => self.encode_with_sums(group, context, sink),
            None => self.encode_whole(group, context, sink),
        }
    }

    /// Emits the ids of a group whose pretokens are not encoded in parts with sums.
    #[inline]
    fn encode_whole(&self, group: Group<'_>, context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        if group.len() > LONG {
            return match group.ends.len() > AHEAD {
                true => group.parts(AHEAD).try_for_each(|part| self.encode_whole(part, context, sink)),
                false => self.encode_long(group, context, sink),
            };
        }
        with_list_of(sink, context, |context, ids| self.encode_group(group, context, ids))
    }

    /// Like `encode`, for groups with long pretokens, whose ids are written to the sink directly.
    #[cold]
    fn encode_long(&self, group: Group<'_>, context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        for pretoken in group.pretokens() {
            sink.reserve(1)?;
            if pretoken.len() <= LONG {
                self.encode_whole(Group::new(group.text, pretoken.start, &[pretoken.end]), context, sink)?;
            } else if let Some(id) = self.whole(pretoken) {
                sink.push_id(id);
            } else {
                match &self.splits {
                    Some(splits) if self.splits_first => {
                        self.encode_in_parts(splits, pretoken, context, sink)?
                    }
                    _ => {
                        let encoded = match self.kernel.looks_up() {
                            true => self.kernel.encode(pretoken, context, sink),
                            false => self.encode_in_pieces(pretoken, context, sink),
                        };
                        encoded.map_err(|error| error.shifted(pretoken.start))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Emits the ids of a long pretoken. It is split into parts of up to [`LONG`] bytes, the pieces of which are
    /// looked up in groups, as those of short pretokens are, and into longer pieces. A part with the bytes of the one
    /// before it has its ids: they depend on nothing else.
    fn encode_in_parts(
        &self,
        splits: &SafeSplits,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (mut rest, mut pacer) = (pretoken, Pacer::new(context.interrupt));
        // The previous part and its ids: a pretoken of this length mostly repeats itself.
        let (mut before, mut ids_before) = (TextSlice { end: rest.start, ..rest }, Vec::new());
        while rest.len() > 0 {
            let part_len = match rest.len() {
                len @ ..=LONG => Some(len),
                _ => splits.last_split(rest.bytes(), LONG),
            };
            let len = match part_len {
                Some(len) => len,
                None => splits.first_piece_len(rest.bytes(), context.interrupt)?,
            };
            let part = TextSlice { end: rest.start + len, ..rest };
            if part_len.is_some() {
                pacer.after(len)?;
                if part.bytes() != before.bytes() {
                    with_list_of(sink, context, |context, ids| {
                        let first = ids.len();
                        self.encode_pieces(splits, part, context, ids)?;
                        ids_before.clear();
                        memory::try_reserve(&mut ids_before, ids.len() - first)?;
                        ids_before.extend_from_slice(&ids[first..]);
                        Ok(())
                    })?;
                    before = part;
                } else {
                    sink.reserve(ids_before.len())?;
                    sink.push_ids(&ids_before);
                }
            } else if let Some(id) = self.whole(part) {
                sink.reserve(1)?;
                sink.push_id(id);
            } else {
                self.kernel.encode(part, context, sink).map_err(|error| error.shifted(part.start))?;
            }
            rest.start = part.end;
        }
        Ok(())
    }

    /// Emits the ids of a group of words of the given text, each of up to [`LONGEST_GIVEN`] bytes; `new` computes
    /// those of words that the table does not contain.
    pub(super) fn encode_given(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
        new: &mut impl EncodeWords,
    ) -> Result<()> {
        with_list_of(sink, context, |context, ids| self.look_up_given(group, context, ids, new))
    }

    /// Prepares for texts of this many bytes together.
    pub(super) fn expect(&self, bytes: usize, vocabulary: &Vocabulary, table: &mut Table) {
        let splits = self.splits.iter().chain(self.sums.as_ref().map(|sums| &sums.splits));
        splits.filter(|_| bytes >= MANY).for_each(SafeSplits::expect_much);
        let is_first = || table.is_empty() && !self.has_filled.swap(true, Ordering::Relaxed);
        match (self.tokens(), &self.sums) {
            (_, Some(sums)) => self.expect_parts(sums, bytes, vocabulary, table),
            (Some(tokens), _) if bytes >= PLENTY || is_first() => table.start_with(tokens, 2),
            (Some(tokens), _) if bytes >= MANY => table.start_with(tokens, 1),
            (tokens, _) => table.start_for(bytes, tokens),
        }
    }

    /// The tokens that a large table starts with.
    fn tokens(&self) -> Option<&TokenIndex> {
        (self.owner == Owner::Pretoken).then_some(&*self.whole)
    }

    /// Emits the ids of a pretoken that is not a token, without the group.
    pub(super) fn encode_alone(
        &self,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(ids) = context.scratch.table.get(self.owner, pretoken) {
            sink.push_ids(ids.as_slice());
            return Ok(());
        }
        context.with_list(|context, ids| {
            self.encode_new(pretoken, context, ids)?;
            sink.push_ids(ids);
            Ok(())
        })
    }

    /// Encodes a pretoken, and caches its ids if it is likely to recur; `ids` is an empty list.
    fn encode_new(
        &self,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let is_word = pretoken.len() <= WORD;
        let has_splits = has_splits(pretoken.bytes());
        match self.kernel.looks_up() || is_word && !has_splits {
            true => self.kernel.encode(pretoken, context, ids)?,
            false => self.encode_in_pieces(pretoken, context, ids)?,
        }
        // Long pretokens of scripts without spaces rarely recur.
        if (is_word || !has_splits) && context.scratch.keeps_pretokens {
            context.scratch.table.prepare(self.tokens())?;
            let table = &mut context.scratch.table;
            table.put(table.key(self.owner, pretoken), pretoken, ids, self.tokens());
        }
        Ok(())
    }

    /// Encodes and caches a piece of a pretoken, which cannot be split further; `ids` is an empty list.
    fn encode_new_piece(
        &self,
        piece: TextSlice<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.kernel.encode(piece, context, ids)?;
        context.scratch.table.prepare(self.tokens())?;
        let table = &mut context.scratch.table;
        table.put(table.key(self.piece_owner(), piece), piece, ids, self.tokens());
        Ok(())
    }

    /// Encodes a word in pieces, which are known from the first time that the word was seen, and caches its ids by its
    /// key in the table.
    fn encode_word_in_pieces(
        &self,
        word: TextSlice<'_>,
        key: u128,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.encode_in_pieces_with(word, context, ids, |_| None)?;
        context.scratch.table.put(key, word, ids, self.tokens());
        Ok(())
    }

    /// The owner of the keys of pieces.
    fn piece_owner(&self) -> Owner {
        if self.whole_piece.is_some() { Owner::Piece } else { self.owner }
    }

    /// Splits a pretoken where no merge can cross, and looks up or merges the pieces.
    pub(super) fn encode_in_pieces(
        &self,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let known = |c| self.char_table.get(c, || self.merge_characters());
        self.encode_in_pieces_with(pretoken, context, sink, known)
    }

    /// The same; `known` are the ids of a piece that is one character, if they are known.
    fn encode_in_pieces_with(
        &self,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
        known: impl Fn(char) -> Option<Packed>,
    ) -> Result<()> {
        let Some(splits) = &self.splits else {
            return self.kernel.encode(pretoken, context, sink);
        };
        let mut start = pretoken.start;
        splits.split(pretoken.bytes(), context.interrupt, |bytes, single| {
            let piece = TextSlice { start, end: start + bytes.len(), ..pretoken };
            start = piece.end;
            sink.reserve(Packed::MAX)?;
            match single.and_then(&known) {
                Some(packed) => {
                    let (ids, count) = packed.ids();
                    sink.push_few(ids, count);
                }
                // A pretoken without a split was looked up already.
                None if piece.len() == pretoken.len() => self.kernel.encode(piece, context, sink)?,
                None => self
                    .encode_piece(piece, context, sink)
                    .map_err(|error| error.shifted(piece.start - pretoken.start))?,
            }
            Ok(())
        })
    }

    /// Emits the ids of a piece of a pretoken.
    fn encode_piece(
        &self,
        piece: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let has_tokens = self.whole_piece.is_none() && context.scratch.table.has_tokens_of_len(piece.len());
        if !has_tokens && let Some(id) = piece.token(self.whole_piece.as_ref().unwrap_or(&self.whole)) {
            sink.push_id(id);
            return Ok(());
        }
        if let Some(ids) = context.scratch.table.get(self.piece_owner(), piece) {
            sink.reserve(ids.as_slice().len())?;
            sink.push_ids(ids.as_slice());
            return Ok(());
        }
        context.with_list(|context, ids| {
            self.encode_new_piece(piece, context, ids)?;
            sink.reserve(ids.len())?;
            sink.push_ids(ids);
            Ok(())
        })
    }

    /// A function that gives the ids of a piece that is one character; `None` if it has none.
    fn merge_characters(&self) -> impl FnMut(char) -> Option<Vec<TokenId>> {
        let mut scratch = Scratch::new();
        move |c| {
            let mut ids = Vec::new();
            let mut buffer = [0; 4];
            let piece = TextSlice::all(c.encode_utf8(&mut buffer).as_bytes());
            let context = &mut Context { scratch: &mut scratch, interrupt: &Never };
            self.encode_piece(piece, context, &mut ids).ok().map(|()| ids)
        }
    }
}

/// Calls `encode` with the list of a sink, or with one whose ids the sink then receives.
#[inline]
fn with_list_of(
    sink: &mut impl Sink,
    context: &mut Context<'_>,
    encode: impl FnOnce(&mut Context<'_>, &mut Vec<TokenId>) -> Result<()>,
) -> Result<()> {
    if let Some(ids) = sink.list() {
        return encode(context, ids);
    }
    let mut ids = std::mem::take(&mut context.scratch.group);
    ids.clear();
    let encoded = encode(context, &mut ids);
    if encoded.is_ok() {
        sink.push_ids(&ids);
    }
    context.scratch.group = ids;
    encoded
}
