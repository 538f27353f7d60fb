//! NumPy arrays.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use digram::memory;
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::errors;

/// An array that takes over this memory.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    prepare(py)?;
    Ok(PyArray1::from_vec(py, values))
}

/// An array with a copy of `values`.
pub(crate) fn copied<'py, T: Element + Copy>(
    py: Python<'py>,
    values: &[T],
) -> PyResult<Bound<'py, PyArray1<T>>> {
    let mut copy = Vec::new();
    memory::try_reserve(&mut copy, values.len()).map_err(errors::no_memory)?;
    copy.extend_from_slice(values);
    array(py, copy)
}

/// Loads NumPy before its first use.
///
/// The `numpy` crate panics if NumPy cannot be loaded, for example because of Ctrl-C during loading;
/// and after an interrupted import NumPy cannot be loaded again in that process. So it is
/// loaded on a separate thread: signals are handled on the main thread, which waits.
fn prepare(py: Python<'_>) -> PyResult<()> {
    static READY: AtomicBool = AtomicBool::new(false);
    if READY.load(Ordering::Relaxed) {
        return Ok(());
    }
    let load = || {
        Python::attach(|py| {
            py.import("numpy")?;
            _ = PyArray1::<u32>::from_vec(py, Vec::new());
            PyResult::Ok(())
        })
    };
    let loaded = py.detach(|| {
        thread::scope(|scope| {
            // If no thread can be started, a signal may still interrupt the import.
            match thread::Builder::new().spawn_scoped(scope, load) {
                Ok(thread) => thread.join().ok(),
                Err(_) => Some(load()),
            }
        })
    });
    loaded
        .unwrap_or_else(|| Err(PyImportError::new_err("this NumPy gives no arrays; install another one")))?;
    READY.store(true, Ordering::Relaxed);
    py.check_signals()
}
