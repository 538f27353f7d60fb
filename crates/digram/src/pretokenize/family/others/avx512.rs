//! Characters of two and three bytes by AVX-512.

use std::arch::x86_64::*;

use super::super::super::kinds::KindsOfOthers;
use super::super::classes::BLOCK;
use super::{MORE, Others, Row, attached, bit, common_bits, row_of, spaces_of};

/// The classes of all characters of two and three bytes, as sets of bits that vector instructions look up for 64
/// bytes at once.
pub(in crate::pretokenize::family) struct Bitmaps {
    /// For each bit: a set of the two-byte characters.
    two: [[u8; 256]; bit::COUNT],
    /// For the lower six bits of each first byte of two: the bits that all characters with that byte have, and those
    /// that some have.
    two_alike: [[u8; 64]; 2],
    /// For each first byte of three-byte characters, for each bit: a set of the characters with that first byte.
    three: [[[u8; 512]; bit::COUNT]; 16],
    /// For each first byte of three-byte characters: the bits that all of them have, or [`bit::MIXED`].
    uniform: [u8; 16],
    /// For each first byte of three-byte characters: the bits that some of them have.
    some: [u8; 16],
}

impl Bitmaps {
    pub(in crate::pretokenize::family) fn new(kinds: &KindsOfOthers) -> Box<Bitmaps> {
        let mut bitmaps = Box::new(Bitmaps {
            two: [[0; 256]; bit::COUNT],
            two_alike: [[0; 64]; 2],
            three: [[[0; 512]; bit::COUNT]; 16],
            uniform: [0; 16],
            some: [0; 16],
        });
        for (first, kinds) in kinds.of_two().iter().enumerate() {
            let row = row_of(kinds);
            put(&mut bitmaps.two, first, &row);
            for (number, &set) in row.iter().enumerate() {
                let which = usize::from(set != u64::MAX);
                bitmaps.two_alike[which][first] |= u8::from(set != 0) << number;
            }
        }
        let (blocks, numbers) = kinds.of_three();
        let rows: Vec<Row> = blocks.iter().map(row_of).collect();
        for (first, numbers) in numbers.as_chunks::<64>().0.iter().enumerate() {
            let rows = numbers.iter().map(|&number| &rows[usize::from(number)]);
            bitmaps.uniform[first] = common_bits(rows.clone());
            for (second, row) in rows.enumerate() {
                put(&mut bitmaps.three[first], second, row);
                let bits = (0..).zip(row).map(|(number, &set)| u8::from(set != 0) << number);
                bitmaps.some[first] |= bits.sum::<u8>();
            }
        }
        bitmaps
    }

    /// As [`Others::read`]; `None` if there are characters of four bytes, or bytes that do not have the form of
    /// UTF-8, or if the text ends within two bytes after the block. Overlong forms and surrogates are hard.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(in crate::pretokenize::family) fn read<const CASED: bool>(
        &self,
        high: u64,
        after_letters: u64,
        kinds: &KindsOfOthers,
        text: &[u8],
        start: usize,
    ) -> Option<Others> {
        let bytes = text.get(start..start + BLOCK + MORE)?;
        // SAFETY: 64 bytes from each of the first three on are in `bytes`.
        let from = |offset: usize| unsafe { _mm512_loadu_si512(bytes.as_ptr().add(offset).cast()) };
        let (first, second, third) = (from(0), from(1), from(2));
        let splat = |byte: u8| _mm512_set1_epi8(byte as i8);
        let firsts = _mm512_cmpge_epu8_mask(first, splat(0xc0));
        let three = _mm512_cmpge_epu8_mask(first, splat(0xe0));
        let two = firsts & !three;
        if high & !firsts != firsts << 1 | three << 2 || _mm512_cmpge_epu8_mask(first, splat(0xf0)) != 0 {
            return None;
        }
        // The eight bits of a byte of a set, each as a byte.
        let each_bit = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        // Five bits of one byte above bits 3 to 5 of the next.
        let index_of = |upper: __m512i, lower: __m512i| {
            let upper = _mm512_and_si512(_mm512_slli_epi16::<3>(upper), splat(0xf8));
            _mm512_or_si512(upper, _mm512_and_si512(_mm512_srli_epi16::<3>(lower), splat(7)))
        };
        let bit_of = |byte: __m512i| _mm512_shuffle_epi8(each_bit, _mm512_and_si512(byte, splat(7)));
        let count = if CASED { bit::COUNT } else { bit::HARD + 1 };
        let mut bits = [0u64; bit::COUNT];
        if two != 0 {
            // SAFETY: each table has 64 bytes.
            let alike = |table: &[u8; 64]| unsafe {
                _mm512_permutexvar_epi8(first, _mm512_loadu_si512(table.as_ptr().cast()))
            };
            let (all, some) = (alike(&self.two_alike[0]), alike(&self.two_alike[1]));
            let (index, bit) = (index_of(first, second), bit_of(second));
            for (number, (bits, set)) in bits.iter_mut().zip(&self.two).enumerate().take(count) {
                *bits = _mm512_mask_test_epi8_mask(two, all, splat(1 << number));
                // Most scripts have no marks, or no case, or nothing but letters.
                if _mm512_mask_test_epi8_mask(two, some, splat(1 << number)) != 0 {
                    *bits |= _mm512_mask_test_epi8_mask(two, byte_of(set, index), bit);
                }
            }
        }
        if three != 0 {
            // SAFETY: there are 16 bytes.
            let uniform = unsafe { _mm_loadu_si128(self.uniform.as_ptr().cast()) };
            let uniform =
                _mm512_shuffle_epi8(_mm512_broadcast_i32x4(uniform), _mm512_and_si512(first, splat(0xf)));
            for (number, bits) in bits.iter_mut().enumerate().take(count) {
                *bits |= _mm512_mask_test_epi8_mask(three, uniform, splat(1 << number));
            }
            let mut mixed = _mm512_mask_test_epi8_mask(three, uniform, splat(1 << bit::MIXED));
            let (index, bit) = (index_of(second, third), bit_of(third));
            while mixed != 0 {
                let byte = bytes[mixed.trailing_zeros() as usize];
                let same = _mm512_mask_cmpeq_epi8_mask(mixed, first, splat(byte));
                mixed &= !same;
                let upper = _mm512_test_epi8_mask(second, splat(0x20));
                let (sets, some) = (&self.three[usize::from(byte & 0xf)], self.some[usize::from(byte & 0xf)]);
                for (number, (bits, set)) in bits.iter_mut().zip(sets).enumerate().take(count) {
                    if some >> number & 1 == 0 {
                        continue;
                    }
                    let (halves, _) = set.as_chunks::<256>();
                    let (low, high) = (byte_of(&halves[0], index), byte_of(&halves[1], index));
                    let byte = _mm512_mask_blend_epi8(upper, low, high);
                    *bits |= _mm512_mask_test_epi8_mask(same, byte, bit);
                }
            }
        }
        let all_bytes = |firsts: u64| firsts | firsts << 1 | (firsts & three) << 2;
        let (mut letters, mut hard) = (all_bytes(bits[bit::LETTER]), bits[bit::HARD]);
        if CASED {
            let attached = attached(all_bytes(bits[bit::MARK]), letters, after_letters);
            letters |= attached;
            hard |= bits[bit::MARK] & !attached;
        }
        let incomplete = firsts & 1 << 63 | three & 1 << 62;
        let mut spaces = 0;
        if hard & !incomplete != 0 {
            (spaces, hard) = spaces_of(kinds, text, start, hard & !incomplete);
        }
        Some(Others {
            len: (hard | incomplete).trailing_zeros(),
            firsts,
            letters,
            upper: all_bytes(bits[bit::UPPER]),
            caseless: all_bytes(bits[bit::CASELESS]),
            spaces,
        })
    }
}

/// Bytes of 256: bits 0 to 6 of an index select one of 128, twice, and bit 7 one of both.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn byte_of(set: &[u8; 256], index: __m512i) -> __m512i {
    // SAFETY: there are four times 64 bytes.
    let quarter = |number: usize| unsafe { _mm512_loadu_si512(set.as_ptr().add(64 * number).cast()) };
    let low = _mm512_permutex2var_epi8(quarter(0), index, quarter(1));
    let high = _mm512_permutex2var_epi8(quarter(2), index, quarter(3));
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high)
}

/// Puts 64 characters into a set for each bit.
fn put<const BYTES: usize>(sets: &mut [[u8; BYTES]; bit::COUNT], number: usize, row: &Row) {
    for (set, part) in sets.iter_mut().zip(row) {
        set[8 * number..][..8].copy_from_slice(&part.to_le_bytes());
    }
}
