//! Pairs whose counts may rise again, and that may return to former places.

use hashbrown::HashMap;

use crate::error::{Error, Result};

use super::super::corpus::BORDER;
use super::standing::Standing;

/// A pair of neighbours.
pub(super) struct FollowedPair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
    /// It does not occur before this place.
    pub(super) first: u32,
    /// Its current and former places.
    places: Vec<u32>,
    /// Whether its count rose since the last call of `risen`.
    rose: bool,
}

/// Marks a pair that may not be merged.
const FORBIDDEN: u32 = u32::MAX;

/// All pairs that occur and may be merged, by number.
#[derive(Default)]
pub(super) struct FollowedPairs {
    numbers: HashMap<(u32, u32), u32>,
    pairs: Vec<FollowedPair>,
    risen: Vec<u32>,
}

impl FollowedPairs {
    pub(super) fn get(&self, number: u32) -> &FollowedPair {
        &self.pairs[number as usize]
    }

    /// Whether any of them still occurs.
    pub(super) fn is_any_left(&self) -> bool {
        self.pairs.iter().any(|pair| pair.count > 0)
    }

    /// Adds an occurrence of a pair. `is_allowed` is called once per pair.
    pub(super) fn gain(
        &mut self,
        (left, right): (u32, u32),
        weight: u64,
        at: usize,
        is_allowed: impl FnOnce() -> bool,
    ) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let known = self.pairs.len() as u32;
        let number = *self
            .numbers
            .entry((left, right))
            .or_insert_with(|| if is_allowed() { known } else { FORBIDDEN });
        if number == FORBIDDEN {
            return Ok(());
        }
        if number == known {
            if known == FORBIDDEN - 1 {
                let reason = "there are more than 2^32 pairs of neighbouring tokens.".into();
                return Err(Error::Limit { reason });
            }
            let (first, places) = (at as u32, Vec::new());
            self.pairs.push(FollowedPair { left, right, count: 0, first, places, rose: false });
        }
        let pair = &mut self.pairs[number as usize];
        pair.count += weight;
        pair.first = pair.first.min(at as u32);
        pair.places.push(at as u32);
        if !std::mem::replace(&mut pair.rose, true) {
            self.risen.push(number);
        }
        Ok(())
    }

    /// Removes an occurrence of a pair.
    pub(super) fn lose(&mut self, (left, right): (u32, u32), weight: u64) -> Result<()> {
        if left == BORDER || right == BORDER {
            return Ok(());
        }
        let number = self.numbers.get(&(left, right)).copied().unwrap_or(FORBIDDEN);
        if number != FORBIDDEN {
            let pair = &mut self.pairs[number as usize];
            pair.count = pair.count.checked_sub(weight).ok_or_else(|| Error::Internal {
                reason: format!("the count of the pair ({left}, {right}) fell below zero."),
            })?;
        }
        Ok(())
    }

    /// Removes and returns the places of a pair that will no longer occur, in rising order.
    pub(super) fn take(&mut self, number: u32) -> Vec<u32> {
        let pair = &mut self.pairs[number as usize];
        pair.count = 0;
        rising(std::mem::take(&mut pair.places))
    }

    /// The pairs whose counts rose since the last call.
    pub(super) fn risen(&mut self) -> Vec<u32> {
        self.risen.iter().for_each(|&number| self.pairs[number as usize].rose = false);
        std::mem::take(&mut self.risen)
    }

    /// The first place of a pair.
    pub(super) fn find_first(&mut self, number: u32, standing: &Standing) -> u32 {
        let pair = &mut self.pairs[number as usize];
        let stands = |at: u32| standing.has_pair(at as usize, pair.left, pair.right);
        if !stands(pair.first) {
            pair.places.retain(|&at| stands(at));
            pair.first = pair.places.iter().copied().min().unwrap_or(u32::MAX);
        }
        pair.first
    }
}

/// The distinct places in rising order.
pub(super) fn rising(mut places: Vec<u32>) -> Vec<u32> {
    places.sort_unstable();
    places.dedup();
    places
}
