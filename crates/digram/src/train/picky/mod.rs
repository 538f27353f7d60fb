//! PickyBPE: intermediate tokens that a merge leaves nearly unused are dropped at once.
//!
//! Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During
//! Tokenizer Training", EMNLP 2024. After each merge, the share of the occurrences of each part that the
//! merge consumed is computed. From a threshold on, the part is dropped, and split at its remaining places.
//!
//! So, unlike in other training, pairs may become more frequent again and return to places that they left.
//! Here every existing pair is tracked, with all its places, and each place is verified when it is used.

mod followed;
mod standing;

use std::collections::BinaryHeap;

use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::events::{Event, MadeTokens};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

use super::candidate::Candidate;
use super::corpus::{BORDER, Corpus, Order};
use super::learner::Limits;
use super::ties::{FirstSeen, Lexicographic, SmallestIds, TieRule};
use super::{Base, Options, Stop, Ties};
use followed::{FollowedPair, FollowedPairs, rising};
use standing::Standing;

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
    /// The numbers of the remaining tokens, in rising order.
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

/// Trains with [`Options`], and drops tokens as [`Picky`] says.
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
    let refuse = |reason: String| Err(Error::Option { reason });
    if !(threshold > 0.0 && threshold <= 1.0) {
        return refuse(format!("picky must be greater than 0 and at most 1, not {threshold}."));
    }
    if let Base::Tokens(_) = options.base {
        return refuse("PickyBPE starts from single symbols, not from the tokens of a tokenizer.".into());
    }
    let counts = counts.to_memory(interrupt)?;
    memory::check_available(memory::saturating_usize(counts.distinct_bytes().saturating_mul(OF_BYTE)))?;
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
const OF_BYTE: u64 = 30;

/// The fixed cost of a merge, expressed in places.
const OF_MERGE: usize = 1 << 6;

struct Picker<T: TieRule> {
    standing: Standing,
    made: MadeTokens,
    /// The count of each token, and its current and former places; by number.
    counts: Vec<u64>,
    places: Vec<Vec<u32>>,
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
            standing: Standing::new(corpus, base.len()),
            counts: vec![0; base.len()],
            places: vec![Vec::new(); base.len()],
            made: MadeTokens::new(base),
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
        let base = self.made.live_count;
        let mut merges = 0;
        let stop = loop {
            let made = self.made.live_count - base;
            if self.picky.max_tokens == Some(made) {
                break PickyStop::Full;
            }
            if merges == self.limits.max_merges {
                break PickyStop::As(Stop::MaxMerges);
            }
            let Some(best) = self.best() else {
                let is_left = self.pairs.is_any_left();
                break PickyStop::As(if is_left { Stop::MinFrequency } else { Stop::NoPairs });
            };
            merges += 1;
            // A merge has a fixed cost, mostly for hashing.
            pacer.after(OF_MERGE)?;
            self.merge_and_drop(best, &mut pacer)?;
            self.enqueue_risen();
            on_merge(merges, self.made.live_count - base)?;
        };
        let live = (0..self.made.tokens.len() as u32).filter(|&number| self.made.is_live(number)).collect();
        Ok(Picked { live, tokens: self.made.tokens, events: self.events, stop })
    }

    fn find_pairs(&mut self, pacer: &mut Pacer<'_>) -> Result<()> {
        for at in 0..self.standing.len() {
            pacer.after(1)?;
            let token = self.standing.at(at);
            if token == BORDER {
                continue;
            }
            let weight = self.standing.weight(at);
            self.counts[token as usize] += weight;
            self.gain(token, self.standing.at(at + 1), weight, at)?;
        }
        self.enqueue_risen();
        Ok(())
    }

    /// Adds an occurrence of a pair.
    fn gain(&mut self, left: u32, right: u32, weight: u64, at: usize) -> Result<()> {
        let is_allowed = || self.limits.allow(&self.made.tokens, left, right);
        self.pairs.gain((left, right), weight, at, is_allowed)
    }

    fn enqueue_risen(&mut self) {
        self.pairs.risen().into_iter().for_each(|number| self.enqueue(number));
    }

    fn enqueue(&mut self, number: u32) {
        let &FollowedPair { left, right, count, first, .. } = self.pairs.get(number);
        if count >= self.limits.min_frequency {
            let key = self.ties.key(left, right, first.into(), &self.made.tokens);
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
                let first = self.pairs.find_first(number, &self.standing);
                if self.ties.key(left, right, first.into(), &self.made.tokens) != candidate.key {
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
        let id = self.made.merge(left, right)?;
        if id as usize == self.counts.len() {
            self.standing.add_token(left, right);
            self.counts.push(0);
            self.places.push(Vec::new());
        }
        let merged = self.merge(number, id, pacer)?;
        for part in [Some(left), Some(right).filter(|&right| right != left)].into_iter().flatten() {
            let rest = self.counts[part as usize];
            if self.made.is_made(part) && merged as f64 / (merged + rest) as f64 >= self.picky.threshold {
                self.events.push((Event::Drop(part), rest));
                self.drop(part, pacer)?;
            }
        }
        Ok(())
    }

    /// Replaces a pair by a token at all its places, and returns their weight.
    fn merge(&mut self, number: u32, id: u32, pacer: &mut Pacer<'_>) -> Result<u64> {
        let &FollowedPair { left, right, .. } = self.pairs.get(number);
        let mut merged = 0;
        for at in self.pairs.take(number) {
            pacer.after(1)?;
            let at = at as usize;
            if !self.standing.has_pair(at, left, right) {
                continue;
            }
            let weight = self.standing.weight(at);
            let middle = self.standing.end(left, at);
            let (before, after) = self.standing.around(at, self.standing.end(right, middle));
            // The pair itself no longer occurs.
            for pair in [(before, left), (right, after)].into_iter().filter(|pair| *pair != (left, right)) {
                self.pairs.lose(pair, weight)?;
            }
            self.standing.join(at, middle, id);
            self.places[id as usize].push(at as u32);
            self.gain(before, id, weight, self.standing.start(before, at))?;
            self.gain(id, after, weight, at)?;
            merged += weight;
        }
        self.counts[left as usize] -= merged;
        self.counts[right as usize] -= merged;
        self.counts[id as usize] += merged;
        Ok(merged)
    }

    /// Replaces a token by its parts at all its places.
    fn drop(&mut self, token: u32, pacer: &mut Pacer<'_>) -> Result<()> {
        let mut parts = Vec::new();
        self.made.drop(token, &mut parts);
        for at in rising(std::mem::take(&mut self.places[token as usize])) {
            pacer.after(1)?;
            let at = at as usize;
            if self.standing.at(at) != token {
                continue;
            }
            let weight = self.standing.weight(at);
            let (before, after) = self.standing.around(at, self.standing.end(token, at));
            self.pairs.lose((before, token), weight)?;
            self.pairs.lose((token, after), weight)?;
            let (mut left, mut start) = (before, at);
            for &part in &parts {
                let end = self.standing.put(start, part);
                if self.made.is_made(part) {
                    self.places[part as usize].push(start as u32);
                }
                self.gain(left, part, weight, self.standing.start(left, start))?;
                (left, start) = (part, end);
            }
            self.gain(left, after, weight, self.standing.start(left, start))?;
        }
        let rest = std::mem::take(&mut self.counts[token as usize]);
        parts.iter().for_each(|&part| self.counts[part as usize] += rest);
        Ok(())
    }
}
