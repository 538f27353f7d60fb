//! How merges are applied, where it is not simply the lowest rank first.

use pyo3::prelude::*;

use crate::Splitter;

/// A way to apply merges, for the constructor of a tokenizer.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Scheme {
    pub(crate) scheme: digram::encode::Scheme,
}

#[pymethods]
impl Scheme {
    /// Words first, then the merges of these ranks, which join words of one token.
    #[staticmethod]
    fn superwords(words: &Splitter, ranks: Vec<u32>) -> Scheme {
        let words = words.pretokenizer.clone();
        Scheme { scheme: digram::encode::Scheme::Superwords { words, ranks } }
    }
}
