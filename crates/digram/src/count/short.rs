//! Distinct pretokens of up to 15 bytes, counted in the table itself.

use crate::cpu::prefetch;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::keys::{KeyRule, Places, TokenKey};
use crate::memory;

use super::Piece;
use super::parts::in_part;
use super::sort::sort_occupied;

/// A pretoken with its count: half a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct ShortSlot {
    /// Its key as bytes, so that a piece can borrow them.
    key: [u8; 16],
    count: u64,
    first: u64,
}

const _: () = assert!(size_of::<ShortSlot>() == 32);

impl ShortSlot {
    const FREE: ShortSlot = ShortSlot { key: [0; 16], count: 0, first: 0 };

    fn is_free(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    fn has_key(&self, key: TokenKey) -> bool {
        self.key == key.to_bytes()
    }

    pub(super) fn piece(&self) -> Piece<'_> {
        let bytes = &self.key[..usize::from(self.key[15])];
        Piece { bytes, count: self.count, first: self.first }
    }

    /// A number that sorts like the piece.
    fn order(&self) -> u128 {
        u128::from_be_bytes(self.key)
    }
}

/// Pretokens in the order of their hashes, except for those moved by collisions. So growing reads a
/// table from start to end, and the slots of a range of hashes are contiguous.
pub(super) struct ShortTable {
    slots: Box<[ShortSlot]>,
    len: usize,
    /// The maximum number of slots.
    maximum: usize,
    seeds: [u64; 2],
}

impl ShortTable {
    const MIN_SLOTS: usize = 1 << 8;

    /// An empty table that never has more than `maximum` slots.
    pub(super) fn new(maximum: usize, seeds: [u64; 2]) -> ShortTable {
        ShortTable::with_slots(vec![ShortSlot::FREE; ShortTable::MIN_SLOTS], maximum, seeds)
    }

    fn with_slots(slots: Vec<ShortSlot>, maximum: usize, seeds: [u64; 2]) -> ShortTable {
        ShortTable { slots: slots.into(), len: 0, maximum, seeds }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Whether `additional` pretokens fit without filling the table so far that look-ups become slow.
    #[inline(always)]
    pub(super) fn has_room(&self, additional: usize) -> bool {
        (self.len + additional) * 8 <= self.slots.len() * 5
    }

    /// How its keys are computed.
    #[inline(always)]
    pub(super) fn key_rule(&self) -> KeyRule {
        KeyRule { owner: 0, seeds: self.seeds, places: self.places() }
    }

    /// Prefetches a slot.
    #[inline(always)]
    pub(super) fn prefetch(&self, home: u32) {
        prefetch(&self.slots[home as usize]);
    }

    #[inline(always)]
    fn places(&self) -> Places {
        Places::of(self.slots.len())
    }

    /// The slot of a key, if it is not taken by another one.
    #[inline(always)]
    pub(super) fn home(&self, key: TokenKey) -> usize {
        self.places().place(key.hash(self.seeds))
    }

    /// Increments the count of a key if it is in its slot `home`; returns whether it is.
    #[inline(always)]
    pub(super) fn count_at_home(&mut self, key: TokenKey, home: usize) -> bool {
        let slot = &mut self.slots[home];
        let is_home = slot.has_key(key);
        if is_home {
            slot.count += 1;
        }
        is_home
    }

    /// Increments the count of a key in any slot. Not inlined, since most keys are in their home
    /// slot.
    #[inline(never)]
    pub(super) fn count(&mut self, key: TokenKey, home: usize, first: u64) {
        let slot = self.slot(key, home);
        if slot.is_free() {
            *slot = ShortSlot { key: key.to_bytes(), count: 1, first };
            self.len += 1;
        } else {
            slot.count += 1;
        }
    }

    /// The slot of a key, or the free one where it belongs.
    fn slot(&mut self, key: TokenKey, home: usize) -> &mut ShortSlot {
        let last = self.slots.len() - 1;
        let mut index = home;
        while !self.slots[index].is_free() && !self.slots[index].has_key(key) {
            index = (index + 1) & last;
        }
        &mut self.slots[index]
    }

    pub(super) fn may_grow(&self) -> bool {
        self.slots.len() <= self.maximum / 2
    }

    #[cold]
    pub(super) fn grow(&mut self) -> Result<()> {
        let slots = memory::try_filled(ShortSlot::FREE, self.slots.len() * 2)?;
        let mut larger = ShortTable::with_slots(slots, self.maximum, self.seeds);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            let key = TokenKey::new(&slot.key, 0, usize::from(slot.key[15]));
            *larger.slot(key, larger.home(key)) = *slot;
        }
        larger.len = self.len;
        *self = larger;
        Ok(())
    }

    /// The slots whose hash is in the `part`th of `parts` equal ranges, with their hashes. `parts`
    /// is at most the number of slots.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &ShortSlot)> {
        let hash = |slot: &ShortSlot| {
            let key = TokenKey::new(&slot.key, 0, usize::from(slot.key[15]));
            u64::from(key.hash(self.seeds)) << u32::BITS
        };
        in_part(&self.slots, part, parts, ShortSlot::is_free, hash)
    }

    /// All pretokens in the order of their bytes; only `clear` may be called afterwards.
    pub(super) fn sort(&mut self, interrupt: &dyn Interrupt) -> Result<impl Iterator<Item = Piece<'_>>> {
        let order = |a: &ShortSlot, b: &ShortSlot| a.order().cmp(&b.order());
        let len = sort_occupied(&mut self.slots, ShortSlot::is_free, &order, interrupt)?;
        Ok(self.slots[..len].iter().map(ShortSlot::piece))
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(ShortSlot::FREE);
        self.len = 0;
    }
}
