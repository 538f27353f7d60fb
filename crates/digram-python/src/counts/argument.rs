//! Counts as arguments, in memory or on disk.

use digram::count::{self, Pieces};
use digram::train;
use pyo3::prelude::*;

use super::{Counts, SortedCounts};
use crate::signals::Signals;

/// Counts owned by Python, in memory or on disk.
#[derive(FromPyObject)]
pub(crate) enum CountsArgument<'py> {
    Memory(Bound<'py, Counts>),
    Disk(Bound<'py, SortedCounts>),
}

impl CountsArgument<'_> {
    /// The counts themselves, for use without the GIL.
    pub(crate) fn distinct_pretokens(&self) -> &(dyn Pieces + Sync) {
        match self {
            CountsArgument::Memory(counts) => counts.get().distinct_pretokens(),
            CountsArgument::Disk(counts) => counts.get().distinct_pretokens(),
        }
    }
}

/// The methods of both kinds of counts, which the class has as `self.counts`.
macro_rules! methods_of_counts {
    ($class:ty) => {
        #[pymethods]
        impl $class {
            /// Texts counted.
            #[getter]
            fn documents(&self) -> u64 {
                self.counts.totals().documents
            }

            /// Bytes counted.
            #[getter]
            fn bytes(&self) -> u64 {
                self.counts.totals().bytes
            }

            /// Pretokens counted, repeated ones included.
            #[getter]
            fn pretokens(&self) -> u64 {
                self.counts.totals().pretokens
            }

            /// The characters of the text, sorted: all, or the most frequent ones.
            #[pyo3(signature = (limit=None))]
            fn characters(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<String> {
                argument::characters(py, self.distinct_pretokens(), limit)
            }

            /// The letters of words, which are pretokens without the space before them: all or the most
            /// frequent ones, and those of them that occur after the first one of a word.
            #[pyo3(signature = (limit=None))]
            fn letters(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<(String, String)> {
                argument::letters(py, self.distinct_pretokens(), limit)
            }

            /// The digest of these counts, equal in memory and on disk.
            fn digest(&self, py: Python<'_>) -> PyResult<String> {
                argument::digest(py, self.distinct_pretokens())
            }
        }
    };
}
pub(super) use methods_of_counts;

/// The characters of the text, sorted: all, or the most frequent ones.
pub(super) fn characters(
    py: Python<'_>,
    counts: &(dyn Pieces + Sync),
    limit: Option<usize>,
) -> PyResult<String> {
    let signals = Signals::new();
    py.detach(|| train::characters(counts, limit, &signals))
        .map(|characters| characters.into_iter().collect())
        .map_err(|error| signals.error(py, error, None))
}

/// The letters of words: all or the most frequent ones, and those inside words.
pub(super) fn letters(
    py: Python<'_>,
    counts: &(dyn Pieces + Sync),
    limit: Option<usize>,
) -> PyResult<(String, String)> {
    let signals = Signals::new();
    py.detach(|| train::letters(counts, limit, &signals))
        .map(|letters| (letters.all.into_iter().collect(), letters.inner.into_iter().collect()))
        .map_err(|error| signals.error(py, error, None))
}

/// The digest of counts.
pub(super) fn digest(py: Python<'_>, counts: &(dyn Pieces + Sync)) -> PyResult<String> {
    let signals = Signals::new();
    py.detach(|| count::digest(counts, &signals))
        .map(|digest| format!("{digest:032x}"))
        .map_err(|error| signals.error(py, error, None))
}
