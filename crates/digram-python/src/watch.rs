//! Signals of Python, served from inside long calls.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use digram::Error;
use digram::watch::Watch;
use pyo3::prelude::*;

use crate::convert::Text;
use crate::errors;

/// Ctrl-C is to be served within 200 ms; asking Python takes the GIL, so not at every check.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(40);

/// How often long work tells how far it is.
pub(crate) const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Lets Python's signal handlers run during long work, and keeps what they raise.
pub(crate) struct Signals {
    state: Mutex<State>,
    on_progress: Option<Py<PyAny>>,
}

struct State {
    asked: Instant,
    reported: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Signals {
        Signals::reporting_to(None)
    }

    /// Also calls `on_progress` now and then with how much is done, and of how much.
    pub(crate) fn reporting_to(on_progress: Option<Py<PyAny>>) -> Signals {
        let now = Instant::now();
        Signals { state: Mutex::new(State { asked: now, reported: now, raised: None }), on_progress }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Keeps an exception of Python's and gives the core error that stops the work.
    pub(crate) fn keep(&self, raised: PyErr) -> Error {
        self.state().raised = Some(raised);
        Error::Interrupted
    }

    /// The exception for an error of the core: what Python raised, if that was the cause.
    pub(crate) fn error(&self, py: Python<'_>, error: Error, text: Option<&Text<'_>>) -> PyErr {
        match self.state().raised.take() {
            Some(raised) if error == Error::Interrupted => raised,
            _ => errors::from_core(py, error, text),
        }
    }
}

impl Watch for Signals {
    fn check(&self) -> digram::Result<()> {
        {
            let mut state = self.state();
            if state.raised.is_some() {
                return Err(Error::Interrupted);
            }
            if state.asked.elapsed() < BETWEEN_SIGNALS {
                return Ok(());
            }
            state.asked = Instant::now();
        }
        // A handler may call back into digram, so no lock is held while it runs.
        Python::attach(|py| py.check_signals()).map_err(|raised| self.keep(raised))
    }

    fn progress(&self, done: u64, all: u64) {
        let Some(on_progress) = &self.on_progress else { return };
        if self.state().reported.elapsed() < BETWEEN_REPORTS {
            return;
        }
        self.state().reported = Instant::now();
        if let Err(raised) = Python::attach(|py| on_progress.call1(py, (done, all))) {
            self.keep(raised);
        }
    }
}
