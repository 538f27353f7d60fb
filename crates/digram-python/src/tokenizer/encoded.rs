//! Texts with their ids, and where these stand: what `digram.Encoding` is made of.

use std::sync::OnceLock;

use digram::Error;
use digram::tokenizer::{EncodedTexts, OffsetUnit};
use digram::watch::available_threads;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::special::Special;
use super::{Core, KEEP_GIL};
use crate::convert::{BETWEEN_SIGNALS, Text};
use crate::errors;
use crate::watch::Signals;

/// Texts with their ids. What else there is to know of them is found at the first question.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Encoded {
    core: Py<Core>,
    /// Each a `str` or `bytes` whose UTF-8 was asked for before.
    texts: Vec<Py<PyAny>>,
    special: Special,
    special_argument: Option<Py<PyAny>>,
    /// `None` is what Python counts in: characters of a `str`, bytes of `bytes`.
    unit: Option<OffsetUnit>,
    threads: Option<usize>,
    ids: Vec<u32>,
    /// Where each text ends in `ids`, with a zero before the first.
    offsets: Vec<u64>,
    // Not `PyOnceLock`, nor filled under its lock: others may need the GIL meanwhile.
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
        let rule = Special::new(core, special)?;
        let objects: Vec<Bound<'_, PyAny>> = texts.iter().collect();
        let placed = |error: PyErr, index: usize| {
            let name = place.and_then(|place| place.call1((index,)).ok());
            match name {
                Some(name) => errors::placed(py, error, &name.to_string()),
                None => error,
            }
        };
        let texts: Vec<Text<'_>> = objects
            .iter()
            .enumerate()
            .map(|(index, text)| Text::new(text).map_err(|error| placed(error, index)))
            .collect::<PyResult<_>>()?;
        let signals = Signals::new();
        let encoded = match &texts[..] {
            [text] if text.bytes().len() < KEEP_GIL => {
                let mut ids = Vec::new();
                let encoded = core.tokenizer.encode(text.bytes(), rule.rule(), &signals, &mut ids);
                let end = ids.len() as u64;
                encoded.map(|()| (ids, vec![0, end])).map_err(|error| (0, error))
            }
            texts => {
                let bytes: Vec<&[u8]> = texts.iter().map(|text| text.bytes()).collect();
                let threads = threads_for(threads, bytes.iter().map(|text| text.len()).sum());
                py.detach(|| core.tokenizer.encode_batch(&bytes, rule.rule(), threads, &signals))
            }
        };
        let (ids, offsets) =
            encoded.map_err(|(index, error)| placed(signals.error(py, error, texts.get(index)), index))?;
        Ok(Encoded {
            core: slf.clone().unbind(),
            texts: objects.into_iter().map(Bound::unbind).collect(),
            special: rule,
            special_argument: special.map(|special| special.clone().unbind()),
            unit: match unit {
                Some("bytes") => Some(OffsetUnit::Bytes),
                Some("characters") => Some(OffsetUnit::Characters),
                Some("utf16") => Some(OffsetUnit::Utf16),
                _ => None,
            },
            threads,
            ids,
            offsets,
            spans: OnceLock::new(),
            pretokens: OnceLock::new(),
        })
    }
}

#[pymethods]
impl Encoded {
    /// Where each text ends among the ids of all, with a zero before the first.
    fn bounds(&self) -> &[u64] {
        &self.offsets
    }

    /// Some of the ids, as a list.
    fn ids<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        self.core.get().list(py, slice(&self.ids, start, stop))
    }

    /// Where some of the tokens start and end in their texts.
    fn spans<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        let spans = slice(self.all_spans(py)?, start, stop);
        listed(py, spans, |[start, end]| Ok(PyTuple::new(py, [*start, *end])?.into_any()))
    }

    /// The numbers of the pretokens, in its text, of some of the tokens.
    fn pretokens<'py>(&self, py: Python<'py>, start: usize, stop: usize) -> PyResult<Bound<'py, PyList>> {
        let pretokens = slice(self.all_pretokens(py)?, start, stop);
        listed(py, pretokens, |number| Ok(number.into_pyobject(py)?.into_any()))
    }

    /// The first of some tokens of one text that covers a place of it.
    fn token_at(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        position: usize,
    ) -> PyResult<Option<usize>> {
        // Neither starts nor ends ever fall.
        let spans = slice(self.all_spans(py)?, start, stop);
        let index = spans.partition_point(|[_, end]| *end <= position);
        Ok(spans.get(index).filter(|[from, _]| *from <= position).map(|_| start + index))
    }

    /// Which of some tokens of one text are of a pretoken: the first, and the one after the last.
    fn of_pretoken(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        pretoken: u32,
    ) -> PyResult<(usize, usize)> {
        let numbers = slice(self.all_pretokens(py)?, start, stop);
        let before = |limit: u64| start + numbers.partition_point(|&number| u64::from(number) < limit);
        Ok((before(pretoken.into()), before(u64::from(pretoken) + 1)))
    }

    /// All ids.
    fn numpy_ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.ids)
    }

    /// All spans, a row each.
    fn numpy_spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let flat: Vec<i64> = self.all_spans(py)?.as_flattened().iter().map(|&place| place as i64).collect();
        let rows = flat.len() / 2;
        PyArray1::from_vec(py, flat).reshape([rows, 2])
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
    fn all_spans(&self, py: Python<'_>) -> PyResult<&[[usize; 2]]> {
        self.found(py, &self.spans, |core, encoded, own, threads, signals| {
            let unit = |index: usize| self.unit.unwrap_or(own[index]);
            core.tokenizer.spans(encoded, unit, threads, signals)
        })
    }

    fn all_pretokens(&self, py: Python<'_>) -> PyResult<&[u32]> {
        self.found(py, &self.pretokens, |core, encoded, _, threads, signals| {
            core.tokenizer.pretoken_numbers(encoded, threads, signals)
        })
    }

    /// What `find` finds of the texts, at the first question without the GIL.
    fn found<'a, R: Send + Sync>(
        &'a self,
        py: Python<'_>,
        known: &'a OnceLock<Vec<R>>,
        find: impl Fn(&Core, &EncodedTexts<'_, &[u8]>, &[OffsetUnit], usize, &Signals) -> Result<Vec<R>, Error>
        + Send
        + Sync,
    ) -> PyResult<&'a [R]> {
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let objects: Vec<&Bound<'_, PyAny>> = self.texts.iter().map(|text| text.bind(py)).collect();
        let texts = objects.iter().map(|text| Text::new(text)).collect::<PyResult<Vec<_>>>()?;
        let own: Vec<OffsetUnit> = texts
            .iter()
            .map(|text| match text {
                Text::Str(_) => OffsetUnit::Characters,
                Text::Bytes(_) => OffsetUnit::Bytes,
            })
            .collect();
        let bytes: Vec<&[u8]> = texts.iter().map(|text| text.bytes()).collect();
        let encoded = EncodedTexts {
            texts: &bytes[..],
            special: self.special.rule(),
            ids: &self.ids,
            offsets: &self.offsets,
        };
        let threads = threads_for(self.threads, bytes.iter().map(|text| text.len()).sum());
        let (signals, core) = (Signals::new(), self.core.get());
        let found = if self.ids.len() < KEEP_GIL / 4 {
            find(core, &encoded, &own, threads, &signals)
        } else {
            py.detach(|| find(core, &encoded, &own, threads, &signals))
        };
        let found = found.map_err(|error| signals.error(py, error, None))?;
        Ok(known.get_or_init(|| found))
    }
}

/// How many threads to use for so many bytes. Finding out how many there are reads files and takes
/// ten times as long as a short text.
fn threads_for(threads: Option<usize>, bytes: usize) -> usize {
    threads.unwrap_or_else(|| if bytes < KEEP_GIL { 1 } else { available_threads() }).max(1)
}

/// A part of a list, or nothing where it has no such part.
/// A list of an object for each; Ctrl-C is heeded while they are made, as many take seconds.
fn listed<'py, R>(
    py: Python<'py>,
    all: &[R],
    object: impl Fn(&R) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let mut objects = Vec::with_capacity(all.len());
    for some in all.chunks(BETWEEN_SIGNALS) {
        py.check_signals()?;
        for one in some {
            objects.push(object(one)?);
        }
    }
    PyList::new(py, objects)
}

fn slice<R>(all: &[R], start: usize, stop: usize) -> &[R] {
    all.get(start..stop).unwrap_or_default()
}
