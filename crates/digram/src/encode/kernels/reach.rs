//! Which tokens text can become by merging.

use crate::merges::{MadeBy, Merges, Rank};
use crate::vocabulary::TokenId;

/// For each id, whether the bytes of its token encode to that token. Requires rising merges that make no
/// token twice, which is usual; `None` otherwise, and then each token must be encoded to find out.
///
/// A token is reached if its two parts are reached and stay apart until the rank of their merge.
pub(super) fn reached(size: usize, merges: &Merges, base: Vec<TokenId>) -> Option<Vec<bool>> {
    let (mut reached, mut made) = (vec![false; size], MadeBy::new(size));
    base.into_iter().for_each(|id| reached[id as usize] = true);
    for (rank, merge) in merges.in_order().iter().enumerate() {
        let is_new = made.by(merge.id, rank as Rank);
        if !is_new || reached[merge.id as usize] || !merges.is_rising() {
            return None;
        }
        reached[merge.id as usize] = reached[merge.left as usize]
            && reached[merge.right as usize]
            && made.stay_apart(merges, merge.left, merge.right, rank as Rank);
    }
    Some(reached)
}
