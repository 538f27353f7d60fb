//! The algorithms by which pretokens become ids.

use std::sync::Arc;

use digram::encode::{self, Addition, Affixes, Scores, Spelled, WordPieceRules};
use digram::events::Event;
use pyo3::prelude::*;

use crate::Splitter;

/// An algorithm, for the constructor of a tokenizer.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Algorithm {
    pub(crate) algorithm: encode::Algorithm,
}

#[pymethods]
impl Algorithm {
    /// Merges by rank alone. With `ignore_merges`, a pretoken that is a token is that token. With `fuses_unknown`,
    /// consecutive unknown characters are one token. If words begin with a space, `prefix` is what files write before
    /// other tokens; if they end with one, `suffix` is what files write in its place.
    #[staticmethod]
    #[pyo3(signature = (ignore_merges, fuses_unknown=false, prefix=None, suffix=None))]
    fn ranked(
        ignore_merges: bool,
        fuses_unknown: bool,
        prefix: Option<String>,
        suffix: Option<String>,
    ) -> Algorithm {
        let affixes = Affixes { prefix, suffix };
        encode::Algorithm::Ranked { ignore_merges, fuses_unknown, affixes }.into()
    }

    /// Superwords: merges inside words first, then the merges of these ranks, which join single-token
    /// words.
    #[staticmethod]
    fn superwords(words: &Splitter, ranks: Vec<u32>) -> Algorithm {
        encode::Algorithm::Superwords { words: words.pretokenizer.clone(), ranks }.into()
    }

    /// PickyBPE events in order, by numbers of tokens: a merged pair, or a dropped token.
    #[staticmethod]
    fn events(events: Vec<(u32, Option<u32>)>) -> Algorithm {
        let event = |(left, right)| match right {
            Some(right) => Event::Merge(left, right),
            None => Event::Drop(left),
        };
        encode::Algorithm::Events(events.into_iter().map(event).collect()).into()
    }

    /// Unigram: the score of each id, `None` for a token that no text becomes, the score of an unknown character, and
    /// whether sums have 32 bits; `spelled` are names that text becomes too, with their ids and scores.
    #[staticmethod]
    fn unigram(
        scores: Vec<Option<f64>>,
        unknown: f64,
        single: bool,
        spelled: Vec<(String, u32, f64)>,
    ) -> Algorithm {
        let addition = if single { Addition::Single } else { Addition::Double };
        let named = |(text, id, score): (String, _, _)| Spelled { text: text.into(), id, score };
        let spelled = spelled.into_iter().map(named).collect();
        encode::Algorithm::Unigram(Arc::new(Scores { pieces: scores, unknown, addition, spelled })).into()
    }

    /// BPE by the scores of ids, `None` for a token that no text becomes; `unused` are split again at the end.
    #[staticmethod]
    fn scored(scores: Vec<Option<f64>>, unused: Vec<u32>) -> Algorithm {
        let scores = Scores { pieces: scores, unknown: 0.0, addition: Addition::Single, spelled: Vec::new() };
        let scores = Arc::new(scores);
        encode::Algorithm::Scored { scores, unused }.into()
    }

    /// The fewest tokens.
    #[staticmethod]
    fn fewest() -> Algorithm {
        encode::Algorithm::Fewest.into()
    }

    /// The longest token at each place of a word; a word of more characters is unknown.
    #[staticmethod]
    fn wordpiece(max_word_chars: usize, prefix: String) -> Algorithm {
        encode::Algorithm::WordPiece(WordPieceRules { max_word_chars, prefix }).into()
    }

    /// A pretoken that is a token is that token, any other one the unknown token. With `splits` it is split before each
    /// space first.
    #[staticmethod]
    fn word_level(splits: bool) -> Algorithm {
        encode::Algorithm::WordLevel { splits }.into()
    }

    /// The longest token of bytes at each place.
    #[staticmethod]
    fn greedy() -> Algorithm {
        encode::Algorithm::Greedy.into()
    }
}

impl From<encode::Algorithm> for Algorithm {
    fn from(algorithm: encode::Algorithm) -> Algorithm {
        Algorithm { algorithm }
    }
}
