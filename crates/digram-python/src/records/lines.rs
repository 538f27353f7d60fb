//! Lines of JSON.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::json;
use super::{Fault, Texts};

/// The number of records in complete lines, the texts of one of their fields, and the faults of the
/// records that have no text there.
#[pyfunction]
pub(crate) fn json_texts<'py>(
    py: Python<'py>,
    lines: &Bound<'py, PyBytes>,
    field: Vec<String>,
) -> PyResult<(usize, Bound<'py, PyList>, Vec<Fault>)> {
    let lines = lines.as_bytes();
    let (texts, records) = py.detach(|| read(lines, &field));
    Ok((records, texts.to_list(py)?, texts.faults))
}

fn read(lines: &[u8], field: &[String]) -> (Texts, usize) {
    let mut texts = Texts { bytes: Vec::with_capacity(lines.len()), ..Texts::default() };
    let (mut records, mut next) = (0, 0);
    while next < lines.len() {
        let start = next;
        let len = lines[start..].iter().position(|&byte| byte == b'\n').unwrap_or(lines.len() - start);
        next = start + len + 1;
        let line = &lines[start..start + len];
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(reason) = json::read(line, field, &mut texts) {
            texts.fault(records, start, reason);
        }
        records += 1;
    }
    (texts, records)
}
