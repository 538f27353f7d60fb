//! Distinct pretokens of up to 15 bytes, counted in the table itself.

use crate::index::Key;
use crate::memory::prefetch;

use super::parts::in_part;

/// A pretoken with its count: half a line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Slot {
    /// Its key, as bytes: they can be lent out.
    key: [u8; 16],
    pub(super) count: u64,
    pub(super) first: u64,
}

const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    const FREE: Slot = Slot { key: [0; 16], count: 0, first: 0 };

    pub(super) fn is_free(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    fn is(&self, key: Key) -> bool {
        self.key == key.to_bytes()
    }

    pub(super) fn piece(&self) -> &[u8] {
        &self.key[..usize::from(self.key[15])]
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
    seeds: [u64; 2],
}

impl Short {
    const FEWEST: usize = 1 << 8;

    pub(super) fn new(seeds: [u64; 2]) -> Short {
        Short::with_slots(Short::FEWEST, seeds)
    }

    fn with_slots(slots: usize, seeds: [u64; 2]) -> Short {
        let shift = u64::BITS - slots.trailing_zeros();
        Short { slots: vec![Slot::FREE; slots].into(), shift, taken: 0, seeds }
    }

    pub(super) fn len(&self) -> usize {
        self.taken
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
        (key.seeded_hash(self.seeds) >> self.shift) as usize
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

    #[cold]
    pub(super) fn grow(&mut self) {
        let mut larger = Short::with_slots(self.slots.len() * 2, self.seeds);
        for slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            let key = Key::new(&slot.key, 0, usize::from(slot.key[15]));
            *larger.slot(key, larger.home(key)) = *slot;
        }
        larger.taken = self.taken;
        *self = larger;
    }

    /// Those whose hash lies in the `part`th of `parts` equal ranges, with their hashes. There are
    /// no more parts than places.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, &Slot)> {
        let hash = |slot: &Slot| Key::new(&slot.key, 0, usize::from(slot.key[15])).seeded_hash(self.seeds);
        in_part(&self.slots, part, parts, Slot::is_free, hash)
    }
}
