//! The symbols that words start with, sixteen bytes at a time.

use std::arch::x86_64::*;

use super::super::first_merges::FirstMerges;
use super::super::rank_key::{NONE, RankKey};
use super::{LONGEST, Lockstep, Word};
use crate::bits::set_bits;
use crate::merges::{Merges, NO_RANK};

const LANES: usize = 16;

/// The lowest bits, at most as many as there are lanes.
#[inline(always)]
fn first_lanes(count: usize) -> __mmask16 {
    ((1u32 << count.min(LANES)) - 1) as __mmask16
}

impl<const LEN: usize> Lockstep<LEN> {
    /// Adds words like [`Lockstep::push`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn push_avx512<'a>(
        &mut self,
        words: impl Iterator<Item = &'a [u8]>,
        first_merges: &FirstMerges,
        merges: &Merges,
    ) {
        for bytes in words {
            let bytes = &bytes[..bytes.len().min(LEN)];
            let merged = start(&mut self.words[self.count], bytes, first_merges, merges);
            self.ask_beside(merged, merges);
        }
    }
}

/// Sets the symbols and the keys of a word, and returns the places of the pairs that are merged at once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn start<const LEN: usize>(
    word: &mut Word<LEN>,
    bytes: &[u8],
    first_merges: &FirstMerges,
    merges: &Merges,
) -> u64 {
    const { assert!(LEN.is_multiple_of(LANES) && LEN <= LONGEST) };
    let (len, mut merged) = (bytes.len(), 0u64);
    let mut ranks = [_mm512_set1_epi32(-1); LONGEST / LANES];
    for (chunk, ranks) in ranks[..LEN / LANES].iter_mut().enumerate() {
        let at = chunk * LANES;
        if at >= len {
            break;
        }
        let left = len - at;
        // The byte at each place, the one before it and the two behind it; zeros beyond the word.
        let pointer = bytes.as_ptr().wrapping_add(at);
        // SAFETY: only bytes of the word are read.
        let [byte, before, next, second] = unsafe {
            [
                load(first_lanes(left), pointer),
                load(first_lanes(left) & !u16::from(at == 0), pointer.wrapping_sub(1)),
                load(first_lanes(left - 1), pointer.wrapping_add(1)),
                load(first_lanes(left.saturating_sub(2)), pointer.wrapping_add(2)),
            ]
        };
        let pairs = [(before, byte), (byte, next), (next, second)].map(|(first, second)| {
            let index = _mm512_or_si512(_mm512_slli_epi32::<8>(first), second);
            // A pair has three numbers.
            _mm512_add_epi32(index, _mm512_slli_epi32::<1>(index))
        });
        let has_before = first_lanes(left - 1) & !u16::from(at == 0);
        // SAFETY: all indices are those of pairs of bytes, and all bytes have an id.
        let [takes_second, takes_first, ids] = unsafe {
            let [rank, takes_second, takes_first] = first_merges.numbers();
            *ranks = numbers(rank, first_lanes(left - 1), pairs[1]);
            let ids = _mm512_maskz_mov_epi32(first_lanes(left), byte);
            [
                numbers(takes_second, has_before, pairs[0]),
                numbers(takes_first, first_lanes(left.saturating_sub(2)), pairs[2]),
                _mm512_i32gather_epi32::<4>(ids, first_merges.ids().as_ptr().cast()),
            ]
        };
        // Two symbols are merged at once if neither is taken by another one before.
        let is_merged =
            _mm512_cmplt_epu32_mask(*ranks, takes_second) & _mm512_cmplt_epu32_mask(*ranks, takes_first);
        merged |= u64::from(is_merged) << at;
        // SAFETY: there is space for the ids of a chunk.
        unsafe { _mm512_storeu_si512(word.ids.as_mut_ptr().add(at).cast(), ids) };
    }
    // Merged pairs have no key, nor have those beside them.
    let without_key = merged | merged << 1 | merged >> 1;
    for (chunk, &ranks) in ranks[..LEN / LANES].iter().enumerate() {
        let at = chunk * LANES;
        let places = _mm512_add_epi32(
            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
            _mm512_set1_epi32(at as i32),
        );
        let keys = _mm512_or_si512(_mm512_slli_epi32::<{ LONGEST.ilog2() }>(ranks), places);
        let has_key = _mm512_cmpneq_epi32_mask(ranks, _mm512_set1_epi32(NO_RANK as i32))
            & !((without_key >> at) as __mmask16);
        let keys = _mm512_mask_mov_epi32(_mm512_set1_epi32(NONE), has_key, keys);
        // SAFETY: there is space for the keys of a chunk.
        unsafe { _mm512_storeu_si512(word.keys.as_mut_ptr().add(at).cast::<RankKey>().cast(), keys) };
    }
    for at in set_bits(merged) {
        let rank = first_merges.pair(bytes[at], bytes[at + 1]).rank;
        word.ids[at] = merges.id(rank);
    }
    word.remaining = u64::MAX >> (LONGEST - len) & !(merged << 1);
    word.len = len as u32;
    merged
}

/// The bytes at the lanes of a mask as numbers of 32 bits, and zeros at the others.
///
/// # Safety
///
/// The bytes at these lanes are valid.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn load(lanes: __mmask16, bytes: *const u8) -> __m512i {
    // SAFETY: a masked load reads no other bytes.
    let block = unsafe { _mm512_maskz_loadu_epi8(lanes.into(), bytes.cast()) };
    _mm512_cvtepu8_epi32(_mm512_castsi512_si128(block))
}

/// The numbers at indices, and [`NO_RANK`] outside the lanes of a mask.
///
/// # Safety
///
/// There is a number at each index in these lanes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn numbers(first: *const u32, lanes: __mmask16, indices: __m512i) -> __m512i {
    let none = _mm512_set1_epi32(NO_RANK as i32);
    // SAFETY: as the caller promises.
    unsafe { _mm512_mask_i32gather_epi32::<4>(none, lanes, indices, first.cast()) }
}
