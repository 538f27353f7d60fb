//! The merges of two bytes that happen in every word in which the bytes next to them are the same.
//!
//! Let a word contain the bytes `a b`, whose merge has rank `r`. A symbol before them ends in the byte before
//! `a`, whatever it is merged from, and a symbol after them begins with the byte after `b`. If all merges of
//! such a symbol with `a` or with `b` have a higher rank than `r`, none of them is applied while `a` and `b` are
//! there, so they are merged. And if a token has only merges of higher ranks than its own, merging them at once
//! changes nothing else. In published vocabularies half of all merges are of this kind.

use crate::merges::{Merges, NO_RANK, Rank};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

/// What merges do with two neighbouring bytes.
#[derive(Clone, Copy)]
pub(super) struct BytePair {
    /// The rank of their merge.
    pub(super) rank: Rank,
    /// The lowest rank of a merge of a token that ends in the first byte with the second byte.
    pub(super) takes_second: Rank,
    /// The lowest rank of a merge of the first byte with a token that begins with the second byte.
    pub(super) takes_first: Rank,
}

/// The bits of a rank in a packed pair; if all are set, it is [`NO_RANK`].
pub(super) const RANK_BITS: u32 = MAX_VOCAB_SIZE.ilog2();
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

impl BytePair {
    /// The three numbers as one, the rank in the lowest bits.
    #[inline]
    fn packed(self) -> u64 {
        let [rank, takes_second, takes_first] =
            [self.rank, self.takes_second, self.takes_first].map(|rank| u64::from(rank) & RANK_MASK);
        rank | takes_second << RANK_BITS | takes_first << (2 * RANK_BITS)
    }

    #[inline(always)]
    fn of_packed(packed: u64) -> BytePair {
        let rank_at = |number: u32| match packed >> (number * RANK_BITS) & RANK_MASK {
            RANK_MASK => NO_RANK,
            rank => rank as Rank,
        };
        BytePair { rank: rank_at(0), takes_second: rank_at(1), takes_first: rank_at(2) }
    }
}

/// The token of each byte, and all pairs of bytes.
pub(in crate::encode) struct FirstMerges {
    ids: [TokenId; 256],
    /// The lowest of these ids, and the differences of all to it, if they are less than 256.
    near_ids: Option<(TokenId, [u8; 256])>,
    /// Packed, by [`index`]: half a megabyte, so that those of common letters stay in a near cache.
    pairs: Box<[u64; 1 << 16]>,
}

impl FirstMerges {
    pub(super) fn new(ids: &[TokenId; 256], merges: &Merges, vocabulary: &Vocabulary) -> FirstMerges {
        // Of merges that are not rising, only those of whole words of two bytes are known.
        let lowest = if merges.is_rising() { NO_RANK } else { 0 };
        let pair = BytePair { rank: NO_RANK, takes_second: lowest, takes_first: lowest };
        let mut pairs = vec![pair; 1 << 16];
        for (rank, merge) in merges.in_order().iter().enumerate() {
            let (Some(left), Some(right)) = (vocabulary.get(merge.left), vocabulary.get(merge.right)) else {
                continue;
            };
            let (Some(&end), Some(&start)) = (left.last(), right.first()) else { continue };
            let (rank, pair) = (rank as Rank, &mut pairs[index([end, start])]);
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
        let lowest_id = ids.iter().copied().min().unwrap_or_default();
        let is_near = ids.iter().all(|id| id - lowest_id < 256);
        let near_ids = is_near.then(|| (lowest_id, ids.map(|id| (id - lowest_id) as u8)));
        let mut packed = Box::new([0; 1 << 16]);
        packed.iter_mut().zip(pairs).for_each(|(packed, pair)| *packed = pair.packed());
        FirstMerges { ids: *ids, near_ids, pairs: packed }
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

    /// The lowest token of a byte, and the differences of all to it, if they are less than 256.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn near_ids(&self) -> Option<&(TokenId, [u8; 256])> {
        self.near_ids.as_ref()
    }

    /// A packed pair: its rank in the lowest [`RANK_BITS`] bits, then `takes_second` and `takes_first`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn packed(&self, bytes: [u8; 2]) -> u64 {
        self.pairs[index(bytes)]
    }

    #[inline(always)]
    pub(super) fn pair(&self, first: u8, second: u8) -> BytePair {
        BytePair::of_packed(self.pairs[index([first, second])])
    }
}

/// The index of two bytes: as they are read from memory, without computing anything.
#[inline(always)]
fn index(bytes: [u8; 2]) -> usize {
    usize::from(u16::from_ne_bytes(bytes))
}
