//! The merges of a vocabulary, in the order of their ranks.

mod apart;

use crate::bits::{BloomFilter, seeds};
use crate::cpu::prefetch;
use crate::error::{Error, Result};
use crate::pages::Pages;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

pub(crate) use apart::{MadeBy, PAIRS};

/// The position of a merge in the order of preference; 0 is applied first.
pub type Rank = u32;

/// Two neighbouring tokens and the token that they become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The left part.
    pub left: TokenId,
    /// The right part.
    pub right: TokenId,
    /// The resulting token.
    pub id: TokenId,
}

/// The rank of a pair that is not merged.
pub(crate) const NO_RANK: Rank = Rank::MAX;

/// The merges in rank order, and an index from a pair to its rank. Most look-ups are for pairs
/// without a merge and must be fast: the pairs of the first 256 ids, which are nearly always bytes,
/// have a table of their own, and eight of the others fit into a cache line. A separate table for
/// the pairs of lowest rank, which are most merges of a word, was tried and was not faster.
#[derive(Clone)]
pub struct Merges {
    in_order: Vec<Merge>,
    /// `low[left * 256 + right]` for ids below 256.
    low: Vec<Rank>,
    /// The others: left, right and rank in 21 bits each, or [`FREE`].
    slots: Pages<u64>,
    mask: usize,
    /// The hash of each pair in `slots`, which rejects most other pairs without reading `slots`.
    filter: BloomFilter,
    seeds: [u64; 2],
    /// The difference between the id and the rank of every merge, if it is constant, as in
    /// published and trained vocabularies.
    first_id: Option<TokenId>,
    rising: bool,
}

/// Where the rank of a pair is, if it has one.
#[derive(Clone, Copy, Default)]
pub(crate) struct PairSlot {
    /// The pair, or [`PairSlot::LOW`] for one of two low ids.
    pair: u64,
    index: usize,
}

impl PairSlot {
    const LOW: u64 = u64::MAX;
}

/// Ids and ranks are smaller than this.
const BITS: u32 = MAX_VOCAB_SIZE.ilog2();

/// A slot without a pair: one of two ids that are 0 is in the table of low ids.
const FREE: u64 = 0;

impl Merges {
    /// Indexes merges given in rank order. Fails if a part or a result is not in the vocabulary, if
    /// the result's bytes are not those of its parts, if a pair occurs twice, or if a part is made
    /// only by a later merge.
    pub fn new(in_order: Vec<Merge>, vocabulary: &Vocabulary) -> Result<Merges> {
        if in_order.len() > MAX_VOCAB_SIZE {
            return Err(Error::Limit { reason: format!("there are more than {MAX_VOCAB_SIZE} merges.") });
        }
        let mut merges = Merges::with_capacity(in_order.len());
        let (first_ranks, last_ranks) = first_and_last_ranks(&in_order, vocabulary.size());
        let mut rising = true;
        for (rank, merge) in in_order.into_iter().enumerate() {
            let rank = rank as Rank;
            let fail = |problem: String| {
                let Merge { left, right, id } = merge;
                Err(Error::Vocabulary {
                    reason: format!("merge {rank} ({left} + {right} -> {id}): {problem}"),
                })
            };
            let (Some(left), Some(right), Some(token)) =
                (vocabulary.get(merge.left), vocabulary.get(merge.right), vocabulary.get(merge.id))
            else {
                return fail("one of these ids has no token.".into());
            };
            if token.len() != left.len() + right.len() || !token.starts_with(left) || !token.ends_with(right)
            {
                return fail("the token is not made of the bytes of its parts.".into());
            }
            if left.is_empty() || right.is_empty() {
                return fail("a part is empty.".into());
            }
            for part in [merge.left, merge.right] {
                if first_ranks[part as usize].is_some_and(|made_at| made_at >= rank) {
                    return fail(format!("part {part} is made only by a later merge."));
                }
                rising &= last_ranks[part as usize].is_none_or(|made_at| made_at < rank);
            }
            if !merges.push(merge) {
                return fail("the pair stands there twice.".into());
            }
        }
        merges.rising = rising;
        Ok(merges)
    }

    /// No merges yet, with capacity for `merges`.
    pub(crate) fn with_capacity(merges: usize) -> Merges {
        let slots = Pages::zeroed_unchecked((merges * 2).next_power_of_two().max(8));
        Merges {
            in_order: Vec::with_capacity(merges),
            low: vec![NO_RANK; LOW * LOW],
            mask: slots.len() - 1,
            slots,
            filter: BloomFilter::new(merges),
            seeds: seeds(),
            first_id: None,
            rising: true,
        }
    }

    /// Adds the merge of the next rank within the capacity, and returns whether its pair is new.
    /// The caller guarantees that the merge fits the tokens and that the list stays in order.
    pub(crate) fn push(&mut self, merge: Merge) -> bool {
        let rank = self.in_order.len() as Rank;
        if !self.insert(merge, rank) {
            return false;
        }
        self.first_id = match (rank, self.first_id) {
            (0, _) => Some(merge.id),
            (_, Some(first)) if merge.id.checked_sub(first) == Some(rank) => Some(first),
            _ => None,
        };
        self.in_order.push(merge);
        true
    }

    /// Adds another pair within the capacity that makes the token of the last rank, and has that rank; the merges in
    /// order do not have it. Returns whether the pair is new.
    pub(crate) fn push_beside(&mut self, left: TokenId, right: TokenId) -> bool {
        let Some(rank) = self.in_order.len().checked_sub(1) else { return false };
        self.insert(Merge { left, right, ..self.in_order[rank] }, rank as Rank)
    }

    /// Says that a merge can make a pair of a lower rank than its own.
    pub(crate) fn falls(&mut self) {
        self.rising = false;
    }

    /// Adds the rank of a pair to the index, unless it has one.
    fn insert(&mut self, merge: Merge, rank: Rank) -> bool {
        match low_index(merge.left, merge.right) {
            Some(index) if self.low[index] == NO_RANK => self.low[index] = rank,
            Some(_) => return false,
            None => {
                let pair = pack(merge.left, merge.right);
                let hash = hash(pair, self.seeds);
                let index = self.probe(pair, hash);
                if self.slots[index] != FREE {
                    return false;
                }
                self.slots[index] = pair << BITS | u64::from(rank);
                self.filter.insert(hash);
            }
        }
        true
    }

    /// The merges in rank order.
    pub fn in_order(&self) -> &[Merge] {
        &self.in_order
    }

    /// The rank of a pair, or [`NO_RANK`].
    #[inline]
    pub(crate) fn rank(&self, left: TokenId, right: TokenId) -> Rank {
        match low_index(left, right) {
            Some(index) => self.low[index],
            None => {
                let pair = pack(left, right);
                let hash = hash(pair, self.seeds);
                if !self.filter.may_contain(hash) {
                    return NO_RANK;
                }
                match self.slots[self.probe(pair, hash)] {
                    FREE => NO_RANK,
                    slot => (slot & (MAX_VOCAB_SIZE as u64 - 1)) as Rank,
                }
            }
        }
    }

    /// Prefetches the memory of a pair's rank, for [`rank_in`](Merges::rank_in), and returns whether the
    /// pair may have a rank.
    #[inline(always)]
    pub(crate) fn prefetch_pair(&self, left: TokenId, right: TokenId) -> (PairSlot, bool) {
        if let Some(index) = low_index(left, right) {
            return (PairSlot { pair: PairSlot::LOW, index }, true);
        }
        let pair = pack(left, right);
        let hash = hash(pair, self.seeds);
        let index = hash as usize & self.mask;
        prefetch(self.slots.as_ptr().wrapping_add(index));
        (PairSlot { pair, index }, self.filter.may_contain(hash))
    }

    /// Prefetches the filter of all pairs.
    pub(crate) fn prefetch_filter(&self) {
        self.filter.prefetch();
    }

    /// The rank of a pair that was prefetched, or [`NO_RANK`].
    #[inline(always)]
    pub(crate) fn rank_in(&self, PairSlot { pair, mut index }: PairSlot) -> Rank {
        if pair == PairSlot::LOW {
            return self.low[index];
        }
        loop {
            let slot = self.slots[index & self.mask];
            if slot >> BITS == pair {
                return (slot & (MAX_VOCAB_SIZE as u64 - 1)) as Rank;
            }
            if slot == FREE {
                return NO_RANK;
            }
            index += 1;
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

    /// The difference between the id and the rank of every merge, if it is constant.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn first_id(&self) -> Option<TokenId> {
        self.first_id
    }

    /// Whether every merge comes after all merges that make its parts, so that applying one makes
    /// only merges of higher rank possible. This is true of trained vocabularies; a list in which
    /// two merges make the same token may violate it.
    pub(crate) fn is_rising(&self) -> bool {
        self.rising
    }

    /// The slot of a pair, or the free slot for it.
    #[inline]
    fn probe(&self, pair: u64, hash: u64) -> usize {
        let mut index = hash as usize & self.mask;
        while self.slots[index] != FREE && self.slots[index] >> BITS != pair {
            index = (index + 1) & self.mask;
        }
        index
    }
}

const LOW: usize = 256;

/// The index of a pair in the table of low ids.
#[inline]
fn low_index(left: TokenId, right: TokenId) -> Option<usize> {
    ((left | right) < LOW as TokenId).then_some((left as usize) << 8 | right as usize)
}

#[inline]
fn pack(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}

#[inline]
fn hash(pair: u64, seeds: [u64; 2]) -> u64 {
    let product = u128::from(pair ^ seeds[0]) * u128::from(seeds[1]);
    (product >> 64) as u64 ^ product as u64
}

/// For each token the ranks of the first and the last merge that make it.
fn first_and_last_ranks(merges: &[Merge], size: usize) -> (Vec<Option<Rank>>, Vec<Option<Rank>>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_seeds_spread_colliding_pairs() {
        // With known seeds the slots of pairs are known too: these pairs all have one of the first
        // slots.
        const COUNT: usize = 1 << 13;
        let fixed_seeds = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9];
        let mask = (COUNT * 2).next_power_of_two() - 1;
        let pairs = (0..1_600u32).flat_map(|left| (0..1_600).map(move |right| (LOW as u32 + left, right)));
        let colliding: Vec<(u32, u32)> = pairs
            .filter(|&(left, right)| hash(pack(left, right), fixed_seeds) as usize & mask < 64)
            .take(COUNT)
            .collect();
        assert_eq!(colliding.len(), COUNT);
        let longest = |seeds: [u64; 2]| {
            let mut merges = Merges { seeds, ..Merges::with_capacity(COUNT) };
            colliding
                .iter()
                .for_each(|&(left, right)| assert!(merges.push(Merge { left, right, id: 2_000 })));
            merges.slots.split(|&slot| slot == FREE).map(<[u64]>::len).max().unwrap()
        };
        assert!(longest(fixed_seeds) >= COUNT);
        for _ in 0..3 {
            let longest = longest(seeds());
            assert!(longest < 1_000, "{longest} slots in a row are occupied");
        }
    }
}
