//! Decoding a stream of ids.

use digram::tokenizer::{self, OnInvalid};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::decode::{OnInvalidBytes, skips};
use super::{Core, KEEP_GIL_BYTES};
use crate::convert;
use crate::errors;
use crate::signals::Signals;
use crate::turn::SharedState;

/// Decodes ids as they come; made by `Tokenizer.decoder`.
///
/// A token may end inside a character. The decoder holds such a beginning back until the rest is
/// there, or until it is certain that it never will be, so every text it gives can be shown at
/// once. The texts of all calls, joined, are what `Tokenizer.decode` gives for all ids.
///
/// >>> import digram
/// >>> tok = digram.train("any text", max_merges=0)
/// >>> decoder = tok.decoder()
/// >>> [decoder.push(id) for id in tok.encode("né")]
/// ['n', '', 'é']
/// >>> decoder.finish()
/// ''
///
/// It takes memory of a fixed size, whatever comes. One decoder serves one stream: calls from
/// several threads are served in turn.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Decoder {
    core: Py<Core>,
    skip_special: bool,
    state: SharedState<tokenizer::Decoder>,
}

#[pymethods]
impl Decoder {
    /// The text that is certain now that `id` has come; often the token's own, sometimes "".
    ///
    /// >>> import digram
    /// >>> decoder = digram.train("any text", max_merges=0).decoder()
    /// >>> decoder.push(0xE2), decoder.push(0x82), decoder.push(0xAC)
    /// ('', '', '€')
    /// >>> decoder.push(0xE2), decoder.push(65)
    /// ('', '\ufffdA')
    ///
    /// Raises `TokenIdError` for an id that is not in the vocabulary; and, with errors="strict",
    /// `InvalidTextError` as soon as the bytes are certain to be no UTF-8, with the place that
    /// `Tokenizer.decode` would name for the whole stream. A call that raises has taken nothing.
    fn push(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = convert::one_id(id, self.core.get().tokenizer.vocab_size())?;
        self.take(py, &[id])
    }

    /// The text that is certain now that several ids have come: a list, an array, or any iterable.
    ///
    /// >>> import digram
    /// >>> decoder = digram.train("any text", max_merges=0).decoder()
    /// >>> decoder.extend([72, 105, 0xF0, 0x9F]), decoder.extend([0x99, 0x82])
    /// ('Hi', '🙂')
    ///
    /// Raises what `push` raises; an id that is not in the vocabulary before bytes that are no
    /// UTF-8. Takes time in proportion to the ids.
    fn extend(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = convert::ids(ids, &self.core.get().tokenizer)?;
        self.take(py, &ids)
    }

    /// The text of what is still held back, now that no more comes; then a new stream may begin.
    ///
    /// >>> import digram
    /// >>> decoder = digram.train("any text", max_merges=0).decoder()
    /// >>> decoder.push(0xE2), decoder.finish(), decoder.push(65)
    /// ('', '\ufffd', 'A')
    ///
    /// With errors="strict" a character without its end is an `InvalidTextError`.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        self.state.take(py)?.finish().map_err(|error| errors::from_core(py, error, None))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let state: tokenizer::Decoder = *self.state.take(py)?;
        let pending = state.pending();
        if pending.is_empty() {
            return Ok("<digram.Decoder: nothing held back>".into());
        }
        let shown = PyBytes::new(py, pending).repr()?;
        Ok(format!("<digram.Decoder: {} held back, {shown}>", errors::several(py, pending.len(), "byte")?))
    }
}

impl Decoder {
    fn take(&self, py: Python<'_>, ids: &[u32]) -> PyResult<String> {
        let mut guard = self.state.take(py)?;
        let state: &mut tokenizer::Decoder = &mut guard;
        let core = &self.core.get().tokenizer;
        let signals = Signals::new();
        let mut push = || match self.skip_special {
            true => state.push(core, &core.without_special(ids, &signals)?, &signals),
            false => state.push(core, ids, &signals),
        };
        let text = if ids.len() < KEEP_GIL_BYTES { push() } else { py.detach(push) };
        text.map_err(|error| signals.error(py, error, None))
    }
}

#[pymethods]
impl Core {
    /// Make a `digram.Decoder`, which decodes ids one by one, as a model generates them.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("any text", max_merges=0)
    /// >>> decoder = tok.decoder()
    /// >>> [decoder.push(id) for id in tok.encode("né!")]
    /// ['n', '', 'é', '!']
    /// >>> decoder.finish()
    /// ''
    ///
    /// A character of which only some bytes have come is held back, so that each text that `push` gives
    /// can be shown at once. `errors` and `skip_special_tokens` are those of `decode`. One decoder serves one stream and takes
    /// memory of a fixed size. `push` raises `TokenIdError` for an id that is not in the vocabulary, and
    /// `InvalidTextError` with errors="strict". Raises `OptionError` for a tokenizer whose `decoding` has a step that
    /// needs all ids of a text at once.
    #[pyo3(
        signature = (*, errors=OnInvalidBytes(OnInvalid::Replace), skip_special_tokens=None),
        text_signature = "($self, *, errors=\"replace\", skip_special_tokens=False)"
    )]
    fn decoder(
        slf: Bound<'_, Self>,
        errors: OnInvalidBytes,
        skip_special_tokens: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Decoder> {
        let check = slf.get().tokenizer.check_single_tokens("a stream of ids cannot be decoded");
        check.map_err(|error| errors::from_core(slf.py(), error, None))?;
        let state = tokenizer::Decoder::new(errors.0);
        let skip_special = skips(skip_special_tokens)?;
        Ok(Decoder { core: slf.unbind(), skip_special, state: SharedState::new("decoder", state) })
    }
}
