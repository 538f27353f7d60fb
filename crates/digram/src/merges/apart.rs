//! Deciding whether two neighbouring tokens remain separate, without merging their bytes.
//!
//! Between two tokens that each encode to themselves, a merge can only happen between the last
//! token of the left one, as it was at some rank, and the first token of the right one, and only if
//! that pair has a merge of that rank. Undoing the merges of both, the latest first, enumerates all
//! such pairs. These are few, while merging the bytes again would look up every pair on the way.

use super::{Merges, NO_RANK, Rank};
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

    /// Whether a merge makes the token.
    #[inline]
    pub(crate) fn is_made(&self, id: TokenId) -> bool {
        self.0[id as usize] != 0
    }

    /// Whether the merges below a rank leave two neighbours unchanged, ignoring the merge of the
    /// pair itself. Both must encode to themselves, each token must be made by at most one merge,
    /// and the merges must be in order. The pass of a rank goes from left to right. So at the rank
    /// of its own merge the left part no longer exists, while the right part exists until after it:
    /// hence the two limits.
    #[inline]
    pub(crate) fn stay_apart(
        &self,
        merges: &Merges,
        mut left: TokenId,
        mut right: TokenId,
        below: Rank,
    ) -> bool {
        let mut limit = below;
        loop {
            let (left_made, right_made) = (self.0[left as usize], self.0[right as usize]);
            if left_made > right_made {
                limit = limit.min(left_made - 1);
                left = merges.in_order[left_made as usize - 1].right;
            } else if right_made > 0 {
                limit = limit.min(right_made);
                right = merges.in_order[right_made as usize - 1].left;
            } else {
                return true;
            }
            let rank = merges.rank(left, right);
            if rank != NO_RANK && rank < limit {
                return false;
            }
        }
    }
}
