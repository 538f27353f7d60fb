//! Normalizers as Python describes them.

use std::sync::Arc;

use digram::normalize::{Form, Normalizer, Stage};
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
        other => return Err(PyTypeError::new_err(format!("there is no stage {other:?} of normalizers"))),
    })
}
