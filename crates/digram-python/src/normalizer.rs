//! Normalizers as Python describes them.

use std::sync::Arc;

use digram::normalize::{AddedSpace, Form, Normalizer, SentencePiece, Stage};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors;

/// The normalizer of some stages, each a name and its arguments; `None` if there are none.
pub(crate) fn compiled(py: Python<'_>, stages: &[Bound<'_, PyTuple>]) -> PyResult<Option<Arc<Normalizer>>> {
    if stages.is_empty() {
        return Ok(None);
    }
    let stages = stages.iter().map(stage).collect::<PyResult<_>>()?;
    let normalizer = py.detach(|| Normalizer::new(stages));
    normalizer
        .map(|normalizer| Some(Arc::new(normalizer)))
        .map_err(|error| errors::from_core(py, error, None))
}

fn stage(described: &Bound<'_, PyTuple>) -> PyResult<Stage> {
    let name: String = described.get_item(0)?.extract()?;
    let text = |index| described.get_item(index)?.extract::<String>();
    Ok(match &name[..] {
        "nfc" => Stage::Form(Form::Nfc),
        "nfd" => Stage::Form(Form::Nfd),
        "nfkc" => Stage::Form(Form::Nfkc),
        "nfkd" => Stage::Form(Form::Nfkd),
        "lowercase" => Stage::Lowercase,
        "strip_accents" => Stage::StripAccents,
        "nmt" => Stage::Nmt,
        "strip" => {
            Stage::Strip { left: described.get_item(1)?.extract()?, right: described.get_item(2)?.extract()? }
        }
        "prepend" => Stage::Prepend {
            content: text(1)?,
            once: described.get_item(2)?.extract()?,
            first: described.get_item(3)?.extract()?,
        },
        "replace" => Stage::Replace { pattern: text(1)?, content: text(2)? },
        "spaced_words" => Stage::SpacedWords { symbol: described.get_item(1)?.extract()? },
        "precompiled" => Stage::Precompiled { charsmap: charsmap(described)? },
        "sentencepiece" => Stage::SentencePiece(SentencePiece {
            charsmap: charsmap(described)?,
            added_space: match described.get_item(2)?.extract::<Option<String>>()?.as_deref() {
                Some("before") => AddedSpace::Before,
                Some("behind") => AddedSpace::Behind,
                _ => AddedSpace::No,
            },
            removes_spaces: described.get_item(3)?.extract()?,
            symbols: described.get_item(4)?.extract()?,
        }),
        other => return Err(PyTypeError::new_err(format!("there is no stage {other:?} of normalizers"))),
    })
}

/// The bytes of a character map, which are described by one character each.
fn charsmap(described: &Bound<'_, PyTuple>) -> PyResult<Vec<u8>> {
    let text: String = described.get_item(1)?.extract()?;
    let bytes =
        text.chars().map(|c| u8::try_from(c).map_err(|_| PyTypeError::new_err("a charsmap is bytes")));
    bytes.collect()
}
