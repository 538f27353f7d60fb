//! Parts of pretokens, each different one once, with the sum of its counts.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

use super::corpus::{Corpus, CorpusBuilder, stretches};
use super::memory_need::{self, MemoryNeed};

/// Stretches of tokens in the order they were first added.
///
/// While pairs are followed that stand nearly everywhere, most stretches are a few tokens long and
/// come again and again: thousands of them hold what millions of pretokens have.
#[derive(Default)]
pub(super) struct Stretches {
    words: TokenSequences,
    counts: Vec<u64>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Stretches {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Adds one that occurs so often.
    pub(super) fn add(&mut self, stretch: &[TokenId], count: u64) {
        let Stretches { words, counts, numbers, hasher } = self;
        let hash = hasher.hash_one(stretch);
        let found = numbers.find(hash, |&number| words.get(number as usize) == stretch);
        if let Some(&number) = found {
            // Each occurrence has bytes of its own, and those of the corpus are no more than 2^64.
            counts[number as usize] += count;
            return;
        }
        let number = counts.len() as u32;
        words.push(stretch);
        counts.push(count);
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(words.get(number as usize)));
    }

    /// The number of a stretch.
    pub(super) fn number_of(&self, stretch: &[TokenId]) -> Result<usize> {
        let found = self
            .numbers
            .find(self.hasher.hash_one(stretch), |&number| self.words.get(number as usize) == stretch);
        found.map(|&number| number as usize).ok_or_else(|| Error::Internal {
            reason: "a part of a pretoken was not taken into memory, and is to be put back.".into(),
        })
    }

    /// How many bytes of memory merging them takes.
    pub(super) fn memory(&self) -> u64 {
        memory_need::bytes_of((self.words.tokens.len() - self.counts.len()) as u64, self.counts.len() as u64)
    }

    /// What merging those takes of which each pair occurs as often as a floor, for any floor.
    pub(super) fn need(&self, count: impl Fn(TokenId, TokenId) -> u64) -> MemoryNeed {
        let mut need = MemoryNeed::default();
        self.iter().for_each(|(word, _)| need.add(word.windows(2).map(|pair| count(pair[0], pair[1]))));
        need
    }

    /// Their stretches in which all pairs are `wanted`.
    pub(super) fn cut(&self, wanted: impl Fn(TokenId, TokenId) -> bool) -> Stretches {
        let mut kept = Stretches::default();
        for (word, count) in self.iter() {
            stretches(word, &wanted).for_each(|stretch| kept.add(stretch, count));
        }
        kept
    }

    /// A corpus of them.
    pub(super) fn corpus(&self, tokens: usize) -> Result<Corpus> {
        let places = self.words.tokens.len() + self.counts.len();
        let mut corpus = CorpusBuilder::with_capacity(tokens, places, self.counts.len())?;
        self.iter().try_for_each(|(word, count)| corpus.push(word, count))?;
        Ok(corpus.finish())
    }

    fn iter(&self) -> impl Iterator<Item = (&[TokenId], u64)> {
        self.counts.iter().enumerate().map(|(number, &count)| (self.words.get(number), count))
    }
}

/// Sequences of tokens, end to end.
#[derive(Default)]
pub(super) struct TokenSequences {
    tokens: Vec<TokenId>,
    ends: Vec<u32>,
}

impl TokenSequences {
    pub(super) fn push(&mut self, word: &[TokenId]) {
        self.tokens.extend_from_slice(word);
        self.ends.push(self.tokens.len() as u32);
    }

    pub(super) fn get(&self, number: usize) -> &[TokenId] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.tokens[start as usize..self.ends[number] as usize]
    }
}
