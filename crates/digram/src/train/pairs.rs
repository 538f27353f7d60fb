//! The pairs tracked in a round of merges, with their counts and places.

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
    /// Its places when it was created, in rising order, as a range of the postings. Outdated places are
    /// skipped.
    pub(super) places: Range<usize>,
}

/// Pairs by number.
#[derive(Default)]
pub(super) struct Pairs {
    pairs: Vec<Pair>,
    /// The count of each by language.
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
    pub(super) fn shares(&self, number: usize) -> &[u64] {
        &self.shares[number * self.languages..][..self.languages]
    }

    /// The number of a pair, if it is tracked.
    pub(super) fn number_of(&self, left: TokenId, right: TokenId) -> Option<usize> {
        self.index.get(&(left, right)).map(|&number| number as usize)
    }

    pub(super) fn get(&self, number: usize) -> &Pair {
        &self.pairs[number]
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut Pair {
        &mut self.pairs[number]
    }

    /// Removes a pair, and returns its tokens and places.
    pub(super) fn take(&mut self, number: usize) -> (TokenId, TokenId, Range<usize>) {
        let of_languages = number * self.languages..(number + 1) * self.languages;
        self.shares[of_languages].fill(0);
        let Pair { left, right, count, places } = &mut self.pairs[number];
        *count = 0;
        self.index.remove(&(*left, *right));
        (*left, *right, std::mem::take(places))
    }

    /// Subtracts occurrences from a pair, if it is tracked; `shares` by language.
    #[inline]
    pub(super) fn take_from(
        &mut self,
        (left, right): (TokenId, TokenId),
        weight: u64,
        shares: &[u64],
    ) -> Result<()> {
        if let Some(&number) = self.index.get(&(left, right)) {
            let number = number as usize;
            let fell = || Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            };
            let pair = &mut self.pairs[number];
            pair.count = pair.count.checked_sub(weight).ok_or_else(fell)?;
            for (of_language, &share) in self.shares[number * self.languages..].iter_mut().zip(shares) {
                *of_language = of_language.checked_sub(share).ok_or_else(fell)?;
            }
        }
        Ok(())
    }

    /// Adds a new pair, and returns its number. `shares` are its counts by language.
    pub(super) fn add(
        &mut self,
        left: TokenId,
        right: TokenId,
        count: u64,
        shares: &[u64],
        places: Range<usize>,
    ) -> Result<u32> {
        let number = u32::try_from(self.pairs.len()).map_err(|_| Error::Limit {
            reason: "there are more than 2^32 pairs of neighbouring tokens.".into(),
        })?;
        self.pairs.push(Pair { left, right, count, places });
        self.shares.extend_from_slice(shares);
        self.index.insert((left, right), number);
        Ok(number)
    }
}
