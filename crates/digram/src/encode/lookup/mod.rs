//! The ids of pretokens: from a table where they are known, from the kernel where they are not.
//!
//! Nothing here knows how tokens are put together. A pretoken that is a token is looked up whole, and
//! what the kernel made of another is remembered. Where nothing joins two neighbours a pretoken is
//! cut, and its pieces are looked up.

mod cache;
mod group;
mod singles;

use std::sync::Arc;

use crate::bits::bits;
use crate::error::{Error, Result};
use crate::index::{TokenIndex, start_of};
use crate::vocabulary::TokenId;
use crate::watch::{Unwatched, Watch};

use super::cuts::Cuts;
use super::kernels::Kernel;
use super::{Scratch, Sink};
pub(super) use cache::Cache;
pub(crate) use group::Group;
pub(super) use singles::Packed;
use singles::Singles;

/// From this many bytes on pretokens of a group are encoded one by one.
const LONG: usize = 1 << 14;

/// Pretokens up to this many bytes take less time to merge than to look for cuts in.
const WORD: usize = 16;

/// What knows the ids of pretokens.
pub(super) struct Lookup {
    /// The tokens that a whole pretoken becomes.
    whole: Arc<TokenIndex>,
    /// The same, but for a piece of a pretoken, where they differ.
    whole_piece: Option<TokenIndex>,
    /// The places of a pretoken that no token spans, if its parts become what they are in it.
    cuts: Option<Cuts>,
    singles: Singles,
    kernel: Kernel,
}

impl Lookup {
    pub(super) fn new(
        whole: Arc<TokenIndex>,
        whole_piece: Option<TokenIndex>,
        cuts: Option<Cuts>,
        kernel: Kernel,
    ) -> Lookup {
        Lookup { whole, whole_piece, cuts, singles: Singles::new(), kernel }
    }

    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The tokens that a whole pretoken becomes.
    pub(super) fn wholes(&self) -> &Arc<TokenIndex> {
        &self.whole
    }

    /// Whether a piece of a pretoken becomes what it would be as a pretoken.
    pub(super) fn pieces_are_pretokens(&self) -> bool {
        self.whole_piece.is_none()
    }

    /// Whether nothing joins what stands before and after the place `at` of a pretoken, whatever
    /// else is in it.
    pub(super) fn is_cut(&self, pretoken: &[u8], at: usize) -> bool {
        // A pretoken that is a token although its merges say otherwise may span any place.
        self.whole_piece.is_none() && self.cuts.as_ref().is_some_and(|cuts| cuts.is_cut(pretoken, at))
    }

    /// The token that a whole pretoken becomes at once, if there is one.
    #[inline]
    pub(super) fn whole(&self, text: &[u8], start: usize, end: usize) -> Option<TokenId> {
        self.whole.get_in(text, start, end)
    }

    /// Emits the ids of up to [`AT_ONCE`](super::AT_ONCE) pretokens that stand one after the other in
    /// `text`, from `start`, each up to one of `ends`.
    #[inline]
    pub(super) fn encode(
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
        // No byte becomes more than one id, and some more are written than there are.
        sink.reserve(ends.last().map_or(0, |end| end - start) + group::STRIDE)?;
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
            sink.reserve(1)?;
            if end - from <= LONG {
                self.encode(text, from, &[end], scratch, watch, sink)?;
            } else if let Some(id) = self.whole.get_in(text, from, end) {
                sink.one(id);
            } else {
                let encoded = match self.kernel.looks_up() {
                    true => self.kernel.encode(text, from, end, scratch, watch, sink),
                    false => self.encode_in_pieces(text, from, end, scratch, watch, sink),
                };
                encoded.map_err(|error| error.shifted(from))?;
            }
        }
        Ok(())
    }

    /// Finds out what those pretokens of the group become that are not tokens.
    #[inline]
    fn encode_missing(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
    ) -> Result<()> {
        if self.kernel.looks_up() {
            return self.encode_missing_by_kernel(text, start, ends, scratch, watch);
        }
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

    /// The same where the kernel looks up on its own. What it remembers is pieces, which may become
    /// something else than pretokens of the same bytes, so no pretoken is looked for there.
    #[cold]
    fn encode_missing_by_kernel(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
    ) -> Result<()> {
        scratch.group.clear_misses();
        for (miss, number) in bits(scratch.group.missing).enumerate() {
            let from = start_of(number, start, ends);
            scratch
                .with_list(|scratch, ids| {
                    self.kernel.encode(text, from, ends[number], scratch, watch, ids)?;
                    scratch.group.set(miss, ids);
                    Ok(())
                })
                .map_err(|error: Error| error.shifted(from))?;
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
        let (is_word, has_cuts) = shape(&text[start..end]);
        if (is_word || !has_cuts)
            && let Some(ids) = scratch.cache.get_longer(text, start, end)
        {
            scratch.group.set(miss, ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.encode_new(text, start, end, scratch, watch, ids)?;
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
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(ids) = scratch.cache.get(text, start, end) {
            sink.many(ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.encode_new(text, start, end, scratch, watch, ids)?;
            sink.many(ids);
            Ok(())
        })
    }

    /// Merges the pretoken `text[start..end]`, and remembers its ids if it may come again; `ids` is
    /// an empty list.
    fn encode_new(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (is_word, has_cuts) = shape(&text[start..end]);
        match is_word && !has_cuts {
            true => self.kernel.encode(text, start, end, scratch, watch, ids)?,
            false => self.encode_in_pieces(text, start, end, scratch, watch, ids)?,
        }
        // Long ones of scripts without spaces hardly ever come again.
        if is_word || !has_cuts {
            scratch.cache.put(text, start, end, ids);
        }
        Ok(())
    }

    /// Cuts the pretoken `text[start..end]` where no merge can cross, and looks up or merges the
    /// pieces.
    pub(super) fn encode_in_pieces(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Some(cuts) = &self.cuts else {
            return self.kernel.encode(text, start, end, scratch, watch, sink);
        };
        let mut at = start;
        cuts.split(&text[start..end], watch, |piece, single| {
            let from = at;
            at += piece.len();
            sink.reserve(Packed::MOST)?;
            let known = single.and_then(|c| self.singles.get(c, || self.of_singles()));
            match known {
                Some(packed) => {
                    let (ids, count) = packed.ids();
                    sink.few(ids, count);
                }
                // A pretoken without a cut was looked up already.
                None if piece.len() == end - start => {
                    self.kernel.encode(text, from, at, scratch, watch, sink)?
                }
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
        if let Some(ids) = scratch.cache.get(text, start, end) {
            sink.reserve(ids.len())?;
            sink.many(ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.kernel.encode(text, start, end, scratch, watch, ids)?;
            scratch.cache.put(text, start, end, ids);
            sink.reserve(ids.len())?;
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
}

/// Whether a pretoken is so short that it is a word, and whether it may have cuts.
#[inline]
fn shape(pretoken: &[u8]) -> (bool, bool) {
    (pretoken.len() <= WORD, has_cuts(pretoken))
}

/// Whether looking for cuts is worth its time. They are frequent in scripts of three-byte characters
/// only, which are those without spaces.
#[inline]
fn has_cuts(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| byte >= 0xe0)
}
