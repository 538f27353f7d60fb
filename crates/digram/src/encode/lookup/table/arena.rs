//! What does not fit into the entries of a table: their ids, and the bytes of long pretokens.

use super::super::super::budget::Share;
use crate::memory::LARGE_PAGE;
use crate::pages::Pages;

/// The maximum length: 16 MiB. With a quarter, it was full long before the lines, of words of scripts whose letters have
/// three bytes, and later passes over 32 MB of many languages took twice as long.
pub(super) const LONGEST: usize = (16 << 20) / size_of::<u32>();

/// The length of a new arena.
const SHORTEST: usize = 1 << 8;

/// The length of an arena of one large page.
const LARGE: usize = LARGE_PAGE / size_of::<u32>();

/// Numbers of 32 bits. Ids are found by the offset of the first, and bytes are behind them.
#[derive(Default)]
pub(super) struct Arena {
    numbers: Pages<u32>,
    len: usize,
}

impl Arena {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The numbers from an offset on.
    #[inline]
    pub(super) fn from(&self, offset: usize) -> &[u32] {
        &self.numbers[offset..self.len]
    }

    /// Whether it has space for `more` numbers.
    #[inline]
    pub(super) fn has_space(&self, more: usize) -> bool {
        self.numbers.len() - self.len >= more
    }

    /// The space that ids and bytes take.
    #[inline]
    pub(super) fn space_of(ids: &[u32], bytes: &[u8]) -> usize {
        ids.len() + bytes.len().div_ceil(size_of::<u32>())
    }

    /// Appends ids, and bytes with zeros up to a whole number. There is space for them.
    pub(super) fn push(&mut self, ids: &[u32], bytes: &[u8]) {
        let end = self.len + Arena::space_of(ids, bytes);
        let (first, rest) = self.numbers[self.len..end].split_at_mut(ids.len());
        first.copy_from_slice(ids);
        for (number, bytes) in rest.iter_mut().zip(bytes.chunks(size_of::<u32>())) {
            let mut four = [0; size_of::<u32>()];
            four[..bytes.len()].copy_from_slice(bytes);
            *number = u32::from_ne_bytes(four);
        }
        self.len = end;
    }

    /// Removes all numbers.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes space for `more` numbers; false if there is no memory, or it would exceed the limits of a share.
    #[cold]
    pub(super) fn grow(&mut self, more: usize, share: &mut Share) -> bool {
        let doubled = (self.numbers.len() * 2).clamp(SHORTEST, LONGEST).max(self.len + more);
        // One that needs half a large page gets one, if there is memory.
        (LARGE / 2..LARGE).contains(&doubled) && self.grow_to(LARGE, share) || self.grow_to(doubled, share)
    }

    fn grow_to(&mut self, len: usize, share: &mut Share) -> bool {
        let [bytes, replaced] = [len, self.numbers.len()].map(|numbers| numbers * size_of::<u32>());
        if !share.try_add(bytes, replaced) {
            return false;
        }
        let Ok(mut numbers) = Pages::zeroed(len) else {
            share.remove(bytes);
            return false;
        };
        numbers[..self.len].copy_from_slice(&self.numbers[..self.len]);
        self.numbers = numbers;
        share.remove(replaced);
        true
    }
}
