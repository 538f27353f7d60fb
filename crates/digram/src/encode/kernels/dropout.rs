//! BPE-dropout: merging that skips merges at random, so that one text has many encodings.
//!
//! Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization", ACL 2020.
//! Each step visits the places of possible merges from the lowest rank on, of equal ranks from the left,
//! and skips each with the given probability. The first place that is not skipped is merged, and the next
//! step starts over. The encoding is done when a step skips all places.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::TokenId;

use super::Sink;

/// The probability and the seed: together with the text, they determine an encoding with dropout.
#[derive(Debug, Clone, Copy)]
pub struct Dropout {
    probability: f64,
    seed: u64,
}

impl Dropout {
    /// Skips each merge with this probability, from 0 to 1.
    pub fn new(probability: f64, seed: u64) -> Result<Dropout> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(Error::Option {
                reason: format!("dropout={probability} is not a probability, from 0 to 1."),
            });
        }
        Ok(Dropout { probability, seed })
    }

    /// Whether no merge is ever skipped.
    pub fn is_off(&self) -> bool {
        self.probability == 0.0
    }

    /// The random choices for text `number` of a batch: those of a single text with `number` added to the
    /// seed.
    pub(crate) fn choices(&self, number: usize) -> DropoutChoices {
        let random = SplitMix64::new(self.seed.wrapping_add(number as u64));
        DropoutChoices { probability: self.probability, random }
    }
}

/// Random numbers by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014). Consecutive seeds give unrelated sequences.
pub(in crate::encode) struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    pub(in crate::encode) fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The next number, from 0 to below 1.
    #[inline]
    pub(in crate::encode) fn fraction(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        // As many bits as an `f64` fraction has, so that the number is exact and below 1.
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The random choices for one text.
pub(crate) struct DropoutChoices {
    probability: f64,
    random: SplitMix64,
}

impl DropoutChoices {
    #[inline]
    fn pass_over(&mut self) -> bool {
        self.random.fraction() < self.probability
    }
}

/// No symbol.
const NONE: u32 = u32::MAX;

/// Marks a symbol that was merged into the one before.
const GONE: TokenId = TokenId::MAX;

/// Buffers that are reused from one pretoken to the next.
#[derive(Default)]
pub(crate) struct DropoutScratch {
    ids: Vec<TokenId>,
    /// The neighbours of each remaining symbol.
    after: Vec<u32>,
    before: Vec<u32>,
    /// Ranks with their places; some are outdated.
    places: BinaryHeap<Reverse<(Rank, u32)>>,
    passed: Vec<(Rank, u32)>,
}

/// Merges symbols with dropout, and emits the remaining tokens.
///
/// Takes O(n log n / (1 − probability)) steps for n symbols: a skipped place is visited again after each
/// merge.
pub(super) fn merge(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    choices: &mut DropoutChoices,
    scratch: &mut DropoutScratch,
    interrupt: &dyn Interrupt,
    sink: &mut impl Sink,
) -> Result<()> {
    let DropoutScratch { ids, after, before, places, passed } = scratch;
    ids.clear();
    let mut pacer = Pacer::new(interrupt);
    for id in symbols {
        pacer.after(1)?;
        memory::try_reserve(ids, 1)?;
        ids.push(id);
    }
    let Ok(len) = u32::try_from(ids.len()) else {
        return Err(Error::Limit { reason: "one pretoken has more than 2^32 symbols.".into() });
    };
    after.clear();
    memory::try_reserve(after, ids.len() + 1)?;
    after.extend((1..len).chain([NONE]));
    before.clear();
    memory::try_reserve(before, ids.len() + 1)?;
    before.extend([NONE].into_iter().chain(0..len.saturating_sub(1)));
    places.clear();
    let wait = |places: &mut BinaryHeap<_>, rank: Rank, at: u32| match rank {
        NO_RANK => Ok(()),
        rank => memory::try_push(places, Reverse((rank, at))),
    };
    let rank = |ids: &[TokenId], after: &[u32], at: u32| match after[at as usize] {
        NONE => NO_RANK,
        next => merges.rank(ids[at as usize], ids[next as usize]),
    };
    for at in 0..len {
        pacer.after(1)?;
        wait(places, rank(ids, after, at), at)?;
    }
    while let Some(Reverse((found, at))) = places.pop() {
        pacer.after(1)?;
        // Tokens only grow, so a pair that left a place does not return to it.
        if ids[at as usize] == GONE || rank(ids, after, at) != found {
            continue;
        }
        if choices.pass_over() {
            memory::try_reserve(passed, 1)?;
            passed.push((found, at));
            continue;
        }
        let right = after[at as usize];
        let next = after[right as usize];
        ids[at as usize] = merges.id(found);
        ids[right as usize] = GONE;
        after[at as usize] = next;
        if next != NONE {
            before[next as usize] = at;
        }
        let starts = [before[at as usize], at].into_iter().filter(|start| *start != NONE);
        for start in starts {
            wait(places, rank(ids, after, start), start)?;
        }
        for (rank, at) in passed.drain(..) {
            wait(places, rank, at)?;
        }
    }
    passed.clear();
    let mut at = if len > 0 { 0 } else { NONE };
    while at != NONE {
        pacer.after(1)?;
        sink.reserve(1)?;
        sink.push_id(ids[at as usize]);
        at = after[at as usize];
    }
    Ok(())
}
