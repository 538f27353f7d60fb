//! Encoding text that arrives in chunks.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::special::Special;
use super::{Core, KEEP_GIL_BYTES};
use crate::arrays::array;
use crate::convert::Text;
use crate::errors;
use crate::signals::Signals;
use crate::turn::SharedState;

/// A stream of text on its way to ids; `Tokenizer.encode_stream` drives it.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Stream {
    core: Py<Core>,
    special: Special,
    /// `None` after the end and after an error.
    stream: SharedState<Option<digram::tokenizer::Stream>>,
}

#[pymethods]
impl Core {
    /// A stream that stores at most `limit` bytes.
    fn _stream(slf: &Bound<'_, Self>, special: Option<&Bound<'_, PyAny>>, limit: usize) -> PyResult<Stream> {
        let special = Special::new(slf.get(), special)?;
        let stream = SharedState::new("stream", Some(digram::tokenizer::Stream::new(limit)));
        Ok(Stream { core: slf.clone().unbind(), special, stream })
    }
}

#[pymethods]
impl Stream {
    /// The ids that are certain after the next chunk, or after the last one (`None`).
    fn push<'py>(&self, py: Python<'py>, chunk: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        self.core.get().list(py, &self.advance(py, chunk)?)
    }

    /// Like `push`, as an array.
    fn push_numpy<'py>(
        &self,
        py: Python<'py>,
        chunk: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        array(py, self.advance(py, chunk)?)
    }
}

impl Stream {
    fn advance(&self, py: Python<'_>, chunk: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let text = chunk.map(Text::new).transpose()?;
        let mut state = self.stream.take(py)?;
        let Some(mut stream) = state.take() else {
            return Err(errors::raise(py, "OptionError", "this stream has ended."));
        };
        let (tokenizer, special, signals) =
            (&self.core.get().tokenizer, self.special.on_special(), Signals::new());
        let mut ids = Vec::new();
        let pushed = match text {
            None => py.detach(|| tokenizer.finish(stream, special, &signals, &mut ids)),
            Some(text) => {
                let bytes = text.bytes();
                let mut push = || tokenizer.push(&mut stream, bytes, special, &signals, &mut ids);
                let pushed = if bytes.len() < KEEP_GIL_BYTES { push() } else { py.detach(push) };
                if pushed.is_ok() {
                    *state = Some(stream);
                }
                pushed
            }
        };
        // Positions in a stream are bytes, because the characters of earlier chunks are no longer known.
        pushed.map_err(|error| signals.error(py, error, None))?;
        Ok(ids)
    }
}
