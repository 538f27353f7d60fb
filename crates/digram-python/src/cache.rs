//! Limits of the memory in which encoding remembers what texts became.

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};

use digram::encode::{cache_bytes as bytes_now, limit_cache as limit};
use pyo3::prelude::*;

use crate::errors;

/// The number of bytes for all threads of the process, where no call sets it.
const VARIABLE: &str = "DIGRAM_CACHE_BYTES";

/// Whether a call has set the limits, so that the variable has no effect.
static IS_SET: AtomicBool = AtomicBool::new(false);

/// See `digram.limit_cache`.
#[pyfunction]
pub(crate) fn limit_cache(py: Python<'_>, total: Option<usize>, per_thread: Option<usize>) -> PyResult<()> {
    let is_set = total.is_some() || per_thread.is_some();
    let total = if total.is_none() { from_variable(py)? } else { total };
    IS_SET.store(is_set, Ordering::Relaxed);
    py.detach(|| limit(total, per_thread));
    Ok(())
}

/// See `digram.cache_bytes`.
#[pyfunction]
pub(crate) fn cache_bytes() -> usize {
    bytes_now()
}

/// Sets the limit by the variable, unless a call has set it.
pub(crate) fn limit_by_variable(py: Python<'_>) -> PyResult<()> {
    if !IS_SET.load(Ordering::Relaxed) {
        limit(from_variable(py)?, None);
    }
    Ok(())
}

fn from_variable(py: Python<'_>) -> PyResult<Option<usize>> {
    let Some(value) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.to_str().map(|value| value.trim().parse::<usize>()) {
        Some(Ok(bytes)) => Ok(Some(bytes.min(isize::MAX as usize))),
        _ => {
            let shown: String = value.to_string_lossy().chars().take(80).collect();
            let message = format!("the environment variable {VARIABLE}={shown:?} is not a number of bytes.");
            Err(errors::build(py, "OptionError", message, |places| {
                places.set_item("value", shown)?;
                places.set_item("hint", "Set it to a whole number from 0 on, or unset it.")
            }))
        }
    }
}
