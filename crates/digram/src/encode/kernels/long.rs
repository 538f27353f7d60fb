//! Merging a long run of symbols in near-linear time.
//!
//! If the list of merges is rising (see [`Merges::is_rising`]), a merge makes tokens that only merges of
//! higher rank can join further. So the ranks are processed in order, each with all its places at once,
//! left to right, and no place is visited again: the queue holds the few hundred distinct ranks present,
//! not a million places.
//!
//! Symbols are stored at the positions of their bytes. The first and the last place of a token hold its id,
//! the others a mark, so the neighbours of a token are found from the lengths of tokens, without links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::symbols::{Symbol, SymbolRun};
use super::{Sink, check_len};

/// Marks a place inside a token. No token has this id.
const INSIDE: TokenId = TokenId::MAX;

/// Buffers that a thread reuses from one long pretoken to the next.
#[derive(Default)]
pub(in crate::encode) struct LongScratch {
    places: Vec<TokenId>,
    queue: Queue,
}

/// Places kept between calls: enough for most pretokens, and small.
const KEEP: usize = 1 << 16;

/// Lists kept between calls, and places kept per list.
const KEEP_LISTS: usize = 1 << 7;

/// Entries for ranks kept between calls.
const KEEP_RANKS: usize = 1 << 10;

/// Merges a run of symbols, and emits the remaining tokens.
///
/// Takes 4 bytes of memory per byte, and 4 more per place of a pair that can be merged. Little of it is
/// kept in `scratch`, even after an interrupt.
pub(super) fn merge(
    SymbolRun { symbols, len }: SymbolRun<impl Iterator<Item = Symbol>>,
    merges: &Merges,
    vocabulary: &Vocabulary,
    scratch: &mut LongScratch,
    interrupt: &dyn Interrupt,
    sink: &mut impl Sink,
) -> Result<()> {
    check_len(len)?;
    let mut places = std::mem::take(&mut scratch.places);
    places.clear();
    memory::try_reserve(&mut places, len)?;
    places.resize(len, INSIDE);
    let (mut at, mut pacer) = (0, Pacer::new(interrupt));
    for (id, width) in symbols {
        pacer.after(1)?;
        places[at] = id;
        places[at + width - 1] = id;
        at += width;
    }
    let mut run = LongRun { places, merges, vocabulary };
    let merged = if merges.is_rising() {
        run.by_rank(&mut scratch.queue, interrupt)
    } else {
        run.one_by_one(interrupt)
    };
    let emitted = merged.and_then(|()| run.emit(interrupt, sink));
    // Also after an interrupt, so that the kept buffers stay small.
    scratch.queue.clear();
    scratch.places = run.places;
    scratch.places.truncate(KEEP);
    scratch.places.shrink_to(KEEP);
    emitted
}

struct LongRun<'a> {
    places: Vec<TokenId>,
    merges: &'a Merges,
    vocabulary: &'a Vocabulary,
}

impl LongRun<'_> {
    /// The start of the token after the one at `at`, if there is one.
    fn after(&self, at: usize) -> Option<usize> {
        let next = at + self.vocabulary.len_of(self.places[at]);
        (next < self.places.len()).then_some(next)
    }

    /// The start of the token before the one at `at`, if there is one.
    fn before(&self, at: usize) -> Option<usize> {
        Some(at - self.vocabulary.len_of(*self.places.get(at.checked_sub(1)?)?))
    }

    /// The rank of the pair that starts at `at`.
    fn rank(&self, at: usize) -> Option<Rank> {
        let next = self.after(at)?;
        let rank = self.merges.rank(self.places[at], self.places[next]);
        (rank != NO_RANK).then_some(rank)
    }

    /// Calls `add` with the rank and the start of each pair that has a rank.
    fn for_pairs(
        &self,
        interrupt: &dyn Interrupt,
        mut add: impl FnMut(Rank, usize) -> Result<()>,
    ) -> Result<()> {
        let (mut at, mut pacer) = (Some(0), Pacer::new(interrupt));
        while let Some(start) = at {
            pacer.after(1)?;
            if let Some(rank) = self.rank(start) {
                add(rank, start)?;
            }
            at = self.after(start);
        }
        Ok(())
    }

    /// Merges the pair that starts at `at` if it still has this rank. Tokens only grow, so a pair that left
    /// a place does not return to it.
    fn merge_at(&mut self, at: usize, rank: Rank) -> bool {
        let merge = self.merges.in_order()[rank as usize];
        if self.places[at] != merge.left {
            return false;
        }
        let right = at + self.vocabulary.len_of(merge.left);
        if self.places.get(right) != Some(&merge.right) {
            return false;
        }
        let end = right + self.vocabulary.len_of(merge.right);
        // The marks are written first: if a part has one place, that place is an end of the token.
        self.places[right - 1] = INSIDE;
        self.places[right] = INSIDE;
        self.places[at] = merge.id;
        self.places[end - 1] = merge.id;
        true
    }

    /// Emits the remaining tokens.
    fn emit(&self, interrupt: &dyn Interrupt, sink: &mut impl Sink) -> Result<()> {
        let (mut at, mut pacer) = (0, Pacer::new(interrupt));
        while at < self.places.len() {
            pacer.after(1)?;
            sink.reserve(1)?;
            sink.push_id(self.places[at]);
            at += self.vocabulary.len_of(self.places[at]);
        }
        Ok(())
    }

    /// Merges all places of the lowest rank, then those of the next one, and so on.
    fn by_rank(&mut self, queue: &mut Queue, interrupt: &dyn Interrupt) -> Result<()> {
        self.for_pairs(interrupt, |rank, start| queue.put(QueueSide::Right, rank, start))?;
        let mut pacer = Pacer::new(interrupt);
        while let Some((rank, mut starts)) = queue.take() {
            let merge = self.merges.in_order()[rank as usize];
            if merge.left == merge.right {
                // Only such pairs overlap (`aaa`), and there the left one must come first.
                starts.sort_unstable();
            }
            for &start in &starts {
                pacer.after(1)?;
                let start = start as usize;
                if !self.merge_at(start, rank) {
                    continue;
                }
                if let Some(before) = self.before(start)
                    && let Some(rank) = self.rank(before)
                {
                    queue.put(QueueSide::Left, rank, before)?;
                }
                if let Some(rank) = self.rank(start) {
                    queue.put(QueueSide::Right, rank, start)?;
                }
            }
            queue.spare.push(starts);
        }
        Ok(())
    }

    /// Repeatedly merges the leftmost place of the lowest rank. Needed if a merge can create a pair of
    /// lower rank than its own.
    fn one_by_one(&mut self, interrupt: &dyn Interrupt) -> Result<()> {
        let mut queue: BinaryHeap<Reverse<(Rank, u32)>> = BinaryHeap::new();
        self.for_pairs(interrupt, |rank, start| memory::try_push(&mut queue, Reverse((rank, start as u32))))?;
        let mut pacer = Pacer::new(interrupt);
        while let Some(Reverse((rank, start))) = queue.pop() {
            pacer.after(1)?;
            let start = start as usize;
            if self.merge_at(start, rank) {
                let starts = [self.before(start), Some(start)];
                for start in starts.into_iter().flatten() {
                    if let Some(rank) = self.rank(start) {
                        memory::try_push(&mut queue, Reverse((rank, start as u32)))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The side of a new token that a pair is on.
#[derive(Clone, Copy)]
enum QueueSide {
    Left,
    Right,
}

/// The places of each rank, and the ranks in order.
#[derive(Default)]
struct Queue {
    numbers: HashMap<Rank, usize>,
    ranks: BinaryHeap<Reverse<Rank>>,
    lists: Vec<Vec<u32>>,
    /// Lists for reuse.
    spare: Vec<Vec<u32>>,
    /// The rank added last on either side, and its list. Repetitive text repeats its ranks, which then need
    /// no look-up.
    last: [Option<(Rank, usize)>; 2],
}

impl Queue {
    /// Removes all entries and keeps some of the capacity.
    fn clear(&mut self) {
        self.numbers.clear();
        self.numbers.shrink_to(KEEP_RANKS);
        self.ranks.clear();
        self.ranks.shrink_to(KEEP_RANKS);
        self.lists.clear();
        self.lists.shrink_to(KEEP_RANKS);
        self.last = [None; 2];
        self.spare.truncate(KEEP_LISTS);
        self.spare.shrink_to(KEEP_LISTS);
        for list in &mut self.spare {
            // A list cannot shrink below its length.
            list.clear();
            list.shrink_to(KEEP_LISTS);
        }
    }

    #[inline]
    fn put(&mut self, side: QueueSide, rank: Rank, start: usize) -> Result<()> {
        let number = match self.last[side as usize] {
            Some((last, number)) if last == rank => number,
            _ => {
                let number = *self.numbers.entry(rank).or_insert_with(|| {
                    self.ranks.push(Reverse(rank));
                    let mut list = self.spare.pop().unwrap_or_default();
                    list.clear();
                    self.lists.push(list);
                    self.lists.len() - 1
                });
                self.last[side as usize] = Some((rank, number));
                number
            }
        };
        let list = &mut self.lists[number];
        memory::try_reserve(list, 1)?;
        list.push(start as u32);
        Ok(())
    }

    fn take(&mut self) -> Option<(Rank, Vec<u32>)> {
        let Reverse(rank) = self.ranks.pop()?;
        let number = self.numbers.remove(&rank)?;
        self.last = self.last.map(|last| last.filter(|(last, _)| *last != rank));
        Some((rank, std::mem::take(&mut self.lists[number])))
    }
}
