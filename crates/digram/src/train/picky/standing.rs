//! The places of tokens, which may be merged and split again.

use super::super::corpus::{BORDER, Corpus, INSIDE};
use super::super::weights::WeightRuns;

/// The tokens of distinct pretokens, end to end, with a border before and after each.
///
/// A merged token has several places; its first and its last place hold its number, in two lists, since a
/// place may be the first of a token now and the last of another later.
pub(super) struct Standing {
    starts: Vec<u32>,
    /// The token that ends at a place; meaningless where none ends.
    ends: Vec<u32>,
    runs: WeightRuns,
    /// The number of places of each token.
    lengths: Vec<u32>,
}

impl Standing {
    /// The initial symbols of a corpus.
    pub(super) fn new(corpus: Corpus, symbols: usize) -> Standing {
        let (starts, runs) = corpus.into_parts();
        Standing { ends: starts.clone(), starts, runs, lengths: vec![1; symbols] }
    }

    /// The number of places.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Registers the token of two others.
    pub(super) fn add_token(&mut self, left: u32, right: u32) {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
    }

    /// The token or border that begins at a place, or [`INSIDE`].
    #[inline]
    pub(super) fn at(&self, at: usize) -> u32 {
        self.starts[at]
    }

    /// The count of the pretoken at a place.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> u64 {
        self.runs.weight(at).count
    }

    /// The end of a token that begins at `at`.
    #[inline]
    pub(super) fn end(&self, token: u32, at: usize) -> usize {
        at + self.lengths[token as usize] as usize
    }

    /// The start of a token that ends before `at`; meaningless for a border.
    #[inline]
    pub(super) fn start(&self, token: u32, at: usize) -> usize {
        if token == BORDER { at } else { at - self.lengths[token as usize] as usize }
    }

    /// The tokens, or borders, on both sides of `start..end`.
    #[inline]
    pub(super) fn around(&self, start: usize, end: usize) -> (u32, u32) {
        (self.ends[start - 1], self.starts[end])
    }

    #[inline]
    pub(super) fn has_pair(&self, at: usize, left: u32, right: u32) -> bool {
        self.starts[at] == left && self.starts[self.end(left, at)] == right
    }

    /// Replaces two tokens by the token that they make.
    #[inline]
    pub(super) fn join(&mut self, at: usize, middle: usize, id: u32) {
        self.starts[middle] = INSIDE;
        self.put(at, id);
    }

    /// Writes a token at `at`, and returns its end.
    #[inline]
    pub(super) fn put(&mut self, at: usize, token: u32) -> usize {
        let end = self.end(token, at);
        self.starts[at] = token;
        self.ends[end - 1] = token;
        end
    }
}
