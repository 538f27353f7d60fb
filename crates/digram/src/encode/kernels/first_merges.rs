//! The merges of two bytes that happen in every word in which the bytes next to them are the same.
//!
//! Let a word contain the bytes `a b`, whose merge has rank `r`. A symbol before them ends in the byte before
//! `a`, whatever it is merged from, and a symbol after them begins with the byte after `b`. If all merges of
//! such a symbol with `a` or with `b` have a higher rank than `r`, none of them is applied while `a` and `b` are
//! there, so they are merged. And if a token has only merges of higher ranks than its own, merging them at once
//! changes nothing else. In published vocabularies half of all merges are of this kind.

use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{TokenId, Vocabulary};

/// What merges do with two neighbouring bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct BytePair {
    /// The rank of their merge.
    pub(super) rank: Rank,
    /// The lowest rank of a merge of a token that ends in the first byte with the second byte.
    pub(super) takes_second: Rank,
    /// The lowest rank of a merge of the first byte with a token that begins with the second byte.
    pub(super) takes_first: Rank,
}

/// The token of each byte, and all pairs of bytes.
pub(in crate::encode) struct FirstMerges {
    ids: [TokenId; 256],
    /// `pairs[first * 256 + second]`.
    pairs: Box<[BytePair]>,
}

impl FirstMerges {
    pub(super) fn new(ids: &[TokenId; 256], merges: &Merges, vocabulary: &Vocabulary) -> FirstMerges {
        // Of merges that are not rising, only those of whole words of two bytes are known.
        let lowest = if merges.is_rising() { NO_RANK } else { 0 };
        let pair = BytePair { rank: NO_RANK, takes_second: lowest, takes_first: lowest };
        let mut pairs = vec![pair; 256 * 256].into_boxed_slice();
        for (rank, merge) in merges.in_order().iter().enumerate() {
            let (Some(left), Some(right)) = (vocabulary.get(merge.left), vocabulary.get(merge.right)) else {
                continue;
            };
            let (Some(&end), Some(&start)) = (left.last(), right.first()) else { continue };
            let (rank, pair) = (rank as Rank, &mut pairs[index(end, start)]);
            if right.len() == 1 {
                pair.takes_second = pair.takes_second.min(rank);
            }
            if left.len() == 1 {
                pair.takes_first = pair.takes_first.min(rank);
            }
            if (merge.left, merge.right) == (ids[usize::from(end)], ids[usize::from(start)]) {
                pair.rank = rank;
            }
        }
        FirstMerges { ids: *ids, pairs }
    }

    /// The token of a byte.
    #[inline(always)]
    pub(super) fn id(&self, byte: u8) -> TokenId {
        self.ids[usize::from(byte)]
    }

    /// The token of each byte.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn ids(&self) -> &[TokenId; 256] {
        &self.ids
    }

    /// Pointers to the three numbers of the first pair, in the order of [`BytePair`]; those of the next one are
    /// three numbers behind them.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn numbers(&self) -> [*const Rank; 3] {
        const { assert!(size_of::<BytePair>() == 3 * size_of::<Rank>()) };
        let first = self.pairs.as_ptr().cast::<Rank>();
        [first, first.wrapping_add(1), first.wrapping_add(2)]
    }

    #[inline(always)]
    pub(super) fn pair(&self, first: u8, second: u8) -> BytePair {
        self.pairs[index(first, second)]
    }
}

#[inline(always)]
fn index(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}
