//! The merge loop, in rounds.
//!
//! A pair's count only falls once all its occurrences have arisen. So as long as the most frequent
//! pair occurs `floor` times or more, a pair that occurs less often need not be known: a round
//! finds all pairs that reach the floor, and merges until none does. Then the floor is lowered, the
//! corpus laid out anew without the gaps that merges left, and the next round begins. Most pairs
//! that ever arise are too rare to be merged, and cost nothing so.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::merges::Merge;
use crate::vocabulary::TokenId;
use crate::watch::Watch;

use super::census::{self, Table};
use super::corpus::{BORDER, Corpus};
use super::pairs::{Pair, Pairs};
use super::sketch::Sketch;
use super::ties::TieRule;
use super::{Learned, RunnerUp, Stop};

/// Places looked at between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 16;

/// How far ahead of its reading the memory around a place is asked for.
const AHEAD: usize = 16;

/// How many times as many pairs as the first round a later one begins with at most.
const GROWTH: usize = 16;

pub(super) struct Limits {
    pub(super) max_merges: usize,
    pub(super) min_frequency: u64,
    pub(super) max_token_length: usize,
    /// How many pairs the first round begins with, about.
    pub(super) round: usize,
    /// How many of the pairs that came next are kept with each merge.
    pub(super) runners_up: usize,
}

impl Limits {
    /// Whether the token of a pair would not be too long.
    #[inline]
    fn allow(&self, tokens: &[Vec<u8>], left: TokenId, right: TokenId) -> bool {
        self.max_token_length == usize::MAX
            || tokens[left as usize].len() + tokens[right as usize].len() <= self.max_token_length
    }
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

/// Learns merges until a limit is reached.
pub(super) struct Learner<T: TieRule> {
    corpus: Corpus,
    tokens: Vec<Vec<u8>>,
    ties: T,
    limits: Limits,
    /// Every pair that occurs so often is among the pairs, or, while merges that are known are
    /// made again, every one of those.
    floor: u64,
    known: Option<HashSet<(TokenId, TokenId)>>,
    pairs: Pairs,
    queue: BinaryHeap<Candidate<T::Key>>,
    left: Side,
    right: Side,
    merges: Vec<Learned>,
}

impl<T: TieRule> Learner<T> {
    /// A learner of a corpus that was just laid out.
    pub(super) fn new(corpus: Corpus, tokens: Vec<Vec<u8>>, ties: T, limits: Limits) -> Learner<T> {
        Learner {
            corpus,
            tokens,
            ties,
            limits,
            floor: u64::MAX,
            known: None,
            pairs: Pairs::default(),
            queue: BinaryHeap::new(),
            left: Side::default(),
            right: Side::default(),
            merges: Vec::new(),
        }
    }

    /// Learns merges until a limit is reached. Those of `known` were learned from the same corpus
    /// before: they come first, and are made again without choosing; but if the pairs that came next
    /// are to be kept, which nobody wrote down, they are chosen again.
    pub(super) fn learn(
        mut self,
        known: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        watch: &dyn Watch,
    ) -> Result<(Vec<Learned>, Stop)> {
        if known.is_empty() || self.limits.runners_up > 0 {
            self.start(watch)?;
        } else {
            self.repeat(known, on_merge, watch)?;
            self.start_round(watch)?;
        }
        loop {
            loop {
                if self.merges.len() == self.limits.max_merges {
                    return Ok((self.merges, Stop::MaxMerges));
                }
                let Some(best) = self.best() else { break };
                let Some(runners_up) = self.runners_up() else { break };
                let count = self.pairs.get(best).count;
                let learned = Learned { merge: self.merge(best, watch)?, count, runners_up };
                let before = known.get(self.merges.len());
                if before.is_some_and(|known| (known.merge, known.count) != (learned.merge, count)) {
                    return Err(self.of_another_run());
                }
                on_merge(&learned)?;
                self.merges.push(learned);
            }
            if self.floor == self.limits.min_frequency {
                if self.merges.len() < known.len() {
                    return Err(self.of_another_run());
                }
                let stop = if self.is_merged(watch)? { Stop::NoPairs } else { Stop::MinFrequency };
                return Ok((self.merges, stop));
            }
            self.start_round(watch)?;
        }
    }

    fn of_another_run(&self) -> Error {
        let number = self.merges.len();
        Error::Checkpoint {
            reason: format!("merge {number} was learned from another corpus or with other options."),
        }
    }

    /// Makes merges that were learned before.
    fn repeat(
        &mut self,
        known: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let pairs: HashSet<_> = known.iter().map(|Learned { merge, .. }| (merge.left, merge.right)).collect();
        self.pairs = census::pairs(&self.corpus, 1, |left, right| pairs.contains(&(left, right)), watch)?;
        (self.floor, self.known) = (1, Some(pairs));
        for learned in known {
            let Merge { left, right, .. } = learned.merge;
            let number = self.pairs.number_of(left, right);
            let number = number.filter(|&number| self.pairs.get(number).count == learned.count);
            let same = number.filter(|_| learned.merge.id as usize == self.tokens.len());
            let number = same.ok_or_else(|| self.of_another_run())?;
            self.merge(number, watch)?;
            on_merge(learned)?;
            self.merges.push(learned.clone());
        }
        (self.floor, self.known) = (u64::MAX, None);
        Ok(())
    }

    /// Finds the pairs of the first round.
    fn start(&mut self, watch: &dyn Watch) -> Result<()> {
        let Some(table) = Table::of(&self.corpus, self.tokens.len(), watch)? else {
            return self.start_round(watch);
        };
        self.floor = table.reached_by(self.limits.round).max(self.limits.min_frequency);
        let allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        self.pairs = table.pairs(&self.corpus, self.floor, allowed, watch)?;
        self.enqueue_all();
        Ok(())
    }

    /// Lowers the floor and finds the pairs that reach it.
    fn start_round(&mut self, watch: &dyn Watch) -> Result<()> {
        self.pairs = Pairs::default();
        self.queue.clear();
        let mut sketch = Sketch::new(self.corpus.len());
        let allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        self.corpus.lay_out(watch, |left, right, count| {
            if allowed(left, right) {
                sketch.add(left, right, count);
            }
        })?;
        // Of the pairs that a round starts with five in six are merged. The sums of many rare pairs
        // look like a frequent one, so the floor that the sketch gives may be too high.
        let left = (self.limits.max_merges - self.merges.len()).saturating_add(self.limits.runners_up);
        let wanted = (left.saturating_mul(6) / 5).min(self.limits.round * GROWTH).min(sketch.capacity());
        self.floor = sketch.reached_by(wanted).min(self.floor / 2);
        loop {
            self.floor = self.floor.max(self.limits.min_frequency);
            let floor = self.floor;
            let may_reach = |left, right| sketch.may_reach(left, right, floor) && allowed(left, right);
            self.pairs = census::pairs(&self.corpus, floor, may_reach, watch)?;
            if self.pairs.len() > 0 || self.floor == self.limits.min_frequency {
                break;
            }
            self.floor /= 2;
        }
        self.enqueue_all();
        Ok(())
    }

    /// Whether no two neighbours are left that may be merged.
    fn is_merged(&mut self, watch: &dyn Watch) -> Result<bool> {
        let mut merged = true;
        let allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        self.corpus.lay_out(watch, |left, right, _| merged &= !allowed(left, right))?;
        Ok(merged)
    }

    fn enqueue_all(&mut self) {
        (0..self.pairs.len() as u32).for_each(|number| self.enqueue(number));
    }

    fn enqueue(&mut self, number: u32) {
        let pair = self.pairs.get(number as usize);
        let first = self.pairs.postings[pair.places.start];
        let key = self.ties.key(pair.left, pair.right, first, &self.tokens);
        self.queue.push(Candidate { count: pair.count, key, pair: number });
    }

    /// Takes the best pair out of the queue, if one reaches the floor. What is not as good as when
    /// it was put there goes back with what it is worth now; the first that is, is the best, since
    /// no other can be better than it seems.
    fn best(&mut self) -> Option<usize> {
        while let Some(candidate) = self.queue.pop() {
            let number = candidate.pair as usize;
            if self.pairs.get(number).count < self.floor {
                continue;
            }
            let moved = T::MOVES && self.move_to_first(number);
            if !moved && self.pairs.get(number).count == candidate.count {
                return Some(number);
            }
            self.enqueue(candidate.pair);
        }
        None
    }

    /// The pairs that would come next if the best, which is out of the queue, were not there. None
    /// if some of them may be too rare for this round to know: the next one finds them, after the
    /// same best.
    fn runners_up(&mut self) -> Option<Box<[RunnerUp]>> {
        let wanted = self.limits.runners_up;
        let next: Vec<usize> = (0..wanted).map_while(|_| self.best()).collect();
        if next.len() < wanted && self.floor > self.limits.min_frequency {
            return None;
        }
        next.iter().for_each(|&number| self.enqueue(number as u32));
        let pair = |&number: &usize| {
            let Pair { left, right, count, .. } = *self.pairs.get(number);
            RunnerUp { left, right, count }
        };
        Some(next.iter().map(pair).collect())
    }

    /// Lets the places of a pair begin where it stands first; false if they did.
    fn move_to_first(&mut self, number: usize) -> bool {
        let Pair { left, right, ref places, .. } = *self.pairs.get(number);
        let postings = &self.pairs.postings[places.clone()];
        let left_behind = postings.iter().take_while(|&&at| !self.corpus.has_pair(at as usize, left, right));
        let count = left_behind.count();
        self.pairs.get_mut(number).places.start += count;
        count > 0
    }

    /// Merges a pair wherever it stands and brings all counts up to date.
    fn merge(&mut self, number: usize, watch: &dyn Watch) -> Result<Merge> {
        let (left, right, places) = self.pairs.take(number);
        let id = self.corpus.add_token(left, right);
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        self.tokens.push(token);
        self.left.by_token.resize(self.tokens.len(), Change::default());
        self.right.by_token.resize(self.tokens.len(), Change::default());

        // The new token beside itself: pairs (id, left) that were counted on the right of one
        // place and are undone on the left of the next.
        let mut twins = 0;
        let mut twin_places = Vec::new();
        let postings = &self.pairs.postings[..places.end];
        for number in places {
            if number % BETWEEN_CHECKS == 0 {
                watch.check()?;
            }
            if let Some(&later) = postings.get(number + AHEAD) {
                self.corpus.prefetch(later as usize);
            }
            let at = postings[number] as usize;
            if !self.corpus.has_pair(at, left, right) {
                continue;
            }
            let weight = self.corpus.count(at);
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
        // (x, left) became (x, id), and (right, x) became (id, x), or (id, id) where x was merged.
        self.settle(Which::Left, 0, left, |x| ((x, left), (x, id)))?;
        self.settle(Which::Right, twins, left, |x| ((right, x), (id, x)))?;
        if self.wants((id, id), twins) {
            let start = self.pairs.postings.len();
            self.pairs.postings.extend(twin_places);
            self.add((id, id), twins, start..self.pairs.postings.len())?;
        }
        Ok(Merge { left, right, id })
    }

    /// Takes what changed on one side from the pairs of old, and adds the new pairs that reach the
    /// floor. `pairs_of` gives both for a neighbour; `twins` are those of `twin` that became
    /// something else again.
    fn settle(
        &mut self,
        which: Which,
        twins: u64,
        twin: TokenId,
        pairs_of: impl Fn(TokenId) -> ((TokenId, TokenId), (TokenId, TokenId)),
    ) -> Result<()> {
        let mut side = std::mem::take(match which {
            Which::Left => &mut self.left,
            Which::Right => &mut self.right,
        });
        let first = self.pairs.postings.len();
        let mut start = first;
        for &neighbour in &side.touched {
            let change = &mut side.by_token[neighbour as usize];
            self.pairs.take_from(pairs_of(neighbour).0, change.weight)?;
            if neighbour == twin {
                change.weight -= twins;
            }
            change.next = NOWHERE;
            if self.wants(pairs_of(neighbour).1, change.weight) {
                change.next = start;
                start += change.places as usize;
            }
        }
        if start > first {
            self.pairs.postings.resize(start, 0);
            for &(neighbour, place) in &side.places {
                let change = &mut side.by_token[neighbour as usize];
                if change.next != NOWHERE {
                    self.pairs.postings[change.next] = place;
                    change.next += 1;
                }
            }
            for &neighbour in &side.touched {
                let change = side.by_token[neighbour as usize];
                if change.next != NOWHERE {
                    let places = change.next - change.places as usize..change.next;
                    self.add(pairs_of(neighbour).1, change.weight, places)?;
                }
            }
        }
        side.clear();
        match which {
            Which::Left => self.left = side,
            Which::Right => self.right = side,
        }
        Ok(())
    }

    /// Whether a pair that arises is to be among the pairs.
    #[inline]
    fn wants(&self, (left, right): (TokenId, TokenId), count: u64) -> bool {
        count >= self.floor
            && self.limits.allow(&self.tokens, left, right)
            && self.known.as_ref().is_none_or(|known| known.contains(&(left, right)))
    }

    /// Adds a pair that is wanted.
    fn add(&mut self, (left, right): (TokenId, TokenId), count: u64, places: Range<usize>) -> Result<()> {
        let number = self.pairs.add(left, right, count, places)?;
        if self.known.is_none() {
            self.enqueue(number);
        }
        Ok(())
    }
}

/// The two sides of a merged pair.
enum Which {
    Left,
    Right,
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

/// No place in the postings: the pair is too rare to be known.
const NOWHERE: usize = usize::MAX;

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
