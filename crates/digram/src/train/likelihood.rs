//! Joining by likelihood, as Google describes the training of WordPiece.
//!
//! The best pair is that whose count, divided by the product of the counts of its two tokens, is the highest. A merge
//! changes the counts of its tokens, and so the score of every pair that has one of them. So no order of pairs can be
//! kept, and all pairs are compared at each step.

use hashbrown::HashMap;

use super::learner::Limits;
use super::{Base, Learned, Options, Stop, Trained};
use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::merges::Merge;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

/// Separates text without a token.
const BORDER: TokenId = TokenId::MAX;

/// The memory per byte of distinct pretokens, in bytes.
const BYTE_MEMORY: u64 = 40;

struct Word {
    ids: Vec<TokenId>,
    count: u64,
}

struct Pair {
    left: TokenId,
    right: TokenId,
    count: u64,
    /// Whether the options allow to merge it.
    is_allowed: bool,
    /// The words that have it or had it, each at most twice in a row.
    words: Vec<u32>,
}

#[derive(Default)]
struct Learner {
    words: Vec<Word>,
    /// The count of each token.
    counts: Vec<u64>,
    tokens: Vec<Vec<u8>>,
    pairs: Vec<Pair>,
    /// The index in `pairs` of each pair.
    index: HashMap<(TokenId, TokenId), usize>,
}

/// Learns merges as [`train`](super::train()), but by likelihood. The options for ties, rounds and runners-up are
/// ignored: among equal pairs, the one with the smallest ids is merged. Works in memory, with about 40 bytes for each
/// byte of distinct pretokens. The time is that of the merges, times the number of different pairs.
///
/// [`Error::Option`] unless training starts from a tokenizer.
pub fn train_by_likelihood(
    counts: &dyn Pieces,
    options: &Options,
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    options.check()?;
    memory::check_available(memory::saturating_usize(counts.distinct_bytes().saturating_mul(BYTE_MEMORY)))?;
    let limits = Limits::of(options, MAX_VOCAB_SIZE);
    let mut learner = Learner::new(counts, options, &limits, interrupt)?;
    let mut merges = Vec::new();
    let mut pacer = Pacer::new(interrupt);
    let stop = loop {
        if merges.len() >= limits.max_merges {
            break Stop::MaxMerges;
        }
        pacer.after(learner.pairs.len())?;
        let Some(best) = learner.best(limits.min_frequency) else {
            let is_rare = learner.pairs.iter().any(|pair| pair.is_allowed && pair.count > 0);
            break if is_rare { Stop::MinFrequency } else { Stop::NoPairs };
        };
        let learned = learner.merge(best, &limits, &mut pacer)?;
        on_merge(&learned)?;
        merges.push(learned);
    };
    Ok(Trained { base: options.base.clone(), merges, stop })
}

impl Learner {
    fn new(
        counts: &dyn Pieces,
        options: &Options,
        limits: &Limits,
        interrupt: &dyn Interrupt,
    ) -> Result<Learner> {
        let Base::Tokens(tokenizer) = &options.base else {
            let reason = "training by likelihood starts from the tokens of a tokenizer.";
            return Err(Error::Option { reason: reason.into() });
        };
        let tokens = options.base.tokens();
        let mut learner = Learner { counts: vec![0; tokens.len()], tokens, ..Learner::default() };
        let (mut pretokens, mut pacer) = (tokenizer.pretokens(), Pacer::new(interrupt));
        let counts = counts.to_memory(interrupt)?;
        for (bytes, count) in counts.iter().filter(|&(_, count)| count > 0) {
            pacer.after(1 + bytes.len())?;
            let mut ids = Vec::new();
            pretokens.append(bytes, BORDER, &mut ids, interrupt)?;
            ids.shrink_to_fit();
            let word = u32::try_from(learner.words.len()).map_err(|_| Error::TooManyPretokens)?;
            memory::try_reserve(&mut learner.words, 1)?;
            learner.words.push(Word { ids, count });
            learner.add(word, limits)?;
        }
        Ok(learner)
    }

    /// Adds the tokens and the pairs of a word to the counts.
    fn add(&mut self, word: u32, limits: &Limits) -> Result<()> {
        let Learner { words, counts, tokens, pairs, index } = self;
        let Word { ids, count } = &words[word as usize];
        let too_many = || Error::Limit { reason: "a token occurs more than 2^64 times.".into() };
        for &id in ids.iter().filter(|&&id| id != BORDER) {
            counts[id as usize] = counts[id as usize].checked_add(*count).ok_or_else(too_many)?;
        }
        for pair in ids.windows(2).filter(|pair| !pair.contains(&BORDER)) {
            let (left, right) = (pair[0], pair[1]);
            let place = *index.entry((left, right)).or_insert_with(|| {
                let is_allowed = limits.allow(tokens, left, right);
                pairs.push(Pair { left, right, count: 0, is_allowed, words: Vec::new() });
                pairs.len() - 1
            });
            let pair = &mut pairs[place];
            pair.count = pair.count.checked_add(*count).ok_or_else(too_many)?;
            if pair.words.last() != Some(&word) {
                memory::try_reserve(&mut pair.words, 1)?;
                pair.words.push(word);
            }
        }
        Ok(())
    }

    /// Takes the tokens and the pairs of a word out of the counts.
    fn take(&mut self, word: u32) {
        let Word { ids, count } = &self.words[word as usize];
        for &id in ids.iter().filter(|&&id| id != BORDER) {
            self.counts[id as usize] -= count;
        }
        for pair in ids.windows(2).filter(|pair| !pair.contains(&BORDER)) {
            self.pairs[self.index[&(pair[0], pair[1])]].count -= count;
        }
    }

    /// The index of the pair with the highest score.
    fn best(&self, min_frequency: u64) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (place, pair) in self.pairs.iter().enumerate() {
            if pair.count < min_frequency || !pair.is_allowed {
                continue;
            }
            let product = self.counts[pair.left as usize] as f64 * self.counts[pair.right as usize] as f64;
            let score = pair.count as f64 / product;
            let ids = |place: usize| (self.pairs[place].left, self.pairs[place].right);
            if best
                .is_none_or(|(highest, other)| score > highest || score == highest && ids(place) < ids(other))
            {
                best = Some((score, place));
            }
        }
        best.map(|(_, place)| place)
    }

    /// Merges a pair in all words.
    fn merge(&mut self, place: usize, limits: &Limits, pacer: &mut Pacer<'_>) -> Result<Learned> {
        let Pair { left, right, count, .. } = self.pairs[place];
        let words = std::mem::take(&mut self.pairs[place].words);
        let id = self.tokens.len() as TokenId;
        self.tokens.push([&self.tokens[left as usize][..], &self.tokens[right as usize]].concat());
        self.counts.push(0);
        for word in words {
            let has_pair = |ids: &[TokenId]| ids.windows(2).any(|pair| pair == [left, right]);
            if !has_pair(&self.words[word as usize].ids) {
                continue;
            }
            pacer.after(8 * self.words[word as usize].ids.len())?;
            self.take(word);
            replace(&mut self.words[word as usize].ids, left, right, id);
            self.add(word, limits)?;
        }
        self.forget_unused();
        Ok(Learned::new(Merge { left, right, id }, count))
    }

    /// Drops pairs that do not occur any more.
    fn forget_unused(&mut self) {
        let unused = self.pairs.iter().filter(|pair| pair.count == 0).count();
        if unused * 2 > self.pairs.len() {
            self.pairs.retain(|pair| pair.count > 0);
            self.index =
                self.pairs.iter().enumerate().map(|(i, pair)| ((pair.left, pair.right), i)).collect();
        }
    }
}

/// Replaces each `left`, `right` by `id`, from the left.
fn replace(ids: &mut Vec<TokenId>, left: TokenId, right: TokenId, id: TokenId) {
    let (mut from, mut to) = (0, 0);
    while from < ids.len() {
        let is_pair = ids[from] == left && ids.get(from + 1) == Some(&right);
        ids[to] = if is_pair { id } else { ids[from] };
        from += 1 + usize::from(is_pair);
        to += 1;
    }
    ids.truncate(to);
}
