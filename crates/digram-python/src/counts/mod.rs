//! Counting pretokens, and counts as a value.

mod bounded;
mod columns;
mod file;
mod foreign;
mod join;
mod value;

use std::path::PathBuf;
use std::sync::Mutex;

use digram::count;
use digram::watch::available_threads;
use pyo3::prelude::*;

use crate::Splitter;
use crate::convert::texts;
use crate::errors;
use crate::watch::Signals;

pub(crate) use bounded::SortedCounts;
pub(crate) use file::{CountsReader, CountsWriter};
pub(crate) use join::Joiner;
pub(crate) use value::Counts;

/// Counts the pretokens of texts, batch by batch.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Counter {
    /// `None` after `finish`, and after an interruption, which leaves a batch half counted.
    counter: Mutex<Option<count::Counter>>,
}

impl Counter {
    pub(crate) fn of(counter: count::Counter) -> Counter {
        Counter { counter: Mutex::new(Some(counter)) }
    }

    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<count::Counter> {
        let counter = self.counter.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        counter.ok_or_else(|| errors::raise(py, "InternalError", "this counter was finished or interrupted."))
    }

    pub(crate) fn put(&self, counter: count::Counter) {
        *self.counter.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(counter);
    }
}

#[pymethods]
impl Counter {
    /// With a limit of memory in bytes, what does not fit goes to a new folder in `folder`, which
    /// is that of the system for such things if none is named.
    #[new]
    #[pyo3(signature = (splitter, *, memory_limit=None, folder=None))]
    fn new(
        py: Python<'_>,
        splitter: &Splitter,
        memory_limit: Option<u64>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let pretokenizer = splitter.pretokenizer.clone();
        let Some(memory) = memory_limit else { return Ok(Counter::of(count::Counter::new(pretokenizer))) };
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        count::Counter::bounded(pretokenizer, memory, &folder)
            .map(Counter::of)
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// Counts a batch of texts, without the GIL; of texts in parts so many as `documents` says.
    #[pyo3(signature = (batch, threads=None, documents=None))]
    fn add(
        &self,
        py: Python<'_>,
        batch: Vec<Bound<'_, PyAny>>,
        threads: Option<usize>,
        documents: Option<u64>,
    ) -> PyResult<()> {
        let texts = texts(&batch, "texts")?;
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.bytes()).collect();
        let mut counter = self.take(py)?;
        let signals = Signals::new();
        let documents = documents.unwrap_or(texts.len() as u64);
        let threads = threads.unwrap_or_else(available_threads);
        let counted = py.detach(|| counter.add_parts(&texts, documents, threads, &signals).map(|()| counter));
        self.put(counted.map_err(|error| signals.error(py, error, None))?);
        Ok(())
    }

    /// The counts of all batches; the counter is used up.
    fn finish(&self, py: Python<'_>) -> PyResult<Counts> {
        let counter = self.take(py)?;
        let signals = Signals::new();
        let counts =
            py.detach(|| counter.finish(&signals)).map_err(|error| signals.error(py, error, None))?;
        Ok(Counts::new(counts))
    }
}
