//! PickyBPE: a token that the merge of its time leaves little use for is dropped at once.
//!
//! Chizhov, Arnett, Korotkova and Yamshchikov, "BPE Gets Picky: Efficient Vocabulary Refinement During
//! Tokenizer Training", EMNLP 2024. After each merge its two parts are asked in how many of the places
//! where they stood it took them up. From a threshold on the part is split wherever it still stands.
//!
//! So pairs may become more frequent again, and come back to places that they went from, which other
//! training excludes. Here every pair that stands anywhere is followed, with all its places; what a
//! place holds is looked up when it matters.

use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::events::{Event, Made};
use crate::watch::{Paced, Watch};

use super::candidate::Candidate;
use super::corpus::{BORDER, Corpus, INSIDE, Order};
use super::learner::Limits;
use super::runs::Runs;
use super::ties::{FirstSeen, SmallestIds, TieRule};
use super::{Base, Options, Stop, Ties, lexicographic};

/// When a part is dropped, and when there are enough tokens.
#[derive(Debug, Clone, Copy)]
pub struct Picky {
    /// The share of its places, above 0 and up to 1, from which on a part is dropped.
    pub threshold: f64,
    /// So many tokens beside the base.
    pub most_tokens: Option<usize>,
}

/// What was learned.
#[derive(Debug)]
pub struct Picked {
    /// All tokens that were made, by number: first the base as it was given.
    pub tokens: Vec<Vec<u8>>,
    /// The numbers of those that are left, in rising order.
    pub live: Vec<u32>,
    /// What happened in the order of time, with how often the pair stood, or the token that was
    /// dropped still did. Numbers are those of [`Picked::tokens`].
    pub events: Vec<(Event, u64)>,
    /// Why there is not more.
    pub stop: PickyStop,
}

/// Why training came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickyStop {
    /// As many tokens as were asked for.
    Full,
    /// For another reason, as any training.
    As(Stop),
}

/// Learns what [`Options`] ask for, and drops what [`Picky`] says.
///
/// `on_event` is told after each merge how many merges and how many tokens there are. Of the options
/// rounds and runners-up play no part. All is in memory: about 30 bytes for each byte of distinct
/// pretokens.
///
/// # Errors
/// As [`train`](super::train()); [`Error::Option`] for a threshold that is none, and for a tokenizer as base.
pub fn train_picky(
    counts: &dyn Pieces,
    options: &Options,
    picky: &Picky,
    on_merge: &mut dyn FnMut(usize, usize) -> Result<()>,
    watch: &dyn Watch,
) -> Result<Picked> {
    options.check()?;
    let threshold = picky.threshold;
    let refuse = |reason: String| Err(Error::Option { reason });
    if !(threshold > 0.0 && threshold <= 1.0) {
        return refuse(format!("picky={threshold} is not a share above 0 and up to 1."));
    }
    if let Base::Tokens(_) = options.base {
        return refuse("PickyBPE starts from single symbols, not from the tokens of a tokenizer.".into());
    }
    let counts = counts.to_memory(watch)?;
    let corpus = |order| Corpus::new(&counts, &options.base, order, watch);
    match options.ties {
        Ties::Ids => Picker::new(corpus(Order::ByCount)?, options, picky, SmallestIds).learn(on_merge, watch),
        Ties::FirstSeen => {
            Picker::new(corpus(Order::FirstSeen)?, options, picky, FirstSeen).learn(on_merge, watch)
        }
        Ties::Lexicographic | Ties::Printable => {
            let ties = lexicographic(options.ties);
            Picker::new(corpus(Order::ByCount)?, options, picky, ties).learn(on_merge, watch)
        }
    }
}

/// A pair of neighbours.
struct Followed {
    left: u32,
    right: u32,
    count: u64,
    /// It stands nowhere before this place.
    first: u32,
    /// Where it stands, and where it stood before.
    places: Vec<u32>,
    /// Whether it became more frequent since the last event.
    rose: bool,
}

/// What a merge costs beside its places, counted in places.
const OF_MERGE: usize = 1 << 6;

/// Stands for a pair that may not be merged.
const FORBIDDEN: u32 = u32::MAX;

struct Picker<T: TieRule> {
    /// For each place the token that begins there, and the one that ends there.
    starts: Vec<u32>,
    ends: Vec<u32>,
    runs: Runs,
    made: Made,
    /// How many places a token takes, how often it stands, and where; by number.
    lengths: Vec<u32>,
    counts: Vec<u64>,
    places: Vec<Vec<u32>>,
    numbers: HashMap<(u32, u32), u32>,
    pairs: Vec<Followed>,
    risen: Vec<u32>,
    queue: BinaryHeap<Candidate<T::Key>>,
    ties: T,
    limits: Limits,
    picky: Picky,
    events: Vec<(Event, u64)>,
}

impl<T: TieRule> Picker<T> {
    fn new(corpus: Corpus, options: &Options, picky: &Picky, ties: T) -> Picker<T> {
        let (starts, runs) = corpus.into_parts();
        let base = options.base.tokens();
        Picker {
            ends: starts.clone(),
            starts,
            runs,
            lengths: vec![1; base.len()],
            counts: vec![0; base.len()],
            places: vec![Vec::new(); base.len()],
            made: Made::new(base),
            numbers: HashMap::default(),
            pairs: Vec::new(),
            risen: Vec::new(),
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
        watch: &dyn Watch,
    ) -> Result<Picked> {
        let mut paced = Paced::new(watch);
        self.find_pairs(&mut paced)?;
        let base = self.made.live_count;
        let mut merges = 0;
        let stop = loop {
            let made = self.made.live_count - base;
            if self.picky.most_tokens == Some(made) {
                break PickyStop::Full;
            }
            if merges == self.limits.max_merges {
                break PickyStop::As(Stop::MaxMerges);
            }
            let Some(best) = self.best() else {
                let is_left = self.pairs.iter().any(|pair| pair.count > 0);
                break PickyStop::As(if is_left { Stop::MinFrequency } else { Stop::NoPairs });
            };
            merges += 1;
            // A merge with its hashing takes as long as many places.
            paced.after(OF_MERGE)?;
            self.merge_and_drop(best, &mut paced)?;
            self.enqueue_risen();
            on_merge(merges, self.made.live_count - base)?;
        };
        let live = (0..self.made.tokens.len() as u32).filter(|&number| self.made.is_live(number)).collect();
        Ok(Picked { live, tokens: self.made.tokens, events: self.events, stop })
    }

    fn find_pairs(&mut self, paced: &mut Paced<'_>) -> Result<()> {
        for at in 0..self.starts.len() {
            paced.after(1)?;
            let token = self.starts[at];
            if token == BORDER {
                continue;
            }
            let weight = self.runs.weight(at).count;
            self.counts[token as usize] += weight;
            self.gain(token, self.starts[at + 1], weight, at)?;
        }
        self.enqueue_risen();
        Ok(())
    }

    /// A pair stands at one place more.
    fn gain(&mut self, left: u32, right: u32, weight: u64, at: usize) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let known = self.pairs.len();
        let number = *self.numbers.entry((left, right)).or_insert_with(|| {
            match self.limits.allow(&self.made.tokens, left, right) {
                true => known as u32,
                false => FORBIDDEN,
            }
        });
        if number == FORBIDDEN {
            return Ok(());
        }
        if number as usize == known {
            if number == FORBIDDEN - 1 {
                let reason = "there are more than 2^32 pairs of neighbouring tokens.".into();
                return Err(Error::Limit { reason });
            }
            let (first, places) = (at as u32, Vec::new());
            self.pairs.push(Followed { left, right, count: 0, first, places, rose: false });
        }
        let pair = &mut self.pairs[number as usize];
        pair.count += weight;
        pair.first = pair.first.min(at as u32);
        pair.places.push(at as u32);
        if !pair.rose {
            pair.rose = true;
            self.risen.push(number);
        }
        Ok(())
    }

    /// A pair stands at one place less.
    fn lose(&mut self, left: u32, right: u32, weight: u64) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let number = self.numbers.get(&(left, right)).copied().unwrap_or(FORBIDDEN);
        if number != FORBIDDEN {
            let pair = &mut self.pairs[number as usize];
            pair.count = pair.count.checked_sub(weight).ok_or_else(|| Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            })?;
        }
        Ok(())
    }

    fn enqueue_risen(&mut self) {
        for number in std::mem::take(&mut self.risen) {
            self.pairs[number as usize].rose = false;
            self.enqueue(number);
        }
    }

    fn enqueue(&mut self, number: u32) {
        let Followed { left, right, count, first, .. } = self.pairs[number as usize];
        if count >= self.limits.min_frequency {
            let key = self.ties.key(left, right, first.into(), &self.made.tokens);
            self.queue.push(Candidate { count, key, pair: number });
        }
    }

    /// Takes the best pair out of the queue, if one is frequent enough. In the queue each pair stands
    /// with what it was worth whenever it rose, or better; so the first that is worth it still is the
    /// best.
    fn best(&mut self) -> Option<usize> {
        while let Some(candidate) = self.queue.pop() {
            let number = candidate.pair as usize;
            let pair = &self.pairs[number];
            // One that is worth more by now is in the queue with that too.
            if pair.count > candidate.count {
                continue;
            }
            if pair.count < candidate.count {
                self.enqueue(candidate.pair);
                continue;
            }
            if T::MOVES {
                self.find_first(number);
                let Followed { left, right, first, .. } = self.pairs[number];
                if self.ties.key(left, right, first.into(), &self.made.tokens) != candidate.key {
                    self.enqueue(candidate.pair);
                    continue;
                }
            }
            return Some(number);
        }
        None
    }

    /// Finds where a pair stands first.
    fn find_first(&mut self, number: usize) {
        let Followed { left, right, first, .. } = self.pairs[number];
        if self.has_pair(first as usize, left, right) {
            return;
        }
        let mut places = std::mem::take(&mut self.pairs[number].places);
        places.retain(|&at| self.has_pair(at as usize, left, right));
        let pair = &mut self.pairs[number];
        pair.first = places.iter().copied().min().unwrap_or(u32::MAX);
        pair.places = places;
    }

    fn has_pair(&self, at: usize, left: u32, right: u32) -> bool {
        self.starts[at] == left && self.starts[at + self.lengths[left as usize] as usize] == right
    }

    /// Merges a pair, and drops those of its parts that it leaves too rare.
    fn merge_and_drop(&mut self, number: usize, paced: &mut Paced<'_>) -> Result<()> {
        let Followed { left, right, count, .. } = self.pairs[number];
        self.events.push((Event::Merge(left, right), count));
        let id = self.made.merge(left, right)?;
        if id as usize == self.lengths.len() {
            self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
            self.counts.push(0);
            self.places.push(Vec::new());
        }
        let merged = self.merge(number, id, paced)?;
        for part in [Some(left), Some(right).filter(|&right| right != left)].into_iter().flatten() {
            let rest = self.counts[part as usize];
            if self.made.is_made(part) && merged as f64 / (merged + rest) as f64 >= self.picky.threshold {
                self.events.push((Event::Drop(part), rest));
                self.drop(part, paced)?;
            }
        }
        Ok(())
    }

    /// Puts a token wherever a pair stands, and says how often that was.
    fn merge(&mut self, number: usize, id: u32, paced: &mut Paced<'_>) -> Result<u64> {
        let pair = &mut self.pairs[number];
        let (left, right) = (pair.left, pair.right);
        pair.count = 0;
        let mut places = std::mem::take(&mut pair.places);
        places.sort_unstable();
        places.dedup();
        let mut merged = 0;
        for at in places {
            paced.after(1)?;
            let at = at as usize;
            if !self.has_pair(at, left, right) {
                continue;
            }
            let weight = self.runs.weight(at).count;
            let middle = at + self.lengths[left as usize] as usize;
            let end = middle + self.lengths[right as usize] as usize;
            let (before, after) = (self.ends[at - 1], self.starts[end]);
            // Of the pair itself none is left.
            if (before, left) != (left, right) {
                self.lose(before, left, weight)?;
            }
            if (right, after) != (left, right) {
                self.lose(right, after, weight)?;
            }
            self.starts[middle] = INSIDE;
            self.starts[at] = id;
            self.ends[end - 1] = id;
            self.places[id as usize].push(at as u32);
            self.gain(before, id, weight, self.start_of(before, at))?;
            self.gain(id, after, weight, at)?;
            merged += weight;
        }
        self.counts[left as usize] -= merged;
        self.counts[right as usize] -= merged;
        self.counts[id as usize] += merged;
        Ok(merged)
    }

    /// Puts its parts wherever a token stands.
    fn drop(&mut self, token: u32, paced: &mut Paced<'_>) -> Result<()> {
        let mut parts = Vec::new();
        self.made.drop(token, &mut parts);
        let mut places = std::mem::take(&mut self.places[token as usize]);
        places.sort_unstable();
        places.dedup();
        for at in places {
            paced.after(1)?;
            let at = at as usize;
            if self.starts[at] != token {
                continue;
            }
            let weight = self.runs.weight(at).count;
            let end = at + self.lengths[token as usize] as usize;
            let (before, after) = (self.ends[at - 1], self.starts[end]);
            self.lose(before, token, weight)?;
            self.lose(token, after, weight)?;
            let (mut left, mut start) = (before, at);
            for &part in &parts {
                let next = start + self.lengths[part as usize] as usize;
                self.starts[start] = part;
                self.ends[next - 1] = part;
                if self.made.is_made(part) {
                    self.places[part as usize].push(start as u32);
                }
                self.gain(left, part, weight, self.start_of(left, start))?;
                (left, start) = (part, next);
            }
            self.gain(left, after, weight, self.start_of(left, start))?;
        }
        let rest = std::mem::take(&mut self.counts[token as usize]);
        parts.iter().for_each(|&part| self.counts[part as usize] += rest);
        Ok(())
    }

    /// Where a token starts that ends before `at`; of no meaning for a border.
    fn start_of(&self, token: u32, at: usize) -> usize {
        if token == BORDER { at } else { at - self.lengths[token as usize] as usize }
    }
}
