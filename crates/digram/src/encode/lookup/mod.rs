//! The ids of pretokens: looked up in tables, or made by the kernel.
//!
//! This module does not depend on the model. A pretoken that is a token is looked up whole, and the results
//! of the kernel for other pretokens are cached. A pretoken is split at places that no token spans, and its
//! pieces are looked up.

mod cache;
mod char_table;
mod group;

use std::sync::Arc;

use crate::bits::set_bits;
use crate::error::{Error, Result};
use crate::index::{TokenIndex, start_of};
use crate::interrupt::{Interrupt, Never};
use crate::vocabulary::TokenId;

use super::kernels::Kernel;
use super::safe_splits::SafeSplits;
use super::{Scratch, Sink};
pub(super) use cache::Cache;
use char_table::CharTable;
pub(super) use char_table::Packed;
pub(crate) use group::Group;

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
}

impl Lookup {
    pub(super) fn new(
        whole: Arc<TokenIndex>,
        whole_piece: Option<TokenIndex>,
        splits: Option<SafeSplits>,
        kernel: Kernel,
    ) -> Lookup {
        Lookup { whole, whole_piece, splits, char_table: CharTable::new(), kernel }
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

    /// Emits the ids of up to [`AT_ONCE`](super::AT_ONCE) consecutive pretokens of `text`: the first starts
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
        // A byte becomes at most one id, and ids are written in strides beyond their number.
        sink.reserve(ends.last().map_or(0, |end| end - start) + group::STRIDE)?;
        let group = &mut *scratch.group;
        let ids = group.ids.first_chunk_mut().expect("longer");
        group.missing = self.whole.get_many(text, start, ends, &mut group.batch, ids);
        group.len = ends.len();
        if group.missing != 0 {
            self.encode_missing(text, start, ends, scratch, interrupt)?;
        }
        sink.push_group(&scratch.group);
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

    /// Finds the ids of the pretokens of the group that are not tokens.
    #[inline]
    fn encode_missing(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        if self.kernel.looks_up() {
            return self.encode_missing_by_kernel(text, start, ends, scratch, interrupt);
        }
        scratch.group.start_misses(text, start, ends, &scratch.cache);
        for (miss, number) in set_bits(scratch.group.missing).enumerate() {
            let key = scratch.group.batch.keys[number];
            if let Some((ids, count)) = scratch.cache.get_short(key) {
                scratch.group.set_few(miss, ids, count);
                continue;
            }
            let from = start_of(number, start, ends);
            self.encode_long_or_new(text, from, ends[number], miss, scratch, interrupt)
                .map_err(|error| error.shifted(from))?;
        }
        Ok(())
    }

    /// Like `encode_missing`, for a kernel with a look-up of its own. That kernel caches pieces, which may
    /// have other ids than pretokens of the same bytes, so pretokens are not looked up in the cache.
    #[cold]
    fn encode_missing_by_kernel(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        scratch.group.clear_misses();
        for (miss, number) in set_bits(scratch.group.missing).enumerate() {
            let from = start_of(number, start, ends);
            scratch
                .with_list(|scratch, ids| {
                    self.kernel.encode(text, from, ends[number], scratch, interrupt, ids)?;
                    scratch.group.set(miss, ids);
                    Ok(())
                })
                .map_err(|error: Error| error.shifted(from))?;
        }
        Ok(())
    }

    /// Finds the ids of miss number `miss`, the pretoken `text[start..end]`.
    fn encode_long_or_new(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        miss: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let (is_word, has_splits) = shape(&text[start..end]);
        if (is_word || !has_splits)
            && let Some(ids) = scratch.cache.get_longer(text, start, end)
        {
            scratch.group.set(miss, ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.encode_new(text, start, end, scratch, interrupt, ids)?;
            scratch.group.set(miss, ids);
            Ok(())
        })
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
        if let Some(ids) = scratch.cache.get(text, start, end) {
            sink.push_ids(ids);
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
        let (is_word, has_splits) = shape(&text[start..end]);
        match is_word && !has_splits {
            true => self.kernel.encode(text, start, end, scratch, interrupt, ids)?,
            false => self.encode_in_pieces(text, start, end, scratch, interrupt, ids)?,
        }
        // Long pretokens of scripts without spaces rarely recur.
        if is_word || !has_splits {
            scratch.cache.put(text, start, end, ids);
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
        if let Some(ids) = scratch.cache.get(text, start, end) {
            sink.reserve(ids.len())?;
            sink.push_ids(ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.kernel.encode(text, start, end, scratch, interrupt, ids)?;
            scratch.cache.put(text, start, end, ids);
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

/// Whether a pretoken is short enough to be a word, and whether it may have places to split.
#[inline]
fn shape(pretoken: &[u8]) -> (bool, bool) {
    (pretoken.len() <= WORD, has_splits(pretoken))
}

/// Whether searching for places to split is worth the time. They are frequent only in scripts of three-byte
/// characters, which have no spaces.
#[inline]
fn has_splits(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| byte >= 0xe0)
}
