//! Groups of pretokens that are encoded together.
//!
//! Nearly all pretokens are tokens, and most others are short words that were merged before. So each step
//! is done for the whole group, and then all ids are written at once. Encoding pretokens one after the
//! other causes branch mispredictions, on which pretoken is not a token and how many ids it has.
//!
//! Tried and rejected: pipelining three groups (prefetch one, look up the one before, write the one before
//! that), so that no step waits for memory. Keeping the ends of all three cost more than the waiting (-9 %
//! on English; interleaved pretoken by pretoken, -18 %).

use std::mem::MaybeUninit;

use crate::bits::set_bits;
use crate::index::{AT_ONCE, BatchLookup, start_of};
use crate::vocabulary::TokenId;

use super::cache::{Cache, FEW_IDS, MAX_IDS};

/// Ids are copied in strides of this many, even if there are fewer.
pub(super) const STRIDE: usize = 32;

/// The ids of the pretokens of a group, and buffers for the look-up.
pub(crate) struct Group {
    pub(super) batch: BatchLookup,
    /// The number of pretokens.
    pub(super) len: usize,
    /// The id of each that is a token.
    pub(super) ids: [TokenId; AT_ONCE + STRIDE],
    /// A bit for each pretoken that is not a token (a miss).
    pub(super) missing: u64,
    /// The ids of misses with few ids.
    few: [[TokenId; MAX_IDS]; AT_ONCE],
    counts: [u32; AT_ONCE],
    /// The ids of the other misses, end to end.
    many: Vec<TokenId>,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            batch: BatchLookup::new(),
            len: 0,
            ids: [0; AT_ONCE + STRIDE],
            missing: 0,
            few: [[0; MAX_IDS]; AT_ONCE],
            counts: [0; AT_ONCE],
            many: Vec::new(),
        }
    }
}

impl Group {
    /// Frees the list of ids if its capacity is more than `maximum`.
    pub(in crate::encode) fn trim(&mut self, maximum: usize) {
        if self.many.capacity() > maximum {
            self.many = Vec::new();
        }
    }

    /// Prepares for the misses.
    pub(super) fn clear_misses(&mut self) {
        self.many.clear();
    }

    /// Prepares for the misses and prefetches their places in the cache.
    #[inline]
    pub(super) fn start_misses(&mut self, text: &[u8], start: usize, ends: &[usize], cache: &Cache) {
        self.clear_misses();
        for number in set_bits(self.missing) {
            cache.prefetch(self.batch.keys[number], text, start_of(number, start, ends), ends[number]);
        }
    }

    /// Sets the ids of a miss.
    #[inline]
    pub(super) fn set_few(&mut self, miss: usize, ids: &[TokenId; FEW_IDS], count: usize) {
        self.few[miss][..FEW_IDS].copy_from_slice(ids);
        self.counts[miss] = count as u32;
    }

    /// Sets the ids of a miss that may have many. Misses are set in rising order.
    pub(super) fn set(&mut self, miss: usize, ids: &[TokenId]) {
        match ids.len() {
            ..=MAX_IDS => self.few[miss][..ids.len()].copy_from_slice(ids),
            _ => self.many.extend_from_slice(ids),
        }
        self.counts[miss] = ids.len() as u32;
    }

    /// The number of ids.
    #[inline]
    pub(in crate::encode) fn count(&self) -> usize {
        let misses = self.missing.count_ones() as usize;
        self.len - misses + self.counts[..misses].iter().map(|&count| count as usize).sum::<usize>()
    }

    /// Calls `visit` with the ids of all pretokens, in order and in batches.
    #[inline]
    pub(in crate::encode) fn each(&self, mut visit: impl FnMut(&[TokenId])) {
        let (mut done, mut many) = (0, &self.many[..]);
        for (miss, number) in set_bits(self.missing).enumerate() {
            visit(&self.ids[done..number]);
            done = number + 1;
            let count = self.counts[miss] as usize;
            if count <= MAX_IDS {
                visit(&self.few[miss][..count]);
            } else {
                let (these, others) = many.split_at(count);
                visit(these);
                many = others;
            }
        }
        visit(&self.ids[done..self.len]);
    }

    /// Appends the ids of all pretokens to `ids`.
    #[inline]
    pub(in crate::encode) fn append_to(&self, ids: &mut Vec<TokenId>) {
        let (before, count) = (ids.len(), self.count());
        ids.reserve(count + STRIDE);
        let room = ids.spare_capacity_mut();
        let (mut at, mut done, mut many) = (0, 0, &self.many[..]);
        for (miss, number) in set_bits(self.missing).enumerate() {
            at += self.copy_found(done, number, &mut room[at..]);
            done = number + 1;
            let count = self.counts[miss] as usize;
            if count <= MAX_IDS {
                copy(&self.few[miss], &mut room[at..]);
            } else {
                let (these, others) = many.split_at(count);
                room[at..].iter_mut().zip(these).for_each(|(to, &from)| _ = to.write(from));
                many = others;
            }
            at += count;
        }
        at += self.copy_found(done, self.len, &mut room[at..]);
        assert_eq!(at, count);
        // SAFETY: `count` ids were written, one after the other.
        unsafe { ids.set_len(before + count) };
    }

    /// Copies the ids of the pretokens `from..to`, all of which are tokens, and returns their number.
    #[inline]
    fn copy_found(&self, from: usize, to: usize, room: &mut [MaybeUninit<TokenId>]) -> usize {
        let mut at = from;
        loop {
            copy::<STRIDE>(self.ids[at..].first_chunk().expect("a stride more"), &mut room[at - from..]);
            at += STRIDE;
            if at >= to {
                return to - from;
            }
        }
    }
}

#[inline]
fn copy<const COUNT: usize>(ids: &[TokenId; COUNT], room: &mut [MaybeUninit<TokenId>]) {
    for (to, from) in room[..COUNT].iter_mut().zip(ids) {
        to.write(*from);
    }
}
