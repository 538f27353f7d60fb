//! Texts with their ids and positions, for `digram.Encoding`.

use std::sync::OnceLock;

use digram::Error;
use digram::tokenizer::{EncodedTexts, OffsetUnit};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::special::Special;
use super::{Core, KEEP_GIL_BYTES};
use crate::arrays;
use crate::convert::{Text, bytes_of};
use crate::errors;
use crate::objects::{SignalChecks, collected, integer, list, tuple};
use crate::signals::Signals;

/// Texts with their ids. Spans and pretokens are computed at first use.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Encoded {
    core: Py<Core>,
    /// Each is a `str` or a `bytes`. Python caches the UTF-8 of a `str`, so it can be borrowed repeatedly.
    texts: Vec<Py<PyAny>>,
    special: Special,
    special_argument: Option<Py<PyAny>>,
    /// `None` is Python's unit: characters of a `str`, bytes of `bytes`.
    unit: Option<OffsetUnit>,
    threads: Option<usize>,
    ids: Vec<u32>,
    /// The end of each text in `ids`, with a zero before the first.
    bounds: Vec<u64>,
    // Not `PyOnceLock`, since the values are computed without the GIL. They are computed before the lock is
    // taken: a thread that waits for the GIL inside the lock, and one that waits for the lock with the GIL,
    // would wait forever.
    spans: OnceLock<Vec<[usize; 2]>>,
    pretokens: OnceLock<Vec<u32>>,
}

#[pymethods]
impl Core {
    /// The texts of a list with their ids. `place` gives the name of the text at an index, for
    /// errors.
    #[pyo3(signature = (texts, special=None, unit=None, threads=None, place=None))]
    fn _encoded(
        slf: &Bound<'_, Self>,
        texts: &Bound<'_, PyList>,
        special: Option<&Bound<'_, PyAny>>,
        unit: Option<&str>,
        threads: Option<usize>,
        place: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Encoded> {
        let py = slf.py();
        let core = slf.get();
        let special_tokens = Special::new(core, special)?;
        let objects = collected(py, texts.iter().map(Ok))?;
        let with_place = |error: PyErr, index: usize| {
            let name = place.and_then(|place| place.call1((index,)).ok());
            match name {
                Some(name) => errors::with_place(py, error, &name.to_string()),
                None => error,
            }
        };
        let text = |(index, text)| Text::new(text).map_err(|error| with_place(error, index));
        let texts: Vec<Text<'_>> = collected(py, objects.iter().enumerate().map(text))?;
        let signals = Signals::new();
        let encoded = match &texts[..] {
            [text] if text.bytes().len() < KEEP_GIL_BYTES => {
                let mut ids = Vec::new();
                let encoded =
                    core.tokenizer.encode(text.bytes(), special_tokens.on_special(), &signals, &mut ids);
                let end = ids.len() as u64;
                encoded.map(|()| (ids, vec![0, end])).map_err(|error| (0, error))
            }
            texts => {
                let bytes = bytes_of(py, texts)?;
                let threads = threads_for(py, threads, bytes.iter().map(|text| text.len()).sum())?;
                py.detach(|| {
                    core.tokenizer.encode_batch(&bytes, special_tokens.on_special(), threads, &signals)
                })
            }
        };
        let (ids, bounds) = encoded
            .map_err(|(index, error)| with_place(signals.error(py, error, texts.get(index)), index))?;
        Ok(Encoded {
            core: slf.clone().unbind(),
            texts: objects.into_iter().map(Bound::unbind).collect(),
            special: special_tokens,
            special_argument: special.map(|special| special.clone().unbind()),
            unit: match unit {
                Some("bytes") => Some(OffsetUnit::Bytes),
                Some("characters") => Some(OffsetUnit::Characters),
                Some("utf16") => Some(OffsetUnit::Utf16),
                _ => None,
            },
            threads,
            ids,
            bounds,
            spans: OnceLock::new(),
            pretokens: OnceLock::new(),
        })
    }
}

#[pymethods]
impl Encoded {
    /// The end of each text among all ids, with a zero before the first.
    fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// The ids from `start` to `stop`, as a list.
    fn ids<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        self.core.get().list(py, slice(&self.ids, start, stop))
    }

    /// The start and end, in its text, of each token from `start` to `stop`.
    fn spans<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        let spans = slice(self.all_spans(py)?, start, stop);
        let span =
            |&[start, end]: &[usize; 2]| tuple(py, [integer(py, start as u64)?, integer(py, end as u64)?]);
        list(py, spans.iter().map(span), &mut SignalChecks::new())
    }

    /// The number of the pretoken, from 0 in each text, that each token from `start` to `stop` belongs to.
    fn pretokens<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        let pretokens = slice(self.all_pretokens(py)?, start, stop);
        list(py, pretokens.iter().map(|&number| integer(py, number.into())), &mut SignalChecks::new())
    }

    /// For each token from `start` to `stop` with the id `id`, the normalized text that it stands for; `None` for others.
    fn texts_of<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
        id: u32,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut found: Vec<Option<Vec<u8>>> = Vec::new();
        let end = |index: usize| self.bounds[index + 1] as usize;
        let mut index = self.bounds[1..].partition_point(|&end| end <= start as u64);
        let mut at = start;
        while at < stop.min(self.ids.len()) {
            let (first, last) = (self.bounds[index] as usize, end(index).min(stop));
            let of_text = self.texts_in(py, index, id)?;
            let passed = slice(&self.ids, first, at).iter().filter(|one| **one == id).count();
            let mut texts = of_text.into_iter().skip(passed);
            let ids = slice(&self.ids, at, last);
            found.extend(ids.iter().map(|one| if *one == id { texts.next() } else { None }));
            (at, index) = (last, index + 1);
        }
        let item = |text: &Option<Vec<u8>>| match text {
            Some(text) => Ok(PyBytes::new(py, text).into_any()),
            None => Ok(py.None().into_bound(py)),
        };
        list(py, found.iter().map(item), &mut SignalChecks::new())
    }

    /// The index of the first token that covers `position`; `None` if none does. The tokens from `start` to
    /// `stop`, which must be of one text, are searched.
    fn token_at(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        position: usize,
    ) -> PyResult<Option<usize>> {
        // Starts and ends never decrease.
        let spans = slice(self.all_spans(py)?, start, stop);
        let index = spans.partition_point(|[_, end]| *end <= position);
        Ok(spans.get(index).filter(|[from, _]| *from <= position).map(|_| start + index))
    }

    /// The indices of the first token of a pretoken and of the one after its last. The tokens from `start`
    /// to `stop`, which must be of one text, are searched.
    fn tokens_of_pretoken(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        pretoken: u32,
    ) -> PyResult<(usize, usize)> {
        let pretokens = slice(self.all_pretokens(py)?, start, stop);
        let first_index = |limit: u64| start + pretokens.partition_point(|&number| u64::from(number) < limit);
        Ok((first_index(pretoken.into()), first_index(u64::from(pretoken) + 1)))
    }

    /// All ids.
    fn numpy_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        arrays::copied(py, &self.ids)
    }

    /// All spans, one per row.
    fn numpy_spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let flat = self.all_spans(py)?.as_flattened().iter().map(|&offset| Ok(offset as i64));
        let flat = collected(py, flat)?;
        let rows = flat.len() / 2;
        arrays::array(py, flat)?.reshape([rows, 2])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let unit = self.unit.map(|unit| match unit {
            OffsetUnit::Bytes => "bytes",
            OffsetUnit::Characters => "characters",
            OffsetUnit::Utf16 => "utf16",
        });
        let texts = PyList::new(py, &self.texts)?;
        let arguments = (texts, &self.special_argument, unit, self.threads).into_pyobject(py)?;
        Ok((self.core.bind(py).getattr("_encoded")?, arguments))
    }
}

impl Encoded {
    /// See [`digram::Tokenizer::texts_of`], for all of a text.
    fn texts_in(&self, py: Python<'_>, index: usize, id: u32) -> PyResult<Vec<Vec<u8>>> {
        let ids = slice(&self.ids, self.bounds[index] as usize, self.bounds[index + 1] as usize);
        if !ids.contains(&id) {
            return Ok(Vec::new());
        }
        let text = Text::new(self.texts[index].bind(py))?;
        let (bytes, core, signals) = (text.bytes(), self.core.get(), Signals::new());
        let find = || core.tokenizer.texts_of(bytes, self.special.on_special(), ids, id, &signals);
        let found = if ids.len() < KEEP_GIL_BYTES / 4 { find() } else { py.detach(find) };
        found.map_err(|error| signals.error(py, error, Some(&text)))
    }

    fn all_spans(&self, py: Python<'_>) -> PyResult<&[[usize; 2]]> {
        self.get_or_compute(py, &self.spans, |core, encoded, units, threads, signals| {
            let unit = |index: usize| self.unit.unwrap_or(units[index]);
            core.tokenizer.spans(encoded, unit, threads, signals)
        })
    }

    fn all_pretokens(&self, py: Python<'_>) -> PyResult<&[u32]> {
        self.get_or_compute(py, &self.pretokens, |core, encoded, _, threads, signals| {
            core.tokenizer.pretoken_numbers(encoded, threads, signals)
        })
    }

    /// The result of `compute` for the texts, computed at first use; without the GIL if there are many ids.
    fn get_or_compute<'a, R: Send + Sync>(
        &'a self,
        py: Python<'_>,
        cell: &'a OnceLock<Vec<R>>,
        compute: impl Fn(&Core, &EncodedTexts<'_, &[u8]>, &[OffsetUnit], usize, &Signals) -> Result<Vec<R>, Error>
        + Send
        + Sync,
    ) -> PyResult<&'a [R]> {
        if let Some(values) = cell.get() {
            return Ok(values);
        }
        let texts = collected(py, self.texts.iter().map(|text| Text::new(text.bind(py))))?;
        let unit_of = |text: &Text<'_>| match text {
            Text::Str(_) => OffsetUnit::Characters,
            Text::Bytes(_) => OffsetUnit::Bytes,
        };
        let units = collected(py, texts.iter().map(|text| Ok(unit_of(text))))?;
        let bytes = bytes_of(py, &texts)?;
        let encoded = EncodedTexts {
            texts: &bytes[..],
            special: self.special.on_special(),
            ids: &self.ids,
            bounds: &self.bounds,
        };
        let threads = threads_for(py, self.threads, bytes.iter().map(|text| text.len()).sum())?;
        let (signals, core) = (Signals::new(), self.core.get());
        let result = if self.ids.len() < KEEP_GIL_BYTES / 4 {
            compute(core, &encoded, &units, threads, &signals)
        } else {
            py.detach(|| compute(core, &encoded, &units, threads, &signals))
        };
        let result = result.map_err(|error| signals.error(py, error, None))?;
        Ok(cell.get_or_init(|| result))
    }
}

/// The number of threads for a number of bytes. Querying the number of processors reads files and
/// takes ten times as long as encoding a short text.
fn threads_for(py: Python<'_>, threads: Option<usize>, bytes: usize) -> PyResult<usize> {
    if threads.is_none() && bytes < KEEP_GIL_BYTES { Ok(1) } else { crate::threads::threads(py, threads) }
}

/// A part of a list; an empty slice if the range is not inside the list.
fn slice<R>(items: &[R], start: usize, stop: usize) -> &[R] {
    items.get(start..stop).unwrap_or_default()
}
