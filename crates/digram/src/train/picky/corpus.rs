//! A corpus whose tokens may be merged and split again.

use super::super::corpus::{BORDER, Corpus, INSIDE};
use super::super::weights::WeightRuns;

/// The tokens of distinct pretokens, end to end, with a border before and after each.
///
/// A merged token has several positions; its first and its last position hold its number, in two lists, since a
/// position may be the first of a token now and the last of another later.
pub(super) struct PickyCorpus {
    starts: Vec<u32>,
    /// The token that ends at a position; meaningless if none ends there.
    ends: Vec<u32>,
    runs: WeightRuns,
    /// The number of positions of each token.
    lengths: Vec<u32>,
}

impl PickyCorpus {
    /// The initial symbols of a corpus.
    pub(super) fn new(corpus: Corpus, symbols: usize) -> PickyCorpus {
        let (starts, runs) = corpus.into_parts();
        PickyCorpus { ends: starts.clone(), starts, runs, lengths: vec![1; symbols] }
    }

    /// The number of positions.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Registers the token of two others.
    pub(super) fn add_token(&mut self, left: u32, right: u32) {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
    }

    /// The token or border that begins at a position, or [`INSIDE`].
    #[inline]
    pub(super) fn token_at(&self, position: usize) -> u32 {
        self.starts[position]
    }

    /// The count of the pretoken at a position.
    #[inline]
    pub(super) fn weight(&self, position: usize) -> u64 {
        self.runs.weight(position).count
    }

    /// The end of a token that begins at `position`.
    #[inline]
    pub(super) fn end(&self, token: u32, position: usize) -> usize {
        position + self.lengths[token as usize] as usize
    }

    /// The start of a token that ends before `position`; meaningless for a border.
    #[inline]
    pub(super) fn start(&self, token: u32, position: usize) -> usize {
        if token == BORDER { position } else { position - self.lengths[token as usize] as usize }
    }

    /// The tokens, or borders, on both sides of `start..end`.
    #[inline]
    pub(super) fn around(&self, start: usize, end: usize) -> (u32, u32) {
        (self.ends[start - 1], self.starts[end])
    }

    #[inline]
    pub(super) fn has_pair(&self, position: usize, left: u32, right: u32) -> bool {
        self.starts[position] == left && self.starts[self.end(left, position)] == right
    }

    /// Replaces two tokens by the token that they make.
    #[inline]
    pub(super) fn join(&mut self, position: usize, middle: usize, id: u32) {
        self.starts[middle] = INSIDE;
        self.put(position, id);
    }

    /// Writes a token at `position`, and returns its end.
    #[inline]
    pub(super) fn put(&mut self, position: usize, token: u32) -> usize {
        let end = self.end(token, position);
        self.starts[position] = token;
        self.ends[end - 1] = token;
        end
    }
}
