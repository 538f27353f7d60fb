//! Counts as a value: queries and operations.

use std::sync::Arc;

use digram::count::{self, Pieces, Weight};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use super::argument::{self, methods_of_counts};
use super::columns::Batches;
use super::foreign;
use crate::Splitter;
use crate::convert::text;
use crate::errors;
use crate::objects::{SignalChecks, bytes, integer, list, tuple};
use crate::signals::Signals;

/// Distinct pretokens with their counts; see `digram.Counts`.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Counts {
    pub(crate) counts: Arc<count::Counts>,
}

impl Counts {
    pub(super) fn new(counts: count::Counts) -> Counts {
        Counts { counts: Arc::new(counts) }
    }

    pub(super) fn distinct_pretokens(&self) -> &(dyn Pieces + Sync) {
        &*self.counts
    }

    /// The result of an operation of the core on these counts, without the GIL.
    fn compute(
        py: Python<'_>,
        operation: impl Send + FnOnce(&Signals) -> digram::Result<count::Counts>,
    ) -> PyResult<Counts> {
        let signals = Signals::new();
        let counts = py.detach(|| operation(&signals)).map_err(|error| signals.error(py, error, None))?;
        Ok(Counts::new(counts))
    }
}

methods_of_counts!(Counts);

#[pymethods]
impl Counts {
    /// Counts of (piece, count) pairs, added up; without first occurrences.
    #[staticmethod]
    fn from_pairs(py: Python<'_>, pairs: &Bound<'_, PyAny>) -> PyResult<Counts> {
        let mut adder = count::Adder::new(false);
        for (index, pair) in pairs.try_iter()?.enumerate() {
            let (piece, count): (Bound<'_, PyAny>, u64) = pair?.extract()?;
            adder
                .add(text(&piece, "pieces", index)?.bytes(), count, 0)
                .map_err(|error| errors::from_core(py, error, None))?;
        }
        Counts::compute(py, |signals| adder.finish(0, signals))
    }

    /// Counts from any object with `__arrow_c_stream__` or `__arrow_c_array__`, and digram's
    /// metadata, if there is any.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<(Counts, Option<String>)> {
        let (adder, metadata) = foreign::sum_rows(py, data)?;
        Ok((Counts::compute(py, |signals| adder.finish(0, signals))?, metadata))
    }

    /// The same counts with the given number of documents, of a corpus that ends at `end` or later.
    fn of_corpus(&self, py: Python<'_>, documents: u64, end: Option<u64>) -> PyResult<Counts> {
        Counts::compute(py, |_| Ok(self.counts.of_corpus(documents, end)))
    }

    #[staticmethod]
    fn merge(py: Python<'_>, parts: Vec<Bound<'_, Counts>>) -> PyResult<Counts> {
        let parts: Vec<Arc<count::Counts>> = parts.iter().map(|part| part.get().counts.clone()).collect();
        let parts: Vec<&count::Counts> = parts.iter().map(|part| &**part).collect();
        Counts::compute(py, |signals| count::Counts::merge(&parts, signals))
    }

    fn subtract(&self, py: Python<'_>, part: &Bound<'_, Counts>) -> PyResult<Counts> {
        let part = &part.get().counts;
        Counts::compute(py, |signals| self.counts.subtract(part, signals))
    }

    fn filter(&self, py: Python<'_>, min_count: u64) -> PyResult<Counts> {
        Counts::compute(py, |signals| self.counts.filter(min_count, signals))
    }

    fn scale(&self, py: Python<'_>, numerator: u64, denominator: u64) -> PyResult<Counts> {
        let weight = Weight::new(numerator, denominator).map_err(|e| errors::from_core(py, e, None))?;
        Counts::compute(py, |signals| self.counts.scale(weight, signals))
    }

    /// Counts of the pieces into which a pretokenizer splits the pretokens.
    fn cut_again(&self, py: Python<'_>, splitter: &Splitter) -> PyResult<Counts> {
        let pretokenizer = &splitter.pretokenizer;
        Counts::compute(py, |signals| self.counts.cut_again(pretokenizer, signals))
    }

    fn without_first(&self, py: Python<'_>) -> PyResult<Counts> {
        Counts::compute(py, |signals| self.counts.without_first(signals))
    }

    fn __len__(&self) -> usize {
        self.counts.len()
    }

    /// The count of a pretoken.
    fn get(&self, py: Python<'_>, piece: &Bound<'_, PyAny>) -> PyResult<u64> {
        let piece = text(piece, "pieces", 0)?;
        let (piece, signals) = (piece.bytes(), Signals::new());
        py.detach(|| self.counts.sort_by_piece(&signals).map(|()| self.counts.get(piece)))
            .map_err(|error| signals.error(py, error, None))
    }

    /// `length` pretokens with their counts, from index `start` on.
    fn items<'py>(&self, py: Python<'py>, start: usize, length: usize) -> PyResult<Bound<'py, PyList>> {
        let length = length.min(self.counts.len().saturating_sub(start));
        let mut entries = self.counts.iter().skip(start).take(length);
        let items = (0..length).map(|_| {
            let (piece, count) = entries.next().unwrap_or_default();
            tuple(py, [bytes(py, piece)?.into_any(), integer(py, count)?])
        });
        list(py, items, &mut SignalChecks::new())
    }

    fn most_common<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        let signals = Signals::new();
        let pretokens = py.detach(|| self.counts.most_common(n, &signals));
        let pretokens = pretokens.map_err(|error| signals.error(py, error, None))?;
        let item = |(piece, count)| tuple(py, [bytes(py, piece)?.into_any(), integer(py, count)?]);
        list(py, pretokens.into_iter().map(item), &mut SignalChecks::new())
    }

    fn equals(&self, py: Python<'_>, other: &Bound<'_, Counts>) -> bool {
        let other = &other.get().counts;
        py.detach(|| *self.counts == **other)
    }

    /// The end of the corpus in the unit of first occurrences; `None` if those are unknown.
    #[getter]
    fn end(&self) -> Option<u64> {
        self.counts.end()
    }

    fn arrow_schema<'py>(&self, py: Python<'py>, metadata: String) -> PyResult<Bound<'py, PyCapsule>> {
        foreign::schema(py, &Batches::new(py, self.counts.clone(), metadata)?)
    }

    fn arrow_stream<'py>(&self, py: Python<'py>, metadata: String) -> PyResult<Bound<'py, PyCapsule>> {
        foreign::stream(py, Batches::new(py, self.counts.clone(), metadata)?)
    }
}
