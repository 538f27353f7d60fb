//! Classes and groups of 64 characters at once.
//!
//! A table of 128 entries is eight shuffles of 16 for a processor that has them: for each value of
//! the upper bits of a character its row is asked with the lower bits, and of the eight answers the
//! right one kept. All ways give the same; the tests hold each against the plain one.
//!
//! Characters that are not ASCII are looked up one by one and put in their places among the others.

use super::alphabet::Class;
use super::grouping::ALWAYS;
use crate::memory::Way;

/// How many characters are looked up at once.
pub(super) const BLOCK: usize = 64;

/// What is asked about each ASCII character.
pub(super) struct Ascii {
    classes: [Class; 128],
    /// A group, or a number from [`ALWAYS`] on.
    groups: [u8; 128],
    way: Way,
}

impl Ascii {
    /// The tables of what `entry` says of each character.
    pub(super) fn new(entry: impl Fn(char) -> (Class, u8)) -> Ascii {
        let of = |byte: usize| entry(char::from(byte as u8));
        Ascii {
            classes: std::array::from_fn(|byte| of(byte).0),
            groups: std::array::from_fn(|byte| of(byte).1),
            way: Way::best(),
        }
    }

    /// The class and the group of one character.
    #[inline]
    pub(super) fn entry(&self, byte: u8) -> (Class, u8) {
        (self.classes[byte as usize & 127], self.groups[byte as usize & 127])
    }

    /// Writes the class and the group of each ASCII character; of other bytes, of anything.
    #[inline]
    pub(super) fn read(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK], groups: &mut [u8; BLOCK]) {
        match self.way {
            Way::Plain => self.plain(bytes, classes, groups),
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { self.avx2(bytes, classes, groups) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { self.avx512(bytes, classes, groups) },
        }
    }

    fn plain(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK], groups: &mut [u8; BLOCK]) {
        for (offset, &byte) in bytes.iter().enumerate() {
            (classes[offset], groups[offset]) = self.entry(byte);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK], groups: &mut [u8; BLOCK]) {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        for half in 0..2 {
            // SAFETY: 32 bytes from the start of either half.
            let text = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * half).cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(text), _mm256_set1_epi8(7));
            let lower = _mm256_and_si256(text, _mm256_set1_epi8(15));
            let (mut class, mut group) = (_mm256_setzero_si256(), _mm256_setzero_si256());
            for number in 0..8 {
                let here = _mm256_cmpeq_epi8(upper, _mm256_set1_epi8(number as i8));
                let keep = |table| _mm256_and_si256(here, _mm256_shuffle_epi8(row(table, number), lower));
                class = _mm256_or_si256(class, keep(&self.classes));
                group = _mm256_or_si256(group, keep(&self.groups));
            }
            // SAFETY: as for the text.
            unsafe {
                _mm256_storeu_si256(classes.as_mut_ptr().add(32 * half).cast(), class);
                _mm256_storeu_si256(groups.as_mut_ptr().add(32 * half).cast(), group);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(&self, bytes: &[u8; BLOCK], classes: &mut [Class; BLOCK], groups: &mut [u8; BLOCK]) {
        use std::arch::x86_64::*;
        let row = |table: &[u8; 128], row: usize| {
            // SAFETY: 16 bytes from the start of one of the eight rows.
            _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * row).cast()) })
        };
        // SAFETY: the array has 64 bytes.
        let text = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(text), _mm512_set1_epi8(7));
        let lower = _mm512_and_si512(text, _mm512_set1_epi8(15));
        let (mut class, mut group) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for number in 0..8 {
            let here = _mm512_cmpeq_epi8_mask(upper, _mm512_set1_epi8(number as i8));
            class = _mm512_mask_shuffle_epi8(class, here, row(&self.classes, number), lower);
            group = _mm512_mask_shuffle_epi8(group, here, row(&self.groups, number), lower);
        }
        // SAFETY: the arrays have 64 bytes.
        unsafe {
            _mm512_storeu_si512(classes.as_mut_ptr().cast(), class);
            _mm512_storeu_si512(groups.as_mut_ptr().cast(), group);
        }
    }
}

/// A word with a bit for each byte of another group than the one before it, and for each of a
/// group that is always stepped.
#[inline]
pub(super) fn changes(groups: &[u8; BLOCK]) -> u64 {
    let mut before = [0; BLOCK];
    before[1..].copy_from_slice(&groups[..BLOCK - 1]);
    let change = |offset: usize| (groups[offset] != before[offset]) | (groups[offset] >= ALWAYS);
    word(change)
}

/// A word with a bit for each of `bytes` that is `byte`.
#[inline]
pub(super) fn equal(bytes: &[u8; BLOCK], byte: u8) -> u64 {
    word(|offset| bytes[offset] == byte)
}

/// A word of 64 answers.
#[inline(always)]
fn word(answer: impl Fn(usize) -> bool) -> u64 {
    // First a byte each, then eight of them to a byte by one multiplication: both are forms that
    // compilers turn into instructions for vectors, or into few.
    let answers: [u8; BLOCK] = std::array::from_fn(|offset| u8::from(answer(offset)));
    let mut word = 0;
    for (number, eight) in answers.chunks_exact(8).enumerate() {
        let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        word |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number);
    }
    word
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
                    let (mut classes, mut groups) = ([0; BLOCK], [0; BLOCK]);
                    ascii.read(&bytes, &mut classes, &mut groups);
                    results.push((way, classes, groups));
                }
                for (way, classes, groups) in results {
                    for (offset, &byte) in bytes.iter().enumerate() {
                        assert_eq!((classes[offset], groups[offset]), entries[byte as usize], "{way:?}");
                    }
                    let changes = changes(&groups);
                    for offset in 0..BLOCK {
                        let before = if offset == 0 { 0 } else { groups[offset - 1] };
                        let expected = groups[offset] != before || groups[offset] >= ALWAYS;
                        assert_eq!(changes >> offset & 1 == 1, expected, "{offset}");
                        let byte = bytes[next() % BLOCK];
                        assert_eq!(equal(&bytes, byte) >> offset & 1 == 1, bytes[offset] == byte);
                    }
                }
            }
        }
    }
}
