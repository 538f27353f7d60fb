//! Long work asks now and then whether it should go on.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::room;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Tells long work whether to go on. It is asked every few milliseconds.
pub trait Watch {
    /// `Ok` to go on; an error, usually [`Error::Interrupted`], stops the work and is its result.
    fn check(&self) -> Result<()>;

    /// Told by work that knows how much there is to do how much of it is done.
    fn progress(&self, _done: u64, _all: u64) {}
}

/// Lets all work run to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// What the other threads watch while the calling one watches for its caller.
struct Stop<'a>(&'a AtomicBool);

impl Watch for Stop<'_> {
    fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Bytes, places or rows that are gone through between two questions to a watch: 0.1 ms or more, of
/// which a question that looks at the clock takes a thousandth.
pub(crate) const BETWEEN_CHECKS: usize = 1 << 16;

/// What it takes to begin with a text, counted in bytes of text.
const OF_TEXT: usize = 32;

/// Asks a watch each time so much work was done.
///
/// Work on many things needs one of these around all of them, as none of them may be large enough
/// to ask inside.
pub(crate) struct Paced<'w> {
    watch: &'w dyn Watch,
    every: usize,
    left: usize,
}

impl<'w> Paced<'w> {
    /// Work that is counted in what takes nanoseconds.
    pub(crate) fn new(watch: &'w dyn Watch) -> Paced<'w> {
        Paced::every(BETWEEN_CHECKS, watch)
    }

    /// Work of which so much takes some milliseconds.
    pub(crate) fn every(every: usize, watch: &'w dyn Watch) -> Paced<'w> {
        Paced { watch, every, left: every }
    }

    /// One of several texts was gone through, however short: those of nothing take time too.
    #[inline]
    pub(crate) fn after_text(&mut self, text: &[u8]) -> Result<()> {
        self.after(text.len() + OF_TEXT)
    }

    /// So much more was done.
    #[inline]
    pub(crate) fn after(&mut self, work: usize) -> Result<()> {
        if work < self.left {
            self.left -= work;
            return Ok(());
        }
        self.left = self.every;
        ask(self.watch)
    }
}

/// Apart, so that what counts the work stays in a register where it is asked for in a loop.
#[cold]
#[inline(never)]
fn ask(watch: &dyn Watch) -> Result<()> {
    watch.check()
}

/// The first of these places for which `is` holds.
pub(crate) fn first_of(
    places: Range<usize>,
    watch: &dyn Watch,
    is: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut start = places.start;
    while start < places.end {
        let end = places.end.min(start.saturating_add(BETWEEN_CHECKS));
        if let Some(found) = (start..end).find(|&at| is(at)) {
            return Ok(Some(found));
        }
        start = end;
        watch.check()?;
    }
    Ok(None)
}

/// The last of these places for which `is` holds.
pub(crate) fn last_of(
    places: Range<usize>,
    watch: &dyn Watch,
    is: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut end = places.end;
    while places.start < end {
        let start = places.start.max(end.saturating_sub(BETWEEN_CHECKS));
        if let Some(found) = (start..end).rev().find(|&at| is(at)) {
            return Ok(Some(found));
        }
        end = start;
        watch.check()?;
    }
    Ok(None)
}

/// How many threads to use where the caller leaves it open.
///
/// Asked of the system once, which takes it longer than encoding a page.
pub fn available_threads() -> usize {
    // No lock, which a fork could leave held for ever; 0 while nobody has asked.
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

/// Ranges of so many items that make a task each: some for each of several threads, so that all
/// have work until the end; one for a thread alone, which may write to one place then.
pub(crate) fn shares(items: usize, threads: usize) -> Vec<Range<usize>> {
    let tasks = if threads == 1 { 1 } else { threads.saturating_mul(8) };
    let size = items.div_ceil(tasks).max(1);
    (0..items).step_by(size).map(|start| start..items.min(start + size)).collect()
}

/// Does `tasks` tasks on up to `threads` threads, the calling one among them, and returns their
/// results in order. Each thread has a state of its own, made by `state`.
///
/// Threads end with this call: a fork cannot leave a thread pool without its threads. Where
/// the system gives no more of them, or no memory for them, fewer do the work. Of several errors the
/// one of the lowest task is returned; after an error no task is begun.
pub(crate) fn in_parallel<S, R: Send>(
    threads: usize,
    tasks: usize,
    watch: &dyn Watch,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &dyn Watch) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let work = |state: &mut S, task, watch: &dyn Watch| work(state, task, watch).map_err(|error| (0, error));
    items_in_parallel(threads, tasks, watch, || Ok(state()), work).map_err(|(_, error)| error)
}

/// The result of work on several items, of which an error names the first that failed by its index;
/// the index says nothing where the work was stopped.
pub(crate) type OfItem<R> = std::result::Result<R, (usize, Error)>;

/// The same for tasks of several items each, whose errors name one, and for states that there may be
/// no memory for: then the other threads do the work, and an error is that of the calling one.
pub(crate) fn items_in_parallel<S, R: Send>(
    threads: usize,
    tasks: usize,
    watch: &dyn Watch,
    state: impl Fn() -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &dyn Watch) -> OfItem<R> + Sync,
) -> OfItem<Vec<R>> {
    let is_stop = |result: &OfItem<R>| matches!(result, Err((_, Error::Interrupted)));
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let done = room::collected((0..tasks).map(|_| None)).map_err(|error| (0, error))?;
    let done: Mutex<Vec<Option<OfItem<R>>>> = Mutex::new(done);
    let run = |mut state: S, watch: &dyn Watch| {
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                break;
            }
            let asked = watch.check().map_err(|error| (0, error));
            let result = asked.and_then(|()| work(&mut state, task, watch));
            let failed = result.is_err();
            if is_stop(&result) {
                stop.store(true, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner())[task] = Some(result);
            if failed {
                // Tasks before this one have all been taken; those after it are not needed.
                next.fetch_max(tasks, Ordering::Relaxed);
                break;
            }
        }
    };
    let own = state().map_err(|error| (0, error))?;
    std::thread::scope(|scope| {
        for _ in 0..room::threads(threads.min(tasks).saturating_sub(1)) {
            let help = || state().map_or((), |state| run(state, &Stop(&stop)));
            if std::thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        run(own, watch);
    });
    let done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut done: Vec<OfItem<R>> = done.into_iter().flatten().collect();
    // A thread that was told to stop reports an interruption too; the cause comes first.
    if let Some(cause) = done.iter().position(|result| result.is_err() && !is_stop(result)) {
        done.swap(0, cause);
    }
    done.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        for threads in [1, 2, 7] {
            let squares = in_parallel(threads, 50, &Unwatched, || (), |(), task, _| Ok(task * task)).unwrap();
            assert_eq!(squares, (0..50).map(|i| i * i).collect::<Vec<_>>());
            let failed = in_parallel(
                threads,
                50,
                &Unwatched,
                || (),
                |(), task, _| {
                    if task % 10 == 7 { Err(Error::Internal { reason: task.to_string() }) } else { Ok(()) }
                },
            );
            assert_eq!(failed, Err(Error::Internal { reason: "7".into() }));
        }
    }

    #[test]
    fn a_watch_is_asked_each_time_so_much_was_done() {
        struct Asked(std::cell::Cell<usize>);
        impl Watch for Asked {
            fn check(&self) -> Result<()> {
                self.0.set(self.0.get() + 1);
                Ok(())
            }
        }
        let asked = |every, work: &[usize]| {
            let watch = Asked(Default::default());
            let mut paced = Paced::every(every, &watch);
            work.iter().for_each(|&work| paced.after(work).unwrap());
            watch.0.get()
        };
        assert_eq!(asked(3, &[1; 8]), 2);
        assert_eq!(asked(3, &[2, 2, 2, 2]), 2);
        assert_eq!(asked(3, &[100, usize::MAX, 0, 2]), 2);
    }

    #[test]
    fn after_an_error_no_task_is_begun() {
        let begun = AtomicUsize::new(0);
        let work = |_: &mut (), task, _: &dyn Watch| {
            begun.fetch_add(1, Ordering::Relaxed);
            if task == 7 { Err((70, Error::Internal { reason: "no".into() })) } else { Ok(()) }
        };
        let failed = items_in_parallel(1, 50, &Unwatched, || Ok(()), work);
        assert_eq!(failed, Err((70, Error::Internal { reason: "no".into() })));
        assert_eq!(begun.into_inner(), 8);
    }

    #[test]
    fn an_error_keeps_its_index_where_another_task_was_stopped() {
        let wrong = || Error::Internal { reason: "wrong".into() };
        // Each thread has begun its task before either ends.
        let both = std::sync::Barrier::new(2);
        let work = |_: &mut (), task, _: &dyn Watch| {
            both.wait();
            Err::<(), _>(if task == 0 { (3, Error::Interrupted) } else { (8, wrong()) })
        };
        let failed = items_in_parallel(2, 2, &Unwatched, || Ok(()), work);
        assert_eq!(failed, Err((8, wrong())));
    }

    #[test]
    fn shares_hold_each_item_once() {
        for (items, threads) in [(0, 1), (0, 3), (1, 2), (17, 1), (17, 2), (100, 3), (5, usize::MAX)] {
            let shares = shares(items, threads);
            assert!(shares.iter().cloned().flatten().eq(0..items), "{items} on {threads}");
            assert!(threads > 1 || shares.len() <= 1);
        }
    }
}
