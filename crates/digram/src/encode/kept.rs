//! Memory that threads worked in, kept from call to call: of all tokenizers together no more than a
//! stated number of bytes.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::watch::available_threads;

use super::scratch::Scratch;

/// The maximum of bytes that all tokenizers of a process keep together: the larger of a total and a
/// number for each processor.
const MOST: usize = 256 << 20;
const MOST_OF_PROCESSOR: usize = 16 << 20;

/// What the tokenizers of a process keep.
static ALL: All = All::new();

struct All {
    /// The bytes that are kept.
    bytes: AtomicUsize,
    /// How often something was kept, which tells what was used last.
    times: AtomicU64,
    /// What keeps something, or did.
    shelves: Mutex<Vec<Weak<Shelf>>>,
}

impl All {
    const fn new() -> All {
        All { bytes: AtomicUsize::new(0), times: AtomicU64::new(0), shelves: Mutex::new(Vec::new()) }
    }

    /// Frees what was least recently used, until at most `most` bytes are kept.
    ///
    /// A lock that is held is not waited for: it may be held for ever, by a thread that a fork left
    /// behind.
    #[cold]
    fn make_room(&self, most: usize) {
        let Ok(mut shelves) = self.shelves.try_lock() else { return };
        let mut living: Vec<Arc<Shelf>> = Vec::new();
        shelves.retain(|shelf| {
            living.extend(shelf.upgrade());
            shelf.strong_count() > 0
        });
        living.sort_unstable_by_key(|shelf| shelf.used.load(Ordering::Relaxed));
        for shelf in living {
            while self.bytes.load(Ordering::Relaxed) > most && shelf.take().is_some() {}
        }
    }
}

/// What a tokenizer keeps.
struct Shelf {
    all: &'static All,
    idle: Mutex<Vec<Scratch>>,
    /// When something was kept last.
    used: AtomicU64,
    /// Whether it is among those of the process.
    is_known: AtomicBool,
}

impl Shelf {
    fn take(&self) -> Option<Scratch> {
        let scratch = self.idle.try_lock().ok()?.pop()?;
        self.all.bytes.fetch_sub(scratch.bytes(), Ordering::Relaxed);
        Some(scratch)
    }

    fn keep(self: &Arc<Shelf>, scratch: Scratch, most: usize) {
        let all = self.all;
        if !self.is_known.load(Ordering::Relaxed) {
            // What nobody knows would never be given back.
            let Ok(mut shelves) = all.shelves.try_lock() else { return };
            if !self.is_known.swap(true, Ordering::Relaxed) {
                shelves.retain(|shelf| shelf.strong_count() > 0);
                shelves.push(Arc::downgrade(self));
            }
        }
        let bytes = scratch.bytes();
        {
            let Ok(mut idle) = self.idle.try_lock() else { return };
            // Before another thread may take it, and its bytes with it.
            all.bytes.fetch_add(bytes, Ordering::Relaxed);
            idle.push(scratch);
        }
        self.used.store(all.times.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        if all.bytes.load(Ordering::Relaxed) > most {
            all.make_room(most);
        }
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        let bytes: usize = idle.iter().map(Scratch::bytes).sum();
        self.all.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What is kept for the next call.
pub(crate) struct Kept {
    shelf: Arc<Shelf>,
    most: fn() -> usize,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::of(&ALL, || MOST.max(available_threads().saturating_mul(MOST_OF_PROCESSOR)))
    }
}

impl Kept {
    fn of(all: &'static All, most: fn() -> usize) -> Kept {
        let shelf =
            Shelf { all, idle: Mutex::default(), used: AtomicU64::new(0), is_known: AtomicBool::new(false) };
        Kept { shelf: Arc::new(shelf), most }
    }

    /// Lends memory of an earlier call, or else new memory.
    pub(crate) fn lend(&self) -> Lent<'_> {
        Lent { scratch: Some(self.shelf.take().unwrap_or_else(Scratch::new)), kept: self }
    }

    /// Gives back to the system what is kept.
    pub(crate) fn clear(&self) {
        while self.shelf.take().is_some() {}
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
        if let Some(mut scratch) = self.scratch.take()
            && !std::thread::panicking()
        {
            scratch.trim();
            self.kept.shelf.keep(scratch, (self.kept.most)());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::TryLockError;

    use super::*;

    fn kept(kept: &Kept) -> usize {
        kept.shelf.idle.lock().unwrap().len()
    }

    #[test]
    fn all_tokenizers_together_keep_no_more_than_is_stated() {
        let all: &'static All = Box::leak(Box::new(All::new()));
        let new = || Kept::of(all, || 10 * Scratch::new().bytes());
        let [first, second, third] = [new(), new(), new()];
        let at_once = |from: &Kept, count: usize| {
            let lent: Vec<Lent<'_>> = (0..count).map(|_| from.lend()).collect();
            drop(lent);
        };
        let one = Scratch::new().bytes();
        at_once(&first, 4);
        at_once(&second, 4);
        assert_eq!([&first, &second, &third].map(kept), [4, 4, 0]);
        // What is used again is not used for longest any more.
        at_once(&first, 1);
        at_once(&third, 5);
        assert_eq!([&first, &second, &third].map(kept), [4, 1, 5]);
        assert_eq!(all.bytes.load(Ordering::Relaxed), 10 * one);
        at_once(&third, 30);
        assert_eq!([&first, &second, &third].map(kept), [0, 0, 10]);
        drop(second);
        third.clear();
        drop(third);
        at_once(&first, 2);
        assert_eq!((kept(&first), all.bytes.load(Ordering::Relaxed)), (2, 2 * one));
        drop(first);
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
        assert!(all.shelves.lock().unwrap().iter().all(|shelf| shelf.strong_count() == 0));
    }

    #[test]
    fn a_lock_that_is_held_for_ever_is_not_waited_for() {
        let all: &'static All = Box::leak(Box::new(All::new()));
        let one = Kept::of(all, || 0);
        let held = all.shelves.lock().unwrap();
        drop(one.lend());
        assert!(matches!(all.shelves.try_lock(), Err(TryLockError::WouldBlock)));
        assert_eq!(kept(&one), 0);
        drop(held);
        drop(one.lend());
        assert_eq!((kept(&one), all.bytes.load(Ordering::Relaxed)), (0, 0));
    }
}
