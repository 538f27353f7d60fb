//! 64 bytes of text at once.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// See [`super::survey_plain`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn survey(text: &[u8]) -> (usize, u8) {
    let mut starts = 0;
    let mut highest = _mm512_setzero_si512();
    let mut offset = 0;
    while offset < text.len() {
        let (bytes, len) = window(text, offset);
        starts += (!inside(bytes) & below(len)).count_ones() as usize;
        highest = _mm512_max_epu8(highest, bytes);
        offset += len;
    }
    let mut bytes = [0_u8; 64];
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), highest) };
    (starts, bytes.into_iter().fold(0, u8::max))
}

/// Up to 64 bytes of a text from an offset inside it on, and their number. The others are 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn window(text: &[u8], offset: usize) -> (__m512i, usize) {
    let rest = &text[offset..];
    if rest.len() >= 64 {
        // SAFETY: there are 64 bytes.
        return (unsafe { _mm512_loadu_si512(rest.as_ptr().cast()) }, 64);
    }
    // SAFETY: only bytes of the text are read.
    (unsafe { _mm512_maskz_loadu_epi8(below(rest.len()), rest.as_ptr().cast()) }, rest.len())
}

/// The lowest bits.
#[inline(always)]
fn below(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Which bytes are continuation bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn inside(bytes: __m512i) -> u64 {
    _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(0xc0_u8 as i8))
}

/// The characters that are complete in a window: for each one its first byte and the bytes after it.
struct Characters {
    count: usize,
    bytes: [__m512i; 4],
    /// The number of bytes of the window that they take.
    len: usize,
}

/// The characters of the window at an offset, where one begins. `None` where lengths are not those that first
/// bytes tell, or a first byte is above `highest`, or below 0xc2.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn characters(text: &[u8], offset: usize, highest: u8) -> Option<Characters> {
    let (bytes, available) = window(text, offset);
    let inside = inside(bytes);
    let from = |byte: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let first = [from(0xc0), from(0xe0), from(0xf0)];
    // The last character of a full window may go on after it. It is the first of the next window.
    let len = match available {
        64 => 63 - (!inside).leading_zeros() as usize * usize::from(inside != u64::MAX),
        _ => available,
    };
    let taken = below(len);
    let [two, three, four] = first.map(|first| first & taken);
    let expected = two << 1 | three << 2 | four << 3;
    // The byte after the characters is none of theirs: it begins another one, or is 0.
    let is_other = (expected ^ inside) & below(len + 1) != 0;
    let is_wrong = from(highest.saturating_add(1)) & taken != 0 || two & !from(0xc2) != 0;
    if is_other || is_wrong || len == 0 {
        return None;
    }
    let place = _mm512_maskz_compress_epi8(!inside & taken, places());
    let at =
        |distance: i8| _mm512_permutexvar_epi8(_mm512_add_epi8(place, _mm512_set1_epi8(distance)), bytes);
    let count = (!inside & taken).count_ones() as usize;
    Some(Characters { count, bytes: [at(0), at(1), at(2), at(3)], len })
}

#[inline]
#[target_feature(enable = "avx512f")]
fn places() -> __m512i {
    const PLACES: [u8; 64] = {
        let (mut places, mut place) = ([0; 64], 0);
        while place < 64 {
            places[place] = place as u8;
            place += 1;
        }
        places
    };
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) }
}

/// A full window, if all of it is ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn ascii(text: &[u8], offset: usize) -> Option<__m512i> {
    let (bytes, len) = window(text, offset);
    (len == 64 && _mm512_movepi8_mask(bytes) == 0).then_some(bytes)
}

/// Up to U+00FF.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_ones(text: &[u8], units: &mut [MaybeUninit<u8>]) -> bool {
    let (mut offset, mut written) = (0, 0);
    while offset < text.len() {
        let Some(found) = characters(text, offset, 0xc3) else { return false };
        if found.count > units.len() - written {
            return false;
        }
        let [first, second, ..] = found.bytes;
        // A character has the bits of its second byte, and one bit from its first.
        let is_high = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(0xc3_u8 as i8));
        let is_low = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8(0xc2_u8 as i8));
        let points = _mm512_mask_mov_epi8(first, is_low, second);
        let points = _mm512_mask_add_epi8(points, is_high, second, _mm512_set1_epi8(0x40));
        // SAFETY: `units` has memory for these units: their number was compared with the rest of it.
        unsafe {
            _mm512_mask_storeu_epi8(units.as_mut_ptr().add(written).cast(), below(found.count), points)
        };
        written += found.count;
        offset += found.len;
    }
    written == units.len()
}

/// Up to U+FFFF.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_twos(text: &[u8], units: &mut [MaybeUninit<u16>]) -> bool {
    let (mut offset, mut written) = (0, 0);
    while offset < text.len() {
        if let Some(bytes) = ascii(text, offset) {
            if units.len() - written < 64 {
                return false;
            }
            let [low, high] = halves(bytes).map(|half| _mm512_cvtepu8_epi16(half));
            // SAFETY: there is room for 64 units.
            unsafe {
                let place = units.as_mut_ptr().add(written);
                _mm512_storeu_si512(place.cast(), low);
                _mm512_storeu_si512(place.add(32).cast(), high);
            }
            written += 64;
            offset += 64;
            continue;
        }
        let Some(found) = characters(text, offset, 0xef) else { return false };
        if found.count > units.len() - written {
            return false;
        }
        let [first, second, third, _] = found.bytes.map(|bytes| halves(bytes));
        for half in 0..2 {
            let count = found.count.saturating_sub(half * 32).min(32);
            if count == 0 {
                break;
            }
            let valid = below(count) as u32;
            let [first, second, third] =
                [first, second, third].map(|bytes| _mm512_cvtepu8_epi16(bytes[half]));
            let bits = |bytes, mask| _mm512_and_si512(bytes, _mm512_set1_epi16(mask));
            let is_two = _mm512_cmpge_epu16_mask(first, _mm512_set1_epi16(0xc0)) & valid;
            let is_three = _mm512_cmpge_epu16_mask(first, _mm512_set1_epi16(0xe0)) & valid;
            let second = bits(second, 0x3f);
            let two = _mm512_or_si512(_mm512_slli_epi16::<6>(bits(first, 0x1f)), second);
            // Shifts drop the highest bits.
            let high = _mm512_or_si512(_mm512_slli_epi16::<12>(first), _mm512_slli_epi16::<6>(second));
            let three = _mm512_or_si512(high, bits(third, 0x3f));
            let points = _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(first, is_two, two), is_three, three);
            let is_overlong = _mm512_mask_cmplt_epu16_mask(is_three, points, _mm512_set1_epi16(0x800));
            let is_surrogate = _mm512_mask_cmpeq_epi16_mask(
                is_three,
                bits(points, 0xf800_u16 as i16),
                _mm512_set1_epi16(0xd800_u16 as i16),
            );
            if is_overlong | is_surrogate != 0 {
                return false;
            }
            // SAFETY: `units` has memory for these units: their number was compared with the rest of it.
            unsafe {
                let place = units.as_mut_ptr().add(written + half * 32);
                _mm512_mask_storeu_epi16(place.cast(), valid, points);
            }
        }
        written += found.count;
        offset += found.len;
    }
    written == units.len()
}

#[inline]
#[target_feature(enable = "avx512f")]
fn halves(bytes: __m512i) -> [__m256i; 2] {
    [_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64::<1>(bytes)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(bytes: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(bytes),
        _mm512_extracti32x4_epi32::<1>(bytes),
        _mm512_extracti32x4_epi32::<2>(bytes),
        _mm512_extracti32x4_epi32::<3>(bytes),
    ]
}

/// All characters.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_fours(text: &[u8], units: &mut [MaybeUninit<u32>]) -> bool {
    let (mut offset, mut written) = (0, 0);
    while offset < text.len() {
        let Some(found) = characters(text, offset, 0xf4) else { return false };
        if found.count > units.len() - written {
            return false;
        }
        let bytes = found.bytes.map(|bytes| quarters(bytes));
        for quarter in 0..4 {
            let count = found.count.saturating_sub(quarter * 16).min(16);
            if count == 0 {
                break;
            }
            let valid = below(count) as u16;
            let [first, second, third, fourth] = bytes.map(|bytes| _mm512_cvtepu8_epi32(bytes[quarter]));
            let bits = |bytes, mask| _mm512_and_si512(bytes, _mm512_set1_epi32(mask));
            let from = |byte| _mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(byte)) & valid;
            let (is_two, is_three, is_four) = (from(0xc0), from(0xe0), from(0xf0));
            let [second, third, fourth] = [second, third, fourth].map(|bytes| bits(bytes, 0x3f));
            let two = _mm512_or_si512(_mm512_slli_epi32::<6>(bits(first, 0x1f)), second);
            let three = _mm512_or_si512(
                _mm512_slli_epi32::<12>(bits(first, 0x0f)),
                _mm512_or_si512(_mm512_slli_epi32::<6>(second), third),
            );
            let four = _mm512_or_si512(
                _mm512_or_si512(_mm512_slli_epi32::<18>(bits(first, 0x07)), _mm512_slli_epi32::<12>(second)),
                _mm512_or_si512(_mm512_slli_epi32::<6>(third), fourth),
            );
            let points = _mm512_mask_mov_epi32(first, is_two, two);
            let points = _mm512_mask_mov_epi32(points, is_three, three);
            let points = _mm512_mask_mov_epi32(points, is_four, four);
            let least = |mask, point| _mm512_mask_cmplt_epu32_mask(mask, points, _mm512_set1_epi32(point));
            let is_overlong = least(is_three, 0x800) | least(is_four, 0x1_0000);
            let is_above = _mm512_mask_cmpgt_epu32_mask(is_four, points, _mm512_set1_epi32(0x10_ffff));
            let is_surrogate =
                _mm512_mask_cmpeq_epu32_mask(is_three, bits(points, 0x1f_f800), _mm512_set1_epi32(0xd800));
            if is_overlong | is_above | is_surrogate != 0 {
                return false;
            }
            // SAFETY: `units` has memory for these units: their number was compared with the rest of it.
            unsafe {
                let place = units.as_mut_ptr().add(written + quarter * 16);
                _mm512_mask_storeu_epi32(place.cast(), valid, points);
            }
        }
        written += found.count;
        offset += found.len;
    }
    written == units.len()
}
