//! Tokens and merges as opaque Python objects.

mod spelled;

use digram::merges::Merge;
use digram::vocabulary::Vocabulary;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::convert::{merges_to_python, token_table};
use crate::errors;
use crate::objects::{SignalChecks, bytes, list};
use crate::signals::Signals;

/// Tokens in rank order, all different.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Ranks {
    ranks: digram::ranks::Ranks,
}

#[pymethods]
impl Ranks {
    /// The tokens by rank, `None` for a hole.
    #[new]
    fn new(py: Python<'_>, tokens: &Bound<'_, PyList>) -> PyResult<Self> {
        let tokens = token_table(tokens)?;
        py.detach(|| digram::ranks::Ranks::new(Vocabulary::new(tokens)?))
            .map(|ranks| Ranks { ranks })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// The tokens of a `.tiktoken` file in the published form; `None` for any other file.
    #[staticmethod]
    fn read(py: Python<'_>, data: &[u8]) -> Option<Self> {
        py.detach(|| digram::ranks::Ranks::read(data)).map(|ranks| Ranks { ranks })
    }

    /// The number of tokens.
    fn __len__(&self) -> usize {
        self.ranks.vocabulary().token_count()
    }
}

/// Ordinary tokens and merges, without special tokens and pretokenizer.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Model {
    pub(crate) model: digram::model::Model,
}

/// The numbers of tokens and merges, the lengths of the tokens, their bytes, and the merges.
type Packed<'py> = (usize, usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Numbers as 64 bits each, the lowest byte first.
fn numbers(values: impl Iterator<Item = i64>) -> Vec<u8> {
    values.flat_map(i64::to_le_bytes).collect()
}

#[pymethods]
impl Model {
    /// The tokens by id, `None` for a hole, and the merges as (left id, right id, resulting id).
    #[new]
    fn new(py: Python<'_>, tokens: &Bound<'_, PyList>, merges: Vec<(u32, u32, u32)>) -> PyResult<Self> {
        let tokens = token_table(tokens)?;
        let merges = merges.into_iter().map(|(left, right, id)| Merge { left, right, id }).collect();
        py.detach(|| digram::model::Model::new(Vocabulary::new(tokens)?, merges))
            .map(|model| Model { model })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// Tokens in rank order, and the merges that follow from the ranks.
    #[staticmethod]
    fn from_ranks(py: Python<'_>, ranks: &Ranks) -> PyResult<Self> {
        let signals = Signals::new();
        py.detach(|| digram::model::Model::from_ranks(&ranks.ranks, &signals))
            .map(|model| Model { model })
            .map_err(|error| signals.error(py, error, None))
    }

    /// Tokens and merges as a `tokenizer.json` spells them; `None` if something about them is wrong.
    #[staticmethod]
    fn from_letters(
        vocab: &Bound<'_, PyDict>,
        special_tokens: Vec<String>,
        merges: &Bound<'_, PyList>,
        letters: &str,
    ) -> Option<Self> {
        spelled::read(vocab, special_tokens, merges, letters).map(|model| Model { model })
    }

    /// The model that `to_bytes` stored; a `VocabError` for other bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, stored: &[u8]) -> PyResult<Self> {
        py.detach(|| digram::model::Model::from_bytes(stored))
            .map(|model| Model { model })
            .map_err(|error| errors::from_core(py, error, None))
    }

    /// The tokens and merges as bytes, for another process.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.model.to_bytes()))
    }

    /// The number of tokens.
    fn __len__(&self) -> usize {
        self.model.vocabulary().token_count()
    }

    /// The bytes of a token; `None` for a hole and past the end.
    fn token<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.model.vocabulary().get(id).map(|token| bytes(py, token)).transpose()
    }

    /// The bytes of each token by id, `None` for a hole.
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let vocabulary = self.model.vocabulary();
        let end = (0..vocabulary.size() as u32).rev().find(|&id| vocabulary.get(id).is_some());
        let token = |id| match vocabulary.get(id) {
            Some(token) => Ok(bytes(py, token)?.into_any()),
            None => Ok(py.None().into_bound(py)),
        };
        list(py, (0..end.map_or(0, |id| id + 1)).map(token), &mut SignalChecks::new())
    }

    /// The merges as (left id, right id, resulting id), in rank order.
    fn merges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        merges_to_python(py, self.model.merges().in_order())
    }

    /// The data for a digest; see `digram.vocab.definition.Packed`.
    fn packed<'py>(&self, py: Python<'py>) -> Packed<'py> {
        let vocabulary = self.model.vocabulary();
        let merges = self.model.merges().in_order();
        let end = (0..vocabulary.size() as u32).rev().find(|&id| vocabulary.get(id).is_some());
        let end = end.map_or(0, |id| id + 1);
        let lengths = (0..end).map(|id| vocabulary.get(id).map_or(-1, |token| token.len() as i64));
        let token_bytes = vocabulary.iter().flat_map(|(_, token)| token).copied();
        let triples = merges.iter().flat_map(|merge| [merge.left, merge.right, merge.id].map(i64::from));
        (
            end as usize,
            merges.len(),
            PyBytes::new(py, &numbers(lengths)),
            PyBytes::new(py, &token_bytes.collect::<Vec<_>>()),
            PyBytes::new(py, &numbers(triples)),
        )
    }

    /// The ids of tokens of several bytes that no merge makes.
    fn unmade(&self) -> Vec<u32> {
        let mut is_made = vec![false; self.model.vocabulary().size()];
        self.model.merges().in_order().iter().for_each(|merge| is_made[merge.id as usize] = true);
        let is_unmade = |&(id, token): &(u32, &[u8])| token.len() > 1 && !is_made[id as usize];
        self.model.vocabulary().iter().filter(is_unmade).map(|(id, _)| id).collect()
    }

    /// The bytes that have no token.
    fn missing_bytes(&self) -> Vec<u8> {
        let mut has_token = [false; 256];
        for (_, token) in self.model.vocabulary().iter() {
            if let [byte] = token {
                has_token[usize::from(*byte)] = true;
            }
        }
        (0..=255).filter(|&byte| !has_token[usize::from(byte)]).collect()
    }
}
