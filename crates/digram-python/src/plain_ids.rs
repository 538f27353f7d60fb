//! Reading ids from the int objects of a list.
//!
//! Two calls for each item take most of the time of decoding a list. As for lists and for `str`, the places in an
//! `int` object are tested once, on known numbers, and where they are elsewhere, the calls are made.

use std::ops::Range;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList};

use crate::id_lists::{ListObject, has_known_layout};
use crate::objects::{integer, prefetch};

/// An int object of CPython.
#[repr(C)]
struct IntObject {
    head: ffi::PyObject,
    /// The number of digits, and the sign.
    tag: usize,
    /// The lowest 30 bits.
    digit: u32,
}

/// The tags of numbers, after bits that vary.
#[derive(Clone, Copy)]
struct Tags {
    varying: usize,
    zero: usize,
    /// The tag of a positive number of one digit.
    positive: usize,
}

/// The tags of CPython 3.11, and of newer versions, which mark immortal numbers since 3.14.
const TAGS: [Tags; 2] =
    [Tags { varying: 0, zero: 0, positive: 1 }, Tags { varying: 1 << 2, zero: 1, positive: 1 << 3 }];

/// The number of items between the one that is read and the one whose object is prefetched. The ints of a list
/// are scattered in memory.
const AHEAD: usize = 24;

/// Appends the items of a list in a range of indices up to the first that is not a plain int or cannot be an id,
/// and returns the index of that item. It takes no memory: it also stops where `ids` is full.
pub(crate) fn append(list: &Bound<'_, PyList>, range: Range<usize>, ids: &mut Vec<u32>) -> usize {
    let room = ids.capacity() - ids.len();
    let range = range.start..range.end.min(range.start + room);
    match known_tags(list.py()) {
        // SAFETY: the layouts were tested.
        Some(tags) => unsafe { append_by_layout(list, range, tags, ids) },
        None => append_by_calls(list, range, ids),
    }
}

/// As [`append`], by the layout of the objects.
///
/// # Safety
///
/// Lists are laid out as [`ListObject`], and ints as [`IntObject`] with these tags.
unsafe fn append_by_layout(
    list: &Bound<'_, PyList>,
    range: Range<usize>,
    tags: Tags,
    ids: &mut Vec<u32>,
) -> usize {
    // The list cannot change meanwhile: this thread holds the GIL, and nothing here runs Python code. So its
    // items stay alive although no reference to them is taken.
    // SAFETY: as the caller promises. The items before the length are there.
    let items = unsafe {
        let object = &*list.as_ptr().cast::<ListObject>();
        if object.len == 0 {
            return range.start;
        }
        std::slice::from_raw_parts(object.items, object.len as usize)
    };
    let Some(items) = items.get(range.start..range.end.min(items.len())) else { return range.start };
    let int = &raw mut ffi::PyLong_Type;
    let mut count = 0;
    for (&item, id) in items.iter().zip(ids.spare_capacity_mut()) {
        prefetch(items[(count + AHEAD).min(items.len() - 1)]);
        // SAFETY: the item is alive; all objects begin with a head, and one of this type is an int.
        let value = unsafe {
            if ffi::Py_TYPE(item) != int {
                break;
            }
            let tag = (*item.cast::<IntObject>()).tag & !tags.varying;
            if tag == tags.positive {
                (*item.cast::<IntObject>()).digit
            } else if tag == tags.zero {
                0
            } else {
                break;
            }
        };
        id.write(value);
        count += 1;
    }
    // SAFETY: this many were written.
    unsafe { ids.set_len(ids.len() + count) };
    range.start + count
}

/// As [`append`], by calls of the stable ABI.
fn append_by_calls(list: &Bound<'_, PyList>, range: Range<usize>, ids: &mut Vec<u32>) -> usize {
    let py = list.py();
    // As above, if there is a GIL; otherwise the section protects the list.
    pyo3::sync::critical_section::with_critical_section(list, || {
        for index in range.start..range.end.min(list.len()) {
            // SAFETY: the object is a list, and the index is inside it. The item is alive.
            let number = unsafe {
                let item = ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t);
                if ffi::Py_TYPE(item) != &raw mut ffi::PyLong_Type {
                    return index;
                }
                ffi::PyLong_AsLong(item)
            };
            let Ok(id) = u32::try_from(number) else {
                // A negative or a large number; the caller reads it again and raises the error.
                _ = PyErr::take(py);
                return index;
            };
            ids.push(id);
        }
        range.end.min(list.len()).max(range.start)
    })
}

/// The tags of the running Python, if lists and ints are laid out as here.
fn known_tags(py: Python<'_>) -> Option<Tags> {
    static KNOWN: PyOnceLock<Option<Tags>> = PyOnceLock::new();
    *KNOWN.get_or_init(py, || test_layout(py).unwrap_or(None))
}

fn test_layout(py: Python<'_>) -> PyResult<Option<Tags>> {
    let int = py.get_type::<PyInt>();
    let [size, item_size] =
        ["__basicsize__", "__itemsize__"].map(|name| int.getattr(name)?.extract::<usize>());
    let bits: usize = py.import("sys")?.getattr("int_info")?.getattr("bits_per_digit")?.extract()?;
    let expected = std::mem::offset_of!(IntObject, digit);
    if !has_known_layout(py) || (size?, item_size?, bits) != (expected, size_of::<u32>(), 30) {
        return Ok(None);
    }
    for tags in TAGS {
        let tag = |object: &Bound<'_, PyAny>| {
            // SAFETY: an int object is larger than what is read.
            let tag = unsafe { (&raw const (*object.as_ptr().cast::<IntObject>()).tag).read() };
            tag & !tags.varying
        };
        let mut is_known = tag(&integer(py, 0)?) == tags.zero;
        for number in [1, 2, 255, 256, 257, 1_000, 199_999, (1 << 30) - 1] {
            let object = integer(py, number)?;
            // SAFETY: a number that is not 0 has a digit.
            let digit = unsafe { (&raw const (*object.as_ptr().cast::<IntObject>()).digit).read() };
            is_known &= tag(&object) == tags.positive && u64::from(digit) == number;
        }
        for number in [1 << 30, (1 << 30) + 1, 1 << 31, u64::from(u32::MAX), 1 << 60, u64::MAX] {
            is_known &= ![tags.zero, tags.positive].contains(&tag(&integer(py, number)?));
        }
        for number in [1, 5, 6, 300, (1 << 30) - 1, 1 << 30] {
            is_known &= ![tags.zero, tags.positive].contains(&tag(&integer(py, number)?.neg()?));
        }
        if is_known {
            return Ok(Some(tags));
        }
    }
    Ok(None)
}
