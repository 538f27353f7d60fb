//! Handling of Python's signals inside long calls, and stopping calls from another thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use digram::Error;
use digram::interrupt::Interrupt;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::Text;
use crate::errors;
use crate::reserve;

/// Ctrl-C must be handled within 200 ms. A check takes the GIL, so it is not done at every interrupt check.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(40);

/// The interval between progress reports.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_millis(100);

thread_local! {
    /// The stop flag of this thread's calls.
    static STOPPER: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Stops the calls of one thread from another thread: those of a server, when a client disconnects.
///
/// In a `with` block of it, long calls of this thread end with `KeyboardInterrupt` soon after `stop`.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Stopper {
    is_stopped: Arc<AtomicBool>,
}

#[pymethods]
impl Stopper {
    #[new]
    fn new() -> Stopper {
        Stopper { is_stopped: Arc::default() }
    }

    /// Stops the running call in the block, and all later ones.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    #[getter]
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn __enter__(&self) {
        STOPPER.with(|stopper| stopper.replace(Some(self.is_stopped.clone())));
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) {
        STOPPER.with(|stopper| stopper.replace(None));
    }
}

/// Runs Python's signal handlers during long calls, and keeps the exceptions they raise.
pub(crate) struct Signals {
    state: Mutex<SignalState>,
    on_progress: Option<Py<PyAny>>,
    is_stopped: Option<Arc<AtomicBool>>,
}

struct SignalState {
    /// The times of the last check and of the last report, or that of the first look at the clock, which takes
    /// longer than encoding a word.
    last_check: Option<Instant>,
    last_report: Option<Instant>,
    exception: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Signals {
        Signals::reporting_to(None)
    }

    /// Also calls `on_progress` regularly with the work done and the total.
    pub(crate) fn reporting_to(on_progress: Option<Py<PyAny>>) -> Signals {
        reserve::refill();
        let is_stopped = STOPPER.with(|stopper| stopper.borrow().clone());
        Signals {
            state: Mutex::new(SignalState { last_check: None, last_report: None, exception: None }),
            on_progress,
            is_stopped,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps a Python exception, and returns the core error that stops the work.
    pub(crate) fn keep(&self, exception: PyErr) -> Error {
        self.state().exception = Some(exception);
        Error::Interrupted
    }

    /// The exception for an error of the core; the kept Python exception, if that was the cause.
    pub(crate) fn error(&self, py: Python<'_>, error: Error, text: Option<&Text<'_>>) -> PyErr {
        match self.state().exception.take() {
            Some(exception) if error == Error::Interrupted => exception,
            None if error == Error::Interrupted => PyKeyboardInterrupt::new_err("stopped"),
            _ => errors::from_core(py, error, text),
        }
    }
}

impl Interrupt for Signals {
    fn check(&self) -> digram::Result<()> {
        if self.is_stopped.as_ref().is_some_and(|is_stopped| is_stopped.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted);
        }
        {
            let mut state = self.state();
            if state.exception.is_some() {
                return Err(Error::Interrupted);
            }
            if !is_over(&mut state.last_check, SIGNAL_INTERVAL) {
                return Ok(());
            }
        }
        // A handler may call back into digram, so no lock is held while it runs.
        Python::attach(|py| py.check_signals()).map_err(|exception| self.keep(exception))
    }

    fn progress(&self, done: u64, total: u64) {
        let Some(on_progress) = &self.on_progress else { return };
        if !is_over(&mut self.state().last_report, REPORT_INTERVAL) {
            return;
        }
        if let Err(exception) = Python::attach(|py| on_progress.call1(py, (done, total))) {
            self.keep(exception);
        }
    }
}

/// Whether an interval that began at a time is over; the next one begins now then, and the first at the first call.
fn is_over(began: &mut Option<Instant>, interval: Duration) -> bool {
    let now = Instant::now();
    let is_over = began.is_some_and(|began| now - began >= interval);
    if is_over || began.is_none() {
        *began = Some(now);
    }
    is_over
}
