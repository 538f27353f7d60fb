//! Lists of ids, from integer objects that they share.
//!
//! `PyList_SetItem` is a call for each item, with checks of what is known here, and takes nearly half of the
//! time of making a list; so is `Py_IncRef`, which takes a tenth. CPython's own macros write into the array of
//! the list's items and into the object, which the stable ABI leaves out; both are where they were in all
//! versions of CPython. So their places are tested once, on known objects, and where they are elsewhere, lists
//! are filled by calls.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use digram::memory;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

use crate::errors;
use crate::objects::{CHECK_INTERVAL, SignalChecks, integer, list};

/// A list object of CPython.
#[repr(C)]
struct ListObject {
    head: ffi::PyObject,
    len: ffi::Py_ssize_t,
    items: *mut *mut ffi::PyObject,
    capacity: ffi::Py_ssize_t,
}

/// The integer objects of ids, which all lists of a tokenizer share: sharing one takes a third of the time of
/// creating one. An object is created when its id first occurs, so that those of frequent ids are neighbours
/// in memory.
pub(crate) struct IdObjects(Vec<AtomicPtr<ffi::PyObject>>);

impl IdObjects {
    /// No objects yet, for ids below `count`.
    pub(crate) fn new(count: usize) -> PyResult<IdObjects> {
        let objects =
            memory::try_filled(ptr::null_mut::<ffi::PyObject>(), count).map_err(errors::no_memory)?;
        let mut objects = ManuallyDrop::new(objects);
        // SAFETY: a pointer and an atomic pointer have the same representation.
        Ok(IdObjects(unsafe {
            Vec::from_raw_parts(objects.as_mut_ptr().cast(), objects.len(), objects.capacity())
        }))
    }

    /// The integer of an id.
    fn get<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the object is alive, since there is a reference to it here.
        Ok(unsafe { Bound::from_borrowed_ptr(py, self.pointer(py, id)?) })
    }

    /// The integer of an id, without a reference of its own.
    #[inline]
    fn pointer(&self, py: Python<'_>, id: u32) -> PyResult<*mut ffi::PyObject> {
        let object = &self.0[id as usize];
        let known = object.load(Ordering::Relaxed);
        if known.is_null() { IdObjects::create(py, object, id) } else { Ok(known) }
    }

    #[cold]
    fn create(py: Python<'_>, object: &AtomicPtr<ffi::PyObject>, id: u32) -> PyResult<*mut ffi::PyObject> {
        let integer = integer(py, id.into())?;
        let (none, order) = (ptr::null_mut(), Ordering::Relaxed);
        match object.compare_exchange(none, integer.as_ptr(), order, order) {
            Ok(_) => Ok(integer.into_ptr()),
            // Another thread was first.
            Err(known) => Ok(known),
        }
    }
}

impl Drop for IdObjects {
    fn drop(&mut self) {
        // Without an interpreter, which has ended then, nothing needs to be freed.
        _ = Python::try_attach(|py| {
            for object in &mut self.0 {
                // SAFETY: the reference is this list's.
                drop(unsafe { Bound::from_owned_ptr_or_opt(py, *object.get_mut()) });
            }
        });
    }
}

/// A list of the integers of some ids.
pub(crate) fn list_of_ids<'py>(
    py: Python<'py>,
    ids: &[u32],
    objects: &IdObjects,
    checks: &mut SignalChecks,
) -> PyResult<Bound<'py, PyList>> {
    if !has_known_layout(py) {
        return list(py, ids.iter().map(|&id| objects.get(py, id)), checks);
    }
    // SAFETY: a new list is a reference of our own, or null with an error set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len() as ffi::Py_ssize_t))? };
    for (number, part) in ids.chunks(CHECK_INTERVAL).enumerate() {
        checks.after(py, part.len())?;
        // SAFETY: the layout was tested. The items are null so far, which dropping the list allows, and no
        // other code knows the list.
        let items = unsafe { (*list.as_ptr().cast::<ListObject>()).items.add(number * CHECK_INTERVAL) };
        for (index, &id) in part.iter().enumerate() {
            let integer = objects.pointer(py, id)?;
            // SAFETY: a list of this length has memory for as many items; it takes over the new reference.
            unsafe {
                add_reference(integer);
                items.add(index).write(integer);
            }
        }
    }
    // SAFETY: it was made as a list.
    Ok(unsafe { list.cast_into_unchecked() })
}

/// Adds a reference to an object, as CPython's macro does.
///
/// # Safety
///
/// The object is alive, this thread holds the GIL, and the layout was tested.
#[inline(always)]
unsafe fn add_reference(object: *mut ffi::PyObject) {
    let count = object.cast::<u32>();
    // SAFETY: objects begin with the number of their references. Numbers from here on may be those of immortal
    // objects, which do not change.
    unsafe {
        if *count < 1 << 30 {
            *count += 1;
        } else {
            ffi::Py_IncRef(object);
        }
    }
}

/// Whether lists are laid out as [`ListObject`], and objects begin with the number of their references.
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
    let object = integer(py, 1 << 40)?;
    // SAFETY: an object is larger than this number.
    let count = || unsafe { object.as_ptr().cast::<u32>().read_volatile() };
    let one = count();
    let second = object.clone();
    let two = count();
    drop(second);
    if (one, two, count()) != (1, 2, 1) {
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
