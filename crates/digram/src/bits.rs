//! Sets of numbers: the bits of a word, and larger ones that may say yes too often.

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

/// The numbers of the bits that are set, the lowest first.
#[inline(always)]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (lowest < u64::BITS as usize).then_some(lowest)
    })
}
