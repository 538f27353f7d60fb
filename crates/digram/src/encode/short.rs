//! Merging a short run of symbols: look for the lowest rank, merge there, look again.

use crate::merges::{Merges, NO_RANK};
use crate::vocabulary::TokenId;

use super::SHORT;

/// Merges up to [`SHORT`] symbols and emits what is left.
///
/// Takes time quadratic in the number of symbols, on memory of a fixed size.
#[inline]
pub(super) fn merge(symbols: impl Iterator<Item = TokenId>, merges: &Merges, emit: &mut impl FnMut(TokenId)) {
    let mut ids = [0 as TokenId; SHORT];
    // `ranks[i]` is the rank of the pair of symbols i and i + 1.
    let mut ranks = [NO_RANK; SHORT];
    let mut len = 0;
    for id in symbols {
        ids[len] = id;
        if len > 0 {
            ranks[len - 1] = merges.rank(ids[len - 1], id);
        }
        len += 1;
    }
    while len > 1 {
        // The first of the lowest: the leftmost.
        let (mut at, mut lowest) = (0, NO_RANK);
        for (i, &rank) in ranks[..len - 1].iter().enumerate() {
            if rank < lowest {
                (at, lowest) = (i, rank);
            }
        }
        if lowest == NO_RANK {
            break;
        }
        ids[at] = merges.in_order()[lowest as usize].id;
        ids.copy_within(at + 2..len, at + 1);
        ranks.copy_within(at + 1..len, at);
        len -= 1;
        ranks[at] = if at + 1 < len { merges.rank(ids[at], ids[at + 1]) } else { NO_RANK };
        if at > 0 {
            ranks[at - 1] = merges.rank(ids[at - 1], ids[at]);
        }
    }
    ids[..len].iter().for_each(|&id| emit(id));
}
