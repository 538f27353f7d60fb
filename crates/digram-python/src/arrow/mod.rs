//! Arrow data from others and for others, through the PyCapsule protocol.

mod ids;
mod strings;
mod texts;

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{ArrayRef, make_array};
use arrow_schema::{ArrowError, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors;

pub(crate) use ids::ArrowIds;
pub(crate) use strings::Strings;
pub(crate) use texts::ArrowTexts;

pub(crate) const SCHEMA: &CStr = c"arrow_schema";
pub(crate) const ARRAY: &CStr = c"arrow_array";
pub(crate) const STREAM: &CStr = c"arrow_array_stream";

/// What an object of Python's gives through the protocol.
pub(crate) enum Given {
    /// Arrays of one type, as they are asked for. The producer may be Python itself, so they are
    /// asked for with the GIL held.
    Stream(ArrayStreamReader),
    /// One array, and what its type is.
    Array(ArrayRef, Field),
}

/// What an object gives; `None` where it does not know the protocol.
pub(crate) fn given(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Option<Given>> {
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
        // SAFETY: a capsule of this name holds such a stream, and whoever takes it owns it; what is
        // left in its place is released.
        let stream = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr().cast()) };
        return Ok(Some(Given::Stream(stream.map_err(|error| unreadable(py, &error))?)));
    }
    if !data.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        data.call_method0("__arrow_c_array__")?.extract()?;
    let (schema, array) = (schema.pointer_checked(Some(SCHEMA))?, array.pointer_checked(Some(ARRAY))?);
    // SAFETY: capsules of these names hold these, and whoever takes them owns them.
    let (schema, array) = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.as_ptr().cast());
        let array = FFI_ArrowArray::from_raw(array.as_ptr().cast());
        let array = from_ffi(array, &schema);
        (schema, array)
    };
    let array = make_array(array.map_err(|error| unreadable(py, &error))?);
    let field = Field::try_from(&schema).map_err(|error| unreadable(py, &error))?;
    Ok(Some(Given::Array(array, field)))
}

/// The exception for what a producer gave and nobody can read.
pub(crate) fn unreadable(py: Python<'_>, error: &ArrowError) -> PyErr {
    errors::raise(py, "OptionError", format!("what came through Arrow cannot be read: {error}."))
}
