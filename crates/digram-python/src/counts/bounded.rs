//! Counting in bounded memory, and resuming an earlier run.

use std::path::PathBuf;

use digram::count::{self, Checkpoint, Counted, Pieces, Totals};
use pyo3::prelude::*;

use super::argument::{self, methods_of_counts};
use super::{Counter, Counts};
use crate::Splitter;
use crate::errors;
use crate::signals::Signals;
use crate::tokenizer::Core;

/// The names of the files with the counts, and the numbers of documents, bytes and pretokens.
type CheckpointTuple = (Vec<String>, (u64, u64, u64));

fn checkpoint_tuple(checkpoint: Checkpoint) -> CheckpointTuple {
    let Totals { documents, bytes, pretokens } = checkpoint.totals;
    (checkpoint.runs, (documents, bytes, pretokens))
}

#[pymethods]
impl Counter {
    /// A counter that resumes from a checkpoint whose files are in `folder`; without one, a new
    /// counter that writes its checkpoints there. Other counter files in the folder are deleted.
    #[staticmethod]
    #[pyo3(signature = (splitter, folder, checkpoint=None, *, memory_limit=None, between=None))]
    fn resumed(
        py: Python<'_>,
        splitter: &Splitter,
        folder: PathBuf,
        checkpoint: Option<CheckpointTuple>,
        memory_limit: Option<u64>,
        between: Option<PyRef<'_, Core>>,
    ) -> PyResult<Counter> {
        let (runs, (documents, bytes, pretokens)) = checkpoint.unwrap_or_default();
        let checkpoint = Checkpoint { runs, totals: Totals { documents, bytes, pretokens } };
        let (pretokenizer, normalizer) = (splitter.pretokenizer.clone(), splitter.normalizer.clone());
        let stretches = super::stretches(between);
        py.detach(|| count::Counter::resumed(pretokenizer, memory_limit, &folder, &checkpoint))
            .map(|counter| Counter::of(counter.with_normalizer(normalizer).with_stretches(stretches)))
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// Writes all counts to the disk, and returns the checkpoint from which to resume. The caller
    /// must store it before the next call.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<CheckpointTuple> {
        let mut counter = self.counter.take(py)?;
        let signals = Signals::new();
        let (counter, checkpoint) = py.detach(|| {
            let checkpoint = counter.checkpoint(&signals);
            (counter, checkpoint)
        });
        let checkpoint = checkpoint.map_err(|error| signals.error(py, error, None))?;
        self.counter.put(counter);
        Ok(checkpoint_tuple(checkpoint))
    }

    /// The counts of all batches, on disk if they do not fit in memory; the counter cannot be used
    /// afterwards. While files are merged, `on_progress` is called with the number of pretokens
    /// merged so far, and their total.
    #[pyo3(signature = (on_progress=None))]
    fn finish_bounded<'py>(
        &self,
        py: Python<'py>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let counter = self.counter.take(py)?;
        let signals = Signals::reporting_to(on_progress);
        let counts = py.detach(|| counter.finish_bounded(&signals));
        match counts.map_err(|error| signals.error(py, error, None))? {
            Counted::Memory(counts) => Ok(Bound::new(py, Counts::new(counts))?.into_any()),
            Counted::Disk(counts) => Ok(Bound::new(py, SortedCounts { counts })?.into_any()),
        }
    }
}

/// Distinct pretokens with their counts, in a file.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct SortedCounts {
    pub(crate) counts: count::SortedCounts,
}

impl SortedCounts {
    pub(super) fn distinct_pretokens(&self) -> &(dyn Pieces + Sync) {
        &self.counts
    }
}

methods_of_counts!(SortedCounts);

#[pymethods]
impl SortedCounts {
    fn __len__(&self) -> usize {
        self.counts.distinct() as usize
    }

    /// The path of the file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.counts.path()
    }

    /// A checkpoint with these counts: `finish_bounded` of a counter resumed from it returns them at
    /// once.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<CheckpointTuple> {
        py.detach(|| self.counts.checkpoint())
            .map(checkpoint_tuple)
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// The same counts in memory.
    fn to_memory(&self, py: Python<'_>) -> PyResult<Counts> {
        let signals = Signals::new();
        py.detach(|| self.counts.read(&signals))
            .map(Counts::new)
            .map_err(|error| signals.error(py, error, None))
    }
}
