//! Decodings as Python describes them.

use digram::tokenizer::{Decoding, DecodingStep};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A decoding of names of tokens and of steps, each a name and its arguments.
#[derive(FromPyObject)]
pub(crate) struct Described<'py>(Vec<Option<String>>, Vec<Bound<'py, PyTuple>>);

/// The decoding that is described.
pub(crate) fn decoding_of(described: Described<'_>) -> PyResult<Decoding> {
    let Described(names, steps) = described;
    Ok(Decoding { names, steps: steps.iter().map(step_of).collect::<PyResult<_>>()? })
}

fn step_of(described: &Bound<'_, PyTuple>) -> PyResult<DecodingStep> {
    let text = |index| described.get_item(index)?.extract::<String>();
    let flag = |index| described.get_item(index)?.extract::<bool>();
    let number = |index| described.get_item(index)?.extract::<usize>();
    let character = |index| described.get_item(index)?.extract::<char>();
    Ok(match &text(0)?[..] {
        "byte_level" => DecodingStep::ByteLevel,
        "word_piece" => DecodingStep::WordPiece { prefix: text(1)?, cleans_up: flag(2)? },
        "metaspace" => DecodingStep::Metaspace { symbol: character(1)?, strips_first: text(2)? != "never" },
        "bpe_decoder" => DecodingStep::BpeDecoder { suffix: text(1)? },
        "byte_fallback" => DecodingStep::ByteFallback,
        "fuse" => DecodingStep::Fuse,
        "strip_ends" => {
            DecodingStep::StripEnds { content: character(1)?, start: number(2)?, stop: number(3)? }
        }
        "replace" => DecodingStep::Replace { pattern: text(1)?, content: text(2)? },
        "replace_matches" => DecodingStep::ReplaceMatches { regex: text(1)?, content: text(2)? },
        "ctc" => DecodingStep::Ctc { pad: text(1)?, word_delimiter: text(2)?, cleans_up: flag(3)? },
        "spaced" => DecodingStep::Spaced,
        other => return Err(PyTypeError::new_err(format!("there is no step {other:?} of decodings"))),
    })
}
