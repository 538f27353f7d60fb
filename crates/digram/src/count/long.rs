//! Distinct pretokens of more than 15 bytes: a table of places, the bytes end to end.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;

use crate::error::{Error, Result};
use crate::memory::prefetch;

use super::parts::in_part;

/// Where the bytes of a pretoken are, with its count: half a line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Slot {
    start: u64,
    len: u32,
    /// The upper half of its hash: nothing else needs be known to tell its place.
    tag: u32,
    pub(super) count: u64,
    pub(super) first: u64,
}

const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    const FREE: Slot = Slot { start: 0, len: 0, tag: 0, count: 0, first: 0 };

    pub(super) fn is_free(&self) -> bool {
        self.count == 0
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// Pretokens in the order of their tags but for those that had to move on, as in `Short`.
pub(super) struct Long {
    slots: Box<[Slot]>,
    /// What of a tag does not tell the place.
    shift: u32,
    taken: usize,
    bytes: Vec<u8>,
    hasher: DefaultHashBuilder,
}

impl Long {
    const FEWEST: usize = 1 << 6;
    const MOST: usize = 1 << 32;

    pub(super) fn new(hasher: DefaultHashBuilder) -> Long {
        Long::with_slots(Long::FEWEST, hasher)
    }

    fn with_slots(slots: usize, hasher: DefaultHashBuilder) -> Long {
        let shift = u32::BITS - slots.trailing_zeros();
        Long { slots: vec![Slot::FREE; slots].into(), shift, taken: 0, bytes: Vec::new(), hasher }
    }

    pub(super) fn len(&self) -> usize {
        self.taken
    }

    pub(super) fn piece(&self, slot: &Slot) -> &[u8] {
        &self.bytes[slot.range()]
    }

    /// Whether so many more have a place, with enough free ones among them that all are found soon.
    #[inline(always)]
    pub(super) fn has_room(&self, more: usize) -> bool {
        (self.taken + more) * 8 <= self.slots.len() * 5
    }

    /// The tag of a piece; the memory where it would be is fetched.
    #[inline]
    pub(super) fn prefetch(&self, piece: &[u8]) -> u32 {
        let tag = (self.hasher.hash_one(piece) >> 32) as u32;
        prefetch(&self.slots[self.home(tag)]);
        tag
    }

    /// Fetches the bytes that a piece of this tag is to be compared with.
    #[inline]
    pub(super) fn prefetch_bytes(&self, tag: u32) {
        let slot = &self.slots[self.home(tag)];
        if slot.tag == tag
            && let Some(byte) = self.bytes.get(slot.start as usize)
        {
            prefetch(byte);
        }
    }

    /// Counts a piece once more.
    #[inline]
    pub(super) fn count(&mut self, piece: &[u8], tag: u32, first: u64) -> Result<()> {
        let last = self.slots.len() - 1;
        let mut at = self.home(tag);
        loop {
            let slot = &mut self.slots[at];
            if slot.is_free() {
                return self.insert(at, piece, tag, first);
            }
            if slot.tag == tag && slot.len as usize == piece.len() && self.bytes[slot.range()] == *piece {
                slot.count += 1;
                return Ok(());
            }
            at = (at + 1) & last;
        }
    }

    fn insert(&mut self, at: usize, piece: &[u8], tag: u32, first: u64) -> Result<()> {
        let Ok(len) = u32::try_from(piece.len()) else {
            let reason = format!(
                "a pretoken of {} bytes is longer than 4 GiB. Use a pretokenizer that cuts the text.",
                piece.len()
            );
            return Err(Error::Limit { reason });
        };
        self.slots[at] = Slot { start: self.bytes.len() as u64, len, tag, count: 1, first };
        self.bytes.extend_from_slice(piece);
        self.taken += 1;
        Ok(())
    }

    #[inline(always)]
    fn home(&self, tag: u32) -> usize {
        (tag >> self.shift) as usize
    }

    #[cold]
    pub(super) fn grow(&mut self) -> Result<()> {
        if self.slots.len() == Long::MOST {
            let reason = "there are more than 2^31 distinct pretokens of more than 15 bytes.";
            return Err(Error::Limit { reason: reason.into() });
        }
        let mut larger = Long::with_slots(self.slots.len() * 2, self.hasher.clone());
        let last = larger.slots.len() - 1;
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            let mut at = larger.home(slot.tag);
            while !larger.slots[at].is_free() {
                at = (at + 1) & last;
            }
            larger.slots[at] = *slot;
        }
        self.slots = larger.slots;
        self.shift = larger.shift;
        Ok(())
    }

    /// Those whose tag lies in the `part`th of `parts` equal ranges, with a hash.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &Slot)> {
        in_part(&self.slots, part, parts, Slot::is_free, |slot| u64::from(slot.tag) << 32)
    }

    /// The bytes of all, end to end.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
