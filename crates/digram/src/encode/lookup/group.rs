//! Pretokens that are encoded together.
//!
//! Nearly all of them are tokens, and the others are mostly short words that were merged before. So
//! what all of them become is found out first, each step for all of the group, and then written
//! in one go: pretokens that are encoded one after the other make the processor guess again and
//! again which of them is not a token, and how many ids it has.
//!
//! Tried and lost: three groups on their way, one asked for while the one before is answered and the
//! one before that is written, so that no memory is waited for. To keep the ends of all three took
//! more than the waiting (-9 % on English; in turns, a pretoken of each at a time, -18 %).

use std::mem::MaybeUninit;

use crate::bits::bits;
use crate::index::{AT_ONCE, Asked, start_of};
use crate::vocabulary::TokenId;

use super::cache::{Cache, FEW_IDS, MOST_IDS};

/// Ids are copied so many at a time, whether or not there are as many.
pub(super) const STRIDE: usize = 32;

/// What the pretokens of a group become, and memory to find it out.
pub(crate) struct Group {
    pub(super) asked: Asked,
    /// How many pretokens there are.
    pub(super) len: usize,
    /// The id of each that is a token.
    pub(super) ids: [TokenId; AT_ONCE + STRIDE],
    /// A bit for each that is none.
    pub(super) missing: u64,
    /// What those become, if it is little.
    few: [[TokenId; MOST_IDS]; AT_ONCE],
    counts: [u32; AT_ONCE],
    /// What the others of them become.
    many: Vec<TokenId>,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            asked: Asked::new(),
            len: 0,
            ids: [0; AT_ONCE + STRIDE],
            missing: 0,
            few: [[0; MOST_IDS]; AT_ONCE],
            counts: [0; AT_ONCE],
            many: Vec::new(),
        }
    }
}

impl Group {
    /// Keeps memory for no more than so many ids.
    pub(in crate::encode) fn trim(&mut self, most: usize) {
        if self.many.capacity() > most {
            self.many = Vec::new();
        }
    }

    /// Prepares for the misses.
    pub(super) fn clear_misses(&mut self) {
        self.many.clear();
    }

    /// Prepares for the misses and has the memory fetched where the cache would have them.
    #[inline]
    pub(super) fn start_misses(&mut self, text: &[u8], start: usize, ends: &[usize], cache: &Cache) {
        self.clear_misses();
        for number in bits(self.missing) {
            cache.prefetch(self.asked.keys[number], text, start_of(number, start, ends), ends[number]);
        }
    }

    /// What the miss of that number becomes.
    #[inline]
    pub(super) fn set_few(&mut self, miss: usize, ids: &[TokenId; FEW_IDS], count: usize) {
        self.few[miss][..FEW_IDS].copy_from_slice(ids);
        self.counts[miss] = count as u32;
    }

    /// The same if it may be more. Those of lower numbers are known.
    pub(super) fn set(&mut self, miss: usize, ids: &[TokenId]) {
        match ids.len() {
            ..=MOST_IDS => self.few[miss][..ids.len()].copy_from_slice(ids),
            _ => self.many.extend_from_slice(ids),
        }
        self.counts[miss] = ids.len() as u32;
    }

    /// How many ids there are.
    #[inline]
    pub(in crate::encode) fn count(&self) -> usize {
        let misses = self.missing.count_ones() as usize;
        self.len - misses + self.counts[..misses].iter().map(|&count| count as usize).sum::<usize>()
    }

    /// Calls `visit` with the ids of all, some at a time, in their order.
    #[inline]
    pub(in crate::encode) fn each(&self, mut visit: impl FnMut(&[TokenId])) {
        let (mut done, mut many) = (0, &self.many[..]);
        for (miss, number) in bits(self.missing).enumerate() {
            visit(&self.ids[done..number]);
            done = number + 1;
            let count = self.counts[miss] as usize;
            if count <= MOST_IDS {
                visit(&self.few[miss][..count]);
            } else {
                let (these, others) = many.split_at(count);
                visit(these);
                many = others;
            }
        }
        visit(&self.ids[done..self.len]);
    }

    /// Appends the ids of all to `ids`.
    #[inline]
    pub(in crate::encode) fn append_to(&self, ids: &mut Vec<TokenId>) {
        let (before, count) = (ids.len(), self.count());
        ids.reserve(count + STRIDE);
        let room = ids.spare_capacity_mut();
        let (mut at, mut done, mut many) = (0, 0, &self.many[..]);
        for (miss, number) in bits(self.missing).enumerate() {
            at += self.copy_found(done, number, &mut room[at..]);
            done = number + 1;
            let count = self.counts[miss] as usize;
            if count <= MOST_IDS {
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
        // SAFETY: so many were written, one after the other.
        unsafe { ids.set_len(before + count) };
    }

    /// Copies the ids of the pretokens from one number to another, and returns how many they are.
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
