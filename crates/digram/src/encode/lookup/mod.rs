//! The ids of pretokens: looked up in tables, or made by the kernel.
//!
//! This module does not depend on the model. A pretoken that is a token is looked up whole, and the results
//! of the kernel for other pretokens are cached. A pretoken is split at places that no token spans, and its
//! pieces are looked up.

mod char_table;
mod group;
mod table;

use std::sync::Arc;

use crate::error::Result;
use crate::index::TokenIndex;
use crate::interrupt::{Interrupt, Never};
use crate::vocabulary::TokenId;

use super::kernels::Kernel;
use super::safe_splits::SafeSplits;
use super::{Scratch, Sink};
use char_table::CharTable;
pub(super) use char_table::Packed;
use group::Group;
pub(super) use group::{MissedIds, Misses};
pub(crate) use table::GROUP;
use table::Owner;
pub(super) use table::{Keys, Table};

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
    /// Whether pretokens that may have places to split are split before they are looked up.
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
        // Only if a piece has the ids of a pretoken of the same bytes.
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
        let group = Group { text, start, ends, are_split: false };
        if group.len() > LONG {
            return self.encode_long(text, start, ends, scratch, interrupt, sink);
        }
        match sink.list() {
            Some(ids) => self.encode_group(group, scratch, interrupt, ids),
            None => {
                let mut ids = std::mem::take(&mut scratch.group);
                ids.clear();
                let encoded = self.encode_group(group, scratch, interrupt, &mut ids);
                if encoded.is_ok() {
                    sink.push_ids(&ids);
                }
                scratch.group = ids;
                encoded
            }
        }
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
            self.encode_new(text, start, end, scratch, interrupt, ids)?;
            sink.push_ids(ids);
            Ok(())
        })
    }

    /// Encodes the pretoken `text[start..end]`, and caches its ids if it is likely to recur; `ids` is an
    /// empty list.
    fn encode_new(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let is_word = end - start <= WORD;
        let has_splits = has_splits(&text[start..end]);
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

    /// Encodes and caches the piece `text[start..end]` of a pretoken, which cannot be split further; `ids` is
    /// an empty list.
    fn encode_new_piece(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.kernel.encode(text, start, end, scratch, interrupt, ids)?;
        scratch.table.prepare()?;
        scratch.table.put(self.piece_owner(), text, start, end, ids, self.tokens());
        Ok(())
    }

    /// The owner of the keys of pieces.
    fn piece_owner(&self) -> Owner {
        if self.whole_piece.is_some() { Owner::Piece } else { self.owner }
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
        if let Some(ids) = scratch.table.get(self.piece_owner(), text, start, end) {
            sink.reserve(ids.as_slice().len())?;
            sink.push_ids(ids.as_slice());
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.encode_new_piece(text, start, end, scratch, interrupt, ids)?;
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
