//! 64 bytes at once by AVX-512.

use std::arch::x86_64::*;

use super::{BLOCK, Looked};
use crate::utf8::is_inside;

/// See [`look_up`](super::look_up).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512bitalg,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn look_up<const N: usize>(
    text: &[u8],
    start: usize,
    masks: impl Fn(usize) -> [u64; N],
) -> Option<Looked<N>> {
    let rest = text.get(start..)?;
    let first = bytes_from(rest, 0);
    let given = BLOCK.min(rest.len());
    let all = _bzhi_u64(u64::MAX, given as u32);
    let high = _mm512_movepi8_mask(first);
    let mut with = [0; N];
    // The characters of the two rows of ASCII differ in one bit of their bytes.
    let upper = _mm512_test_epi8_mask(first, _mm512_set1_epi8(0x40));
    for (with, (low, up)) in with.iter_mut().zip(masks(0).into_iter().zip(masks(1))) {
        let [low, up] =
            [low, up].map(|mask| _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(mask as i64), first));
        *with = (low & !upper | up & upper) & !high & all;
    }
    let spaces = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(b' ' as i8));
    if high == 0 {
        return Some(Looked { starts: all, wide: 0, spaces, with, len: given });
    }
    let [any, two, three, four] =
        [0xc0u8, 0xc2, 0xe0, 0xf0].map(|byte| _mm512_cmpge_epu8_mask(first, _mm512_set1_epi8(byte as i8)));
    if any != two || high & !two != two << 1 | three << 2 | four << 3 {
        return None;
    }
    let beyond = (two >> 63) | (three >> 62) | (four >> 61);
    let more = beyond.count_ones() as usize;
    if more > 0 && !rest.get(BLOCK..BLOCK + more)?.iter().all(|&byte| is_inside(byte)) {
        return None;
    }
    let [second, third] = [1, 2].map(|offset| bytes_from(rest, offset));
    let is_low = _mm512_cmplt_epu8_mask(second, _mm512_set1_epi8(0xa0u8 as i8));
    if _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(0xe0u8 as i8)) & is_low != 0 {
        return None;
    }
    let last = _mm512_mask_mov_epi8(second, three, third);
    let mut remaining = two & !four;
    while remaining != 0 {
        let offset = remaining.trailing_zeros() as usize;
        let [a, b] = [rest[offset], rest[offset + 1]];
        let same = remaining & _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(a as i8));
        let (row, same) = match a {
            ..0xe0 => (usize::from(a & 0x1f), same),
            _ => {
                let same = same & _mm512_cmpeq_epi8_mask(second, _mm512_set1_epi8(b as i8));
                (usize::from(a & 0xf) << 6 | usize::from(b & 0x3f), same)
            }
        };
        for (with, mask) in with.iter_mut().zip(masks(row)) {
            *with |= same & _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(mask as i64), last);
        }
        remaining &= !same;
    }
    Some(Looked { starts: all & !(high & !two), wide: four, spaces, with, len: given + more })
}

/// The bytes of a text from an offset on, with zeros behind them.
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(crate) fn bytes_from(text: &[u8], offset: usize) -> __m512i {
    let bytes = text.as_ptr().wrapping_add(offset).cast();
    // A load of all bytes needs no mask, which is several instructions.
    if text.len() >= offset + BLOCK {
        // SAFETY: the text has these bytes.
        return unsafe { _mm512_loadu_si512(bytes) };
    }
    let count = text.len().saturating_sub(offset);
    // SAFETY: only bytes of the text are read.
    unsafe { _mm512_maskz_loadu_epi8(_bzhi_u64(u64::MAX, count as u32), bytes.cast()) }
}
