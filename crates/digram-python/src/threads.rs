//! The default number of threads.

use std::env;

use digram::parallel::available_threads;
use pyo3::prelude::*;

use crate::errors;

/// Sets the number of threads for all calls that do not set it themselves.
const VARIABLE: &str = "DIGRAM_THREADS";

/// The requested number, or that of `DIGRAM_THREADS`, or one per processor that this process may use. At
/// least 1.
///
/// The variable is read each time, because a server may set it after the import.
pub(crate) fn threads(py: Python<'_>, requested: Option<usize>) -> PyResult<usize> {
    if let Some(requested) = requested {
        return Ok(requested.max(1));
    }
    let Some(value) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(available_threads());
    };
    match value.to_str().map(|value| value.trim().parse::<usize>()) {
        Some(Ok(value @ 1..)) => Ok(value),
        _ => {
            let shown: String = value.to_string_lossy().chars().take(80).collect();
            let message =
                format!("the environment variable {VARIABLE}={shown:?} is not a number of threads.");
            Err(errors::build(py, "OptionError", message, |places| {
                places.set_item("value", shown)?;
                places.set_item("hint", "Set it to a whole number from 1 on, or unset it.")
            }))
        }
    }
}

/// The number of threads of a call that does not set it: see `digram._util.validation.available_cores`.
#[pyfunction]
pub(crate) fn default_threads(py: Python<'_>) -> PyResult<usize> {
    threads(py, None)
}
