//! From the bytes of a pretoken to ids: the merge of the lowest rank first, the leftmost first.
//!
//! A pretoken that is a token is looked up whole. Otherwise a short run of symbols is merged by
//! looking for the lowest rank again and again, a long one by going through the ranks in order.
//! All three give what the definition gives; the tests hold them against it.

mod build;
mod cache;
mod cuts;
mod dropout;
mod events;
mod group;
mod kept;
mod layers;
mod long;
mod merge;
#[cfg(test)]
pub(crate) mod naive;
mod reach;
mod scheme;
mod scratch;
mod short;
mod singles;
mod sink;
mod unit;

use std::sync::Arc;

use crate::bits::bits;
use crate::error::{Error, Result};
pub(crate) use crate::index::AT_ONCE;
use crate::index::{TokenIndex, start_of};
use crate::memory::Way;
use crate::merges::Merges;
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::{Unwatched, Watch};

use cuts::Cuts;
pub use dropout::Dropout;
pub(crate) use dropout::{Choices, Scratch as DropoutScratch};
use events::Numbered;
pub(crate) use kept::{Kept, Lent};
use layers::Layers;
pub use scheme::Scheme;
pub(crate) use scratch::Scratch;
use singles::{Packed, Singles};
pub(crate) use sink::{Histogram, Sink, Tally};
pub use unit::{OnUnknown, Unit};

/// From this many bytes on pretokens of a group are encoded one by one.
const LONG: usize = 1 << 14;

/// Pretokens up to this many bytes take less time to merge than to look for cuts in.
const WORD: usize = 16;

/// How an encoder turns a pretoken that is no token into ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// All merges by their ranks.
    Ranked,
    /// The merges inside words by their ranks, then those over the borders of words.
    Layered,
    /// What PickyBPE merged and dropped, in the order of time.
    Events,
}

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
    layers: Option<Box<Layers>>,
    /// What is done in place of merging by rank.
    events: Option<Box<Numbered>>,
    by_rank: bool,
}

impl Encoder {
    pub(crate) fn unit(&self) -> &Unit {
        &self.unit
    }

    pub(crate) fn merges(&self) -> &Merges {
        &self.merges
    }

    /// Tokens whose own bytes are encoded otherwise, in rising order: no text becomes them by
    /// merging.
    pub(crate) fn unreachable(&self) -> &[TokenId] {
        &self.unreachable
    }

    /// How pretokens that are no tokens are encoded.
    pub(crate) fn kernel(&self) -> Kernel {
        match (&self.events, &self.layers) {
            (Some(_), _) => Kernel::Events,
            (None, Some(_)) => Kernel::Layered,
            (None, None) => Kernel::Ranked,
        }
    }

    /// Whether every slice of a pretoken's ids is what its text becomes as a pretoken.
    pub(crate) fn slices_are_valid(&self) -> bool {
        self.is_by_rank() && self.whole_piece.is_none() && self.merges.is_rising()
    }

    /// Whether all of a pretoken is merged by rank alone: then what a part of it becomes is mostly a
    /// part of what it becomes.
    pub(crate) fn is_by_rank(&self) -> bool {
        self.by_rank
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
        let has_cuts = self.is_by_rank() || self.events.is_some();
        has_cuts && self.whole_piece.is_none() && self.cuts.is_cut(pretoken, at)
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
                let encoded = match &self.layers {
                    Some(layers) => layers.encode(text, from, end, scratch, watch, sink),
                    None => self.encode_in_pieces(text, from, end, scratch, watch, sink),
                };
                encoded.map_err(|error| error.shifted(from))?;
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
        if let Some(layers) = &self.layers {
            return self.encode_missing_in_layers(layers, text, start, ends, scratch, watch);
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

    /// The same by layers. What they remember is pieces of the lower one, which may become something
    /// else than pretokens of the same bytes, so no pretoken is looked for there.
    #[cold]
    fn encode_missing_in_layers(
        &self,
        layers: &Layers,
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
                    layers.encode(text, from, ends[number], scratch, watch, ids)?;
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

    /// Emits the ids of the pretoken `text[start..end]`, which is no token, without the group.
    fn encode_alone(
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
            true => self.merge(&text[start..end], scratch, watch, ids)?,
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
            sink.reserve(Packed::MOST)?;
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
            sink.reserve(ids.len())?;
            sink.many(ids);
            return Ok(());
        }
        scratch.with_list(|scratch, ids| {
            self.merge(piece, scratch, watch, ids)?;
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
