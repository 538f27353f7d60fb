//! BPE-dropout: merging that leaves places out by chance, so that one text has many encodings.
//!
//! Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization",
//! ACL 2020. At each step the places where a merge could be made are gone through from the lowest
//! rank on, of equal ranks from the left. Each is passed over with the given probability; the first
//! that is not is merged, and the next step begins anew. When all are passed over, the encoding is
//! done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::merges::{Merges, NO_RANK, Rank};
use crate::room;
use crate::vocabulary::TokenId;
use crate::watch::{Paced, Watch};

use super::Sink;

/// How often merges are left out, and which choices are made: all that an encoding with dropout
/// depends on beside the text.
#[derive(Debug, Clone, Copy)]
pub struct Dropout {
    probability: f64,
    seed: u64,
}

impl Dropout {
    /// Leaves each merge out with this probability, from 0 to 1.
    pub fn new(probability: f64, seed: u64) -> Result<Dropout> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(Error::Option {
                reason: format!("dropout={probability} is not a probability, from 0 to 1."),
            });
        }
        Ok(Dropout { probability, seed })
    }

    /// Whether nothing is ever left out.
    pub fn is_off(&self) -> bool {
        self.probability == 0.0
    }

    /// The choices for text `number` of a batch: those of a text alone whose seed is so much higher.
    pub(crate) fn choices(&self, number: usize) -> Choices {
        Choices { probability: self.probability, state: self.seed.wrapping_add(number as u64) }
    }
}

/// The choices for one text, in the order in which they are made.
///
/// The numbers are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). Seeds that follow each other give numbers that have nothing to do
/// with each other.
pub(crate) struct Choices {
    probability: f64,
    state: u64,
}

impl Choices {
    #[inline]
    fn pass_over(&mut self) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        // As many bits as a fraction has, so that the number is below 1 and exact.
        let number = ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64;
        number < self.probability
    }
}

/// No symbol.
const NONE: u32 = u32::MAX;

/// Stands where a symbol became a part of the one before. No token has this id.
const GONE: TokenId = TokenId::MAX;

/// Memory that is reused from one run to the next.
#[derive(Default)]
pub(crate) struct Scratch {
    ids: Vec<TokenId>,
    /// The neighbours of each symbol that still stands.
    after: Vec<u32>,
    before: Vec<u32>,
    /// Ranks with their places, some of which are gone.
    places: BinaryHeap<Reverse<(Rank, u32)>>,
    passed: Vec<(Rank, u32)>,
}

/// Merges symbols, leaving places out, and emits what is left.
///
/// Takes O(n log n / (1 − probability)) steps for n symbols: a place that was passed over is looked
/// at again after each merge.
pub(super) fn merge(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    choices: &mut Choices,
    scratch: &mut Scratch,
    watch: &dyn Watch,
    sink: &mut impl Sink,
) -> Result<()> {
    let Scratch { ids, after, before, places, passed } = scratch;
    ids.clear();
    let mut paced = Paced::new(watch);
    for id in symbols {
        paced.after(1)?;
        room::reserve(ids, 1)?;
        ids.push(id);
    }
    let Ok(len) = u32::try_from(ids.len()) else {
        return Err(Error::Limit { reason: "one pretoken has more than 2^32 symbols.".into() });
    };
    after.clear();
    room::reserve(after, ids.len() + 1)?;
    after.extend((1..len).chain([NONE]));
    before.clear();
    room::reserve(before, ids.len() + 1)?;
    before.extend([NONE].into_iter().chain(0..len.saturating_sub(1)));
    places.clear();
    let wait = |places: &mut BinaryHeap<_>, rank: Rank, at: u32| match rank {
        NO_RANK => Ok(()),
        rank => room::push(places, Reverse((rank, at))),
    };
    let rank = |ids: &[TokenId], after: &[u32], at: u32| match after[at as usize] {
        NONE => NO_RANK,
        next => merges.rank(ids[at as usize], ids[next as usize]),
    };
    for at in 0..len {
        paced.after(1)?;
        wait(places, rank(ids, after, at), at)?;
    }
    while let Some(Reverse((found, at))) = places.pop() {
        paced.after(1)?;
        // Tokens only grow, so a pair that went from a place does not come back to it.
        if ids[at as usize] == GONE || rank(ids, after, at) != found {
            continue;
        }
        if choices.pass_over() {
            room::reserve(passed, 1)?;
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
        paced.after(1)?;
        sink.reserve(1)?;
        sink.one(ids[at as usize]);
        at = after[at as usize];
    }
    Ok(())
}
