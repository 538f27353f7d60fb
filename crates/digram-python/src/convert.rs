//! Conversions between Python's values and the core's.

use std::cell::Cell;

use digram::merges::Merge;
use digram::text::Text as StoredText;
use digram::{Error, Tokenizer};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyException, PyMemoryError, PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyList, PyString, PyTuple};

use crate::errors::{self, ITERABLE, kind, shown_repr};
use crate::objects::{self, CHECK_INTERVAL, SignalChecks, bytes, collected, integer, list, reserve, tuple};
use crate::plain_ids;
use crate::strings;

/// A borrowed text from Python.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Str(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Text<'a> {
    /// A `str` or `bytes`; anything else is a `TypeError`, a lone surrogate an `InvalidTextError`.
    #[inline]
    pub(crate) fn new(object: &'a Bound<'_, PyAny>) -> PyResult<Text<'a>> {
        if let Ok(text) = object.cast::<PyString>() {
            return match text.to_str() {
                Ok(text) => Ok(Text::Str(text)),
                Err(error) => Err(lone_surrogate(object.py(), &error, None)),
            };
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Text::Bytes(bytes.as_bytes()));
        }
        Err(not_text(object, "text"))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }

    /// A Python object of the same type with other content; for a `str` it must be UTF-8.
    pub(crate) fn of_same_type<'py>(&self, py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Text::Str(_) => Ok(objects::string(py, &String::from_utf8_lossy(content))?.into_any()),
            Text::Bytes(_) => Ok(objects::bytes(py, content)?.into_any()),
        }
    }

    /// The number of characters that start before byte `offset`.
    pub(crate) fn characters_before(&self, offset: usize) -> usize {
        self.bytes()[..offset].iter().filter(|byte| **byte & 0xc0 != 0x80).count()
    }
}

/// The texts of a list, borrowed; errors name the index.
pub(crate) fn texts<'a>(objects: &'a [Bound<'_, PyAny>], argument: &str) -> PyResult<Vec<Text<'a>>> {
    let Some(first) = objects.first() else { return Ok(Vec::new()) };
    let text = |(index, object)| text(object, argument, index);
    collected(first.py(), objects.iter().enumerate().map(text))
}

/// The texts of a list, as [`texts`], for a call that reads each of them once: a `str` stays as it is stored, if
/// it has at most `longest` characters.
pub(crate) fn stored_texts<'a>(
    objects: &'a [Bound<'_, PyAny>],
    argument: &str,
    longest: usize,
) -> PyResult<Vec<StoredText<'a>>> {
    let Some(first) = objects.first() else { return Ok(Vec::new()) };
    let stored = |(index, object)| stored_text(object, longest, || text(object, argument, index));
    collected(first.py(), objects.iter().enumerate().map(stored))
}

/// A `str` as it is stored, if it is ASCII or has at most `longest` characters; otherwise what `utf8` returns.
pub(crate) fn stored_text<'a>(
    object: &'a Bound<'_, PyAny>,
    longest: usize,
    utf8: impl FnOnce() -> PyResult<Text<'a>>,
) -> PyResult<StoredText<'a>> {
    match strings::stored(object) {
        Some(stored @ StoredText::Utf8(_)) => Ok(stored),
        Some(stored) if stored.len() <= longest => Ok(stored),
        _ => utf8().map(|text| StoredText::Utf8(text.bytes())),
    }
}

/// The bytes of texts.
pub(crate) fn bytes_of<'a>(py: Python<'_>, texts: &[Text<'a>]) -> PyResult<Vec<&'a [u8]>> {
    collected(py, texts.iter().map(|text| Ok(text.bytes())))
}

/// The text at an index of an argument; errors name both.
pub(crate) fn text<'a>(object: &'a Bound<'_, PyAny>, argument: &str, index: usize) -> PyResult<Text<'a>> {
    match object.cast::<PyString>() {
        Ok(text) => text
            .to_str()
            .map(Text::Str)
            .map_err(|error| lone_surrogate(object.py(), &error, Some(&format!("{argument}[{index}]")))),
        Err(_) => match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Text::Bytes(bytes.as_bytes())),
            Err(_) => Err(not_text(object, &format!("{argument}[{index}]"))),
        },
    }
}

fn not_text(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let kind = kind(object);
    let remedy = if kind == "SpecialToken"
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
    {
        // A list of texts cannot contain the parts of one text.
        "; encode and count take the parts of one text, in a list"
    } else if object.hasattr("__fspath__").unwrap_or(false) {
        "; read the file first"
    } else {
        ""
    };
    PyTypeError::new_err(format!("{name} is str or bytes, not {kind}{remedy}"))
}

/// Turns Python's error for a `str` with lone surrogates into digram's.
fn lone_surrogate(py: Python<'_>, error: &PyErr, name: Option<&str>) -> PyErr {
    let position = || -> PyResult<(usize, u32)> {
        let error = error.value(py).cast::<pyo3::exceptions::PyUnicodeEncodeError>()?;
        let index: usize = error.getattr("start")?.extract()?;
        let character = error.getattr("object")?.get_item(index)?;
        let code: u32 = py.import("builtins")?.call_method1("ord", (character,))?.extract()?;
        Ok((index, code))
    };
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error.clone_ref(py);
    }
    let (index, code) = position().unwrap_or((0, 0));
    let name = name.map_or_else(|| "the text".to_owned(), str::to_owned);
    let message =
        format!("{name} has a lone surrogate (U+{code:04X}) at index {index}, which is not a character.");
    errors::build(py, "InvalidTextError", message, |attributes| {
        attributes.set_item("index", index)?;
        attributes.set_item("value", code)?;
        attributes.set_item("hint", "Decode the source with errors=\"replace\", or pass its bytes.")
    })
}

/// Ids from a list, a tuple, an array of any integer type, or any iterable of integers. `bool` and
/// `float` raise `TypeError`, numbers that cannot be ids `TokenIdError`. An iterable, which may be
/// endless, is read up to the first id without a token.
pub(crate) fn ids(object: &Bound<'_, PyAny>, tokenizer: &Tokenizer) -> PyResult<Vec<u32>> {
    let mut ids = Vec::new();
    append_ids(object, tokenizer, &mut ids)?;
    Ok(ids)
}

/// Like `ids`, appended to `ids`; on an error some ids may have been appended.
pub(crate) fn append_ids(
    object: &Bound<'_, PyAny>,
    tokenizer: &Tokenizer,
    ids: &mut Vec<u32>,
) -> PyResult<()> {
    let vocab_size = tokenizer.vocab_size();
    if let Ok(list) = object.cast::<PyList>() {
        return append_list(list, vocab_size, ids);
    }
    if object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
    {
        return Err(PyTypeError::new_err(format!("ids is a sequence of integers, not {}", kind(object))));
    }
    if !object.is_instance_of::<PyTuple>() && append_buffer(object, vocab_size, ids)? {
        return Ok(());
    }
    let py = object.py();
    let items = object.try_iter().map_err(|error| not_a_sequence(object, error))?;
    for (index, item) in items.enumerate() {
        if index % CHECK_INTERVAL == 0 {
            py.check_signals()?;
        }
        let id = id(&item?, index, vocab_size)?;
        if tokenizer.token(id).is_none() {
            let error = Error::TokenId { index, id, vocab_size: vocab_size as u32 };
            return Err(errors::from_core(py, error, None));
        }
        reserve(ids, 1)?;
        ids.push(id);
    }
    Ok(())
}

/// The error for an object that is not a sequence of ids. A single id gets a message of its own; other errors are kept.
fn not_a_sequence(object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !object.hasattr("__index__").unwrap_or(false) {
        return errors::unless_has(&ITERABLE, object, "ids is a sequence of integers", error);
    }
    match shown_repr(object) {
        Err(error) => error,
        Ok(id) => PyTypeError::new_err(format!(
            "ids is a sequence of integers, not {}; put one id into a list: [{id}]",
            kind(object)
        )),
    }
}

fn append_list(list: &Bound<'_, PyList>, vocab_size: usize, ids: &mut Vec<u32>) -> PyResult<()> {
    reserve(ids, list.len())?;
    let mut index = 0;
    let mut are_plain = true;
    while index < list.len() {
        let end = list.len().min(index + CHECK_INTERVAL);
        if are_plain {
            index = plain_ids::append(list, index..end, ids);
            are_plain = index >= end;
        }
        for index in index..end {
            let id = id(&list.get_item(index)?, index, vocab_size)?;
            // An `__index__` method may have appended items to the list since memory was reserved.
            reserve(ids, 1)?;
            ids.push(id);
        }
        index = end;
        // A signal handler may change the list, so its length is read again in each round.
        if index < list.len() {
            list.py().check_signals()?;
        }
    }
    Ok(())
}

/// A flag argument, checked as everywhere in digram.
pub(crate) fn flag(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true());
    }
    let checks = value.py().import("digram._util.validation")?;
    checks.getattr("flag")?.call1((name, value))?.extract()
}

/// One id, as the argument of `push`; errors report it as the first of a sequence.
pub(crate) fn one_id(item: &Bound<'_, PyAny>, vocab_size: usize) -> PyResult<u32> {
    id(item, 0, vocab_size).map_err(|error| {
        let remedy = if item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>() {
            "encode gives the ids of a text"
        } else if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
            "extend takes several ids"
        } else {
            return error;
        };
        PyTypeError::new_err(format!("push takes one token id, not {}; {remedy}", kind(item)))
    })
}

#[inline]
fn id(item: &Bound<'_, PyAny>, index: usize, vocab_size: usize) -> PyResult<u32> {
    if item.is_instance_of::<PyBool>() || item.is_instance_of::<PyFloat>() {
        return Err(PyTypeError::new_err(format!(
            "ids[{index}] = {} is a {}, not a token id",
            shown_repr(item)?,
            kind(item)
        )));
    }
    item.extract::<u32>().map_err(|error| not_an_id(error, item, index, vocab_size))
}

/// The error for an item that cannot be an id. Converting it may have run other Python code:
/// `MemoryError` and exceptions that are not `Exception`, such as `KeyboardInterrupt`, are passed
/// on.
#[cold]
fn not_an_id(error: PyErr, item: &Bound<'_, PyAny>, index: usize, vocab_size: usize) -> PyErr {
    let py = item.py();
    if error.is_instance_of::<PyOverflowError>(py) {
        out_of_range(item, index, vocab_size)
    } else if error.is_instance_of::<PyMemoryError>(py) || !error.is_instance_of::<PyException>(py) {
        error
    } else {
        PyTypeError::new_err(format!("ids[{index}] is a {}, not a token id", kind(item)))
    }
}

fn out_of_range(value: &Bound<'_, PyAny>, index: usize, vocab_size: usize) -> PyErr {
    let shown = match shown_repr(value) {
        Ok(shown) => shown,
        Err(error) => return error,
    };
    let message =
        format!("ids[{index}] = {shown} is not in this vocabulary (0..{}).", vocab_size.saturating_sub(1));
    errors::token_id(value.py(), message, index, value.clone())
}

/// Appends numbers; one that cannot be an id is an error.
fn append_numbers<T: TryInto<u32> + Copy>(
    object: &Bound<'_, PyAny>,
    numbers: &[Cell<T>],
    vocab_size: usize,
    ids: &mut Vec<u32>,
) -> PyResult<()> {
    let previous_len = ids.len();
    reserve(ids, numbers.len())?;
    // Numbers that cannot be ids are searched for afterwards, so that this loop has no early exit.
    let mut are_valid = true;
    for chunk in numbers.chunks(16 * CHECK_INTERVAL) {
        object.py().check_signals()?;
        ids.extend(chunk.iter().map(|number| match number.get().try_into() {
            Ok(id) => id,
            Err(_) => {
                are_valid = false;
                u32::MAX
            }
        }));
    }
    if are_valid {
        return Ok(());
    }
    let invalid_index = numbers.iter().position(|number| number.get().try_into().is_err()).unwrap_or(0);
    ids.truncate(previous_len);
    Err(out_of_range(&object.get_item(invalid_index)?, invalid_index, vocab_size))
}

/// A one-dimensional array of `uint32`, as it is in memory.
pub(crate) struct IdArray(PyBuffer<u32>);

impl IdArray {
    /// `None` for other objects.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Option<IdArray> {
        let buffer = PyBuffer::<u32>::get(object).ok()?;
        let is_swapped = matches!(buffer.format().to_bytes().first(), Some(b'>' | b'!'));
        let is_plain = !is_swapped && buffer.dimensions() == 1 && buffer.as_slice_ptr().is_some();
        is_plain.then_some(IdArray(buffer))
    }

    /// The ids, which may change whenever Python code runs.
    pub(crate) fn ids(&self) -> &[Cell<u32>] {
        // SAFETY: the buffer stays where it is as long as it is borrowed.
        self.0.as_slice_ptr().map_or(&[], |ids| unsafe { &*(ids.as_ptr() as *const [Cell<u32>]) })
    }
}

/// Appends the numbers of a one-dimensional buffer (NumPy, array, memoryview); false for other objects.
/// The numbers are copied: a borrowed buffer could change while other threads run, and copying is a
/// small part of decoding.
fn append_buffer(object: &Bound<'_, PyAny>, vocab_size: usize, ids: &mut Vec<u32>) -> PyResult<bool> {
    fn read<T: Element + TryInto<u32> + Copy>(
        object: &Bound<'_, PyAny>,
        vocab_size: usize,
        ids: &mut Vec<u32>,
    ) -> PyResult<bool> {
        let Ok(buffer) = PyBuffer::<T>::get(object) else { return Ok(false) };
        if matches!(buffer.format().to_bytes().first(), Some(b'>' | b'!')) && size_of::<T>() > 1 {
            // The other byte order: the items are converted one by one in Python.
            return Ok(false);
        }
        if buffer.dimensions() != 1 {
            return Err(PyTypeError::new_err(format!(
                "ids has {} dimensions; give one sequence of ids",
                buffer.dimensions()
            )));
        }
        if let Some(numbers) = buffer.as_slice_ptr() {
            // SAFETY: the buffer stays where it is as long as it is borrowed; its numbers may change whenever
            // Python code runs.
            let numbers = unsafe { &*(numbers.as_ptr() as *const [Cell<T>]) };
            return append_numbers(object, numbers, vocab_size, ids).map(|()| true);
        }
        // PyO3 copies the buffer without checking whether there is enough memory.
        reserve(&mut Vec::<T>::new(), buffer.item_count())?;
        let mut numbers = buffer.to_vec(object.py())?;
        append_numbers(object, Cell::from_mut(&mut numbers[..]).as_slice_of_cells(), vocab_size, ids)?;
        Ok(true)
    }
    let readers = [
        read::<u32>,
        read::<i64>,
        read::<i32>,
        read::<u64>,
        read::<u16>,
        read::<i16>,
        read::<u8>,
        read::<i8>,
    ];
    for read in readers {
        if read(object, vocab_size, ids)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A list of `bytes` and `None`.
pub(crate) fn token_table(tokens: &Bound<'_, PyList>) -> PyResult<Vec<Option<Vec<u8>>>> {
    let token = |token: Bound<'_, PyAny>| {
        if token.is_none() {
            return Ok(None);
        }
        let (token, mut copy) = (token.cast::<PyBytes>()?.as_bytes(), Vec::new());
        reserve(&mut copy, token.len())?;
        copy.extend_from_slice(token);
        Ok(Some(copy))
    };
    collected(tokens.py(), tokens.iter().map(token))
}

/// Tokens as a list of `bytes`.
pub(crate) fn tokens_to_python<'py>(py: Python<'py>, tokens: &[Vec<u8>]) -> PyResult<Bound<'py, PyList>> {
    list(py, tokens.iter().map(|token| bytes(py, token)), &mut SignalChecks::new())
}

/// Merges as (left id, right id, resulting id).
pub(crate) fn merges_to_python<'py>(py: Python<'py>, merges: &[Merge]) -> PyResult<Bound<'py, PyList>> {
    let triple = |merge: &Merge| {
        let [left, right, id] = [merge.left, merge.right, merge.id].map(|id| integer(py, id.into()));
        tuple(py, [left?, right?, id?])
    };
    list(py, merges.iter().map(triple), &mut SignalChecks::new())
}

/// Numbers as a list.
pub(crate) fn numbers_to_python<'py>(py: Python<'py>, numbers: &[u64]) -> PyResult<Bound<'py, PyList>> {
    list(py, numbers.iter().map(|&number| integer(py, number)), &mut SignalChecks::new())
}
