//! Bit sets: the bits of a word, pairs of ASCII characters, and approximate sets of hashes.

use std::hash::{BuildHasher, RandomState};

use crate::cpu;

/// The size of a cache line, in words.
const LINE: usize = 64 / size_of::<u64>();

/// An approximate set of hashes, with one bit per hash. False positives occur, false negatives do not. It
/// stays in a smaller and faster cache of the processor than the exact set would.
#[derive(Clone)]
pub(crate) struct BitFilter {
    /// The number of words is a power of two.
    words: Vec<u64>,
}

impl BitFilter {
    /// An empty set of at least `size` bits.
    pub(crate) fn new(size: usize) -> BitFilter {
        BitFilter { words: vec![0; size.next_power_of_two().max(64) / 64] }
    }

    /// A set of `hashes`, in which at most one bit in `sparsity` is set.
    pub(crate) fn of(mut hashes: Vec<u64>, sparsity: usize) -> BitFilter {
        hashes.sort_unstable();
        hashes.dedup();
        let mut bits = BitFilter::new(hashes.len() * sparsity);
        hashes.into_iter().for_each(|hash| bits.insert(hash));
        bits
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        let mask = self.words.len() - 1;
        self.words[(hash as usize / 64) & mask] |= 1 << (hash % 64);
    }

    #[inline]
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        self.view().bit(hash) == 1
    }

    /// The set for use in a loop, which keeps it in registers.
    #[inline(always)]
    pub(crate) fn view(&self) -> BitFilterView<'_> {
        BitFilterView { words: &self.words, mask: self.words.len() - 1 }
    }
}

/// See [`BitFilter::view`].
#[derive(Clone, Copy)]
pub(crate) struct BitFilterView<'a> {
    words: &'a [u64],
    mask: usize,
}

impl BitFilterView<'_> {
    /// 1 if the set may contain a hash, otherwise 0.
    #[inline(always)]
    pub(crate) fn bit(self, hash: u64) -> u64 {
        // SAFETY: the number of words is a power of two, so a masked index is in range.
        let word = unsafe { self.words.get_unchecked((hash as usize / 64) & self.mask) };
        word >> (hash % 64) & 1
    }

    /// The set as words of 32 bits, and the mask of their indices: bit `hash % 32` of word `hash / 32`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn words_of_32_bits(self) -> (*const u32, u32) {
        // Sets of more than 2^32 bits do not occur.
        debug_assert!(self.mask < 1 << 26);
        (self.words.as_ptr().cast(), (self.mask << 1 | 1) as u32)
    }
}

/// The factors of [`pair_hash`], for the left and the right number.
pub(crate) const PAIR_FACTORS: [u32; 2] = [0x9e37_79b9, 0x7f4a_7c15];

/// A hash of two numbers, for a [`BitFilter`]: of 32 bits, so that vectors compute many at once.
#[inline]
pub(crate) fn pair_hash(left: u32, right: u32) -> u64 {
    let [left_factor, right_factor] = PAIR_FACTORS;
    let sum = left.wrapping_mul(left_factor).wrapping_add(right.wrapping_mul(right_factor));
    u64::from(sum ^ sum >> 15)
}

/// Two random seeds for hashes of untrusted input, so that nobody can construct inputs that all collide.
pub(crate) fn seeds() -> [u64; 2] {
    let random = RandomState::new();
    seeds_of(|number| random.hash_one(number))
}

/// Two seeds of these random numbers. They are odd, and the upper half of neither is small: multiplying by one
/// loses no bit, and spreads numbers widely.
pub(crate) fn seeds_of(random: impl Fn(u64) -> u64) -> [u64; 2] {
    [0, 1].map(|number| random(number) | 1 << 63 | 1)
}

/// Bloom filter: no false negatives, and 3 to 6 % false positives.
///
/// A hash sets two bits in the same word, so that a query reads memory once. A filter with one bit per hash
/// needed twice the memory, in a slower cache, for as few false positives. Three bits per hash gave fewer
/// false positives, but did not make merging faster.
#[derive(Clone)]
pub(crate) struct BloomFilter {
    words: Vec<u64>,
}

impl BloomFilter {
    /// Bits of the filter per hash.
    const BITS: usize = 8;

    /// The low bits of a hash that select the two bits within a word; the bits above select the word.
    const IN_WORD: u32 = 2 * u64::BITS.ilog2();

    /// An empty filter for `count` hashes.
    pub(crate) fn new(count: usize) -> BloomFilter {
        BloomFilter { words: vec![0; (count * BloomFilter::BITS).next_power_of_two().max(64) / 64] }
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        let index = self.word_index(hash);
        self.words[index] |= BloomFilter::mask(hash);
    }

    /// Prefetches all of it.
    pub(crate) fn prefetch(&self) {
        self.words.chunks(LINE).for_each(|line| cpu::prefetch(line.as_ptr()));
    }

    #[inline]
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        // SAFETY: the number of words is a power of two, and the index has no other bits than those below it.
        let word = unsafe { *self.words.get_unchecked(self.word_index(hash)) };
        word & BloomFilter::mask(hash) == BloomFilter::mask(hash)
    }

    #[inline]
    fn word_index(&self, hash: u64) -> usize {
        (hash >> BloomFilter::IN_WORD) as usize & (self.words.len() - 1)
    }

    #[inline]
    /// The two bits of a hash within its word.
    fn mask(hash: u64) -> u64 {
        1 << (hash % 64) | 1 << (hash / 64 % 64)
    }
}

/// A set of pairs of ASCII characters, as a table of 2 KiB that caches a slow test: two words for each first one, and a
/// bit of them for each second one.
pub(crate) struct AsciiPairs(Box<[u64; 256]>);

impl AsciiPairs {
    /// The pairs for which `contains` returns true.
    pub(crate) fn of(contains: impl Fn(u8, u8) -> bool) -> AsciiPairs {
        AsciiPairs::of_rows(|before| ascii_set(|after| contains(before, after)))
    }

    /// The pairs of each first character with the second ones of its row.
    pub(crate) fn of_rows(row: impl Fn(u8) -> u128) -> AsciiPairs {
        let mut words = Box::new([0; 256]);
        for (before, words) in (0..).zip(words.as_chunks_mut().0) {
            let row = row(before);
            *words = [row as u64, (row >> 64) as u64];
        }
        AsciiPairs(words)
    }

    /// Whether the set contains a pair; `None` if one of the characters is not ASCII.
    #[inline]
    pub(crate) fn has(&self, before: u8, after: u8) -> Option<bool> {
        (before | after).is_ascii().then(|| self.has_ascii(before, after))
    }

    /// The same for two ASCII characters.
    #[inline(always)]
    pub(crate) fn has_ascii(&self, before: u8, after: u8) -> bool {
        self.0[usize::from(before << 1 | after >> 6)] >> (after & 63) & 1 == 1
    }
}

/// The ASCII characters for which `contains` returns true, a bit each.
pub(crate) fn ascii_set(contains: impl Fn(u8) -> bool) -> u128 {
    (0..128).filter(|&byte| contains(byte)).fold(0, |bits, byte| bits | 1 << byte)
}

/// The indices of the bits that are set, the lowest first.
#[inline(always)]
pub(crate) fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
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
    fn the_order_of_a_pair_matters() {
        let pairs = AsciiPairs::of(|before, after| before < after);
        assert_eq!(
            [pairs.has(0, 127), pairs.has(127, 0), pairs.has(5, 5)],
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!([pairs.has(0, 128), pairs.has(128, 0)], [None; 2]);
    }

    #[test]
    fn a_bloom_filter_has_no_false_negatives_and_few_false_positives() {
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(32);
        for count in [0, 1, 1 << 17, 99_744, 199_742] {
            let mut hashes = BloomFilter::new(count as usize);
            (0..count).for_each(|number| hashes.insert(hash(number)));
            assert!((0..count).all(|number| hashes.may_contain(hash(number))));
            let others = (count..count + 100_000).filter(|&number| hashes.may_contain(hash(number))).count();
            assert!(others < 6_000, "{others} of 100 000 beside {count}");
        }
    }
}
