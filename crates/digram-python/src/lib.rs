//! The Python bindings of the `digram` crate: conversion of values, release of the GIL, mapping of errors.

mod algorithm;
mod arrays;
mod arrow;
mod cache;
mod convert;
mod counts;
mod cut;
mod decoding;
mod digest;
mod errors;
mod id_lists;
mod model;
mod new_strings;
mod normalizer;
mod objects;
mod picky;
mod plain_ids;
mod records;
mod reserve;
mod signals;
mod strings;
mod threads;
mod tokenizer;
mod training;
mod turn;
mod unigram;
mod words;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use digram::normalize::{Normalizer, last_border_so_far, pretokens};
use digram::pretokenize::{PatternFacts, Pretokenizer, RuleMatch, Rules, Stage};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use convert::Text;
use objects::SignalChecks;
use signals::Signals;

/// Terms, units, patterns, whether numbers are kept whole, and whether numbers are split off at all.
pub(crate) type RulesTuple = (Vec<String>, Vec<String>, Vec<String>, bool, bool);

/// Rules as Python describes them.
pub(crate) fn rules_of((terms, units, patterns, whole_numbers, numbers): RulesTuple) -> Rules {
    Rules { terms, units, patterns, whole_numbers, numbers, blanks: false }
}

/// A compiled pretokenizer, with its normalizer.
#[pyclass(frozen, module = "digram._core")]
struct Splitter {
    normalizer: Option<Arc<Normalizer>>,
    pretokenizer: Arc<Pretokenizer>,
}

#[pymethods]
impl Splitter {
    /// Compiles the patterns. They are applied in order, after normalization, after the rules, if there are any,
    /// and after the splitting of digits, if a kind is named.
    #[new]
    #[pyo3(signature = (patterns, digits=None, rules=None, normalizer=Vec::new(), letter_patterns=Vec::new()))]
    fn new(
        py: Python<'_>,
        patterns: Vec<String>,
        digits: Option<&str>,
        rules: Option<RulesTuple>,
        normalizer: Vec<Bound<'_, PyTuple>>,
        letter_patterns: Vec<String>,
    ) -> PyResult<Self> {
        let normalizer = normalizer::compiled(py, &normalizer)?;
        let rules = rules.map(|rules| Stage::Rules(rules_of(rules)));
        let digits = match digits {
            None => None,
            Some("individual") => Some(Stage::Pattern(r"\p{N}".into())),
            Some("threes_from_left") => Some(Stage::Pattern(r"\p{N}{1,3}".into())),
            Some("threes_from_right") => Some(Stage::ThreesFromRight),
            Some(other) => {
                return Err(errors::raise(py, "OptionError", format!("digits={other:?} is not known.")));
            }
        };
        let patterns = patterns.into_iter().map(Stage::Pattern);
        let letter_patterns = letter_patterns.into_iter().map(Stage::LetterPattern);
        let stages: Vec<Stage> =
            rules.into_iter().chain(digits).chain(patterns).chain(letter_patterns).collect();
        let signals = Signals::new();
        let pretokenizer = py.detach(|| Pretokenizer::with_interrupt(&stages, &signals));
        let pretokenizer = pretokenizer.map_err(|error| signals.error(py, error, None))?;
        Ok(Splitter { normalizer, pretokenizer: Arc::new(pretokenizer) })
    }

    /// The last offset from `start` on where a text that begins like this can be split without changing
    /// its pretokens; 0 if none is known.
    fn last_border(&self, py: Python<'_>, text: &Bound<'_, PyBytes>, start: usize) -> usize {
        let (normalizer, text) = (self.normalizer.as_deref(), text.as_bytes());
        py.detach(|| last_border_so_far(normalizer, &self.pretokenizer, text, start).unwrap_or(0))
    }

    /// The normalized text, as a text of the same type.
    fn normalize<'py>(&self, py: Python<'py>, text: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(normalizer) = &self.normalizer else { return Ok(text) };
        let (content, signals) = (Text::new(&text)?, Signals::new());
        let normal = py.detach(|| normalizer.normalize(content.bytes(), &signals));
        match normal.map_err(|error| signals.error(py, error, None))? {
            Cow::Borrowed(_) => Ok(text),
            Cow::Owned(bytes) => content.of_same_type(py, &bytes),
        }
    }

    /// The matches of the rules in a text: start and end in bytes, and the kind.
    fn found(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyBytes>,
    ) -> PyResult<Vec<(usize, usize, &'static str)>> {
        let (signals, text) = (Signals::new(), text.as_bytes());
        let matches = py.detach(|| self.pretokenizer.rule_matches(text, &signals));
        let row = |(range, rule_match): (Range<usize>, RuleMatch)| {
            let kind = match rule_match {
                RuleMatch::Term => "term",
                RuleMatch::Unit => "unit",
                RuleMatch::Pattern(_) => "pattern",
                RuleMatch::Number => "number",
            };
            (range.start, range.end, kind)
        };
        let matches = matches.map_err(|error| signals.error(py, error, None))?;
        Ok(matches.into_iter().map(row).collect())
    }

    /// The pretokens of the normalized text, as texts of the same type.
    fn split<'py>(&self, py: Python<'py>, text: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let (text, signals) = (Text::new(&text)?, Signals::new());
        let found =
            py.detach(|| pretokens(self.normalizer.as_deref(), &self.pretokenizer, text.bytes(), &signals));
        let (normal, ends) = found.map_err(|error| signals.error(py, error, None))?;
        let mut start = 0;
        let piece = |end| text.of_same_type(py, &normal[std::mem::replace(&mut start, end)..end]);
        objects::list(py, ends.into_iter().map(piece), &mut SignalChecks::new())
    }
}

/// Whether a pattern may match without a character, and whether it looks around.
#[pyfunction]
fn pattern_facts(py: Python<'_>, pattern: String) -> PyResult<(bool, bool)> {
    let signals = Signals::new();
    let facts = py.detach(|| PatternFacts::of(&pattern, &signals));
    let PatternFacts { may_be_empty, looks_around } =
        facts.map_err(|error| signals.error(py, error, None))?;
    Ok((may_be_empty, looks_around))
}

#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::Splitter;
    #[pymodule_export]
    use super::algorithm::Algorithm;
    #[pymodule_export]
    use super::arrow::{ArrowIds, ArrowTexts};
    #[pymodule_export]
    use super::cache::{cache_bytes, limit_cache};
    #[pymodule_export]
    use super::counts::{Counter, Counts, CountsReader, CountsWriter, Joiner, SortedCounts};
    #[pymodule_export]
    use super::cut::cut;
    #[pymodule_export]
    use super::digest::Blake3;
    #[pymodule_export]
    use super::model::{Model, Ranks};
    #[pymodule_export]
    use super::pattern_facts;
    #[pymodule_export]
    use super::picky::train as train_picky;
    #[pymodule_export]
    use super::records::{CsvTexts, JsonTexts, json_texts};
    #[pymodule_export]
    use super::signals::Stopper;
    #[pymodule_export]
    use super::threads::default_threads;
    #[pymodule_export]
    use super::tokenizer::{Decoder, Encoded, EncodedDocuments, Intervals, RunningCount, Stream};
    #[pymodule_export]
    use super::training::{Forbidden, MergeOptions, join_words, train, train_by_likelihood, train_fair};
    #[pymodule_export]
    use super::unigram::{train_unigram, unigram_likelihood};
    #[pymodule_export]
    use super::words::WordSet;

    #[pymodule_export]
    const MIN_MEMORY: u64 = digram::train::MIN_MEMORY;
    /// The maximum number of tokens of a vocabulary.
    #[pymodule_export]
    const MAX_VOCAB_SIZE: usize = digram::vocabulary::MAX_VOCAB_SIZE;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("Core", module.py().get_type::<super::tokenizer::Core>())
    }
}
