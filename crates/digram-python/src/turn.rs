//! State that a call changes, and that other calls wait for.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors;

/// What calls from several threads take in turn.
///
/// A call may run signal handlers while it works, and a handler is code of others: where it comes
/// back to the same object, it would wait for the call that waits for it. That is an error.
pub(crate) struct InTurn<T> {
    state: Mutex<T>,
    /// The thread that has it, or 0.
    owner: AtomicUsize,
    /// What errors call it.
    name: &'static str,
}

impl<T> InTurn<T> {
    pub(crate) fn new(name: &'static str, state: T) -> InTurn<T> {
        InTurn { state: Mutex::new(state), owner: AtomicUsize::new(0), name }
    }

    /// The state, once no other thread has it. While this one waits it gives up the GIL, which that
    /// one may need.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<Taken<'_, T>> {
        let thread = this_thread();
        // Nobody but this thread writes its own number there.
        if self.owner.load(Ordering::Relaxed) == thread {
            let message = format!(
                "this {} is in the midst of a call, and a signal handler came back to it. Use another one in the handler, or wait for the call's end.",
                self.name
            );
            return Err(errors::raise(py, "DigramError", message));
        }
        let state = self.state.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        self.owner.store(thread, Ordering::Relaxed);
        Ok(Taken { state, owner: &self.owner })
    }
}

/// State that goes back when it is dropped.
pub(crate) struct Taken<'a, T> {
    state: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        // The lock is given up after this.
        self.owner.store(0, Ordering::Relaxed);
    }
}

/// A number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}
