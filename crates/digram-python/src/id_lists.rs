//! Lists of ids from integer objects that exist already.
//!
//! `PyList_SetItem` is a call for each item, with checks of what is known here, and takes nearly half of the
//! time of making a list. CPython's own macro writes into the array of the list's items, which the stable
//! ABI leaves out; the array is where it was in all versions of CPython. So its place is tested once, on a
//! list of known items, and where it is elsewhere, lists are filled by calls.

use std::ffi::c_void;
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use crate::objects::{CHECK_INTERVAL, SignalChecks, list};

/// A list object of CPython.
#[repr(C)]
struct ListObject {
    head: ffi::PyObject,
    len: ffi::Py_ssize_t,
    items: *mut *mut ffi::PyObject,
    capacity: ffi::Py_ssize_t,
}

/// A list of the integers of some ids; `integers` contains one for each id.
pub(crate) fn list_of_ids<'py>(
    py: Python<'py>,
    ids: &[u32],
    integers: &[Py<PyAny>],
    checks: &mut SignalChecks,
) -> PyResult<Bound<'py, PyList>> {
    if !has_known_layout(py) {
        return list(py, ids.iter().map(|&id| Ok(integers[id as usize].bind(py).clone())), checks);
    }
    // SAFETY: a new list is a reference of our own, or null with an error set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len() as ffi::Py_ssize_t))? };
    for (number, part) in ids.chunks(CHECK_INTERVAL).enumerate() {
        checks.after(py, part.len())?;
        // SAFETY: the layout was tested. The items are null so far, which dropping the list allows, and no
        // other code knows the list.
        let items = unsafe { (*list.as_ptr().cast::<ListObject>()).items.add(number * CHECK_INTERVAL) };
        for (index, &id) in part.iter().enumerate() {
            let integer = integers[id as usize].clone_ref(py).into_ptr();
            // SAFETY: a list of this length has memory for as many items; it takes over the reference.
            unsafe { items.add(index).write(integer) };
        }
    }
    // SAFETY: it was made as a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// Whether lists are laid out as [`ListObject`].
fn has_known_layout(py: Python<'_>) -> bool {
    static KNOWN: PyOnceLock<bool> = PyOnceLock::new();
    *KNOWN.get_or_init(py, || test_layout(py).unwrap_or(false))
}

fn test_layout(py: Python<'_>) -> PyResult<bool> {
    let list_type = py.get_type::<PyList>();
    let size: usize = list_type.getattr("__basicsize__")?.extract()?;
    let name: String = py.import("sys")?.getattr("implementation")?.getattr("name")?.extract()?;
    if name != "cpython" || size != size_of::<ListObject>() {
        return Ok(false);
    }
    let known = [list_type.as_any(), py.NotImplemented().bind(py), py.None().bind(py)].map(Clone::clone);
    let list = PyList::new(py, &known)?;
    // SAFETY: a list object has this size, so all fields can be read.
    let object = unsafe { ptr::read(list.as_ptr().cast::<ListObject>()) };
    let [len, capacity] = [object.len, object.capacity].map(|number| number as usize);
    if len != known.len() || capacity < len || object.items.is_null() || !object.items.is_aligned() {
        return Ok(false);
    }
    // SAFETY: an aligned pointer between a length and a capacity of the expected values is the array.
    let items = unsafe { std::slice::from_raw_parts(object.items.cast::<*mut c_void>(), len) };
    Ok(items.iter().zip(&known).all(|(item, known)| *item == known.as_ptr().cast()))
}
