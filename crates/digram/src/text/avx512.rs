//! Characters of fixed width in UTF-8, sixteen or more at a time.

use std::arch::x86_64::*;

use super::{BEYOND, Character, ascii};
use crate::cpu::prefetch;

/// The characters that are converted together.
const LANES: usize = 16;

/// Prefetch distance, in bytes: hardware prefetching stops at page boundaries.
const AHEAD: usize = 2048;

/// The size of a cache line.
const LINE: usize = 64;

/// As [`super::append`].
///
/// # Safety
///
/// `bytes` has the capacity for the longest form of all characters, and [`BEYOND`] bytes more.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn append<C: Character>(characters: &[C], bytes: &mut Vec<u8>) -> Result<(), usize> {
    debug_assert!(bytes.capacity() - bytes.len() >= characters.len() * C::MAX_BYTES + BEYOND);
    let (out, mut len) = (bytes.as_mut_ptr(), bytes.len());
    let mut index = 0;
    while index < characters.len() {
        let rest = &characters[index..];
        for line in 0..2 * LANES * size_of::<C>() / LINE {
            prefetch(rest.as_ptr().wrapping_byte_add(AHEAD + line * LINE));
        }
        if let Some(ascii) = rest.first_chunk::<{ 2 * LANES }>().and_then(ascii) {
            // SAFETY: there is memory for a byte of each character.
            unsafe { out.add(len).cast::<[u8; 2 * LANES]>().write(ascii) };
            (index, len) = (index + ascii.len(), len + ascii.len());
            continue;
        }
        if let Some(few) = rest.first_chunk()
            && let Some(codes) = codes_of_two(few)
        {
            let (utf8, kept) = utf8_of_two(codes);
            // SAFETY: there is memory for the bytes that are kept, and for 64 more.
            unsafe { _mm512_storeu_si512(out.add(len).cast(), _mm512_maskz_compress_epi8(kept, utf8)) };
            (index, len) = (index + few.len(), len + kept.count_ones() as usize);
            continue;
        }
        // Those behind the first sixteen are probably not all ASCII either.
        for part in rest.chunks(LANES).take(2) {
            let lanes = u16::MAX >> (LANES - part.len());
            let codes = codes_of(part, lanes);
            let (utf8, kept, surrogates) = utf8_of(codes, lanes);
            if surrogates != 0 {
                return Err(index + surrogates.trailing_zeros() as usize);
            }
            // SAFETY: there is memory for the bytes that are kept, and for 64 more.
            unsafe { _mm512_storeu_si512(out.add(len).cast(), _mm512_maskz_compress_epi8(kept, utf8)) };
            (index, len) = (index + part.len(), len + kept.count_ones() as usize);
        }
    }
    // SAFETY: these bytes were written.
    unsafe { bytes.set_len(len) };
    Ok(())
}

/// The UTF-8 forms of sixteen characters, each at the end of four bytes; the bytes that belong to the forms
/// of the characters at `lanes`; and those of these characters that are surrogates.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn utf8_of(codes: __m512i, lanes: u16) -> (__m512i, u64, u16) {
    // Closures would be compiled without these instructions.
    let two = _mm512_mask_cmpge_epu32_mask(lanes, codes, _mm512_set1_epi32(0x80));
    let three = _mm512_mask_cmpge_epu32_mask(lanes, codes, _mm512_set1_epi32(0x800));
    let four = _mm512_mask_cmpge_epu32_mask(lanes, codes, _mm512_set1_epi32(0x1_0000));
    let upper_bits = _mm512_and_si512(codes, _mm512_set1_epi32(!0x7ff));
    let surrogates = _mm512_mask_cmpeq_epi32_mask(lanes, upper_bits, _mm512_set1_epi32(0xd800));
    // Six bits in each byte, the highest first.
    const SHIFTS: [u8; 8] = [18, 12, 6, 0, 32 + 18, 32 + 12, 32 + 6, 32];
    let parts = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(i64::from_le_bytes(SHIFTS)), codes);
    let parts = _mm512_and_si512(parts, _mm512_set1_epi32(0x3f3f_3f3f));
    const MARKS: [u32; 3] = [0x80c0_0000, 0x8080_e000, 0x8080_80f0];
    let mut marks = _mm512_set1_epi32(MARKS[0].cast_signed());
    marks = _mm512_mask_mov_epi32(marks, three, _mm512_set1_epi32(MARKS[1].cast_signed()));
    marks = _mm512_mask_mov_epi32(marks, four, _mm512_set1_epi32(MARKS[2].cast_signed()));
    let ascii = _mm512_slli_epi32::<24>(codes);
    let utf8 = _mm512_mask_or_epi32(ascii, two, parts, marks);
    let kept = _pdep_u64(lanes.into(), 0x8888_8888_8888_8888)
        | _pdep_u64(two.into(), 0x4444_4444_4444_4444)
        | _pdep_u64(three.into(), 0x2222_2222_2222_2222)
        | _pdep_u64(four.into(), 0x1111_1111_1111_1111);
    (utf8, kept, surrogates)
}

/// Characters at the first of these lanes as numbers of 32 bits. A copy in an array would be waited for wherever it lies
/// in two cache lines, which is decided by the address of the stack: then all of `append` took four times as long.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn codes_of<C: Character>(characters: &[C], lanes: u16) -> __m512i {
    debug_assert_eq!(lanes.trailing_ones() as usize, characters.len());
    // SAFETY: only characters at these lanes are read, and there are as many.
    unsafe {
        match size_of::<C>() {
            1 => {
                let bytes = _mm512_maskz_loadu_epi8(lanes.into(), characters.as_ptr().cast());
                _mm512_cvtepu8_epi32(_mm512_castsi512_si128(bytes))
            }
            2 => {
                let halves = _mm512_maskz_loadu_epi16(lanes.into(), characters.as_ptr().cast());
                _mm512_cvtepu16_epi32(_mm512_castsi512_si256(halves))
            }
            _ => _mm512_maskz_loadu_epi32(lanes, characters.as_ptr().cast()),
        }
    }
}

/// Characters as numbers of 16 bits, if the form of each has at most two bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn codes_of_two<C: Character>(characters: &[C; 2 * LANES]) -> Option<__m512i> {
    // SAFETY: as many bytes are there as the sizes of 32 characters say.
    let codes = unsafe {
        match size_of::<C>() {
            1 => return Some(_mm512_cvtepu8_epi16(_mm256_loadu_si256(characters.as_ptr().cast()))),
            2 => _mm512_loadu_si512(characters.as_ptr().cast()),
            _ => return None,
        }
    };
    (_mm512_cmpge_epu16_mask(codes, _mm512_set1_epi16(0x800)) == 0).then_some(codes)
}

/// The UTF-8 forms of these characters, each in two bytes, and the bytes that belong to the forms.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn utf8_of_two(codes: __m512i) -> (__m512i, u64) {
    let are_two = _mm512_cmpge_epu16_mask(codes, _mm512_set1_epi16(0x80));
    let second = _mm512_slli_epi16::<8>(_mm512_and_si512(codes, _mm512_set1_epi16(0x3f)));
    let both = _mm512_or_si512(_mm512_srli_epi16::<6>(codes), second);
    let both = _mm512_or_si512(both, _mm512_set1_epi16(0x80c0_u16.cast_signed()));
    let kept = 0x5555_5555_5555_5555 | _pdep_u64(are_two.into(), 0xaaaa_aaaa_aaaa_aaaa);
    (_mm512_mask_mov_epi16(codes, are_two, both), kept)
}
