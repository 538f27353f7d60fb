//! Kernels: compute the ids of a piece of text that no table contains.
//!
//! A kernel implements the merging of its model. It keeps no memory of earlier calls, since
//! [`Lookup`](super::lookup::Lookup) calls it only for new text.

pub(super) mod certain;
mod char_trie;
mod double_array;
pub(super) mod dropout;
pub(super) mod events;
pub(super) mod fewest;
mod first_characters;
mod first_merges;
pub(super) mod greedy;
pub(super) mod layered;
pub(super) mod lockstep;
pub(super) mod long;
#[cfg(test)]
pub(crate) mod naive;
pub(crate) mod pieces;
mod rank_key;
pub(super) mod ranked;
pub(super) mod reach;
pub(super) mod score_ranks;
pub(super) mod scored;
mod short;
pub(super) mod viterbi;
pub(super) mod word_level;
pub(super) mod wordpiece;

use crate::error::{Error, Result};

use super::text_slice::TextSlice;
use super::{Context, Sink};
use events::ByEvents;
use fewest::Fewest;
use greedy::Greedy;
use layered::Layered;
use ranked::Ranked;
use score_ranks::ScoreRanks;
use scored::Scored;
use viterbi::Viterbi;
use word_level::WordLevel;
use wordpiece::WordPiece;

/// The kind of a tokenizer's kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelKind {
    /// All merges by rank.
    Ranked,
    /// The merges inside words by rank, then those across word boundaries.
    Layered,
    /// The merges and drops of PickyBPE, in their order.
    Events,
    /// The segmentation with the highest sum of scores.
    Viterbi,
    /// The merges by scores.
    Scored,
    /// The longest token at each place of a word.
    WordPiece,
    /// Whole words.
    WordLevel,
    /// The longest token of bytes at each place.
    Greedy,
    /// The segmentation into the fewest tokens.
    Fewest,
}

/// Turns a piece of text into ids.
pub(super) enum Kernel {
    Ranked(Ranked),
    Layered(Box<Layered>),
    Events(Box<ByEvents>),
    Viterbi(Box<Viterbi>),
    Scored(Box<Scored>),
    ScoreRanks(Box<ScoreRanks>),
    WordPiece(Box<WordPiece>),
    WordLevel(Box<WordLevel>),
    Greedy(Box<Greedy>),
    Fewest(Box<Fewest>),
}

impl Kernel {
    pub(super) fn kind(&self) -> KernelKind {
        match self {
            Kernel::Ranked(_) => KernelKind::Ranked,
            Kernel::Layered(_) => KernelKind::Layered,
            Kernel::Events(_) => KernelKind::Events,
            Kernel::Viterbi(_) => KernelKind::Viterbi,
            Kernel::Scored(_) | Kernel::ScoreRanks(_) => KernelKind::Scored,
            Kernel::WordPiece(_) => KernelKind::WordPiece,
            Kernel::WordLevel(_) => KernelKind::WordLevel,
            Kernel::Greedy(_) => KernelKind::Greedy,
            Kernel::Fewest(_) => KernelKind::Fewest,
        }
    }

    /// Whether the kernel has a look-up of its own, so that its results are not cached again.
    #[inline]
    pub(super) fn looks_up(&self) -> bool {
        matches!(self, Kernel::Layered(_))
    }

    /// The kernel, if it merges short words in lockstep.
    #[inline]
    pub(super) fn in_lockstep(&self) -> Option<&Ranked> {
        match self {
            Kernel::Ranked(ranked) if ranked.merges_words() => Some(ranked),
            Kernel::ScoreRanks(kernel) => Some(&kernel.ranked),
            _ => None,
        }
    }

    /// The kernel, if it merges by scores.
    #[inline]
    pub(super) fn merges_by_scores(&self) -> Option<&Scored> {
        match self {
            Kernel::Scored(scored) => Some(scored),
            Kernel::ScoreRanks(kernel) => Some(&kernel.scored),
            _ => None,
        }
    }

    /// The kernel, if it adds scores.
    #[inline]
    pub(super) fn adds_scores(&self) -> Option<&Viterbi> {
        match self {
            Kernel::Viterbi(viterbi) => Some(viterbi),
            _ => None,
        }
    }

    /// Emits the ids of a piece. Offsets in errors are relative to the piece.
    #[inline]
    pub(super) fn encode(
        &self,
        piece: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        match self {
            Kernel::Ranked(ranked) => ranked.encode(piece.bytes(), context, sink),
            Kernel::Layered(layered) => layered.encode(piece, context, sink),
            Kernel::Events(events) => events.encode(piece.bytes(), context, sink),
            Kernel::Viterbi(viterbi) => viterbi.encode(piece.bytes(), context, sink),
            Kernel::Scored(scored) => scored.encode(piece.bytes(), context, sink),
            Kernel::ScoreRanks(kernel) => kernel.encode(piece.bytes(), context, sink),
            Kernel::WordPiece(pieces) => pieces.encode(piece.bytes(), context, sink),
            Kernel::WordLevel(words) => words.encode(piece.bytes(), context, sink),
            Kernel::Greedy(greedy) => greedy.encode(piece.bytes(), context, sink),
            Kernel::Fewest(fewest) => fewest.encode(piece.bytes(), context, sink),
        }
    }
}

/// Refuses a sequence of symbols with more bytes than its places can be numbered.
fn check_len(len: usize) -> Result<()> {
    if u32::try_from(len).is_err() {
        let reason = format!(
            "one pretoken is {len} bytes long; at most 4 GiB can be merged as one. Use a pretokenizer that cuts the text."
        );
        return Err(Error::Limit { reason });
    }
    Ok(())
}
