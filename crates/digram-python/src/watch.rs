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

/// Lets Python's signal handlers run during long work, and keeps what they raise.
pub(crate) struct Signals {
    state: Mutex<State>,
}

struct State {
    asked: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Signals {
        Signals { state: Mutex::new(State { asked: Instant::now(), raised: None }) }
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
        if self.state().asked.elapsed() < BETWEEN_SIGNALS {
            return Ok(());
        }
        self.state().asked = Instant::now();
        // A handler may call back into digram, so no lock is held while it runs.
        Python::attach(|py| py.check_signals()).map_err(|raised| self.keep(raised))
    }
}
