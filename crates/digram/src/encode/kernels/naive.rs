//! Merging exactly as defined, without optimizations: the reference for the tests of the kernels.

use crate::merges::Merge;
use crate::vocabulary::TokenId;

/// The lowest rank first, the leftmost first, until no merge applies.
pub(crate) fn merge(mut ids: Vec<TokenId>, merges: &[Merge]) -> Vec<TokenId> {
    let rank = |pair: &[TokenId]| merges.iter().position(|merge| [merge.left, merge.right] == pair);
    let ranks = |ids: &[TokenId]| -> Option<(usize, usize)> {
        ids.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
    };
    while let Some((rank, at)) = ranks(&ids) {
        ids.splice(at..at + 2, [merges[rank].id]);
    }
    ids
}
