//! Creating Python objects, with checks of memory and signals.
//!
//! PyO3's own constructors panic if Python has no memory. These raise `MemoryError`, and check for
//! Ctrl-C regularly.

use std::ops::Deref;
use std::ptr;

use digram::{heap, memory};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors;

/// The number of Python objects created or read between two checks for signals: some milliseconds.
pub(crate) const CHECK_INTERVAL: usize = 1 << 16;

/// Checks for signals after every fixed number of objects that are created or read.
pub(crate) struct SignalChecks(usize);

impl SignalChecks {
    pub(crate) fn new() -> SignalChecks {
        SignalChecks(CHECK_INTERVAL)
    }

    /// Records that `objects` more were created or read.
    #[inline]
    pub(crate) fn after(&mut self, py: Python<'_>, objects: usize) -> PyResult<()> {
        if objects < self.0 {
            self.0 -= objects;
            return Ok(());
        }
        self.0 = CHECK_INTERVAL;
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
        let (mut objects, mut checks) = (Vec::new(), SignalChecks::new());
        reserve(&mut objects, object.len().unwrap_or(0))?;
        for item in object.try_iter()? {
            reserve(&mut objects, 1)?;
            objects.push(item?);
            checks.after(py, 1)?;
        }
        Ok(Objects(objects))
    }
}

/// Reserves memory for `additional` items, or raises `MemoryError`.
#[inline]
pub(crate) fn reserve<T>(items: &mut Vec<T>, additional: usize) -> PyResult<()> {
    memory::try_reserve(items, additional).map_err(errors::no_memory)
}

/// Collects items into a `Vec`, or raises `MemoryError`; for data that grows with the input.
pub(crate) fn collected<T>(
    py: Python<'_>,
    items: impl ExactSizeIterator<Item = PyResult<T>>,
) -> PyResult<Vec<T>> {
    let (mut result, mut checks) = (Vec::new(), SignalChecks::new());
    reserve(&mut result, items.len())?;
    for item in items {
        result.push(item?);
        checks.after(py, 1)?;
    }
    Ok(result)
}

/// A Python list of the items of an iterator.
pub(crate) fn list<'py, T>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = PyResult<Bound<'py, T>>>,
    checks: &mut SignalChecks,
) -> PyResult<Bound<'py, PyList>> {
    let len = items.len();
    // SAFETY: the result is a new reference to a list, or null with an exception set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len as ffi::Py_ssize_t))? };
    for (index, item) in items.take(len).enumerate() {
        checks.after(py, 1)?;
        // SAFETY: the list is not shared yet, and has a slot for the item, whose reference it steals. After
        // an error the remaining slots are null, which Python allows when it frees the list.
        let status =
            unsafe { ffi::PyList_SetItem(list.as_ptr(), index as ffi::Py_ssize_t, item?.into_ptr()) };
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    // SAFETY: the object was created as a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// Prefetches a value.
#[inline(always)]
pub(crate) fn prefetch<T>(value: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that reads nothing; all x86-64 processors have it.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(value.cast())
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// An `int`.
#[inline]
pub(crate) fn integer(py: Python<'_>, number: u64) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the result is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyLong_FromUnsignedLongLong(number)) }
}

/// A Python tuple of `items`.
pub(crate) fn tuple<'py, const N: usize>(
    py: Python<'py>,
    items: [Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as in `list`.
    let tuple = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_New(N as ffi::Py_ssize_t))? };
    for (index, item) in items.into_iter().enumerate() {
        // SAFETY: as in `list`.
        if unsafe { ffi::PyTuple_SetItem(tuple.as_ptr(), index as ffi::Py_ssize_t, item.into_ptr()) } != 0 {
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

/// The first characters of a `str`, which has as many.
pub(crate) fn first_characters<'py>(text: &Bound<'py, PyAny>, len: usize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the result is a new reference to a `str`, or null with an exception set, as for other objects.
    unsafe {
        let part = ffi::PyUnicode_Substring(text.as_ptr(), 0, len as ffi::Py_ssize_t);
        Bound::from_owned_ptr_or_err(text.py(), part)
    }
}

/// A `bytes`.
#[inline]
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let (start, len) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
    // SAFETY: Python copies `len` bytes from `start`, or leaves them to the caller. The result is a new reference to a
    // `bytes`, or null with an exception set.
    unsafe {
        if bytes.len() < heap::MAPPED {
            let object = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(start, len))?;
            return Ok(object.cast_into_unchecked());
        }
        let object = Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(ptr::null(), len))?;
        let first = ffi::PyBytes_AsString(object.as_ptr()).cast::<u8>();
        heap::provide_pages(object.as_ptr().cast(), first.addr() - object.as_ptr().addr() + bytes.len());
        first.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Ok(object.cast_into_unchecked())
    }
}
