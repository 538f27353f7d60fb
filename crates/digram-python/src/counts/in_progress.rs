//! State that Python advances call by call, and that an error leaves unusable.

use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;

use crate::errors;

/// A value that is removed during a call, and put back if the call succeeds.
pub(super) struct InProgress<T> {
    /// `None` after the end, and after an error or an interruption.
    value: Mutex<Option<T>>,
    /// Its name in errors.
    name: &'static str,
}

impl<T> InProgress<T> {
    pub(super) fn new(name: &'static str, value: T) -> InProgress<T> {
        InProgress { value: Mutex::new(Some(value)), name }
    }

    pub(super) fn take(&self, py: Python<'_>) -> PyResult<T> {
        let error =
            || errors::raise(py, "InternalError", format!("this {} was finished or interrupted.", self.name));
        self.lock().take().ok_or_else(error)
    }

    pub(super) fn put(&self, value: T) {
        *self.lock() = Some(value);
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.value.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
