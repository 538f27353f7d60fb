//! Sets of characters by AVX-512.

use std::arch::x86_64::*;

use super::{Ascii, Block, ROW, Sets, row_number};
use crate::masks::bytes_from;

/// The bits of the part of a row that the second byte from the end of a character selects, and then the last one.
const BITS: [i8; 16] = [1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128];

impl<const N: usize> Sets<N> {
    /// The row of the characters with these first bytes.
    #[inline]
    fn row_of(&self, a: u8, b: u8) -> LastRow {
        LastRow { bytes: [a, b], is_three: a >= 0xe0, row: self.numbers[row_number(a, b)].into() }
    }

    /// The same as [`read`](Sets::read).
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(in crate::normalize) fn read_avx512(
        &self,
        text: &[u8],
        start: usize,
        inside: u64,
        last: &mut LastRow,
    ) -> Option<Block<N>> {
        let rest = text.get(start..)?;
        let first = bytes_from(rest, 0);
        let high = _mm512_movepi8_mask(first);
        if high == 0 {
            return Some(Block::ascii(rest.len()));
        }
        let leads =
            [0xc0u8, 0xe0, 0xf0].map(|byte| _mm512_cmpge_epu8_mask(first, _mm512_set1_epi8(byte as i8)));
        let mut block = Block::of(rest, high, leads, inside)?;
        let [two, three, four] = leads;
        // SAFETY: these are 64 bytes each.
        let [by_lead, by_row] = [&self.mixed_leads, &self.mixed_rows]
            .map(|table| unsafe { _mm512_loadu_si512(table.as_ptr().cast()) });
        let may_be_mixed = two & _mm512_movepi8_mask(_mm512_permutexvar_epi8(first, by_lead));
        if may_be_mixed == 0 {
            return Some(block);
        }
        let second = bytes_from(rest, 1);
        // The last row is one of these, so that a text of one row needs no look at the others.
        block.mixed = may_be_mixed;
        if may_be_mixed & !(last.of(first, second) | four) != 0 {
            let upper = _mm512_slli_epi16::<2>(_mm512_and_si512(first, _mm512_set1_epi8(15)));
            let lower = _mm512_and_si512(_mm512_srli_epi16::<4>(second), _mm512_set1_epi8(3));
            let rows = _mm512_permutexvar_epi8(_mm512_or_si512(upper, lower), by_row);
            let row_bits = _mm512_and_si512(_mm512_srli_epi16::<1>(second), _mm512_set1_epi8(7));
            block.mixed &= !three | four | _mm512_test_epi8_mask(rows, bits(row_bits));
        }
        let mut remaining = block.mixed & !four;
        if remaining == 0 {
            return Some(block);
        }
        let third = bytes_from(rest, 2);
        let mut classes = _mm512_setzero_si512();
        while remaining != 0 {
            let mut same = last.of(first, second) & remaining;
            if same == 0 {
                let offset = remaining.trailing_zeros() as usize;
                *last = self.row_of(rest[offset], rest[offset + 1]);
                same = last.of(first, second) & remaining;
            }
            let places = if last.is_three { places(second, third) } else { places(first, second) };
            let row = &self.classes[last.row];
            // SAFETY: these are 64 bytes each.
            let [low, high] =
                [0, ROW / 2].map(|at| unsafe { _mm512_loadu_si512(row.as_ptr().add(at).cast()) });
            let of_row = _mm512_permutex2var_epi8(low, places, high);
            classes = _mm512_mask_mov_epi8(classes, same, of_row);
            remaining &= !same;
        }
        let mut bit = 1;
        for set in &mut block.sets {
            *set = _mm512_test_epi8_mask(classes, _mm512_set1_epi8(bit));
            bit <<= 1;
        }
        Some(block)
    }
}

/// The row that was looked up last, which most blocks of a text have: finding it again takes longer than the look-up.
#[derive(Clone, Copy, Default)]
pub(in crate::normalize) struct LastRow {
    /// The first two bytes of a character of it.
    bytes: [u8; 2],
    is_three: bool,
    /// Its place in `classes`.
    row: usize,
}

impl LastRow {
    /// Which characters with these first and second bytes are in the row; those of other bytes have no meaning.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn of(self, first: __m512i, second: __m512i) -> u64 {
        let [a, b] = self.bytes;
        match self.is_three {
            true => _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(a as i8)) & same_but_last_bit(second, b),
            false => same_but_last_bit(first, a),
        }
    }
}

impl Ascii {
    /// The same as [`at`](Ascii::at).
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(in crate::normalize) fn at_avx512(text: &[u8], start: usize) -> Ascii {
        let bytes = bytes_from(&text[start..], 0);
        let second = bytes_from(&text[start..], 1);
        let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
        let is_low = _mm512_cmplt_epu8_mask(second, _mm512_set1_epi8(0xa0u8 as i8));
        let distance = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b' ' as i8));
        Ascii {
            printable: _mm512_cmple_epu8_mask(distance, _mm512_set1_epi8((b'~' - b' ') as i8)),
            spaces: is(b' '),
            blanks: is(b'\t') | is(b'\n') | is(b'\r'),
            invalid: same_but_last_bit(bytes, 0xc0) | is(0xe0) & is_low | is(0xed) & !is_low,
        }
    }
}

/// The bits that numbers below 16 select: those of the lower three of their bits.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn bits(numbers: __m512i) -> __m512i {
    // SAFETY: there are 16 bytes.
    let bits = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(BITS.as_ptr().cast()) });
    _mm512_shuffle_epi8(bits, numbers)
}

/// The bytes that are a byte or differ from it in the last bit.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn same_but_last_bit(bytes: __m512i, byte: u8) -> u64 {
    let either = _mm512_or_si512(bytes, _mm512_set1_epi8(1));
    _mm512_cmpeq_epi8_mask(either, _mm512_set1_epi8((byte | 1) as i8))
}

/// The places of characters with these last bytes in their rows; the highest bit has no meaning.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn places(before: __m512i, last: __m512i) -> __m512i {
    let lower = _mm512_and_si512(last, _mm512_set1_epi8(0x3f));
    // The last bit of the byte before is that of the value 64.
    let upper = _mm512_slli_epi16::<6>(_mm512_and_si512(before, _mm512_set1_epi8(1)));
    _mm512_or_si512(lower, upper)
}
