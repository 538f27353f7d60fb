//! The merge loop, in rounds.
//!
//! A pair's count only falls once all its occurrences exist. So as long as the most frequent pair occurs
//! `min_count` times or more, rarer pairs need not be tracked. A round finds all pairs that reach the
//! minimum count and merges until none does; then the minimum is lowered, the corpus is compacted, and the
//! next round begins. So most pairs, which are too rare to be merged, cost nothing.
//!
//! With a memory limit, the corpus is on disk, and a round reads only the stretches between pairs that do
//! not reach its minimum count.

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::merges::Merge;
use crate::vocabulary::TokenId;

use super::archive::Archive;
use super::frequent::{Frequent, PairCount};
use super::learner::{Learner, Limits};
use super::pair_counts::{self, PairTable};
use super::pairs::Pairs;
use super::sketch::Sketch;
use super::ties::TieRule;
use super::{Learned, RunnerUp, Stop};

/// The maximum size of a later round, relative to the first.
pub(super) const GROWTH: usize = 16;

impl<T: TieRule> Learner<T> {
    /// Learns merges until a limit is reached. `previous` are merges learned from the same corpus before: they
    /// are repeated first without choosing. If runners-up are to be kept, which were not stored, they are
    /// chosen again.
    pub(super) fn learn(
        mut self,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<(Vec<Learned>, Stop)> {
        let stop = self.learn_in_rounds(previous, on_merge, interrupt)?;
        Ok((self.merges, stop))
    }

    /// Like `learn`, without consuming the learner.
    pub(super) fn learn_in_rounds(
        &mut self,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<Stop> {
        if previous.is_empty() || self.limits.runners_up > 0 {
            self.start(previous, on_merge, interrupt)?;
        } else {
            self.repeat(previous, on_merge, interrupt)?;
            self.start_round(&[], on_merge, interrupt)?;
        }
        loop {
            while self.merges.len() < self.limits.max_merges
                && let Some(best) = self.best()
                && let Some(runners_up) = self.runners_up()
            {
                let pair = self.pairs.get(best);
                let (left, right, count) = (pair.left, pair.right, pair.count);
                let merge = self.merge_best(best, left, right, interrupt)?;
                self.record(Learned { runners_up, ..Learned::new(merge, count) }, previous, on_merge)?;
            }
            if self.merges.len() == self.limits.max_merges {
                return Ok(Stop::MaxMerges);
            }
            if self.min_count == self.limits.min_frequency {
                if self.merges.len() < previous.len() {
                    return Err(merge_mismatch(self.merges.len()));
                }
                return self.stop_reason(interrupt);
            }
            self.start_round(previous, on_merge, interrupt)?;
        }
    }

    /// The reason why there is no pair to merge.
    pub(super) fn stop_reason(&mut self, interrupt: &dyn Interrupt) -> Result<Stop> {
        Ok(if self.is_merged(interrupt)? { Stop::NoPairs } else { Stop::MinFrequency })
    }

    /// Merges the best pair into a new token at all its positions.
    pub(super) fn merge_best(
        &mut self,
        best: usize,
        left: TokenId,
        right: TokenId,
        interrupt: &dyn Interrupt,
    ) -> Result<Merge> {
        let id = self.add_token(left, right);
        self.corpus.add_token(left, right);
        self.merge(best, id, interrupt)?;
        Ok(Merge { left, right, id })
    }

    /// Records a merge, which must equal the merge of `previous` with the same number.
    pub(super) fn record(
        &mut self,
        learned: Learned,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    ) -> Result<()> {
        let index = self.merges.len();
        if previous
            .get(index)
            .is_some_and(|merge| (merge.merge, merge.count) != (learned.merge, learned.count))
        {
            return Err(merge_mismatch(index));
        }
        on_merge(&learned)?;
        if !self.limits.existing.is_empty() {
            self.limits.existing.insert(self.tokens[learned.merge.id as usize].clone());
        }
        self.merges.push(learned);
        Ok(())
    }

    /// Repeats merges that were learned before.
    fn repeat(
        &mut self,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let base = self.tokens.len();
        for (index, Learned { merge, .. }) in previous.iter().enumerate() {
            let id = self.tokens.len();
            if merge.id as usize != id || merge.left as usize >= id || merge.right as usize >= id {
                return Err(merge_mismatch(index));
            }
            self.add_token(merge.left, merge.right);
        }
        let mut counts = vec![0; previous.len()];
        match self.archive.take() {
            None => self.repeat_in_memory(previous, &mut counts, interrupt)?,
            Some(mut archive) => {
                archive.in_parts(base, interrupt, |corpus| {
                    self.corpus = corpus;
                    self.repeat_in_memory(previous, &mut counts, interrupt)?;
                    Ok(std::mem::take(&mut self.corpus))
                })?;
                self.archive = Some(archive);
            }
        }
        for (learned, count) in previous.iter().zip(counts) {
            self.record(Learned { count, ..learned.clone() }, previous, on_merge)?;
        }
        Ok(())
    }

    /// Repeats the previous merges in the corpus in memory, and adds to their counts.
    fn repeat_in_memory(
        &mut self,
        previous: &[Learned],
        counts: &mut [u64],
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let pairs: HashSet<_> =
            previous.iter().map(|Learned { merge, .. }| (merge.left, merge.right)).collect();
        self.pairs =
            pair_counts::pairs(&self.corpus, 1, |left, right| pairs.contains(&(left, right)), interrupt)?;
        (self.min_count, self.repeated) = (1, Some(pairs));
        for (learned, count) in previous.iter().zip(counts) {
            let Merge { left, right, id } = learned.merge;
            self.corpus.add_token(left, right);
            if let Some(index) = self.pairs.index_of(left, right) {
                *count += self.pairs.get(index).count;
                self.merge(index, id, interrupt)?;
            }
        }
        (self.min_count, self.repeated) = (u64::MAX, None);
        Ok(())
    }

    /// Finds the pairs of the first round.
    fn start(
        &mut self,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        if self.archive.is_none()
            && let Some(table) = PairTable::of(&self.corpus, self.tokens.len(), 0, interrupt)?
        {
            self.min_count = table.reached_by(self.limits.round).max(self.limits.min_frequency);
            let is_frequent = |count, _: &[u64]| count >= self.min_count;
            let is_allowed = |left, right| self.limits.allow(&self.tokens, left, right);
            self.pairs = table.pairs(&self.corpus, is_frequent, is_allowed, interrupt)?;
            self.enqueue_all();
            return Ok(());
        }
        self.start_round(previous, on_merge, interrupt)
    }

    /// Lowers the minimum count and finds the pairs that reach it. If memory is short, it may make merges
    /// itself.
    fn start_round(
        &mut self,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        self.pairs = Pairs::default();
        self.queue.clear();
        match self.archive.take() {
            None => self.start_round_in_memory(interrupt),
            Some(mut archive) => {
                let mut sketch = Sketch::new(usize::MAX);
                let corpus = std::mem::take(&mut self.corpus);
                let is_followed = |left, right| self.limits.follow(&self.tokens, left, right);
                archive.put_back(&corpus, interrupt, sketching(&mut sketch, is_followed))?;
                drop(corpus);
                self.start_round_from(&mut archive, sketch, previous, on_merge, interrupt)?;
                self.archive = Some(archive);
                Ok(())
            }
        }
    }

    fn start_round_in_memory(&mut self, interrupt: &dyn Interrupt) -> Result<()> {
        let mut sketch = Sketch::new(self.corpus.len());
        let is_allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        self.corpus.compact(interrupt, sketching(&mut sketch, is_allowed))?;
        self.min_count = self.next_min_count(&sketch);
        while !self.find_pairs(&sketch, interrupt)? {
            self.min_count = (self.min_count / 2).max(self.limits.min_frequency);
        }
        Ok(())
    }

    fn start_round_from(
        &mut self,
        archive: &mut Archive,
        mut sketch: Sketch,
        previous: &[Learned],
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        while self.merges.len() < self.limits.max_merges {
            let mut frequent = self.frequent(archive, &sketch, Limits::follow, interrupt)?;
            // A round that merged nothing lacked runners-up, which do not fit into memory.
            if self.round_start != Some(self.merges.len())
                && let Some((corpus, min_count)) = archive.take(&frequent, self.tokens.len(), interrupt)?
            {
                (self.corpus, self.min_count) = (corpus, min_count);
                let is_allowed = |left, right| self.limits.allow(&self.tokens, left, right);
                self.pairs = pair_counts::pairs(&self.corpus, min_count, is_allowed, interrupt)?;
                self.enqueue_all();
                self.round_start = Some(self.merges.len());
                return Ok(());
            }
            if self.limits.has_gaps() {
                frequent = self.frequent(archive, &sketch, Limits::allow, interrupt)?;
            }
            let runner_up =
                |&PairCount { left, right, count, .. }: &PairCount| RunnerUp { left, right, count };
            let mut ranked = frequent.pairs.iter().map(runner_up);
            let Some(RunnerUp { left, right, count }) = ranked.next() else {
                self.min_count = self.limits.min_frequency;
                return Ok(());
            };
            let runners_up = ranked.take(self.limits.runners_up).collect();
            let id = self.add_token(left, right);
            sketch = Sketch::new(usize::MAX);
            let is_followed = |left, right| self.limits.follow(&self.tokens, left, right);
            let visit = sketching(&mut sketch, is_followed);
            archive.merge(left, right, id, interrupt, visit)?;
            // No pair is more frequent than the last merged one.
            self.min_count = self.min_count.min(count.saturating_mul(2).saturating_add(1));
            let learned = Learned { runners_up, ..Learned::new(Merge { left, right, id }, count) };
            self.record(learned, previous, on_merge)?;
        }
        Ok(())
    }

    /// The most frequent pairs of the archive for which `is_candidate` returns true, at least as many as one
    /// merge needs, if there are as many.
    fn frequent(
        &mut self,
        archive: &Archive,
        sketch: &Sketch,
        is_candidate: impl Fn(&Limits, &[Vec<u8>], TokenId, TokenId) -> bool,
        interrupt: &dyn Interrupt,
    ) -> Result<Frequent> {
        let mut min_count = self.next_min_count(sketch);
        let Learner { limits, tokens, ties, .. } = self;
        let (minimum, pair_count) = (limits.min_frequency, 1 + limits.runners_up);
        loop {
            let may_be_frequent = |left, right| {
                sketch.may_reach(left, right, min_count) && is_candidate(limits, tokens, left, right)
            };
            let key = |pair: &PairCount| ties.key(pair.left, pair.right, pair.first, tokens);
            let mut frequent = archive.frequent(min_count, pair_count, may_be_frequent, key, interrupt)?;
            let last = frequent.pairs.get(pair_count - 1).map_or(0, |pair| pair.count);
            if last >= min_count || min_count == minimum {
                frequent.pairs.retain(|pair| pair.count >= min_count);
                return Ok(frequent);
            }
            // The sums of rare pairs collided.
            min_count = last.max(minimum);
        }
    }

    /// The minimum count of the next round.
    ///
    /// Of the pairs that a round starts with, five in six are merged. The sketch may overestimate, since
    /// rare pairs collide.
    fn next_min_count(&self, sketch: &Sketch) -> u64 {
        let remaining = (self.limits.max_merges - self.merges.len()).saturating_add(self.limits.runners_up);
        let pair_count =
            (remaining.saturating_mul(6) / 5).min(self.limits.round * GROWTH).min(sketch.capacity());
        sketch.reached_by(pair_count).min(self.min_count / 2).max(self.limits.min_frequency)
    }

    /// Finds the pairs of the corpus in memory that reach the minimum count; false if there are none
    /// although rarer pairs may exist.
    fn find_pairs(&mut self, sketch: &Sketch, interrupt: &dyn Interrupt) -> Result<bool> {
        let min_count = self.min_count;
        let is_allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        let may_reach = |left, right| sketch.may_reach(left, right, min_count) && is_allowed(left, right);
        self.pairs = pair_counts::pairs(&self.corpus, min_count, may_reach, interrupt)?;
        self.enqueue_all();
        Ok(self.pairs.len() > 0 || min_count == self.limits.min_frequency)
    }

    /// Whether no pair remains that may be merged.
    pub(super) fn is_merged(&mut self, interrupt: &dyn Interrupt) -> Result<bool> {
        if self.limits.min_frequency == 1 {
            // No pair was too rare.
            return Ok(true);
        }
        let mut merged = true;
        let is_allowed = |left, right| self.limits.allow(&self.tokens, left, right);
        // Text that is only measured has no count, and needs no merge.
        let visit = |left, right, count| merged &= count == 0 || !is_allowed(left, right);
        match &self.archive {
            Some(archive) => archive.for_each_merged_pair(&self.corpus, interrupt, visit)?,
            None => self.corpus.compact(interrupt, visit)?,
        }
        Ok(merged)
    }
}

/// A visitor that adds the pairs for which `predicate` returns true to a sketch.
fn sketching<'a>(
    sketch: &'a mut Sketch,
    predicate: impl Fn(TokenId, TokenId) -> bool + 'a,
) -> impl FnMut(TokenId, TokenId, u64) + 'a {
    move |left, right, count| {
        if predicate(left, right) {
            sketch.add(left, right, count);
        }
    }
}

fn merge_mismatch(index: usize) -> Error {
    Error::Checkpoint {
        reason: format!("merge {index} was learned from another corpus or with other options."),
    }
}
