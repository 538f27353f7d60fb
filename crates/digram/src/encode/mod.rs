//! From the bytes of pretokens to ids.
//!
//! [`Lookup`](lookup::Lookup) knows what was encoded before; a [`Kernel`](kernels::Kernel) makes the
//! ids of what is new. Whatever is fast here gives what the definition gives; the tests hold it
//! against that.

mod build;
mod cuts;
mod kept;
mod kernels;
mod lookup;
mod scheme;
mod scratch;
mod sink;
mod symbols;

use std::sync::Arc;

use crate::error::{Error, Result};
pub(crate) use crate::index::AT_ONCE;
use crate::merges::Merges;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::Watch;

pub(crate) use kept::{Kept, Lent};
pub use kernels::KernelKind;
pub use kernels::dropout::Dropout;
pub(crate) use kernels::dropout::{Choices, Scratch as DropoutScratch};
#[cfg(test)]
pub(crate) use kernels::naive;
use kernels::ranked::Ranked;
use lookup::Lookup;
pub use scheme::Scheme;
pub(crate) use scratch::Scratch;
pub(crate) use sink::{Histogram, Sink, Tally};
use symbols::Symbols;
pub use symbols::{OnUnknown, Unit};

/// The part of a tokenizer that turns pretokens into ids.
pub(crate) struct Encoder {
    vocabulary: Arc<Vocabulary>,
    merges: Arc<Merges>,
    symbols: Arc<Symbols>,
    unreachable: Arc<[TokenId]>,
    /// Whether every token is one that a pretoken becomes at once.
    whole_is_all: bool,
    /// All merges, if they are applied by rank alone.
    ranked: Option<Ranked>,
    lookup: Lookup,
}

impl Encoder {
    pub(crate) fn unit(&self) -> &Unit {
        self.symbols.unit()
    }

    pub(crate) fn merges(&self) -> &Merges {
        &self.merges
    }

    /// Tokens whose own bytes are encoded otherwise, in rising order: no text becomes them by
    /// merging.
    pub(crate) fn unreachable(&self) -> &[TokenId] {
        &self.unreachable
    }

    /// How pretokens that are not tokens are encoded.
    pub(crate) fn kernel(&self) -> KernelKind {
        self.lookup.kernel().kind()
    }

    /// Whether every slice of a pretoken's ids is what its text becomes as a pretoken.
    pub(crate) fn slices_are_valid(&self) -> bool {
        self.is_by_rank() && self.lookup.pieces_are_pretokens() && self.merges.is_rising()
    }

    /// Whether all of a pretoken is merged by rank alone: then what a part of it becomes is mostly a
    /// part of what it becomes.
    pub(crate) fn is_by_rank(&self) -> bool {
        self.ranked.is_some()
    }

    /// How many bytes of `text`, which begins with what `id` was made of, it stands for.
    pub(crate) fn len_in_text(&self, id: TokenId, text: &[u8]) -> usize {
        self.symbols.len_in_text(id, text, &self.vocabulary)
    }

    /// Whether nothing joins what stands before and after the place `at` of a pretoken, whatever
    /// else is in it.
    pub(crate) fn is_cut(&self, pretoken: &[u8], at: usize) -> bool {
        self.lookup.is_cut(pretoken, at)
    }

    /// The token that a whole pretoken becomes at once, if there is one.
    #[inline]
    pub(crate) fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        self.lookup.whole(pretoken, 0, pretoken.len())
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
        self.lookup.encode(text, start, ends, scratch, watch, sink)
    }

    /// Emits the ids of a pretoken, some merges of which are left out.
    pub(crate) fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        choices: &mut Choices,
        scratch: &mut DropoutScratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Some(ranked) = &self.ranked else {
            let reason = "dropout leaves merges out by rank, and this tokenizer applies them otherwise.";
            return Err(Error::Option { reason: reason.into() });
        };
        ranked.encode_with_dropout(pretoken, choices, scratch, watch, sink)
    }
}
