//! Counts of several corpora, brought together on disk.

use std::path::PathBuf;
use std::sync::Mutex;

use digram::count::{self, Weight};
use pyo3::prelude::*;

use super::{Counts, SortedCounts};
use crate::errors;
use crate::watch::Signals;

/// Brings together counts of several corpora, weighted, and holds none of them.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Joiner {
    /// `None` after `finish`, and after an error, which leaves a part of a corpus.
    joiner: Mutex<Option<count::Joiner>>,
}

impl Joiner {
    fn take(&self, py: Python<'_>) -> PyResult<count::Joiner> {
        let joiner = self.joiner.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        joiner.ok_or_else(|| errors::raise(py, "InternalError", "this joiner was finished or interrupted."))
    }
}

#[pymethods]
impl Joiner {
    /// What comes goes to a new folder in `folder`. `ordered` says whether it is known of all where
    /// each pretoken first stands.
    #[new]
    fn new(py: Python<'_>, memory_limit: u64, folder: PathBuf, ordered: bool) -> PyResult<Joiner> {
        count::Joiner::new(memory_limit, &folder, ordered)
            .map(|joiner| Joiner { joiner: Mutex::new(Some(joiner)) })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// The next corpus, each count times a fraction.
    fn add(
        &self,
        py: Python<'_>,
        counts: &Bound<'_, PyAny>,
        numerator: u64,
        denominator: u64,
    ) -> PyResult<()> {
        let weight = Weight::new(numerator, denominator).map_err(|e| errors::from_core(py, e, None))?;
        let sorted = counts.cast::<SortedCounts>().ok().map(|counts| counts.get());
        let in_memory = match sorted {
            Some(_) => None,
            None => Some(counts.cast::<Counts>()?.get()),
        };
        let mut joiner = self.take(py)?;
        let signals = Signals::new();
        let added = py.detach(|| {
            match (sorted, in_memory) {
                (Some(sorted), _) => joiner.add_from_disk(&sorted.counts, weight, &signals)?,
                (None, Some(counts)) => joiner.add(&counts.counts, weight, &signals)?,
                (None, None) => {}
            }
            Ok(joiner)
        });
        let joiner = added.map_err(|error| signals.error(py, error, None))?;
        *self.joiner.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(joiner);
        Ok(())
    }

    /// The counts of all of them; `on_progress` is as with `Counter.finish_bounded`.
    #[pyo3(signature = (on_progress=None))]
    fn finish(&self, py: Python<'_>, on_progress: Option<Py<PyAny>>) -> PyResult<SortedCounts> {
        let joiner = self.take(py)?;
        let signals = Signals::reporting_to(on_progress);
        py.detach(|| joiner.finish(&signals))
            .map(|counts| SortedCounts { counts })
            .map_err(|error| signals.error(py, error, None))
    }
}
