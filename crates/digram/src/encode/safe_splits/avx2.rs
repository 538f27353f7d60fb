//! Reading characters of three bytes, eight at a time.

use std::arch::x86_64::*;

use super::{Neighbour, Pieces, Run, SafeSplits, ends_before_characters};
use crate::bits::{BitFilterView, PAIR_FACTORS};
use crate::encode::lookup::GROUP;

const LANES: usize = 8;

/// Fewer characters are read one by one.
const FEW: usize = 3;

/// The bytes that are read together: two vectors of four characters, each with four bytes more.
const READ: usize = 3 * LANES + 4;

/// Continues a run like [`SafeSplits::read_three_by`], up to the last characters.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn read_three(splits: &SafeSplits, run: &mut Run, pieces: &mut Pieces<'_>) {
    match splits.beside.is_empty {
        true => read_three_with::<false>(splits, run, pieces),
        false => read_three_with::<true>(splits, run, pieces),
    }
}

/// The same; if not `BESIDE`, all tokens consist of whole characters.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn read_three_with<const BESIDE: bool>(splits: &SafeSplits, run: &mut Run, pieces: &mut Pieces<'_>) {
    let Pieces { text, pretoken_ends, ends, count } = pieces;
    let Run { mut number, mut at, left } = *run;
    let pairs = splits.pairs.view();
    let number_of = |value: u32| _mm256_set1_epi32(value as i32);
    let and = |lanes: __m256i, mask: u32| _mm256_and_si256(lanes, number_of(mask));
    let (mut left_codes, mut left_lasts) = (number_of(left.c.into()), number_of(left.last.into()));
    let mut left_beside = number_of(left.beside);
    // The lanes one place further, the first being the last of the lanes before.
    let behind = |before: __m256i, lanes: __m256i| {
        let moved = _mm256_permutevar8x32_epi32(lanes, _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7));
        _mm256_blend_epi32::<1>(moved, before)
    };
    let last = pretoken_ends[pretoken_ends.len() - 1].min(text.len());
    while at < last && at + READ <= text.len() && *count + LANES <= GROUP {
        // SAFETY: these bytes are in the text.
        let block = unsafe {
            let sixteen = |at: usize| _mm_loadu_si128(text.as_ptr().add(at).cast());
            let half = _mm256_castsi128_si256(sixteen(at));
            _mm256_inserti128_si256::<1>(half, sixteen(at + READ - 16))
        };
        // The three bytes of a character in each lane, the first as the highest.
        let words = _mm256_shuffle_epi8(block, three_of_each());
        let codes = _mm256_or_si256(
            _mm256_or_si256(
                and(_mm256_srli_epi32::<4>(words), 0xf000),
                and(_mm256_srli_epi32::<2>(words), 0xfc0),
            ),
            and(words, 0x3f),
        );
        // Three bytes of the right form, neither an overlong form nor a surrogate.
        let have_form = _mm256_cmpeq_epi32(and(words, 0xf0_c0c0), number_of(0xe0_8080));
        let are_long = _mm256_cmpgt_epi32(codes, number_of(0x7ff));
        let are_surrogates = _mm256_cmpeq_epi32(and(codes, 0xf800), number_of(0xd800));
        let are_characters = _mm256_andnot_si256(are_surrogates, _mm256_and_si256(have_form, are_long));
        let characters = (mask_of(are_characters).trailing_ones() as usize).min((last - at) / 3);
        if characters < FEW {
            break;
        }
        let before = behind(left_codes, codes);
        let mut spanned = bits(pairs, pair_hashes(before, codes));
        let last_lane = number_of(characters as u32 - 1);
        let lasts = and(words, 0xff);
        if BESIDE {
            let before_lasts = behind(left_lasts, lasts);
            // SAFETY: the codes of characters of three bytes, and of what is none, are below 2^16.
            let beside = unsafe { _mm256_i32gather_epi32::<4>(splits.beside.bits.as_ptr().cast(), codes) };
            let before_beside = behind(left_beside, beside);
            let by_first = _mm256_srlv_epi32(before_beside, _mm256_srli_epi32::<12>(codes));
            let by_last = _mm256_srlv_epi32(beside, _mm256_or_si256(and(before_lasts, 15), number_of(16)));
            spanned = _mm256_or_si256(_mm256_or_si256(by_first, by_last), spanned);
            left_beside = _mm256_permutevar8x32_epi32(beside, last_lane);
        }
        let spanned = mask_of(_mm256_slli_epi32::<31>(spanned));
        let are_ends = ends_before_characters(pretoken_ends, &mut number, at, characters);
        let places = (are_ends | !spanned) & ((1 << characters) - 1);
        // The offsets of these lanes, one after the other, a byte each.
        let chosen = _pdep_u64(places.into(), 0x0101_0101_0101_0101) * 0xff;
        let offsets = _mm_cvtsi64_si128(_pext_u64(0x1512_0f0c_0906_0300, chosen).cast_signed());
        let four = |offsets| _mm256_add_epi64(_mm256_set1_epi64x(at as i64), _mm256_cvtepu8_epi64(offsets));
        // SAFETY: there is space for as many ends, of eight bytes, as there are lanes.
        unsafe {
            let free = ends.as_mut_ptr().add(*count).cast::<__m256i>();
            _mm256_storeu_si256(free, four(offsets));
            _mm256_storeu_si256(free.add(1), four(_mm_srli_si128::<4>(offsets)));
        }
        *count += places.count_ones() as usize;
        left_codes = _mm256_permutevar8x32_epi32(codes, last_lane);
        left_lasts = _mm256_permutevar8x32_epi32(lasts, last_lane);
        at += 3 * characters;
    }
    let [code, last, beside] =
        [left_codes, left_lasts, left_beside].map(|lanes| _mm256_cvtsi256_si32(lanes) as u32);
    // SAFETY: it is the code of a character.
    let c = unsafe { char::from_u32_unchecked(code) };
    *run = Run { number, at, left: Neighbour { c, last: last as u8, beside, ..left } };
}

/// The highest bit of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn mask_of(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

/// In each half of a block, the places of the bytes of four characters, the last byte of each first.
#[inline]
#[target_feature(enable = "avx2")]
fn three_of_each() -> __m256i {
    const NONE: u8 = 0x80;
    let places: [u8; 16] = [2, 1, 0, NONE, 5, 4, 3, NONE, 8, 7, 6, NONE, 11, 10, 9, NONE];
    // SAFETY: these are sixteen bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(places.as_ptr().cast()) })
}

/// [`pair_hash`](crate::bits::pair_hash) of two numbers in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn pair_hashes(left: __m256i, right: __m256i) -> __m256i {
    let [left_factor, right_factor] = PAIR_FACTORS.map(|factor| _mm256_set1_epi32(factor as i32));
    let sum =
        _mm256_add_epi32(_mm256_mullo_epi32(left, left_factor), _mm256_mullo_epi32(right, right_factor));
    _mm256_xor_si256(sum, _mm256_srli_epi32::<15>(sum))
}

/// For each of these hashes, in the lowest bit of its lane, whether a set may contain it; the other bits have no
/// meaning.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(set: BitFilterView<'_>, hashes: __m256i) -> __m256i {
    let (words, mask) = set.words_of_32_bits();
    let index = _mm256_and_si256(_mm256_srli_epi32::<5>(hashes), _mm256_set1_epi32(mask as i32));
    // SAFETY: a masked index is that of a word.
    let words = unsafe { _mm256_i32gather_epi32::<4>(words.cast(), index) };
    _mm256_srlv_epi32(words, _mm256_and_si256(hashes, _mm256_set1_epi32(31)))
}
