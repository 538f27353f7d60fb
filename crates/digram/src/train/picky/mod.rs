//! PickyBPE: intermediate tokens that a merge leaves nearly unused are dropped at once.
//!
//! Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During
//! Tokenizer Training", EMNLP 2024. After each merge, the share of the occurrences of each part that the
//! merge consumed is computed. From a threshold on, the part is dropped, and split at its remaining positions.
//!
//! So, unlike in other training, pairs may become more frequent again and return to former positions.
//! Here every existing pair is tracked, with all its positions, and each position is verified when it is used.

mod corpus;
mod followed;

use std::collections::BinaryHeap;

use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::events::{Event, MadeTokens};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

use self::corpus::PickyCorpus;
use super::candidate::Candidate;
use super::corpus::{BORDER, Corpus, Order};
use super::learner::Limits;
use super::ties::{FirstSeen, Lexicographic, SmallestIds, TieRule};
use super::{Base, Options, Stop, Ties};
use followed::{FollowedPair, FollowedPairs, sorted_distinct};

/// When to drop tokens, and when to stop.
#[derive(Debug, Clone, Copy)]
pub struct Picky {
    /// The share of its occurrences, above 0 and at most 1, from which on a part is dropped.
    pub threshold: f64,
    /// The maximum number of tokens besides the base.
    pub max_tokens: Option<usize>,
}

/// The result of training.
#[derive(Debug)]
pub struct Picked {
    /// All tokens ever made, by number, starting with the base.
    pub tokens: Vec<Vec<u8>>,
    /// The numbers of the remaining tokens, in ascending order.
    pub live: Vec<u32>,
    /// The events in order, each with the count of the merged pair, or the remaining count of the dropped
    /// token. Numbers index [`Picked::tokens`].
    pub events: Vec<(Event, u64)>,
    /// Why training stopped.
    pub stop: PickyStop,
}

/// The reason why training stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickyStop {
    /// The requested number of tokens is reached.
    Full,
    /// A reason of ordinary training.
    As(Stop),
}

/// Trains with [`Options`], and drops tokens according to [`Picky`].
///
/// `on_merge` is called after each merge with the numbers of merges and of tokens. The options for rounds
/// and runners-up are ignored. All data is in memory: about 30 bytes per byte of distinct pretokens.
///
/// Those of [`train`](super::train()); [`Error::Option`] for an invalid threshold, and for a tokenizer as
/// base.
pub fn train_picky(
    counts: &dyn Pieces,
    options: &Options,
    picky: &Picky,
    on_merge: &mut dyn FnMut(usize, usize) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Picked> {
    options.check()?;
    let threshold = picky.threshold;
    let invalid = |reason: String| Err(Error::Option { reason });
    if !(threshold > 0.0 && threshold <= 1.0) {
        return invalid(format!("picky must be greater than 0 and at most 1, not {threshold}."));
    }
    if let Base::Tokens(_) = options.base {
        return invalid("PickyBPE starts from single symbols, not from the tokens of a tokenizer.".into());
    }
    let counts = counts.to_memory(interrupt)?;
    memory::check_available(memory::saturating_usize(counts.distinct_bytes().saturating_mul(BYTE_MEMORY)))?;
    let corpus = |order| Corpus::new(&counts, &options.base, order, interrupt);
    match options.ties {
        Ties::Ids => {
            Picker::new(corpus(Order::ByCount)?, options, picky, SmallestIds).learn(on_merge, interrupt)
        }
        Ties::FirstSeen => {
            Picker::new(corpus(Order::FirstSeen)?, options, picky, FirstSeen).learn(on_merge, interrupt)
        }
        Ties::Lexicographic | Ties::Printable => {
            let ties = Lexicographic::of(options.ties);
            Picker::new(corpus(Order::ByCount)?, options, picky, ties).learn(on_merge, interrupt)
        }
    }
}

/// Memory per byte of distinct pretokens, in bytes.
const BYTE_MEMORY: u64 = 30;

/// The fixed cost of a merge, expressed in positions.
const MERGE_COST: usize = 1 << 6;

struct Picker<T: TieRule> {
    corpus: PickyCorpus,
    tokens: MadeTokens,
    /// The count of each token, and its current and former positions; by number.
    counts: Vec<u64>,
    positions: Vec<Vec<u32>>,
    pairs: FollowedPairs,
    queue: BinaryHeap<Candidate<T::SortKey>>,
    ties: T,
    limits: Limits,
    picky: Picky,
    events: Vec<(Event, u64)>,
}

impl<T: TieRule> Picker<T> {
    fn new(corpus: Corpus, options: &Options, picky: &Picky, ties: T) -> Picker<T> {
        let base = options.base.tokens();
        Picker {
            corpus: PickyCorpus::new(corpus, base.len()),
            counts: vec![0; base.len()],
            positions: vec![Vec::new(); base.len()],
            tokens: MadeTokens::new(base),
            pairs: FollowedPairs::default(),
            queue: BinaryHeap::new(),
            ties,
            limits: Limits::of(options, usize::MAX),
            picky: *picky,
            events: Vec::new(),
        }
    }

    fn learn(
        mut self,
        on_merge: &mut dyn FnMut(usize, usize) -> Result<()>,
        interrupt: &dyn Interrupt,
    ) -> Result<Picked> {
        let mut pacer = Pacer::new(interrupt);
        self.find_pairs(&mut pacer)?;
        let base = self.tokens.live_count;
        let mut merges = 0;
        let stop = loop {
            let tokens = self.tokens.live_count - base;
            if self.picky.max_tokens == Some(tokens) {
                break PickyStop::Full;
            }
            if merges == self.limits.max_merges {
                break PickyStop::As(Stop::MaxMerges);
            }
            let Some(best) = self.best() else {
                let has_pairs = self.pairs.has_occurrences();
                break PickyStop::As(if has_pairs { Stop::MinFrequency } else { Stop::NoPairs });
            };
            merges += 1;
            // A merge has a fixed cost, mostly for hashing.
            pacer.after(MERGE_COST)?;
            self.merge_and_drop(best, &mut pacer)?;
            self.enqueue_risen();
            on_merge(merges, self.tokens.live_count - base)?;
        };
        let live =
            (0..self.tokens.tokens.len() as u32).filter(|&number| self.tokens.is_live(number)).collect();
        Ok(Picked { live, tokens: self.tokens.tokens, events: self.events, stop })
    }

    fn find_pairs(&mut self, pacer: &mut Pacer<'_>) -> Result<()> {
        for position in 0..self.corpus.len() {
            pacer.after(1)?;
            let token = self.corpus.token_at(position);
            if token == BORDER {
                continue;
            }
            let weight = self.corpus.weight(position);
            self.counts[token as usize] += weight;
            self.add_pair_occurrence(token, self.corpus.token_at(position + 1), weight, position)?;
        }
        self.enqueue_risen();
        Ok(())
    }

    /// Adds an occurrence of a pair.
    fn add_pair_occurrence(&mut self, left: u32, right: u32, weight: u64, position: usize) -> Result<()> {
        let is_allowed = || self.limits.allow(&self.tokens.tokens, left, right);
        self.pairs.add_occurrence((left, right), weight, position, is_allowed)
    }

    fn enqueue_risen(&mut self) {
        self.pairs.risen().into_iter().for_each(|number| self.enqueue(number));
    }

    fn enqueue(&mut self, number: u32) {
        let &FollowedPair { left, right, count, first, .. } = self.pairs.get(number);
        if count >= self.limits.min_frequency {
            let key = self.ties.key(left, right, first.into(), &self.tokens.tokens);
            self.queue.push(Candidate { count, key, pair: number });
        }
    }

    /// Takes the best pair from the queue, if one is frequent enough. A pair is queued whenever its count
    /// rises, so its entries are upper bounds, and the first exact one is the best.
    fn best(&mut self) -> Option<u32> {
        while let Some(candidate) = self.queue.pop() {
            let number = candidate.pair;
            let &FollowedPair { left, right, count, .. } = self.pairs.get(number);
            // A pair whose count has risen is also in the queue with the new count.
            if count > candidate.count {
                continue;
            }
            if count < candidate.count {
                self.enqueue(number);
                continue;
            }
            if T::MOVES {
                let first = self.pairs.find_first(number, &self.corpus);
                if self.ties.key(left, right, first.into(), &self.tokens.tokens) != candidate.key {
                    self.enqueue(number);
                    continue;
                }
            }
            return Some(number);
        }
        None
    }

    /// Merges a pair, and drops its parts if they are too rare afterwards.
    fn merge_and_drop(&mut self, number: u32, pacer: &mut Pacer<'_>) -> Result<()> {
        let &FollowedPair { left, right, count, .. } = self.pairs.get(number);
        self.events.push((Event::Merge(left, right), count));
        let id = self.tokens.merge(left, right)?;
        if id as usize == self.counts.len() {
            self.corpus.add_token(left, right);
            self.counts.push(0);
            self.positions.push(Vec::new());
        }
        let merged = self.merge(number, id, pacer)?;
        for part in [Some(left), Some(right).filter(|&right| right != left)].into_iter().flatten() {
            let rest = self.counts[part as usize];
            if self.tokens.is_made(part) && merged as f64 / (merged + rest) as f64 >= self.picky.threshold {
                self.events.push((Event::Drop(part), rest));
                self.drop(part, pacer)?;
            }
        }
        Ok(())
    }

    /// Replaces a pair by a token at all its positions, and returns their weight.
    fn merge(&mut self, number: u32, id: u32, pacer: &mut Pacer<'_>) -> Result<u64> {
        let &FollowedPair { left, right, .. } = self.pairs.get(number);
        let mut merged = 0;
        for position in self.pairs.take_positions(number) {
            pacer.after(1)?;
            let position = position as usize;
            if !self.corpus.has_pair(position, left, right) {
                continue;
            }
            let weight = self.corpus.weight(position);
            let middle = self.corpus.end(left, position);
            let (before, after) = self.corpus.around(position, self.corpus.end(right, middle));
            // The pair itself no longer occurs.
            for pair in [(before, left), (right, after)].into_iter().filter(|pair| *pair != (left, right)) {
                self.pairs.remove_occurrence(pair, weight)?;
            }
            self.corpus.join(position, middle, id);
            self.positions[id as usize].push(position as u32);
            self.add_pair_occurrence(before, id, weight, self.corpus.start(before, position))?;
            self.add_pair_occurrence(id, after, weight, position)?;
            merged += weight;
        }
        self.counts[left as usize] -= merged;
        self.counts[right as usize] -= merged;
        self.counts[id as usize] += merged;
        Ok(merged)
    }

    /// Replaces a token by its parts at all its positions.
    fn drop(&mut self, token: u32, pacer: &mut Pacer<'_>) -> Result<()> {
        let mut parts = Vec::new();
        self.tokens.drop(token, &mut parts);
        for position in sorted_distinct(std::mem::take(&mut self.positions[token as usize])) {
            pacer.after(1)?;
            let position = position as usize;
            if self.corpus.token_at(position) != token {
                continue;
            }
            let weight = self.corpus.weight(position);
            let (before, after) = self.corpus.around(position, self.corpus.end(token, position));
            self.pairs.remove_occurrence((before, token), weight)?;
            self.pairs.remove_occurrence((token, after), weight)?;
            let (mut left, mut start) = (before, position);
            for &part in &parts {
                let end = self.corpus.put(start, part);
                if self.tokens.is_made(part) {
                    self.positions[part as usize].push(start as u32);
                }
                self.add_pair_occurrence(left, part, weight, self.corpus.start(left, start))?;
                (left, start) = (part, end);
            }
            self.add_pair_occurrence(left, after, weight, self.corpus.start(left, start))?;
        }
        let rest = std::mem::take(&mut self.counts[token as usize]);
        parts.iter().for_each(|&part| self.counts[part as usize] += rest);
        Ok(())
    }
}
