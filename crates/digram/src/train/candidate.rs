//! The order in which pairs are merged.

use std::cmp::Ordering;

/// A pair in the queue, with the count and key at the time of insertion: upper bounds.
pub(super) struct Candidate<K> {
    pub(super) count: u64,
    pub(super) key: K,
    pub(super) pair: u32,
}

impl<K: Ord> Ord for Candidate<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.count.cmp(&other.count).then_with(|| self.key.cmp(&other.key))
    }
}

impl<K: Ord> PartialOrd for Candidate<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> PartialEq for Candidate<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord> Eq for Candidate<K> {}
