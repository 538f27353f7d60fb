//! Reading characters of three bytes, sixteen at a time.

use std::arch::x86_64::*;

use super::{Neighbour, Pieces, Run, SafeSplits, ends_before_characters};
use crate::bits::{BitFilterView, PAIR_FACTORS};
use crate::encode::lookup::GROUP;

const LANES: usize = 16;

/// Continues a run like [`SafeSplits::read_three_by`], up to the last characters.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn read_three(splits: &SafeSplits, run: &mut Run, pieces: &mut Pieces<'_>) {
    let Pieces { text, pretoken_ends, ends, count } = pieces;
    let Run { mut number, mut at, left } = *run;
    let pairs = splits.pairs.view();
    let number_of = |value: u32| _mm512_set1_epi32(value as i32);
    let (mut left_codes, mut left_lasts) = (number_of(left.c.into()), number_of(left.last.into()));
    let mut left_beside = number_of(left.beside);
    // SAFETY: these are 64 bytes each.
    let load = |numbers: *const u8| unsafe { _mm512_loadu_si512(numbers.cast()) };
    // Written out: the compiler does not inline `map` here.
    let of_last = &splits.beside.of_last;
    let of_last = [load(of_last.as_ptr().cast()), load(of_last[32..].as_ptr().cast())];
    let own = &splits.beside.own;
    let own = [
        [load(own[0].as_ptr().cast()), load(own[0][16..].as_ptr().cast())],
        [load(own[1].as_ptr().cast()), load(own[1][16..].as_ptr().cast())],
    ];
    let last = pretoken_ends[pretoken_ends.len() - 1].min(text.len());
    while at < last && *count + LANES <= GROUP {
        let bytes = (last - at).min(3 * LANES);
        // SAFETY: only these bytes, which are in the text, are read.
        let block = unsafe { _mm512_maskz_loadu_epi8((1 << bytes) - 1, text.as_ptr().add(at).cast()) };
        // The three bytes of a character in each lane, the first as the highest.
        let words = _mm512_maskz_permutexvar_epi8(0x7777_7777_7777_7777, three_of_each(), block);
        let codes = _mm512_or_si512(
            _mm512_or_si512(
                _mm512_and_si512(_mm512_srli_epi32::<4>(words), number_of(0xf000)),
                _mm512_and_si512(_mm512_srli_epi32::<2>(words), number_of(0xfc0)),
            ),
            _mm512_and_si512(words, number_of(0x3f)),
        );
        // Three bytes of the right form, neither an overlong form nor a surrogate.
        let has_form = _mm512_and_si512(words, number_of(0xf0_c0c0));
        let are_characters = _mm512_cmpeq_epi32_mask(has_form, number_of(0xe0_8080))
            & _mm512_cmpge_epu32_mask(codes, number_of(0x800))
            & _mm512_cmpneq_epi32_mask(_mm512_and_si512(codes, number_of(0xf800)), number_of(0xd800));
        let characters = are_characters.trailing_ones() as usize;
        if characters == 0 {
            break;
        }
        let lasts = _mm512_and_si512(words, number_of(0xff));
        let before = _mm512_alignr_epi32::<15>(codes, left_codes);
        let before_lasts = _mm512_alignr_epi32::<15>(lasts, left_lasts);

        let lanes = ((1u32 << characters) - 1) as __mmask16;
        let beside = match have_own(&own, codes) & lanes {
            0 => {
                _mm512_and_si512(_mm512_permutex2var_epi16(of_last[0], lasts, of_last[1]), number_of(0xffff))
            }
            // SAFETY: the codes of characters of three bytes, and of what is none, are below 2^16.
            _ => unsafe { _mm512_i32gather_epi32::<4>(codes, splits.beside.bits.as_ptr().cast()) },
        };
        let before_beside = _mm512_alignr_epi32::<15>(beside, left_beside);
        let behind = _mm512_srlv_epi32(before_beside, _mm512_srli_epi32::<12>(codes));
        let last_bits = _mm512_or_si512(_mm512_and_si512(before_lasts, number_of(15)), number_of(16));
        let by_byte = _mm512_or_si512(behind, _mm512_srlv_epi32(beside, last_bits));
        let spanned = u32::from(
            bits(pairs, pair_hashes(before, codes)) | _mm512_test_epi32_mask(by_byte, number_of(1)),
        );
        let are_ends = ends_before_characters(pretoken_ends, &mut number, at, characters);
        let places = (are_ends | !spanned) & u32::from(lanes);
        for half in [0, 8] {
            let half_places = (places >> half) as u8;
            let offsets = _mm512_add_epi64(
                _mm512_set1_epi64((at + 3 * half) as i64),
                _mm512_set_epi64(21, 18, 15, 12, 9, 6, 3, 0),
            );
            let offsets = _mm512_maskz_compress_epi64(half_places, offsets);
            // SAFETY: there is space for as many ends as there are lanes.
            unsafe { _mm512_storeu_si512(ends.as_mut_ptr().add(*count).cast(), offsets) };
            *count += half_places.count_ones() as usize;
        }
        let last_lane = number_of(characters as u32 - 1);
        left_codes = _mm512_permutexvar_epi32(last_lane, codes);
        left_lasts = _mm512_permutexvar_epi32(last_lane, lasts);
        left_beside = _mm512_permutexvar_epi32(last_lane, beside);
        at += 3 * characters;
    }
    let first = |lanes: __m512i| _mm512_cvtsi512_si32(lanes) as u32;
    let (code, last, beside) = (first(left_codes), first(left_lasts), first(left_beside));
    // SAFETY: it is the code of a character.
    let c = unsafe { char::from_u32_unchecked(code) };
    *run = Run { number, at, left: Neighbour { c, last: last as u8, beside, ..left } };
}

/// The places of the bytes of characters of three bytes each, the last byte of each first.
#[inline]
#[target_feature(enable = "avx512f")]
fn three_of_each() -> __m512i {
    const PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut at = 0;
        while at < 64 {
            places[at] = (at / 4 * 3 + [2, 1, 0, 0][at % 4]) as u8;
            at += 1;
        }
        places
    };
    // SAFETY: these are 64 bytes.
    unsafe { _mm512_loadu_si512(PLACES.as_ptr().cast()) }
}

/// Which of these characters may have bits of their own.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn have_own(own: &[[__m512i; 2]; 2], codes: __m512i) -> __mmask16 {
    let bits = |half: &[__m512i; 2], place: __m512i| {
        let words = _mm512_permutex2var_epi32(half[0], _mm512_srli_epi32::<11>(codes), half[1]);
        _mm512_srlv_epi32(words, _mm512_and_si512(place, _mm512_set1_epi32(31)))
    };
    let both = _mm512_and_si512(bits(&own[0], _mm512_srli_epi32::<6>(codes)), bits(&own[1], codes));
    _mm512_test_epi32_mask(both, _mm512_set1_epi32(1))
}

/// [`pair_hash`](crate::bits::pair_hash) of two numbers in each lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn pair_hashes(left: __m512i, right: __m512i) -> __m512i {
    let [left_factor, right_factor] = PAIR_FACTORS.map(|factor| _mm512_set1_epi32(factor as i32));
    let sum =
        _mm512_add_epi32(_mm512_mullo_epi32(left, left_factor), _mm512_mullo_epi32(right, right_factor));
    _mm512_xor_si512(sum, _mm512_srli_epi32::<15>(sum))
}

/// Which of these hashes a set may contain.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bits(set: BitFilterView<'_>, hashes: __m512i) -> __mmask16 {
    let (words, mask) = set.words_of_32_bits();
    let index = _mm512_and_si512(_mm512_srli_epi32::<5>(hashes), _mm512_set1_epi32(mask as i32));
    // SAFETY: a masked index is that of a word.
    let words = unsafe { _mm512_i32gather_epi32::<4>(index, words.cast()) };
    let bit = _mm512_srlv_epi32(words, _mm512_and_si512(hashes, _mm512_set1_epi32(31)));
    _mm512_test_epi32_mask(bit, _mm512_set1_epi32(1))
}
