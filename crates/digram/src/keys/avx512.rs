//! The keys of consecutive pretokens and their hashes, four at a time.

use std::arch::x86_64::*;

use super::{FOUR, KeyRule, Pretokens, TokenKey, readable_fours};

/// See [`KeyRule::by_fours`]. Pretokens near the end of the text, where 16 bytes cannot be read, are left out.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn by_fours(
    rule: KeyRule,
    pretokens: Pretokens<'_>,
    keys: &mut [u128],
    places: &mut [u32],
    ahead: impl Fn(u32),
) -> (usize, u64) {
    let Pretokens { text, start, ends } = pretokens;
    let four = |number: u128| {
        _mm512_set4_epi64((number >> 64) as i64, number as i64, (number >> 64) as i64, number as i64)
    };
    let seeds = four(u128::from(rule.seeds[1]) << 64 | u128::from(rule.seeds[0]));
    let owner = four(rule.owner);
    // In each 16 bytes: the numbers of the bytes, and the place of the length of this pretoken in a vector of four lengths.
    let numbers = four(u128::from_le_bytes(std::array::from_fn(|number| number as u8)));
    let at_length = |number: i64| number * 0x0808_0808_0808_0808;
    let lengths = _mm512_set_epi64(
        at_length(3),
        at_length(3),
        at_length(2),
        at_length(2),
        at_length(1),
        at_length(1),
        0,
        0,
    );
    let halves = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 8, 4, 0);
    let longest = _mm512_set1_epi64(TokenKey::MAX as i64);
    let count = readable_fours(pretokens).min(keys.len() / FOUR * FOUR).min(places.len() / FOUR * FOUR);
    if count == 0 {
        return (0, 0);
    }
    let first_starts = [start, ends[0], ends[1], ends[2]];
    let mut long = 0u64;
    for number in (0..count).step_by(FOUR) {
        // The other starts are the ends before.
        let before = ends.as_ptr().wrapping_add(number).wrapping_sub(1);
        let starts = if number == 0 { first_starts.as_ptr() } else { before };
        // SAFETY: 16 bytes from the last start on, and so from each, are in the text.
        let block = unsafe {
            let sixteen = |number: usize| _mm_loadu_si128(text.as_ptr().add(*starts.add(number)).cast());
            let halves = [(0, 1), (2, 3)].map(|(first, second)| {
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(sixteen(first)), sixteen(second))
            });
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(halves[0]), halves[1])
        };
        // SAFETY: four starts and four ends are there.
        let [four_starts, four_ends] =
            unsafe { [starts, ends.as_ptr().add(number)].map(|first| _mm256_loadu_si256(first.cast())) };
        let lens = _mm512_castsi256_si512(_mm256_sub_epi64(four_ends, four_starts));
        let are_long = _mm512_cmpgt_epu64_mask(lens, longest) & 0xf;
        long |= u64::from(are_long != 0) << (number / FOUR);
        let lens = _mm512_permutexvar_epi8(lengths, lens);
        let bytes = _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(numbers, lens), block);
        // The length is the last byte.
        let all = _mm512_mask_mov_epi8(bytes, 0x8000_8000_8000_8000, lens);
        let all = _mm512_or_si512(all, owner);
        let sums = _mm512_add_epi32(all, seeds);
        let products = _mm512_mul_epu32(sums, _mm512_srli_epi64::<32>(sums));
        let sum = _mm512_add_epi64(products, _mm512_permutex_epi64::<0b10_11_00_01>(products));
        let folded = _mm512_xor_si512(sum, _mm512_srli_epi64::<32>(sum));
        let folded = _mm512_castsi512_si128(_mm512_permutexvar_epi32(halves, folded));
        let found = _mm_srl_epi32(folded, _mm_cvtsi32_si128(rule.places.shift as i32));
        // SAFETY: four keys and four places are there.
        unsafe {
            _mm512_storeu_si512(keys.as_mut_ptr().add(number).cast(), all);
            _mm_storeu_si128(places.as_mut_ptr().add(number).cast(), found);
        }
        places[number..number + FOUR].iter().for_each(|&place| ahead(place));
    }
    (count, long)
}
