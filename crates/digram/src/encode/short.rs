//! Merging a short run of symbols: look for the lowest rank, merge there, look again.

use crate::merges::{Merges, Rank};
use crate::vocabulary::TokenId;

use super::SHORT;

const NONE: Rank = Rank::MAX;

/// Merges up to [`SHORT`] symbols and emits what is left.
///
/// Takes time quadratic in the number of symbols, on memory of a fixed size.
#[inline]
pub(super) fn merge(symbols: impl Iterator<Item = TokenId>, merges: &Merges, emit: &mut impl FnMut(TokenId)) {
    let mut ids = [0 as TokenId; SHORT];
    let mut len = 0;
    for id in symbols {
        ids[len] = id;
        len += 1;
    }
    // `next[i]` is what the pair of symbols i and i + 1 becomes, and at which rank.
    let mut next = [(NONE, 0 as TokenId); SHORT];
    let look = |left: TokenId, right: TokenId| merges.get(left, right).unwrap_or((NONE, 0));
    for i in 1..len {
        next[i - 1] = look(ids[i - 1], ids[i]);
    }
    while len > 1 {
        // The first of the lowest: the leftmost.
        let (mut at, mut lowest) = (0, NONE);
        for (i, &(rank, _)) in next[..len - 1].iter().enumerate() {
            if rank < lowest {
                (at, lowest) = (i, rank);
            }
        }
        if lowest == NONE {
            break;
        }
        ids[at] = next[at].1;
        ids.copy_within(at + 2..len, at + 1);
        next.copy_within(at + 1..len, at);
        len -= 1;
        next[at] = if at + 1 < len { look(ids[at], ids[at + 1]) } else { (NONE, 0) };
        if at > 0 {
            next[at - 1] = look(ids[at - 1], ids[at]);
        }
    }
    ids[..len].iter().for_each(|&id| emit(id));
}
