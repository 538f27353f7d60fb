//! Ways to apply merges other than by rank alone.

use digram::events::Event;
use pyo3::prelude::*;

use crate::Splitter;

/// A way to apply merges, for the constructor of a tokenizer.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Scheme {
    pub(crate) scheme: digram::encode::Scheme,
}

#[pymethods]
impl Scheme {
    /// Superwords: merges inside words first, then the merges of these ranks, which join single-token
    /// words.
    #[staticmethod]
    fn superwords(words: &Splitter, ranks: Vec<u32>) -> Scheme {
        let words = words.pretokenizer.clone();
        Scheme { scheme: digram::encode::Scheme::Superwords { words, ranks } }
    }

    /// PickyBPE events in order, by numbers of tokens: a merged pair, or a dropped token.
    #[staticmethod]
    fn events(events: Vec<(u32, Option<u32>)>) -> Scheme {
        let event = |(left, right)| match right {
            Some(right) => Event::Merge(left, right),
            None => Event::Drop(left),
        };
        Scheme { scheme: digram::encode::Scheme::Events(events.into_iter().map(event).collect()) }
    }
}
