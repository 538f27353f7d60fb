//! The merges of a vocabulary: which neighbours join, in which order of preference.

use crate::error::{Error, Result};
use crate::vocabulary::{TokenId, Vocabulary};

/// The place of a merge in the order of preference; 0 is applied first.
pub type Rank = u32;

/// Two neighbouring tokens and the token that they become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The left part.
    pub left: TokenId,
    /// The right part.
    pub right: TokenId,
    /// The token that both become.
    pub id: TokenId,
}

/// The merges in rank order, and an index from a pair to its merge.
#[derive(Clone)]
pub struct Merges {
    in_order: Vec<Merge>,
    slots: Vec<Slot>,
    mask: usize,
    rising: bool,
}

#[derive(Clone, Copy)]
struct Slot {
    left: TokenId,
    right: TokenId,
    rank: Rank,
    id: TokenId,
}

const NO_RANK: Rank = Rank::MAX;

const FREE: Slot = Slot { left: 0, right: 0, rank: NO_RANK, id: 0 };

impl Merges {
    /// Indexes merges given in rank order.
    ///
    /// Fails if a part or a result is not in the vocabulary, if the result's bytes are not those
    /// of its parts, if a pair stands there twice, or if a part is made only by a later merge.
    pub fn new(in_order: Vec<Merge>, vocabulary: &Vocabulary) -> Result<Merges> {
        if in_order.len() >= NO_RANK as usize {
            return Err(Error::Limit { reason: "there are more than 2^32 - 2 merges.".into() });
        }
        let slots = vec![FREE; (in_order.len() * 2).next_power_of_two().max(8)];
        let mut merges = Merges { mask: slots.len() - 1, slots, in_order: Vec::new(), rising: true };
        let (first_made, last_made) = spans(&in_order, vocabulary.size());
        for (rank, merge) in in_order.iter().enumerate() {
            merges.add(rank as Rank, merge, vocabulary, &first_made)?;
            for part in [merge.left, merge.right] {
                merges.rising &= last_made[part as usize].is_none_or(|made| made < rank as Rank);
            }
        }
        merges.in_order = in_order;
        Ok(merges)
    }

    fn add(
        &mut self,
        rank: Rank,
        merge: &Merge,
        vocabulary: &Vocabulary,
        first_made: &[Option<Rank>],
    ) -> Result<()> {
        let fail = |problem: String| {
            Err(Error::Vocabulary {
                reason: format!("merge {rank} ({} + {} -> {}): {problem}", merge.left, merge.right, merge.id),
            })
        };
        let (Some(left), Some(right), Some(whole)) =
            (vocabulary.get(merge.left), vocabulary.get(merge.right), vocabulary.get(merge.id))
        else {
            return fail("one of these ids has no token.".into());
        };
        if whole.len() != left.len() + right.len() || !whole.starts_with(left) || !whole.ends_with(right) {
            return fail("the token is not made of the bytes of its parts.".into());
        }
        for part in [merge.left, merge.right] {
            if first_made[part as usize].is_some_and(|made| made >= rank) {
                return fail(format!("part {part} is made only by a later merge."));
            }
        }
        let at = self.probe(merge.left, merge.right);
        if self.slots[at].rank != NO_RANK {
            return fail("the pair stands there twice.".into());
        }
        self.slots[at] = Slot { left: merge.left, right: merge.right, rank, id: merge.id };
        Ok(())
    }

    /// The merges in rank order.
    pub fn in_order(&self) -> &[Merge] {
        &self.in_order
    }

    /// The rank of a pair and the token that it becomes.
    #[inline]
    pub fn get(&self, left: TokenId, right: TokenId) -> Option<(Rank, TokenId)> {
        let slot = &self.slots[self.probe(left, right)];
        (slot.rank != NO_RANK).then_some((slot.rank, slot.id))
    }

    /// Whether every merge comes after all merges that make its parts, so that applying one can
    /// only bring merges of higher rank. Trained vocabularies are so; a list in which two merges
    /// make the same token may not be.
    pub(crate) fn is_rising(&self) -> bool {
        self.rising
    }

    #[inline]
    fn probe(&self, left: TokenId, right: TokenId) -> usize {
        let pair = u64::from(left) << 32 | u64::from(right);
        let hash = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash ^ hash >> 32) as usize & self.mask;
        loop {
            let slot = &self.slots[at];
            if slot.rank == NO_RANK || (slot.left == left && slot.right == right) {
                return at;
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// For each token the ranks of the first and of the last merge that make it.
fn spans(merges: &[Merge], size: usize) -> (Vec<Option<Rank>>, Vec<Option<Rank>>) {
    let (mut first, mut last) = (vec![None; size], vec![None; size]);
    for (rank, merge) in merges.iter().enumerate() {
        if let (Some(first), Some(last)) = (first.get_mut(merge.id as usize), last.get_mut(merge.id as usize))
        {
            first.get_or_insert(rank as Rank);
            *last = Some(rank as Rank);
        }
    }
    (first, last)
}
