//! Training.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use digram::Result as CoreResult;
use digram::train::{
    Base, Fairness, JoinOptions, Journal, Language, Learned, MemoryLimit, Options, RunnerUp, Stop, Ties,
    Trained as CoreTrained, Window, WordMerges, train_by_likelihood as learn_by_likelihood,
    train_fair as learn_fair, train_within,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::convert::{merges_to_python, tokens_to_python};
use crate::counts::CountsArgument;
use crate::errors;
use crate::signals::{REPORT_INTERVAL, Signals};
use crate::tokenizer::Core;

/// Forbidden results of merges: pairs of tokens, the bytes of tokens, and regexes that match whole
/// tokens.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Forbidden(Arc<digram::train::Forbidden>);

#[pymethods]
impl Forbidden {
    #[new]
    fn new(
        py: Python<'_>,
        pairs: Vec<(Vec<u8>, Vec<u8>)>,
        tokens: Vec<Vec<u8>>,
        patterns: Vec<String>,
    ) -> PyResult<Self> {
        let signals = Signals::new();
        let forbidden = py.detach(|| digram::train::Forbidden::new(pairs, tokens, &patterns, &signals));
        forbidden
            .map(|forbidden| Forbidden(Arc::new(forbidden)))
            .map_err(|error| signals.error(py, error, None))
    }

    /// Whether two tokens must not be merged.
    fn holds(&self, left: &[u8], right: &[u8]) -> bool {
        self.0.holds(left, right)
    }
}

/// The options that `train`, `train_fair` and `train_picky` share.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct MergeOptions(pub(crate) Options);

#[pymethods]
impl MergeOptions {
    /// `base` is the 256 bytes in the order of their ids, or the characters in the order of theirs,
    /// after the 256 bytes if `with_bytes`; or a tokenizer whose tokens come first. `forbid` has the
    /// forbidden merges.
    #[new]
    #[pyo3(signature = (base, *, with_bytes, max_merges, min_frequency, max_token_length, whole_characters, ties, runners_up=0, forbid=None))]
    #[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
    fn new(
        base: &Bound<'_, PyAny>,
        with_bytes: bool,
        max_merges: Option<usize>,
        min_frequency: u64,
        max_token_length: Option<usize>,
        whole_characters: bool,
        ties: &str,
        runners_up: usize,
        forbid: Option<&Bound<'_, Forbidden>>,
    ) -> PyResult<MergeOptions> {
        Ok(MergeOptions(Options {
            base: base_of(base, with_bytes)?,
            max_merges,
            min_frequency,
            max_token_length,
            whole_characters,
            forbidden: forbid.map(|forbid| forbid.get().0.clone()).unwrap_or_default(),
            ties: parse_ties(base.py(), ties)?,
            round: Options::ROUND,
            runners_up,
        }))
    }
}

/// A pair that was not merged: left id, right id, count.
type RunnerUpTuple = (u32, u32, u64);

/// Tokens, merges, counts, the runners-up of each merge, and the reason to stop.
type TrainResult<'py> =
    (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, Vec<Vec<RunnerUpTuple>>, &'static str);

/// Learns merges: (tokens, merges, counts, runners-up, reason to stop), with ids that start with
/// the base.
///
/// With `memory`, a number of bytes and a folder, data that does not fit is written to the folder.
/// `journal` is a file in which merges are recorded, and from which an interrupted run is resumed.
#[pyfunction]
#[pyo3(signature = (counts, options, *, memory=None, journal=None, on_merge=None, on_progress=None))]
pub(crate) fn train<'py>(
    py: Python<'py>,
    counts: CountsArgument<'py>,
    options: &Bound<'py, MergeOptions>,
    memory: Option<(u64, PathBuf)>,
    journal: Option<PathBuf>,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<TrainResult<'py>> {
    let options = &options.get().0;
    let journal_and_merges =
        journal.map(|path| Journal::open(&path, options.base.tokens().len() as u32)).transpose();
    let (mut journal, previous) = journal_and_merges
        .map_err(|error| errors::from_core(py, error, None))?
        .map_or((None, Vec::new()), |(journal, previous)| (Some(journal), previous));
    let signals = Signals::new();
    let mut reporter = Reporter::new(on_merge, on_progress, &signals);
    let mut report = |learned: &Learned| {
        if let Some(journal) = &mut journal
            && reporter.merge_count >= previous.len() as u64
        {
            journal.push(learned)?;
        }
        reporter.report(learned)
    };
    let pretokens = counts.distinct_pretokens();
    let limit = memory.as_ref().map(|(bytes, folder)| MemoryLimit { bytes: *bytes, folder });
    let result = py.detach(|| train_within(pretokens, limit, options, &previous, &mut report, &signals));
    // Keep the merges learned before an error or an interruption too.
    let sync_result = journal.as_mut().map_or(Ok(()), Journal::sync);
    let trained = result.and_then(|trained| sync_result.map(|()| trained));
    let trained = trained.map_err(|error| signals.error(py, error, None))?;
    let runners_up =
        if options.runners_up == 0 { Vec::new() } else { trained.merges.iter().map(runners_up).collect() };
    let (tokens, merges, counts, stop) = to_python(py, &trained)?;
    Ok((tokens, merges, counts, runners_up, stop))
}

/// Learns merges by likelihood: as `train`, but without runners-up. `options` start from a tokenizer.
#[pyfunction]
#[pyo3(signature = (counts, options, *, on_merge=None, on_progress=None))]
pub(crate) fn train_by_likelihood<'py>(
    py: Python<'py>,
    counts: CountsArgument<'py>,
    options: &Bound<'py, MergeOptions>,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<CommonResult<'py>> {
    let options = &options.get().0;
    let signals = Signals::new();
    let mut reporter = Reporter::new(on_merge, on_progress, &signals);
    let pretokens = counts.distinct_pretokens();
    let mut report = |learned: &Learned| reporter.report(learned);
    let trained = py.detach(|| learn_by_likelihood(pretokens, options, &mut report, &signals));
    to_python(py, &trained.map_err(|error| signals.error(py, error, None))?)
}

/// Tokens, merges, counts, for each merge the number of its language, and the reason to stop.
type FairResult<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, Vec<Option<u32>>, &'static str);

/// Learns merges that are chosen for one language each: as `train`, and for each merge the number
/// of its language, or none. `counts` has those of each language, and so have `dev` and `ratios`,
/// if given; `window` is a size and an alpha.
#[pyfunction]
#[pyo3(signature = (counts, dev, options, *, global_merges, ratios, window, on_merge, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn train_fair<'py>(
    py: Python<'py>,
    counts: Vec<CountsArgument<'py>>,
    dev: Option<Vec<CountsArgument<'py>>>,
    options: &Bound<'py, MergeOptions>,
    global_merges: usize,
    ratios: Option<Vec<f64>>,
    window: Option<(usize, f64)>,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<FairResult<'py>> {
    let options = &options.get().0;
    let window = window.map(|(size, alpha)| Window { size, alpha });
    let fairness = Fairness { global_merges, ratios, window };
    let signals = Signals::new();
    let mut reporter = Reporter::new(on_merge, on_progress, &signals);
    let pretokens: Vec<_> = counts.iter().map(CountsArgument::distinct_pretokens).collect();
    let dev_pretokens: Option<Vec<_>> =
        dev.as_ref().map(|dev| dev.iter().map(CountsArgument::distinct_pretokens).collect());
    let result = py.detach(|| {
        let counts = pretokens
            .iter()
            .map(|pretokens| pretokens.to_memory(&signals))
            .collect::<CoreResult<Vec<_>>>()?;
        let dev = dev_pretokens.iter().flatten().map(|pretokens| pretokens.to_memory(&signals));
        let dev = dev.collect::<CoreResult<Vec<_>>>()?;
        let languages = counts
            .iter()
            .enumerate()
            .map(|(index, counts)| Language { counts, dev: dev.get(index).map(|counts| &**counts) });
        let languages: Vec<_> = languages.collect();
        learn_fair(&languages, &fairness, options, &mut |learned| reporter.report(learned), &signals)
    });
    let trained = result.map_err(|error| signals.error(py, error, None))?;
    let languages = trained.merges.iter().map(|learned| learned.language).collect();
    let (tokens, merges, counts, stop) = to_python(py, &trained)?;
    Ok((tokens, merges, counts, languages, stop))
}

/// Tokens, merges, counts, the ranks of merges that join words, and the reason to stop.
type JoinResult<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, Vec<u32>, &'static str);

/// Learns merges that join words, after the merges inside words: returns merges of both kinds in
/// order. `words` splits the pretokens of `counts` into words and merges these; `word_counts` has
/// the counts of its merges; `may_join` states for each of its ids whether that token may join
/// others.
#[pyfunction]
#[pyo3(signature = (counts, words, word_counts, may_join, *, max_merges, min_frequency, max_token_length, whole_characters, ties, on_merge, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn join_words<'py>(
    py: Python<'py>,
    counts: CountsArgument<'py>,
    words: &Bound<'py, Core>,
    word_counts: Vec<u64>,
    may_join: Vec<bool>,
    max_merges: usize,
    min_frequency: u64,
    max_token_length: Option<usize>,
    whole_characters: bool,
    ties: &str,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<JoinResult<'py>> {
    let ties = parse_ties(py, ties)?;
    let options = JoinOptions { max_merges, min_frequency, max_token_length, whole_characters, ties };
    let signals = Signals::new();
    let mut reporter = Reporter::new(on_merge, on_progress, &signals);
    let mut report = |learned: &Learned| reporter.report(learned);
    let tokenizer = &*words.get().tokenizer;
    let words = WordMerges { tokenizer, counts: &word_counts, may_join: &may_join };
    let pretokens = counts.distinct_pretokens();
    let result = py.detach(|| {
        let counts = pretokens.to_memory(&signals)?;
        digram::train::join_words(&counts, words, &options, &mut report, &signals)
    });
    let result = result.map_err(|error| signals.error(py, error, None))?;
    let tokens = tokens_to_python(py, &result.tokens)?;
    let merges: Vec<_> = result.merges.iter().map(|learned| learned.merge).collect();
    let counts = result.merges.iter().map(|learned| learned.count).collect();
    let ranks = (0..).zip(&result.joins).filter(|(_, joins)| **joins).map(|(rank, _)| rank).collect();
    Ok((tokens, merges_to_python(py, &merges)?, counts, ranks, stop_name(result.stop)))
}

/// The base of training: bytes or characters in the order of their ids, or a tokenizer.
fn base_of(base: &Bound<'_, PyAny>, with_bytes: bool) -> PyResult<Base> {
    if let Ok(order) = base.cast::<PyBytes>() {
        return Ok(Base::Bytes(Box::new(order.as_bytes().try_into()?)));
    }
    if let Ok(core) = base.cast::<Core>() {
        return Ok(Base::Tokens(core.get().tokenizer.clone()));
    }
    let chars = base.extract::<String>()?.chars().collect();
    Ok(if with_bytes { Base::CharsAndBytes(chars) } else { Base::Chars(chars) })
}

fn parse_ties(py: Python<'_>, name: &str) -> PyResult<Ties> {
    match name {
        "ids" => Ok(Ties::Ids),
        "first_seen" => Ok(Ties::FirstSeen),
        "lexicographic" => Ok(Ties::Lexicographic),
        "printable" => Ok(Ties::Printable),
        other => Err(errors::raise(py, "OptionError", format!("ties={other:?} is not known."))),
    }
}

pub(crate) fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::MaxMerges => "max_merges",
        Stop::MinFrequency => "min_frequency",
        Stop::NoPairs => "no_pairs",
    }
}

/// Reports merges, and their number, to Python.
struct Reporter<'a> {
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
    signals: &'a Signals,
    merge_count: u64,
    last_report: Instant,
}

impl<'a> Reporter<'a> {
    fn new(
        on_merge: Option<Py<PyAny>>,
        on_progress: Option<Py<PyAny>>,
        signals: &'a Signals,
    ) -> Reporter<'a> {
        Reporter { on_merge, on_progress, signals, merge_count: 0, last_report: Instant::now() }
    }

    fn report(&mut self, learned: &Learned) -> CoreResult<()> {
        self.merge_count += 1;
        if let Some(on_merge) = &self.on_merge {
            let Learned { merge, count, language, .. } = learned;
            let arguments = (merge.left, merge.right, merge.id, *count, runners_up(learned), *language);
            Python::attach(|py| on_merge.call1(py, arguments)).map_err(|error| self.signals.keep(error))?;
        }
        if let Some(on_progress) = &self.on_progress
            && (self.merge_count.is_multiple_of(1024) || self.last_report.elapsed() >= REPORT_INTERVAL)
        {
            self.last_report = Instant::now();
            let arguments = (self.merge_count,);
            Python::attach(|py| on_progress.call1(py, arguments))
                .map_err(|error| self.signals.keep(error))?;
        }
        Ok(())
    }
}

/// Tokens, merges, counts, and the reason to stop.
type CommonResult<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, &'static str);

/// The common results of training as Python values.
fn to_python<'py>(py: Python<'py>, trained: &CoreTrained) -> PyResult<CommonResult<'py>> {
    let tokens = tokens_to_python(py, &trained.tokens())?;
    let merges: Vec<_> = trained.merges.iter().map(|learned| learned.merge).collect();
    let counts = trained.merges.iter().map(|learned| learned.count).collect();
    Ok((tokens, merges_to_python(py, &merges)?, counts, stop_name(trained.stop)))
}

fn runners_up(learned: &Learned) -> Vec<RunnerUpTuple> {
    learned.runners_up.iter().map(|&RunnerUp { left, right, count }| (left, right, count)).collect()
}
