//! The changes that a merge makes to adjacent pairs.

use std::ops::Range;

use crate::vocabulary::TokenId;

use super::weights::PretokenWeight;

/// The changes of one merge on one side of its positions: for each neighbouring token, the weight and the
/// number of positions. Indexed by id, to avoid hashing.
#[derive(Default)]
pub(super) struct NeighbourChanges {
    pub(super) by_token: Vec<Change>,
    pub(super) touched: Vec<TokenId>,
    /// The weight by language of each touched token, in order.
    pub(super) shares: Vec<u64>,
    /// The number of languages; 0 if the corpus has none.
    pub(super) languages: usize,
    /// Each neighbour with the position of the new pair, in ascending order of positions.
    pub(super) positions: Vec<(TokenId, u32)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) weight: u64,
    pub(super) positions: u32,
    /// The index in `touched`.
    pub(super) index: u32,
    /// The index in the postings for the next position of this neighbour.
    pub(super) next: usize,
}

/// Marks a pair that is too rare to be in the postings.
pub(super) const NOT_TRACKED: usize = usize::MAX;

impl NeighbourChanges {
    #[inline]
    pub(super) fn add(&mut self, neighbour: TokenId, weight: PretokenWeight, position: usize) {
        let change = &mut self.by_token[neighbour as usize];
        if change.positions == 0 {
            // Text that is only measured comes last in a corpus, and creates no pair.
            if weight.count == 0 {
                return;
            }
            change.index = self.touched.len() as u32;
            self.touched.push(neighbour);
            if self.languages > 0 {
                self.shares.resize(self.touched.len() * self.languages, 0);
            }
        }
        change.weight += weight.count;
        change.positions += 1;
        if self.languages > 0 {
            self.shares[change.index as usize * self.languages + weight.language as usize] += weight.count;
        }
        self.positions.push((neighbour, position as u32));
    }

    /// The range of `shares` for a touched token.
    #[inline]
    pub(super) fn shares_of(&self, neighbour: TokenId) -> Range<usize> {
        let start = self.by_token[neighbour as usize].index as usize * self.languages;
        start..start + self.languages
    }

    pub(super) fn clear(&mut self) {
        for &token in &self.touched {
            self.by_token[token as usize] = Change::default();
        }
        self.touched.clear();
        self.shares.clear();
        self.positions.clear();
    }
}
