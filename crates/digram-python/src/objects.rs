//! Objects of Python, for which there may be no memory, and of which there may be many.
//!
//! PyO3's own constructors panic where Python has no memory. These raise `MemoryError`, and heed
//! Ctrl-C between some objects and the next ones.

use std::ops::Deref;

use digram::memory;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors;

/// Objects of Python that are made or read between two questions for signals: some milliseconds.
pub(crate) const BETWEEN_SIGNALS: usize = 1 << 16;

/// Checks for signals after every fixed number of objects that are made or read.
pub(crate) struct Turns(usize);

impl Turns {
    pub(crate) fn new() -> Turns {
        Turns(BETWEEN_SIGNALS)
    }

    /// So many more were made or read.
    #[inline]
    pub(crate) fn after(&mut self, py: Python<'_>, objects: usize) -> PyResult<()> {
        if objects < self.0 {
            self.0 -= objects;
            return Ok(());
        }
        self.0 = BETWEEN_SIGNALS;
        py.check_signals()
    }
}

/// The items of a list or another sequence, each with a reference of its own.
pub(crate) struct Objects<'py>(Vec<Bound<'py, PyAny>>);

impl<'py> Deref for Objects<'py> {
    type Target = [Bound<'py, PyAny>];

    fn deref(&self) -> &[Bound<'py, PyAny>] {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for Objects<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Objects<'py>> {
        let py = object.py();
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a list is expected, not str"));
        }
        let (mut objects, mut turns) = (Vec::new(), Turns::new());
        reserve(&mut objects, object.len().unwrap_or(0))?;
        for item in object.try_iter()? {
            reserve(&mut objects, 1)?;
            objects.push(item?);
            turns.after(py, 1)?;
        }
        Ok(Objects(objects))
    }
}

/// Reserves room for a number of further items, or raises `MemoryError`.
#[inline]
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) -> PyResult<()> {
    memory::try_reserve(items, more).map_err(errors::no_memory)
}

/// All items in a list, or a `MemoryError`; for what grows with what the caller gives.
pub(crate) fn collected<T>(
    py: Python<'_>,
    items: impl ExactSizeIterator<Item = PyResult<T>>,
) -> PyResult<Vec<T>> {
    let (mut all, mut turns) = (Vec::new(), Turns::new());
    reserve(&mut all, items.len())?;
    for item in items {
        all.push(item?);
        turns.after(py, 1)?;
    }
    Ok(all)
}

/// A list of what an iterator gives.
pub(crate) fn list<'py, T>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, T>>>,
    turns: &mut Turns,
) -> PyResult<Bound<'py, PyList>> {
    let len = items.len();
    // SAFETY: a new list is a reference of our own, or null with an error set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len as ffi::Py_ssize_t))? };
    for (at, item) in items.take(len).enumerate() {
        turns.after(py, 1)?;
        // SAFETY: the list is not known to others yet, has a place for the item, and takes over the
        // reference to it. A place that stays empty is null, which dropping the list allows.
        let set = unsafe { ffi::PyList_SetItem(list.as_ptr(), at as ffi::Py_ssize_t, item?.into_ptr()) };
        if set != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    // SAFETY: it was made as a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// A whole number.
#[inline]
pub(crate) fn integer(py: Python<'_>, number: u64) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: a new number is a reference of our own, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLongLong(number)) }
}

/// A tuple of these.
pub(crate) fn tuple<'py, const N: usize>(
    py: Python<'py>,
    items: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as with a list.
    let tuple = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(N as ffi::Py_ssize_t))? };
    for (at, item) in items.into_iter().enumerate() {
        // SAFETY: as with a list.
        if unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), at as ffi::Py_ssize_t, item.into_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(tuple)
}

/// A `str`.
#[inline]
pub(crate) fn string<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// A `bytes`.
#[inline]
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let (start, len) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
    // SAFETY: exactly that number of bytes is copied; the new object is a reference of our own, or null with an
    // error set, and is a `bytes`.
    unsafe {
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(start, len))?;
        Ok(object.cast_into_unchecked())
    }
}
