//! Core errors as the exceptions of `digram.errors`.

use std::path::PathBuf;

use digram::Error;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::Text;

/// An exception of the class named `class`, without a place.
pub(crate) fn raise(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    build(py, class, message.into(), |_| Ok(()))
}

/// An exception of the class named `class`, with the attributes that `fill` sets.
pub(crate) fn build(
    py: Python<'_>,
    class: &str,
    message: String,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let make = || {
        let places = PyDict::new(py);
        fill(&places)?;
        let class = py.import("digram.errors")?.getattr(class)?;
        class.call((message,), Some(&places))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// The exception for an error of the core. `text` is what was being encoded: places in a `str` are
/// told in characters.
pub(crate) fn from_core(py: Python<'_>, error: Error, text: Option<&Text<'_>>) -> PyErr {
    let message = error.to_string();
    // A place in a str counts characters, in bytes it counts bytes.
    let place = |offset: usize| match text {
        Some(Text::Str(_)) => ("character", text.map_or(offset, |text| text.characters_before(offset))),
        _ => ("byte", offset),
    };
    match error {
        Error::Pattern { pattern, reason: _ } => {
            build(py, "PatternError", message, |places| places.set_item("value", pattern))
        }
        Error::Vocabulary { .. } => raise(py, "VocabError", message),
        Error::Option { .. } => raise(py, "OptionError", message),
        Error::Limit { .. } => raise(py, "LimitExceededError", message),
        Error::TooManyPretokens => build(py, "LimitExceededError", message, |places| {
            places.set_item("hint", "Train on the text with memory_limit=, which leaves them on disk.")
        }),
        Error::Checkpoint { .. } => raise(py, "CheckpointError", message),
        Error::TokenId { index, id, .. } => token_id(py, message, index, id),
        Error::UnknownCharacter { character, offset } => {
            let (unit, index) = place(offset);
            let message = format!(
                "{character:?} (U+{:04X}) at {unit} {index} is in no token of this vocabulary.",
                character as u32
            );
            build(py, "InvalidTextError", message, |places| {
                places.set_item("index", index)?;
                places.set_item("value", character)?;
                places.set_item(
                    "hint",
                    "Train with on_unknown=\"bytes\", or with on_unknown=digram.SpecialToken(...), to encode any text.",
                )
            })
        }
        Error::InvalidUtf8 { offset } => {
            build(py, "InvalidTextError", message, |places| places.set_item("index", offset))
        }
        Error::DecodedInvalidUtf8 { offset } => build(py, "InvalidTextError", message, |places| {
            places.set_item("index", offset)?;
            places.set_item("hint", "Pass errors=\"replace\", or take the bytes with decode_bytes.")
        }),
        Error::SpecialToken { token, offset } => {
            let (unit, index) = place(offset);
            let message = format!("the text holds the special token {token:?} at {unit} {index}.");
            build(py, "SpecialTokenError", message, |places| {
                places.set_item("index", index)?;
                places.set_item("value", token)?;
                places.set_item(
                    "hint",
                    "Pass special=\"parse\" to encode it as that token, or special=\"text\" as plain text.",
                )
            })
        }
        Error::Io { path, errno, reason } => of_system(py, path, errno, reason),
        Error::Corrupt { path, offset, reason } => build(py, "CorruptFileError", reason, |places| {
            places.set_item("path", path)?;
            places.set_item("offset", offset)
        }),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        _ => raise(py, "InternalError", message),
    }
}

/// The most characters of a foreign value, or of the name of its type, that a message shows.
const MOST_SHOWN: usize = 80;

/// A foreign value as messages show it: its repr, cut to 80 characters, without control characters.
///
/// A repr is code of others. Where it raises an exception, or gives no text, the type is shown; what
/// is no `Exception`, such as Ctrl-C, comes through.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.repr() {
        Ok(repr) => Ok(clipped(&repr.to_string_lossy())),
        Err(error) if error.is_instance_of::<PyException>(value.py()) => Ok(format!("<{}>", kind(value))),
        Err(error) => Err(error),
    }
}

/// The name of an object's type.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "?".into(), |name| clipped(&name.to_string_lossy()))
}

fn clipped(text: &str) -> String {
    let mut clipped = String::new();
    for (number, character) in text.chars().enumerate() {
        if number == MOST_SHOWN - 1 && text.chars().nth(MOST_SHOWN).is_some() {
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

/// The `MemoryError` for an error of the core's that is one.
pub(crate) fn no_memory(error: Error) -> PyErr {
    PyMemoryError::new_err(error.to_string())
}

/// What Python raises itself where the system refuses: the class that belongs to the number.
fn of_system(py: Python<'_>, path: PathBuf, errno: Option<i32>, reason: String) -> PyErr {
    let said = |number: i32| py.import("os")?.call_method1("strerror", (number,))?.extract::<String>();
    match errno.map(|number| said(number).map(|said| (number, said))) {
        Some(Ok((number, said))) => PyOSError::new_err((number, said, path.into_os_string())),
        _ => PyOSError::new_err(format!("{}: {reason}", path.display())),
    }
}

/// The same exception, whose message says first which part of the argument it is about.
pub(crate) fn placed(py: Python<'_>, error: PyErr, place: &str) -> PyErr {
    let say = || py.import("digram.errors")?.getattr("placed")?.call1((error.value(py), place));
    match say() {
        Ok(_) => error,
        Err(other) => other,
    }
}

/// A number with its noun, as all messages have it.
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
    build(py, "TokenIdError", message, |places| {
        places.set_item("index", index)?;
        places.set_item("value", &value)
    })
}
