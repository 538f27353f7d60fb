//! Memory that a thread works in.

use super::kernels::{events, long};
use super::lookup::{Cache, Group};
use crate::vocabulary::TokenId;

/// Longer lists of ids are given back to the system.
const KEEP: usize = 1 << 15;

/// Memory that a thread reuses from one pretoken to the next. It never changes a result.
pub(crate) struct Scratch {
    pub(super) cache: Cache,
    pub(super) group: Box<Group>,
    /// Lists for ids on their way: a pretoken needs one, and so does a piece of it.
    spare: Vec<Vec<TokenId>>,
    pub(super) long: long::Scratch,
    pub(super) events: events::Scratch,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch {
            cache: Cache::new(),
            group: Box::default(),
            spare: Vec::new(),
            long: long::Scratch::default(),
            events: events::Scratch::default(),
        }
    }

    /// Does work that needs an empty list for ids.
    pub(super) fn with_list<R>(&mut self, work: impl FnOnce(&mut Scratch, &mut Vec<TokenId>) -> R) -> R {
        let mut ids = self.spare.pop().unwrap_or_default();
        ids.clear();
        let result = work(self, &mut ids);
        if ids.capacity() <= KEEP {
            self.spare.push(ids);
        }
        result
    }

    /// The bytes of what was merged; the rest is little.
    pub(super) fn bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Gives back to the system what is too much to keep until the next call.
    pub(crate) fn trim(&mut self) {
        self.group.trim(KEEP);
    }
}
