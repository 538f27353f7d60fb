//! Training of Unigram.

use digram::train::{
    Alphabet, Cuts, Spaces, UnigramOptions, train_unigram as learn, unigram_likelihood as likelihood,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::counts::CountsArgument;
use crate::errors;
use crate::signals::Signals;
use crate::threads::threads;

/// Tokens with their scores, and whether they are as many as requested.
type UnigramResult<'py> = (Bound<'py, PyList>, bool);

/// Learns a Unigram vocabulary of at most `pieces` tokens: (token, score), the highest first. The characters of the text
/// are those of `alphabet`, or the most frequent `limit_alphabet`, or those that make up the share `coverage` of it.
/// `spaces` says where pretokens are cut: "uncut", or with a space "first" or "last". No token has one of `symbols`.
/// `memory` is a limit in bytes.
#[pyfunction]
#[pyo3(signature = (counts, *, pieces, seeds, min_count, max_chars, shrinking, steps, alphabet, limit_alphabet, coverage, spaces, symbols, threads, memory, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn train_unigram<'py>(
    py: Python<'py>,
    counts: CountsArgument<'py>,
    pieces: usize,
    seeds: usize,
    min_count: u64,
    max_chars: usize,
    shrinking: f64,
    steps: usize,
    alphabet: Option<String>,
    limit_alphabet: Option<usize>,
    coverage: f64,
    spaces: &str,
    symbols: Vec<String>,
    threads: Option<usize>,
    memory: Option<u64>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<UnigramResult<'py>> {
    let alphabet = match (alphabet, limit_alphabet) {
        (Some(alphabet), _) => Alphabet::Given(alphabet.chars().collect()),
        (None, Some(limit)) => Alphabet::Most(limit),
        (None, None) => Alphabet::Covering(coverage),
    };
    let options = UnigramOptions {
        pieces,
        seeds,
        min_count,
        max_chars,
        shrinking,
        steps,
        alphabet,
        cuts: Cuts { spaces: parse_spaces(py, spaces)?, symbols },
        threads: self::threads(py, threads)?,
        memory,
    };
    let signals = Signals::reporting_to(on_progress);
    let pretokens = counts.distinct_pretokens();
    let trained =
        py.detach(|| learn(pretokens, &options, &signals)).map_err(|error| signals.error(py, error, None))?;
    let pieces = trained.pieces.iter().map(|(bytes, score)| (PyBytes::new(py, bytes), *score));
    Ok((PyList::new(py, pieces.collect::<Vec<_>>())?, trained.is_full))
}

/// The logarithm of the probability of counted text, and the number of tokens in its best segmentation. `pieces` are
/// tokens with scores, and `unknown` is the score of any other character; `spaces` and `symbols` as for `train_unigram`.
#[pyfunction]
#[pyo3(signature = (counts, pieces, *, unknown, spaces, symbols))]
pub(crate) fn unigram_likelihood(
    py: Python<'_>,
    counts: CountsArgument<'_>,
    pieces: Vec<(Vec<u8>, f64)>,
    unknown: f64,
    spaces: &str,
    symbols: Vec<String>,
) -> PyResult<(f64, u64)> {
    let cuts = Cuts { spaces: parse_spaces(py, spaces)?, symbols };
    let signals = Signals::new();
    let pretokens = counts.distinct_pretokens();
    let found = py
        .detach(|| likelihood(pretokens, &pieces, unknown, &cuts, &signals))
        .map_err(|error| signals.error(py, error, None))?;
    Ok((found.logarithm, found.pieces))
}

fn parse_spaces(py: Python<'_>, name: &str) -> PyResult<Spaces> {
    match name {
        "uncut" => Ok(Spaces::Uncut),
        "first" => Ok(Spaces::First),
        "last" => Ok(Spaces::Last),
        other => Err(errors::raise(py, "OptionError", format!("spaces={other:?} is not known."))),
    }
}
