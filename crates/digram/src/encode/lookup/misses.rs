//! The pretokens of a group that the table does not contain, and their ids.

use std::ops::Range;

use super::group::GROUP;
use crate::error::Result;
use crate::memory;
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

/// The number of ids that are copied at once.
const AT_ONCE: usize = 16;

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

    /// Sets the ids of a miss to the first `count` ids of an array. Copies [`AT_ONCE`] ids at a time: a call to copy a few
    /// ids would take longer.
    #[inline]
    pub(super) fn set_first<const LEN: usize>(&mut self, miss: usize, ids: &[TokenId; LEN], count: usize) {
        const { assert!(LEN.is_multiple_of(AT_ONCE)) };
        let (start, count) = (self.ids.len(), count.min(LEN));
        self.ids.reserve(LEN);
        for at in (0..count).step_by(AT_ONCE) {
            // SAFETY: `ids` has these ids, and memory for `LEN` more was reserved.
            unsafe {
                let from = ids.as_ptr().add(at).cast::<[TokenId; AT_ONCE]>();
                self.ids.as_mut_ptr().add(start + at).cast::<[TokenId; AT_ONCE]>().write_unaligned(*from);
            }
        }
        // SAFETY: these were written.
        unsafe { self.ids.set_len(start + count) };
        self.ranges[miss] = start as u32..(start + count) as u32;
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
            let (before, Range { start, end: ids_end }) = (before as usize, self.ranges[miss].clone());
            let (start, ids_end) = (start as usize, ids_end as usize);
            // SAFETY: from the last miss to the first, the ids behind it move by the number of ids that are
            // still to be inserted, so that no id is overwritten before it has moved.
            unsafe {
                copy_backward(place, before..end, place.add(left), left);
                left -= ids_end - start;
                let to = place.add(before + left).wrapping_sub(start);
                copy_backward(self.ids.as_ptr(), start..ids_end, to, left);
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

/// Appends a range of ids to a list, [`AT_ONCE`] at a time if there are as many.
#[inline]
pub(super) fn push_range(to: &mut Vec<TokenId>, from: &[TokenId], range: Range<usize>) -> Result<()> {
    let end = to.len() + range.len();
    memory::try_reserve(to, range.len() + AT_ONCE)?;
    match from[range.start..].first_chunk::<AT_ONCE>() {
        Some(ids) if range.len() <= AT_ONCE => {
            to.extend_from_slice(ids);
            to.truncate(end);
        }
        _ => to.extend_from_slice(&from[range]),
    }
    Ok(())
}

/// Copies a range of ids to the same range of another array, from the end to the start. If `free` is at least
/// [`AT_ONCE`], copies that many ids at a time, and may overwrite ids before the range in `to`.
///
/// # Safety
///
/// The range is in both arrays, and the `free` ids before it in `to` may be overwritten. If the arrays overlap, `to` is
/// at least `free` ids after `from`.
#[inline]
unsafe fn copy_backward(from: *const TokenId, range: Range<usize>, to: *mut TokenId, free: usize) {
    let Range { start, mut end } = range;
    // SAFETY: as the caller promises; what is read before the range is of the same array, and where arrays overlap, what
    // is written is behind all that is still to be read.
    unsafe {
        while end > start && end >= AT_ONCE && free >= AT_ONCE {
            end -= AT_ONCE;
            let ids = from.add(end).cast::<[TokenId; AT_ONCE]>().read_unaligned();
            to.wrapping_add(end).cast::<[TokenId; AT_ONCE]>().write_unaligned(ids);
        }
        if end > start {
            std::ptr::copy(from.add(start), to.wrapping_add(start), end - start);
        }
    }
}
