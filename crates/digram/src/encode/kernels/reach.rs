//! Which tokens text becomes by merging.

use crate::merges::{Made, Merges, Rank};
use crate::vocabulary::TokenId;

/// For each id whether the bytes of its token become that token, if the merges are as they mostly
/// are: rising, and no token made twice. `None` for others, which must be merged to be known.
///
/// A token is reached if its two parts are, and stay apart until their merge has its turn.
pub(super) fn reached(size: usize, merges: &Merges, base: Vec<TokenId>) -> Option<Vec<bool>> {
    let (mut reached, mut made) = (vec![false; size], Made::new(size));
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
