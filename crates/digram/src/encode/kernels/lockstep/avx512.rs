//! The symbols that words start with, sixteen bytes at a time.

use std::arch::x86_64::*;

use super::super::first_merges::{FirstMerges, NO_MERGE, RANK_BITS};
use super::super::rank_key::{NONE, RankKey};
use super::{LONGEST, Lockstep, THREE, Word};
use crate::bits::set_bits;
use crate::merges::Merges;

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
            if !first_merges.is_of_bytes(bytes) {
                self.push_characters(bytes, first_merges, merges);
                continue;
            }
            let merged = start(&mut self.words[self.count], bytes, first_merges, merges);
            self.ask_beside(merged, merges);
        }
    }

    /// As [`Lockstep::close_gaps`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn close_gaps_avx512(&mut self) {
        for word in &mut self.words[..self.count] {
            let mut count = 0;
            for at in (0..(word.len as usize).min(LEN)).step_by(LANES) {
                let remaining = (word.remaining >> at) as __mmask16;
                // SAFETY: a word has memory for `LEN` ids, and `count` is at most `at`, so that only ids that were
                // read are overwritten.
                unsafe {
                    let ids = _mm512_loadu_si512(word.ids.as_ptr().add(at).cast());
                    let ids = _mm512_maskz_compress_epi32(remaining, ids);
                    _mm512_storeu_si512(word.ids.as_mut_ptr().add(count).cast(), ids);
                }
                count += remaining.count_ones() as usize;
            }
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
    // The word with zeros behind it.
    let mut padded = [0u8; LONGEST + 1];
    let in_word = u64::MAX >> (LONGEST - len);
    // SAFETY: only bytes of the word are read.
    let block = unsafe { _mm512_maskz_loadu_epi8(in_word, bytes.as_ptr().cast()) };
    // SAFETY: there is space for as many bytes.
    unsafe { _mm512_storeu_si512(padded.as_mut_ptr().cast(), block) };
    let has_three = _mm512_cmpge_epu8_mask(block, _mm512_set1_epi8(THREE as i8)) != 0;
    let none = _mm512_set1_epi32(NO_MERGE as i32);
    let [mut ranks, mut takes_first] = [[none; LONGEST / LANES + 1]; 2];
    // With those of no pairs before the first.
    let mut takes_second = [none; LONGEST / LANES + 1];
    for chunk in 0..LEN / LANES {
        let at = chunk * LANES;
        // The first chunk is read for words of one byte too, without a branch.
        if chunk > 0 && at + 1 >= len {
            break;
        }
        let pair = |number: usize| {
            let at = at + number;
            first_merges.pair([padded[at], padded[at + 1]]).number() as i64
        };
        let packed = [
            _mm512_set_epi64(pair(7), pair(6), pair(5), pair(4), pair(3), pair(2), pair(1), pair(0)),
            _mm512_set_epi64(pair(15), pair(14), pair(13), pair(12), pair(11), pair(10), pair(9), pair(8)),
        ];
        let are_pairs = first_lanes((len - 1).saturating_sub(at));
        ranks[chunk] = ranks_of::<0>(packed, are_pairs);
        takes_second[chunk + 1] = ranks_of::<RANK_BITS>(packed, are_pairs);
        takes_first[chunk] = ranks_of::<{ 2 * RANK_BITS }>(packed, are_pairs);
    }
    for chunk in 0..LEN / LANES {
        let at = chunk * LANES;
        if chunk > 0 && at >= len {
            break;
        }
        // Of the pair before each, and of the next one.
        let takes_second = _mm512_alignr_epi32::<15>(takes_second[chunk + 1], takes_second[chunk]);
        let takes_first = _mm512_alignr_epi32::<1>(takes_first[chunk + 1], takes_first[chunk]);
        // Two symbols are merged at once if neither is taken by another one before.
        let is_merged = _mm512_cmplt_epu32_mask(ranks[chunk], takes_second)
            & _mm512_cmplt_epu32_mask(ranks[chunk], takes_first);
        merged |= u64::from(is_merged) << at;
        let mut ids = byte_ids(&padded, at, first_merges);
        if let Some(first) = merges.first_id() {
            ids = _mm512_mask_add_epi32(ids, is_merged, ranks[chunk], _mm512_set1_epi32(first as i32));
        }
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
        let has_key = _mm512_cmpneq_epi32_mask(ranks, none) & !((without_key >> at) as __mmask16);
        let keys = _mm512_mask_mov_epi32(_mm512_set1_epi32(NONE), has_key, keys);
        // SAFETY: there is space for the keys of a chunk.
        unsafe { _mm512_storeu_si512(word.keys.as_mut_ptr().add(at).cast::<RankKey>().cast(), keys) };
    }
    if merges.first_id().is_none() {
        for at in set_bits(merged) {
            word.ids[at] = merges.id(first_merges.pair([bytes[at], bytes[at + 1]]).rank());
        }
    }
    word.remaining = in_word & !(merged << 1);
    word.len = len as u32;
    match first_merges.whole_characters() {
        Some(characters) if has_three => word.start_with(characters, bytes, merged),
        _ => merged,
    }
}

/// The ranks from a bit on of eight pairs each, where there are pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn ranks_of<const BIT: u32>([low, high]: [__m512i; 2], are_pairs: __mmask16) -> __m512i {
    let low = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<BIT>(low));
    let high = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<BIT>(high));
    let all = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    let none = _mm512_set1_epi32(NO_MERGE as i32);
    _mm512_mask_and_epi32(none, are_pairs, all, none)
}

/// The tokens of sixteen bytes from a place on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn byte_ids(bytes: &[u8; LONGEST + 1], at: usize, first_merges: &FirstMerges) -> __m512i {
    assert!(at + LANES <= LONGEST);
    // SAFETY: these bytes are there.
    let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().add(at).cast()) };
    let Some((lowest, differences)) = first_merges.near_ids() else {
        // SAFETY: all bytes have an id.
        return unsafe {
            _mm512_i32gather_epi32::<4>(_mm512_cvtepu8_epi32(bytes), first_merges.ids().as_ptr().cast())
        };
    };
    // SAFETY: there are four times 64 bytes.
    let quarter = |number: usize| unsafe { _mm512_loadu_si512(differences.as_ptr().add(number * 64).cast()) };
    let wide = _mm512_castsi128_si512(bytes);
    let low = _mm512_permutex2var_epi8(quarter(0), wide, quarter(1));
    let high = _mm512_permutex2var_epi8(quarter(2), wide, quarter(3));
    let differences = _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(wide), high);
    let differences = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(differences));
    _mm512_add_epi32(differences, _mm512_set1_epi32(*lowest as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::SimdLevel;
    use crate::vocabulary::{TokenId, Vocabulary};

    #[test]
    fn bytes_become_their_ids() {
        if !SimdLevel::available().contains(&SimdLevel::Avx512) {
            return;
        }
        let shuffled = std::array::from_fn(|byte| (byte * 77 % 256) as TokenId);
        for (ids, are_near) in
            [(shuffled, true), (shuffled.map(|id| id + 1_000_000), true), (shuffled.map(|id| id * 2), false)]
        {
            let vocabulary = Vocabulary::new(std::iter::empty::<Option<Vec<u8>>>()).unwrap();
            let first_merges = FirstMerges::new(&ids, &Merges::with_capacity(0), &vocabulary, None);
            assert_eq!(first_merges.near_ids().is_some(), are_near);
            for start in 0..256 {
                let bytes: [u8; LONGEST + 1] = std::array::from_fn(|at| (start + at * 5) as u8);
                for at in [0, 16, LONGEST - LANES] {
                    let mut found = [0; LANES];
                    // SAFETY: the processor has these instructions, and there is space for sixteen ids.
                    unsafe {
                        _mm512_storeu_si512(found.as_mut_ptr().cast(), byte_ids(&bytes, at, &first_merges));
                    }
                    assert_eq!(found, std::array::from_fn(|lane| ids[usize::from(bytes[at + lane])]));
                }
            }
        }
    }
}
