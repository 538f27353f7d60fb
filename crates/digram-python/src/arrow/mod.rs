//! Arrow data from others and for others, through the PyCapsule protocol.
//!
//! What comes in is not believed: the protocol hands over pointers and lengths, and whoever reads a
//! file into memory need not have looked at what it says of itself. So `Strings`, through which all
//! texts are taken, looks at offsets, views, keys and UTF-8 before it gives one. How long a buffer is
//! the protocol does not say: there the producer's last offset is all there is to go by. Where the
//! producer is pyarrow, which knows, it is asked (`digram.corpus.arrow_checks`).

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
pub(crate) use strings::{Strings, Unfit};
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

impl Given {
    /// What the type of its arrays is.
    pub(crate) fn field(&self) -> Field {
        match self {
            Given::Stream(stream) => stream.field().as_ref().clone(),
            Given::Array(_, field) => field.clone(),
        }
    }
}

/// The next array of a stream; `None` at its end.
pub(crate) fn next(py: Python<'_>, stream: &mut ArrayStreamReader) -> PyResult<Option<ArrayRef>> {
    guarded(|| stream.next().transpose()).map_err(|error| unreadable(py, &error))
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
        (FFI_ArrowSchema::from_raw(schema.as_ptr().cast()), FFI_ArrowArray::from_raw(array.as_ptr().cast()))
    };
    let taken = guarded(|| {
        let field = Field::try_from(&schema)?;
        // SAFETY: the array is what its producer says, which the protocol has to take for granted.
        let array = unsafe { from_ffi(array, &schema) }?;
        Ok(Given::Array(make_array(array), field))
    });
    taken.map(Some).map_err(|error| unreadable(py, &error))
}

/// What takes arrays apart panics where they are not of the form that their type has.
fn guarded<T>(take: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    catch_unwind(AssertUnwindSafe(take)).unwrap_or_else(|_| {
        Err(ArrowError::CDataInterface("an array is not of the form that its type has".into()))
    })
}

/// The exception for what a producer gave and nobody can read.
pub(crate) fn unreadable(py: Python<'_>, error: &ArrowError) -> PyErr {
    errors::raise(py, "OptionError", format!("what came through Arrow cannot be read: {error}."))
}
