//! Ids as Arrow data, passed without a copy.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, LargeListArray, PrimitiveArray, RecordBatch, RecordBatchIterator};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ARRAY, SCHEMA, STREAM};
use crate::errors;

/// The ids of several texts as one Arrow array of lists; see the stub.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct ArrowIds {
    lists: LargeListArray,
}

impl ArrowIds {
    /// Builds it from all ids and the offset of the end of each text, with a zero before the first.
    pub(crate) fn new(ids: Vec<u32>, offsets: Vec<u64>) -> ArrowIds {
        let len = offsets.len();
        // Offsets are far below 2^63, so as signed numbers they are the same bytes.
        let offsets = OffsetBuffer::new(ScalarBuffer::<i64>::new(Buffer::from_vec(offsets), 0, len));
        let values = PrimitiveArray::<UInt32Type>::new(ids.into(), None);
        let item = Arc::new(Field::new("item", DataType::UInt32, false));
        ArrowIds { lists: LargeListArray::new(item, offsets, Arc::new(values), None) }
    }

    /// All ids, and the offset of the end of each text, with a zero before the first.
    pub(crate) fn parts(&self) -> (&[u32], &[i64]) {
        let ids = self.lists.values().as_primitive::<UInt32Type>();
        (ids.values(), self.lists.value_offsets())
    }

    fn export(&self, py: Python<'_>) -> PyResult<(FFI_ArrowArray, FFI_ArrowSchema)> {
        to_ffi(&self.lists.to_data()).map_err(|error| errors::raise(py, "InternalError", error.to_string()))
    }
}

#[pymethods]
impl ArrowIds {
    /// The number of texts.
    fn __len__(&self) -> usize {
        self.lists.len()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.export(py)?.1, SCHEMA)
    }

    /// The array. A requested type is ignored, as the protocol allows; the caller converts.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        _ = requested_schema;
        let (array, schema) = self.export(py)?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        Ok((schema, PyCapsule::new_with_value(py, array, ARRAY)?))
    }

    /// A table of one column, `ids`, in one batch.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let field = Field::new("ids", self.lists.data_type().clone(), false);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(self.lists.clone())])
            .map_err(|error| errors::raise(py, "InternalError", error.to_string()))?;
        let reader = RecordBatchIterator::new([Ok(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}
