//! Memory that threads work in, kept from call to call.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use super::cache::Cache;
use super::events;
use super::group::Group;
use super::long;
use crate::vocabulary::TokenId;

/// The most that is kept: for as many threads as encoded at the same time, up to so many.
const MOST_KEPT: usize = 64;

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

    /// Gives back to the system what is too much to keep until the next call.
    pub(crate) fn trim(&mut self) {
        self.group.trim(KEEP);
    }
}

/// What is kept for the next call.
#[derive(Default)]
pub(crate) struct Kept {
    idle: Mutex<Vec<Scratch>>,
}

impl Kept {
    /// Lends memory of an earlier call, or else new memory.
    ///
    /// A lock that is held is not waited for: it may be held for ever, by a thread that a fork
    /// left behind.
    pub(crate) fn lend(&self) -> Lent<'_> {
        let kept = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        Lent { scratch: Some(kept.unwrap_or_else(Scratch::new)), kept: self }
    }

    /// Gives back to the system what is kept.
    pub(crate) fn clear(&self) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.clear();
        }
    }
}

/// Memory that goes back when it is dropped.
pub(crate) struct Lent<'a> {
    scratch: Option<Scratch>,
    kept: &'a Kept,
}

impl Deref for Lent<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        self.scratch.as_ref().expect("there until dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        self.scratch.as_mut().expect("there until dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // What a panic left behind is not used again.
        if let (Some(mut scratch), Ok(mut idle)) = (self.scratch.take(), self.kept.idle.try_lock())
            && idle.len() < MOST_KEPT
            && !std::thread::panicking()
        {
            scratch.trim();
            idle.push(scratch);
        }
    }
}
