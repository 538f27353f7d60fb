//! Counting ids.

use digram::text::Text as StoredText;
use digram::tokenizer::{Side, beginnings};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::special::Special;
use super::{Core, KEEP_GIL_BYTES};
use crate::arrays::array;
use crate::convert::{Text, numbers_to_python};
use crate::objects::{Objects, bytes as bytes_object, first_characters, string};
use crate::signals::Signals;
use crate::strings::stored;

/// The count of each id, and the number of ids of each text.
type Histogram<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl Core {
    /// The number of ids of each of several texts: see `count_batch`.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Objects<'py>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        numbers_to_python(py, &self.counts(py, &texts, special, threads)?)
    }

    /// Like `_count_batch`, as an array.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _count_batch_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: Objects<'py>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        array(py, self.counts(py, &texts, special, threads)?)
    }

    /// Whether some added token is found in all text, whatever `special` says.
    #[getter]
    fn _finds_in_all_text(&self) -> bool {
        self.tokenizer.finds_in_all_text()
    }

    /// The last offset from `start` on where a text that begins like this can be divided without changing
    /// its pretokens and the added tokens that are found in all text; 0 if none is known.
    fn _last_border(&self, py: Python<'_>, text: &Bound<'_, PyBytes>, start: usize) -> usize {
        let text = text.as_bytes();
        py.detach(|| self.tokenizer.last_border_so_far(text, start).unwrap_or(0))
    }

    /// The count of each id in several texts, by id, and the number of ids of each text.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _histogram_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Objects<'py>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Histogram<'py>> {
        let histogram =
            self.with_texts(py, &texts, special, threads, |texts, special, threads, interrupt| {
                self.tokenizer.histogram_batch(texts, special, threads, interrupt)
            })?;
        Ok((array(py, histogram.0)?, array(py, histogram.1)?))
    }

    /// The first or last tokens of a text: see `truncate`.
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
        let signals = Signals::new();
        if !left {
            for part in self.beginnings(text, n, &special) {
                let part = part?;
                let Ok(Text::Str(beginning)) = Text::new(&part) else { break };
                let bytes = beginning.as_bytes();
                let end = detached(py, bytes, || {
                    self.tokenizer.truncate_beginning(bytes, n, special.on_special(), &signals)
                });
                let end = end.map_err(|error| signals.error(py, error, Some(&Text::Str(beginning))))?;
                if let Some(end) = end {
                    return Ok(string(py, &beginning[..end])?.into_any());
                }
            }
        }
        let content = Text::new(text)?;
        let bytes = content.bytes();
        let side = if left { Side::Left } else { Side::Right };
        let truncate = || self.tokenizer.truncate(bytes, n, side, special.on_special(), &signals);
        let range = detached(py, bytes, truncate);
        let range = range.map_err(|error| signals.error(py, error, Some(&content)))?;
        match content {
            _ if range.len() == bytes.len() => Ok(text.clone()),
            Text::Str(text) => Ok(string(py, &text[range])?.into_any()),
            Text::Bytes(bytes) => Ok(bytes_object(py, &bytes[range])?.into_any()),
        }
    }

    /// Whether a text has at most `n` ids: see `Tokenizer.fits`.
    #[pyo3(signature = (text, n, special=None))]
    fn _fits(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        n: usize,
        special: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let special = Special::new(self, special)?;
        let signals = Signals::new();
        for part in self.beginnings(text, n, &special) {
            let part = part?;
            let Ok(beginning) = Text::new(&part) else { break };
            let bytes = beginning.bytes();
            let exceeds = detached(py, bytes, || {
                self.tokenizer.beginning_exceeds(bytes, n, special.on_special(), &signals)
            });
            if exceeds.map_err(|error| signals.error(py, error, Some(&beginning)))? {
                return Ok(false);
            }
        }
        let text = Text::new(text)?;
        let bytes = text.bytes();
        let fits = || self.tokenizer.fits(bytes, n, special.on_special(), &signals);
        detached(py, bytes, fits).map_err(|error| signals.error(py, error, Some(&text)))
    }
}

/// Calls a function that reads a text, without the GIL if it is long.
fn detached<T: Send>(py: Python<'_>, text: &[u8], read: impl FnOnce() -> T + Send) -> T {
    if text.len() < KEEP_GIL_BYTES { read() } else { py.detach(read) }
}

impl Core {
    /// The beginnings of a text that may have its first `n` ids, if all of it would have to be converted first.
    fn beginnings<'a, 'py>(
        &'a self,
        text: &'a Bound<'py, PyAny>,
        n: usize,
        special: &'a Special,
    ) -> impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'a, 'py> {
        let len = match stored(text) {
            None | Some(StoredText::Utf8(_)) => 0,
            Some(_) if !self.tokenizer.cuts_beginnings(special.on_special()) => 0,
            Some(characters) => characters.len(),
        };
        beginnings(n, len).map(|len| first_characters(text, len))
    }

    fn counts(
        &self,
        py: Python<'_>,
        texts: &[Bound<'_, PyAny>],
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Vec<u64>> {
        if let Some(parts) = self.in_parts(texts)? {
            let (special, threads) = (Special::new(self, special)?, crate::threads::threads(py, threads)?);
            return self.count_in_parts(py, texts, &parts, &special, threads);
        }
        self.with_texts(py, texts, special, threads, |texts, special, threads, interrupt| {
            self.tokenizer.count_batch(texts, special, threads, interrupt)
        })
    }
}
