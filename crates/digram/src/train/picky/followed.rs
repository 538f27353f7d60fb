//! Pairs whose counts may rise again, and that may return to former positions.

use hashbrown::HashMap;

use crate::error::{Error, Result};

use super::super::corpus::BORDER;
use super::corpus::PickyCorpus;

/// A pair of neighbours.
pub(super) struct FollowedPair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    /// It does not occur before this position.
    pub(super) first: u32,
    /// Its current and former positions.
    positions: Vec<u32>,
    /// Whether its count rose since the last call of `risen`.
    rose: bool,
}

/// Marks a pair that may not be merged.
const FORBIDDEN: u32 = u32::MAX;

/// All pairs that occur and may be merged, by index.
#[derive(Default)]
pub(super) struct FollowedPairs {
    indices: HashMap<(u32, u32), u32>,
    pairs: Vec<FollowedPair>,
    risen: Vec<u32>,
}

impl FollowedPairs {
    pub(super) fn get(&self, index: u32) -> &FollowedPair {
        &self.pairs[index as usize]
    }

    /// Whether any pair still occurs.
    pub(super) fn has_occurrences(&self) -> bool {
        self.pairs.iter().any(|pair| pair.count > 0)
    }

    /// Adds an occurrence of a pair. `is_allowed` is called once per pair.
    pub(super) fn add_occurrence(
        &mut self,
        (left, right): (u32, u32),
        weight: u64,
        position: usize,
        is_allowed: impl FnOnce() -> bool,
    ) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let new_index = self.pairs.len() as u32;
        let index = *self
            .indices
            .entry((left, right))
            .or_insert_with(|| if is_allowed() { new_index } else { FORBIDDEN });
        if index == FORBIDDEN {
            return Ok(());
        }
        if index == new_index {
            if new_index == FORBIDDEN - 1 {
                let reason = "there are more than 2^32 pairs of neighbouring tokens.".into();
                return Err(Error::Limit { reason });
            }
            let (first, positions) = (position as u32, Vec::new());
            self.pairs.push(FollowedPair { left, right, count: 0, first, positions, rose: false });
        }
        let pair = &mut self.pairs[index as usize];
        pair.count += weight;
        pair.first = pair.first.min(position as u32);
        pair.positions.push(position as u32);
        if !std::mem::replace(&mut pair.rose, true) {
            self.risen.push(index);
        }
        Ok(())
    }

    /// Removes an occurrence of a pair.
    pub(super) fn remove_occurrence(&mut self, (left, right): (u32, u32), weight: u64) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let index = self.indices.get(&(left, right)).copied().unwrap_or(FORBIDDEN);
        if index != FORBIDDEN {
            let pair = &mut self.pairs[index as usize];
            pair.count = pair.count.checked_sub(weight).ok_or_else(|| Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            })?;
        }
        Ok(())
    }

    /// Removes and returns the positions of a pair that will no longer occur, in ascending order.
    pub(super) fn take_positions(&mut self, index: u32) -> Vec<u32> {
        let pair = &mut self.pairs[index as usize];
        pair.count = 0;
        sorted_distinct(std::mem::take(&mut pair.positions))
    }

    /// The pairs whose counts rose since the last call.
    pub(super) fn risen(&mut self) -> Vec<u32> {
        self.risen.iter().for_each(|&index| self.pairs[index as usize].rose = false);
        std::mem::take(&mut self.risen)
    }

    /// The first position of a pair.
    pub(super) fn find_first(&mut self, index: u32, corpus: &PickyCorpus) -> u32 {
        let pair = &mut self.pairs[index as usize];
        let occurs_at = |position: u32| corpus.has_pair(position as usize, pair.left, pair.right);
        if !occurs_at(pair.first) {
            pair.positions.retain(|&position| occurs_at(position));
            pair.first = pair.positions.iter().copied().min().unwrap_or(u32::MAX);
        }
        pair.first
    }
}

/// The distinct positions in ascending order.
pub(super) fn sorted_distinct(mut positions: Vec<u32>) -> Vec<u32> {
    positions.sort_unstable();
    positions.dedup();
    positions
}
