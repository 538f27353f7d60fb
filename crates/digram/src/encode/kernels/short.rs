//! Merging a short run of symbols: look for the lowest rank, merge there, look again.

use crate::memory::Way;
use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

use super::Sink;

/// Runs up to this many bytes are merged by scanning. Measured on prose and code: beyond it the
/// scan, which is quadratic, begins to lose to going by rank.
pub(super) const SHORT: usize = 64;

/// A rank with the place of its pair below it, so that the smallest number is the lowest rank, and
/// of equal ranks the leftmost. Signed, since processors compare those best: taking the minimum
/// without a branch won a third over looking for it with one.
type Key = i32;

const PLACE_BITS: u32 = SHORT.ilog2();

const NONE: Key = Key::MAX;

const _: () =
    assert!(MAX_VOCAB_SIZE.ilog2() + PLACE_BITS < Key::BITS - 1, "a rank and a place fit into a key");

/// Merges up to `MOST` symbols, which is at most [`SHORT`], and emits what is left.
///
/// Takes time quadratic in the number of symbols, on memory of a fixed size.
///
/// With the instructions of AVX2 the lowest of sixteen keys is found in a dozen steps, not fifty.
#[inline]
pub(super) fn merge<const MOST: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    way: Way,
    sink: &mut impl Sink,
) {
    match way {
        Way::Plain => merge_by::<MOST>(symbols, merges, sink),
        // SAFETY: the way was chosen because the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Way::Avx2 | Way::Avx512 => unsafe { merge_avx2::<MOST>(symbols, merges, sink) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn merge_avx2<const MOST: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    sink: &mut impl Sink,
) {
    merge_by::<MOST>(symbols, merges, sink);
}

/// Tried and lost: merging many words in turns, a step of each without a branch, so that one works
/// while another waits for memory. It took a tenth (English) to a third (Thai) longer, since most
/// questions that a branch spares are spared for good.
///
/// Tried and lost: a search for the one sequence of tokens of which each two neighbours stay apart.
/// Words of two tokens, seven of ten in English, took about as long, and all others up to twice as
/// long and more, since what is looked up in vain comes on top. The tokens of a word, their parts,
/// and the pairs at a border are in three tables of megabytes, one asked after the other, and a read
/// of those took 100 ns where that was measured; many of the pairs that merging meets are frequent.
///
/// Tried without effect: keys that stay in a register of AVX-512, and marks at both ends in place of
/// the two questions whether there is a neighbour.
#[inline(always)]
fn merge_by<const MOST: usize>(
    symbols: impl Iterator<Item = TokenId>,
    merges: &Merges,
    sink: &mut impl Sink,
) {
    let key = |left: TokenId, right: TokenId, at: usize| match merges.rank(left, right) {
        NO_RANK => NONE,
        rank => (rank << PLACE_BITS) as Key | at as Key,
    };
    let mut ids = [0 as TokenId; MOST];
    // `keys[at]` is that of the pair that starts at `at`.
    let mut keys = [NONE; MOST];
    let mut len = 0;
    for id in symbols {
        ids[len] = id;
        if len > 0 {
            keys[len - 1] = key(ids[len - 1], id, len - 1);
        }
        len += 1;
    }
    // Symbols stay where they are; a bit tells which of them still stand. Neighbours are found by
    // counting zeros, which waits for no memory.
    let mut standing = u64::MAX >> (SHORT - len);
    loop {
        let lowest = keys.iter().copied().fold(NONE, Key::min);
        if lowest == NONE {
            break;
        }
        let at = (lowest & (SHORT as Key - 1)) as usize;
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
        sink.one(ids[standing.trailing_zeros() as usize]);
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
                for way in Way::available() {
                    let (mut ids, symbols) = (Vec::new(), word.iter().copied());
                    match word.len() {
                        ..=16 => merge::<16>(symbols, &merges, way, &mut ids),
                        _ => merge::<SHORT>(symbols, &merges, way, &mut ids),
                    }
                    assert_eq!(ids, expected, "{word:?} {way:?}");
                }
            }
        }
    }
}
