//! Sets of characters by AVX2.

use std::arch::x86_64::*;

use super::{Ascii, BLANKS, BLOCK, Block, Row, Sets, row_number};
use crate::masks::{highest_bits, sixteen};

/// The bytes after a block that are read too: the others of a character of three bytes.
const MORE: usize = 2;

/// The bytes after a block that may belong to its last character, and one more.
const BEYOND: usize = 4;

/// The bits of the part of a row that the second byte from the end of a character selects, and then the last one.
const BITS: [i8; 16] = [1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128];

impl<const N: usize> Sets<N> {
    /// The characters that begin in the 64 bytes from an offset on, of which those of `inside` belong to a character
    /// before it. `None` if there are bytes that do not have the form of UTF-8. Overlong forms count as what they stand
    /// for.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(in crate::normalize) fn read(&self, text: &[u8], start: usize, inside: u64) -> Option<Block<N>> {
        let rest = text.get(start..)?;
        let mut copy = [0; BLOCK + MORE];
        let bytes = block_of(rest, &mut copy);
        let first = Halves::of(bytes, 0);
        let mixed = self.mixed(&first);
        let high = first.high();
        if high == 0 {
            return Some(Block::ascii(rest.len()));
        }
        let leads = [0xc0, 0xe0, 0xf0].map(|byte| first.at_least(byte));
        let mut block = Block::of(rest, high, leads, inside)?;
        block.mixed = mixed;
        if mixed != 0 {
            self.look_up(&first, bytes, leads, &mut block);
        }
        Some(block)
    }

    /// Looks up the characters that may be unusual.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn look_up(
        &self,
        first: &Halves,
        bytes: &[u8; BLOCK + MORE],
        [_, three, four]: [u64; 3],
        block: &mut Block<N>,
    ) {
        let mut remaining = block.mixed & !four;
        let second = Halves::of(bytes, 1);
        let twos = Parts::of(first, &second);
        let threes = Parts::of(&second, &Halves::of(bytes, 2));
        while remaining != 0 {
            let offset = remaining.trailing_zeros() as usize;
            let [a, b] = [bytes[offset], bytes[offset + 1]];
            let (parts, same) = match three >> offset & 1 {
                0 => (&twos, first.same_but_last_bit(a)),
                _ => (&threes, first.equal(a) & second.same_but_last_bit(b)),
            };
            let same = same & remaining;
            let row = &self.rows[usize::from(self.numbers[row_number(a, b)])];
            parts.add(row, same, &mut block.sets);
            remaining &= !same;
        }
    }

    /// The first bytes of characters that may be unusual.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn mixed(&self, first: &Halves) -> u64 {
        let by_low = sixteen(&self.mixed);
        let by_high = sixteen(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8]);
        let four = _mm256_set1_epi8(0xf);
        first.mask(|half| {
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(half), four);
            let bit = _mm256_shuffle_epi8(by_high, high);
            let set = _mm256_shuffle_epi8(by_low, _mm256_and_si256(half, four));
            _mm256_cmpgt_epi8(_mm256_and_si256(set, bit), _mm256_setzero_si256())
        })
    }
}

impl<const N: usize> Block<N> {
    /// A block with these bytes beyond ASCII and first bytes of at least two, three and four, in no set yet. `None` if
    /// first bytes are not followed by the right number of others.
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    #[inline]
    pub(super) fn of(rest: &[u8], high: u64, [two, three, four]: [u64; 3], inside: u64) -> Option<Block<N>> {
        let beyond = two >> 63 | three >> 62 | four >> 61;
        // Without a branch on whether there are such bytes, which depends on each character.
        let next = rest.get(BLOCK..).map_or([0; BEYOND], |next| match next.first_chunk() {
            Some(next) => *next,
            None => std::array::from_fn(|at| next.get(at).copied().unwrap_or_default()),
        });
        let next = u32::from_le_bytes(next);
        let inside_next = _pext_u32(next, 0x8080_8080) & !_pext_u32(next, 0x4040_4040);
        let expected = inside | two << 1 | three << 2 | four << 3;
        if (high & !two != expected) | (beyond & !u64::from(inside_next) != 0) {
            return None;
        }
        let len = rest.len().min(BLOCK + beyond.count_ones() as usize);
        Some(Block { mixed: 0, sets: [0; N], leads: two, inside: expected, beyond, len })
    }
}

impl Ascii {
    /// The bytes of a text from an offset on.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(in crate::normalize) fn at(text: &[u8], start: usize) -> Ascii {
        let mut copy = [0; BLOCK + MORE];
        let block = block_of(&text[start..], &mut copy);
        let (bytes, second) = (Halves::of(block, 0), Halves::of(block, 1));
        let (before, last) = (_mm256_set1_epi8(b' ' as i8 - 1), _mm256_set1_epi8(b'~' as i8));
        // Bytes beyond ASCII are negative.
        let printable = bytes
            .mask(|half| _mm256_andnot_si256(_mm256_cmpgt_epi8(half, last), _mm256_cmpgt_epi8(half, before)));
        let is_high = second.at_least(0xa0);
        let invalid =
            bytes.same_but_last_bit(0xc0) | bytes.equal(0xe0) & !is_high | bytes.equal(0xed) & is_high;
        let by_low = sixteen(&BLANKS);
        let blanks = bytes.mask(|half| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(by_low, half), half));
        Ascii { printable, spaces: bytes.equal(b' '), blanks, invalid }
    }
}

/// The first bytes of a text, with zeros behind it.
#[inline(always)]
fn block_of<'a>(text: &'a [u8], copy: &'a mut [u8; BLOCK + MORE]) -> &'a [u8; BLOCK + MORE] {
    text.first_chunk::<{ BLOCK + MORE }>().unwrap_or_else(|| {
        copy[..text.len()].copy_from_slice(text);
        copy
    })
}

/// The place of each character in its row.
struct Parts {
    /// The lower four bits.
    byte: Halves,
    /// The bit that the next three select.
    bit: Halves,
}

impl Parts {
    /// The places of characters whose last bytes are these.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(before: &Halves, last: &Halves) -> Parts {
        // SAFETY: there are 16 bytes.
        let bits = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(BITS.as_ptr().cast()) });
        let (four, three, one) = (_mm256_set1_epi8(0xf), _mm256_set1_epi8(3), _mm256_set1_epi8(1));
        let bit = |before: __m256i, last: __m256i| {
            let lower = _mm256_and_si256(_mm256_srli_epi16::<4>(last), three);
            let upper = _mm256_slli_epi16::<2>(_mm256_and_si256(before, one));
            _mm256_shuffle_epi8(bits, _mm256_or_si256(lower, upper))
        };
        Parts {
            byte: Halves(last.0.map(|half| _mm256_and_si256(half, four))),
            bit: Halves([bit(before.0[0], last.0[0]), bit(before.0[1], last.0[1])]),
        }
    }

    /// Adds to each set the characters `same` that are in it by a row.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn add<const N: usize>(&self, row: &Row<N>, same: u64, sets: &mut [u64; N]) {
        for (set, bytes) in sets.iter_mut().zip(row) {
            let bytes = sixteen(bytes);
            let [low, high] = [0, 1].map(|half| {
                let bytes = _mm256_shuffle_epi8(bytes, self.byte.0[half]);
                let bit = self.bit.0[half];
                highest_bits(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit))
            });
            *set |= (low | high << 32) & same;
        }
    }
}

/// 64 bytes.
struct Halves([__m256i; 2]);

impl Halves {
    /// The bytes from an offset on.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of(bytes: &[u8; BLOCK + MORE], offset: usize) -> Halves {
        let bytes = &bytes[offset..][..BLOCK];
        // SAFETY: these are two times 32 bytes.
        Halves([0, 32].map(|at| unsafe { _mm256_loadu_si256(bytes.as_ptr().add(at).cast()) }))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn mask(&self, of: impl Fn(__m256i) -> __m256i) -> u64 {
        // Not by `map`, which the compiler leaves a function of its own in some builds.
        let [low, high] = self.0;
        highest_bits(of(low)) | highest_bits(of(high)) << 32
    }

    /// The bytes that are not ASCII.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn high(&self) -> u64 {
        self.mask(|half| half)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn at_least(&self, byte: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte as i8);
        self.mask(|half| _mm256_cmpeq_epi8(_mm256_max_epu8(half, byte), half))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn equal(&self, byte: u8) -> u64 {
        let byte = _mm256_set1_epi8(byte as i8);
        self.mask(|half| _mm256_cmpeq_epi8(half, byte))
    }

    /// The bytes that are a byte or differ from it in the last bit.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn same_but_last_bit(&self, byte: u8) -> u64 {
        let (one, byte) = (_mm256_set1_epi8(1), _mm256_set1_epi8((byte | 1) as i8));
        self.mask(|half| _mm256_cmpeq_epi8(_mm256_or_si256(half, one), byte))
    }
}
