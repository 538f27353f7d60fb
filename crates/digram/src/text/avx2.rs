//! Characters of fixed width in UTF-8, eight or more at a time.

use std::arch::x86_64::*;

use super::{BEYOND, Character, append_one, ascii};

/// The characters that are converted together.
const LANES: usize = 8;

/// A byte shuffle that removes the unused bytes between characters.
type Shuffle = [u8; 16];

/// The shuffles for eight lanes of two bytes; a bit of the index is set for each lane with a character of one byte.
static OF_TWO: [Shuffle; 256] = shuffles_of_two();

/// The shuffles for four lanes of four bytes. The lower four bits of the index are set for the lanes with characters of
/// more than one byte, the upper four for those with characters of three.
static OF_THREE: [Shuffle; 256] = shuffles_of_three();

/// As [`super::append`].
///
/// # Safety
///
/// `bytes` has the capacity for the longest form of all characters, and [`BEYOND`] bytes more.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn append<C: Character>(characters: &[C], bytes: &mut Vec<u8>) -> Result<(), usize> {
    debug_assert!(bytes.capacity() - bytes.len() >= characters.len() * C::MAX_BYTES + BEYOND);
    let (out, mut len) = (bytes.as_mut_ptr(), bytes.len());
    let mut index = 0;
    while index < characters.len() {
        let rest = &characters[index..];
        if let Some(ascii) = rest.first_chunk::<{ 2 * LANES }>().and_then(ascii) {
            // SAFETY: there is memory for a byte of each character.
            unsafe { out.add(len).cast::<[u8; 2 * LANES]>().write(ascii) };
            (index, len) = (index + ascii.len(), len + ascii.len());
            continue;
        }
        let Some(codes) = rest.first_chunk().and_then(|eight| codes_of(eight)) else {
            for character in rest.iter().take(LANES) {
                // SAFETY: there is memory for each character, and for more bytes.
                len += unsafe { append_one(character.code(), out.add(len)) }.ok_or(index)?;
                index += 1;
            }
            continue;
        };
        // SAFETY: there is memory for the bytes of these characters, and for 64 more.
        len += unsafe { append_eight(codes, out.add(len)) }.map_err(|lane| index + lane)?;
        index += LANES;
    }
    // SAFETY: these bytes were written.
    unsafe { bytes.set_len(len) };
    Ok(())
}

/// Characters as numbers of 16 bits; `None` if one is larger.
#[target_feature(enable = "avx2")]
#[inline]
fn codes_of<C: Character>(characters: &[C; LANES]) -> Option<__m128i> {
    // SAFETY: as many bytes are read as eight characters have.
    unsafe {
        match size_of::<C>() {
            1 => Some(_mm_cvtepu8_epi16(_mm_loadl_epi64(characters.as_ptr().cast()))),
            2 => Some(_mm_loadu_si128(characters.as_ptr().cast())),
            _ => {
                let codes = _mm256_loadu_si256(characters.as_ptr().cast());
                let are_small = _mm256_testz_si256(codes, _mm256_set1_epi32(!0xffff)) != 0;
                let halves =
                    _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
                are_small.then_some(halves)
            }
        }
    }
}

/// Writes eight characters in UTF-8 and returns the number of bytes; for a surrogate, its lane is the error.
///
/// # Safety
///
/// There is memory for 32 bytes.
#[target_feature(enable = "avx2,bmi1,popcnt")]
#[inline]
unsafe fn append_eight(codes: __m128i, out: *mut u8) -> Result<usize, usize> {
    if _mm_testz_si128(codes, _mm_set1_epi16(!0x7ff)) != 0 {
        let is_ascii = _mm_cmpgt_epi16(_mm_set1_epi16(0x80), codes);
        let second = _mm_slli_epi16::<8>(_mm_and_si128(codes, _mm_set1_epi16(0x3f)));
        let both = _mm_or_si128(_mm_srli_epi16::<6>(codes), second);
        let both = _mm_or_si128(both, _mm_set1_epi16(0x80c0_u16.cast_signed()));
        let utf8 = _mm_blendv_epi8(both, codes, is_ascii);
        let ascii = _mm_movemask_epi8(_mm_packs_epi16(is_ascii, _mm_setzero_si128())) as usize;
        // SAFETY: as the caller promises; a shuffle has 16 bytes.
        unsafe {
            let shuffle = _mm_loadu_si128(OF_TWO[ascii & 0xff].as_ptr().cast());
            _mm_storeu_si128(out.cast(), _mm_shuffle_epi8(utf8, shuffle));
        }
        return Ok(2 * LANES - ascii.count_ones() as usize);
    }
    let upper = _mm_and_si128(codes, _mm_set1_epi16(!0x7ff));
    let are_surrogates = _mm_cmpeq_epi16(upper, _mm_set1_epi16(0xd800_u16.cast_signed()));
    let surrogates = _mm_movemask_epi8(are_surrogates);
    if surrogates != 0 {
        return Err(surrogates.trailing_zeros() as usize / 2);
    }
    let codes = _mm256_cvtepu16_epi32(codes);
    let splat = _mm256_set1_epi32;
    let last = _mm256_and_si256(codes, splat(0x3f));
    let middle = _mm256_and_si256(_mm256_srli_epi32::<6>(codes), splat(0x3f));
    let two = _mm256_or_si256(_mm256_srli_epi32::<6>(codes), _mm256_slli_epi32::<8>(last));
    let two = _mm256_or_si256(two, splat(0x80c0));
    let three = _mm256_or_si256(_mm256_srli_epi32::<12>(codes), _mm256_slli_epi32::<8>(middle));
    let three = _mm256_or_si256(three, _mm256_slli_epi32::<16>(last));
    let three = _mm256_or_si256(three, splat(0x80_80e0));
    let are_two = _mm256_cmpgt_epi32(codes, splat(0x7f));
    let are_three = _mm256_cmpgt_epi32(codes, splat(0x7ff));
    let utf8 = _mm256_blendv_epi8(_mm256_blendv_epi8(codes, two, are_two), three, are_three);
    let [are_two, are_three] =
        [are_two, are_three].map(|lanes| _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as usize);
    let [low, high] = [0, 4].map(|lane| are_two >> lane & 0xf | (are_three >> lane & 0xf) << 4);
    let low_len = 4 + low.count_ones() as usize;
    // SAFETY: as the caller promises; a shuffle has 16 bytes.
    unsafe {
        let [low, high] = [low, high].map(|of| _mm_loadu_si128(OF_THREE[of].as_ptr().cast()));
        _mm_storeu_si128(out.cast(), _mm_shuffle_epi8(_mm256_castsi256_si128(utf8), low));
        let upper = _mm256_extracti128_si256::<1>(utf8);
        _mm_storeu_si128(out.add(low_len).cast(), _mm_shuffle_epi8(upper, high));
    }
    Ok(low_len + 4 + high.count_ones() as usize)
}

const fn shuffles_of_two() -> [Shuffle; 256] {
    let mut shuffles = [[0x80; 16]; 256];
    let mut ascii = 0;
    while ascii < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < LANES {
            shuffles[ascii][len] = 2 * lane as u8;
            len += 1;
            if ascii >> lane & 1 == 0 {
                shuffles[ascii][len] = 2 * lane as u8 + 1;
                len += 1;
            }
            lane += 1;
        }
        ascii += 1;
    }
    shuffles
}

const fn shuffles_of_three() -> [Shuffle; 256] {
    let mut shuffles = [[0x80; 16]; 256];
    let mut widths = 0;
    while widths < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < 4 {
            let (mut byte, count) = (0, 1 + (widths >> lane & 1) + (widths >> (lane + 4) & 1));
            while byte < count {
                shuffles[widths][len] = (4 * lane + byte) as u8;
                (byte, len) = (byte + 1, len + 1);
            }
            lane += 1;
        }
        widths += 1;
    }
    shuffles
}
