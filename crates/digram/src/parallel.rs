//! Running tasks on several threads.

mod in_order;
mod shares;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use shares::Shares;

pub(crate) use in_order::{Receiver, items_in_order};

/// The default number of threads: one per available processor.
///
/// The value is cached, because the system call takes longer than encoding a page of text.
pub fn available_threads() -> usize {
    // An atomic and not a lock, which a fork could leave locked forever. 0 means not yet known.
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
            THREADS.store(threads, Ordering::Relaxed);
            threads
        }
        threads => threads,
    }
}

/// Splits `items` items into one range per task: several tasks per thread, so that all threads are busy
/// until the end, or a single task for a single thread, which can then write to one output.
pub(crate) fn task_ranges(items: usize, threads: usize) -> Vec<Range<usize>> {
    let tasks = if threads == 1 { 1 } else { threads.saturating_mul(8) };
    let size = items.div_ceil(tasks).max(1);
    (0..items).step_by(size).map(|start| start..items.min(start + size)).collect()
}

/// The interrupt of the helper threads. The calling thread checks the interrupt of the caller.
struct StopFlag<'a>(&'a AtomicBool);

impl Interrupt for StopFlag<'_> {
    fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Runs `tasks` tasks on up to `threads` threads, including the calling one, and returns their results in
/// order. Each thread has its own state, made by `state`, and does its tasks in rising order.
///
/// All threads end with this call, so a fork cannot leave a thread pool without its threads. If the system
/// refuses more threads, or memory for them, fewer threads do the work. If several tasks fail, the error of
/// the lowest task is returned; after an error no new task starts.
pub(crate) fn in_parallel<S, R: Send>(
    threads: usize,
    tasks: usize,
    interrupt: &dyn Interrupt,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &dyn Interrupt) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let work = |state: &mut S, task, interrupt: &dyn Interrupt| {
        work(state, task, interrupt).map_err(|error| (0, error))
    };
    let shares = Shares::together(threads, tasks);
    run_all(shares, tasks, interrupt, |_| Ok(state()), work).map_err(|(_, error)| error)
}

/// The result of work on several items. An error carries the index of the first item that failed; the index
/// is meaningless if the work was interrupted.
pub(crate) type ItemResult<R> = std::result::Result<R, (usize, Error)>;

/// Like [`in_parallel`], for tasks of several items whose errors carry an item index, and for states whose
/// construction can fail and depends on the number of the thread; 0 is the calling one. If the state of a helper
/// thread cannot be made, the other threads do the work; if that of the calling thread cannot be made, its error is
/// returned. Each thread does its share of the tasks, the same in each call if it is as fast as the others, and not
/// always in rising order.
pub(crate) fn items_in_parallel<S, R: Send>(
    threads: usize,
    tasks: usize,
    interrupt: &dyn Interrupt,
    state: impl Fn(usize) -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &dyn Interrupt) -> ItemResult<R> + Sync,
) -> ItemResult<Vec<R>> {
    run_all(Shares::new(threads, tasks), tasks, interrupt, state, work)
}

fn run_all<S, R: Send>(
    shares: Shares,
    tasks: usize,
    interrupt: &dyn Interrupt,
    state: impl Fn(usize) -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &dyn Interrupt) -> ItemResult<R> + Sync,
) -> ItemResult<Vec<R>> {
    let is_stop = |result: &ItemResult<R>| matches!(result, Err((_, Error::Interrupted)));
    let stop = AtomicBool::new(false);
    let results = memory::try_collect((0..tasks).map(|_| None)).map_err(|error| (0, error))?;
    let results: Mutex<Vec<Option<ItemResult<R>>>> = Mutex::new(results);
    let run = |mut state: S, thread: usize, interrupt: &dyn Interrupt| {
        while let Some(task) = shares.begin(thread) {
            let check = interrupt.check().map_err(|error| (0, error));
            let result = check.and_then(|()| work(&mut state, task, interrupt));
            if is_stop(&result) {
                stop.store(true, Ordering::Relaxed);
                shares.end_at(0);
            } else if result.is_err() {
                shares.end_at(task);
            }
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[task] = Some(result);
        }
    };
    let mut own_failure = None;
    std::thread::scope(|scope| {
        for thread in 1..=memory::affordable_threads(shares.threads() - 1) {
            let (run, state, stop) = (&run, &state, &stop);
            let help = move || state(thread).map_or((), |state| run(state, thread, &StopFlag(stop)));
            if std::thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        // Last, so that the others do not wait for it.
        match state(0) {
            Ok(state) => run(state, 0, interrupt),
            Err(error) => {
                stop.store(true, Ordering::Relaxed);
                shares.end_at(0);
                own_failure = Some((0, error));
            }
        }
    });
    if let Some(failure) = own_failure {
        return Err(failure);
    }
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut results: Vec<ItemResult<R>> = results.into_iter().flatten().collect();
    // Stopped threads report `Interrupted` too; report the cause instead.
    if let Some(cause) = results.iter().position(|result| result.is_err() && !is_stop(result)) {
        results.swap(0, cause);
    }
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        for threads in [1, 2, 7] {
            let squares = in_parallel(threads, 50, &Never, || (), |(), task, _| Ok(task * task)).unwrap();
            assert_eq!(squares, (0..50).map(|i| i * i).collect::<Vec<_>>());
            let failed = in_parallel(
                threads,
                50,
                &Never,
                || (),
                |(), task, _| {
                    if task % 10 == 7 { Err(Error::Internal { reason: task.to_string() }) } else { Ok(()) }
                },
            );
            assert_eq!(failed, Err(Error::Internal { reason: "7".into() }));
        }
    }

    #[test]
    fn threads_with_one_state_for_all_tasks_do_them_in_rising_order() {
        // Counting relies on it: where a word first occurs is where a thread first counts it.
        let work = |last: &mut Option<usize>, task: usize, _: &dyn Interrupt| {
            if task.is_multiple_of(7) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            Ok(last.replace(task).is_none_or(|last| last < task))
        };
        for threads in [1, 2, 7] {
            let are_rising = in_parallel(threads, 100, &Never, || None, work).unwrap();
            assert_eq!(are_rising, [true; 100]);
        }
    }

    #[test]
    fn after_an_error_no_task_starts() {
        let started = AtomicUsize::new(0);
        let work = |_: &mut (), task, _: &dyn Interrupt| {
            started.fetch_add(1, Ordering::Relaxed);
            if task == 7 { Err((70, Error::Internal { reason: "no".into() })) } else { Ok(()) }
        };
        let failed = items_in_parallel(1, 50, &Never, |_| Ok(()), work);
        assert_eq!(failed, Err((70, Error::Internal { reason: "no".into() })));
        assert_eq!(started.into_inner(), 8);
    }

    #[test]
    fn an_error_keeps_its_index_if_another_task_is_interrupted() {
        let failure = || Error::Internal { reason: "wrong".into() };
        // Each thread starts its task before either task ends.
        let barrier = std::sync::Barrier::new(2);
        let work = |_: &mut (), task, _: &dyn Interrupt| {
            barrier.wait();
            Err::<(), _>(if task == 0 { (3, Error::Interrupted) } else { (8, failure()) })
        };
        let failed = items_in_parallel(2, 2, &Never, |_| Ok(()), work);
        assert_eq!(failed, Err((8, failure())));
    }

    #[test]
    fn ranges_contain_each_item_once() {
        for (items, threads) in [(0, 1), (0, 3), (1, 2), (17, 1), (17, 2), (100, 3), (5, usize::MAX)] {
            let ranges = task_ranges(items, threads);
            assert!(ranges.iter().cloned().flatten().eq(0..items), "{items} on {threads}");
            assert!(threads > 1 || ranges.len() <= 1);
        }
    }
}
