//! Sets of numbers: the bits of a word, pairs of ASCII characters, and larger ones that may say yes
//! too often.

use std::hash::{BuildHasher, RandomState};

/// A set of numbers of which only the lowest bits are told apart: what it holds not was never put
/// in, and what it holds may have been. Small enough to lie near where the exact answer is far.
#[derive(Clone)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// An empty set that tells `size` numbers apart, or somewhat more.
    pub(crate) fn new(size: usize) -> Bits {
        Bits { words: vec![0; size.next_power_of_two().max(64) / 64] }
    }

    /// A set that tells so many numbers apart that about one in `sparsity` is in it.
    pub(crate) fn of(mut numbers: Vec<u64>, sparsity: usize) -> Bits {
        numbers.sort_unstable();
        numbers.dedup();
        let mut bits = Bits::new(numbers.len() * sparsity);
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }

    pub(crate) fn insert(&mut self, number: u64) {
        let mask = self.words.len() - 1;
        self.words[(number as usize / 64) & mask] |= 1 << (number % 64);
    }

    #[inline]
    pub(crate) fn may_hold(&self, number: u64) -> bool {
        let mask = self.words.len() - 1;
        self.words[(number as usize / 64) & mask] >> (number % 64) & 1 == 1
    }
}

/// Two numbers that nobody knows beforehand: what hashes of things from outside are made with, so that
/// no file can hold things that all share a place. The second, that is multiplied with, is odd.
pub(crate) fn seeds() -> [u64; 2] {
    let random = RandomState::new();
    [random.hash_one(0u64), random.hash_one(1u64) | 1]
}

/// A set of hashes that may say yes too often: to 3 to 6 of a hundred that are not in it.
///
/// Each has two bits, both in one word, so that a question reads memory once. One bit each in twice
/// the memory said yes to as many, and lay farther away. Three bits said yes to fewer, and merging
/// words took as long.
#[derive(Clone)]
pub(crate) struct Hashes {
    words: Vec<u64>,
}

impl Hashes {
    /// Bits for each hash.
    const BITS: usize = 8;

    /// The bits of a hash that choose its two bits in a word; those above choose the word.
    const IN_WORD: u32 = 2 * u64::BITS.ilog2();

    /// An empty set with room for so many.
    pub(crate) fn new(count: usize) -> Hashes {
        Hashes { words: vec![0; (count * Hashes::BITS).next_power_of_two().max(64) / 64] }
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        let place = self.place(hash);
        self.words[place] |= Hashes::two(hash);
    }

    #[inline]
    pub(crate) fn may_hold(&self, hash: u64) -> bool {
        self.words[self.place(hash)] & Hashes::two(hash) == Hashes::two(hash)
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash >> Hashes::IN_WORD) as usize & (self.words.len() - 1)
    }

    #[inline]
    fn two(hash: u64) -> u64 {
        1 << (hash % 64) | 1 << (hash / 64 % 64)
    }
}

/// A set of pairs of ASCII characters: 2 KiB that answer at once what takes long to find out.
pub(crate) struct AsciiPairs(Box<[u128; 128]>);

impl AsciiPairs {
    /// Those for which `is` holds.
    pub(crate) fn of(is: impl Fn(u8, u8) -> bool) -> AsciiPairs {
        let after = |before: u8| {
            let held = (0..128).filter(|&after| is(before, after));
            held.fold(0, |bits, after| bits | 1 << after)
        };
        AsciiPairs(Box::new(std::array::from_fn(|before| after(before as u8))))
    }

    /// Whether it holds a pair; none if they are not both ASCII.
    #[inline]
    pub(crate) fn has(&self, before: u8, after: u8) -> Option<bool> {
        match (before, after) {
            (0..128, 0..128) => Some(self.0[usize::from(before)] >> after & 1 == 1),
            _ => None,
        }
    }
}

/// The numbers of the bits that are set, the lowest first.
#[inline(always)]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (lowest < u64::BITS as usize).then_some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_told_apart_by_order() {
        let pairs = AsciiPairs::of(|before, after| before < after);
        assert_eq!(
            [pairs.has(0, 127), pairs.has(127, 0), pairs.has(5, 5)],
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!([pairs.has(0, 128), pairs.has(128, 0)], [None; 2]);
    }

    #[test]
    fn hashes_that_were_put_in_are_held_and_few_others() {
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(32);
        for count in [0, 1, 1 << 17, 99_744, 199_742] {
            let mut hashes = Hashes::new(count as usize);
            (0..count).for_each(|number| hashes.insert(hash(number)));
            assert!((0..count).all(|number| hashes.may_hold(hash(number))));
            let others = (count..count + 100_000).filter(|&number| hashes.may_hold(hash(number))).count();
            assert!(others < 6_000, "{others} of 100 000 beside {count}");
        }
    }
}
