//! Training by PickyBPE.

use std::sync::Arc;
use std::time::Instant;

use digram::events::Event;
use digram::train::{Options, Picky, PickyStop, train_picky};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::tokens_to_python;
use crate::counts::Held;
use crate::signals::{BETWEEN_REPORTS, Signals};
use crate::training::{base_of, stop_named, ties_named};

/// All tokens that were made, the numbers of those that are left, the events with their counts, and
/// the reason to stop.
type Picked<'py> = (Bound<'py, PyList>, Vec<u32>, Vec<(u32, Option<u32>, u64)>, &'static str);

/// Learns events: two tokens that are merged, or one that is dropped, and how often they stood. Numbers
/// start with the base, which is given as for `train`. `room` is for how many tokens beside it, and
/// `on_progress` is told of merges and of tokens.
#[pyfunction(name = "train_picky")]
#[pyo3(signature = (counts, base, *, with_bytes, threshold, room, max_merges, min_frequency, max_token_length, whole_characters, ties, on_progress))]
#[expect(clippy::too_many_arguments, reason = "the options of training, each named by the caller")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    counts: Held<'py>,
    base: &Bound<'py, PyAny>,
    with_bytes: bool,
    threshold: f64,
    room: Option<usize>,
    max_merges: Option<usize>,
    min_frequency: u64,
    max_token_length: Option<usize>,
    whole_characters: bool,
    ties: &str,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Picked<'py>> {
    let options = Options {
        base: base_of(base, with_bytes)?,
        max_merges,
        min_frequency,
        max_token_length,
        whole_characters,
        forbidden: Arc::default(),
        ties: ties_named(py, ties)?,
        round: Options::ROUND,
        runners_up: 0,
    };
    let picky = Picky { threshold, max_tokens: room };
    let signals = Signals::new();
    let mut reported = Instant::now();
    let mut tell = |merges: usize, tokens: usize| {
        if let Some(on_progress) = &on_progress
            && (merges.is_multiple_of(1024) || reported.elapsed() >= BETWEEN_REPORTS)
        {
            reported = Instant::now();
            Python::attach(|py| on_progress.call1(py, (merges, tokens)))
                .map_err(|raised| signals.keep(raised))?;
        }
        Ok(())
    };
    let pieces = counts.pieces();
    let picked = py
        .detach(|| train_picky(pieces, &options, &picky, &mut tell, &signals))
        .map_err(|error| signals.error(py, error, None))?;
    let tokens = tokens_to_python(py, &picked.tokens)?;
    let event = |&(event, count): &(Event, u64)| match event {
        Event::Merge(left, right) => (left, Some(right), count),
        Event::Drop(token) => (token, None, count),
    };
    let stop = match picked.stop {
        PickyStop::Full => "vocab_size",
        PickyStop::As(stop) => stop_named(stop),
    };
    Ok((tokens, picked.live, picked.events.iter().map(event).collect(), stop))
}
