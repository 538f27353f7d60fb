//! State that one call changes while other calls wait.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors;

/// State that calls from several threads use in turn.
///
/// A call may run signal handlers, which are foreign code. A handler that uses the same object would wait
/// for the call that waits for the handler, so that is an error.
pub(crate) struct SharedState<T> {
    state: Mutex<T>,
    /// The thread that owns the state, or 0.
    owner: AtomicUsize,
    /// The name of the object in errors.
    name: &'static str,
}

impl<T> SharedState<T> {
    pub(crate) fn new(name: &'static str, state: T) -> SharedState<T> {
        SharedState { state: Mutex::new(state), owner: AtomicUsize::new(0), name }
    }

    /// The state, when no other thread uses it. Releases the GIL while waiting, because the other thread
    /// may need it.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<StateGuard<'_, T>> {
        let thread = this_thread();
        // Only this thread stores its own number.
        if self.owner.load(Ordering::Relaxed) == thread {
            let message = format!(
                "a signal handler used this {} during a call that is still running. Use another one in the handler, or wait until the call has ended.",
                self.name
            );
            return Err(errors::raise(py, "DigramError", message));
        }
        let state = self.state.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        self.owner.store(thread, Ordering::Relaxed);
        Ok(StateGuard { state, owner: &self.owner })
    }
}

/// The state, released when dropped.
pub(crate) struct StateGuard<'a, T> {
    state: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<T> Deref for StateGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for StateGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

impl<T> Drop for StateGuard<'_, T> {
    fn drop(&mut self) {
        // The lock is released after this.
        self.owner.store(0, Ordering::Relaxed);
    }
}

/// A number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
