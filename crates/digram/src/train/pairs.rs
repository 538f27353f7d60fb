//! The pairs tracked in a round of merges, with their counts and positions.

use std::ops::Range;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// A pair of neighbouring tokens. All its occurrences are created in one step, by the merge that makes the
/// younger of its tokens; later its count only falls, and its first occurrence only moves right.
pub(super) struct Pair {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: u64,
    /// Its positions when it was created, in ascending order, as a range of the postings. Outdated ones are
    /// skipped.
    pub(super) positions: Range<usize>,
}

/// Pairs by index.
#[derive(Default)]
pub(super) struct Pairs {
    pairs: Vec<Pair>,
    /// The counts of each pair by language.
    shares: Vec<u64>,
    /// The number of languages; 0 if the corpus has none.
    languages: usize,
    index: HashMap<(TokenId, TokenId), u32>,
    pub(super) postings: Vec<u32>,
}

impl Pairs {
    /// A table of pairs that are also counted by language.
    pub(super) fn of_languages(languages: usize) -> Pairs {
        Pairs { languages, ..Pairs::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The count of a pair by language.
    pub(super) fn shares(&self, index: usize) -> &[u64] {
        &self.shares[index * self.languages..][..self.languages]
    }

    /// The index of a pair, if it is tracked.
    pub(super) fn index_of(&self, left: TokenId, right: TokenId) -> Option<usize> {
        self.index.get(&(left, right)).map(|&index| index as usize)
    }

    pub(super) fn get(&self, index: usize) -> &Pair {
        &self.pairs[index]
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Pair {
        &mut self.pairs[index]
    }

    /// Removes a pair, and returns its tokens and positions.
    pub(super) fn take(&mut self, index: usize) -> (TokenId, TokenId, Range<usize>) {
        let range = index * self.languages..(index + 1) * self.languages;
        self.shares[range].fill(0);
        let Pair { left, right, count, positions } = &mut self.pairs[index];
        *count = 0;
        self.index.remove(&(*left, *right));
        (*left, *right, std::mem::take(positions))
    }

    /// Subtracts occurrences from a pair, if it is tracked; `shares` by language.
    #[inline]
    pub(super) fn subtract(
        &mut self,
        (left, right): (TokenId, TokenId),
        weight: u64,
        shares: &[u64],
    ) -> Result<()> {
        if let Some(&index) = self.index.get(&(left, right)) {
            let index = index as usize;
            let negative = || Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            };
            let pair = &mut self.pairs[index];
            pair.count = pair.count.checked_sub(weight).ok_or_else(negative)?;
            for (language_count, &share) in self.shares[index * self.languages..].iter_mut().zip(shares) {
                *language_count = language_count.checked_sub(share).ok_or_else(negative)?;
            }
        }
        Ok(())
    }

    /// Adds a new pair, and returns its index. `shares` are its counts by language.
    pub(super) fn add(
        &mut self,
        left: TokenId,
        right: TokenId,
        count: u64,
        shares: &[u64],
        positions: Range<usize>,
    ) -> Result<u32> {
        let index = u32::try_from(self.pairs.len()).map_err(|_| Error::Limit {
            reason: "there are more than 2^32 pairs of neighbouring tokens.".into(),
        })?;
        self.pairs.push(Pair { left, right, count, positions });
        self.shares.extend_from_slice(shares);
        self.index.insert((left, right), index);
        Ok(index)
    }
}
