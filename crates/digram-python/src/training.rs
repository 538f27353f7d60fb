//! Training.

use std::path::PathBuf;
use std::time::Instant;

use digram::train::{Base, Journal, Learned, MemoryLimit, Options, RunnerUp, Stop, Ties, train_within};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::convert::merges_to_python;
use crate::counts::Held;
use crate::errors;
use crate::tokenizer::Core;
use crate::watch::{BETWEEN_REPORTS, Signals};

/// A pair that was not merged: left id, right id, count.
type Next = (u32, u32, u64);

/// Tokens, merges, counts, the runners-up of each merge, and the reason to stop.
type Trained<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Vec<u64>, Vec<Vec<Next>>, &'static str);

/// Learns merges: (tokens, merges, counts, runners-up, why it stopped), with ids that start with the
/// base.
///
/// `base` is the 256 bytes in the order of their ids, or the characters in the order of theirs,
/// after the 256 bytes if `with_bytes`; or a tokenizer, whose tokens are there already. With `memory`, a number of bytes and a folder, what does not
/// fit goes to the folder. `journal` is a file that merges are noted in, and taken from where an
/// earlier run was broken off.
#[pyfunction]
#[pyo3(signature = (counts, base, *, with_bytes, max_merges, min_frequency, max_token_length, ties, runners_up, memory, journal, on_merge, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    counts: Held<'py>,
    base: &Bound<'py, PyAny>,
    with_bytes: bool,
    max_merges: Option<usize>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    ties: &str,
    runners_up: usize,
    memory: Option<(u64, PathBuf)>,
    journal: Option<PathBuf>,
    on_merge: Option<Py<PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Trained<'py>> {
    let base = if let Ok(order) = base.cast::<PyBytes>() {
        Base::Bytes(Box::new(order.as_bytes().try_into()?))
    } else if let Ok(core) = base.cast::<Core>() {
        Base::Tokens(core.get().tokenizer.clone())
    } else {
        let chars = base.extract::<String>()?.chars().collect();
        if with_bytes { Base::CharsAndBytes(chars) } else { Base::Chars(chars) }
    };
    let ties = match ties {
        "ids" => Ties::Ids,
        "first_seen" => Ties::FirstSeen,
        "lexicographic" => Ties::Lexicographic,
        other => return Err(errors::raise(py, "OptionError", format!("ties={other:?} is not known."))),
    };
    let options = Options {
        base,
        max_merges,
        min_frequency,
        max_token_length,
        ties,
        round: Options::ROUND,
        runners_up,
    };
    let opened = journal.map(|path| Journal::open(&path, options.base.tokens().len() as u32)).transpose();
    let (mut journal, known) = opened
        .map_err(|error| errors::from_core(py, error, None))?
        .map_or((None, Vec::new()), |(journal, known)| (Some(journal), known));
    let signals = Signals::new();
    let mut reported = Instant::now();
    let mut done = 0u64;
    let mut tell = |learned: &Learned| {
        done += 1;
        if let Some(journal) = &mut journal
            && done > known.len() as u64
        {
            journal.push(learned)?;
        }
        if let Some(on_merge) = &on_merge {
            let Learned { merge, count, .. } = learned;
            let told = (merge.left, merge.right, merge.id, *count, next(learned));
            Python::attach(|py| on_merge.call1(py, told)).map_err(|raised| signals.keep(raised))?;
        }
        if let Some(on_progress) = &on_progress
            && (done.is_multiple_of(1024) || reported.elapsed() >= BETWEEN_REPORTS)
        {
            reported = Instant::now();
            Python::attach(|py| on_progress.call1(py, (done,))).map_err(|raised| signals.keep(raised))?;
        }
        Ok(())
    };
    let pieces = counts.pieces();
    let limit = memory.as_ref().map(|(bytes, folder)| MemoryLimit { bytes: *bytes, folder });
    let learned = py.detach(|| train_within(pieces, limit, &options, &known, &mut tell, &signals));
    // What was learned before an error or an interruption is kept too.
    let synced = journal.as_mut().map_or(Ok(()), Journal::sync);
    let trained = learned.and_then(|trained| synced.map(|()| trained));
    let trained = trained.map_err(|error| signals.error(py, error, None))?;
    let tokens = PyList::new(py, trained.tokens().iter().map(|token| PyBytes::new(py, token)))?;
    let merges: Vec<_> = trained.merges.iter().map(|learned| learned.merge).collect();
    let counts = trained.merges.iter().map(|learned| learned.count).collect();
    let runners_up = if runners_up == 0 { Vec::new() } else { trained.merges.iter().map(next).collect() };
    let stop = match trained.stop {
        Stop::MaxMerges => "max_merges",
        Stop::MinFrequency => "min_frequency",
        Stop::NoPairs => "no_pairs",
    };
    Ok((tokens, merges_to_python(py, &merges)?, counts, runners_up, stop))
}

fn next(learned: &Learned) -> Vec<Next> {
    learned.runners_up.iter().map(|&RunnerUp { left, right, count }| (left, right, count)).collect()
}
