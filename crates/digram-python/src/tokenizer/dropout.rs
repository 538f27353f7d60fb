//! Encoding with BPE-dropout.

use digram::encode::Dropout;
use digram::tokenizer::WithDropout;
use pyo3::exceptions::{PyException, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::special::Special;
use super::{Core, KEEP_GIL_BYTES};
use crate::convert::Text;
use crate::errors;
use crate::signals::Signals;

/// The dropout of the arguments; `None` if no merge is omitted.
pub(super) fn with_dropout(
    dropout: Option<&Bound<'_, PyAny>>,
    seed: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Dropout>> {
    let seed = seed_of(seed)?;
    let Some(dropout) = dropout else { return Ok(None) };
    let py = dropout.py();
    let probability = match dropout.extract::<f64>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
            let message =
                format!("dropout={} is not a probability, from 0 to 1.", errors::shown_repr(dropout)?);
            return Err(errors::raise(py, "OptionError", message));
        }
        extracted => extracted?,
    };
    let with_seed = |seed: u64| {
        let dropout = Dropout::new(probability, seed).map_err(|error| errors::from_core(py, error, None))?;
        Ok(Some(dropout).filter(|dropout| !dropout.is_off()))
    };
    let Some(seed) = seed else {
        if with_seed(0)?.is_none() {
            return Ok(None);
        }
        return Err(errors::build(
            py,
            "OptionError",
            format!("dropout={probability} without a seed would leave out the same merges in every call."),
            |attributes| {
                attributes.set_item("value", probability)?;
                attributes.set_item("hint", "Pass seed=, and another one each time the text is encoded anew.")
            },
        ));
    };
    with_seed(seed)
}

/// The seed. It is checked even if no merge is omitted, so that an invalid seed fails at once and not when
/// dropout rises from 0 during training.
pub(super) fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    let Some(seed) = seed else { return Ok(None) };
    match seed.extract::<u64>() {
        Ok(seed) => Ok(Some(seed)),
        Err(error) if error.is_instance_of::<PyOverflowError>(seed.py()) => {
            let message = format!("seed={} is not a number from 0 to 2^64 - 1.", errors::shown_repr(seed)?);
            Err(errors::raise(seed.py(), "OptionError", message))
        }
        Err(error) if !error.is_instance_of::<PyException>(seed.py()) => Err(error),
        Err(_) => {
            Err(PyTypeError::new_err(format!("seed is a whole number, not {}", errors::shown_repr(seed)?)))
        }
    }
}

impl Core {
    pub(super) fn encode_with_dropout<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: &Special,
        dropout: &Dropout,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut dropout = WithDropout::new(dropout);
        let encode = |text: &Text<'_>, ids: &mut Vec<u32>| {
            let signals = Signals::new();
            let (bytes, special) = (text.bytes(), special.on_special());
            let mut run = || self.tokenizer.encode_with_dropout(bytes, special, &mut dropout, &signals, ids);
            let encoded = if bytes.len() < KEEP_GIL_BYTES { run() } else { py.detach(run) };
            encoded.map_err(|error| signals.error(py, error, Some(text)))
        };
        self.list_of_pieces(py, text, encode)
    }
}
