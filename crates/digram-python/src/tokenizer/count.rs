//! Counting ids.

use digram::tokenizer::Side;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::special::Special;
use super::{Core, KEEP_GIL};
use crate::convert::Text;
use crate::watch::Signals;

/// The number of times of each id, and the number of ids of each text.
type Histogram<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Core {
    /// How many ids each of several texts has. See `digram.Tokenizer`.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _count_batch(
        &self,
        py: Python<'_>,
        texts: Vec<Bound<'_, PyAny>>,
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Vec<u64>> {
        self.with_texts(py, &texts, special, threads, |texts, special, threads, watch| {
            self.tokenizer.count_batch(texts, special, threads, watch)
        })
    }

    /// The same as an array.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _count_batch_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        Ok(PyArray1::from_vec(py, self._count_batch(py, texts, special, threads)?))
    }

    /// How often each id stands in several texts, by id, and how many ids each text has.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _histogram_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Histogram<'py>> {
        let found = self.with_texts(py, &texts, special, threads, |texts, special, threads, watch| {
            self.tokenizer.histogram_batch(texts, special, threads, watch)
        })?;
        Ok((PyArray1::from_vec(py, found.0), PyArray1::from_vec(py, found.1)))
    }

    /// The longest beginning or end of a text with at most so many ids. See `digram.Tokenizer`.
    #[pyo3(signature = (text, n, left, special=None))]
    fn _truncate<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        n: usize,
        left: bool,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let special = Special::new(self, special)?;
        let content = Text::new(text)?;
        let signals = Signals::new();
        let bytes = content.bytes();
        let side = if left { Side::Left } else { Side::Right };
        let truncate = || self.tokenizer.truncate(bytes, n, side, special.rule(), &signals);
        let range = if bytes.len() < KEEP_GIL { truncate() } else { py.detach(truncate) };
        let range = range.map_err(|error| signals.error(py, error, Some(&content)))?;
        match content {
            _ if range.len() == bytes.len() => Ok(text.clone()),
            Text::Str(text) => Ok(PyString::new(py, &text[range]).into_any()),
            Text::Bytes(bytes) => Ok(PyBytes::new(py, &bytes[range]).into_any()),
        }
    }

    /// Whether a text has at most so many ids. See `digram.Tokenizer`.
    #[pyo3(signature = (text, n, special=None))]
    fn _fits(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        n: usize,
        special: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let special = Special::new(self, special)?;
        let text = Text::new(text)?;
        let signals = Signals::new();
        let bytes = text.bytes();
        let fits = || self.tokenizer.fits(bytes, n, special.rule(), &signals);
        let fits = if bytes.len() < KEEP_GIL { fits() } else { py.detach(fits) };
        fits.map_err(|error| signals.error(py, error, Some(&text)))
    }
}
