//! Distinct pretokens of more than 15 bytes: a table of slots, and the bytes of all of them in one
//! buffer.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;

use crate::cpu::prefetch;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;

use super::Piece;
use super::limits::length;
use super::parts::in_part;
use super::sort::sort_occupied;

/// The range of a pretoken's bytes, with its count: half a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct LongSlot {
    start: u64,
    len: u32,
    /// The upper half of its hash, which determines its slot.
    tag: u32,
    count: u64,
    first: u64,
}

const _: () = assert!(size_of::<LongSlot>() == 32);

impl LongSlot {
    const FREE: LongSlot = LongSlot { start: 0, len: 0, tag: 0, count: 0, first: 0 };

    fn is_free(&self) -> bool {
        self.count == 0
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// The maximum size of a table.
#[derive(Clone, Copy)]
pub(super) struct TableLimits {
    pub(super) slots: usize,
    pub(super) bytes: usize,
}

/// Pretokens in the order of their tags, except for those moved by collisions, as in `ShortTable`.
pub(super) struct LongTable {
    slots: Box<[LongSlot]>,
    /// The number of bits of a tag that are not part of the slot's index.
    shift: u32,
    len: usize,
    bytes: Vec<u8>,
    maximum: TableLimits,
    hasher: DefaultHashBuilder,
}

impl LongTable {
    const MIN_SLOTS: usize = 1 << 6;
    const MAX_SLOTS: u64 = 1 << 32;

    /// An empty table that never grows beyond `maximum`.
    pub(super) fn new(maximum: TableLimits, hasher: DefaultHashBuilder) -> LongTable {
        let (slots, shift) =
            (vec![LongSlot::FREE; LongTable::MIN_SLOTS], LongTable::shift(LongTable::MIN_SLOTS));
        let slots = slots.into();
        LongTable { slots, shift, len: 0, bytes: Vec::new(), maximum, hasher }
    }

    fn shift(slots: usize) -> u32 {
        u32::BITS - slots.trailing_zeros()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn piece(&self, slot: &LongSlot) -> Piece<'_> {
        Piece { bytes: &self.bytes[slot.range()], count: slot.count, first: slot.first }
    }

    /// The memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.slots) + self.bytes.len()
    }

    /// Whether `additional` pretokens fit without filling the table so far that look-ups become slow.
    #[inline(always)]
    pub(super) fn has_room(&self, additional: usize) -> bool {
        (self.len + additional) * 8 <= self.slots.len() * 5
    }

    /// The tag of a piece, whose slot is prefetched.
    #[inline]
    pub(super) fn prefetch(&self, piece: &[u8]) -> u32 {
        let tag = (self.hasher.hash_one(piece) >> 32) as u32;
        prefetch(&self.slots[self.home(tag)]);
        tag
    }

    /// Prefetches the bytes with which a piece of this tag will be compared.
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
        let mut index = self.home(tag);
        loop {
            let slot = &mut self.slots[index];
            if slot.is_free() {
                return self.insert(index, piece, tag, first);
            }
            if slot.tag == tag && slot.len as usize == piece.len() && self.bytes[slot.range()] == *piece {
                slot.count += 1;
                return Ok(());
            }
            index = (index + 1) & last;
        }
    }

    fn insert(&mut self, index: usize, piece: &[u8], tag: u32, first: u64) -> Result<()> {
        let len = length(piece.len())?;
        if self.maximum.bytes < usize::MAX && self.bytes.capacity() < self.maximum.bytes {
            // Reserve the maximum at once: only pages that are written take memory, while moving to
            // a larger buffer would need both at the same time.
            let additional = self.maximum.bytes - self.bytes.len();
            memory::check_available(additional)?;
            self.bytes.reserve_exact(additional);
        }
        memory::try_reserve(&mut self.bytes, piece.len())?;
        self.slots[index] = LongSlot { start: self.bytes.len() as u64, len, tag, count: 1, first };
        self.bytes.extend_from_slice(piece);
        self.len += 1;
        Ok(())
    }

    #[inline(always)]
    fn home(&self, tag: u32) -> usize {
        (tag >> self.shift) as usize
    }

    pub(super) fn may_grow(&self) -> bool {
        self.slots.len() <= self.maximum.slots / 2
    }

    /// Whether `additional` bytes fit.
    pub(super) fn has_bytes(&self, additional: usize) -> bool {
        additional <= self.maximum.bytes - self.bytes.len()
    }

    #[cold]
    pub(super) fn grow(&mut self) -> Result<()> {
        if self.slots.len() as u64 == LongTable::MAX_SLOTS {
            let reason = "there are more than 2^31 distinct pretokens of more than 15 bytes.";
            return Err(Error::Limit { reason: reason.into() });
        }
        let slots = memory::try_filled(LongSlot::FREE, self.slots.len() * 2)?;
        let smaller = std::mem::replace(&mut self.slots, slots.into());
        self.shift = LongTable::shift(self.slots.len());
        let last = self.slots.len() - 1;
        for slot in smaller.iter().filter(|slot| !slot.is_free()) {
            let mut index = self.home(slot.tag);
            while !self.slots[index].is_free() {
                index = (index + 1) & last;
            }
            self.slots[index] = *slot;
        }
        Ok(())
    }

    /// The slots whose tag is in the `part`th of `parts` equal ranges, with a hash.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &LongSlot)> {
        in_part(&self.slots, part, parts, LongSlot::is_free, |slot| u64::from(slot.tag) << 32)
    }

    /// The bytes of all pretokens, concatenated.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// All pretokens in the order of their bytes; only `clear` may be called afterwards.
    pub(super) fn sort(&mut self, interrupt: &dyn Interrupt) -> Result<impl Iterator<Item = Piece<'_>>> {
        let bytes = &self.bytes;
        let order = |a: &LongSlot, b: &LongSlot| bytes[a.range()].cmp(&bytes[b.range()]);
        let len = sort_occupied(&mut self.slots, LongSlot::is_free, &order, interrupt)?;
        Ok(self.slots[..len].iter().map(|slot| self.piece(slot)))
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(LongSlot::FREE);
        self.bytes.clear();
        self.len = 0;
    }
}
