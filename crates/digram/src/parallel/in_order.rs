//! Tasks on several threads whose results the calling thread receives in order, while the others work.
//!
//! If all results were joined when the last task has ended, the other threads would wait for it, and the
//! results would have left the near caches. Here the calling thread takes what is finished, and does tasks
//! itself whenever nothing is; so all threads are busy to the end, however long receiving takes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::shares::Shares;
use super::{ItemResult, StopFlag};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;

/// Receives the results of tasks in order, on the calling thread.
pub(crate) trait Receiver<R> {
    /// The number of results that are enough to receive; with fewer, the calling thread does the next task
    /// first, if there are as many left.
    fn enough(&self) -> usize {
        1
    }

    /// Receives the results of the tasks from number `first` on.
    fn receive(&mut self, first: usize, results: &[R]) -> ItemResult<()>;
}

/// While the last tasks run on other threads, the calling one checks for interrupts this often.
const WAIT: Duration = Duration::from_millis(20);

/// Runs `tasks` tasks as [`items_in_parallel`](super::items_in_parallel) does, and gives their results to
/// `receiver` in order. `work` overwrites a result, which is empty or was received before: so its memory is
/// used again.
pub(crate) fn items_in_order<S, R: Default + Send>(
    threads: usize,
    tasks: usize,
    interrupt: &dyn Interrupt,
    state: impl Fn(usize) -> Result<S> + Sync,
    work: impl Fn(&mut S, usize, &mut R, &dyn Interrupt) -> ItemResult<()> + Sync,
    receiver: &mut impl Receiver<R>,
) -> ItemResult<()> {
    let finished = memory::try_collect((0..tasks).map(|_| None)).map_err(|error| (0, error))?;
    let shared = Shared {
        tasks,
        shares: Shares::new(threads, tasks),
        stop: AtomicBool::new(false),
        queue: Mutex::new(Queue { finished, received: 0, spare: Vec::new(), helpers: 0, failure: None }),
        changed: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let (shared, state, work) = (&shared, &state, &work);
        for thread in 1..=memory::affordable_threads(shared.shares.threads() - 1) {
            // Counted before it runs, so that the calling thread waits for it.
            let helper = Helper::of(shared);
            let help = move || {
                let Helper(shared) = &helper;
                let Ok(mut state) = state(thread) else { return };
                let interrupt = StopFlag(&shared.stop);
                while shared.do_next(thread, &mut state, &interrupt, work).is_continue() {}
            };
            if std::thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        // Last, so that the others do not wait for it.
        let mut own_state = match state(0) {
            Ok(state) => state,
            Err(error) => return shared.stop(0, (0, error)),
        };
        loop {
            match shared.next_step(receiver.enough()) {
                Step::Receive(first, results) => match receiver.receive(first, &results) {
                    Ok(()) => shared.lock().spare.extend(results),
                    Err(error) => shared.stop(first, error),
                },
                Step::Task => _ = shared.do_next(0, &mut own_state, interrupt, work),
                Step::Wait => {
                    if let Err(error) = interrupt.check() {
                        shared.stop(tasks, (0, error));
                    }
                }
                Step::End => break,
            }
        }
    });
    let queue = shared.queue.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    queue.failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// What the threads share.
struct Shared<R> {
    tasks: usize,
    shares: Shares,
    stop: AtomicBool,
    queue: Mutex<Queue<R>>,
    /// A result that the calling thread may wait for was added, or a thread has ended.
    changed: Condvar,
}

struct Queue<R> {
    /// By task: results that were not received yet.
    finished: Vec<Option<R>>,
    /// The number of tasks whose results were received.
    received: usize,
    /// Results that were received.
    spare: Vec<R>,
    /// The number of threads that help.
    helpers: usize,
    /// The lowest task that failed, and its error. That it was stopped is no error if there is another one.
    failure: Option<(usize, (usize, Error))>,
}

/// What the calling thread does next.
enum Step<R> {
    /// Receive results, the first of which is that of this task.
    Receive(usize, Vec<R>),
    Task,
    /// Go on, after a wait for the other threads.
    Wait,
    End,
}

impl<R: Default> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, Queue<R>> {
        self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What the calling thread does next.
    fn next_step(&self, enough: usize) -> Step<R> {
        let mut queue = self.lock();
        let left = self.shares.left();
        // Fewer at the end, where the other threads would wait for this one.
        let enough = enough.min(left).max(1);
        let first = queue.received;
        if first == self.tasks {
            return Step::End;
        }
        if queue.failure.is_some() {
            // Earlier tasks may fail too.
            return if left > 0 { Step::Task } else { Step::End };
        }
        if queue.finished[first..].iter().take(enough).take_while(|result| result.is_some()).count() == enough
        {
            let results: Vec<R> = queue.finished[first..].iter_mut().map_while(Option::take).collect();
            queue.received += results.len();
            return Step::Receive(first, results);
        }
        if left > 0 {
            return Step::Task;
        }
        if queue.helpers == 0 {
            // The thread that did this task has panicked, as this one will when it has waited for its end.
            return Step::End;
        }
        drop(self.changed.wait_timeout(queue, WAIT));
        Step::Wait
    }

    /// Does the next task of a thread. Ends if there is none.
    fn do_next<S>(
        &self,
        thread: usize,
        state: &mut S,
        interrupt: &dyn Interrupt,
        work: &impl Fn(&mut S, usize, &mut R, &dyn Interrupt) -> ItemResult<()>,
    ) -> ControlFlow<()> {
        let Some(task) = self.shares.begin(thread) else { return ControlFlow::Break(()) };
        let mut result = self.lock().spare.pop().unwrap_or_default();
        let check = interrupt.check().map_err(|error| (0, error));
        match check.and_then(|()| work(state, task, &mut result, interrupt)) {
            Ok(()) => {
                let mut queue = self.lock();
                queue.finished[task] = Some(result);
                if task == queue.received {
                    self.changed.notify_one();
                }
            }
            Err(error) => self.fail(task, error),
        }
        ControlFlow::Continue(())
    }

    /// Records that a task failed. Later ones are not needed; of earlier ones that fail, the first counts.
    fn fail(&self, task: usize, error: (usize, Error)) {
        let is_stop = |error: &(usize, Error)| error.1 == Error::Interrupted;
        self.shares.end_at(task);
        if is_stop(&error) {
            self.stop_all();
        }
        let mut queue = self.lock();
        // Threads that were stopped report it too; the cause is what counts.
        let replaces = match &queue.failure {
            None => true,
            Some((known, other)) => (is_stop(&error), task) < (is_stop(other), *known),
        };
        if replaces {
            queue.failure = Some((task, error));
        }
        self.changed.notify_one();
    }

    /// Records that the calling thread failed, and stops the others.
    fn stop(&self, task: usize, error: (usize, Error)) {
        self.stop_all();
        self.fail(task, error);
    }

    fn stop_all(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.shares.end_at(0);
    }
}

/// A thread that helps, counted until it ends in any way.
struct Helper<'a, R: Default>(&'a Shared<R>);

impl<R: Default> Helper<'_, R> {
    fn of(shared: &Shared<R>) -> Helper<'_, R> {
        shared.lock().helpers += 1;
        Helper(shared)
    }
}

impl<R: Default> Drop for Helper<'_, R> {
    fn drop(&mut self) {
        self.0.lock().helpers -= 1;
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::interrupt::Never;

    /// Receives numbers; a task may fail.
    #[derive(Default)]
    struct Numbers {
        received: Vec<usize>,
        fails_at: Option<usize>,
        enough: usize,
    }

    impl Receiver<Vec<usize>> for Numbers {
        fn enough(&self) -> usize {
            self.enough
        }

        fn receive(&mut self, first: usize, results: &[Vec<usize>]) -> ItemResult<()> {
            assert_eq!(first * 2, self.received.len());
            for result in results {
                if self.fails_at.is_some_and(|limit| self.received.len() >= limit) {
                    return Err((77, Error::Internal { reason: "received".into() }));
                }
                self.received.extend(result);
            }
            Ok(())
        }
    }

    fn numbers(threads: usize, failing: &[usize], receiver: &mut Numbers) -> ItemResult<()> {
        let work = |_: &mut (), task, result: &mut Vec<usize>, _: &dyn Interrupt| {
            result.clear();
            if failing.contains(&task) {
                return Err((task, Error::Internal { reason: "failed".into() }));
            }
            result.extend([task, task]);
            Ok(())
        };
        items_in_order(threads, 50, &Never, |_| Ok(()), work, receiver)
    }

    #[test]
    fn results_are_received_in_order() {
        for threads in [1, 2, 7] {
            for enough in [0, 1, 5, usize::MAX] {
                let mut receiver = Numbers { enough, ..Numbers::default() };
                assert_eq!(numbers(threads, &[], &mut receiver), Ok(()));
                assert!(receiver.received.into_iter().eq((0..100).map(|number| number / 2)));
            }
        }
    }

    #[test]
    fn the_error_of_the_lowest_task_is_returned() {
        for threads in [1, 2, 7] {
            for _ in 0..20 {
                let failed = numbers(threads, &[41, 9, 10, 11, 12], &mut Numbers::default());
                assert_eq!(failed, Err((9, Error::Internal { reason: "failed".into() })));
                let mut receiver = Numbers { fails_at: Some(6), ..Numbers::default() };
                let failed = numbers(threads, &[], &mut receiver);
                assert_eq!(failed, Err((77, Error::Internal { reason: "received".into() })));
            }
        }
    }

    #[test]
    fn a_thread_whose_state_cannot_be_made_does_not_help() {
        let own = std::thread::current().id();
        let state = |_| match std::thread::current().id() == own {
            true => Ok(()),
            false => Err(Error::Memory { bytes: 1 }),
        };
        let work = |_: &mut (), task, result: &mut Vec<usize>, _: &dyn Interrupt| {
            *result = vec![task, task];
            Ok(())
        };
        let mut receiver = Numbers::default();
        assert_eq!(items_in_order(3, 50, &Never, state, work, &mut receiver), Ok(()));
        assert_eq!(receiver.received.len(), 100);
    }

    /// Stops the call at a check.
    struct StopAfter(AtomicUsize);

    impl Interrupt for StopAfter {
        fn check(&self) -> Result<()> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(()),
                _ => Err(Error::Interrupted),
            }
        }
    }

    #[test]
    fn threads_that_work_long_are_stopped() {
        let work = |_: &mut (), task, _: &mut Vec<usize>, interrupt: &dyn Interrupt| {
            // One task works until it is stopped.
            loop {
                if task == 0 {
                    return Ok(());
                }
                interrupt.check().map_err(|error| (0, error))?;
                std::thread::yield_now();
            }
        };
        struct Nothing;
        impl Receiver<Vec<usize>> for Nothing {
            fn receive(&mut self, _: usize, _: &[Vec<usize>]) -> ItemResult<()> {
                Ok(())
            }
        }
        for threads in [1, 2, 5] {
            let stopped =
                items_in_order(threads, 2, &StopAfter(AtomicUsize::new(0)), |_| Ok(()), work, &mut Nothing);
            assert_eq!(stopped, Err((0, Error::Interrupted)));
        }
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_of_a_thread_is_that_of_the_call() {
        let own = std::thread::current().id();
        let helped = AtomicBool::new(false);
        let work = |_: &mut (), _, _: &mut Vec<usize>, _: &dyn Interrupt| {
            if std::thread::current().id() != own {
                helped.store(true, Ordering::Relaxed);
                panic!("on purpose");
            }
            while !helped.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Ok(())
        };
        _ = items_in_order(2, 50, &Never, |_| Ok(()), work, &mut Numbers::default());
    }
}
