//! The most frequent pairs of a corpus on disk, counted exactly in bounded memory.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::vocabulary::TokenId;

/// Memory per counted pair, including growth of the table, and later its entry in the result, in bytes.
const OF_PAIR: u64 = 64;

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
    /// The pairs up to the count from which on none is missing.
    pub(super) fn complete(&self) -> impl Iterator<Item = &PairCount> {
        self.pairs.iter().take_while(|found| found.count >= self.min_count)
    }
}

/// Counts pairs in several passes over a corpus, in each pass those of a range of hashes that fits into
/// memory.
pub(super) struct PairCounting {
    /// The range of hashes counted in this pass.
    share: HashRange,
    counts: HashMap<(TokenId, TokenId), (u64, u64)>,
    /// The maximum number of pairs counted at once.
    capacity: usize,
    /// The number of pairs seen in this pass.
    passed: u64,
    /// Ranges that are still to be counted.
    later: Vec<HashRange>,
    found: Frequent,
    /// The maximum number of pairs in the result.
    maximum: usize,
}

impl PairCounting {
    /// Counts pairs that occur at least `min_count` times, within `memory` bytes; the result has at least
    /// the `wanted` best pairs.
    pub(super) fn new(min_count: u64, memory: u64, wanted: usize) -> PairCounting {
        let capacity = (memory / 2 / OF_PAIR) as usize;
        PairCounting {
            share: HashRange::ALL,
            counts: HashMap::default(),
            capacity: capacity.max(4),
            passed: 0,
            later: vec![HashRange::ALL],
            found: Frequent { pairs: Vec::new(), min_count },
            maximum: (capacity / 2).max(wanted),
        }
    }

    /// Starts the next pass; false if all ranges are counted.
    pub(super) fn begin(&mut self) -> bool {
        let Some(share) = self.later.pop() else { return false };
        (self.share, self.passed) = (share, 0);
        true
    }

    /// Counts a pair if it is in the current range and `asked` returns true.
    #[inline]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, count: u64, asked: impl FnOnce() -> bool) {
        self.passed += 1;
        if self.share.has((left, right)) && asked() {
            self.counts.entry((left, right)).or_insert((0, self.passed)).0 += count;
            if self.counts.len() > self.capacity {
                self.halve();
            }
        }
    }

    /// Defers half of the range to a later pass.
    fn halve(&mut self) {
        let [kept, later] = self.share.halves();
        self.counts.retain(|&pair, _| kept.has(pair));
        self.share = kept;
        self.later.push(later);
    }

    /// Ends a pass and keeps the best pairs.
    pub(super) fn end<K: Ord>(&mut self, mut key: impl FnMut(&PairCount) -> K) {
        let Frequent { pairs, min_count } = &mut self.found;
        let counted = self.counts.drain();
        pairs.extend(counted.map(|((left, right), (count, first))| PairCount { left, right, count, first }));
        pairs.sort_by_cached_key(|found| Reverse((found.count, key(found))));
        if let Some(dropped) = pairs.get(self.maximum) {
            *min_count = (*min_count).max(dropped.count + 1);
            pairs.truncate(self.maximum);
        }
    }

    pub(super) fn finish(self) -> Frequent {
        self.found
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
            wanted in 1..5usize,
            min_count in 1..60u64,
        ) {
            let key = |found: &PairCount| Reverse((found.left, found.right));
            let mut counting = PairCounting::new(min_count, memory, wanted);
            while counting.begin() {
                pairs.iter().for_each(|&(left, right, count)| counting.add(left, right, count, || true));
                counting.end(key);
            }
            let frequent = counting.finish();

            let mut all: Vec<PairCount> = Vec::new();
            for (number, &(left, right, count)) in (1..).zip(&pairs) {
                match all.iter_mut().find(|found| (found.left, found.right) == (left, right)) {
                    Some(found) => found.count += count,
                    None => all.push(PairCount { left, right, count, first: number }),
                }
            }
            all.sort_by_key(|found| Reverse((found.count, key(found))));
            let complete = all.iter().filter(|found| found.count >= frequent.min_count);
            prop_assert!(frequent.complete().eq(complete));
            prop_assert!(frequent.min_count >= min_count);
            let wanted = wanted.min(all.len());
            prop_assert_eq!(&frequent.pairs[..wanted], &all[..wanted]);
        }
    }
}
