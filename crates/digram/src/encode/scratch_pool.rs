//! Scratch memory that is kept from call to call: for all tokenizers of a process together at most a fixed
//! number of bytes.

use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::budget::Budget;
use super::scratch::Scratch;

/// The memory of all tables of the process. Those that are kept are freed if others need their memory.
pub(super) static BUDGET: Budget = Budget::new(|maximum| {
    if ALL.bytes.load(Ordering::Relaxed) > 0 {
        ALL.evict_while(|| BUDGET.used() > maximum);
    }
});

/// Limits the memory in which encoding remembers what texts became, in bytes: that of all threads of the
/// process together, and that of each thread; `None` is the default. It never changes a result.
///
/// A thread takes a few KiB in any case. Memory that is kept for later calls is freed at once if it is more;
/// calls that run now keep what they have until they end.
pub fn limit_cache(total: Option<usize>, per_thread: Option<usize>) {
    BUDGET.set(total, per_thread);
}

/// The memory in bytes that [`limit_cache`] limits, as it is now.
pub fn cache_bytes() -> usize {
    BUDGET.used()
}

/// The pools of all tokenizers of the process.
static ALL: ProcessPool = ProcessPool::new();

struct ProcessPool {
    /// The bytes of all scratch memory that was kept in a pool, and is there or in use again. Those of memory in
    /// use change when it is kept again, so that a call does not have to subtract and add them.
    bytes: AtomicUsize,
    /// A counter of returns, which orders the pools by last use.
    times: AtomicU64,
    /// All pools that have ever kept something.
    pools: Mutex<Vec<Weak<TokenizerPool>>>,
}

impl ProcessPool {
    const fn new() -> ProcessPool {
        ProcessPool { bytes: AtomicUsize::new(0), times: AtomicU64::new(0), pools: Mutex::new(Vec::new()) }
    }

    /// Frees the least recently used scratch memory while `is_more` says that there is more than may be.
    ///
    /// Never waits for a lock: after a fork, the thread that holds it may not exist.
    #[cold]
    fn evict_while(&self, is_more: impl Fn() -> bool) {
        let Ok(mut pools) = self.pools.try_lock() else { return };
        let mut living: Vec<Arc<TokenizerPool>> = Vec::new();
        pools.retain(|pool| {
            living.extend(pool.upgrade());
            pool.strong_count() > 0
        });
        living.sort_unstable_by_key(|pool| pool.used.load(Ordering::Relaxed));
        for pool in living {
            while is_more() && pool.free_one() {}
        }
    }
}

/// The idle scratch memory of one tokenizer.
struct TokenizerPool {
    all: &'static ProcessPool,
    /// Where the calling thread finds the memory of its last call, or null: a lock would take a twentieth of the time
    /// of a short call.
    first: AtomicPtr<Scratch>,
    #[expect(clippy::vec_box, reason = "a short call would spend a tenth of its time on moving it")]
    others: Mutex<Vec<Box<Scratch>>>,
    /// The time of the last return.
    used: AtomicU64,
    /// Whether the pool is registered with the process.
    is_known: AtomicBool,
}

impl TokenizerPool {
    /// Idle memory for a thread of a call: if possible, what a thread with this number had before.
    #[inline]
    fn take(&self, thread: usize) -> Option<Box<Scratch>> {
        if thread == 0
            && let Some(first) = self.take_first()
        {
            return Some(first);
        }
        let mut others = self.others.try_lock().ok()?;
        let index = others.iter().rposition(|scratch| scratch.thread == thread);
        index.map(|index| others.swap_remove(index)).or_else(|| others.pop())
    }

    fn take_first(&self) -> Option<Box<Scratch>> {
        let first = self.first.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: `keep` made it from a box, and only this thread got it from the swap.
        (!first.is_null()).then(|| unsafe { Box::from_raw(first) })
    }

    /// Frees idle memory; false if there is none.
    fn free_one(&self) -> bool {
        self.take(0).map(|scratch| self.free(scratch)).is_some()
    }

    fn free(&self, scratch: Box<Scratch>) {
        self.all.bytes.fetch_sub(scratch.counted, Ordering::Relaxed);
    }

    /// Keeps memory of a calling thread where it finds it without a lock, if there is none.
    #[inline]
    fn keep_first(&self, scratch: Box<Scratch>) -> Result<(), Box<Scratch>> {
        if scratch.thread != 0 {
            return Err(scratch);
        }
        let first = Box::into_raw(scratch);
        let (none, order) = (ptr::null_mut(), Ordering::Relaxed);
        let kept = self.first.compare_exchange(none, first, Ordering::Release, order);
        // SAFETY: it was made from a box just above, and no other thread has got it.
        kept.map(|_| ()).map_err(|_| unsafe { Box::from_raw(first) })
    }

    fn keep(self: &Arc<TokenizerPool>, mut scratch: Box<Scratch>, maximum: usize) {
        let all = self.all;
        if !self.is_known.load(Ordering::Relaxed) {
            // Memory in an unregistered pool could never be evicted.
            let Ok(mut pools) = all.pools.try_lock() else { return self.free(scratch) };
            if !self.is_known.swap(true, Ordering::Relaxed) {
                pools.retain(|pool| pool.strong_count() > 0);
                pools.push(Arc::downgrade(self));
            }
        }
        let bytes = scratch.bytes();
        if bytes != scratch.counted {
            // Before another thread can free it. The difference may be negative, and wraps then.
            all.bytes.fetch_add(bytes.wrapping_sub(scratch.counted), Ordering::Relaxed);
            scratch.counted = bytes;
        }
        if let Err(scratch) = self.keep_first(scratch) {
            let Ok(mut others) = self.others.try_lock() else { return self.free(scratch) };
            others.push(scratch);
        }
        // Two threads may store the same time: which of their pools was used last does not matter.
        let time = all.times.load(Ordering::Relaxed) + 1;
        all.times.store(time, Ordering::Relaxed);
        self.used.store(time, Ordering::Relaxed);
        if all.bytes.load(Ordering::Relaxed) > maximum {
            all.evict_while(|| all.bytes.load(Ordering::Relaxed) > maximum);
        }
    }
}

impl Drop for TokenizerPool {
    fn drop(&mut self) {
        while self.free_one() {}
    }
}

/// Which of the threads of a call one is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Its number; that of the calling thread is 0.
    pub(crate) thread: usize,
    /// The number of all.
    pub(crate) threads: usize,
}

impl Place {
    /// The calling thread without others.
    pub(crate) const ALONE: Place = Place { thread: 0, threads: 1 };
}

/// A pool of scratch memory, kept for the next call.
pub(crate) struct ScratchPool {
    pool: Arc<TokenizerPool>,
    maximum: fn() -> usize,
}

impl Default for ScratchPool {
    fn default() -> ScratchPool {
        ScratchPool::of(&ALL, || BUDGET.total())
    }
}

impl ScratchPool {
    fn of(all: &'static ProcessPool, maximum: fn() -> usize) -> ScratchPool {
        let pool = TokenizerPool {
            all,
            first: AtomicPtr::default(),
            others: Mutex::default(),
            used: AtomicU64::new(0),
            is_known: AtomicBool::new(false),
        };
        ScratchPool { pool: Arc::new(pool), maximum }
    }

    /// Takes scratch memory of an earlier call, or allocates it.
    pub(crate) fn take(&self) -> Pooled<'_> {
        self.take_for(Place::ALONE)
    }

    /// As [`take`](ScratchPool::take), for one of several threads.
    pub(crate) fn take_for(&self, place: Place) -> Pooled<'_> {
        let mut scratch = self.pool.take(place.thread).unwrap_or_else(|| Box::new(Scratch::new()));
        scratch.thread = place.thread;
        scratch.begin(BUDGET.enter(), place.threads);
        Pooled { scratch: Some(scratch), kept: self }
    }

    /// Frees all idle memory.
    pub(crate) fn clear(&self) {
        while self.pool.free_one() {}
    }
}

/// Scratch memory that returns to its pool when it is dropped.
pub(crate) struct Pooled<'a> {
    scratch: Option<Box<Scratch>>,
    kept: &'a ScratchPool,
}

impl Deref for Pooled<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        self.scratch.as_ref().expect("there until dropped")
    }
}

impl DerefMut for Pooled<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        self.scratch.as_mut().expect("there until dropped")
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        BUDGET.leave();
        // The state after a panic is not reused.
        if let Some(mut scratch) = self.scratch.take() {
            if std::thread::panicking() {
                return self.kept.pool.free(scratch);
            }
            scratch.trim();
            self.kept.pool.keep(scratch, (self.kept.maximum)());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::TryLockError;

    use super::*;

    fn kept(kept: &ScratchPool) -> usize {
        let first = kept.pool.first.load(Ordering::Relaxed);
        usize::from(!first.is_null()) + kept.pool.others.lock().unwrap().len()
    }

    #[test]
    fn all_tokenizers_together_keep_no_more_than_is_stated() {
        let all: &'static ProcessPool = Box::leak(Box::new(ProcessPool::new()));
        let new = || ScratchPool::of(all, || 10 * Scratch::new().bytes());
        let [first, second, third] = [new(), new(), new()];
        let at_once = |from: &ScratchPool, count: usize| {
            let pooled: Vec<Pooled<'_>> = (0..count).map(|_| from.take()).collect();
            drop(pooled);
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
        assert!(all.pools.lock().unwrap().iter().all(|pool| pool.strong_count() == 0));
    }

    #[test]
    fn threads_find_what_they_had() {
        let all: &'static ProcessPool = Box::leak(Box::new(ProcessPool::new()));
        let pool = ScratchPool::of(all, || usize::MAX);
        let at = |thread| pool.take_for(Place { thread, threads: 3 });
        let address = |pooled: &Pooled<'_>| ptr::from_ref::<Scratch>(pooled) as usize;
        let first = [0, 1, 2].map(at);
        let addresses = first.each_ref().map(address);
        // In the order in which threads end.
        let [zero, one, two] = first;
        [two, zero, one].into_iter().for_each(drop);
        let [two, one, zero] = [2, 1, 0].map(at);
        assert_eq!([&zero, &one, &two].map(address), addresses);
        drop([zero, one, two]);
        // One that had none takes what is there, but leaves the calling thread its own.
        let [five, six, seven] = [5, 6, 7].map(at);
        assert_eq!(address(&at(0)), addresses[0]);
        assert!(addresses[1..].contains(&address(&five)) && addresses[1..].contains(&address(&six)));
        assert!(!addresses.contains(&address(&seven)));
    }

    #[test]
    fn a_lock_that_is_held_for_ever_is_not_waited_for() {
        let all: &'static ProcessPool = Box::leak(Box::new(ProcessPool::new()));
        let one = ScratchPool::of(all, || 0);
        let held = all.pools.lock().unwrap();
        drop(one.take());
        assert!(matches!(all.pools.try_lock(), Err(TryLockError::WouldBlock)));
        assert_eq!(kept(&one), 0);
        drop(held);
        drop(one.take());
        assert_eq!((kept(&one), all.bytes.load(Ordering::Relaxed)), (0, 0));
    }
}
