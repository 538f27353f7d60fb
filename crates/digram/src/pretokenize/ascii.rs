//! Classes and groups of 64 ASCII characters at once.
//!
//! A table of 128 entries is eight shuffles of 16 for a processor that has them: for each value of
//! the upper bits of a character its row is asked with the lower bits, and of the eight answers the
//! right one kept. All ways give the same; the tests hold each against the plain one.

use super::alphabet::Class;
use super::grouping::ALWAYS;

/// How many characters are looked up at once.
pub(super) const BLOCK: usize = 64;

/// What is asked about each ASCII character.
pub(super) struct Ascii {
    classes: [Class; 128],
    /// A group, or a number from [`ALWAYS`] on.
    groups: [u8; 128],
    way: Way,
}

/// The instructions to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Way {
    /// What this processor can do, the fastest first.
    fn available() -> Vec<Way> {
        let mut ways = vec![Way::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                ways.insert(0, Way::Avx2);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                ways.insert(0, Way::Avx512);
            }
        }
        ways
    }
}

impl Ascii {
    /// The tables of what `entry` says of each character.
    pub(super) fn new(entry: impl Fn(char) -> (Class, u8)) -> Ascii {
        let of = |byte: usize| entry(char::from(byte as u8));
        Ascii {
            classes: std::array::from_fn(|byte| of(byte).0),
            groups: std::array::from_fn(|byte| of(byte).1),
            way: Way::available()[0],
        }
    }

    /// The class and the group of one character.
    #[inline]
    pub(super) fn entry(&self, byte: u8) -> (Class, u8) {
        (self.classes[byte as usize & 127], self.groups[byte as usize & 127])
    }

    /// Writes the classes of ASCII characters; gives a word with a bit for each that is of another
    /// group than the one before it, or of a class that is always stepped.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK]) -> u64 {
        match self.way {
            Way::Plain => self.plain(bytes, classes),
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { self.avx2(bytes, classes) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { self.avx512(bytes, classes) },
        }
    }

    fn plain(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK]) -> u64 {
        let mut groups = [0; BLOCK + 1];
        for (offset, &byte) in bytes.iter().enumerate() {
            (classes[offset], groups[offset + 1]) = self.entry(byte);
        }
        let mut places = 0;
        for (offset, pair) in groups.windows(2).enumerate() {
            places |= u64::from((pair[0] != pair[1]) | (pair[1] >= ALWAYS)) << offset;
        }
        places
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK]) -> u64 {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        let mut places = 0;
        let mut before = _mm256_setzero_si256();
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let text = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(text), _mm256_set1_epi8(7));
            let (mut class, mut group) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            for number in 0..8 {
                let here = _mm256_cmpeq_epi8(upper, _mm256_set1_epi8(number as i8));
                let keep = |table| _mm256_and_si256(here, _mm256_shuffle_epi8(row(table, number), text));
                class = _mm256_or_si256(class, keep(&self.classes));
                group = _mm256_or_si256(group, keep(&self.groups));
            }
            // SAFETY: as for the text.
            unsafe { _mm256_storeu_si256(classes.as_mut_ptr().add(32 * half).cast(), class) };
            let lanes = _mm256_permute2x128_si256::<0x21>(before, group);
            let same = _mm256_cmpeq_epi8(group, _mm256_alignr_epi8::<15>(group, lanes));
            let place = !(_mm256_movemask_epi8(same) as u32) | _mm256_movemask_epi8(group) as u32;
            places |= u64::from(place) << (32 * half);
            before = group;
        }
        places
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK]) -> u64 {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        // SAFETY: the array has 64 bytes.
        let text = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(text), _mm512_set1_epi8(7));
        let (mut class, mut group) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for number in 0..8 {
            let here = _mm512_cmpeq_epi8_mask(upper, _mm512_set1_epi8(number as i8));
            class = _mm512_mask_shuffle_epi8(class, here, row(&self.classes, number), text);
            group = _mm512_mask_shuffle_epi8(group, here, row(&self.groups, number), text);
        }
        // SAFETY: the array has 64 bytes.
        unsafe { _mm512_storeu_si512(classes.as_mut_ptr().cast(), class) };
        let lanes = _mm512_alignr_epi64::<6>(group, _mm512_setzero_si512());
        let before = _mm512_alignr_epi8::<15>(group, lanes);
        _mm512_cmpneq_epi8_mask(group, before) | _mm512_movepi8_mask(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_give_the_same() {
        let mut random = 1u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize
        };
        for _ in 0..200 {
            let entries: Vec<(Class, u8)> =
                (0..128).map(|_| (next() as u8 % 24, [0, 1, 2, 3, ALWAYS, ALWAYS | 1][next() % 6])).collect();
            let mut ascii = Ascii::new(|c| entries[c as usize]);
            for _ in 0..50 {
                let span = 1 + next() % 128;
                let bytes: [u8; BLOCK] = std::array::from_fn(|_| (next() % span) as u8);
                let mut results = Vec::new();
                for way in Way::available() {
                    ascii.way = way;
                    let mut classes = [0; BLOCK];
                    let places = ascii.read(&bytes, &mut classes);
                    results.push((way, places, classes));
                }
                let (_, places, classes) = results[results.len() - 1];
                for (offset, &byte) in bytes.iter().enumerate() {
                    let (class, group) = entries[byte as usize];
                    assert_eq!(classes[offset], class);
                    let before = offset.checked_sub(1).map(|before| entries[bytes[before] as usize].1);
                    let place = group >= ALWAYS || before.is_some_and(|before| before != group);
                    assert!(offset == 0 || (places >> offset & 1 == 1) == place);
                }
                for (way, other, others) in results {
                    assert_eq!((places | 1, classes), (other | 1, others), "{way:?}");
                }
            }
        }
    }
}
