//! The tokenizer as Python sees it; `digram.Tokenizer` extends it in Python.

use std::borrow::Cow;

use digram::encode::{OnUnknown, Unit};
use digram::merges::Merge;
use digram::special::SpecialTokens;
use digram::tokenizer::OnInvalid;
use digram::watch::available_threads;
use digram::{Definition, OnSpecial, Tokenizer};
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::Splitter;
use crate::convert::{self, Text, merges_to_python, texts, token_table};
use crate::errors;
use crate::watch::Signals;

/// Ids and offsets as arrays.
type Flat<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Below this much text the GIL is kept: giving it up and taking it again would cost more.
const KEEP_GIL: usize = 1 << 14;

/// Encodes and decodes. Frozen: what a call returns depends on its arguments alone.
#[pyclass(frozen, subclass, module = "digram._core")]
pub(crate) struct Core {
    tokenizer: Tokenizer,
    /// What the façade needs to know again, and the core does not.
    extra: Py<PyAny>,
    digest: PyOnceLock<Py<PyString>>,
    /// Each id as a Python integer: taking one costs a third of making one.
    integers: PyOnceLock<Vec<Py<PyInt>>>,
}

#[pymethods]
impl Core {
    #[new]
    #[pyo3(signature = (tokens, merges, special_tokens, splitter, unit, on_unknown, ignore_merges, extra))]
    #[expect(clippy::too_many_arguments, reason = "called by the façade alone")]
    fn new(
        py: Python<'_>,
        tokens: &Bound<'_, PyList>,
        merges: Vec<(u32, u32, u32)>,
        special_tokens: Vec<(String, u32)>,
        splitter: &Splitter,
        unit: &str,
        on_unknown: &Bound<'_, PyAny>,
        ignore_merges: bool,
        extra: Py<PyAny>,
    ) -> PyResult<Self> {
        let tokens = token_table(tokens)?;
        let unit = match unit {
            "byte" => Unit::Byte { ids: byte_ids(py, &tokens)? },
            _ => Unit::Char { on_unknown: on_unknown_from(on_unknown)? },
        };
        let merges = merges.into_iter().map(|(left, right, id)| Merge { left, right, id }).collect();
        let pretokenizer = splitter.pretokenizer.clone();
        let definition = Definition { tokens, merges, special_tokens, unit, pretokenizer, ignore_merges };
        let tokenizer =
            py.detach(|| Tokenizer::new(definition)).map_err(|error| errors::from_core(py, error, None))?;
        Ok(Core { tokenizer, extra, digest: PyOnceLock::new(), integers: PyOnceLock::new() })
    }

    /// The ids of a text. See `digram.Tokenizer`.
    #[pyo3(signature = (text, *, special=None), text_signature = "($self, text, *, special='text')")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let special = Special::new(self, special)?;
        let mut ids = Vec::new();
        if text.is_instance_of::<PyList>() || text.is_instance_of::<PyTuple>() {
            for part in self.parts(text)? {
                match part {
                    Part::Id(id) => ids.push(id),
                    Part::Text(part) => self.encode_into(py, &part.text(), &special, &mut ids)?,
                }
            }
        } else {
            self.encode_into(py, &Text::new(text)?, &special, &mut ids)?;
        }
        self.list(py, &ids)
    }

    /// The ids of several texts, as lists. See `digram.Tokenizer`.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (ids, offsets) = self.encode_texts(py, &texts, special, threads)?;
        self.integers(py, ids.len());
        let lists = offsets.windows(2).map(|ends| self.list(py, &ids[ends[0] as usize..ends[1] as usize]));
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }

    /// The ids of several texts, as one array and an array of offsets.
    #[pyo3(signature = (texts, special=None, threads=None))]
    fn _encode_batch_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Flat<'py>> {
        let (ids, offsets) = self.encode_texts(py, &texts, special, threads)?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, offsets)))
    }

    /// How many ids a text has. See `digram.Tokenizer`.
    #[pyo3(signature = (text, *, special=None), text_signature = "($self, text, *, special='text')")]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<usize> {
        let special = Special::new(self, special)?;
        if text.is_instance_of::<PyList>() || text.is_instance_of::<PyTuple>() {
            let mut count = 0;
            for part in self.parts(text)? {
                count += match part {
                    Part::Id(_) => 1,
                    Part::Text(part) => self.count_text(py, &part.text(), &special)?,
                };
            }
            return Ok(count);
        }
        self.count_text(py, &Text::new(text)?, &special)
    }

    /// The text of ids. See `digram.Tokenizer`.
    #[pyo3(signature = (ids, *, errors="replace"))]
    fn decode(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, errors: &str) -> PyResult<String> {
        let on_invalid = on_invalid(py, errors)?;
        let ids = self.ids(ids)?;
        let decode = || self.tokenizer.decode_text(&ids, on_invalid);
        let text = if ids.len() < KEEP_GIL { decode() } else { py.detach(decode) };
        text.map_err(|error| errors::from_core(py, error, None))
    }

    /// The bytes of ids. See `digram.Tokenizer`.
    fn decode_bytes<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let ids = self.ids(ids)?;
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        let mut decode = || self.tokenizer.decode(&ids, &mut bytes);
        let decoded = if ids.len() < KEEP_GIL { decode() } else { py.detach(decode) };
        decoded.map_err(|error| errors::from_core(py, error, None))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The texts of several sequences of ids. See `digram.Tokenizer`.
    #[pyo3(signature = (batch, *, errors="replace", threads=None))]
    fn decode_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        errors: &str,
        threads: Option<usize>,
    ) -> PyResult<Vec<String>> {
        let on_invalid = on_invalid(py, errors)?;
        let batch = self.id_batch(batch)?;
        let signals = Signals::new();
        let threads = threads.unwrap_or_else(available_threads).max(1);
        py.detach(|| self.tokenizer.decode_batch(&batch, on_invalid, threads, &signals)).map_err(
            |(index, error)| {
                let error = signals.error(py, error, None);
                _ = error.value(py).call_method1("add_note", (format!("in batch[{index}]"),));
                error
            },
        )
    }

    /// The bytes of each id. See `digram.Tokenizer`.
    fn tokens<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.ids(ids)?;
        let token = |(index, &id): (usize, &u32)| {
            self.tokenizer.token(id).map(|token| PyBytes::new(py, token)).ok_or_else(|| {
                let vocab_size = self.tokenizer.vocab_size() as u32;
                errors::from_core(py, digram::Error::TokenId { index, id, vocab_size }, None)
            })
        };
        PyList::new(py, ids.iter().enumerate().map(token).collect::<PyResult<Vec<_>>>()?)
    }

    /// The id of a token, or `None`. See `digram.Tokenizer`.
    fn id_of(&self, token: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        Ok(self.tokenizer.id_of(Text::new(token)?.bytes()))
    }

    /// One more than the highest id.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    /// How many tokens there are, special ones included.
    fn __len__(&self) -> usize {
        self.tokenizer.token_count()
    }

    /// The special tokens and their ids, by id.
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut tokens: Vec<_> = self.tokenizer.special_tokens().tokens().iter().collect();
        tokens.sort_by_key(|(_, id)| *id);
        let dict = PyDict::new(py);
        for (text, id) in tokens {
            dict.set_item(text, id)?;
        }
        Ok(dict)
    }

    /// The ids that no text becomes by merging. See `digram.Tokenizer`.
    fn unreachable(&self) -> Vec<u32> {
        self.tokenizer.unreachable().to_vec()
    }

    /// The digest, computed by `compute` at the first question.
    fn _digest<'py>(&self, py: Python<'py>, compute: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let digest = self
            .digest
            .get_or_try_init(py, || PyResult::Ok(compute.call0()?.cast_into::<PyString>()?.unbind()))?;
        Ok(digest.bind(py).clone())
    }

    /// The ordinary tokens, by id.
    fn _tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut special: Vec<u32> =
            self.tokenizer.special_tokens().tokens().iter().map(|(_, id)| *id).collect();
        special.sort_unstable();
        let ordinary = |id: &u32| special.binary_search(id).is_err();
        let size = self.tokenizer.vocab_size() as u32;
        let end = (0..size)
            .rev()
            .find(|id| ordinary(id) && self.tokenizer.token(*id).is_some())
            .map_or(0, |id| id + 1);
        let token = |id: u32| {
            Some(id).filter(ordinary).and_then(|id| Some(PyBytes::new(py, self.tokenizer.token(id)?)))
        };
        PyList::new(py, (0..end).map(token).collect::<Vec<_>>())
    }

    /// The merges as (left id, right id, resulting id), in rank order.
    fn _merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        merges_to_python(py, self.tokenizer.merges())
    }

    /// What the façade gave at construction.
    #[getter]
    fn _extra(&self, py: Python<'_>) -> Py<PyAny> {
        self.extra.clone_ref(py)
    }
}

/// A part of a text.
enum Part {
    /// Text, joined from neighbouring parts.
    Text(Joined),
    /// A special token.
    Id(u32),
}

/// Text parts end to end. It is a `str` as long as all parts were.
struct Joined {
    bytes: Vec<u8>,
    is_str: bool,
}

impl Joined {
    fn text(&self) -> Text<'_> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if self.is_str => Text::Str(text),
            _ => Text::Bytes(&self.bytes),
        }
    }
}

impl Core {
    /// Ids as a list of integers.
    fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        match self.integers(py, ids.len()) {
            Some(integers) => PyList::new(py, ids.iter().map(|&id| integers[id as usize].bind_borrowed(py))),
            None => PyList::new(py, ids),
        }
    }

    /// The integers that all lists of this tokenizer share, if `ids` of them are worth making all.
    fn integers<'a>(&'a self, py: Python<'_>, ids: usize) -> Option<&'a [Py<PyInt>]> {
        let integer = |id: u32| match id.into_pyobject(py) {
            Ok(integer) => integer.unbind(),
            Err(never) => match never {},
        };
        let make = || (0..self.tokenizer.vocab_size() as u32).map(integer).collect();
        match self.integers.get(py) {
            None if ids < self.tokenizer.vocab_size() / 4 => None,
            _ => Some(self.integers.get_or_init(py, make)),
        }
    }

    fn encode_into(
        &self,
        py: Python<'_>,
        text: &Text<'_>,
        special: &Special,
        ids: &mut Vec<u32>,
    ) -> PyResult<()> {
        let signals = Signals::new();
        let bytes = text.bytes();
        let mut encode = || self.tokenizer.encode(bytes, special.rule(), &signals, ids);
        let encoded = if bytes.len() < KEEP_GIL { encode() } else { py.detach(encode) };
        encoded.map_err(|error| signals.error(py, error, Some(text)))
    }

    fn count_text(&self, py: Python<'_>, text: &Text<'_>, special: &Special) -> PyResult<usize> {
        let signals = Signals::new();
        let bytes = text.bytes();
        let count = || self.tokenizer.count(bytes, special.rule(), &signals);
        let counted = if bytes.len() < KEEP_GIL { count() } else { py.detach(count) };
        counted.map_err(|error| signals.error(py, error, Some(text)))
    }

    fn encode_texts(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<(Vec<u32>, Vec<u64>)> {
        let special = Special::new(self, special)?;
        let texts = texts(objects, "texts")?;
        let bytes: Vec<&[u8]> = texts.iter().map(|text| text.bytes()).collect();
        let signals = Signals::new();
        let threads = threads.unwrap_or_else(available_threads).max(1);
        py.detach(|| self.tokenizer.encode_batch(&bytes, special.rule(), threads, &signals)).map_err(
            |(index, error)| {
                let error = signals.error(py, error, texts.get(index));
                _ = error.value(py).call_method1("add_note", (format!("in texts[{index}]"),));
                error
            },
        )
    }

    /// The parts of a text: neighbouring plain parts joined, special tokens as ids.
    fn parts(&self, parts: &Bound<'_, PyAny>) -> PyResult<Vec<Part>> {
        let class = parts.py().import("digram.special")?.getattr("Special")?;
        let mut joined: Vec<Part> = Vec::new();
        for (index, part) in parts.try_iter()?.enumerate() {
            let part = part?;
            if part.is_instance(&class)? {
                let name: String = part.getattr("text")?.extract()?;
                joined.push(Part::Id(self.special_id(parts.py(), &name)?));
                continue;
            }
            let text = &texts(std::slice::from_ref(&part), "parts").inspect_err(|error| {
                let error = error.value(parts.py());
                _ = error.call_method1("add_note", (format!("in part {index} of the text"),));
            })?[0];
            let is_str = matches!(text, Text::Str(_));
            match joined.last_mut() {
                Some(Part::Text(before)) => {
                    before.bytes.extend_from_slice(text.bytes());
                    before.is_str &= is_str;
                }
                _ => joined.push(Part::Text(Joined { bytes: text.bytes().to_vec(), is_str })),
            }
        }
        Ok(joined)
    }

    fn special_id(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        let tokens = self.tokenizer.special_tokens().tokens();
        tokens.iter().find(|(text, _)| text == name).map(|(_, id)| *id).ok_or_else(|| {
            let known: Vec<&str> = tokens.iter().map(|(text, _)| &text[..]).collect();
            let hint = match &known[..] {
                [] => "This tokenizer has none; with_special_tokens adds them.".to_owned(),
                [some @ .., _] if known.len() > 8 => {
                    format!("Some of those it has: {}.", some[..8].join(", "))
                }
                all => format!("It has {}.", all.join(", ")),
            };
            errors::build(py, "SpecialTokenError", format!("there is no special token {name:?}."), |places| {
                places.set_item("value", name)?;
                places.set_item("hint", hint)
            })
        })
    }

    fn ids(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        convert::ids(ids, self.tokenizer.vocab_size())
    }

    /// Several sequences of ids: an iterable of them, or flat ids with offsets.
    fn id_batch(&self, batch: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u32>>> {
        let flat = batch.py().import("digram.tokenizer")?.getattr("FlatIds")?;
        if !batch.is_instance(&flat)? {
            return batch.try_iter()?.map(|ids| self.ids(&ids?)).collect();
        }
        let ids = self.ids(&batch.getattr("ids")?)?;
        let offsets: Vec<usize> =
            batch.getattr("offsets")?.try_iter()?.map(|offset| offset?.extract()).collect::<PyResult<_>>()?;
        let range = |ends: &[usize]| ids.get(ends[0]..ends[1]).map(<[u32]>::to_vec);
        let lists: Option<Vec<_>> = offsets.windows(2).map(range).collect();
        lists.ok_or_else(|| {
            let message = format!("the offsets are not rising numbers from 0 to {}.", ids.len());
            errors::raise(batch.py(), "OptionError", message)
        })
    }
}

/// What the caller wants done with the text of special tokens.
enum Special {
    Text,
    Parse,
    Fail,
    Allow(SpecialTokens),
}

impl Special {
    fn new(core: &Core, argument: Option<&Bound<'_, PyAny>>) -> PyResult<Special> {
        let Some(argument) = argument else { return Ok(Special::Text) };
        let py = argument.py();
        if let Ok(name) = argument.cast::<PyString>() {
            return match name.to_str()? {
                "text" => Ok(Special::Text),
                "parse" => Ok(Special::Parse),
                "raise" => Ok(Special::Fail),
                other => Err(errors::raise(
                    py,
                    "OptionError",
                    format!(
                        "special={other:?} is not known. Pass \"text\", \"parse\", \"raise\", or a set of special tokens."
                    ),
                )),
            };
        }
        let mut allowed = Vec::new();
        for name in argument.try_iter()? {
            let name = name?;
            let name = name
                .cast::<PyString>()
                .map_err(|_| PyTypeError::new_err("special is a word or a set of str"))?;
            let name = Cow::into_owned(name.to_string_lossy());
            if allowed.iter().all(|(known, _)| *known != name) {
                allowed.push((name.clone(), core.special_id(py, &name)?));
            }
        }
        SpecialTokens::new(allowed).map(Special::Allow).map_err(|error| errors::from_core(py, error, None))
    }

    fn rule(&self) -> OnSpecial<'_> {
        match self {
            Special::Text => OnSpecial::Text,
            Special::Parse => OnSpecial::Parse,
            Special::Fail => OnSpecial::Fail,
            Special::Allow(allowed) => OnSpecial::Allow(allowed),
        }
    }
}

fn on_invalid(py: Python<'_>, errors: &str) -> PyResult<OnInvalid> {
    match errors {
        "replace" => Ok(OnInvalid::Replace),
        "strict" => Ok(OnInvalid::Fail),
        other => {
            let message = format!("errors={other:?} is not known. Pass \"replace\" or \"strict\".");
            Err(errors::raise(py, "OptionError", message))
        }
    }
}

/// The token of each byte.
fn byte_ids(py: Python<'_>, tokens: &[Option<Vec<u8>>]) -> PyResult<Box<[u32; 256]>> {
    let mut ids = Box::new([u32::MAX; 256]);
    for (id, token) in tokens.iter().enumerate() {
        if let Some([byte]) = token.as_deref() {
            ids[*byte as usize] = id as u32;
        }
    }
    match ids.iter().position(|&id| id == u32::MAX) {
        None => Ok(ids),
        Some(byte) => {
            let message = format!("byte 0x{byte:02x} has no token, so not every text could be encoded.");
            Err(errors::raise(py, "VocabError", message))
        }
    }
}

/// `None`, the id of a token, or the 256 ids of the bytes.
fn on_unknown_from(argument: &Bound<'_, PyAny>) -> PyResult<OnUnknown> {
    if argument.is_none() {
        return Ok(OnUnknown::Fail);
    }
    if let Ok(id) = argument.extract::<u32>() {
        return Ok(OnUnknown::Token(id));
    }
    let ids: Vec<u32> = argument.extract()?;
    let ids: [u32; 256] = ids.try_into().map_err(|_| PyTypeError::new_err("byte_ids are 256 ids"))?;
    Ok(OnUnknown::Bytes { ids: Box::new(ids) })
}
