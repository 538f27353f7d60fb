//! Which thread does which task.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread that has begun this many more of its tasks than another one does tasks of that one first.
const AHEAD: usize = 8;

/// The tasks of several threads. Of two threads, one does the even tasks, and the other one the odd tasks. So in a
/// second call with the same texts each thread encodes the same texts as before, and has their words in its table. When
/// each task was done by whichever thread was free, the second call with 12 MB of English took 32 ms of processor time
/// instead of 28.
///
/// No thread waits: one that has no tasks left, or is far ahead, does the next task of the thread that is furthest
/// behind. So a thread may do an earlier task after a later one, unless all threads [share one list](Shares::together).
pub(super) struct Shares {
    /// By share: the next of its tasks.
    next: Vec<AtomicUsize>,
    /// The number of threads.
    threads: usize,
    /// Tasks from this one on do not begin.
    end: AtomicUsize,
}

impl Shares {
    /// A share for each of up to `threads` threads.
    pub(super) fn new(threads: usize, tasks: usize) -> Shares {
        let threads = threads.clamp(1, tasks.max(1));
        Shares::of(threads, threads, tasks)
    }

    /// All tasks in order, for whichever thread is free: each thread does its tasks in rising order.
    pub(super) fn together(threads: usize, tasks: usize) -> Shares {
        Shares::of(1, threads.clamp(1, tasks.max(1)), tasks)
    }

    fn of(shares: usize, threads: usize, tasks: usize) -> Shares {
        let next = (0..shares).map(|_| AtomicUsize::new(0)).collect();
        Shares { next, threads, end: AtomicUsize::new(tasks) }
    }

    /// The number of threads, not more than there are tasks.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Begins the next task of a thread; `None` if all tasks have begun.
    pub(super) fn begin(&self, thread: usize) -> Option<usize> {
        while let Some(owner) = self.owner_for(thread % self.next.len()) {
            let task = self.task(owner, self.next[owner].fetch_add(1, Ordering::Relaxed));
            // Unless another thread was first.
            if task < self.end.load(Ordering::Relaxed) {
                return Some(task);
            }
        }
        None
    }

    /// The number of tasks that have not begun.
    pub(super) fn left(&self) -> usize {
        let end = self.end.load(Ordering::Relaxed);
        let shares = self.next.len();
        (0..shares).map(|owner| end.saturating_sub(self.task(owner, self.turn(owner))).div_ceil(shares)).sum()
    }

    /// No task from this one on is needed. Earlier ones still begin, so that which of them fail does not depend on the
    /// order in which they begin.
    pub(super) fn end_at(&self, task: usize) {
        self.end.fetch_min(task, Ordering::Relaxed);
    }

    /// The share from which a thread takes its next task, if its own share is `own`.
    fn owner_for(&self, own: usize) -> Option<usize> {
        let end = self.end.load(Ordering::Relaxed);
        let is_left = |owner: usize| self.task(owner, self.turn(owner)) < end;
        let last = (0..self.next.len()).min_by_key(|&owner| self.turn(owner))?;
        if is_left(own) && self.turn(own) <= self.turn(last) + AHEAD {
            return Some(own);
        }
        Some(last).filter(|&owner| is_left(owner))
    }

    fn turn(&self, owner: usize) -> usize {
        self.next[owner].load(Ordering::Relaxed)
    }

    fn task(&self, owner: usize, turn: usize) -> usize {
        turn.saturating_mul(self.next.len()).saturating_add(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tasks, in the order in which threads begin them one after the other as `order` says.
    fn begun(shares: &Shares, order: impl Iterator<Item = usize>) -> Vec<usize> {
        order.map_while(|thread| shares.begin(thread)).collect()
    }

    #[test]
    fn threads_that_are_as_fast_do_their_shares() {
        let shares = Shares::new(3, 50);
        assert_eq!(shares.left(), 50);
        assert!(begun(&shares, (0..50).map(|turn| turn % 3)).into_iter().eq(0..50));
        assert_eq!((shares.left(), shares.begin(0)), (0, None));
    }

    #[test]
    fn one_thread_does_all() {
        for thread in 0..3 {
            let mut tasks = begun(&Shares::new(3, 50), std::iter::repeat(thread));
            // It is never far ahead of the tasks of others.
            for (count, &task) in tasks.iter().enumerate() {
                assert!(task <= count + 3 * (AHEAD + 1), "{tasks:?}");
            }
            tasks.sort_unstable();
            assert!(tasks.into_iter().eq(0..50));
        }
    }

    #[test]
    fn tasks_without_shares_begin_in_order() {
        let shares = Shares::together(3, 50);
        let order = [2, 2, 0, 1, 1, 2, 0].into_iter().cycle();
        assert!(begun(&shares, order).into_iter().eq(0..50));
        assert_eq!((shares.threads(), shares.left(), shares.begin(2)), (3, 0, None));
    }

    #[test]
    fn tasks_before_a_failure_begin() {
        let shares = Shares::new(2, 50);
        assert_eq!(begun(&shares, [0, 0, 0].into_iter()), [0, 2, 4]);
        shares.end_at(4);
        assert_eq!(shares.left(), 2);
        assert_eq!(begun(&shares, std::iter::repeat(0)), [1, 3]);
        let none = Shares::new(2, 0);
        assert_eq!((none.threads(), none.begin(0), none.left()), (1, None, 0));
    }
}
