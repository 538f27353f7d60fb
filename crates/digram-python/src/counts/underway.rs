//! State that Python advances call by call, and that an error leaves unusable.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;

use crate::errors;

/// A value that is taken out during a call, and put back if the call succeeds.
pub(super) struct Underway<T> {
    /// `None` after the end, and after an error or an interruption.
    work: Mutex<Option<T>>,
    /// Its name in errors.
    name: &'static str,
}

impl<T> Underway<T> {
    pub(super) fn new(name: &'static str, work: T) -> Underway<T> {
        Underway { work: Mutex::new(Some(work)), name }
    }

    pub(super) fn take(&self, py: Python<'_>) -> PyResult<T> {
        let gone =
            || errors::raise(py, "InternalError", format!("this {} was finished or interrupted.", self.name));
        self.work().take().ok_or_else(gone)
    }

    pub(super) fn put(&self, work: T) {
        *self.work() = Some(work);
    }

    fn work(&self) -> MutexGuard<'_, Option<T>> {
        self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
