//! The ids of pretokens: looked up in tables, or made by the kernel.
//!
//! This module does not depend on the model. A pretoken that is a token is looked up whole, and the results
//! of the kernel for other pretokens are cached. A pretoken is split at places that no token spans, and its
//! pieces are looked up.

mod char_table;
mod table;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::{TokenIndex, start_of};
use crate::interrupt::{Interrupt, Never};
use crate::memory;
use crate::vocabulary::TokenId;

use super::kernels::Kernel;
use super::kernels::lockstep;
use super::kernels::ranked::Ranked;
use super::safe_splits::SafeSplits;
use super::{Scratch, Sink};
use char_table::CharTable;
pub(super) use char_table::Packed;
pub(crate) use table::GROUP;
use table::Owner;
pub(super) use table::{Asked, Table};

/// A group of this many bytes or more is encoded pretoken by pretoken.
const LONG: usize = 1 << 14;

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
    char_table: CharTable,
    kernel: Kernel,
    /// The owner of the keys of its pretokens.
    owner: Owner,
    /// Whether pretokens are split before they are looked up.
    splits_first: bool,
}

impl Lookup {
    pub(super) fn new(
        whole: Arc<TokenIndex>,
        whole_piece: Option<TokenIndex>,
        splits: Option<SafeSplits>,
        kernel: Kernel,
    ) -> Lookup {
        let owner = if kernel.looks_up() { Owner::Upper } else { Owner::Pretoken };
        // A piece that becomes something else than a pretoken of the same bytes is looked up elsewhere.
        let splits_first = splits.is_some() && whole_piece.is_none() && owner == Owner::Pretoken;
        Lookup { whole, whole_piece, splits, char_table: CharTable::new(), kernel, owner, splits_first }
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

    /// The token whose bytes are the whole pretoken, if there is one.
    #[inline]
    pub(super) fn whole(&self, text: &[u8], start: usize, end: usize) -> Option<TokenId> {
        self.whole.get_in(text, start, end)
    }

    /// Emits the ids of up to [`GROUP`] consecutive pretokens of `text`: the first starts
    /// at `start`, and `ends` are their ends.
    #[inline]
    pub(super) fn encode(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if ends.last().is_some_and(|end| end - start > LONG) {
            return self.encode_long(text, start, ends, scratch, interrupt, sink);
        }
        match sink.list() {
            Some(ids) => self.encode_group(text, start, ends, scratch, interrupt, ids),
            None => {
                let mut ids = std::mem::take(&mut scratch.group);
                ids.clear();
                let encoded = self.encode_group(text, start, ends, scratch, interrupt, &mut ids);
                if encoded.is_ok() {
                    sink.push_ids(&ids);
                }
                scratch.group = ids;
                encoded
            }
        }
    }

    /// Appends the ids of a group, after splitting those of its pretokens that may have places to split.
    #[inline]
    fn encode_group(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let end = ends.last().copied().unwrap_or(start);
        match &self.splits {
            Some(splits) if self.splits_first && !text[start..end].is_ascii() => {
                self.encode_split_group(splits, text, start, ends, scratch, interrupt, ids)
            }
            _ => self.encode_whole_group(text, start, ends, scratch, interrupt, ids, false),
        }
    }

    /// Appends the ids of a group whose pretokens are split first, so that the pieces are looked up
    /// together.
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn encode_split_group(
        &self,
        splits: &SafeSplits,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let mut pieces = [0; GROUP];
        let (mut count, mut begin, mut from) = (0, start, start);
        for &end in ends {
            let mut add = |end: usize, scratch: &mut Scratch| {
                pieces[count] = end;
                count += 1;
                if count == GROUP {
                    let start = std::mem::replace(&mut begin, end);
                    count = 0;
                    self.encode_whole_group(text, start, &pieces, scratch, interrupt, ids, true)?;
                }
                Ok(())
            };
            if has_splits(&text[from..end]) {
                let mut at = from;
                splits.split(&text[from..end], interrupt, |piece, _| {
                    at += piece.len();
                    add(at, scratch)
                })?;
            } else {
                add(end, scratch)?;
            }
            from = end;
        }
        if count > 0 {
            self.encode_whole_group(text, begin, &pieces[..count], scratch, interrupt, ids, true)?;
        }
        Ok(())
    }

    /// Appends the ids of a group of pretokens, or of pieces of them if they `are_split`.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn encode_whole_group(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
        are_split: bool,
    ) -> Result<()> {
        scratch.table.prepare()?;
        // A byte becomes at most one id, and some ids are written beyond the last.
        memory::try_reserve(ids, ends.last().map_or(0, |end| end - start) + table::BEYOND)?;
        let before = ids.len();
        // SAFETY: there is memory for an id for each byte of the pretokens, and for those beyond.
        let found = unsafe {
            let place = ids.as_mut_ptr().add(before);
            scratch.table.get_many(self.owner, text, start, ends, &mut scratch.asked, place)
        };
        if !scratch.asked.has_missing() {
            // SAFETY: these ids were written, one after the other.
            unsafe { ids.set_len(before + found) };
            return Ok(());
        }
        self.encode_missing(text, start, ends, scratch, interrupt, are_split)?;
        // SAFETY: as above; the ids of the other pretokens are among those that have a byte each.
        unsafe {
            let place = ids.as_mut_ptr().add(before);
            let all = scratch.late.insert_into(place, found, &scratch.asked);
            ids.set_len(before + all);
        }
        Ok(())
    }

    /// Like `encode`, for groups with long pretokens, whose ids are written to the sink directly.
    #[cold]
    fn encode_long(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        for &end in ends {
            let from = std::mem::replace(&mut start, end);
            sink.reserve(1)?;
            if end - from <= LONG {
                self.encode(text, from, &[end], scratch, interrupt, sink)?;
            } else if let Some(id) = self.whole.get_in(text, from, end) {
                sink.push_id(id);
            } else {
                let encoded = match self.kernel.looks_up() {
                    true => self.kernel.encode(text, from, end, scratch, interrupt, sink),
                    false => self.encode_in_pieces(text, from, end, scratch, interrupt, sink),
                };
                encoded.map_err(|error| error.shifted(from))?;
            }
        }
        Ok(())
    }

    /// Finds the ids of the pretokens of a group that are not in the table.
    fn encode_missing(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        are_split: bool,
    ) -> Result<()> {
        let in_lockstep = self.kernel.in_lockstep();
        scratch.late.reset(scratch.asked.gaps().len());
        for at in 0..scratch.asked.gaps().len() {
            let number = scratch.asked.number(at);
            let (from, end) = (start_of(number, start, ends), ends[number]);
            let is_short = end - from <= lockstep::MAX_LEN && (are_split || !has_splits(&text[from..end]));
            // A table that has all tokens was searched for these bytes.
            if is_short && in_lockstep.is_some() && scratch.table.has_token_keys(end - from) {
                scratch.late.words.push(at as u32);
                continue;
            }
            // Another pretoken of the group may have been the same.
            if let Some(ids) = scratch.table.get(self.owner, text, from, end) {
                scratch.late.set(at, ids.as_slice());
                continue;
            }
            if let Some(id) = self.whole.get_in(text, from, end) {
                scratch.late.set(at, &[id]);
                scratch.table.put(self.owner, text, from, end, &[id], self.tokens());
                continue;
            }
            if is_short && in_lockstep.is_some() {
                scratch.late.words.push(at as u32);
                continue;
            }
            scratch
                .with_list(|scratch, ids| {
                    self.encode_new(text, from, end, scratch, interrupt, ids, are_split)?;
                    scratch.late.set(at, ids);
                    Ok(())
                })
                .map_err(|error: Error| error.shifted(from))?;
        }
        if let Some(ranked) = in_lockstep {
            self.encode_words(text, start, ends, scratch, ranked);
        }
        Ok(())
    }

    /// Merges the words of a group in lockstep.
    fn encode_words(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        ranked: &Ranked,
    ) {
        let words = std::mem::take(&mut scratch.late.words);
        let mut rest = words.iter();
        loop {
            // The numbers of up to as many different words as are merged together.
            let mut together = [(0, 0, 0); lockstep::WORDS];
            let mut count = 0;
            let mut same = [(0, 0); lockstep::WORDS];
            let mut repeated = 0;
            while count < lockstep::WORDS && repeated < lockstep::WORDS {
                let Some(&at) = rest.next() else { break };
                let at = at as usize;
                let number = scratch.asked.number(at);
                let (from, end) = (start_of(number, start, ends), ends[number]);
                if let Some(ids) = scratch.table.get(self.owner, text, from, end) {
                    scratch.late.set(at, ids.as_slice());
                    continue;
                }
                let word = &text[from..end];
                match together[..count].iter().find(|&&(_, from, end)| text[from..end] == *word) {
                    Some(&(first, ..)) => {
                        same[repeated] = (at, first);
                        repeated += 1;
                    }
                    None => {
                        together[count] = (at, from, end);
                        count += 1;
                    }
                }
            }
            if count == 0 {
                break;
            }
            let together = &together[..count];
            ranked
                .merge_words(together.iter().map(|&(_, from, end)| &text[from..end]), &mut scratch.lockstep);
            for (number, &(at, from, end)) in together.iter().enumerate() {
                let mut ids = [0; lockstep::MAX_LEN];
                let mut len = 0;
                for id in scratch.lockstep.ids(number) {
                    ids[len] = id;
                    len += 1;
                }
                let ids = &ids[..len];
                scratch.late.set(at, ids);
                scratch.table.put(self.owner, text, from, end, ids, self.tokens());
            }
            same[..repeated].iter().for_each(|&(at, first)| scratch.late.set_as(at, first));
        }
        scratch.late.words = words;
    }

    /// The tokens that a large table starts with.
    fn tokens(&self) -> Option<&TokenIndex> {
        (self.owner == Owner::Pretoken).then_some(&*self.whole)
    }

    /// Emits the ids of the pretoken `text[start..end]`, which is not a token, without the group.
    pub(super) fn encode_alone(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(ids) = scratch.table.get(self.owner, text, start, end) {
            sink.push_ids(ids.as_slice());
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.encode_new(text, start, end, scratch, interrupt, ids, false)?;
            sink.push_ids(ids);
            Ok(())
        })
    }

    /// Encodes the pretoken `text[start..end]`, and caches its ids if it is likely to recur; `ids` is an
    /// empty list.
    #[allow(clippy::too_many_arguments)]
    fn encode_new(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
        is_split: bool,
    ) -> Result<()> {
        let is_word = end - start <= WORD;
        let has_splits = !is_split && has_splits(&text[start..end]);
        match self.kernel.looks_up() || is_word && !has_splits {
            true => self.kernel.encode(text, start, end, scratch, interrupt, ids)?,
            false => self.encode_in_pieces(text, start, end, scratch, interrupt, ids)?,
        }
        // Long pretokens of scripts without spaces rarely recur.
        if is_word || !has_splits {
            scratch.table.prepare()?;
            scratch.table.put(self.owner, text, start, end, ids, self.tokens());
        }
        Ok(())
    }

    /// Splits the pretoken `text[start..end]` where no merge can cross, and looks up or merges the pieces.
    pub(super) fn encode_in_pieces(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Some(splits) = &self.splits else {
            return self.kernel.encode(text, start, end, scratch, interrupt, sink);
        };
        let mut at = start;
        splits.split(&text[start..end], interrupt, |piece, single| {
            let from = at;
            at += piece.len();
            sink.reserve(Packed::MAX)?;
            let known = single.and_then(|c| self.char_table.get(c, || self.merge_characters()));
            match known {
                Some(packed) => {
                    let (ids, count) = packed.ids();
                    sink.push_few(ids, count);
                }
                // A pretoken without a split was looked up already.
                None if piece.len() == end - start => {
                    self.kernel.encode(text, from, at, scratch, interrupt, sink)?
                }
                None => self
                    .encode_piece(text, from, at, scratch, interrupt, sink)
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
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let whole = self.whole_piece.as_ref().unwrap_or(&self.whole);
        if let Some(id) = whole.get_in(text, start, end) {
            sink.push_id(id);
            return Ok(());
        }
        let owner = if self.whole_piece.is_some() { Owner::Piece } else { self.owner };
        if let Some(ids) = scratch.table.get(owner, text, start, end) {
            sink.reserve(ids.as_slice().len())?;
            sink.push_ids(ids.as_slice());
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.kernel.encode(text, start, end, scratch, interrupt, ids)?;
            scratch.table.prepare()?;
            scratch.table.put(owner, text, start, end, ids, self.tokens());
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
            let piece = c.encode_utf8(&mut buffer).as_bytes();
            self.encode_piece(piece, 0, piece.len(), &mut scratch, &Never, &mut ids).ok().map(|()| ids)
        }
    }
}

/// Whether searching for places to split is worth the time. They are frequent only in scripts of three-byte
/// characters, which have no spaces.
#[inline]
fn has_splits(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| byte >= 0xe0)
}
