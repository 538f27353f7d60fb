//! What a merge changes beside it.

use std::ops::Range;

use crate::vocabulary::TokenId;

use super::weights::PretokenWeight;

/// What one merge changes on one side of its places: for each neighbouring token how much weight
/// and how many places. Indexed by id, so that a change costs no hashing.
#[derive(Default)]
pub(super) struct NeighbourChanges {
    pub(super) by_token: Vec<Change>,
    pub(super) touched: Vec<TokenId>,
    /// The weight by language of each token that was touched, in their order.
    pub(super) shares: Vec<u64>,
    /// How many languages there are; none where all text is one.
    pub(super) languages: usize,
    /// Each neighbour with the place of the new pair, in rising order of places.
    pub(super) places: Vec<(TokenId, u32)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) weight: u64,
    pub(super) places: u32,
    /// Its number among those that were touched.
    pub(super) number: u32,
    /// Where the next place of this neighbour goes in the postings.
    pub(super) next: usize,
}

/// No place in the postings: the pair is too rare to be known.
pub(super) const NOWHERE: usize = usize::MAX;

impl NeighbourChanges {
    #[inline]
    pub(super) fn add(&mut self, neighbour: TokenId, weight: PretokenWeight, place: usize) {
        let change = &mut self.by_token[neighbour as usize];
        if change.places == 0 {
            // What is only measured stands last in a corpus: beside it alone no pair arises.
            if weight.count == 0 {
                return;
            }
            change.number = self.touched.len() as u32;
            self.touched.push(neighbour);
            if self.languages > 0 {
                self.shares.resize(self.touched.len() * self.languages, 0);
            }
        }
        change.weight += weight.count;
        change.places += 1;
        if self.languages > 0 {
            self.shares[change.number as usize * self.languages + weight.language as usize] += weight.count;
        }
        self.places.push((neighbour, place as u32));
    }

    /// Where the weights by language stand of a token that was touched.
    #[inline]
    pub(super) fn shares_of(&self, neighbour: TokenId) -> Range<usize> {
        let start = self.by_token[neighbour as usize].number as usize * self.languages;
        start..start + self.languages
    }

    pub(super) fn clear(&mut self) {
        for &token in &self.touched {
            self.by_token[token as usize] = Change::default();
        }
        self.touched.clear();
        self.shares.clear();
        self.places.clear();
    }
}
