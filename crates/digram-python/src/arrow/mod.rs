//! Arrow data exchanged with other libraries through the PyCapsule protocol. Received data is not
//! trusted: the protocol passes pointers and lengths, and a library that maps a file into memory
//! may not have validated it. So `Strings`, which reads all texts, first checks offsets, views, keys
//! and UTF-8. The protocol does not pass the lengths of buffers, so offsets can only be compared with
//! the producer's last offset. pyarrow can validate its own buffers, and is called to do so
//! (`digram.corpus.arrow_checks`).

mod ids;
mod strings;
mod texts;

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{ArrayReader, ArrayRef, make_array};
use arrow_schema::{ArrowError, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors;

pub(crate) use ids::ArrowIds;
pub(crate) use strings::{ColumnError, Strings};
pub(crate) use texts::ArrowTexts;

pub(crate) const SCHEMA: &CStr = c"arrow_schema";
pub(crate) const ARRAY: &CStr = c"arrow_array";
pub(crate) const STREAM: &CStr = c"arrow_array_stream";

/// The data of a Python object that supports the protocol.
pub(crate) enum ArrowData {
    /// A lazy stream of arrays of one type. The producer may be Python code, so arrays are
    /// requested with the GIL held.
    Stream(ArrayStreamReader),
    /// One array, and its type.
    Array(ArrayRef, Field),
}

impl ArrowData {
    /// The type of its arrays.
    pub(crate) fn field(&self) -> Field {
        match self {
            ArrowData::Stream(stream) => stream.field().as_ref().clone(),
            ArrowData::Array(_, field) => field.clone(),
        }
    }
}

/// The next array of a stream; `None` at its end.
pub(crate) fn next(py: Python<'_>, stream: &mut ArrayStreamReader) -> PyResult<Option<ArrayRef>> {
    guarded(|| stream.next().transpose()).map_err(|error| unreadable(py, &error))
}

/// The data of an object; `None` if it does not support the protocol.
pub(crate) fn arrow_data(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Option<ArrowData>> {
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?;
        // SAFETY: a capsule of this name contains such a stream, and taking it transfers ownership;
        // the empty stream left in its place is marked as released.
        let stream = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr().cast()) };
        return Ok(Some(ArrowData::Stream(stream.map_err(|error| unreadable(py, &error))?)));
    }
    if !data.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
        data.call_method0("__arrow_c_array__")?.extract()?;
    let (schema, array) = (schema.pointer_checked(Some(SCHEMA))?, array.pointer_checked(Some(ARRAY))?);
    // SAFETY: capsules of these names contain these structs, and taking them transfers ownership.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr().cast()), FFI_ArrowArray::from_raw(array.as_ptr().cast()))
    };
    let imported = guarded(|| {
        let field = Field::try_from(&schema)?;
        // SAFETY: the protocol requires the producer to describe the array correctly.
        let array = unsafe { from_ffi(array, &schema) }?;
        Ok(ArrowData::Array(make_array(array), field))
    });
    imported.map(Some).map_err(|error| unreadable(py, &error))
}

/// Turns panics into errors: importing panics if an array does not have the layout of its type.
fn guarded<T>(import: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(import)).unwrap_or_else(|_| {
        Err(ArrowError::CDataInterface("an array does not have the layout of its type".into()))
    })
}

/// The exception for unreadable data of a producer.
pub(crate) fn unreadable(py: Python<'_>, error: &ArrowError) -> PyErr {
    errors::raise(py, "OptionError", format!("the Arrow data cannot be read: {error}."))
}
