//! Scratch memory of a thread.

use super::kernels::{events, long};
use super::lookup::{Asked, Table};
use crate::vocabulary::TokenId;

/// Lists with a larger capacity are freed.
const KEEP: usize = 1 << 15;

/// Buffers and a cache that a thread reuses from one pretoken to the next. They never change a result.
pub(crate) struct Scratch {
    pub(super) table: Table,
    pub(super) asked: Box<Asked>,
    /// The ids of the pretokens of a group that were not in the table.
    pub(super) late: Late,
    /// Spare lists of ids: a pretoken needs one, and so does a piece of it.
    spare: Vec<Vec<TokenId>>,
    /// The ids of a group, for sinks that are not lists.
    pub(super) group: Vec<TokenId>,
    pub(super) long: long::LongScratch,
    pub(super) events: events::EventScratch,
}

/// The ids of some pretokens of a group.
#[derive(Default)]
pub(super) struct Late {
    pub(super) ids: Vec<TokenId>,
    pub(super) counts: Vec<usize>,
}

impl Late {
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.counts.clear();
    }

    /// Adds the ids of the next pretoken.
    pub(super) fn push(&mut self, ids: &[TokenId]) {
        self.ids.extend_from_slice(ids);
        self.counts.push(ids.len());
    }

    /// Inserts the ids between the `found` ids of the other pretokens at `place`, and returns the number
    /// of all.
    ///
    /// # Safety
    ///
    /// `place` points to memory for all ids.
    pub(super) unsafe fn insert_into(&self, place: *mut TokenId, found: usize, asked: &Asked) -> usize {
        let (mut end, mut late) = (found, self.ids.len());
        for (&gap, &count) in asked.gaps().iter().zip(&self.counts).rev() {
            let gap = gap as usize;
            // SAFETY: from the last gap to the first, the ids behind a gap move by the ids that are still
            // to be inserted up to there.
            unsafe {
                std::ptr::copy(place.add(gap), place.add(gap + late), end - gap);
                late -= count;
                std::ptr::copy_nonoverlapping(self.ids[late..].as_ptr(), place.add(gap + late), count);
            }
            end = gap;
        }
        found + self.ids.len()
    }
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            table: Table::new(),
            asked: Box::new(Asked::new()),
            late: Late::default(),
            spare: Vec::new(),
            group: Vec::new(),
            long: long::LongScratch::default(),
            events: events::EventScratch::default(),
        }
    }

    /// Calls `work` with an empty list of ids.
    pub(super) fn with_list<R>(&mut self, work: impl FnOnce(&mut Scratch, &mut Vec<TokenId>) -> R) -> R {
        let mut ids = self.spare.pop().unwrap_or_default();
        ids.clear();
        let result = work(self, &mut ids);
        if ids.capacity() <= KEEP {
            self.spare.push(ids);
        }
        result
    }

    /// The size of the cache in bytes; the rest is small.
    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + size_of::<Asked>()
    }

    /// Frees memory that is too large to keep until the next call.
    pub(crate) fn trim(&mut self) {
        if self.late.ids.capacity() > KEEP {
            self.late.ids = Vec::new();
        }
        if self.group.capacity() > KEEP {
            self.group = Vec::new();
        }
    }
}
