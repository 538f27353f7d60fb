//! The pairs that a round of merges chooses from, with their counts and places.

use std::ops::Range;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// A pair of neighbouring tokens. All its occurrences arise in one step, the one that makes the
/// younger of its parts; after that its count only falls and its first occurrence only moves right.
pub(super) struct Pair {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: u64,
    /// Where it stood when it arose, in rising order, as a range of the postings. Places that it
    /// has left since are skipped when they are met.
    pub(super) places: Range<usize>,
}

/// Pairs by number.
#[derive(Default)]
pub(super) struct Pairs {
    pairs: Vec<Pair>,
    /// The count of each by language.
    shares: Vec<u64>,
    /// How many languages there are; none where all text is one.
    languages: usize,
    index: HashMap<(TokenId, TokenId), u32>,
    pub(super) postings: Vec<u32>,
}

impl Pairs {
    /// For pairs that are counted in each of so many languages too.
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

    /// The number of a pair that is among these.
    pub(super) fn number_of(&self, left: TokenId, right: TokenId) -> Option<usize> {
        self.index.get(&(left, right)).map(|&number| number as usize)
    }

    pub(super) fn get(&self, number: usize) -> &Pair {
        &self.pairs[number]
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut Pair {
        &mut self.pairs[number]
    }

    /// Takes a pair out that will stand nowhere any more: its tokens and its places.
    pub(super) fn take(&mut self, number: usize) -> (TokenId, TokenId, Range<usize>) {
        let of_languages = number * self.languages..(number + 1) * self.languages;
        self.shares[of_languages].fill(0);
        let Pair { left, right, count, places } = &mut self.pairs[number];
        *count = 0;
        self.index.remove(&(*left, *right));
        (*left, *right, std::mem::take(places))
    }

    /// Takes occurrences from a pair, if it is among these, `shares` of them from its languages.
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

    /// Adds a pair that was not there before, and gives its number. `shares` are its count by
    /// language.
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
