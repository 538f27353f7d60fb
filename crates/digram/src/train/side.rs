//! What a merge changes beside it.

use crate::vocabulary::TokenId;

/// What one merge changes on one side of its places: for each neighbouring token how much weight
/// and how many places. Indexed by id, so that a change costs no hashing.
#[derive(Default)]
pub(super) struct Side {
    pub(super) by_token: Vec<Change>,
    pub(super) touched: Vec<TokenId>,
    /// Each neighbour with the place of the new pair, in rising order of places.
    pub(super) places: Vec<(TokenId, u32)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) weight: u64,
    pub(super) places: u32,
    /// Where the next place of this neighbour goes in the postings.
    pub(super) next: usize,
}

/// No place in the postings: the pair is too rare to be known.
pub(super) const NOWHERE: usize = usize::MAX;

impl Side {
    #[inline]
    pub(super) fn add(&mut self, neighbour: TokenId, weight: u64, place: usize) {
        let change = &mut self.by_token[neighbour as usize];
        if change.places == 0 {
            self.touched.push(neighbour);
        }
        change.weight += weight;
        change.places += 1;
        self.places.push((neighbour, place as u32));
    }

    pub(super) fn clear(&mut self) {
        for &token in &self.touched {
            self.by_token[token as usize] = Change::default();
        }
        self.touched.clear();
        self.places.clear();
    }
}
