//! Upper bounds for the counts of all pairs, in little memory.

use crate::vocabulary::TokenId;

/// A count-min sketch with two hashes: sums over all pairs with equal hashes, of which the smaller is an
/// upper bound.
///
/// It fits into a near cache, whatever the size of the corpus: a single row as long as the corpus separated
/// more pairs, and took four times as long to fill and query. Sums saturate at 32 bits and then bound
/// nothing.
#[derive(Clone)]
pub(super) struct Sketch {
    rows: [Vec<u32>; 2],
    shift: u32,
}

impl Sketch {
    /// The maximum number of sums per row: 1 MiB.
    const MAX_SUMS: usize = 1 << 18;

    /// A sketch for a corpus with this many positions.
    pub(super) fn new(positions: usize) -> Sketch {
        let sums = (positions / 2).next_power_of_two().clamp(1 << 8, Sketch::MAX_SUMS);
        Sketch { rows: [vec![0; sums], vec![0; sums]], shift: 64 - sums.ilog2() }
    }

    /// The number of pairs that it separates well.
    pub(super) fn capacity(&self) -> usize {
        self.rows[0].len() / 4
    }

    #[inline(always)]
    fn indices(&self, left: TokenId, right: TokenId) -> [usize; 2] {
        let (left, right) = (u64::from(left), u64::from(right));
        let first = (left << 32 | right).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let second = (right << 32 | left).wrapping_mul(0xd6e8_feb8_6659_fd93);
        [first, second].map(|hash| (hash >> self.shift) as usize)
    }

    #[inline(always)]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, count: u64) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let indices = self.indices(left, right);
        for (row, index) in self.rows.iter_mut().zip(indices) {
            row[index] = row[index].saturating_add(count);
        }
    }

    /// An upper bound for the count of a pair.
    #[inline(always)]
    pub(super) fn bound(&self, left: TokenId, right: TokenId) -> u64 {
        let [first, second] = self.indices(left, right);
        let sum = self.rows[0][first].min(self.rows[1][second]);
        if sum == u32::MAX { u64::MAX } else { sum.into() }
    }

    /// Whether a pair may reach this count.
    #[inline(always)]
    pub(super) fn may_reach(&self, left: TokenId, right: TokenId, count: u64) -> bool {
        self.bound(left, right) >= count
    }

    /// A count that about `pair_count` pairs may reach; 1 if there are fewer pairs.
    pub(super) fn reached_by(&self, pair_count: usize) -> u64 {
        let mut sums: Vec<u32> = self.rows[0].iter().copied().filter(|&sum| sum > 0).collect();
        if sums.len() <= pair_count {
            return 1;
        }
        let (_, &mut sum, _) = sums.select_nth_unstable_by(pair_count, |a, b| b.cmp(a));
        u64::from(sum)
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashMap;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With so many pairs that most share their sums, and with counts that exceed a sum.
        #[test]
        fn no_pair_has_more_than_its_bound(
            pairs in proptest::collection::vec(
                (0..60u32, 0..60u32, prop_oneof![1..100u64, 1..1u64 << 34]), 0..3_000,
            ),
        ) {
            let (mut sketch, mut exact) = (Sketch::new(0), HashMap::new());
            for &(left, right, count) in &pairs {
                sketch.add(left, right, count);
                *exact.entry((left, right)).or_insert(0u64) += count;
            }
            for (&(left, right), &count) in &exact {
                prop_assert!(sketch.may_reach(left, right, count));
                prop_assert!(sketch.bound(left, right) >= count);
            }
            let is_shared = |(&(left, right), &count): (&(u32, u32), &u64)| sketch.bound(left, right) > count;
            prop_assert!(exact.len() < 1_000 || exact.iter().any(is_shared), "no pairs share their sums");
        }
    }

    #[test]
    fn the_count_that_many_pairs_reach_is_estimated() {
        let mut sketch = Sketch::new(1 << 20);
        assert_eq!(sketch.reached_by(10), 1);
        (0..100).for_each(|pair| sketch.add(pair, pair + 7, u64::from(pair) + 1));
        let sum = sketch.reached_by(10);
        assert!((80..=100).contains(&sum), "{sum}");
        assert_eq!(sketch.reached_by(1_000), 1);
    }
}
