//! Merging a short run of symbols: look for the lowest rank, merge there, look again.

use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

use super::{SHORT, Sink};

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
/// Tried and lost: merging many words in turns, a step of each without a branch, so that one works
/// while another waits for memory. It took a tenth (English) to a third (Thai) longer, since most
/// questions that a branch spares are spared for good.
///
/// Takes time quadratic in the number of symbols, on memory of a fixed size.
#[inline]
pub(super) fn merge<const MOST: usize>(
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
