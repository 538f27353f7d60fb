//! Deciding whether two neighbouring tokens remain separate, without merging their bytes.
//!
//! Between two tokens that each encode to themselves, a merge can only happen between the last
//! token of the left one, as it was at some rank, and the first token of the right one, and only if
//! that pair has a merge of that rank. Undoing the merges of both, the latest first, enumerates all
//! such pairs. These are few, while merging the bytes again would look up every pair on the way.

use super::{Merge, Merges, NO_RANK, PairSlot, Rank};
use crate::cpu::prefetch;
use crate::vocabulary::TokenId;

/// For each token, the rank of the merge that makes it plus one; 0 if none does.
pub(crate) struct MadeBy(Vec<Rank>);

impl MadeBy {
    /// A table for `size` ids, without merges.
    pub(crate) fn new(size: usize) -> MadeBy {
        MadeBy(vec![0; size])
    }

    /// Records the merge that makes a token; returns whether it is the first one.
    #[inline]
    pub(crate) fn by(&mut self, id: TokenId, rank: Rank) -> bool {
        std::mem::replace(&mut self.0[id as usize], rank + 1) == 0
    }

    /// Prefetches the rank of the merge that makes a token.
    #[inline]
    pub(crate) fn prefetch(&self, id: TokenId) {
        prefetch(&self.0[id as usize]);
    }

    /// Whether a merge makes the token.
    #[inline]
    pub(crate) fn is_made(&self, id: TokenId) -> bool {
        self.0[id as usize] != 0
    }

    /// Whether the merges leave two neighbours unchanged until the merge of the pair itself. Both tokens must encode to
    /// themselves and have been recorded with all tokens that they come from, each token must be made by at most one
    /// merge, and the merges must be in order.
    ///
    /// Only merges below those of the two tokens matter, so the result does not depend on later ones.
    pub(crate) fn stays_apart(&self, merges: &Merges, left: TokenId, right: TokenId) -> bool {
        let mut pair = Neighbours { left, right, limit: NO_RANK };
        while pair.undo(self, merges) {
            if merges.rank(pair.left, pair.right) < pair.limit {
                return false;
            }
        }
        true
    }

    /// Which of up to [`PAIRS`] pairs [stay apart](MadeBy::stays_apart); bit `n` is that of pair `n`. The pairs take
    /// turns, so that the memory of many is read at the same time.
    pub(crate) fn which_stay_apart(&self, merges: &Merges, pairs: &[(TokenId, TokenId)]) -> u64 {
        let (mut neighbours, mut slots) =
            ([Neighbours::default(); PAIRS], [(PairSlot::default(), false); PAIRS]);
        let (mut active, mut count) = ([0; PAIRS], pairs.len().min(PAIRS));
        for (number, &(left, right)) in pairs.iter().take(PAIRS).enumerate() {
            neighbours[number] = Neighbours { left, right, limit: NO_RANK };
            active[number] = number as u8;
        }
        let mut apart = 0;
        while count > 0 {
            let mut undone = 0;
            for place in 0..count {
                let number = active[place];
                let pair = &mut neighbours[usize::from(number)];
                let is_undone = pair.undo(self, merges);
                slots[undone] = merges.prefetch_pair(pair.left, pair.right);
                active[undone] = number;
                undone += usize::from(is_undone);
                apart |= u64::from(!is_undone) << number;
            }
            count = 0;
            for place in 0..undone {
                let (number, (slot, may_have_rank)) = (active[place], slots[place]);
                let joins = may_have_rank && merges.rank_in(slot) < neighbours[usize::from(number)].limit;
                active[count] = number;
                count += usize::from(!joins);
            }
        }
        apart
    }
}

/// The number of pairs that are examined at a time.
pub(crate) const PAIRS: usize = u64::BITS as usize;

/// The last token of the left part and the first one of the right part, as they were at some rank.
#[derive(Clone, Copy, Default)]
struct Neighbours {
    left: TokenId,
    right: TokenId,
    /// A merge of the two below this rank would have joined them.
    limit: Rank,
}

impl Neighbours {
    /// Undoes the later one of the two merges that make the neighbours; false if there is none. Without a branch on
    /// which one that is.
    ///
    /// The pass of a rank goes from left to right. So at the rank of its own merge the left part no longer exists,
    /// while the right part exists until after it: hence the two limits.
    #[inline(always)]
    fn undo(&mut self, made: &MadeBy, merges: &Merges) -> bool {
        let (left_made, right_made) = (made.0[self.left as usize], made.0[self.right as usize]);
        let is_left = left_made > right_made;
        let last = left_made.max(right_made);
        let Some(&Merge { left, right, .. }) = merges.in_order.get((last as usize).wrapping_sub(1)) else {
            return false;
        };
        self.limit = self.limit.min(last - Rank::from(is_left));
        (self.left, self.right) = if is_left { (right, self.right) } else { (self.left, left) };
        true
    }
}
