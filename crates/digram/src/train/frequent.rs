//! The most frequent pairs of a corpus on disk, counted exactly in bounded memory.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::vocabulary::TokenId;

/// Memory per counted pair, including growth of the table, and later its entry in the result, in bytes.
const PAIR_MEMORY: u64 = 64;

/// A pair and its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PairCount {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: u64,
    /// The number of pairs before its first occurrence.
    pub(super) first: u64,
}

/// Pairs by rank, the best first.
pub(super) struct Frequent {
    pub(super) pairs: Vec<PairCount>,
    /// All pairs with at least this count are included.
    pub(super) min_count: u64,
}

impl Frequent {
    /// The pairs with counts for which the list is complete.
    pub(super) fn complete(&self) -> impl Iterator<Item = &PairCount> {
        self.pairs.iter().take_while(|pair| pair.count >= self.min_count)
    }
}

/// Counts pairs in several passes over a corpus, in each pass those of a range of hashes that fits into
/// memory.
pub(super) struct PairCounting {
    /// The range of hashes counted in this pass.
    range: HashRange,
    counts: HashMap<(TokenId, TokenId), (u64, u64)>,
    /// The maximum number of pairs counted at once.
    capacity: usize,
    /// The number of occurrences visited in this pass.
    visited: u64,
    /// Ranges that are still to be counted.
    remaining: Vec<HashRange>,
    result: Frequent,
    /// The maximum number of pairs in the result.
    maximum: usize,
}

impl PairCounting {
    /// Counts pairs that occur at least `min_count` times, within `memory` bytes; the result has at least
    /// the `minimum` best pairs.
    pub(super) fn new(min_count: u64, memory: u64, minimum: usize) -> PairCounting {
        let capacity = (memory / 2 / PAIR_MEMORY) as usize;
        PairCounting {
            range: HashRange::ALL,
            counts: HashMap::default(),
            capacity: capacity.max(4),
            visited: 0,
            remaining: vec![HashRange::ALL],
            result: Frequent { pairs: Vec::new(), min_count },
            maximum: (capacity / 2).max(minimum),
        }
    }

    /// Starts the next pass; false if all ranges are counted.
    pub(super) fn begin(&mut self) -> bool {
        let Some(range) = self.remaining.pop() else { return false };
        (self.range, self.visited) = (range, 0);
        true
    }

    /// Counts a pair if it is in the current range and `is_candidate` returns true.
    #[inline]
    pub(super) fn add(
        &mut self,
        left: TokenId,
        right: TokenId,
        count: u64,
        is_candidate: impl FnOnce() -> bool,
    ) {
        self.visited += 1;
        if self.range.has((left, right)) && is_candidate() {
            self.counts.entry((left, right)).or_insert((0, self.visited)).0 += count;
            if self.counts.len() > self.capacity {
                self.halve();
            }
        }
    }

    /// Defers half of the range to a later pass.
    fn halve(&mut self) {
        let [first, second] = self.range.halves();
        self.counts.retain(|&pair, _| first.has(pair));
        self.range = first;
        self.remaining.push(second);
    }

    /// Ends a pass and keeps the best pairs.
    pub(super) fn end<K: Ord>(&mut self, mut key: impl FnMut(&PairCount) -> K) {
        let Frequent { pairs, min_count } = &mut self.result;
        let counts = self.counts.drain();
        pairs.extend(counts.map(|((left, right), (count, first))| PairCount { left, right, count, first }));
        pairs.sort_by_cached_key(|pair| Reverse((pair.count, key(pair))));
        if let Some(dropped) = pairs.get(self.maximum) {
            *min_count = (*min_count).max(dropped.count + 1);
            pairs.truncate(self.maximum);
        }
    }

    pub(super) fn finish(self) -> Frequent {
        self.result
    }
}

/// A range of hashes: those that begin with these bits.
#[derive(Debug, Clone, Copy)]
struct HashRange {
    bits: u64,
    len: u32,
}

impl HashRange {
    const ALL: HashRange = HashRange { bits: 0, len: 0 };

    #[inline]
    fn has(self, (left, right): (TokenId, TokenId)) -> bool {
        // The hash is injective, so a range can be halved until it fits.
        let hash = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash.checked_shr(u64::BITS - self.len).unwrap_or(0) == self.bits
    }

    fn halves(self) -> [HashRange; 2] {
        [0, 1].map(|bit| HashRange { bits: self.bits << 1 | bit, len: self.len + 1 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_found_in_any_memory(
            pairs in proptest::collection::vec((0..12u32, 0..12u32, 1..9u64), 0..300),
            memory in 0..6_000u64,
            minimum in 1..5usize,
            min_count in 1..60u64,
        ) {
            let key = |pair: &PairCount| Reverse((pair.left, pair.right));
            let mut counting = PairCounting::new(min_count, memory, minimum);
            while counting.begin() {
                pairs.iter().for_each(|&(left, right, count)| counting.add(left, right, count, || true));
                counting.end(key);
            }
            let frequent = counting.finish();

            let mut all: Vec<PairCount> = Vec::new();
            for (first, &(left, right, count)) in (1..).zip(&pairs) {
                match all.iter_mut().find(|pair| (pair.left, pair.right) == (left, right)) {
                    Some(pair) => pair.count += count,
                    None => all.push(PairCount { left, right, count, first }),
                }
            }
            all.sort_by_key(|pair| Reverse((pair.count, key(pair))));
            let complete = all.iter().filter(|pair| pair.count >= frequent.min_count);
            prop_assert!(frequent.complete().eq(complete));
            prop_assert!(frequent.min_count >= min_count);
            let minimum = minimum.min(all.len());
            prop_assert_eq!(&frequent.pairs[..minimum], &all[..minimum]);
        }
    }
}
