//! Merging a short sequence of symbols by repeatedly scanning for the lowest rank.

use crate::cpu::SimdLevel;
use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

use super::Sink;

/// Sequences of up to this many bytes are merged by scanning. Measured on prose and code: beyond it the
/// scan, which is quadratic, becomes slower than processing by rank.
pub(super) const SHORT: usize = 64;

/// A rank in the upper bits and the place of its pair in the lower ones, so that the minimum is the lowest
/// rank, and of equal ranks the leftmost. Signed, because processors compare signed numbers faster: a
/// branch-free minimum was a third faster than a search with branches.
type RankKey = i32;

const PLACE_BITS: u32 = SHORT.ilog2();

const NONE: RankKey = RankKey::MAX;

const _: () =
    assert!(MAX_VOCAB_SIZE.ilog2() + PLACE_BITS < RankKey::BITS - 1, "a rank and a place fit into a key");

/// Merges up to `MAX` symbols, where `MAX` is at most [`SHORT`], and emits the remaining tokens.
///
/// Takes quadratic time, on memory of a fixed size.
///
/// With AVX2 the minimum of sixteen keys takes a dozen instructions instead of fifty.
#[inline]
pub(super) fn merge<const MAX: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    simd: SimdLevel,
    sink: &mut impl Sink,
) {
    match simd {
        SimdLevel::Plain => merge_by::<MAX>(symbols, merges, sink),
        // SAFETY: the way was chosen because the processor has these instructions.
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
    let key = |left: TokenId, right: TokenId, at: usize| match merges.rank(left, right) {
        NO_RANK => NONE,
        rank => (rank << PLACE_BITS) as RankKey | at as RankKey,
    };
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
    let mut standing = u64::MAX >> (SHORT - len);
    loop {
        let lowest = keys.iter().copied().fold(NONE, RankKey::min);
        if lowest == NONE {
            break;
        }
        let at = (lowest & (SHORT as RankKey - 1)) as usize;
        ids[at] = merges.id((lowest >> PLACE_BITS) as Rank);
        let right = (standing & beyond(at)).trailing_zeros() as usize;
        keys[right] = NONE;
        standing &= !(1 << right);
        let next = (standing & beyond(at)).trailing_zeros() as usize;
        keys[at] = if next < len { key(ids[at], ids[next], at) } else { NONE };
        let before = standing & !(beyond(at) | 1 << at);
        if before > 0 {
            let previous = before.ilog2() as usize;
            keys[previous] = key(ids[previous], ids[at], previous);
        }
    }
    while standing > 0 {
        sink.push_id(ids[standing.trailing_zeros() as usize]);
        standing &= standing - 1;
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
    use crate::merges::Merge;
    use crate::vocabulary::Vocabulary;

    #[test]
    fn all_ways_merge_as_defined() {
        let mut random = 1u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for _ in 0..100 {
            let mut tokens: Vec<Vec<u8>> = (0..4).map(|byte| vec![byte]).collect();
            let mut list: Vec<Merge> = Vec::new();
            while list.len() < 30 {
                let (left, right) = (next(tokens.len()) as TokenId, next(tokens.len()) as TokenId);
                if list.iter().all(|merge| (merge.left, merge.right) != (left, right)) {
                    list.push(Merge { left, right, id: tokens.len() as TokenId });
                    tokens.push([&tokens[left as usize][..], &tokens[right as usize]].concat());
                }
            }
            let vocabulary = Vocabulary::new(tokens.into_iter().map(Some)).unwrap();
            let merges = Merges::new(list.clone(), &vocabulary).unwrap();
            for _ in 0..100 {
                let word: Vec<TokenId> = (0..1 + next(SHORT)).map(|_| next(4) as TokenId).collect();
                let expected = naive::merge(word.clone(), &list);
                for simd in SimdLevel::available() {
                    let (mut ids, symbols) = (Vec::new(), word.iter().copied());
                    match word.len() {
                        ..=16 => merge::<16>(symbols, &merges, simd, &mut ids),
                        _ => merge::<SHORT>(symbols, &merges, simd, &mut ids),
                    }
                    assert_eq!(ids, expected, "{word:?} {simd:?}");
                }
            }
        }
    }
}
