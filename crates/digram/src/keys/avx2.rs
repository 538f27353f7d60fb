//! The keys of consecutive pretokens and their hashes, four at a time, in two vectors.

use std::arch::x86_64::*;

use super::{FOUR, KeyRule, Pretokens, TokenKey, readable_fours};

/// See [`KeyRule::by_fours`]. Pretokens near the end of the text, where 16 bytes cannot be read, are left out.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn by_fours(
    rule: KeyRule,
    pretokens: Pretokens<'_>,
    keys: &mut [u128],
    places: &mut [u32],
    ahead: impl Fn(u32),
) -> (usize, u64) {
    let Pretokens { text, start, ends } = pretokens;
    let two = |number: u128| {
        let [high, low] = [(number >> 64) as i64, number as i64];
        _mm256_set_epi64x(high, low, high, low)
    };
    let seeds = two(u128::from(rule.seeds[1]) << 64 | u128::from(rule.seeds[0]));
    let owner = two(rule.owner);
    // In each 16 bytes: the numbers of the bytes. The last is the place of the length.
    let numbers = two(u128::from_le_bytes(std::array::from_fn(|number| match number {
        TokenKey::MAX => i8::MAX as u8,
        number => number as u8,
    })));
    let last = two(0xff << (8 * TokenKey::MAX));
    let longest = _mm256_set1_epi64x(TokenKey::MAX as i64);
    let shift = _mm_cvtsi32_si128(rule.places.shift as i32);
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
        // SAFETY: four starts and four ends are there.
        let [four_starts, four_ends] =
            unsafe { [starts, ends.as_ptr().add(number)].map(|first| _mm256_loadu_si256(first.cast())) };
        let lens = _mm256_sub_epi64(four_ends, four_starts);
        let are_long = _mm256_movemask_epi8(_mm256_cmpgt_epi64(lens, longest));
        long |= u64::from(are_long != 0) << (number / FOUR);
        // The keys of two pretokens, whose lengths are each in the lowest byte of 16, and their hashes.
        let pair = |first: usize, second: usize, lens: __m256i| {
            // SAFETY: 16 bytes from the last start on, and so from each, are in the text.
            let block = unsafe {
                let sixteen = |number: usize| _mm_loadu_si128(text.as_ptr().add(*starts.add(number)).cast());
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(sixteen(first)), sixteen(second))
            };
            let lens = _mm256_shuffle_epi8(lens, _mm256_setzero_si256());
            let bytes = _mm256_and_si256(_mm256_cmpgt_epi8(lens, numbers), block);
            let all = _mm256_or_si256(bytes, _mm256_or_si256(_mm256_and_si256(lens, last), owner));
            let sums = _mm256_add_epi32(all, seeds);
            let products = _mm256_mul_epu32(sums, _mm256_srli_epi64::<32>(sums));
            let sum = _mm256_add_epi64(products, _mm256_shuffle_epi32::<0b01_00_11_10>(products));
            (all, _mm256_xor_si256(sum, _mm256_srli_epi64::<32>(sum)))
        };
        let (low, low_hashes) = pair(0, 1, _mm256_permute4x64_epi64::<0b01_01_00_00>(lens));
        let (high, high_hashes) = pair(2, 3, _mm256_permute4x64_epi64::<0b11_11_10_10>(lens));
        // The first quarter of each 16 bytes, in order.
        let hashes = _mm256_blend_epi32::<0b0010_0010>(low_hashes, _mm256_slli_epi64::<32>(high_hashes));
        let hashes = _mm256_permutevar8x32_epi32(hashes, _mm256_set_epi32(0, 0, 0, 0, 5, 1, 4, 0));
        let found = _mm_srl_epi32(_mm256_castsi256_si128(hashes), shift);
        // SAFETY: four keys and four places are there.
        unsafe {
            let keys = keys.as_mut_ptr().add(number).cast::<__m256i>();
            _mm256_storeu_si256(keys, low);
            _mm256_storeu_si256(keys.add(1), high);
            _mm_storeu_si128(places.as_mut_ptr().add(number).cast(), found);
        }
        places[number..number + FOUR].iter().for_each(|&place| ahead(place));
    }
    (count, long)
}
