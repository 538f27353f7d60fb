//! The texts in a column of a table, in batches.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{ArrowData, ColumnError, Strings, arrow_data, next, unreadable};
use crate::errors;
use crate::objects::bytes;
use crate::turn::SharedState;

/// The approximate number of bytes that a Python string takes in addition to its text.
const TEXT_OVERHEAD: usize = 64;

/// The texts of a column; see the stub.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct ArrowTexts {
    state: SharedState<ReadState>,
}

struct ReadState {
    /// The source of further rows, and the name of the column, in parts if it is nested.
    rows: ArrowData,
    column: Vec<String>,
    /// The current rows, and the index of the next one.
    current: Option<ColumnRows>,
    next_row: usize,
}

/// The column in some rows.
struct ColumnRows {
    /// The structs that contain it: if one of these is null, so is the text.
    parents: Vec<ArrayRef>,
    texts: Strings,
    len: usize,
}

#[pymethods]
impl ArrowTexts {
    /// Takes an Arrow table, or an object that provides one; a single array if `column` is empty or
    /// the data has no columns.
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>, column: Vec<String>) -> PyResult<ArrowTexts> {
        let Some(rows) = arrow_data(py, data)? else {
            return Err(PyTypeError::new_err(format!(
                "a table must be an object with __arrow_c_stream__ or __arrow_c_array__, not {}",
                data.get_type().name()?
            )));
        };
        let field = rows.field();
        // A single array is its own column, whatever the name.
        let column = if matches!(field.data_type(), DataType::Struct(_)) { column } else { Vec::new() };
        check(py, &field, &column)?;
        let current = match &rows {
            ArrowData::Stream(_) => None,
            ArrowData::Array(array, _) => Some(ColumnRows::of(py, array, &column)?),
        };
        Ok(ArrowTexts {
            state: SharedState::new("reader of Arrow data", ReadState { rows, column, current, next_row: 0 }),
        })
    }

    /// The next texts, with None for a null, of about `size` bytes in total; None at the end.
    fn next<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut guard = self.state.take(py)?;
        let state = &mut *guard;
        loop {
            if let Some(rows) = state.current.as_ref().filter(|rows| state.next_row < rows.len) {
                let texts = PyList::empty(py);
                let mut size_so_far = 0;
                while state.next_row < rows.len && size_so_far < size {
                    match rows.text(state.next_row) {
                        Some(text) => {
                            texts.append(bytes(py, text)?)?;
                            size_so_far += text.len();
                        }
                        None => texts.append(py.None())?,
                    }
                    size_so_far += TEXT_OVERHEAD;
                    state.next_row += 1;
                }
                return Ok(Some(texts));
            }
            // Free the current rows before requesting more.
            state.current = None;
            state.next_row = 0;
            let ArrowData::Stream(stream) = &mut state.rows else { return Ok(None) };
            match next(py, stream)? {
                None => return Ok(None),
                Some(array) => state.current = Some(ColumnRows::of(py, &array, &state.column)?),
            }
        }
    }
}

impl ColumnRows {
    /// `check` has verified that the column exists, and its type.
    fn of(py: Python<'_>, array: &ArrayRef, column: &[String]) -> PyResult<ColumnRows> {
        let mut parents = Vec::new();
        let mut inner = array.clone();
        for name in column {
            let next =
                inner.as_struct().column_by_name(name).expect("`check` verified that it exists").clone();
            parents.push(inner);
            inner = next;
        }
        let texts = py.detach(|| match Strings::new(&inner) {
            _ if inner.len() != array.len() => {
                Err(format!("a column has {} rows, but its table has {}", inner.len(), array.len()))
            }
            Err(ColumnError::Damaged(reason)) => Err(reason),
            texts => Ok(texts.expect("`check` verified its type")),
        });
        let texts = texts.map_err(|reason| unreadable(py, &ArrowError::CDataInterface(reason)))?;
        Ok(ColumnRows { parents, len: array.len(), texts })
    }

    fn text(&self, row: usize) -> Option<&[u8]> {
        if self.parents.iter().any(|array| array.is_null(row)) {
            return None;
        }
        self.texts.get(row)
    }
}

/// Fails if the data has no such column, or if the column has another type.
fn check(py: Python<'_>, field: &Field, column: &[String]) -> PyResult<()> {
    let mut inner = field.clone();
    for (depth, name) in column.iter().enumerate() {
        let path = column[..=depth].join(".");
        let DataType::Struct(fields) = inner.data_type() else {
            let data_type = inner.data_type();
            let message = format!(
                "the column {:?} is of type {data_type}, which has no fields.",
                column[..depth].join(".")
            );
            return Err(option_error(py, message, column, ""));
        };
        let Some((_, field)) = fields.find(name) else {
            let names: Vec<_> = fields.iter().map(|field| format!("{:?}", field.name())).collect();
            let message = format!("there is no column {path:?}.");
            let hint = format!("The columns are {}.", names.join(", "));
            return Err(option_error(py, message, column, &hint));
        };
        inner = field.as_ref().clone();
    }
    if !Strings::fit(inner.data_type()) {
        let name = match column {
            [] => "the Arrow data".into(),
            _ => format!("the column {:?}", column.join(".")),
        };
        let message =
            format!("{name} is of type {}, but texts must be strings or binary.", inner.data_type());
        return Err(option_error(py, message, column, ""));
    }
    Ok(())
}

fn option_error(py: Python<'_>, message: String, column: &[String], hint: &str) -> PyErr {
    errors::build(py, "OptionError", message, |attributes| {
        attributes.set_item("value", column.join("."))?;
        if !hint.is_empty() {
            attributes.set_item("hint", hint)?;
        }
        Ok(())
    })
}
