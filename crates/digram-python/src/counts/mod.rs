//! Counting pretokens, and counts as a value.

mod argument;
mod bounded;
mod columns;
mod file;
mod foreign;
mod in_progress;
mod join;
mod value;

use std::path::PathBuf;
use std::sync::Arc;

use digram::count;
use pyo3::prelude::*;

use crate::Splitter;
use crate::convert::{bytes_of, texts};
use crate::errors;
use crate::objects::Objects;
use crate::signals::Signals;
use crate::tokenizer::Core;

pub(crate) use argument::CountsArgument;
pub(crate) use bounded::SortedCounts;
pub(crate) use file::{CountsReader, CountsWriter};
use in_progress::InProgress;
pub(crate) use join::Joiner;
pub(crate) use value::Counts;

/// The text between the added tokens of a tokenizer.
fn stretches(between: Option<PyRef<'_, Core>>) -> Option<Arc<dyn count::Stretches>> {
    between.map(|core| core.tokenizer.clone() as Arc<dyn count::Stretches>)
}

/// Counts the pretokens of texts, batch by batch.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Counter {
    /// An error or an interruption leaves a batch partly counted.
    counter: InProgress<count::Counter>,
}

impl Counter {
    fn of(counter: count::Counter) -> Counter {
        Counter { counter: InProgress::new("counter", counter) }
    }
}

#[pymethods]
impl Counter {
    /// With `memory`, a number of bytes and a folder, data that does not fit is written to a new
    /// folder in that one. `between` is a tokenizer whose added tokens are left out where they are found
    /// in all text; `splitter` is its own.
    #[new]
    #[pyo3(signature = (splitter, *, memory=None, between=None))]
    fn new(
        py: Python<'_>,
        splitter: &Splitter,
        memory: Option<(u64, PathBuf)>,
        between: Option<PyRef<'_, Core>>,
    ) -> PyResult<Self> {
        let (pretokenizer, normalizer) = (splitter.pretokenizer.clone(), splitter.normalizer.clone());
        let counter = match memory {
            None => Ok(count::Counter::new(pretokenizer)),
            Some((memory, folder)) => count::Counter::bounded(pretokenizer, memory, &folder),
        };
        counter
            .map(|counter| {
                Counter::of(counter.with_normalizer(normalizer).with_stretches(stretches(between)))
            })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// Counts a batch of texts, without the GIL. If documents are divided into several texts,
    /// `documents` is their number.
    #[pyo3(signature = (batch, threads=None, documents=None))]
    fn add(
        &self,
        py: Python<'_>,
        batch: Objects<'_>,
        threads: Option<usize>,
        documents: Option<u64>,
    ) -> PyResult<()> {
        let texts = texts(&batch, "texts")?;
        let texts = bytes_of(py, &texts)?;
        let mut counter = self.counter.take(py)?;
        let signals = Signals::new();
        let documents = documents.unwrap_or(texts.len() as u64);
        let threads = crate::threads::threads(py, threads)?;
        let result = py.detach(|| counter.add_parts(&texts, documents, threads, &signals).map(|()| counter));
        self.counter.put(result.map_err(|error| signals.error(py, error, None))?);
        Ok(())
    }

    /// The counts of all batches; the counter cannot be used afterwards.
    fn finish(&self, py: Python<'_>) -> PyResult<Counts> {
        let counter = self.counter.take(py)?;
        let signals = Signals::new();
        let counts =
            py.detach(|| counter.finish(&signals)).map_err(|error| signals.error(py, error, None))?;
        Ok(Counts::new(counts))
    }
}
