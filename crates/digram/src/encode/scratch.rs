//! Scratch memory of a thread.

use super::kernels::{events, long};
use super::lookup::{Cache, Group};
use crate::vocabulary::TokenId;

/// Lists with a larger capacity are freed.
const KEEP: usize = 1 << 15;

/// Buffers and a cache that a thread reuses from one pretoken to the next. They never change a result.
pub(crate) struct Scratch {
    pub(super) cache: Cache,
    pub(super) group: Box<Group>,
    /// Spare lists of ids: a pretoken needs one, and so does a piece of it.
    spare: Vec<Vec<TokenId>>,
    pub(super) long: long::LongScratch,
    pub(super) events: events::EventScratch,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            cache: Cache::new(),
            group: Box::default(),
            spare: Vec::new(),
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
        self.cache.bytes()
    }

    /// Frees memory that is too large to keep until the next call.
    pub(crate) fn trim(&mut self) {
        self.group.trim(KEEP);
    }
}
