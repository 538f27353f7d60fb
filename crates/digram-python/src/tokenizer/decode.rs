//! From ids back to text.

use digram::tokenizer::OnInvalid;
use digram::watch::available_threads;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Core, KEEP_GIL};
use crate::errors;
use crate::watch::Signals;

#[pymethods]
impl Core {
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
}

impl Core {
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
