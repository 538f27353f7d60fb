//! Distinct pretokens of up to 15 bytes, counted in the table itself.

use crate::error::Result;
use crate::index::Key;
use crate::memory::prefetch;
use crate::room;
use crate::watch::Watch;

use super::Piece;
use super::parts::in_part;
use super::sort::sort_taken;

/// A pretoken with its count: half a line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Slot {
    /// Its key, as bytes: they can be lent out.
    key: [u8; 16],
    count: u64,
    first: u64,
}

const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    const FREE: Slot = Slot { key: [0; 16], count: 0, first: 0 };

    fn is_free(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    fn is(&self, key: Key) -> bool {
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
pub(super) struct Short {
    slots: Box<[Slot]>,
    /// What of a hash does not tell the place.
    shift: u32,
    taken: usize,
    /// The most slots.
    most: usize,
    seeds: [u64; 2],
}

impl Short {
    const FEWEST: usize = 1 << 8;

    /// An empty one that never has more than `most` slots.
    pub(super) fn new(most: usize, seeds: [u64; 2]) -> Short {
        Short::of(vec![Slot::FREE; Short::FEWEST], most, seeds)
    }

    fn of(slots: Vec<Slot>, most: usize, seeds: [u64; 2]) -> Short {
        let shift = u64::BITS - slots.len().trailing_zeros();
        Short { slots: slots.into(), shift, taken: 0, most, seeds }
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
    pub(super) fn prefetch(&self, key: Key) -> usize {
        let home = self.home(key);
        prefetch(&self.slots[home]);
        home
    }

    #[inline(always)]
    fn home(&self, key: Key) -> usize {
        (key.hash(self.seeds) >> self.shift) as usize
    }

    /// Counts a key once more if it is in its place `home`, and says whether it is.
    #[inline(always)]
    pub(super) fn count_known(&mut self, key: Key, home: usize) -> bool {
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
    pub(super) fn count(&mut self, key: Key, home: usize, first: u64) {
        let slot = self.slot(key, home);
        if slot.is_free() {
            *slot = Slot { key: key.to_bytes(), count: 1, first };
            self.taken += 1;
        } else {
            slot.count += 1;
        }
    }

    /// The slot of a key, or the free one where it belongs.
    fn slot(&mut self, key: Key, home: usize) -> &mut Slot {
        let last = self.slots.len() - 1;
        let mut at = home;
        while !self.slots[at].is_free() && !self.slots[at].is(key) {
            at = (at + 1) & last;
        }
        &mut self.slots[at]
    }

    pub(super) fn may_grow(&self) -> bool {
        self.slots.len() <= self.most / 2
    }

    #[cold]
    pub(super) fn grow(&mut self) -> Result<()> {
        let slots = room::filled(Slot::FREE, self.slots.len() * 2)?;
        let mut larger = Short::of(slots, self.most, self.seeds);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            let key = Key::new(&slot.key, 0, usize::from(slot.key[15]));
            *larger.slot(key, larger.home(key)) = *slot;
        }
        larger.taken = self.taken;
        *self = larger;
        Ok(())
    }

    /// Those whose hash lies in the `part`th of `parts` equal ranges, with their hashes. There are
    /// no more parts than places.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &Slot)> {
        let hash = |slot: &Slot| Key::new(&slot.key, 0, usize::from(slot.key[15])).hash(self.seeds);
        in_part(&self.slots, part, parts, Slot::is_free, hash)
    }

    /// All in the order of their pieces; only `clear` may follow.
    pub(super) fn sort(&mut self, watch: &dyn Watch) -> Result<impl Iterator<Item = Piece<'_>>> {
        let order = |a: &Slot, b: &Slot| a.order().cmp(&b.order());
        let taken = sort_taken(&mut self.slots, Slot::is_free, &order, watch)?;
        Ok(self.slots[..taken].iter().map(Slot::piece))
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(Slot::FREE);
        self.taken = 0;
    }
}
