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
use super::neighbours::{Change, NOT_TRACKED, NeighbourChanges};
use super::pairs::{Pair, Pairs};
use super::ties::TieRule;
use super::weights::PretokenWeight;
use super::{Learned, Options, RunnerUp};

/// Prefetch distance, in positions.
const PREFETCH_DISTANCE: usize = 16;

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
    pub(super) existing: HashSet<Vec<u8>>,
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
            existing: options.base.existing_tokens(),
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
                && (self.existing.is_empty() || !self.existing.contains(&[left, right].concat()))
        }
    }

    #[inline]
    fn allow_all(&self) -> bool {
        self.max_token_length == usize::MAX && !self.has_gaps()
    }

    /// Whether a pair that may not be merged can become part of a pair that may, once its tokens have
    /// grown: the last byte of `é` and `s`, and later `é` and `s`.
    pub(super) fn has_gaps(&self) -> bool {
        self.whole_characters || !self.existing.is_empty() || !self.forbidden.is_empty()
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
    /// All pairs with at least this count are tracked; while previous merges are repeated, only those in
    /// `repeated`.
    pub(super) min_count: u64,
    pub(super) repeated: Option<HashSet<(TokenId, TokenId)>>,
    pub(super) pairs: Pairs,
    pub(super) queue: BinaryHeap<Candidate<T::SortKey>>,
    /// One per language, if languages take turns; `queue` and `min_count` are then unused.
    pub(super) languages: Vec<Contest<T::SortKey>>,
    /// The current length of each language; empty if lengths are not used.
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
            repeated: None,
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
        (0..self.pairs.len() as u32).for_each(|index| self.enqueue(index));
    }

    /// Returns a pair taken by `best` to the queue.
    pub(super) fn requeue(&mut self, index: usize) {
        self.enqueue(index as u32);
    }

    fn enqueue(&mut self, index: u32) {
        let pair = self.pairs.get(index as usize);
        let first = self.pairs.postings[pair.positions.start].into();
        let key = self.ties.key(pair.left, pair.right, first, &self.tokens);
        if self.languages.is_empty() {
            self.queue.push(Candidate { count: pair.count, key, pair: index });
            return;
        }
        for (contest, &count) in self.languages.iter_mut().zip(self.pairs.shares(index as usize)) {
            if count >= contest.min_count {
                contest.queue.push(Candidate { count, key: key.clone(), pair: index });
            }
        }
    }

    /// Takes the best pair with at least `min_count` from the queue. Entries are upper bounds: an entry
    /// that is no longer exact is queued again with its current value, and the first exact one is the best.
    pub(super) fn best(&mut self) -> Option<usize> {
        while let Some(candidate) = self.queue.pop() {
            let index = candidate.pair as usize;
            if self.pairs.get(index).count < self.min_count || self.is_made_already(index) {
                continue;
            }
            let moved = T::MOVES && self.drop_outdated(index);
            if !moved && self.pairs.get(index).count == candidate.count {
                return Some(index);
            }
            self.enqueue(candidate.pair);
        }
        None
    }

    /// Like `best`, among the pairs of a language, whose keys do not change.
    pub(super) fn best_of(&mut self, language: usize) -> Option<usize> {
        while let Some(candidate) = self.languages[language].queue.pop() {
            let index = candidate.pair as usize;
            let count = self.pairs.shares(index)[language];
            if count < self.languages[language].min_count || self.is_made_already(index) {
                continue;
            }
            if count == candidate.count {
                return Some(index);
            }
            self.languages[language].queue.push(Candidate { count, ..candidate });
        }
        None
    }

    /// Whether another pair has made the same token since this pair was found.
    fn is_made_already(&self, index: usize) -> bool {
        let pair = self.pairs.get(index);
        !self.limits.existing.is_empty() && !self.limits.allow(&self.tokens, pair.left, pair.right)
    }

    /// The pairs that come next after the best one, which is out of the queue. `None` if some of them may
    /// be too rare for this round to track: the next round finds them, after the same best pair.
    pub(super) fn runners_up(&mut self) -> Option<Box<[RunnerUp]>> {
        let count = self.limits.runners_up;
        let best_pairs: Vec<usize> = (0..count).map_while(|_| self.best()).collect();
        if best_pairs.len() < count && self.min_count > self.limits.min_frequency {
            return None;
        }
        best_pairs.iter().for_each(|&index| self.enqueue(index as u32));
        let pair = |&index: &usize| {
            let Pair { left, right, count, .. } = *self.pairs.get(index);
            RunnerUp { left, right, count }
        };
        Some(best_pairs.iter().map(pair).collect())
    }

    /// Drops outdated positions at the start of a pair's postings; returns whether there were any.
    fn drop_outdated(&mut self, index: usize) -> bool {
        let Pair { left, right, ref positions, .. } = *self.pairs.get(index);
        let postings = &self.pairs.postings[positions.clone()];
        let outdated =
            postings.iter().take_while(|&&position| !self.corpus.has_pair(position as usize, left, right));
        let count = outdated.count();
        self.pairs.get_mut(index).positions.start += count;
        count > 0
    }

    /// Adds the token of a pair.
    pub(super) fn add_token(&mut self, left: TokenId, right: TokenId) -> TokenId {
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        self.tokens.push(token);
        (self.tokens.len() - 1) as TokenId
    }

    /// Merges a pair into an existing token at all its positions, and updates all counts.
    pub(super) fn merge(&mut self, index: usize, id: TokenId, interrupt: &dyn Interrupt) -> Result<()> {
        let (left, right, positions) = self.pairs.take(index);
        self.resize_changes();
        let mut self_pairs = SelfPairs::of(self.languages.len());
        memory::try_reserve(&mut self.left.positions, positions.len())?;
        memory::try_reserve(&mut self.right.positions, positions.len())?;
        let end = positions.end;
        for index in positions {
            if index % CHECK_INTERVAL == 0 {
                interrupt.check()?;
            }
            let postings = &self.pairs.postings[..end];
            if let Some(&next) = postings.get(index + PREFETCH_DISTANCE) {
                self.corpus.prefetch(next as usize);
            }
            let position = postings[index] as usize;
            if self.corpus.has_pair(position, left, right) {
                let weight = self.corpus.weight(position);
                if let Some(length) = self.lengths.get_mut(weight.language as usize) {
                    *length -= weight.length;
                }
                self.corpus.merge(position, left, right, id);
                self.add_neighbours(position, id, weight, &mut self_pairs);
            }
        }
        // (x, left) became (x, id), and (right, x) became (id, x), or (id, id) where x was merged.
        self.update_pairs(PairSide::Left, None, left, |x| ((x, left), (x, id)))?;
        self.update_pairs(PairSide::Right, Some(&self_pairs), left, |x| ((right, x), (id, x)))?;
        self.add_self_pairs(id, self_pairs)
    }

    /// Writes a token over borders at these positions, and adds the resulting pairs.
    pub(super) fn add_word(
        &mut self,
        id: TokenId,
        positions: &[u32],
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        self.resize_changes();
        let mut self_pairs = SelfPairs::of(self.languages.len());
        memory::try_reserve(&mut self.left.positions, positions.len())?;
        memory::try_reserve(&mut self.right.positions, positions.len())?;
        for (index, &position) in positions.iter().enumerate() {
            if index % CHECK_INTERVAL == 0 {
                interrupt.check()?;
            }
            let position = position as usize;
            self.corpus.put(position, id);
            self.add_neighbours(position, id, self.corpus.weight(position), &mut self_pairs);
        }
        // Pairs with a border are not tracked.
        self.update_pairs(PairSide::Left, None, BORDER, |x| ((x, BORDER), (x, id)))?;
        self.update_pairs(PairSide::Right, None, BORDER, |x| ((BORDER, x), (id, x)))?;
        self.add_self_pairs(id, self_pairs)
    }

    fn resize_changes(&mut self) {
        self.left.by_token.resize(self.tokens.len(), Change::default());
        self.right.by_token.resize(self.tokens.len(), Change::default());
    }

    /// Records the neighbours of a token that was just written at `position`.
    #[inline]
    fn add_neighbours(
        &mut self,
        position: usize,
        id: TokenId,
        weight: PretokenWeight,
        self_pairs: &mut SelfPairs,
    ) {
        let (before, start) = self.corpus.before(position);
        if before == id {
            self_pairs.add(weight, start);
        } else if before != BORDER {
            self.left.add(before, weight, start);
        }
        let after = self.corpus.after(position);
        if after != BORDER {
            self.right.add(after, weight, position);
        }
    }

    fn add_self_pairs(&mut self, id: TokenId, self_pairs: SelfPairs) -> Result<()> {
        let SelfPairs { count, shares, positions, result } = self_pairs;
        result?;
        if self.is_tracked((id, id), count, &shares) {
            let start = self.pairs.postings.len();
            memory::try_reserve(&mut self.pairs.postings, positions.len())?;
            self.pairs.postings.extend(positions);
            self.add((id, id), count, &shares, start..self.pairs.postings.len())?;
        }
        Ok(())
    }

    /// Subtracts the changes on one side from the old pairs, and adds the new pairs that reach `min_count`.
    /// `pairs_of` gives the old and the new pair for a neighbour. `self_pairs` are occurrences with the
    /// neighbour `changed_again` that changed again.
    fn update_pairs(
        &mut self,
        pair_side: PairSide,
        self_pairs: Option<&SelfPairs>,
        changed_again: TokenId,
        pairs_of: impl Fn(TokenId) -> ((TokenId, TokenId), (TokenId, TokenId)),
    ) -> Result<()> {
        let mut changes = std::mem::take(match pair_side {
            PairSide::Left => &mut self.left,
            PairSide::Right => &mut self.right,
        });
        let first = self.pairs.postings.len();
        let mut start = first;
        for &neighbour in &changes.touched {
            let shares = changes.shares_of(neighbour);
            let (change, shares) = (&mut changes.by_token[neighbour as usize], &mut changes.shares[shares]);
            self.pairs.subtract(pairs_of(neighbour).0, change.weight, shares)?;
            if neighbour == changed_again
                && let Some(self_pairs) = self_pairs
            {
                change.weight -= self_pairs.count;
                shares
                    .iter_mut()
                    .zip(&self_pairs.shares)
                    .for_each(|(share, self_pairs)| *share -= self_pairs);
            }
            change.next = NOT_TRACKED;
            if self.is_tracked(pairs_of(neighbour).1, change.weight, shares) {
                change.next = start;
                start += change.positions as usize;
            }
        }
        if start > first {
            memory::try_reserve(&mut self.pairs.postings, start - first)?;
            self.pairs.postings.resize(start, 0);
            for &(neighbour, position) in &changes.positions {
                let change = &mut changes.by_token[neighbour as usize];
                if change.next != NOT_TRACKED {
                    self.pairs.postings[change.next] = position;
                    change.next += 1;
                }
            }
            for &neighbour in &changes.touched {
                let change = changes.by_token[neighbour as usize];
                if change.next != NOT_TRACKED {
                    let positions = change.next - change.positions as usize..change.next;
                    let shares = &changes.shares[changes.shares_of(neighbour)];
                    self.add(pairs_of(neighbour).1, change.weight, shares, positions)?;
                }
            }
        }
        changes.clear();
        match pair_side {
            PairSide::Left => self.left = changes,
            PairSide::Right => self.right = changes,
        }
        Ok(())
    }

    /// Whether a new pair is to be tracked.
    #[inline]
    fn is_tracked(&self, (left, right): (TokenId, TokenId), count: u64, shares: &[u64]) -> bool {
        self.is_frequent(count, shares)
            && self.limits.allow(&self.tokens, left, right)
            && self.repeated.as_ref().is_none_or(|pairs| pairs.contains(&(left, right)))
    }

    /// Whether a pair with these counts, in total and by language, reaches the minimum count of the corpus
    /// or of a language.
    #[inline]
    pub(super) fn is_frequent(&self, count: u64, shares: &[u64]) -> bool {
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
        positions: Range<usize>,
    ) -> Result<()> {
        let index = self.pairs.add(left, right, count, shares, positions)?;
        if self.repeated.is_none() {
            self.enqueue(index);
        }
        Ok(())
    }
}

/// Occurrences of the new token next to itself: pairs (id, left) that were counted on the right of one
/// position and are undone on the left of the next.
struct SelfPairs {
    count: u64,
    /// By language.
    shares: Vec<u64>,
    positions: Vec<u32>,
    /// The error, if a position could not be stored.
    result: Result<()>,
}

impl SelfPairs {
    fn of(languages: usize) -> SelfPairs {
        SelfPairs { count: 0, shares: vec![0; languages], positions: Vec::new(), result: Ok(()) }
    }

    #[inline]
    fn add(&mut self, weight: PretokenWeight, start: usize) {
        self.count += weight.count;
        if let Some(share) = self.shares.get_mut(weight.language as usize) {
            *share += weight.count;
        }
        match memory::try_reserve(&mut self.positions, 1) {
            Ok(()) => self.positions.push(start as u32),
            Err(error) => self.result = Err(error),
        }
    }
}

/// A side of a merged pair.
enum PairSide {
    Left,
    Right,
}
