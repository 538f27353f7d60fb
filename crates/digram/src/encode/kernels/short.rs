//! Merging a short sequence of symbols by repeatedly scanning for the lowest rank.

use crate::cpu::SimdLevel;
use crate::merges::Merges;
use crate::vocabulary::TokenId;

use super::Sink;
use super::rank_key::{NONE, RankKey, key, rank_and_place};

/// Sequences of up to this many bytes are merged by scanning. Measured on prose and code: beyond it the
/// scan, which is quadratic, becomes slower than processing by rank.
pub(super) const SHORT: usize = 64;

/// Merges at most `count` symbols, where `count` is at most [`SHORT`], and emits the remaining tokens.
///
/// Takes quadratic time, on memory of a fixed size.
#[inline]
pub(super) fn merge(
    symbols: impl Iterator<Item = TokenId>,
    count: usize,
    merges: &Merges,
    simd: SimdLevel,
    sink: &mut impl Sink,
) {
    match count {
        // Most words of most languages have up to 16 bytes, whose keys fill two vectors.
        ..=16 => merge_up_to::<16>(symbols, merges, simd, sink),
        _ => merge_up_to::<SHORT>(symbols, merges, simd, sink),
    }
}

/// With AVX2 the minimum of sixteen keys takes a dozen instructions instead of fifty.
#[inline]
fn merge_up_to<const MAX: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    simd: SimdLevel,
    sink: &mut impl Sink,
) {
    match simd {
        SimdLevel::Plain => merge_by::<MAX>(symbols, merges, sink),
        // SAFETY: this level is chosen only where the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 | SimdLevel::Avx512 => unsafe { merge_avx2::<MAX>(symbols, merges, sink) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn merge_avx2<const MAX: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    sink: &mut impl Sink,
) {
    merge_by::<MAX>(symbols, merges, sink);
}

/// Shorter words are merged together with others (see [`lockstep`](super::lockstep)); this is for words that
/// are merged alone.
///
/// Tried and rejected: a search for the one sequence of tokens in which every two neighbours stay apart.
/// Words of two tokens, seven of ten in English, took about as long, and all others up to twice as long or
/// more, because of the failed look-ups. The tokens of a word, their parts, and the pairs at a boundary are
/// in three tables of megabytes, read one after the other, and such a read took 100 ns where measured; many
/// of the pairs that merging meets are frequent and cached.
///
/// Tried without effect: keys that stay in an AVX-512 register, and sentinels at both ends in place of the
/// two tests for a neighbour.
#[inline(always)]
fn merge_by<const MAX: usize>(symbols: impl Iterator<Item = TokenId>, merges: &Merges, sink: &mut impl Sink) {
    let key = |left: TokenId, right: TokenId, at: usize| key::<SHORT>(merges.rank(left, right), at);
    let mut ids = [0 as TokenId; MAX];
    // `keys[at]` is the key of the pair that starts at `at`.
    let mut keys = [NONE; MAX];
    let mut len = 0;
    for id in symbols {
        ids[len] = id;
        if len > 0 {
            keys[len - 1] = key(ids[len - 1], id, len - 1);
        }
        len += 1;
    }
    // Symbols do not move; a bit tells which of them remain. Neighbours are found by counting zeros, which
    // needs no memory access.
    let mut remaining = u64::MAX >> (SHORT - len);
    loop {
        let lowest = keys.iter().copied().fold(NONE, RankKey::min);
        if lowest == NONE {
            break;
        }
        let (rank, at) = rank_and_place::<SHORT>(lowest);
        ids[at] = merges.id(rank);
        let right = (remaining & beyond(at)).trailing_zeros() as usize;
        keys[right] = NONE;
        remaining &= !(1 << right);
        let next = (remaining & beyond(at)).trailing_zeros() as usize;
        keys[at] = if next < len { key(ids[at], ids[next], at) } else { NONE };
        let before = remaining & !(beyond(at) | 1 << at);
        if before > 0 {
            let previous = before.ilog2() as usize;
            keys[previous] = key(ids[previous], ids[at], previous);
        }
    }
    while remaining > 0 {
        sink.push_id(ids[remaining.trailing_zeros() as usize]);
        remaining &= remaining - 1;
    }
}

/// The bits above bit `at`.
#[inline]
fn beyond(at: usize) -> u64 {
    u64::MAX << 1 << at
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;

    #[test]
    fn all_simd_levels_merge_as_defined() {
        let mut next = naive::random();
        for _ in 0..100 {
            let (list, merges, _) = naive::random_merges(&mut next, 4, 30);
            for _ in 0..100 {
                let word: Vec<TokenId> = (0..1 + next(SHORT)).map(|_| next(4) as TokenId).collect();
                let expected = naive::merge(word.clone(), &list);
                for simd in SimdLevel::available() {
                    let (mut ids, symbols) = (Vec::new(), word.iter().copied());
                    merge(symbols, word.len(), &merges, simd, &mut ids);
                    assert_eq!(ids, expected, "{word:?} {simd:?}");
                }
            }
        }
    }
}
