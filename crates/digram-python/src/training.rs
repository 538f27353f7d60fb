//! Counting and training.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use digram::count;
use digram::train::{Base, Learned, Options, Stop, Ties, characters, train as learn};
use digram::watch::available_threads;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::Splitter;
use crate::convert::{merges_to_python, texts};
use crate::errors;
use crate::watch::Signals;

/// How often training tells how far it is.
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Counts the pretokens of texts, batch by batch.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Counter {
    /// `None` after `finish`, and after an interruption, which leaves a batch half counted.
    counter: Mutex<Option<count::Counter>>,
}

impl Counter {
    fn take(&self, py: Python<'_>) -> PyResult<count::Counter> {
        let counter = self.counter.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        counter.ok_or_else(|| errors::raise(py, "InternalError", "this counter was finished or interrupted."))
    }

    fn put(&self, counter: count::Counter) {
        *self.counter.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(counter);
    }
}

#[pymethods]
impl Counter {
    #[new]
    fn new(splitter: &Splitter) -> Self {
        Counter { counter: Mutex::new(Some(count::Counter::new(splitter.pretokenizer.clone()))) }
    }

    /// Counts a batch of texts, without the GIL.
    #[pyo3(signature = (batch, threads=None))]
    fn add(&self, py: Python<'_>, batch: Vec<Bound<'_, PyAny>>, threads: Option<usize>) -> PyResult<()> {
        let texts = texts(&batch, "texts")?;
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.bytes()).collect();
        let mut counter = self.take(py)?;
        let signals = Signals::new();
        let counted = py.detach(|| {
            counter.add(&texts, threads.unwrap_or_else(available_threads), &signals).map(|()| counter)
        });
        self.put(counted.map_err(|error| signals.error(py, error, None))?);
        Ok(())
    }

    /// The counts of all batches; the counter is used up.
    fn finish(&self, py: Python<'_>) -> PyResult<Counts> {
        let counter = self.take(py)?;
        let counts = py.detach(|| counter.finish()).map_err(|error| errors::from_core(py, error, None))?;
        Ok(Counts { counts })
    }
}

/// Distinct pretokens with their counts.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Counts {
    counts: count::Counts,
}

#[pymethods]
impl Counts {
    fn __len__(&self) -> usize {
        self.counts.len()
    }

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

    /// All characters of the text, sorted.
    fn characters(&self, py: Python<'_>) -> PyResult<String> {
        let found =
            py.detach(|| characters(&self.counts)).map_err(|error| errors::from_core(py, error, None))?;
        Ok(found.into_iter().collect())
    }
}

/// Tokens, merges, counts and the reason to stop.
type Trained<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, &'static str);

/// Learns merges: (tokens, merges, counts, why it stopped), with ids that start with the base.
///
/// `base` is the 256 bytes in the order of their ids, or the characters in the order of theirs,
/// after the 256 bytes if `with_bytes`.
#[pyfunction]
#[pyo3(signature = (counts, base, *, with_bytes, max_merges, min_frequency, max_token_length, ties, on_merge, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    counts: &Counts,
    base: &Bound<'py, PyAny>,
    with_bytes: bool,
    max_merges: Option<usize>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    ties: &str,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Trained<'py>> {
    let base = match base.cast::<PyBytes>() {
        Ok(order) => Base::Bytes(Box::new(order.as_bytes().try_into()?)),
        Err(_) => {
            let chars = base.extract::<String>()?.chars().collect();
            if with_bytes { Base::CharsAndBytes(chars) } else { Base::Chars(chars) }
        }
    };
    let ties = match ties {
        "ids" => Ties::Ids,
        "first_seen" => Ties::FirstSeen,
        "lexicographic" => Ties::Lexicographic,
        other => return Err(errors::raise(py, "OptionError", format!("ties={other:?} is not known."))),
    };
    let options = Options { base, max_merges, min_frequency, max_token_length, ties };
    let signals = Signals::new();
    let mut reported = Instant::now();
    let mut done = 0u64;
    let mut tell = |learned: &Learned| {
        done += 1;
        if let Some(on_merge) = &on_merge {
            let Learned { merge, count } = *learned;
            Python::attach(|py| on_merge.call1(py, (merge.left, merge.right, merge.id, count)))
                .map_err(|raised| signals.keep(raised))?;
        }
        if let Some(on_progress) = &on_progress
            && (done.is_multiple_of(1024) || reported.elapsed() >= BETWEEN_REPORTS)
        {
            reported = Instant::now();
            Python::attach(|py| on_progress.call1(py, (done,))).map_err(|raised| signals.keep(raised))?;
        }
        Ok(())
    };
    let trained = py
        .detach(|| learn(&counts.counts, &options, &mut tell, &signals))
        .map_err(|error| signals.error(py, error, None))?;
    let tokens = PyList::new(py, trained.tokens().iter().map(|token| PyBytes::new(py, token)))?;
    let merges: Vec<_> = trained.merges.iter().map(|learned| learned.merge).collect();
    let counts = trained.merges.iter().map(|learned| learned.count).collect();
    let stop = match trained.stop {
        Stop::MaxMerges => "max_merges",
        Stop::MinFrequency => "min_frequency",
        Stop::NoPairs => "no_pairs",
    };
    Ok((tokens, merges_to_python(py, &merges)?, counts, stop))
}
