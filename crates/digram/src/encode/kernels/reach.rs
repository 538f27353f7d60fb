//! Which tokens text can become by merging.

use crate::merges::{MadeBy, Merges, PAIRS, Rank};
use crate::vocabulary::TokenId;

/// For each id, whether the bytes of its token encode to that token. Requires rising merges that make no
/// token twice, which is usual; `None` otherwise, and then each token must be encoded to find out.
///
/// A token is reached if its two parts are reached and stay apart until the rank of their merge.
pub(super) fn reached(size: usize, merges: &Merges, base: Vec<TokenId>) -> Option<Vec<bool>> {
    if !merges.is_rising() {
        return None;
    }
    let (mut reached, mut made) = (vec![false; size], MadeBy::new(size));
    base.into_iter().for_each(|id| reached[id as usize] = true);
    for (rank, merge) in merges.in_order().iter().enumerate() {
        let is_new = made.by(merge.id, rank as Rank);
        if !is_new || reached[merge.id as usize] {
            return None;
        }
    }
    for chunk in merges.in_order().chunks(PAIRS) {
        let pairs: Vec<_> = chunk.iter().map(|merge| (merge.left, merge.right)).collect();
        let apart = made.which_stay_apart(merges, &pairs);
        for (number, merge) in chunk.iter().enumerate() {
            let is_apart = apart >> number & 1 == 1;
            reached[merge.id as usize] =
                is_apart && reached[merge.left as usize] && reached[merge.right as usize];
        }
    }
    Some(reached)
}
