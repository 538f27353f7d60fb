//! Merging a long run of symbols in near-linear time.
//!
//! A merge makes tokens that only merges of higher rank can join further (where the list of merges
//! is rising, see [`Merges::is_rising`]). So the ranks can be gone through in order, each with
//! all its places at once, left to right, and no place is looked at again: a queue holds the few
//! hundred distinct ranks in play, not the million places.
//!
//! The symbols lie where their bytes lie. Of a token's places the first and the last hold its id
//! and the others a mark, so the neighbours of a token are found by the lengths of tokens alone,
//! without links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::merges::{Merges, NO_RANK, Rank};
use crate::room;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::{Paced, Watch};

use super::Sink;

/// Marks a place inside a token. No token has this id.
const INSIDE: TokenId = TokenId::MAX;

/// Memory that a thread reuses from one long run to the next.
#[derive(Default)]
pub(in crate::encode) struct Scratch {
    places: Vec<TokenId>,
    queue: Queue,
}

/// Kept between calls: enough for most runs, little enough to forget about.
const KEEP: usize = 1 << 16;

/// The same for lists of places, and for the places of a list.
const KEEP_LISTS: usize = 1 << 7;

/// The same for ranks in play at the same time.
const KEEP_RANKS: usize = 1 << 10;

/// Merges symbols, given with their lengths, that are `len` bytes long, and emits what is left.
///
/// Takes 4 bytes of memory for each byte, and 4 more for each place of a pair that can be merged;
/// little of it stays in `scratch`, also where the work is stopped.
pub(super) fn merge(
    symbols: impl Iterator<Item = (TokenId, usize)>,
    len: usize,
    merges: &Merges,
    vocabulary: &Vocabulary,
    scratch: &mut Scratch,
    watch: &dyn Watch,
    sink: &mut impl Sink,
) -> Result<()> {
    if u32::try_from(len).is_err() {
        return Err(Error::Limit {
            reason: format!(
                "one pretoken is {len} bytes long; at most 4 GiB can be merged as one. Use a pretokenizer that cuts the text."
            ),
        });
    }
    let mut places = std::mem::take(&mut scratch.places);
    places.clear();
    room::reserve(&mut places, len)?;
    places.resize(len, INSIDE);
    let (mut at, mut paced) = (0, Paced::new(watch));
    for (id, width) in symbols {
        paced.after(1)?;
        places[at] = id;
        places[at + width - 1] = id;
        at += width;
    }
    let mut run = Run { places, merges, vocabulary };
    let merged =
        if merges.is_rising() { run.by_rank(&mut scratch.queue, watch) } else { run.one_by_one(watch) };
    let emitted = merged.and_then(|()| run.emit(watch, sink));
    // Also where the watch stopped the work: what is kept must stay small.
    scratch.queue.clear();
    scratch.places = run.places;
    scratch.places.truncate(KEEP);
    scratch.places.shrink_to(KEEP);
    emitted
}

struct Run<'a> {
    places: Vec<TokenId>,
    merges: &'a Merges,
    vocabulary: &'a Vocabulary,
}

impl Run<'_> {
    /// Where the token after the one at `at` starts, if there is one.
    fn after(&self, at: usize) -> Option<usize> {
        let next = at + self.vocabulary.len_of(self.places[at]);
        (next < self.places.len()).then_some(next)
    }

    /// Where the token before the one at `at` starts, if there is one.
    fn before(&self, at: usize) -> Option<usize> {
        Some(at - self.vocabulary.len_of(*self.places.get(at.checked_sub(1)?)?))
    }

    /// The rank of the pair that starts at `at`.
    fn rank(&self, at: usize) -> Option<Rank> {
        let next = self.after(at)?;
        let rank = self.merges.rank(self.places[at], self.places[next]);
        (rank != NO_RANK).then_some(rank)
    }

    /// Merges the pair that starts at `at` if it still is the one of this rank. Tokens only grow,
    /// so a pair that went from a place does not come back to it.
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
        // The marks come first: where a part has one place, that place is an end of the token.
        self.places[right - 1] = INSIDE;
        self.places[right] = INSIDE;
        self.places[at] = merge.id;
        self.places[end - 1] = merge.id;
        true
    }

    /// Emits the tokens that are left.
    fn emit(&self, watch: &dyn Watch, sink: &mut impl Sink) -> Result<()> {
        let (mut at, mut paced) = (0, Paced::new(watch));
        while at < self.places.len() {
            paced.after(1)?;
            sink.reserve(1)?;
            sink.one(self.places[at]);
            at += self.vocabulary.len_of(self.places[at]);
        }
        Ok(())
    }

    /// All places of the lowest rank, then of the next one, and so on.
    fn by_rank(&mut self, queue: &mut Queue, watch: &dyn Watch) -> Result<()> {
        let mut paced = Paced::new(watch);
        let mut at = Some(0);
        while let Some(start) = at {
            paced.after(1)?;
            if let Some(rank) = self.rank(start) {
                queue.put(Side::Right, rank, start)?;
            }
            at = self.after(start);
        }
        while let Some((rank, mut starts)) = queue.take() {
            let merge = self.merges.in_order()[rank as usize];
            if merge.left == merge.right {
                // Only such pairs overlap (`aaa`), and there the left one must come first.
                starts.sort_unstable();
            }
            for &start in &starts {
                paced.after(1)?;
                let start = start as usize;
                if !self.merge_at(start, rank) {
                    continue;
                }
                if let Some(before) = self.before(start)
                    && let Some(rank) = self.rank(before)
                {
                    queue.put(Side::Left, rank, before)?;
                }
                if let Some(rank) = self.rank(start) {
                    queue.put(Side::Right, rank, start)?;
                }
            }
            queue.spare.push(starts);
        }
        Ok(())
    }

    /// The lowest rank of all places, the leftmost of them, again and again. Needed where a merge
    /// can bring a lower rank than its own.
    fn one_by_one(&mut self, watch: &dyn Watch) -> Result<()> {
        let mut queue: BinaryHeap<Reverse<(Rank, u32)>> = BinaryHeap::new();
        let mut paced = Paced::new(watch);
        let mut at = Some(0);
        while let Some(start) = at {
            paced.after(1)?;
            if let Some(rank) = self.rank(start) {
                room::push(&mut queue, Reverse((rank, start as u32)))?;
            }
            at = self.after(start);
        }
        while let Some(Reverse((rank, start))) = queue.pop() {
            paced.after(1)?;
            let start = start as usize;
            if self.merge_at(start, rank) {
                let starts = [self.before(start), Some(start)];
                for start in starts.into_iter().flatten() {
                    if let Some(rank) = self.rank(start) {
                        room::push(&mut queue, Reverse((rank, start as u32)))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// On which side of a new token a pair is.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// The places of each rank, and the ranks in order.
#[derive(Default)]
struct Queue {
    numbers: HashMap<Rank, usize>,
    ranks: BinaryHeap<Reverse<Rank>>,
    lists: Vec<Vec<u32>>,
    /// Lists to use again.
    spare: Vec<Vec<u32>>,
    /// The rank that was put last on either side, and its list. Where a text repeats itself, so do
    /// the ranks, and then nothing is looked up.
    last: [Option<(Rank, usize)>; 2],
}

impl Queue {
    /// Forgets all and keeps some of the memory.
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
            // No list can shrink below what it holds.
            list.clear();
            list.shrink_to(KEEP_LISTS);
        }
    }

    #[inline]
    fn put(&mut self, side: Side, rank: Rank, start: usize) -> Result<()> {
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
        room::reserve(list, 1)?;
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
