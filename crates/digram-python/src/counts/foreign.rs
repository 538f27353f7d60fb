//! Import and export of counts through Arrow's PyCapsule protocol.

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field};
use digram::count::Adder;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::columns::{Batches, Columns, KEY};
use crate::arrow::{ArrowData, SCHEMA, STREAM, arrow_data, next};
use crate::errors;
use crate::signals::Signals;

pub(super) fn schema<'py>(py: Python<'py>, batches: &Batches) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&*batches.schema()).map_err(|error| unexpected(py, &error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

pub(super) fn stream(py: Python<'_>, batches: Batches) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}

/// The rows of an Arrow stream or array, and digram's metadata if it has any.
pub(super) fn sum_rows(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<(Adder, Option<String>)> {
    let mut arrow_adder = ArrowAdder::default();
    let field = match arrow_data(py, data)? {
        Some(rows) => {
            let field = rows.field();
            arrow_adder.check(py, &field)?;
            match rows {
                ArrowData::Stream(mut stream) => {
                    while let Some(rows) = next(py, &mut stream)? {
                        arrow_adder.add(py, &rows)?;
                    }
                }
                ArrowData::Array(rows, _) => arrow_adder.add(py, &rows)?,
            }
            field
        }
        None => {
            return Err(PyTypeError::new_err(format!(
                "counts must be an Arrow table, an object with __arrow_c_stream__ or __arrow_c_array__, not {}",
                data.get_type().name()?
            )));
        }
    };
    let adder = arrow_adder.adder.unwrap_or_else(|| Adder::new(false));
    Ok((adder, field.metadata().get(KEY).cloned()))
}

#[derive(Default)]
struct ArrowAdder {
    adder: Option<Adder>,
    rows: usize,
}

impl ArrowAdder {
    /// Checks the columns before the first rows, since there may be no rows.
    fn check(&mut self, py: Python<'_>, field: &Field) -> PyResult<()> {
        let DataType::Struct(fields) = field.data_type() else {
            let message =
                format!("counts must be a table, but the data is an array of type {}.", field.data_type());
            return Err(option_error(py, message, None));
        };
        let empty_columns: Vec<ArrayRef> =
            fields.iter().map(|field| arrow_array::new_empty_array(field.data_type())).collect();
        let columns =
            Columns::new(fields, &empty_columns).map_err(|reason| option_error(py, reason, None))?;
        self.adder = Some(Adder::new(columns.ordered()));
        Ok(())
    }

    fn add(&mut self, py: Python<'_>, rows: &ArrayRef) -> PyResult<()> {
        let rows = rows.as_struct();
        if let Some(row) = (rows.null_count() > 0).then(|| (0..rows.len()).find(|&row| rows.is_null(row))) {
            return Err(option_error(py, "the row is null.".into(), row.map(|row| self.rows + row)));
        }
        let adder = self.adder.as_mut().expect("`check` creates it");
        let columns = Columns::new(rows.fields(), rows.columns());
        let columns = columns.map_err(|reason| option_error(py, reason, None))?;
        let signals = Signals::new();
        let result = py.detach(|| {
            adder.reserve(columns.len());
            for row in 0..columns.len() {
                if row.is_multiple_of(1 << 14) {
                    digram::interrupt::Interrupt::check(&signals)
                        .map_err(|error| (row, RowError::Core(error)))?;
                }
                let (piece, count, first) =
                    columns.row(row).map_err(|reason| (row, RowError::Invalid(reason)))?;
                if piece.is_empty() {
                    return Err((
                        row,
                        RowError::Invalid("the piece is empty, but a pretoken has at least one byte.".into()),
                    ));
                }
                if count > 0 {
                    adder.add(piece, count, first).map_err(|error| (row, RowError::Core(error)))?;
                }
            }
            Ok(columns.len())
        });
        self.rows += result.map_err(|(row, error)| match error {
            RowError::Invalid(reason) => option_error(py, reason, Some(self.rows + row)),
            RowError::Core(error) => signals.error(py, error, None),
        })?;
        Ok(())
    }
}

enum RowError {
    Invalid(String),
    Core(digram::Error),
}

fn option_error(py: Python<'_>, reason: String, row: Option<usize>) -> PyErr {
    let message = row.map_or_else(|| reason.clone(), |row| format!("row {row}: {reason}"));
    errors::build(py, "OptionError", message, |attributes| {
        attributes.set_item("index", row)?;
        attributes.set_item(
            "hint",
            "Counts are a table with a row for each pretoken: piece (binary) and count (int64), and \
             first (int64) if first occurrences are known.",
        )
    })
}

fn unexpected(py: Python<'_>, error: &ArrowError) -> PyErr {
    errors::raise(py, "InternalError", error.to_string())
}
