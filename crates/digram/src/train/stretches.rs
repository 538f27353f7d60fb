//! Distinct parts of pretokens, with their summed counts.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

use super::corpus::{Corpus, CorpusBuilder, stretches};
use super::memory_need::{self, MemoryNeed};

/// Distinct stretches of tokens, in the order in which they were first added.
///
/// While very frequent pairs are tracked, most stretches are short and recur often: thousands of them cover
/// millions of pretokens.
#[derive(Default)]
pub(super) struct Stretches {
    words: TokenSequences,
    counts: Vec<u64>,
    indices: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Stretches {
    /// The number of stretches.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Adds a stretch with its count.
    pub(super) fn add(&mut self, stretch: &[TokenId], count: u64) {
        let Stretches { words, counts, indices, hasher } = self;
        let hash = hasher.hash_one(stretch);
        let existing = indices.find(hash, |&index| words.get(index as usize) == stretch);
        if let Some(&index) = existing {
            // No overflow: each occurrence has its own bytes, and the corpus has at most 2^64.
            counts[index as usize] += count;
            return;
        }
        let index = counts.len() as u32;
        words.push(stretch);
        counts.push(count);
        indices.insert_unique(hash, index, |&index| hasher.hash_one(words.get(index as usize)));
    }

    /// The index of a stretch.
    pub(super) fn index_of(&self, stretch: &[TokenId]) -> Result<usize> {
        let index = self
            .indices
            .find(self.hasher.hash_one(stretch), |&index| self.words.get(index as usize) == stretch);
        index.map(|&index| index as usize).ok_or_else(|| Error::Internal {
            reason: "a part of a pretoken to write back is not in memory.".into(),
        })
    }

    /// The memory that merging them takes, in bytes.
    pub(super) fn memory(&self) -> u64 {
        memory_need::bytes_of((self.words.tokens.len() - self.counts.len()) as u64, self.counts.len() as u64)
    }

    /// The memory that merging takes for the stretches in which each pair has at least a minimum count, for
    /// any minimum.
    pub(super) fn need(&self, count: impl Fn(TokenId, TokenId) -> u64) -> MemoryNeed {
        let mut need = MemoryNeed::default();
        self.iter().for_each(|(word, _)| need.add(word.windows(2).map(|pair| count(pair[0], pair[1]))));
        need
    }

    /// The parts of the stretches in which `predicate` holds for all pairs.
    pub(super) fn split(&self, predicate: impl Fn(TokenId, TokenId) -> bool) -> Stretches {
        let mut result = Stretches::default();
        for (word, count) in self.iter() {
            stretches(word, &predicate).for_each(|stretch| result.add(stretch, count));
        }
        result
    }

    /// A corpus of the stretches.
    pub(super) fn corpus(&self, tokens: usize) -> Result<Corpus> {
        let positions = self.words.tokens.len() + self.counts.len();
        let mut builder = CorpusBuilder::with_capacity(tokens, positions, self.counts.len())?;
        self.iter().try_for_each(|(word, count)| builder.push(word, count))?;
        Ok(builder.finish())
    }

    fn iter(&self) -> impl Iterator<Item = (&[TokenId], u64)> {
        self.counts.iter().enumerate().map(|(index, &count)| (self.words.get(index), count))
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

    pub(super) fn get(&self, index: usize) -> &[TokenId] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.tokens[start as usize..self.ends[index] as usize]
    }
}
