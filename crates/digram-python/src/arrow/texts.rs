//! The texts in a column of a table, in batches.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{Given, Strings, Unfit, given, next, unreadable};
use crate::errors;
use crate::objects::bytes;
use crate::turn::InTurn;

/// The approximate number of bytes that a Python string takes in addition to its text.
const PER_TEXT: usize = 64;

/// The texts of a column; see the stub.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct ArrowTexts {
    state: InTurn<State>,
}

struct State {
    /// The source of further rows, and the name of the column, in parts if it is nested.
    rows: Given,
    column: Vec<String>,
    /// The current rows, and the first of them that was not returned yet.
    now: Option<Rows>,
    at: usize,
}

/// The column in some rows.
struct Rows {
    /// The structs that contain it: if one of these is null, so is the text.
    within: Vec<ArrayRef>,
    texts: Strings,
    len: usize,
}

#[pymethods]
impl ArrowTexts {
    /// Takes an Arrow table, or an object that provides one; a single array if `column` is empty or
    /// the data has no columns.
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>, column: Vec<String>) -> PyResult<ArrowTexts> {
        let Some(rows) = given(py, data)? else {
            return Err(PyTypeError::new_err(format!(
                "a table is something with __arrow_c_stream__ or __arrow_c_array__, not {}",
                data.get_type().name()?
            )));
        };
        let field = rows.field();
        // A single array is its own column, whatever the name.
        let column = if matches!(field.data_type(), DataType::Struct(_)) { column } else { Vec::new() };
        check(py, &field, &column)?;
        let now = match &rows {
            Given::Stream(_) => None,
            Given::Array(array, _) => Some(Rows::of(py, array, &column)?),
        };
        Ok(ArrowTexts { state: InTurn::new("reader of Arrow data", State { rows, column, now, at: 0 }) })
    }

    /// The next texts, with None for a null, of about `size` bytes in total; None at the end.
    fn next<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        let mut taken = self.state.take(py)?;
        let state = &mut *taken;
        loop {
            if let Some(rows) = state.now.as_ref().filter(|rows| state.at < rows.len) {
                let texts = PyList::empty(py);
                let mut held = 0;
                while state.at < rows.len && held < size {
                    match rows.text(state.at) {
                        Some(text) => {
                            texts.append(bytes(py, text)?)?;
                            held += text.len();
                        }
                        None => texts.append(py.None())?,
                    }
                    held += PER_TEXT;
                    state.at += 1;
                }
                return Ok(Some(texts));
            }
            // Free the current rows before requesting more.
            state.now = None;
            state.at = 0;
            let Given::Stream(stream) = &mut state.rows else { return Ok(None) };
            match next(py, stream)? {
                None => return Ok(None),
                Some(array) => state.now = Some(Rows::of(py, &array, &state.column)?),
            }
        }
    }
}

impl Rows {
    /// `check` has verified that the column exists, and its type.
    fn of(py: Python<'_>, array: &ArrayRef, column: &[String]) -> PyResult<Rows> {
        let mut within = Vec::new();
        let mut inner = array.clone();
        for name in column {
            let next = inner.as_struct().column_by_name(name).expect("`check` saw it").clone();
            within.push(inner);
            inner = next;
        }
        let texts = py.detach(|| match Strings::new(&inner) {
            _ if inner.len() != array.len() => {
                Err(format!("{} rows of a column in a table of {}", inner.len(), array.len()))
            }
            Err(Unfit::Damaged(reason)) => Err(reason),
            found => Ok(found.expect("`check` saw its type")),
        });
        let texts = texts.map_err(|reason| unreadable(py, &ArrowError::CDataInterface(reason)))?;
        Ok(Rows { within, len: array.len(), texts })
    }

    fn text(&self, row: usize) -> Option<&[u8]> {
        if self.within.iter().any(|array| array.is_null(row)) {
            return None;
        }
        self.texts.get(row)
    }
}

/// Refuses data without such a column, or with one of another type.
fn check(py: Python<'_>, field: &Field, column: &[String]) -> PyResult<()> {
    let mut inner = field.clone();
    for (depth, name) in column.iter().enumerate() {
        let shown = column[..=depth].join(".");
        let DataType::Struct(fields) = inner.data_type() else {
            let of = inner.data_type();
            let message =
                format!("the column {:?} is of type {of} and has no fields.", column[..depth].join("."));
            return Err(refused(py, message, column, ""));
        };
        let Some((_, found)) = fields.find(name) else {
            let names: Vec<_> = fields.iter().map(|field| format!("{:?}", field.name())).collect();
            let message = format!("there is no column {shown:?}.");
            let hint = format!("The columns are {}.", names.join(", "));
            return Err(refused(py, message, column, &hint));
        };
        inner = found.as_ref().clone();
    }
    if !Strings::fit(inner.data_type()) {
        let what = match column {
            [] => "what came through Arrow".into(),
            _ => format!("the column {:?}", column.join(".")),
        };
        let message = format!("{what} is of type {}, and texts are strings or binary.", inner.data_type());
        return Err(refused(py, message, column, ""));
    }
    Ok(())
}

fn refused(py: Python<'_>, message: String, column: &[String], hint: &str) -> PyErr {
    errors::build(py, "OptionError", message, |places| {
        places.set_item("value", column.join("."))?;
        if !hint.is_empty() {
            places.set_item("hint", hint)?;
        }
        Ok(())
    })
}
