//! The merges of a vocabulary: which neighbours join, in which order of preference.

use crate::bits::Bits;
use crate::error::{Error, Result};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

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

/// The rank of a pair that is not merged.
pub(crate) const NO_RANK: Rank = Rank::MAX;

/// The merges in rank order, and an index from a pair to its rank.
///
/// Most questions are about pairs that are not merged, and the answers must come from near: the
/// pairs of the first 256 ids, which are bytes nearly everywhere, have a table of their own, and
/// of the others eight lie in a line of memory.
#[derive(Clone)]
pub struct Merges {
    in_order: Vec<Merge>,
    /// `low[left * 256 + right]` for ids below 256.
    low: Vec<Rank>,
    /// The others: left, right and rank in 21 bits each, or [`FREE`].
    slots: Vec<u64>,
    mask: usize,
    /// A bit for the hash of each pair in `slots`, so that most questions about others are answered
    /// from memory that is near.
    filter: Bits,
    /// Where the id of a merge is its rank and a number added: that number. Published and trained
    /// vocabularies are so.
    first_id: Option<TokenId>,
    rising: bool,
}

/// Ids and ranks are smaller than this.
const BITS: u32 = MAX_VOCAB_SIZE.ilog2();

const FREE: u64 = u64::MAX;

impl Merges {
    /// Indexes merges given in rank order.
    ///
    /// Fails if a part or a result is not in the vocabulary, if the result's bytes are not those
    /// of its parts, if a pair stands there twice, or if a part is made only by a later merge.
    pub fn new(in_order: Vec<Merge>, vocabulary: &Vocabulary) -> Result<Merges> {
        if in_order.len() > MAX_VOCAB_SIZE {
            return Err(Error::Limit { reason: format!("there are more than {MAX_VOCAB_SIZE} merges.") });
        }
        let slots = vec![FREE; (in_order.len() * 2).next_power_of_two().max(8)];
        let low = vec![NO_RANK; LOW * LOW];
        let filter = Bits::new(in_order.len() * 16);
        let first_id = in_order.first().map(|merge| merge.id).filter(|first| {
            in_order.iter().enumerate().all(|(rank, merge)| merge.id as usize == *first as usize + rank)
        });
        let mut merges = Merges {
            mask: slots.len() - 1,
            slots,
            low,
            filter,
            first_id,
            in_order: Vec::new(),
            rising: true,
        };
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
        if self.rank(merge.left, merge.right) != NO_RANK {
            return fail("the pair stands there twice.".into());
        }
        match low(merge.left, merge.right) {
            Some(at) => self.low[at] = rank,
            None => {
                let pair = pack(merge.left, merge.right);
                let hash = hash(pair);
                let at = self.probe(pair, hash);
                self.slots[at] = pair << BITS | u64::from(rank);
                self.filter.insert(hash as u64);
            }
        }
        Ok(())
    }

    /// The merges in rank order.
    pub fn in_order(&self) -> &[Merge] {
        &self.in_order
    }

    /// The rank of a pair, or [`NO_RANK`].
    #[inline]
    pub(crate) fn rank(&self, left: TokenId, right: TokenId) -> Rank {
        match low(left, right) {
            Some(at) => self.low[at],
            None => {
                let pair = pack(left, right);
                let hash = hash(pair);
                if !self.filter.may_hold(hash as u64) {
                    return NO_RANK;
                }
                match self.slots[self.probe(pair, hash)] {
                    FREE => NO_RANK,
                    slot => (slot & (MAX_VOCAB_SIZE as u64 - 1)) as Rank,
                }
            }
        }
    }

    /// The token that the merge of a rank makes.
    #[inline]
    pub(crate) fn id(&self, rank: Rank) -> TokenId {
        match self.first_id {
            Some(first) => first + rank,
            None => self.in_order[rank as usize].id,
        }
    }

    /// Whether every merge comes after all merges that make its parts, so that applying one can
    /// only bring merges of higher rank. Trained vocabularies are so; a list in which two merges
    /// make the same token may not be.
    pub(crate) fn is_rising(&self) -> bool {
        self.rising
    }

    /// The slot of a pair, or the free one where it would stand.
    #[inline]
    fn probe(&self, pair: u64, hash: usize) -> usize {
        let mut at = hash & self.mask;
        while self.slots[at] != FREE && self.slots[at] >> BITS != pair {
            at = (at + 1) & self.mask;
        }
        at
    }
}

const LOW: usize = 256;

/// The place of a pair in the table of low ids.
#[inline]
fn low(left: TokenId, right: TokenId) -> Option<usize> {
    ((left | right) < LOW as TokenId).then_some((left as usize) << 8 | right as usize)
}

#[inline]
fn pack(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}

#[inline]
fn hash(pair: u64) -> usize {
    let product = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ product >> 32) as usize
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
