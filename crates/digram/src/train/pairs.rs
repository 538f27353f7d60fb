//! The merge loop: pairs with their counts and places, and a queue of candidates.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::merges::Merge;
use crate::vocabulary::TokenId;
use crate::watch::Watch;

use super::corpus::{BORDER, Corpus};
use super::ties::TieRule;
use super::{Learned, Stop};

/// Places looked at between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 16;

pub(super) struct Limits {
    pub(super) max_merges: usize,
    pub(super) min_frequency: u64,
    pub(super) max_token_length: usize,
}

/// A pair of neighbouring tokens. All its occurrences arise in one step, the one that makes the
/// younger of its parts; after that its count only falls and its first occurrence only moves right.
struct Pair {
    left: TokenId,
    right: TokenId,
    count: u64,
    /// Where it stood when it arose, in rising order, as a range of the postings. Places that it
    /// has left since are skipped when they are met.
    places: Range<usize>,
}

/// A pair in the queue, with count and key as they were when it was put there: upper bounds.
struct Candidate<K> {
    count: u64,
    key: K,
    pair: u32,
}

impl<K: Ord> Ord for Candidate<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.count.cmp(&other.count).then_with(|| self.key.cmp(&other.key))
    }
}

impl<K: Ord> PartialOrd for Candidate<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> PartialEq for Candidate<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord> Eq for Candidate<K> {}

struct Learner<T: TieRule> {
    corpus: Corpus,
    tokens: Vec<Vec<u8>>,
    ties: T,
    limits: Limits,
    pairs: Vec<Pair>,
    index: HashMap<(TokenId, TokenId), u32>,
    postings: Vec<u32>,
    queue: BinaryHeap<Candidate<T::Key>>,
    left: Side,
    right: Side,
}

/// What one merge changes on one side of its places: for each neighbouring token how much weight
/// and how many places. Indexed by id, so that a change costs no hashing.
#[derive(Default)]
struct Side {
    by_token: Vec<Change>,
    touched: Vec<TokenId>,
    /// Each neighbour with the place of the new pair, in rising order of places.
    places: Vec<(TokenId, u32)>,
}

#[derive(Clone, Copy, Default)]
struct Change {
    weight: u64,
    places: u32,
    /// Where the next place of this neighbour goes in the postings.
    next: usize,
}

impl Side {
    #[inline]
    fn add(&mut self, neighbour: TokenId, weight: u64, place: usize) {
        let change = &mut self.by_token[neighbour as usize];
        if change.places == 0 {
            self.touched.push(neighbour);
        }
        change.weight += weight;
        change.places += 1;
        self.places.push((neighbour, place as u32));
    }

    fn clear(&mut self) {
        for &token in &self.touched {
            self.by_token[token as usize] = Change::default();
        }
        self.touched.clear();
        self.places.clear();
    }
}

/// Learns merges until a limit is reached.
pub(super) fn learn<T: TieRule>(
    corpus: Corpus,
    tokens: Vec<Vec<u8>>,
    ties: T,
    limits: Limits,
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    watch: &dyn Watch,
) -> Result<(Vec<Learned>, Stop)> {
    let mut learner = Learner {
        corpus,
        tokens,
        ties,
        limits,
        pairs: Vec::new(),
        index: HashMap::default(),
        postings: Vec::new(),
        queue: BinaryHeap::new(),
        left: Side::default(),
        right: Side::default(),
    };
    learner.find_base_pairs(watch)?;
    let mut merges = Vec::new();
    loop {
        if merges.len() == learner.limits.max_merges {
            return Ok((merges, Stop::MaxMerges));
        }
        let Some(best) = learner.best() else {
            return Ok((merges, Stop::NoPairs));
        };
        let count = learner.pairs[best].count;
        if count < learner.limits.min_frequency {
            return Ok((merges, Stop::MinFrequency));
        }
        let merge = learner.merge(best, watch)?;
        merges.push(Learned { merge, count });
        on_merge(merges.last().expect("just pushed"))?;
    }
}

impl<T: TieRule> Learner<T> {
    /// Counts the pairs of base symbols, in two passes: how many places each has, then which.
    fn find_base_pairs(&mut self, watch: &dyn Watch) -> Result<()> {
        let mut sizes: Vec<usize> = Vec::new();
        for pass in 0..2 {
            for at in 0..self.corpus.len() {
                if at % BETWEEN_CHECKS == 0 {
                    watch.check()?;
                }
                let Some((left, right)) = self.corpus.base_pair(at) else { continue };
                if pass == 0 {
                    let next = self.pairs.len() as u32;
                    let number = *self.index.entry((left, right)).or_insert(next);
                    if number == next {
                        self.pairs.push(Pair { left, right, count: 0, places: 0..0 });
                        sizes.push(0);
                    }
                    let pair = &mut self.pairs[number as usize];
                    pair.count = pair.count.checked_add(self.corpus.weight(at)).ok_or_else(too_many)?;
                    sizes[number as usize] += 1;
                } else {
                    let pair = &mut self.pairs[self.index[&(left, right)] as usize];
                    self.postings[pair.places.end] = at as u32;
                    pair.places.end += 1;
                }
            }
            if pass == 0 {
                let mut start = 0;
                for (pair, size) in self.pairs.iter_mut().zip(&sizes) {
                    pair.places = start..start;
                    start += size;
                }
                self.postings = vec![0; start];
            }
        }
        for number in 0..self.pairs.len() as u32 {
            self.enqueue(number);
        }
        Ok(())
    }

    /// Puts a pair in the queue, unless its token would be too long.
    fn enqueue(&mut self, number: u32) {
        let pair = &self.pairs[number as usize];
        let length = self.tokens[pair.left as usize].len() + self.tokens[pair.right as usize].len();
        if pair.count == 0 || length > self.limits.max_token_length {
            return;
        }
        let first = self.postings[pair.places.start];
        let key = self.ties.key(pair.left, pair.right, first, &self.tokens);
        self.queue.push(Candidate { count: pair.count, key, pair: number });
    }

    /// Takes the best pair out of the queue. What is not as good as when it was put there goes
    /// back with what it is worth now; the first that is, is the best, since no other can be
    /// better than it seems.
    fn best(&mut self) -> Option<usize> {
        while let Some(candidate) = self.queue.pop() {
            let number = candidate.pair as usize;
            if self.pairs[number].count == 0 {
                continue;
            }
            let mut moved = false;
            if T::MOVES {
                let pair = &mut self.pairs[number];
                while !self.corpus.has_pair(self.postings[pair.places.start] as usize, pair.left, pair.right)
                {
                    pair.places.start += 1;
                    moved = true;
                }
            }
            if !moved && self.pairs[number].count == candidate.count {
                return Some(number);
            }
            self.enqueue(candidate.pair);
        }
        None
    }

    /// Merges a pair wherever it stands and brings all counts up to date.
    fn merge(&mut self, number: usize, watch: &dyn Watch) -> Result<Merge> {
        let Pair { left, right, places, .. } = &mut self.pairs[number];
        let (left, right, places) = (*left, *right, std::mem::take(places));
        let id = self.corpus.add_token(left, right);
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        self.tokens.push(token);
        self.left.by_token.resize(self.tokens.len(), Change::default());
        self.right.by_token.resize(self.tokens.len(), Change::default());

        // The new token beside itself: pairs (id, left) that were counted on the right of one
        // place and are undone on the left of the next.
        let mut twins = 0;
        let mut twin_places = Vec::new();
        for at in places.clone() {
            if at % BETWEEN_CHECKS == 0 {
                watch.check()?;
            }
            let at = self.postings[at] as usize;
            if !self.corpus.has_pair(at, left, right) {
                continue;
            }
            let weight = self.corpus.weight(at);
            self.corpus.merge(at, left, right, id);
            let (before, start) = self.corpus.before(at);
            if before == id {
                twins += weight;
                twin_places.push(start as u32);
            } else if before != BORDER {
                self.left.add(before, weight, start);
            }
            let after = self.corpus.after(at);
            if after != BORDER {
                self.right.add(after, weight, at);
            }
        }
        // Its own count first: in runs (`aaaa`) the pair is also its own neighbour.
        self.pairs[number].count = 0;
        self.index.remove(&(left, right));
        self.settle_left(left, id)?;
        self.settle_right(left, right, id, twins)?;
        if twins > 0 {
            let start = self.postings.len();
            self.postings.extend(twin_places);
            self.add_pair(id, id, twins, start..self.postings.len())?;
        }
        Ok(Merge { left, right, id })
    }

    /// (x, left) became (x, id).
    fn settle_left(&mut self, left: TokenId, id: TokenId) -> Result<()> {
        let mut side = std::mem::take(&mut self.left);
        self.lay_out(&mut side);
        for &before in &side.touched {
            let change = side.by_token[before as usize];
            self.take_from(before, left, change.weight)?;
            self.add_pair(before, id, change.weight, change.next - change.places as usize..change.next)?;
        }
        side.clear();
        self.left = side;
        Ok(())
    }

    /// (right, x) became (id, x), but where x was then merged too, (id, id).
    fn settle_right(&mut self, left: TokenId, right: TokenId, id: TokenId, twins: u64) -> Result<()> {
        let mut side = std::mem::take(&mut self.right);
        self.lay_out(&mut side);
        for &after in &side.touched {
            let change = side.by_token[after as usize];
            self.take_from(right, after, change.weight)?;
            let weight = change.weight - if after == left { twins } else { 0 };
            self.add_pair(id, after, weight, change.next - change.places as usize..change.next)?;
        }
        side.clear();
        self.right = side;
        Ok(())
    }

    /// Appends the places of a side to the postings, those of each neighbour together; afterwards
    /// `next` is where a neighbour's places end.
    fn lay_out(&mut self, side: &mut Side) {
        let mut start = self.postings.len();
        for &token in &side.touched {
            let change = &mut side.by_token[token as usize];
            change.next = start;
            start += change.places as usize;
        }
        self.postings.resize(start, 0);
        for &(token, place) in &side.places {
            let change = &mut side.by_token[token as usize];
            self.postings[change.next] = place;
            change.next += 1;
        }
    }

    /// Takes occurrences from a pair that was there before. The pair just merged is gone already.
    fn take_from(&mut self, left: TokenId, right: TokenId, weight: u64) -> Result<()> {
        if let Some(&number) = self.index.get(&(left, right)) {
            let pair = &mut self.pairs[number as usize];
            pair.count = pair.count.checked_sub(weight).ok_or_else(|| Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            })?;
            if pair.count == 0 {
                self.index.remove(&(left, right));
            }
        }
        Ok(())
    }

    fn add_pair(&mut self, left: TokenId, right: TokenId, count: u64, places: Range<usize>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let number = u32::try_from(self.pairs.len()).map_err(|_| too_many())?;
        self.pairs.push(Pair { left, right, count, places });
        self.index.insert((left, right), number);
        self.enqueue(number);
        Ok(())
    }
}

fn too_many() -> Error {
    Error::Limit { reason: "there are more pairs than 64-bit counts or 32-bit numbers can hold.".into() }
}
