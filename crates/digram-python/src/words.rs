//! Counting the words of texts that are in a set.

use digram::words;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::convert;
use crate::objects::Objects;
use crate::signals::Signals;

/// A set of words. See `digram.analysis.metrics.tally`.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct WordSet {
    words: words::WordSet,
}

#[pymethods]
impl WordSet {
    #[new]
    fn new(words: Vec<PyBackedBytes>) -> WordSet {
        WordSet { words: words::WordSet::new(&words) }
    }

    /// Returns the number of words in all texts together, and how many of these are in the set.
    #[pyo3(signature = (texts, threads=None))]
    fn count(&self, py: Python<'_>, texts: Objects<'_>, threads: Option<usize>) -> PyResult<(u64, u64)> {
        let texts = convert::texts(&texts, "texts")?;
        let bytes = convert::bytes_of(py, &texts)?;
        let threads = crate::threads::threads(py, threads)?;
        let signals = Signals::new();
        let counts = py.detach(|| self.words.count(&bytes, threads, &signals));
        match counts {
            Ok(counts) => Ok((counts.words, counts.known)),
            Err(error) => Err(signals.error(py, error, None)),
        }
    }
}
