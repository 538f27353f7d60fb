//! Chunks, intervals and running counts.

use digram::tokenizer::{self, Running};
use pyo3::exceptions::{PyException, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyString};

use super::{Core, KEEP_GIL};
use crate::convert::Text;
use crate::errors;
use crate::objects::{Turns, bytes as bytes_object, integer, list, reserve, string, tuple};
use crate::signals::Signals;
use crate::turn::InTurn;

#[pymethods]
impl Core {
    /// The chunks of a text, each as text, start, end, count: `chunks` documents it.
    fn _chunks<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        size: usize,
        overlap: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let content = Text::new(text)?;
        let signals = Signals::new();
        let bytes = content.bytes();
        let chunks = py.detach(|| self.tokenizer.chunks(bytes, size, overlap, &signals));
        let chunks = chunks.map_err(|error| signals.error(py, error, Some(&content)))?;
        let places = Places::new(&content)?;
        let chunk = |chunk: tokenizer::Chunk| {
            let piece = match content {
                Text::Str(text) => string(py, &text[chunk.range.clone()])?.into_any(),
                Text::Bytes(bytes) => bytes_object(py, &bytes[chunk.range.clone()])?.into_any(),
            };
            let place = |byte: usize| integer(py, places.place(bytes, byte) as u64);
            let count = integer(py, chunk.count as u64)?;
            tuple(py, [piece, place(chunk.range.start)?, place(chunk.range.end)?, count])
        };
        list(py, chunks.into_iter().map(chunk), &mut Turns::new())
    }

    /// Prepare a text, so that the tokens of any part of it are counted quickly: a `digram.Intervals`.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> text = "low lower so low"
    /// >>> intervals = tok.intervals(text)
    /// >>> intervals.count(4, 9), tok.count(text[4:9])
    /// (3, 3)
    ///
    /// `text` is a `str`, and intervals count characters; or `bytes`, and they count bytes. Special
    /// tokens in it stay text. The first call takes time and memory linear in the text; after that, the
    /// time of `count` does not grow with the interval. Raises `InvalidTextError` as `encode` does, and
    /// `TypeError` for the parts of a text in a list.
    fn intervals(slf: Bound<'_, Self>, text: Bound<'_, PyAny>) -> PyResult<Intervals> {
        let py = slf.py();
        let content = Text::new(&text)?;
        let signals = Signals::new();
        let (bytes, core) = (content.bytes(), &slf.get().tokenizer);
        let counted = py.detach(|| core.intervals(bytes, &signals));
        let counted = counted.map_err(|error| signals.error(py, error, Some(&content)))?;
        let places = Places::new(&content)?;
        Ok(Intervals { core: slf.unbind(), text: text.unbind(), counted, places })
    }

    /// Make a `digram.RunningCount`: the number of tokens of a text that grows at either end.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> counter = tok.counter("low")
    /// >>> counter.append("er")
    /// >>> counter.count, tok.count("lower")
    /// (3, 3)
    ///
    /// `text` is how the text begins, "" by default. Special tokens in it stay text. The text is not
    /// held, only its two ends. What is appended takes time linear in itself, and asking for the count
    /// after it a bounded time. Raises `InvalidTextError` as `encode` does.
    #[pyo3(signature = (text=None), text_signature = "($self, text='')")]
    fn counter(slf: Bound<'_, Self>, text: Option<&Bound<'_, PyAny>>) -> PyResult<RunningCount> {
        let py = slf.py();
        let counter = RunningCount { core: slf.unbind(), state: InTurn::new("counter", Running::default()) };
        if let Some(text) = text {
            counter.append(py, text)?;
        }
        Ok(counter)
    }
}

/// From places in a text as Python counts them to bytes: every 64th is known.
struct Places {
    len: usize,
    /// The byte where every 64th character begins; empty where characters are bytes.
    marks: Vec<usize>,
}

const MARK: usize = 64;

impl Places {
    fn new(text: &Text<'_>) -> PyResult<Places> {
        match text {
            Text::Str(text) if !text.is_ascii() => {
                let mut marks = Vec::new();
                reserve(&mut marks, text.len() / MARK + 1)?;
                marks.extend(text.char_indices().step_by(MARK).map(|(at, _)| at));
                let last = marks.last().copied().unwrap_or(0);
                let len = marks.len().saturating_sub(1) * MARK + text[last..].chars().count();
                Ok(Places { len, marks })
            }
            _ => Ok(Places { len: text.bytes().len(), marks: Vec::new() }),
        }
    }

    /// The byte where the character of a number begins.
    fn byte(&self, text: &[u8], place: usize) -> usize {
        if self.marks.is_empty() {
            return place;
        }
        let Some(&mark) = self.marks.get(place / MARK) else { return text.len() };
        let begins = |byte: &u8| byte & 0xc0 != 0x80;
        let inside = text[mark..].iter().enumerate().filter(|(_, byte)| begins(byte));
        inside.map(|(at, _)| mark + at).nth(place % MARK).unwrap_or(text.len())
    }

    /// The number of the character that begins at a byte.
    fn place(&self, text: &[u8], byte: usize) -> usize {
        if self.marks.is_empty() {
            return byte;
        }
        let before = self.marks.partition_point(|&mark| mark <= byte) - 1;
        let begun = text[self.marks[before]..byte].iter().filter(|byte| **byte & 0xc0 != 0x80);
        before * MARK + begun.count()
    }
}

/// The numbers of ids of all parts of a text; made by `Tokenizer.intervals`.
///
/// >>> import digram
/// >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
/// >>> text = "low lower so low"
/// >>> intervals = tok.intervals(text)
/// >>> intervals.count(4, 9), tok.count(text[4:9])
/// (3, 3)
///
/// It holds the text, and some numbers that take about a quarter of its memory. Immutable. Special
/// tokens in the text stay text.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Intervals {
    core: Py<Core>,
    text: Py<PyAny>,
    counted: tokenizer::Intervals,
    places: Places,
}

#[pymethods]
impl Intervals {
    /// The number of ids of `text[start:end]`: equal to `tok.count(text[start:end])`.
    ///
    /// >>> import digram
    /// >>> intervals = digram.train("ab ab", max_merges=1).intervals("ab é ab")
    /// >>> intervals.count(0, 2), intervals.count(3, 4), intervals.count(-2)
    /// (1, 2, 1)
    ///
    /// `start` and `end` count characters, or bytes where the text is bytes, and are what a slice
    /// takes: negative ones count from the end, and None is the end. The time does not grow with
    /// the interval: anew are counted only its two ends, each up to the next place where every
    /// text is cut. A pretoken of a megabyte has no such place inside.
    #[pyo3(signature = (start, end=None))]
    fn count(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        end: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        // As in a slice, a number beyond all places is the end or the beginning.
        let number = |place: &Bound<'_, PyAny>| match place.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                let number = py.import("operator")?.call_method1("index", (place,))?;
                Ok(if number.lt(0)? { isize::MIN } else { isize::MAX })
            }
            number => number,
        };
        let start = number(start)?;
        let end = end.map(number).transpose()?.unwrap_or(isize::MAX);
        let slice = PySlice::new(py, start, end, 1).indices(self.places.len as isize)?;
        let text = Text::new(self.text.bind(py))?;
        let bytes = text.bytes();
        let from = self.places.byte(bytes, slice.start as usize);
        let to = self.places.byte(bytes, slice.stop as usize).max(from);
        let signals = Signals::new();
        let core = &self.core.get().tokenizer;
        let count = || core.count_interval(&self.counted, bytes, from..to, &signals);
        let counted = if to - from < KEEP_GIL { count() } else { py.detach(count) };
        counted.map_err(|error| signals.error(py, error, Some(&text)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let unit = if self.text.bind(py).is_instance_of::<PyString>() { "character" } else { "byte" };
        let length = errors::several(py, self.places.len, unit)?;
        let tokens = errors::several(py, self.counted.total(), "token")?;
        Ok(format!("<digram.Intervals: {length}, {tokens}>"))
    }
}

/// The number of ids of a text that grows; made by `Tokenizer.counter`.
///
/// >>> import digram
/// >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
/// >>> counter = tok.counter("low")
/// >>> counter.append("er so")
/// >>> counter.prepend("a ")
/// >>> counter.count == int(counter) == tok.count("a lower so")
/// True
///
/// It does not hold the text, but only its two ends, up to the first and from the last place where
/// every text is cut; special tokens in it stay text. What is appended or prepended takes time in
/// proportion to itself. Asking for the count after an append takes a bounded
/// time, some µs, also inside one pretoken without an end, of which only the last few hundred bytes
/// are encoded again (or the last few tokens, where these are longer). After a prepend it takes time
/// in proportion to the text before the first cut, a word or two in most text. What a pattern of your
/// own splits that looks behind or far ahead is counted anew each time; so are digits that are grouped
/// from the right. Calls from several threads are served in turn.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct RunningCount {
    core: Py<Core>,
    state: InTurn<Running>,
}

#[pymethods]
impl RunningCount {
    /// Puts text after what is there. `bytes` may end inside a character.
    ///
    /// >>> import digram
    /// >>> counter = digram.train("any text", max_merges=0).counter("n")
    /// >>> counter.append("é")
    /// >>> counter.count
    /// 3
    ///
    /// Raises `InvalidTextError` for text that cannot be encoded; some is found only when the count
    /// is asked for.
    fn append(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(py, text, Running::append)
    }

    /// Puts text before what is there. `bytes` may begin inside a character.
    ///
    /// >>> import digram
    /// >>> counter = digram.train("any text", max_merges=0).counter("n")
    /// >>> counter.prepend("é")
    /// >>> counter.count
    /// 3
    ///
    /// Raises what `append` raises.
    fn prepend(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(py, text, Running::prepend)
    }

    /// The number of ids of the whole text: equal to `tok.count(text)`.
    ///
    /// Encodes what stands before the first place where every text is cut, and after the last; of a
    /// long stretch without such a place only its end. Under rules, PickyBPE, superwords and patterns
    /// that look behind it encodes all of that stretch: of stretches over 16 KiB at most 32 MiB in all,
    /// and 64 times the text. Beyond that it raises `LimitExceededError`.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        let signals = Signals::new();
        let mut taken = self.state.take(py)?;
        let state: &mut Running = &mut taken;
        let core = &self.core.get().tokenizer;
        py.detach(|| state.count(core, &signals)).map_err(|error| signals.error(py, error, None))
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match self.count(py) {
            Ok(count) => Ok(format!("<digram.RunningCount: {}>", errors::several(py, count, "token")?)),
            // A text that cannot be counted is no reason why it cannot be shown; Ctrl-C is one.
            Err(error) if error.is_instance_of::<PyException>(py) => {
                Ok("<digram.RunningCount: of a text that cannot be counted>".into())
            }
            Err(error) => Err(error),
        }
    }
}

impl RunningCount {
    fn change(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        change: impl Fn(
            &mut Running,
            &digram::Tokenizer,
            &[u8],
            &dyn digram::interrupt::Interrupt,
        ) -> digram::Result<()>
        + Sync,
    ) -> PyResult<()> {
        let text = Text::new(text)?;
        let signals = Signals::new();
        let bytes = text.bytes();
        let mut taken = self.state.take(py)?;
        let state: &mut Running = &mut taken;
        let core = &self.core.get().tokenizer;
        let mut work = || change(state, core, bytes, &signals);
        let done = if bytes.len() < KEEP_GIL { work() } else { py.detach(work) };
        done.map_err(|error| signals.error(py, error, None))
    }
}
