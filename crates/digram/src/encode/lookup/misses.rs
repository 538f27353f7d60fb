//! The pretokens of a group that the table does not contain, and their ids.

use std::ops::Range;

use super::group::GROUP;
use crate::vocabulary::TokenId;

/// The pretokens of a group that the table does not contain.
pub(in crate::encode) struct Misses {
    count: usize,
    /// Their numbers in the group.
    numbers: [u16; GROUP],
    /// For each, the number of ids of the pretokens before it that the table contains.
    ids_before: [u32; GROUP],
    /// Their keys in the table.
    keys: [u128; GROUP],
    /// Whether they were looked for among the tokens.
    are_no_tokens: [bool; GROUP],
}

impl Misses {
    pub(in crate::encode) fn new() -> Misses {
        Misses {
            count: 0,
            numbers: [0; GROUP],
            ids_before: [0; GROUP],
            keys: [0; GROUP],
            are_no_tokens: [false; GROUP],
        }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds the pretoken of a number and its key, before which there are `ids_before` ids. `is_no_token` if it was
    /// looked for among the tokens.
    #[inline(always)]
    pub(super) fn push(&mut self, number: usize, key: u128, ids_before: usize, is_no_token: bool) {
        (self.numbers[self.count], self.ids_before[self.count]) = (number as u16, ids_before as u32);
        (self.keys[self.count], self.are_no_tokens[self.count]) = (key, is_no_token);
        self.count += 1;
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number in the group of a miss.
    #[inline]
    pub(super) fn number(&self, miss: usize) -> usize {
        usize::from(self.numbers[miss])
    }

    /// The key of a miss.
    #[inline]
    pub(super) fn key(&self, miss: usize) -> u128 {
        self.keys[miss]
    }

    /// Whether a miss was looked for among the tokens.
    #[inline]
    pub(super) fn is_no_token(&self, miss: usize) -> bool {
        self.are_no_tokens[miss]
    }

    #[inline]
    pub(super) fn ids_before(&self) -> &[u32] {
        &self.ids_before[..self.count]
    }
}

/// The ids of the misses of a group.
#[derive(Default)]
pub(in crate::encode) struct MissedIds {
    ids: Vec<TokenId>,
    /// The range of each miss in `ids`.
    ranges: Vec<Range<u32>>,
}

impl MissedIds {
    /// Forgets the ids of the last group; this one has `count` misses.
    pub(super) fn reset(&mut self, count: usize) {
        self.ids.clear();
        self.ranges.clear();
        self.ranges.resize(count, 0..0);
    }

    /// Sets the ids of a miss.
    #[inline]
    pub(super) fn set(&mut self, miss: usize, ids: impl IntoIterator<Item = TokenId>) {
        let start = self.ids.len();
        self.ids.extend(ids);
        self.ranges[miss] = start as u32..self.ids.len() as u32;
    }

    /// The number of ids of all misses.
    pub(super) fn len(&self) -> usize {
        self.ranges.iter().map(|range| range.len()).sum()
    }

    /// Gives a miss the ids of another one.
    #[inline]
    pub(super) fn repeat(&mut self, miss: usize, other: usize) {
        self.ranges[miss] = self.ranges[other].clone();
    }

    /// The ids of a miss.
    #[inline]
    pub(super) fn of(&self, miss: usize) -> &[TokenId] {
        let Range { start, end } = self.ranges[miss];
        &self.ids[start as usize..end as usize]
    }

    /// Inserts the ids of all misses between the `found` ids of the other pretokens at `place`, and returns
    /// the number of all.
    ///
    /// # Safety
    ///
    /// `place` points to memory for all ids.
    pub(super) unsafe fn insert_into(&self, place: *mut TokenId, found: usize, misses: &Misses) -> usize {
        let inserted = self.len();
        let (mut end, mut left) = (found, inserted);
        for (miss, &before) in misses.ids_before().iter().enumerate().rev() {
            let (before, ids) = (before as usize, self.of(miss));
            // SAFETY: from the last miss to the first, the ids behind it move by the number of ids that are
            // still to be inserted, so that no id is overwritten before it has moved.
            unsafe {
                std::ptr::copy(place.add(before), place.add(before + left), end - before);
                left -= ids.len();
                std::ptr::copy_nonoverlapping(ids.as_ptr(), place.add(before + left), ids.len());
            }
            end = before;
        }
        found + inserted
    }

    /// Frees a list of a larger capacity than `keep`.
    pub(in crate::encode) fn trim(&mut self, keep: usize) {
        if self.ids.capacity() > keep {
            self.ids = Vec::new();
        }
    }
}
