//! Counts of several corpora, merged on disk.

use std::path::PathBuf;

use digram::count::{self, Weight};
use pyo3::prelude::*;

use super::in_progress::InProgress;
use super::{CountsArgument, SortedCounts};
use crate::errors;
use crate::signals::Signals;

/// Merges weighted counts of several corpora without keeping them in memory.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Joiner {
    /// An error or an interruption leaves a corpus partly added.
    joiner: InProgress<count::Joiner>,
}

#[pymethods]
impl Joiner {
    /// Data is written to a new folder in `folder`. `ordered` states whether first occurrences are
    /// known for all corpora.
    #[new]
    fn new(py: Python<'_>, memory_limit: u64, folder: PathBuf, ordered: bool) -> PyResult<Joiner> {
        count::Joiner::new(memory_limit, &folder, ordered)
            .map(|joiner| Joiner { joiner: InProgress::new("joiner", joiner) })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// Adds the next corpus, each count times a fraction.
    fn add(
        &self,
        py: Python<'_>,
        counts: CountsArgument<'_>,
        numerator: u64,
        denominator: u64,
    ) -> PyResult<()> {
        let weight = Weight::new(numerator, denominator).map_err(|e| errors::from_core(py, e, None))?;
        let mut joiner = self.joiner.take(py)?;
        let signals = Signals::new();
        let result = match &counts {
            CountsArgument::Memory(counts) => {
                let counts = &*counts.get().counts;
                py.detach(|| joiner.add(counts, weight, &signals))
            }
            CountsArgument::Disk(counts) => {
                let counts = &counts.get().counts;
                py.detach(|| joiner.add_from_disk(counts, weight, &signals))
            }
        };
        result.map_err(|error| signals.error(py, error, None))?;
        self.joiner.put(joiner);
        Ok(())
    }

    /// The merged counts; `on_progress` is as with `Counter.finish_bounded`.
    #[pyo3(signature = (on_progress=None))]
    fn finish(&self, py: Python<'_>, on_progress: Option<Py<PyAny>>) -> PyResult<SortedCounts> {
        let joiner = self.joiner.take(py)?;
        let signals = Signals::reporting_to(on_progress);
        py.detach(|| joiner.finish(&signals))
            .map(|counts| SortedCounts { counts })
            .map_err(|error| signals.error(py, error, None))
    }
}
