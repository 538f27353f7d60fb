//! The base class of `digram.Tokenizer`, which is written in Python.

mod count;
mod decode;
mod decoder;
mod dropout;
mod encode;
mod encoded;
mod measure;
mod parts;
mod segmentations;
mod special;
mod stream;

use std::sync::Arc;

use digram::Tokenizer;
use digram::added_tokens::{AddedToken, Matching};
use digram::encode::{KernelKind, OnUnknown, Unit};
use digram::tokenizer::Pipeline;
use digram::vocabulary::Vocabulary;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use crate::Splitter;
use crate::algorithm::Algorithm;
use crate::cache::limit_by_variable;
use crate::convert::{self, Text};
use crate::decoding::{Described, decoding_of};
use crate::errors;
use crate::id_lists::IdObjects;
use crate::model::Model;
use crate::objects::{SignalChecks, bytes, list};
use special::KeptSets;

pub(crate) use decoder::Decoder;
pub(crate) use encode::EncodedDocuments;
pub(crate) use encoded::Encoded;
pub(crate) use measure::{Intervals, RunningCount};
pub(crate) use stream::Stream;

/// Below this much text the GIL is kept: releasing and acquiring it would take longer.
const KEEP_GIL_BYTES: usize = 1 << 14;

/// Encodes and decodes. Frozen: the result of a call depends only on its arguments.
///
/// Its Python name is that of the public class, because Python's messages about wrong arguments name
/// the class that defines a method. In the module it is `Core`.
#[pyclass(name = "Tokenizer", frozen, subclass, module = "digram._core")]
pub(crate) struct Core {
    /// Shared with training that continues from it.
    pub(crate) tokenizer: Arc<Tokenizer>,
    /// A value that the Python class stores here.
    extra: Py<PyAny>,
    digest: PyOnceLock<Py<PyString>>,
    id_objects: PyOnceLock<IdObjects>,
    kept_sets: KeptSets,
}

#[pymethods]
impl Core {
    #[new]
    #[pyo3(signature = (model, special_tokens, keeps_spaces, splitter, strip_first_space, cleanup, decoding, unit, on_unknown, algorithm, extra))]
    #[expect(clippy::too_many_arguments, reason = "called only by the Python class")]
    fn new(
        py: Python<'_>,
        model: &Model,
        special_tokens: Vec<(String, u32, Flags)>,
        keeps_spaces: bool,
        splitter: &Splitter,
        strip_first_space: bool,
        cleanup: bool,
        decoding: Option<Described<'_>>,
        unit: &str,
        on_unknown: &Bound<'_, PyAny>,
        algorithm: &Algorithm,
        extra: Py<PyAny>,
    ) -> PyResult<Self> {
        limit_by_variable(py)?;
        let unit = match unit {
            "byte" => Unit::Byte { ids: byte_ids(py, model.model.vocabulary())? },
            _ => Unit::Char { on_unknown: on_unknown_from(on_unknown)? },
        };
        let pipeline = Pipeline {
            added_tokens: special_tokens.into_iter().map(|token| added_token(token, keeps_spaces)).collect(),
            normalizer: splitter.normalizer.clone(),
            pretokenizer: splitter.pretokenizer.clone(),
            strips_first_space: strip_first_space,
            cleans_up: cleanup,
            decoding: decoding.map(decoding_of).transpose()?,
        };
        let model = model.model.clone();
        let algorithm = algorithm.algorithm.clone();
        let tokenizer = py
            .detach(|| Tokenizer::with_model(model, pipeline, unit, algorithm))
            .map_err(|error| errors::from_core(py, error, None))?;
        Ok(Core {
            tokenizer: Arc::new(tokenizer),
            extra,
            digest: PyOnceLock::new(),
            id_objects: PyOnceLock::new(),
            kept_sets: KeptSets::default(),
        })
    }

    /// The bytes of the token of each id, as a list.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.tokens(tok.encode("lower"))
    /// [b'low', b'e', b'r']
    ///
    /// `ids` are those of `decode`. Tokens are bytes, since one may be part of a character; that of a
    /// special token is its text in UTF-8. They join to `tok.decode_bytes(ids)`. `tok.id_to_token(id)`
    /// is that of one id. Raises `TokenIdError` for an id that is not in the vocabulary, with its index.
    /// Takes time linear in the ids.
    fn tokens<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let ids = self.ids(ids)?;
        let token = |(index, &id): (usize, &u32)| {
            let token = self.tokenizer.token(id).ok_or_else(|| {
                let vocab_size = self.tokenizer.vocab_size() as u32;
                errors::from_core(py, digram::Error::TokenId { index, id, vocab_size }, None)
            })?;
            bytes(py, token)
        };
        list(py, ids.iter().enumerate().map(token), &mut SignalChecks::new())
    }

    /// The id of a token, or None where the vocabulary has no such token.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.token_to_id("low"), tok.token_to_id(b"lo"), tok.token_to_id("lowest")
    /// (257, 256, None)
    /// >>> tok.id_to_token(257)
    /// b'low'
    ///
    /// `token` is a `str` or `bytes`; a special token is found by its text. The text is looked up as
    /// it is and not encoded: "lowest" is not a token, though it can be encoded. Takes constant time.
    fn token_to_id(&self, token: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        Ok(self.tokenizer.token_to_id(Text::new(token)?.bytes()))
    }

    /// One more than the highest id.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    /// The number of tokens, including special ones.
    fn __len__(&self) -> usize {
        self.tokenizer.token_count()
    }

    /// The special tokens and their ids, by id.
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut tokens: Vec<_> = self.tokenizer.added_tokens().tokens().iter().collect();
        tokens.sort_by_key(|token| token.id);
        let dict = PyDict::new(py);
        for token in tokens {
            dict.set_item(&token.text, token.id)?;
        }
        Ok(dict)
    }

    /// The ids of tokens that no text becomes by merging, in rising order.
    ///
    /// >>> import digram
    /// >>> digram.train("low low lower", vocab_size=258).unreachable()
    /// []
    ///
    /// Vocabularies that other programs made, or that were changed by hand, have such tokens.
    /// `digram.audit` says more of each. Special tokens are not among them. The ids are found when
    /// the tokenizer is made; the call copies them.
    fn unreachable(&self) -> Vec<u32> {
        let mut ids = self.tokenizer.unreachable().to_vec();
        ids.extend(self.tokenizer.empty());
        ids.sort_unstable();
        ids
    }

    /// The digest, computed by `compute` at the first call.
    fn _digest<'py>(&self, py: Python<'py>, compute: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let digest = self
            .digest
            .get_or_try_init(py, || PyResult::Ok(compute.call0()?.cast_into::<PyString>()?.unbind()))?;
        Ok(digest.bind(py).clone())
    }

    /// The ordinary tokens and the merges.
    #[getter]
    fn _model(&self) -> Model {
        Model { model: self.tokenizer.model() }
    }

    /// How pretokens that are not tokens are encoded: "ranked", "layered", "events", "viterbi", "scored", "wordpiece",
    /// "word_level", "greedy" or "fewest".
    #[getter]
    fn _kernel(&self) -> &'static str {
        match self.tokenizer.kernel() {
            KernelKind::Ranked => "ranked",
            KernelKind::Layered => "layered",
            KernelKind::Events => "events",
            KernelKind::Viterbi => "viterbi",
            KernelKind::Scored => "scored",
            KernelKind::WordPiece => "wordpiece",
            KernelKind::WordLevel => "word_level",
            KernelKind::Greedy => "greedy",
            KernelKind::Fewest => "fewest",
        }
    }

    /// The value that the Python class stored at construction.
    #[getter]
    fn _extra(&self, py: Python<'_>) -> Py<PyAny> {
        self.extra.clone_ref(py)
    }
}

impl Core {
    fn ids(&self, ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        convert::ids(ids, &self.tokenizer)
    }
}

/// Whether a token is found in all text, and its [`Matching`]: lstrip, rstrip, single_word, normalized.
type Flags = (bool, bool, bool, bool, bool);

/// `keeps_spaces` if the spaces of normalized text are no white space.
fn added_token((text, id, flags): (String, u32, Flags), keeps_spaces: bool) -> AddedToken {
    let (always, lstrip, rstrip, single_word, normalized) = flags;
    let keeps_spaces = normalized && keeps_spaces;
    let matching = Matching { lstrip, rstrip, single_word, normalized, keeps_spaces };
    AddedToken { text, id, is_special: !always, matching, normal_form: None }
}

/// The token of each byte.
fn byte_ids(py: Python<'_>, vocabulary: &Vocabulary) -> PyResult<Box<[u32; 256]>> {
    let mut ids = Box::new([u32::MAX; 256]);
    for (id, token) in vocabulary.iter() {
        if let [byte] = token {
            ids[*byte as usize] = id;
        }
    }
    match ids.iter().position(|&id| id == u32::MAX) {
        None => Ok(ids),
        Some(byte) => {
            let message = format!("byte 0x{byte:02x} has no token, so not every text could be encoded.");
            Err(errors::raise(py, "VocabError", message))
        }
    }
}

/// `None`, the id of a token, or the 256 ids of the bytes.
fn on_unknown_from(argument: &Bound<'_, PyAny>) -> PyResult<OnUnknown> {
    if argument.is_none() {
        return Ok(OnUnknown::Fail);
    }
    if let Ok(id) = argument.extract::<u32>() {
        return Ok(OnUnknown::Token(id));
    }
    let ids: Vec<u32> = argument.extract()?;
    let ids: [u32; 256] = ids.try_into().map_err(|_| PyTypeError::new_err("byte_ids are 256 ids"))?;
    Ok(OnUnknown::Bytes { ids: Box::new(ids) })
}
