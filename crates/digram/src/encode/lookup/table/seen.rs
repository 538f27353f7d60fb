//! How often a thread has seen words.

/// The number of places: with two bits each 64 KiB, which stay in a near cache.
const PLACES: usize = 1 << 18;

/// The places in a word of bits.
const PLACES_IN_WORD: usize = u64::BITS as usize / 2;

/// The words that a thread has seen once or more often, at the place of their hash, so that a new word may be taken for
/// one of them by chance. When half of the places are used, all are forgotten.
#[derive(Default)]
pub(super) struct Seen {
    bits: Vec<u64>,
    used: usize,
}

/// How often a word was seen before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::encode::lookup) enum Sight {
    First,
    Second,
    Later,
}

impl Seen {
    /// Allocates memory for the first word, and returns how many bytes; `None` if there is some, or none can be had.
    #[inline]
    pub(super) fn prepare(&mut self) -> Option<usize> {
        if self.bits.is_empty() { self.allocate() } else { None }
    }

    #[cold]
    fn allocate(&mut self) -> Option<usize> {
        let words = PLACES / PLACES_IN_WORD;
        self.bits.try_reserve_exact(words).ok()?;
        self.bits.resize(words, 0);
        Some(size_of_val(&self.bits[..]))
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
        self.used = 0;
    }

    /// Adds a word by its hash, and returns how often it was seen before. Without memory, no word was seen.
    #[inline]
    pub(super) fn add(&mut self, hash: u32) -> Sight {
        if self.used > PLACES / 2 {
            self.clear();
        }
        // The upper bits are the well-mixed ones.
        let place = hash as usize >> (u32::BITS - PLACES.ilog2());
        let Some(bits) = self.bits.get_mut(place / PLACES_IN_WORD) else { return Sight::First };
        let shift = 2 * (place % PLACES_IN_WORD);
        let count = *bits >> shift & 3;
        *bits |= (count << 1 | 1) << shift;
        self.used += usize::from(count == 0);
        match count {
            0 => Sight::First,
            1 => Sight::Second,
            _ => Sight::Later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_until_all_are_forgotten() {
        let mut seen = Seen::default();
        assert_eq!((seen.add(7), seen.add(7)), (Sight::First, Sight::First), "there is no memory yet");
        assert_eq!((seen.prepare(), seen.prepare()), (Some(64 << 10), None));
        let hash = |number: u32| number.wrapping_mul(0x9e37_79b9);
        let mut count = |numbers: std::ops::Range<u32>, sight| {
            numbers.filter(|&number| seen.add(hash(number)) == sight).count()
        };
        let first = count(0..1_000, Sight::First);
        assert!((980..=1_000).contains(&first), "{first} of 1,000");
        let second = count(0..1_000, Sight::Second);
        assert!((960..=1_000).contains(&second), "{second} of 1,000");
        assert_eq!(count(0..1_000, Sight::Later), 1_000);
        let all = count(0..300_000, Sight::First);
        assert!((150_000..300_000).contains(&all), "{all} of 300,000");
        assert!(count(0..1_000, Sight::First) > 0, "all were forgotten");
    }
}
