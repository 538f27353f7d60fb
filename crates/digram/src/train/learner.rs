//! The merge loop: choosing the best pair, and updating counts.

use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::error::Result;
use crate::interrupt::{CHECK_INTERVAL, Interrupt};
use crate::memory;
use crate::utf8::keeps_characters;
use crate::vocabulary::TokenId;

use super::archive::Archive;
use super::candidate::Candidate;
use super::corpus::{BORDER, Corpus};
use super::forbidden::Forbidden;
use super::neighbours::{Change, NOWHERE, NeighbourChanges};
use super::pairs::{Pair, Pairs};
use super::ties::TieRule;
use super::weights::PretokenWeight;
use super::{Learned, Options, RunnerUp};

/// Prefetch distance, in places.
const AHEAD: usize = 16;

pub(super) struct Limits {
    pub(super) max_merges: usize,
    pub(super) min_frequency: u64,
    pub(super) max_token_length: usize,
    pub(super) whole_characters: bool,
    pub(super) forbidden: Arc<Forbidden>,
    /// About the number of pairs of the first round.
    pub(super) round: usize,
    /// The number of runners-up kept with each merge.
    pub(super) runners_up: usize,
    /// The bytes of all tokens, if two pairs may make the same token.
    pub(super) taken: HashSet<Vec<u8>>,
}

impl Limits {
    /// The limits of `options`, with at most `maximum` merges.
    pub(super) fn of(options: &Options, maximum: usize) -> Limits {
        Limits {
            max_merges: options.max_merges.unwrap_or(maximum),
            min_frequency: options.min_frequency,
            max_token_length: options.max_token_length.unwrap_or(usize::MAX),
            whole_characters: options.whole_characters,
            forbidden: options.forbidden.clone(),
            round: options.round.max(1),
            runners_up: options.runners_up,
            taken: options.base.taken(),
        }
    }

    /// Whether a pair may be merged: its token is not too long, is not forbidden, does not exist yet, and
    /// splits no character if that is excluded.
    #[inline]
    pub(super) fn allow(&self, tokens: &[Vec<u8>], left: TokenId, right: TokenId) -> bool {
        self.allow_all() || {
            let (left, right) = (&tokens[left as usize][..], &tokens[right as usize][..]);
            left.len() + right.len() <= self.max_token_length
                && (!self.whole_characters || keeps_characters(left, right))
                && !self.forbidden.holds(left, right)
                && (self.taken.is_empty() || !self.taken.contains(&[left, right].concat()))
        }
    }

    #[inline]
    fn allow_all(&self) -> bool {
        self.max_token_length == usize::MAX && !self.has_gaps()
    }

    /// Whether a pair that may not be merged can become part of a pair that may, once its tokens have
    /// grown: the last byte of `é` and `s`, and later `é` and `s`.
    pub(super) fn has_gaps(&self) -> bool {
        self.whole_characters || !self.taken.is_empty() || !self.forbidden.is_empty()
    }

    /// Whether a pair, or a pair that contains it, may be merged. Text between other pairs is not needed.
    #[inline]
    pub(super) fn follow(&self, tokens: &[Vec<u8>], left: TokenId, right: TokenId) -> bool {
        let len = |token: TokenId| tokens[token as usize].len();
        self.max_token_length == usize::MAX || len(left) + len(right) <= self.max_token_length
    }
}

/// The candidates for the merges of one language.
pub(super) struct Contest<K> {
    pub(super) queue: BinaryHeap<Candidate<K>>,
    /// All pairs with at least this count in the language are tracked.
    pub(super) min_count: u64,
}

impl<K: Ord> Default for Contest<K> {
    /// A contest without pairs.
    fn default() -> Self {
        Contest { queue: BinaryHeap::new(), min_count: u64::MAX }
    }
}

/// Learns merges until a limit is reached.
pub(super) struct Learner<T: TieRule> {
    pub(super) corpus: Corpus,
    /// The whole corpus, if memory is limited; `corpus` then holds the part that a round needs.
    pub(super) archive: Option<Archive>,
    pub(super) tokens: Vec<Vec<u8>>,
    pub(super) ties: T,
    pub(super) limits: Limits,
    /// All pairs with at least this count are tracked; while known merges are repeated, only those in
    /// `known`.
    pub(super) min_count: u64,
    pub(super) known: Option<HashSet<(TokenId, TokenId)>>,
    pub(super) pairs: Pairs,
    pub(super) queue: BinaryHeap<Candidate<T::SortKey>>,
    /// One per language, if languages take turns; `queue` and `min_count` are then unused.
    pub(super) languages: Vec<Contest<T::SortKey>>,
    /// The current length of each language; empty if lengths steer nothing.
    pub(super) lengths: Vec<u64>,
    pub(super) left: NeighbourChanges,
    pub(super) right: NeighbourChanges,
    pub(super) merges: Vec<Learned>,
    /// The number of merges at the start of the last round from the archive.
    pub(super) round_start: Option<usize>,
}

impl<T: TieRule> Learner<T> {
    /// A learner for a new corpus, in memory or in an archive.
    pub(super) fn new(
        (corpus, archive): (Corpus, Option<Archive>),
        tokens: Vec<Vec<u8>>,
        ties: T,
        limits: Limits,
    ) -> Learner<T> {
        Learner {
            corpus,
            archive,
            tokens,
            ties,
            limits,
            min_count: u64::MAX,
            known: None,
            pairs: Pairs::default(),
            queue: BinaryHeap::new(),
            languages: Vec::new(),
            lengths: Vec::new(),
            left: NeighbourChanges::default(),
            right: NeighbourChanges::default(),
            merges: Vec::new(),
            round_start: None,
        }
    }

    pub(super) fn enqueue_all(&mut self) {
        (0..self.pairs.len() as u32).for_each(|number| self.enqueue(number));
    }

    /// Returns a pair taken by `best` to the queue.
    pub(super) fn put_back(&mut self, number: usize) {
        self.enqueue(number as u32);
    }

    fn enqueue(&mut self, number: u32) {
        let pair = self.pairs.get(number as usize);
        let first = self.pairs.postings[pair.places.start].into();
        let key = self.ties.key(pair.left, pair.right, first, &self.tokens);
        if self.languages.is_empty() {
            self.queue.push(Candidate { count: pair.count, key, pair: number });
            return;
        }
        for (contest, &count) in self.languages.iter_mut().zip(self.pairs.shares(number as usize)) {
            if count >= contest.min_count {
                contest.queue.push(Candidate { count, key: key.clone(), pair: number });
            }
        }
    }

    /// Takes the best pair with at least `min_count` from the queue. Entries are upper bounds: an entry
    /// that is no longer exact is queued again with its current value, and the first exact one is the best.
    pub(super) fn best(&mut self) -> Option<usize> {
        while let Some(candidate) = self.queue.pop() {
            let number = candidate.pair as usize;
            if self.pairs.get(number).count < self.min_count || self.is_taken(number) {
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

    /// Like `best`, among the pairs of a language, whose keys do not change.
    pub(super) fn best_of(&mut self, language: usize) -> Option<usize> {
        while let Some(candidate) = self.languages[language].queue.pop() {
            let number = candidate.pair as usize;
            let count = self.pairs.shares(number)[language];
            if count < self.languages[language].min_count || self.is_taken(number) {
                continue;
            }
            if count == candidate.count {
                return Some(number);
            }
            self.languages[language].queue.push(Candidate { count, ..candidate });
        }
        None
    }

    /// Whether another pair has made the same token since this pair was found.
    fn is_taken(&self, number: usize) -> bool {
        let pair = self.pairs.get(number);
        !self.limits.taken.is_empty() && !self.limits.allow(&self.tokens, pair.left, pair.right)
    }

    /// The pairs that come next after the best one, which is out of the queue. `None` if some of them may
    /// be too rare for this round to track: the next round finds them, after the same best pair.
    pub(super) fn runners_up(&mut self) -> Option<Box<[RunnerUp]>> {
        let wanted = self.limits.runners_up;
        let next: Vec<usize> = (0..wanted).map_while(|_| self.best()).collect();
        if next.len() < wanted && self.min_count > self.limits.min_frequency {
            return None;
        }
        next.iter().for_each(|&number| self.enqueue(number as u32));
        let pair = |&number: &usize| {
            let Pair { left, right, count, .. } = *self.pairs.get(number);
            RunnerUp { left, right, count }
        };
        Some(next.iter().map(pair).collect())
    }

    /// Drops outdated places at the start of a pair's postings; returns whether there were any.
    fn move_to_first(&mut self, number: usize) -> bool {
        let Pair { left, right, ref places, .. } = *self.pairs.get(number);
        let postings = &self.pairs.postings[places.clone()];
        let left_behind = postings.iter().take_while(|&&at| !self.corpus.has_pair(at as usize, left, right));
        let count = left_behind.count();
        self.pairs.get_mut(number).places.start += count;
        count > 0
    }

    /// Adds the token of a pair.
    pub(super) fn add_token(&mut self, left: TokenId, right: TokenId) -> TokenId {
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        self.tokens.push(token);
        (self.tokens.len() - 1) as TokenId
    }

    /// Merges a pair into an existing token at all its places, and updates all counts.
    pub(super) fn merge(&mut self, number: usize, id: TokenId, interrupt: &dyn Interrupt) -> Result<()> {
        let (left, right, places) = self.pairs.take(number);
        self.make_sides();
        let mut twins = SelfPairs::of(self.languages.len());
        memory::try_reserve(&mut self.left.places, places.len())?;
        memory::try_reserve(&mut self.right.places, places.len())?;
        let end = places.end;
        for number in places {
            if number % CHECK_INTERVAL == 0 {
                interrupt.check()?;
            }
            let postings = &self.pairs.postings[..end];
            if let Some(&later) = postings.get(number + AHEAD) {
                self.corpus.prefetch(later as usize);
            }
            let at = postings[number] as usize;
            if self.corpus.has_pair(at, left, right) {
                let weight = self.corpus.weight(at);
                if let Some(length) = self.lengths.get_mut(weight.language as usize) {
                    *length -= weight.length;
                }
                self.corpus.merge(at, left, right, id);
                self.look_around(at, id, weight, &mut twins);
            }
        }
        // (x, left) became (x, id), and (right, x) became (id, x), or (id, id) where x was merged.
        self.settle(PairSide::Left, None, left, |x| ((x, left), (x, id)))?;
        self.settle(PairSide::Right, Some(&twins), left, |x| ((right, x), (id, x)))?;
        self.add_twins(id, twins)
    }

    /// Writes a token over borders at the given places, and adds the resulting pairs.
    pub(super) fn stand(&mut self, id: TokenId, places: &[u32], interrupt: &dyn Interrupt) -> Result<()> {
        self.make_sides();
        let mut twins = SelfPairs::of(self.languages.len());
        memory::try_reserve(&mut self.left.places, places.len())?;
        memory::try_reserve(&mut self.right.places, places.len())?;
        for (number, &at) in places.iter().enumerate() {
            if number % CHECK_INTERVAL == 0 {
                interrupt.check()?;
            }
            let at = at as usize;
            self.corpus.put(at, id);
            self.look_around(at, id, self.corpus.weight(at), &mut twins);
        }
        // Pairs with a border are not tracked.
        self.settle(PairSide::Left, None, BORDER, |x| ((x, BORDER), (x, id)))?;
        self.settle(PairSide::Right, None, BORDER, |x| ((BORDER, x), (id, x)))?;
        self.add_twins(id, twins)
    }

    fn make_sides(&mut self) {
        self.left.by_token.resize(self.tokens.len(), Change::default());
        self.right.by_token.resize(self.tokens.len(), Change::default());
    }

    /// Records the neighbours of a token that was just written at `at`.
    #[inline]
    fn look_around(&mut self, at: usize, id: TokenId, weight: PretokenWeight, twins: &mut SelfPairs) {
        let (before, start) = self.corpus.before(at);
        if before == id {
            twins.add(weight, start);
        } else if before != BORDER {
            self.left.add(before, weight, start);
        }
        let after = self.corpus.after(at);
        if after != BORDER {
            self.right.add(after, weight, at);
        }
    }

    fn add_twins(&mut self, id: TokenId, twins: SelfPairs) -> Result<()> {
        let SelfPairs { count, shares, places, failed } = twins;
        failed?;
        if self.wants((id, id), count, &shares) {
            let start = self.pairs.postings.len();
            memory::try_reserve(&mut self.pairs.postings, places.len())?;
            self.pairs.postings.extend(places);
            self.add((id, id), count, &shares, start..self.pairs.postings.len())?;
        }
        Ok(())
    }

    /// Subtracts the changes on one side from the old pairs, and adds the new pairs that reach `min_count`.
    /// `pairs_of` gives the old and the new pair for a neighbour. `twins` are occurrences with the
    /// neighbour `twin` that changed again.
    fn settle(
        &mut self,
        which: PairSide,
        twins: Option<&SelfPairs>,
        twin: TokenId,
        pairs_of: impl Fn(TokenId) -> ((TokenId, TokenId), (TokenId, TokenId)),
    ) -> Result<()> {
        let mut side = std::mem::take(match which {
            PairSide::Left => &mut self.left,
            PairSide::Right => &mut self.right,
        });
        let first = self.pairs.postings.len();
        let mut start = first;
        for &neighbour in &side.touched {
            let shares = side.shares_of(neighbour);
            let (change, shares) = (&mut side.by_token[neighbour as usize], &mut side.shares[shares]);
            self.pairs.take_from(pairs_of(neighbour).0, change.weight, shares)?;
            if neighbour == twin
                && let Some(twins) = twins
            {
                change.weight -= twins.count;
                shares.iter_mut().zip(&twins.shares).for_each(|(share, twins)| *share -= twins);
            }
            change.next = NOWHERE;
            if self.wants(pairs_of(neighbour).1, change.weight, shares) {
                change.next = start;
                start += change.places as usize;
            }
        }
        if start > first {
            memory::try_reserve(&mut self.pairs.postings, start - first)?;
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
                    let shares = &side.shares[side.shares_of(neighbour)];
                    self.add(pairs_of(neighbour).1, change.weight, shares, places)?;
                }
            }
        }
        side.clear();
        match which {
            PairSide::Left => self.left = side,
            PairSide::Right => self.right = side,
        }
        Ok(())
    }

    /// Whether a new pair is to be tracked.
    #[inline]
    fn wants(&self, (left, right): (TokenId, TokenId), count: u64, shares: &[u64]) -> bool {
        self.is_enough(count, shares)
            && self.limits.allow(&self.tokens, left, right)
            && self.known.as_ref().is_none_or(|known| known.contains(&(left, right)))
    }

    /// Whether a pair with these counts, in total and by language, reaches the minimum count of the corpus
    /// or of a language.
    #[inline]
    pub(super) fn is_enough(&self, count: u64, shares: &[u64]) -> bool {
        match shares {
            [] => count >= self.min_count,
            _ => shares.iter().zip(&self.languages).any(|(&count, contest)| count >= contest.min_count),
        }
    }

    /// Adds a pair to the tracked pairs.
    fn add(
        &mut self,
        (left, right): (TokenId, TokenId),
        count: u64,
        shares: &[u64],
        places: Range<usize>,
    ) -> Result<()> {
        let number = self.pairs.add(left, right, count, shares, places)?;
        if self.known.is_none() {
            self.enqueue(number);
        }
        Ok(())
    }
}

/// Occurrences of the new token next to itself: pairs (id, left) that were counted on the right of one
/// place and are undone on the left of the next.
struct SelfPairs {
    count: u64,
    /// By language.
    shares: Vec<u64>,
    places: Vec<u32>,
    /// The error, if a place could not be stored.
    failed: Result<()>,
}

impl SelfPairs {
    fn of(languages: usize) -> SelfPairs {
        SelfPairs { count: 0, shares: vec![0; languages], places: Vec::new(), failed: Ok(()) }
    }

    #[inline]
    fn add(&mut self, weight: PretokenWeight, start: usize) {
        self.count += weight.count;
        if let Some(share) = self.shares.get_mut(weight.language as usize) {
            *share += weight.count;
        }
        match memory::try_reserve(&mut self.places, 1) {
            Ok(()) => self.places.push(start as u32),
            Err(error) => self.failed = Err(error),
        }
    }
}

/// A side of a merged pair.
enum PairSide {
    Left,
    Right,
}
