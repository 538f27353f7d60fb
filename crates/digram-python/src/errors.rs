//! Core errors as the exceptions of `digram.errors`.

use std::path::PathBuf;

use digram::Error;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::Text;

/// An exception of the class named `class`, without attributes.
pub(crate) fn raise(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    build(py, class, message.into(), |_| Ok(()))
}

/// An exception of the class named `class`, with the attributes that `set_attributes` sets.
pub(crate) fn build(
    py: Python<'_>,
    class: &str,
    message: String,
    set_attributes: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let attributes = PyDict::new(py);
        set_attributes(&attributes)?;
        let class = py.import("digram.errors")?.getattr(class)?;
        class.call((message,), Some(&attributes))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// The exception for an error of the core. `text` is the encoded text: positions in a `str` are
/// given in characters.
pub(crate) fn from_core(py: Python<'_>, error: Error, text: Option<&Text<'_>>) -> PyErr {
    let message = error.to_string();
    // Positions in a str count characters, positions in bytes count bytes.
    let position = |offset: usize| match text {
        Some(Text::Str(_)) => ("character", text.map_or(offset, |text| text.characters_before(offset))),
        _ => ("byte", offset),
    };
    match error {
        Error::Pattern { pattern, reason: _ } => {
            build(py, "PatternError", message, |attributes| attributes.set_item("value", pattern))
        }
        Error::Vocabulary { .. } => raise(py, "VocabError", message),
        Error::Option { .. } => raise(py, "OptionError", message),
        Error::Limit { .. } => raise(py, "LimitExceededError", message),
        Error::TooManyPretokens => build(py, "LimitExceededError", message, |attributes| {
            attributes.set_item("hint", "Train on the text with memory_limit=, which leaves them on disk.")
        }),
        Error::Checkpoint { .. } => raise(py, "CheckpointError", message),
        Error::TokenId { index, id, .. } => token_id(py, message, index, id),
        Error::UnknownCharacter { character, offset } => {
            let (unit, index) = position(offset);
            let message = format!(
                "{character:?} (U+{:04X}) at {unit} {index} is in no token of this vocabulary.",
                character as u32
            );
            build(py, "InvalidTextError", message, |attributes| {
                attributes.set_item("index", index)?;
                attributes.set_item("value", character)?;
                attributes.set_item(
                    "hint",
                    "Train with on_unknown=\"bytes\", or with on_unknown=digram.SpecialToken(...), to encode any text.",
                )
            })
        }
        Error::UnknownWord { word, offset } => {
            let (unit, index) = position(offset);
            let message = format!("the word {word:?} at {unit} {index} is no token of this vocabulary.");
            build(py, "InvalidTextError", message, |attributes| {
                attributes.set_item("index", index)?;
                attributes.set_item("value", word)?;
                attributes.set_item(
                    "hint",
                    "Give the vocabulary a token for unknown words, with on_unknown=digram.SpecialToken(...).",
                )
            })
        }
        Error::InvalidUtf8 { offset } => {
            build(py, "InvalidTextError", message, |attributes| attributes.set_item("index", offset))
        }
        Error::DecodedInvalidUtf8 { offset } => build(py, "InvalidTextError", message, |attributes| {
            attributes.set_item("index", offset)?;
            attributes.set_item("hint", "Pass errors=\"replace\", or take the bytes with decode_bytes.")
        }),
        Error::SpecialToken { token, offset } => {
            let (unit, index) = position(offset);
            let message = format!("the text holds the special token {token:?} at {unit} {index}.");
            build(py, "SpecialTokenError", message, |attributes| {
                attributes.set_item("index", index)?;
                attributes.set_item("value", token)?;
                attributes.set_item(
                    "hint",
                    "Pass special=\"parse\" to encode it as that token, or special=\"text\" as plain text.",
                )
            })
        }
        Error::Io { path, errno, reason } => os_error(py, path, errno, reason),
        Error::Corrupt { path, offset, reason } => build(py, "CorruptFileError", reason, |attributes| {
            attributes.set_item("path", path)?;
            attributes.set_item("offset", offset)
        }),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        _ => raise(py, "InternalError", message),
    }
}

/// The maximum number of characters that a message shows of a foreign value, or of the name of its type.
const MAX_SHOWN: usize = 80;

/// The repr of a foreign value for a message, cut to 80 characters, without control characters.
///
/// A repr runs foreign code. If it raises an `Exception`, the type is shown instead; other exceptions,
/// such as Ctrl-C, are passed on.
pub(crate) fn shown_repr(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.repr() {
        Ok(repr) => Ok(clipped(&repr.to_string_lossy())),
        Err(error) if error.is_instance_of::<PyException>(value.py()) => Ok(format!("<{}>", kind(value))),
        Err(error) => Err(error),
    }
}

/// The methods of an iterable object: each has one of them.
pub(crate) const ITERABLE: [&str; 2] = ["__iter__", "__getitem__"];

/// The error for an argument that has none of these methods: the message says what is expected. Other errors are kept.
pub(crate) fn unless_has(methods: &[&str], value: &Bound<'_, PyAny>, expected: &str, error: PyErr) -> PyErr {
    if methods.iter().any(|method| value.hasattr(*method).unwrap_or(true)) {
        return error;
    }
    match shown_repr(value) {
        Ok(shown) => PyTypeError::new_err(format!("{expected}, not {shown}")),
        Err(error) => error,
    }
}

/// The name of an object's type.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "?".into(), |name| clipped(&name.to_string_lossy()))
}

fn clipped(text: &str) -> String {
    let mut clipped = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == MAX_SHOWN - 1 && text.chars().nth(MAX_SHOWN).is_some() {
            clipped.push('…');
            break;
        }
        match character.is_control() {
            true => clipped.extend(character.escape_default()),
            false => clipped.push(character),
        }
    }
    clipped
}

/// The `MemoryError` for the core's error.
pub(crate) fn no_memory(error: Error) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

/// The `OSError` that Python itself would raise: its class depends on the number.
fn os_error(py: Python<'_>, path: PathBuf, errno: Option<i32>, reason: String) -> PyErr {
    let strerror = |number: i32| py.import("os")?.call_method1("strerror", (number,))?.extract::<String>();
    match errno.map(|number| strerror(number).map(|message| (number, message))) {
        Some(Ok((number, message))) => PyOSError::new_err((number, message, path.into_os_string())),
        _ => PyOSError::new_err(format!("{}: {reason}", path.display())),
    }
}

/// The exception with a message that begins with the part of the argument that it is about.
pub(crate) fn with_place(py: Python<'_>, error: PyErr, place: &str) -> PyErr {
    let add_place = || py.import("digram.errors")?.getattr("placed")?.call1((error.value(py), place));
    match add_place() {
        Ok(_) => error,
        Err(other) => other,
    }
}

/// A number with its noun in the singular or plural.
pub(crate) fn several(py: Python<'_>, number: usize, noun: &str) -> PyResult<String> {
    py.import("digram.errors")?.getattr("several")?.call1((number, noun))?.extract()
}

/// A `TokenIdError` for the id at `index`.
pub(crate) fn token_id<'v>(
    py: Python<'v>,
    message: String,
    index: usize,
    value: impl IntoPyObject<'v>,
) -> PyErr {
    let value = match value.into_bound_py_any(py) {
        Ok(value) => value,
        Err(error) => return error,
    };
    build(py, "TokenIdError", message, |attributes| {
        attributes.set_item("index", index)?;
        attributes.set_item("value", &value)
    })
}
