//! What turns a piece of text into ids where it is in no table.
//!
//! A kernel knows how the tokens of its model are put together; what it was asked before it need not
//! know, since [`Lookup`](super::lookup::Lookup) asks it for what is new alone.

pub(super) mod dropout;
pub(super) mod events;
pub(super) mod layered;
pub(super) mod long;
#[cfg(test)]
pub(crate) mod naive;
pub(super) mod ranked;
pub(super) mod reach;
mod short;

use crate::error::Result;
use crate::watch::Watch;

use super::{Scratch, Sink};
use events::ByEvents;
use layered::Layered;
use ranked::Ranked;

/// Which kernel a tokenizer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelKind {
    /// All merges by their ranks.
    Ranked,
    /// The merges inside words by their ranks, then those over the borders of words.
    Layered,
    /// What PickyBPE merged and dropped, in the order of time.
    Events,
}

/// How a piece of text becomes ids.
pub(super) enum Kernel {
    Ranked(Ranked),
    Layered(Box<Layered>),
    Events(Box<ByEvents>),
}

impl Kernel {
    pub(super) fn kind(&self) -> KernelKind {
        match self {
            Kernel::Ranked(_) => KernelKind::Ranked,
            Kernel::Layered(_) => KernelKind::Layered,
            Kernel::Events(_) => KernelKind::Events,
        }
    }

    /// Whether the kernel has a look-up of its own. Its results are not cached again.
    #[inline]
    pub(super) fn looks_up(&self) -> bool {
        matches!(self, Kernel::Layered(_))
    }

    /// Emits the ids of the piece `text[start..end]`; an error tells a place in the piece.
    #[inline]
    pub(super) fn encode(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match self {
            Kernel::Ranked(ranked) => ranked.encode(&text[start..end], scratch, watch, sink),
            Kernel::Layered(layered) => layered.encode(text, start, end, scratch, watch, sink),
            Kernel::Events(events) => events.encode(&text[start..end], scratch, watch, sink),
        }
    }
}
