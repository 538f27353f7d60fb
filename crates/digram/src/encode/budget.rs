//! The memory that tables may take: a number of bytes for each thread, and one for all threads of the process,
//! whether they work now or their tables are kept for the next call.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::parallel::available_threads;

/// The default for the process: the larger of a total and a number per processor.
const TOTAL: usize = 256 << 20;
const TOTAL_PER_PROCESSOR: usize = 16 << 20;

/// The bytes of all tables, and their limits.
pub(super) struct Budget {
    used: AtomicUsize,
    /// The number of threads that use tables now.
    threads: AtomicUsize,
    /// [`UNSET`] for the default.
    total: AtomicUsize,
    per_thread: AtomicUsize,
    /// Frees tables that are kept, until no more than this number of bytes is used or none is kept.
    make_room: fn(usize),
}

const UNSET: usize = usize::MAX;

impl Budget {
    pub(super) const fn new(make_room: fn(usize)) -> Budget {
        Budget {
            used: AtomicUsize::new(0),
            threads: AtomicUsize::new(0),
            total: AtomicUsize::new(UNSET),
            per_thread: AtomicUsize::new(UNSET),
            make_room,
        }
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// The number of bytes for the process.
    pub(super) fn total(&self) -> usize {
        match self.total.load(Ordering::Relaxed) {
            UNSET => TOTAL.max(available_threads().saturating_mul(TOTAL_PER_PROCESSOR)),
            total => total,
        }
    }

    /// Sets the numbers of bytes; `None` is the default.
    pub(super) fn set(&self, total: Option<usize>, per_thread: Option<usize>) {
        self.total.store(total.unwrap_or(UNSET), Ordering::Relaxed);
        self.per_thread.store(per_thread.unwrap_or(UNSET), Ordering::Relaxed);
        (self.make_room)(self.total());
    }

    /// Counts a thread that begins to use a table, and returns the number of bytes that were set for it or for
    /// the process.
    #[inline]
    pub(super) fn enter(&self) -> usize {
        self.threads.fetch_add(1, Ordering::Relaxed);
        self.per_thread.load(Ordering::Relaxed).min(self.total.load(Ordering::Relaxed))
    }

    /// The number of bytes that the table of each thread may take, if `threads` threads or more use tables.
    fn part(&self, threads: usize) -> usize {
        let threads = self.threads.load(Ordering::Relaxed).max(threads).max(1);
        self.per_thread.load(Ordering::Relaxed).min(self.total() / threads)
    }

    /// Counts a thread that has ended its use.
    pub(super) fn leave(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    fn try_add(&self, bytes: usize) -> bool {
        let total = self.total();
        let add = |used: usize| used.checked_add(bytes).filter(|&used| used <= total);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// The bytes of a table, counted in a budget until it is dropped.
pub(super) struct Share {
    budget: &'static Budget,
    bytes: usize,
    /// The number of threads that use tables, if no others do.
    threads: usize,
}

impl Share {
    pub(super) fn of(budget: &'static Budget) -> Share {
        Share { budget, bytes: 0, threads: 1 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sets the number of threads that use tables, if no others do.
    #[inline]
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Adds bytes if they are within the limits. Of the table's bytes, `replaced` are freed soon after.
    pub(super) fn try_add(&mut self, bytes: usize, replaced: usize) -> bool {
        if (self.bytes - replaced).saturating_add(bytes) > self.budget.part(self.threads) {
            return false;
        }
        if !self.budget.try_add(bytes) {
            (self.budget.make_room)(self.budget.total().saturating_sub(bytes));
            if !self.budget.try_add(bytes) {
                return false;
            }
        }
        self.bytes += bytes;
        true
    }

    /// Adds the bytes that every table takes.
    pub(super) fn add(&mut self, bytes: usize) {
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }

    pub(super) fn remove(&mut self, bytes: usize) {
        self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.remove(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_share_what_there_is() {
        let budget: &'static Budget = Box::leak(Box::new(Budget::new(|_| ())));
        budget.set(Some(100), None);
        assert_eq!((budget.enter(), budget.part(1), budget.part(4)), (100, 100, 25));
        assert_eq!((budget.enter(), budget.part(1), budget.part(4)), (100, 50, 25));
        budget.leave();
        budget.set(Some(100), Some(60));
        assert_eq!((budget.enter(), budget.part(1), budget.part(4)), (60, 50, 25));
        budget.leave();
        let (mut one, mut other) = (Share::of(budget), Share::of(budget));
        assert_eq!([61, 40, 21].map(|bytes| one.try_add(bytes, 0)), [false, true, false]);
        assert_eq!([61, 50].map(|bytes| other.try_add(bytes, 0)), [false, true]);
        // A replacement is counted beside what it replaces.
        assert!(!one.try_add(45, 40));
        other.remove(40);
        assert!(one.try_add(45, 40));
        one.remove(40);
        other.add(1000);
        assert_eq!((one.bytes(), other.bytes(), budget.used()), (45, 1010, 1055));
        assert!(!one.try_add(1, 0));
        drop((one, other));
        assert_eq!(budget.used(), 0);
    }
}
