//! UTF-8 to characters of a fixed width by AVX2.
//!
//! Where the last byte of a character is, its value follows from that byte and the two before it. So the values of all
//! bytes are computed, and those of last bytes put side by side. Blocks with characters of four bytes are converted one
//! by one.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{Unit, convert_until};
use crate::masks::highest_bits;
use crate::utf8::is_inside;

/// The number of bytes that are examined at once.
const BLOCK: usize = 32;

/// The number of characters that are written together.
const LANES: usize = 8;

/// For each set of eight 16-bit lanes, the shuffle that moves these lanes to the front.
static SHUFFLES: [[u8; 16]; 256] = shuffles();

/// As [`super::convert`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn convert<U: Unit>(text: &[u8], units: &mut [MaybeUninit<U>]) -> bool {
    let (mut offset, mut written) = (0, 0);
    // Of characters that begin before the block: their other bytes, and their last ones.
    let (mut expected, mut lasts) = (0, 0);
    let mut before = _mm256_setzero_si256();
    // Eight characters are written for each number of last bytes.
    while text.len() - offset >= BLOCK && units.len() - written >= BLOCK + LANES {
        // SAFETY: the text has these bytes.
        let bytes = unsafe { _mm256_loadu_si256(text.as_ptr().add(offset).cast()) };
        let high = highest_bits(bytes);
        if high | expected == 0 {
            // SAFETY: there is space for as many characters as the block has bytes.
            unsafe { write_ascii(bytes, units.as_mut_ptr().add(written)) };
            (offset, written, before) = (offset + BLOCK, written + BLOCK, bytes);
            continue;
        }
        let (first, three, four) = (at_least(bytes, 0xc0), at_least(bytes, 0xe0), at_least(bytes, 0xf0));
        if four != 0 {
            offset = start(text, offset, expected != 0);
            if !convert_until(text, offset + BLOCK, units, &mut offset, &mut written) {
                return false;
            }
            (expected, lasts, before) = (0, 0, _mm256_setzero_si256());
            continue;
        }
        let all = expected | first << 1 | three << 2;
        let is_wide_enough = size_of::<U>() > 1 || at_least(bytes, 0xc4) == 0;
        let one_back = moved::<1>(before, bytes);
        if all & u64::from(u32::MAX) != high & !first || invalid(bytes, one_back) != 0 || !is_wide_enough {
            return false;
        }
        let ends = lasts | !high & u64::from(u32::MAX) | (first & !three) << 1 | three << 2;
        let two_back = moved::<2>(before, bytes);
        let mut here = ends as u32;
        let parts = [
            [lower(bytes), lower(one_back), lower(two_back)],
            [upper(bytes), upper(one_back), upper(two_back)],
        ];
        for part in parts {
            let values = values(part);
            for lanes in [lower(values), upper(values)] {
                // SAFETY: a shuffle has 16 bytes; there is space for as many characters as the block has bytes, and for
                // eight more.
                unsafe {
                    let shuffle = _mm_loadu_si128(SHUFFLES[here as usize & 0xff].as_ptr().cast());
                    write(_mm_shuffle_epi8(lanes, shuffle), units.as_mut_ptr().add(written));
                }
                written += (here & 0xff).count_ones() as usize;
                here >>= LANES;
            }
        }
        (expected, lasts) = (all >> BLOCK, ends >> BLOCK);
        (offset, before) = (offset + BLOCK, bytes);
    }
    offset = start(text, offset, expected != 0);
    convert_until(text, text.len(), units, &mut offset, &mut written) && written == units.len()
}

/// The offset at which conversion resumes: the start of the character that continues at `offset`, if `goes_on`.
fn start(text: &[u8], mut offset: usize, goes_on: bool) -> usize {
    if goes_on {
        offset -= 1;
        while is_inside(text[offset]) {
            offset -= 1;
        }
    }
    offset
}

/// Writes the characters of a block of ASCII.
///
/// # Safety
///
/// There is space for them.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn write_ascii<U: Unit>(bytes: __m256i, units: *mut MaybeUninit<U>) {
    let (low, up) = (lower(bytes), upper(bytes));
    let eights = [low, _mm_srli_si128::<8>(low), up, _mm_srli_si128::<8>(up)];
    for (number, bytes) in eights.into_iter().enumerate() {
        // SAFETY: as the caller promises.
        unsafe { write(_mm_cvtepu8_epi16(bytes), units.add(number * LANES)) };
    }
}

/// Writes eight characters of 16 bits, which fit.
///
/// # Safety
///
/// There is space for them.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn write<U: Unit>(values: __m128i, units: *mut MaybeUninit<U>) {
    // SAFETY: as the caller promises.
    unsafe {
        match size_of::<U>() {
            1 => _mm_storel_epi64(units.cast(), _mm_packus_epi16(values, values)),
            2 => _mm_storeu_si128(units.cast(), values),
            _ => _mm256_storeu_si256(units.cast(), _mm256_cvtepu16_epi32(values)),
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn lower(bytes: __m256i) -> __m128i {
    _mm256_castsi256_si128(bytes)
}

#[target_feature(enable = "avx2")]
#[inline]
fn upper(bytes: __m256i) -> __m128i {
    _mm256_extracti128_si256::<1>(bytes)
}

/// The values of characters of up to three bytes that end with these bytes, behind those.
#[target_feature(enable = "avx2")]
#[inline]
fn values([bytes, one_back, two_back]: [__m128i; 3]) -> __m256i {
    let bytes = _mm256_cvtepu8_epi16(bytes);
    let (one_back, two_back) = (_mm256_cvtepu8_epi16(one_back), _mm256_cvtepu8_epi16(two_back));
    let six = _mm256_set1_epi16(0x3f);
    let several = _mm256_or_si256(
        _mm256_and_si256(bytes, six),
        _mm256_slli_epi16::<6>(_mm256_and_si256(one_back, six)),
    );
    let is_two = _mm256_cmpgt_epi16(one_back, _mm256_set1_epi16(0xbf));
    // Only four bits of the first byte remain.
    let several = _mm256_or_si256(several, _mm256_andnot_si256(is_two, _mm256_slli_epi16::<12>(two_back)));
    let is_ascii = _mm256_cmpgt_epi16(_mm256_set1_epi16(0x80), bytes);
    _mm256_blendv_epi8(several, bytes, is_ascii)
}

/// The bytes that begin overlong forms, and those that are second in them or in surrogates.
#[target_feature(enable = "avx2")]
#[inline]
fn invalid(bytes: __m256i, one_back: __m256i) -> u64 {
    let is_low = _mm256_cmpgt_epi8(_mm256_set1_epi8(0xa0_u8.cast_signed()), bytes);
    let after_e0 = _mm256_cmpeq_epi8(one_back, _mm256_set1_epi8(0xe0_u8.cast_signed()));
    let after_ed = _mm256_cmpeq_epi8(one_back, _mm256_set1_epi8(0xed_u8.cast_signed()));
    let odd = _mm256_or_si256(bytes, _mm256_set1_epi8(1));
    let first = _mm256_cmpeq_epi8(odd, _mm256_set1_epi8(0xc1_u8.cast_signed()));
    let second = _mm256_or_si256(_mm256_and_si256(after_e0, is_low), _mm256_andnot_si256(is_low, after_ed));
    highest_bits(_mm256_or_si256(first, second))
}

#[target_feature(enable = "avx2")]
#[inline]
fn at_least(bytes: __m256i, byte: u8) -> u64 {
    let least = _mm256_set1_epi8(byte.cast_signed());
    highest_bits(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes))
}

/// At each place the byte that is `BACK` before it, of a block and the one before it.
#[target_feature(enable = "avx2")]
#[inline]
fn moved<const BACK: usize>(before: __m256i, block: __m256i) -> __m256i {
    let between = _mm256_permute2x128_si256::<0x21>(before, block);
    match BACK {
        1 => _mm256_alignr_epi8::<15>(block, between),
        _ => _mm256_alignr_epi8::<14>(block, between),
    }
}

const fn shuffles() -> [[u8; 16]; 256] {
    let mut shuffles = [[0x80; 16]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut len) = (0, 0);
        while lane < LANES {
            if set >> lane & 1 == 1 {
                (shuffles[set][len], shuffles[set][len + 1]) = (2 * lane as u8, 2 * lane as u8 + 1);
                len += 2;
            }
            lane += 1;
        }
        set += 1;
    }
    shuffles
}
