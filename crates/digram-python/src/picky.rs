//! Training by PickyBPE.

use std::time::Instant;

use digram::events::Event;
use digram::train::{Picky, PickyStop, train_picky};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::tokens_to_python;
use crate::counts::CountsArgument;
use crate::signals::{REPORT_INTERVAL, Signals};
use crate::training::{MergeOptions, stop_name};

/// All tokens that were made, the numbers of those that remain, the events with their counts, and the
/// reason to stop.
type PickyResult<'py> = (Bound<'py, PyList>, Vec<u32>, Vec<(u32, Option<u32>, u64)>, &'static str);

/// Learns events: two tokens that are merged, or a token that is dropped, with their counts. Numbers
/// start with the base. `room` is the maximum number of tokens in addition to the base, and
/// `on_progress` is called with the numbers of merges and of tokens.
#[pyfunction(name = "train_picky")]
#[pyo3(signature = (counts, options, *, threshold, room, on_progress))]
pub(crate) fn train<'py>(
    py: Python<'py>,
    counts: CountsArgument<'py>,
    options: &Bound<'py, MergeOptions>,
    threshold: f64,
    room: Option<usize>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<PickyResult<'py>> {
    let options = &options.get().0;
    let picky = Picky { threshold, max_tokens: room };
    let signals = Signals::new();
    let mut last_report = Instant::now();
    let mut report = |merges: usize, tokens: usize| {
        if let Some(on_progress) = &on_progress
            && (merges.is_multiple_of(1024) || last_report.elapsed() >= REPORT_INTERVAL)
        {
            last_report = Instant::now();
            Python::attach(|py| on_progress.call1(py, (merges, tokens)))
                .map_err(|error| signals.keep(error))?;
        }
        Ok(())
    };
    let pretokens = counts.distinct_pretokens();
    let trained = py
        .detach(|| train_picky(pretokens, options, &picky, &mut report, &signals))
        .map_err(|error| signals.error(py, error, None))?;
    let tokens = tokens_to_python(py, &trained.tokens)?;
    let event = |&(event, count): &(Event, u64)| match event {
        Event::Merge(left, right) => (left, Some(right), count),
        Event::Drop(token) => (token, None, count),
    };
    let stop = match trained.stop {
        PickyStop::Full => "vocab_size",
        PickyStop::As(stop) => stop_name(stop),
    };
    Ok((tokens, trained.live, trained.events.iter().map(event).collect(), stop))
}
