//! Rounds of expectation maximization and pruning.

use std::ops::Range;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::parallel::in_parallel;

use super::numbers::{digamma, exp, ln};
use super::pieces::{PieceText, Pieces, Scratch};
use super::segments::Segments;
use super::{TrainedUnigram, UnigramOptions};

/// A piece that is expected to occur fewer times is dropped.
const LEAST_EXPECTED: f64 = 0.5;

/// Expected numbers are counted in parts of one, so that their sums are exact.
const UNIT: f64 = (1u64 << 20) as f64;

/// The number of characters from which on the sums might not fit into 64 bits.
const MAX_CHARACTERS: u128 = 1 << 43;

/// The work of computing a probability, in units of a [`Pacer`].
const NUMBER_WORK: usize = 64;

/// The segments of one task.
const TASK: usize = 1 << 12;

/// The fraction that progress is counted in.
const PROGRESS: u64 = 1000;

pub(super) struct Learner<'s> {
    segments: &'s Segments,
    pieces: Pieces,
    options: &'s UnigramOptions,
    first_len: usize,
}

impl<'s> Learner<'s> {
    pub(super) fn new(
        segments: &'s Segments,
        texts: Vec<PieceText>,
        options: &'s UnigramOptions,
        interrupt: &dyn Interrupt,
    ) -> Result<Learner<'s>> {
        let characters: u128 = (0..segments.len())
            .map(|at| segments.range(at).len() as u128 * u128::from(segments.counts[at]))
            .sum();
        if characters >= MAX_CHARACTERS {
            let reason = "the corpus has more than 8 TB. Train Unigram on a sample of it.";
            return Err(Error::Limit { reason: reason.into() });
        }
        let first_len = texts.len();
        Ok(Learner { segments, pieces: Pieces::new(texts, &segments.bytes, interrupt)?, options, first_len })
    }

    /// Gives the pieces probabilities in proportion to their weights.
    pub(super) fn start(&mut self, weights: &[u64]) {
        let sum: u128 = weights.iter().map(|&weight| u128::from(weight.max(1))).sum();
        for (share, &weight) in self.pieces.shares.iter_mut().zip(weights) {
            *share = weight.max(1) as f64 / sum as f64;
        }
    }

    /// Repeats rounds until the number of pieces is the requested one.
    pub(super) fn learn(&mut self, interrupt: &dyn Interrupt) -> Result<()> {
        loop {
            for _ in 0..self.options.steps {
                let expected = self.expected(interrupt)?;
                self.maximize(&expected, interrupt)?;
            }
            self.report(interrupt);
            let len = self.pieces.shares.iter().filter(|&&share| share > 0.0).count();
            if len <= self.options.pieces {
                return Ok(());
            }
            let shrunk = (len as f64 * self.options.shrinking) as usize;
            self.prune(shrunk.max(self.options.pieces), interrupt)?;
        }
    }

    /// Reports how far the number of pieces has shrunk, on a logarithmic scale.
    fn report(&self, interrupt: &dyn Interrupt) {
        let (first, last) = ((self.first_len as f64).ln(), (self.options.pieces as f64).ln());
        let now = (self.pieces.len() as f64).ln();
        let done = if first > last { ((first - now) / (first - last)).clamp(0.0, 1.0) } else { 1.0 };
        interrupt.progress((done * PROGRESS as f64) as u64, PROGRESS);
    }

    /// The expected number of occurrences of each piece in the text, in units of `1 / UNIT`.
    fn expected(&self, interrupt: &dyn Interrupt) -> Result<Vec<u64>> {
        self.sums(interrupt, |scratch, text, count, sums| {
            self.pieces.expect(text, count, UNIT, scratch, |piece, expected| sums[piece as usize] += expected)
        })
    }

    /// The number of occurrences of each piece in the best segmentations of the text.
    fn best(&self, interrupt: &dyn Interrupt) -> Result<Vec<u64>> {
        self.sums(interrupt, |scratch, text, count, sums| {
            let (path, work) = self.pieces.best(text, None, scratch)?;
            path.iter().for_each(|&piece| sums[piece as usize] += count);
            Ok(work)
        })
    }

    /// Sums over all segments, computed by several threads.
    fn sums(
        &self,
        interrupt: &dyn Interrupt,
        add: impl Fn(&mut Scratch, &[u8], u64, &mut [u64]) -> Result<usize> + Sync,
    ) -> Result<Vec<u64>> {
        // As many lists of sums as tasks run at a time. The order of additions does not matter.
        let free: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());
        let lock = || free.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let tasks = ranges(self.segments.len());
        in_parallel(
            self.options.threads,
            tasks.len(),
            interrupt,
            Scratch::default,
            |scratch, task, interrupt| {
                let mut pacer = Pacer::new(interrupt);
                let taken = lock().pop();
                let mut sums = taken.map_or_else(|| memory::try_filled(0, self.pieces.len()), Ok)?;
                for index in tasks[task].clone() {
                    let text = &self.segments.bytes[self.segments.range(index)];
                    pacer.after(16 + 8 * add(scratch, text, self.segments.counts[index], &mut sums)?)?;
                }
                lock().push(sums);
                Ok(())
            },
        )?;
        let mut lists = free.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).into_iter();
        let mut sums = match lists.next() {
            Some(sums) => sums,
            None => memory::try_filled(0, self.pieces.len())?,
        };
        for list in lists {
            sums.iter_mut().zip(list).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    /// New probabilities from expected numbers. As in variational Bayes, the digamma function of a number takes the place
    /// of its logarithm, which makes rare pieces less probable.
    fn maximize(&mut self, expected: &[u64], interrupt: &dyn Interrupt) -> Result<()> {
        let Pieces { texts, shares, scores, .. } = &mut self.pieces;
        let is_rare = |expected: u64| (expected as f64) < LEAST_EXPECTED * UNIT;
        let is_kept = |piece: usize| texts[piece].is_character || !is_rare(expected[piece]);
        let alive = (0..texts.len()).filter(|&piece| shares[piece] > 0.0);
        let keeps_all = alive.filter(|&piece| is_kept(piece)).count() < self.options.pieces;
        let mut sum = 0u128;
        for piece in 0..texts.len() {
            if shares[piece] > 0.0 && !keeps_all && !is_kept(piece) {
                shares[piece] = 0.0;
            }
            if shares[piece] > 0.0 {
                sum += u128::from(expected[piece].max((LEAST_EXPECTED * UNIT) as u64));
            }
        }
        let (all, mut pacer) = (digamma(sum.max(1) as f64 / UNIT), Pacer::new(interrupt));
        for piece in 0..texts.len() {
            pacer.after(NUMBER_WORK)?;
            if shares[piece] > 0.0 {
                let number = (expected[piece] as f64 / UNIT).max(LEAST_EXPECTED);
                scores[piece] = digamma(number) - all;
                shares[piece] = exp(scores[piece]);
            }
        }
        Ok(())
    }

    /// Keeps the characters, and of the other pieces those with the greatest losses, up to `len` in all.
    ///
    /// The loss of a piece is how much the logarithm of the likelihood of the best segmentations falls if each of its
    /// occurrences becomes the pieces of its own next best segmentation. Of equal losses the first in the order of texts
    /// is kept.
    fn prune(&mut self, len: usize, interrupt: &dyn Interrupt) -> Result<()> {
        let counts = self.best(interrupt)?;
        let losses = self.losses(&counts, interrupt)?;
        let is_alive = |piece: usize| self.pieces.shares[piece] > 0.0;
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        memory::try_reserve(&mut kept, len)?;
        memory::try_reserve(&mut others, self.pieces.len())?;
        for piece in (0..self.pieces.len()).filter(|&piece| is_alive(piece)) {
            if self.pieces.texts[piece].is_character { kept.push(piece) } else { others.push(piece) }
        }
        let room = len.saturating_sub(kept.len());
        if others.len() > room {
            let key =
                |&one: &usize, &other: &usize| losses[other].total_cmp(&losses[one]).then(one.cmp(&other));
            others.select_nth_unstable_by(room, key);
            others.truncate(room);
        }
        kept.extend(others);
        kept.sort_unstable();
        let texts = kept.iter().map(|&piece| self.pieces.texts[piece]).collect();
        let mut pieces = Pieces::new(texts, &self.segments.bytes, interrupt)?;
        for (new, &old) in kept.iter().enumerate() {
            (pieces.shares[new], pieces.scores[new]) = (self.pieces.shares[old], self.pieces.scores[old]);
        }
        self.pieces = pieces;
        Ok(())
    }

    fn losses(&self, counts: &[u64], interrupt: &dyn Interrupt) -> Result<Vec<f64>> {
        let all = counts.iter().map(|&count| u128::from(count)).sum::<u128>() as f64;
        let tasks = ranges(self.pieces.len());
        let found = in_parallel(
            self.options.threads,
            tasks.len(),
            interrupt,
            Scratch::default,
            |scratch, task, interrupt| {
                let mut pacer = Pacer::new(interrupt);
                let mut losses = Vec::new();
                memory::try_reserve(&mut losses, TASK)?;
                for piece in tasks[task].clone() {
                    let (loss, work) = self.loss(piece, counts, all, scratch)?;
                    pacer.after(16 + 8 * work)?;
                    losses.push(loss);
                }
                Ok(losses)
            },
        )?;
        Ok(found.concat())
    }

    /// The loss of a piece, and the work done.
    fn loss(&self, piece: usize, counts: &[u64], all: f64, scratch: &mut Scratch) -> Result<(f64, usize)> {
        let (text, own) = (self.pieces.texts[piece], counts[piece] as f64);
        if counts[piece] == 0 || text.is_character {
            return Ok((0.0, 1));
        }
        let bytes = text.of(&self.segments.bytes);
        let (others, work) = self.pieces.best(bytes, Some(piece as u32), scratch)?;
        let new_all = ln(all + own * (others.len() as f64 - 1.0));
        let mut rest = 0.0;
        for &other in others {
            rest += ln(counts[other as usize] as f64 + own) - new_all;
        }
        Ok((own * (ln(own) - ln(all) - rest), work))
    }

    /// The result.
    pub(super) fn finish(self) -> Result<TrainedUnigram> {
        let Pieces { texts, shares, scores, .. } = &self.pieces;
        let alive = (0..texts.len()).filter(|&piece| shares[piece] > 0.0);
        let mut alive = memory::try_collect(alive.map(|piece| (piece, scores[piece])))?;
        // The pieces are in the order of their texts, which decides between equal scores.
        alive.sort_by(|one, other| other.1.total_cmp(&one.1));
        let is_full = alive.len() == self.options.pieces;
        let bytes = |piece: usize| texts[piece].of(&self.segments.bytes).to_vec();
        let pieces = alive.into_iter().map(|(piece, score)| (bytes(piece), score)).collect();
        Ok(TrainedUnigram { pieces, is_full })
    }
}

fn ranges(len: usize) -> Vec<Range<usize>> {
    (0..len).step_by(TASK).map(|start| start..len.min(start + TASK)).collect()
}
