//! Training in which languages take turns, so that all are compressed similarly.
//!
//! The same loop as in ordinary training, over one corpus in which the pretokens of each language are
//! contiguous, and with pairs also counted by language. A pair is tracked as soon as one language may
//! choose it; its positions in the other languages are then known too, and are merged as well.

use std::collections::BinaryHeap;

use crate::bits::BloomFilter;
use crate::count::Counts;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::vocabulary::TokenId;

use super::corpus::{Corpus, CorpusPart, Order};
use super::learner::{Contest, Learner};
use super::pair_counts::{self, PairTable};
use super::pairs::Pairs;
use super::rounds::GROWTH;
use super::sketch::Sketch;
use super::ties::{Lexicographic, SmallestIds, TieRule};
use super::turns::{Turns, Window};
use super::weights::PretokenWeight;
use super::{Learned, Options, Stop, Ties, Trained, limits};

/// The text of a language.
#[derive(Debug, Clone, Copy)]
pub struct Language<'a> {
    /// The text from which merges are learned.
    pub counts: &'a Counts,
    /// The text on which its length is measured; by default the training text.
    pub dev: Option<&'a Counts>,
}

/// How languages take turns.
#[derive(Debug, Clone, Default)]
pub struct Fairness {
    /// The number of initial merges that are chosen by the counts of all languages together.
    pub global_merges: usize,
    /// The target compression ratio of each language, relative to the others. Without ratios, the longest
    /// language is chosen.
    pub ratios: Option<Vec<f64>>,
    /// A limit on how often a language is chosen.
    pub window: Option<Window>,
}

/// Learns each merge as the most frequent pair of the language that is compressed least. It is applied
/// in all languages.
///
/// Ties are broken as in [`train`](super::train()), but [`Ties::FirstSeen`] is an error: languages have no
/// common order. A language without pairs that are frequent enough gets no more turns.
///
/// # Errors
/// [`Error::Option`] for options that make no sense, [`Error::Limit`] for more than 2^32 bytes of
/// distinct pretokens.
pub fn train_fair(
    languages: &[Language<'_>],
    fairness: &Fairness,
    options: &Options,
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    check_options(languages.len(), fairness, options)?;
    let bytes =
        languages.iter().try_fold(0u64, |sum, language| sum.checked_add(language.counts.totals().bytes));
    if bytes.is_none() {
        return Err(Error::Limit { reason: "the languages have more than 2^64 bytes together.".into() });
    }
    let tokens = options.base.tokens();
    let (merges, stop) = match options.ties {
        Ties::Ids => {
            let learner = FairLearner::new(languages, tokens, SmallestIds, options, interrupt)?;
            learner.learn(fairness, on_merge, interrupt)
        }
        Ties::FirstSeen => {
            return Err(invalid_option(
                "languages have no common order, so none of their pairs is seen first.",
            ));
        }
        Ties::Lexicographic | Ties::Printable => {
            let ties = Lexicographic::of(options.ties);
            let learner = FairLearner::new(languages, tokens, ties, options, interrupt)?;
            learner.learn(fairness, on_merge, interrupt)
        }
    }?;
    Ok(Trained { base: options.base.clone(), merges, stop })
}

fn check_options(languages: usize, fairness: &Fairness, options: &Options) -> Result<()> {
    limits(options)?;
    if languages == 0 {
        return Err(invalid_option("at least one language is needed."));
    }
    if options.runners_up > 0 {
        return Err(invalid_option("runners-up cannot be kept if languages take turns."));
    }
    let above_zero = |number: f64| number.is_finite() && number > 0.0;
    if let Some(ratios) = &fairness.ratios
        && (ratios.len() != languages || !ratios.iter().copied().all(above_zero))
    {
        return Err(invalid_option("ratios are numbers above 0, one for each language."));
    }
    if let Some(window) = fairness.window
        && (window.size == 0 || !above_zero(window.alpha))
    {
        return Err(invalid_option("a window has a size of at least 1, and an alpha above 0."));
    }
    Ok(())
}

fn invalid_option(reason: &str) -> Error {
    Error::Option { reason: reason.into() }
}

/// A learner for a corpus with languages.
struct FairLearner<T: TieRule> {
    learner: Learner<T>,
    /// The number of merges made for each language.
    merge_counts: Vec<usize>,
    /// The initial length of each language.
    initial_lengths: Vec<u64>,
}

impl<T: TieRule> FairLearner<T> {
    fn new(
        languages: &[Language<'_>],
        tokens: Vec<Vec<u8>>,
        ties: T,
        options: &Options,
        interrupt: &dyn Interrupt,
    ) -> Result<FairLearner<T>> {
        let training_weights: Vec<_> = (0..languages.len())
            .map(|index| {
                let is_measured = u64::from(languages[index].dev.is_none());
                move |count| PretokenWeight { count, length: count * is_measured, language: index as u32 }
            })
            .collect();
        let dev_weights: Vec<_> = (0..languages.len())
            .map(|index| move |count| PretokenWeight { count: 0, length: count, language: index as u32 })
            .collect();
        let mut parts = Vec::new();
        for (language, weigh) in languages.iter().zip(&training_weights) {
            parts.push(CorpusPart::new(language.counts, Order::ByCount, weigh, interrupt)?);
        }
        let mut measured_part: Vec<usize> = (0..languages.len()).collect();
        for (index, (language, weigh)) in languages.iter().zip(&dev_weights).enumerate() {
            if let Some(dev) = language.dev {
                measured_part[index] = parts.len();
                parts.push(CorpusPart::new(dev, Order::ByCount, weigh, interrupt)?);
            }
        }
        let (corpus, lengths) = Corpus::of_parts(&parts, &options.base, interrupt)?;
        let initial_lengths: Vec<u64> = measured_part.iter().map(|&part| lengths[part]).collect();
        let mut learner = Learner::new((corpus, None), tokens, ties, limits(options)?);
        learner.lengths.clone_from(&initial_lengths);
        Ok(FairLearner { learner, merge_counts: vec![0; languages.len()], initial_lengths })
    }

    fn learn(
        mut self,
        fairness: &Fairness,
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<(Vec<Learned>, Stop)> {
        let maximum = self.learner.limits.max_merges;
        if fairness.global_merges > 0 {
            self.learner.limits.max_merges = maximum.min(fairness.global_merges);
            let stop = self.learner.learn_in_rounds(&[], on_merge, interrupt)?;
            self.learner.limits.max_merges = maximum;
            if stop != Stop::MaxMerges {
                return Ok((self.learner.merges, stop));
            }
        }
        let mut turns = Turns::new(&self.initial_lengths, fairness.ratios.as_deref(), fairness.window);
        let stop = self.take_turns(&mut turns, on_merge, interrupt)?;
        Ok((self.learner.merges, stop))
    }

    fn take_turns(
        &mut self,
        turns: &mut Turns,
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<Stop> {
        let languages = self.merge_counts.len();
        let learner = &mut self.learner;
        learner.languages = (0..languages).map(|_| Contest::default()).collect();
        (learner.left.languages, learner.right.languages) = (languages, languages);
        if learner.merges.len() < learner.limits.max_merges {
            self.start_round(turns, interrupt)?;
        }
        while self.learner.merges.len() < self.learner.limits.max_merges {
            let Some(language) = turns.next(&self.learner.lengths) else {
                return self.learner.stop_reason(interrupt);
            };
            if turns.is_exhausted(language) {
                interrupt.check()?;
                continue;
            }
            match self.best(language, turns, interrupt)? {
                None => turns.exhaust(language),
                Some(best) => self.merge(best, language, on_merge, interrupt)?,
            }
        }
        Ok(Stop::MaxMerges)
    }

    /// The best pair of a language, if one is frequent enough.
    fn best(&mut self, language: usize, turns: &Turns, interrupt: &dyn Interrupt) -> Result<Option<usize>> {
        loop {
            let best = self.learner.best_of(language);
            if best.is_some()
                || self.learner.languages[language].min_count == self.learner.limits.min_frequency
            {
                return Ok(best);
            }
            self.start_round(turns, interrupt)?;
        }
    }

    fn merge(
        &mut self,
        best: usize,
        language: usize,
        on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let (pair, count) = (self.learner.pairs.get(best), self.learner.pairs.shares(best)[language]);
        let (left, right) = (pair.left, pair.right);
        let merge = self.learner.merge_best(best, left, right, interrupt)?;
        self.merge_counts[language] += 1;
        let learned = Learned { language: Some(language as u32), ..Learned::new(merge, count) };
        self.learner.record(learned, &[], on_merge)
    }

    /// Lowers the minimum counts of all languages, and finds the pairs that reach one of them.
    fn start_round(&mut self, turns: &Turns, interrupt: &dyn Interrupt) -> Result<()> {
        self.learner.pairs = Pairs::default();
        if !self.learner.merges.is_empty() {
            self.learner.corpus.compact(interrupt, |_, _, _| ())?;
        }
        let languages = self.merge_counts.len();
        let table = PairTable::of(&self.learner.corpus, self.learner.tokens.len(), languages, interrupt)?;
        let mut candidates = BloomFilter::new(2 * self.learner.limits.round * languages);
        for language in 0..languages {
            if turns.is_exhausted(language) {
                self.learner.languages[language] = Contest::default();
                continue;
            }
            let reached = match &table {
                Some(table) => table.reached_in(language, self.wanted_pairs(language)),
                None => self.reached_in_sketch(language, &mut candidates, interrupt)?,
            };
            let min_count = self.next_min_count(language, reached);
            self.learner.languages[language] = Contest { queue: BinaryHeap::new(), min_count };
        }
        let learner = &mut self.learner;
        let allowed = |left, right| learner.limits.allow(&learner.tokens, left, right);
        let is_frequent = |count, shares: &[u64]| learner.is_frequent(count, shares);
        learner.pairs = match table {
            Some(table) => table.pairs(&learner.corpus, is_frequent, allowed, interrupt)?,
            None => {
                let is_candidate =
                    |left, right| candidates.may_contain(hash(left, right)) && allowed(left, right);
                pair_counts::pairs_of_languages(
                    &learner.corpus,
                    languages,
                    is_candidate,
                    is_frequent,
                    interrupt,
                )?
            }
        };
        learner.enqueue_all();
        Ok(())
    }

    /// The number of pairs to track for a language: twice the merges expected from its share of turns so
    /// far, since other languages merge some of its pairs.
    fn wanted_pairs(&self, language: usize) -> usize {
        let Learner { limits, merges, .. } = &self.learner;
        let remaining = limits.max_merges - merges.len();
        let turns = self.merge_counts.iter().sum::<usize>() + self.merge_counts.len();
        let expected = remaining as u128 * (self.merge_counts[language] + 1) as u128 / turns as u128;
        let maximum = if merges.is_empty() { limits.round } else { limits.round * GROWTH };
        (2 * expected as usize).clamp(1, maximum)
    }

    /// The next minimum count of a language.
    fn next_min_count(&self, language: usize, reached: u64) -> u64 {
        let min_count = self.learner.languages[language].min_count;
        reached.min(min_count / 2).max(self.learner.limits.min_frequency)
    }

    /// A count that about the wanted number of pairs of a language reach. Adds the pairs that may reach its
    /// next minimum count to `candidates`.
    fn reached_in_sketch(
        &self,
        language: usize,
        candidates: &mut BloomFilter,
        interrupt: &dyn Interrupt,
    ) -> Result<u64> {
        let Learner { corpus, limits, tokens, .. } = &self.learner;
        let is_of_language =
            |weight: PretokenWeight| weight.count > 0 && weight.language as usize == language;
        let mut sketch = Sketch::new(corpus.len_of(is_of_language));
        corpus.for_each_pair_of(is_of_language, interrupt, |_, left, right, weight| {
            if limits.allow(tokens, left, right) {
                sketch.add(left, right, weight.count);
            }
        })?;
        let reached = sketch.reached_by(self.wanted_pairs(language).min(sketch.capacity()));
        let min_count = self.next_min_count(language, reached);
        corpus.for_each_pair_of(is_of_language, interrupt, |_, left, right, _| {
            if sketch.may_reach(left, right, min_count) {
                candidates.insert(hash(left, right));
            }
        })?;
        Ok(reached)
    }
}

fn hash(left: TokenId, right: TokenId) -> u64 {
    (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes()
}
