//! The most frequent pairs of a corpus on disk, counted exactly in bounded memory.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::vocabulary::TokenId;

/// Bytes of memory for a pair while it is counted, with room for the table to grow, and once it is
/// found, with its place in a table by pairs.
const OF_PAIR: u64 = 64;

/// A pair and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PairCount {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: u64,
    /// How many pairs stand before its first occurrence.
    pub(super) first: u64,
}

/// Pairs by rank, the best first.
pub(super) struct Frequent {
    pub(super) pairs: Vec<PairCount>,
    /// Every pair that occurs so often is among them.
    pub(super) min_count: u64,
}

impl Frequent {
    /// Those of which none that occurs as often is missing.
    pub(super) fn complete(&self) -> impl Iterator<Item = &PairCount> {
        self.pairs.iter().take_while(|found| found.count >= self.min_count)
    }
}

/// Counts pairs while a corpus is gone through again and again, each time a share of them: as many
/// as there is room for.
pub(super) struct PairCounting {
    /// The pairs that are counted now.
    share: HashRange,
    counts: HashMap<(TokenId, TokenId), (u64, u64)>,
    /// How many pairs there is room for at a time.
    capacity: usize,
    /// How many pairs were passed.
    passed: u64,
    /// Shares that are still to be counted.
    later: Vec<HashRange>,
    found: Frequent,
    /// How many are kept.
    maximum: usize,
}

impl PairCounting {
    /// For pairs that occur `min_count` times. At most so many bytes are taken, but room for the `wanted`
    /// ones there must be.
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

    /// Turns to the next share; false if all were counted.
    pub(super) fn begin(&mut self) -> bool {
        let Some(share) = self.later.pop() else { return false };
        (self.share, self.passed) = (share, 0);
        true
    }

    /// Counts a pair if it is of this share and `asked` for.
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

    /// Leaves half of the pairs for another time.
    fn halve(&mut self) {
        let [kept, later] = self.share.halves();
        self.counts.retain(|&pair, _| kept.has(pair));
        self.share = kept;
        self.later.push(later);
    }

    /// Keeps the best of what was counted.
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

/// The pairs whose hashes begin with these bits.
#[derive(Debug, Clone, Copy)]
struct HashRange {
    bits: u64,
    len: u32,
}

impl HashRange {
    const ALL: HashRange = HashRange { bits: 0, len: 0 };

    #[inline]
    fn has(self, (left, right): (TokenId, TokenId)) -> bool {
        // No two pairs have one hash, so a share can be halved until there is room.
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
