//! The keys of pairs, of which the kernels of short sequences search the lowest.

use crate::merges::{NO_RANK, Rank};
use crate::vocabulary::MAX_VOCAB_SIZE;

/// A rank in the upper bits and the place of its pair in the lower ones, so that the minimum is the lowest
/// rank, and of equal ranks the leftmost. Signed, because processors compare signed numbers faster: a
/// branch-free minimum was a third faster than a search with branches.
pub(super) type RankKey = i32;

/// The key of a pair that has no rank.
pub(super) const NONE: RankKey = RankKey::MAX;

/// The key of a pair at one of `PLACES` places, a power of two.
#[inline(always)]
pub(super) fn key<const PLACES: usize>(rank: Rank, place: usize) -> RankKey {
    const {
        let bits = MAX_VOCAB_SIZE.ilog2() + PLACES.ilog2();
        assert!(bits < RankKey::BITS - 1, "a rank and a place fit into a key");
    }
    match rank {
        NO_RANK => NONE,
        rank => (rank << PLACES.ilog2()) as RankKey | place as RankKey,
    }
}

/// The rank and the place of a key.
#[inline(always)]
pub(super) fn rank_and_place<const PLACES: usize>(key: RankKey) -> (Rank, usize) {
    ((key >> PLACES.ilog2()) as Rank, (key & (PLACES as RankKey - 1)) as usize)
}
