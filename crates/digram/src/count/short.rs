//! Distinct pretokens of up to 15 bytes, counted in the table itself.

use crate::cpu::prefetch;
use crate::error::Result;
use crate::index::TokenKey;
use crate::interrupt::Interrupt;
use crate::memory;

use super::Piece;
use super::parts::in_part;
use super::sort::sort_taken;

/// A pretoken with its count: half a line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct ShortSlot {
    /// Its key, as bytes: they can be lent out.
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
    fn is(&self, key: TokenKey) -> bool {
        self.key == key.to_bytes()
    }

    pub(super) fn piece(&self) -> Piece<'_> {
        let bytes = &self.key[..usize::from(self.key[15])];
        Piece { bytes, count: self.count, first: self.first }
    }

    /// A number whose order is that of the pieces.
    fn order(&self) -> u128 {
        u128::from_be_bytes(self.key)
    }
}

/// Pretokens by hash, in the order of their hashes but for those that had to move on.
///
/// So a table grows from its start to its end, and the part of it that holds a range of hashes lies
/// together.
pub(super) struct ShortTable {
    slots: Box<[ShortSlot]>,
    /// What of a hash does not tell the place.
    shift: u32,
    taken: usize,
    /// The most slots.
    maximum: usize,
    seeds: [u64; 2],
}

impl ShortTable {
    const FEWEST: usize = 1 << 8;

    /// An empty one that never has more than `maximum` slots.
    pub(super) fn new(maximum: usize, seeds: [u64; 2]) -> ShortTable {
        ShortTable::of(vec![ShortSlot::FREE; ShortTable::FEWEST], maximum, seeds)
    }

    fn of(slots: Vec<ShortSlot>, maximum: usize, seeds: [u64; 2]) -> ShortTable {
        let shift = u64::BITS - slots.len().trailing_zeros();
        ShortTable { slots: slots.into(), shift, taken: 0, maximum, seeds }
    }

    pub(super) fn len(&self) -> usize {
        self.taken
    }

    /// The memory that is taken, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Whether so many more have a place, with enough free ones among them that all are found soon.
    #[inline(always)]
    pub(super) fn has_room(&self, more: usize) -> bool {
        (self.taken + more) * 8 <= self.slots.len() * 5
    }

    /// Where a key would be, whose memory is fetched.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: TokenKey) -> usize {
        let home = self.home(key);
        prefetch(&self.slots[home]);
        home
    }

    #[inline(always)]
    fn home(&self, key: TokenKey) -> usize {
        (key.hash(self.seeds) >> self.shift) as usize
    }

    /// Counts a key once more if it is in its place `home`, and says whether it is.
    #[inline(always)]
    pub(super) fn count_known(&mut self, key: TokenKey, home: usize) -> bool {
        let slot = &mut self.slots[home];
        let known = slot.is(key);
        if known {
            slot.count += 1;
        }
        known
    }

    /// Counts a key once more, wherever it is. Not part of the loop over all: most are in their
    /// place.
    #[inline(never)]
    pub(super) fn count(&mut self, key: TokenKey, home: usize, first: u64) {
        let slot = self.slot(key, home);
        if slot.is_free() {
            *slot = ShortSlot { key: key.to_bytes(), count: 1, first };
            self.taken += 1;
        } else {
            slot.count += 1;
        }
    }

    /// The slot of a key, or the free one where it belongs.
    fn slot(&mut self, key: TokenKey, home: usize) -> &mut ShortSlot {
        let last = self.slots.len() - 1;
        let mut at = home;
        while !self.slots[at].is_free() && !self.slots[at].is(key) {
            at = (at + 1) & last;
        }
        &mut self.slots[at]
    }

    pub(super) fn may_grow(&self) -> bool {
        self.slots.len() <= self.maximum / 2
    }

    #[cold]
    pub(super) fn grow(&mut self) -> Result<()> {
        let slots = memory::try_filled(ShortSlot::FREE, self.slots.len() * 2)?;
        let mut larger = ShortTable::of(slots, self.maximum, self.seeds);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            let key = TokenKey::new(&slot.key, 0, usize::from(slot.key[15]));
            *larger.slot(key, larger.home(key)) = *slot;
        }
        larger.taken = self.taken;
        *self = larger;
        Ok(())
    }

    /// Those whose hash lies in the `part`th of `parts` equal ranges, with their hashes. There are
    /// no more parts than places.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &ShortSlot)> {
        let hash = |slot: &ShortSlot| TokenKey::new(&slot.key, 0, usize::from(slot.key[15])).hash(self.seeds);
        in_part(&self.slots, part, parts, ShortSlot::is_free, hash)
    }

    /// All in the order of their pieces; only `clear` may follow.
    pub(super) fn sort(&mut self, interrupt: &dyn Interrupt) -> Result<impl Iterator<Item = Piece<'_>>> {
        let order = |a: &ShortSlot, b: &ShortSlot| a.order().cmp(&b.order());
        let taken = sort_taken(&mut self.slots, ShortSlot::is_free, &order, interrupt)?;
        Ok(self.slots[..taken].iter().map(ShortSlot::piece))
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(ShortSlot::FREE);
        self.taken = 0;
    }
}
