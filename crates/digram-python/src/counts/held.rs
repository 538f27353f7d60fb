//! Counts as arguments, in memory or on disk.

use digram::count::{self, Pieces};
use digram::train;
use pyo3::prelude::*;

use super::{Counts, SortedCounts};
use crate::signals::Signals;

/// Counts owned by Python, in memory or on disk.
#[derive(FromPyObject)]
pub(crate) enum Held<'py> {
    Memory(Bound<'py, Counts>),
    Disk(Bound<'py, SortedCounts>),
}

impl Held<'_> {
    /// The counts themselves, for use without the GIL.
    pub(crate) fn pieces(&self) -> &(dyn Pieces + Sync) {
        match self {
            Held::Memory(counts) => &*counts.get().counts,
            Held::Disk(counts) => &counts.get().counts,
        }
    }
}

/// The characters of the text, sorted: all, or the most frequent ones.
pub(super) fn characters(
    py: Python<'_>,
    counts: &(impl Pieces + Sync),
    limit: Option<usize>,
) -> PyResult<String> {
    let signals = Signals::new();
    py.detach(|| train::characters(counts, limit, &signals))
        .map(|characters| characters.into_iter().collect())
        .map_err(|error| signals.error(py, error, None))
}

/// The digest of counts.
pub(super) fn digest(py: Python<'_>, counts: &(impl Pieces + Sync)) -> PyResult<String> {
    let signals = Signals::new();
    py.detach(|| count::digest(counts, &signals))
        .map(|digest| format!("{digest:032x}"))
        .map_err(|error| signals.error(py, error, None))
}
