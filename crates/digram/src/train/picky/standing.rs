//! Where tokens stand, while they come to places and go from them again.

use super::super::corpus::{BORDER, Corpus, INSIDE};
use super::super::weights::WeightRuns;

/// Distinct pretokens as tokens, end to end, a border before and after each.
///
/// A token that was merged has several places: the first and the last name it. They do so in two
/// lists, since a place may be the first of a token now and the last of another later.
pub(super) struct Standing {
    starts: Vec<u32>,
    /// What ends at a place; of no meaning where nothing does.
    ends: Vec<u32>,
    runs: WeightRuns,
    /// How many places a token takes.
    lengths: Vec<u32>,
}

impl Standing {
    /// Symbols as they were laid out.
    pub(super) fn new(corpus: Corpus, symbols: usize) -> Standing {
        let (starts, runs) = corpus.into_parts();
        Standing { ends: starts.clone(), starts, runs, lengths: vec![1; symbols] }
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Makes room for the token of two others.
    pub(super) fn add_token(&mut self, left: u32, right: u32) {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
    }

    /// What begins at a place: a token, a border, or nothing.
    #[inline]
    pub(super) fn at(&self, at: usize) -> u32 {
        self.starts[at]
    }

    /// How often the pretoken around a place occurs.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> u64 {
        self.runs.weight(at).count
    }

    /// Where a token ends that begins at `at`.
    #[inline]
    pub(super) fn end(&self, token: u32, at: usize) -> usize {
        at + self.lengths[token as usize] as usize
    }

    /// Where a token begins that ends before `at`; of no meaning for a border.
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

    /// Puts a token where two stand that it is made of.
    #[inline]
    pub(super) fn join(&mut self, at: usize, middle: usize, id: u32) {
        self.starts[middle] = INSIDE;
        self.put(at, id);
    }

    /// Puts a token from `at` on, and says where it ends.
    #[inline]
    pub(super) fn put(&mut self, at: usize, token: u32) -> usize {
        let end = self.end(token, at);
        self.starts[at] = token;
        self.ends[end - 1] = token;
        end
    }
}
