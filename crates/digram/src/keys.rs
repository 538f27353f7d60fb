//! Keys of short pretokens and tokens, for tables: their bytes and their length as one number.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu::SimdLevel;

/// Consecutive pretokens of a text.
#[derive(Clone, Copy)]
pub(crate) struct Pretokens<'t> {
    pub(crate) text: &'t [u8],
    /// The start of the first.
    pub(crate) start: usize,
    /// The ends of all.
    pub(crate) ends: &'t [usize],
}

/// How the keys and hashes of consecutive pretokens are computed.
#[derive(Clone, Copy)]
pub(crate) struct KeyRule {
    /// Bits that are added to each key.
    pub(crate) owner: u128,
    pub(crate) seeds: [u64; 2],
    /// See [`Places`].
    pub(crate) places: Places,
}

impl KeyRule {
    /// Writes the keys and places of the first of some pretokens, if the processor can compute several at once;
    /// otherwise of none. There are at most as many pretokens as `keys` and as `places`, and at most 256. `ahead` is
    /// called with each place, so that memory is prefetched between computations: prefetched all at once, a part of
    /// it waits.
    ///
    /// Returns the number of pretokens, a multiple of four, and a word with a bit for each four of which one has
    /// more than [`TokenKey::MAX`] bytes; the key and the place of such a one have no meaning.
    #[inline(always)]
    pub(crate) fn by_fours(
        self,
        simd: SimdLevel,
        pretokens: Pretokens<'_>,
        keys: &mut [u128],
        places: &mut [u32],
        ahead: impl Fn(u32),
    ) -> (usize, u64) {
        match simd {
            // SAFETY: a level is chosen only where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { avx512::by_fours(self, pretokens, keys, places, ahead) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { avx2::by_fours(self, pretokens, keys, places, ahead) },
            SimdLevel::Plain => (0, 0),
        }
    }
}

/// The number of pretokens whose keys are computed at once.
#[cfg(target_arch = "x86_64")]
const FOUR: usize = 4;

/// The number of the first of some pretokens, a multiple of four, such that 16 bytes from the start of each are in the
/// text.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn readable_fours(Pretokens { text, ends, .. }: Pretokens<'_>) -> usize {
    let mut count = ends.len() / FOUR * FOUR;
    while count > 0 && ends[count - 2] + 16 > text.len() {
        count -= FOUR;
    }
    count
}

/// The places of hashes in a table whose size is a power of two, up to 2^32: their upper bits, so that the order of
/// two hashes is that of their places in tables of any size.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// The number of lower bits that are left out.
    shift: u32,
}

impl Places {
    #[inline(always)]
    pub(crate) fn of(size: usize) -> Places {
        Places { shift: u32::BITS - size.trailing_zeros() }
    }

    #[inline(always)]
    pub(crate) fn place(self, hash: u32) -> usize {
        (u64::from(hash) >> self.shift) as usize
    }
}

/// Up to 15 bytes and their length as one number. Longer inputs map to keys that no token has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenKey(u128);

impl TokenKey {
    pub(crate) const MAX: usize = 15;

    /// The key of the empty string, which no token has.
    pub(crate) const NONE: TokenKey = TokenKey(0);

    /// For each length, the mask of its bytes within 16 bytes.
    const MASKS: [u128; TokenKey::MAX + 2] = {
        let mut masks = [0; TokenKey::MAX + 2];
        let mut len = 0;
        while len <= TokenKey::MAX {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    /// The key of `text[start..end]`.
    #[inline(always)]
    pub(crate) fn new(text: &[u8], start: usize, end: usize) -> TokenKey {
        let len = (end - start).min(TokenKey::MAX + 1);
        // Reading past the end and masking takes the same few instructions for any length.
        TokenKey(sixteen_bytes(text, start) & TokenKey::MASKS[len] | (len as u128) << (8 * TokenKey::MAX))
    }

    /// The key as a number: the bytes, the first lowest, and their length above them.
    #[inline(always)]
    pub(crate) fn number(self) -> u128 {
        self.0
    }

    #[inline(always)]
    pub(crate) fn of_number(number: u128) -> TokenKey {
        TokenKey(number)
    }

    /// Whether the input was longer than a key holds.
    #[inline]
    pub(crate) fn is_long(self) -> bool {
        self.0 >> (8 * TokenKey::MAX) > TokenKey::MAX as u128
    }

    /// The bytes, padded with zeros, and their length in the last byte; 16 if there are more.
    #[inline(always)]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// A hash. Without the seeds nobody can construct keys that collide.
    ///
    /// Of the four words of 32 bits, each with a seed added, two and two are multiplied, as in UMAC: four such
    /// products fit into a vector of AVX-512, and two into one of AVX2.
    #[inline(always)]
    pub(crate) fn hash(self, seeds: [u64; 2]) -> u32 {
        let product = |half: u64, seeds: u64| {
            let low = (half as u32).wrapping_add(seeds as u32);
            let high = ((half >> 32) as u32).wrapping_add((seeds >> 32) as u32);
            u64::from(low) * u64::from(high)
        };
        let sum = product(self.0 as u64, seeds[0]).wrapping_add(product((self.0 >> 64) as u64, seeds[1]));
        // The lower bits of a product depend on few bits of its factors, as the upper ones nearly do.
        (sum ^ sum >> 32) as u32
    }
}

/// The 16 bytes of a text from `start` on as a number, the first lowest, with zeros past the end of the text.
#[inline(always)]
pub(crate) fn sixteen_bytes(text: &[u8], start: usize) -> u128 {
    if start as isize <= text.len() as isize - 16 {
        // SAFETY: 16 bytes from `start` on are in the text.
        u128::from_le(unsafe { text.as_ptr().add(start).cast::<u128>().read_unaligned() })
    } else {
        sixteen_bytes_near_end(text, start)
    }
}

#[cold]
fn sixteen_bytes_near_end(text: &[u8], start: usize) -> u128 {
    let rest = &text[start..];
    // Copying a number of bytes that the compiler does not know is a call.
    if let (Some(last), false) = (text.last_chunk::<16>(), rest.is_empty()) {
        return u128::from_le_bytes(*last) >> (8 * (16 - rest.len()));
    }
    let mut bytes = [0; 16];
    bytes[..rest.len()].copy_from_slice(rest);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::seeds;

    #[test]
    fn keys_by_fours_are_those_of_each_pretoken() {
        let mut state = 1u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state >> 8) as usize % below
        };
        let (mut by_fours, mut long_fours) = (0, 0);
        for round in 0..2_000 {
            let before = next(20);
            let mut ends = Vec::new();
            let longest = [3, 15, 17, 300][round % 4];
            let mut end = before;
            for _ in 0..next(130) {
                end += 1 + next(longest);
                ends.push(end);
            }
            let text: Vec<u8> = (0..end + next(40)).map(|_| next(256) as u8).collect();
            let owner = (next(4) as u128) << 126;
            let rule = KeyRule { owner, seeds: seeds(), places: Places::of(1 << next(33)) };
            let pretokens = Pretokens { text: &text, start: before, ends: &ends };
            for simd in SimdLevel::available() {
                let (mut keys, mut places) = ([0; 130], [0; 130]);
                let (count, long) = rule.by_fours(simd, pretokens, &mut keys, &mut places, |_| {});
                let mut start = before;
                for (number, &end) in ends[..count].iter().enumerate() {
                    let key = TokenKey::new(&text, start, end);
                    if key.is_long() {
                        assert!(long >> (number / 4) & 1 == 1);
                        long_fours += 1;
                    } else {
                        let key = key.number() | owner;
                        let place = rule.places.place(TokenKey::of_number(key).hash(rule.seeds)) as u32;
                        assert_eq!((keys[number], places[number]), (key, place), "{simd:?}");
                    }
                    start = end;
                }
                if simd == SimdLevel::Plain {
                    assert_eq!((count, long), (0, 0));
                } else {
                    by_fours += count;
                }
            }
        }
        let can = SimdLevel::best() != SimdLevel::Plain;
        assert!(!can || by_fours > 50_000 && long_fours > 1_000, "{by_fours}, {long_fours}");
    }

    #[test]
    fn hashes_of_similar_words_differ() {
        // The words of one to four letters, as English has them: a table of as many lines as words has no more
        // lines with three and more of them than for random hashes, of which 8 % have.
        let letters = b"abcdefghijklmnopqrstuvwxyz";
        let words: Vec<Vec<u8>> = (0..60_000usize)
            .map(|number| {
                let letter = |place: u32| letters[number / 26usize.pow(place) % 26];
                let word = [b' ', letter(0), letter(1), letter(2), letter(3)];
                word[number % 2..].to_vec()
            })
            .collect();
        let count = words.iter().collect::<std::collections::HashSet<_>>().len();
        for _ in 0..5 {
            let (seeds, mut lines) = (seeds(), vec![0; count.next_power_of_two()]);
            let places = Places::of(lines.len());
            for word in words.iter().collect::<std::collections::HashSet<_>>() {
                lines[places.place(TokenKey::new(word, 0, word.len()).hash(seeds))] += 1;
            }
            let full = lines.iter().filter(|&&words| words > 2).count();
            assert!(full * 10 < lines.len(), "{full} of {}", lines.len());
        }
    }
}
