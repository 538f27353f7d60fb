//! Chunks, intervals and running counts.

use digram::tokenizer::{self, Running};
use pyo3::exceptions::{PyException, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyString};

use super::{Core, KEEP_GIL_BYTES};
use crate::convert::Text;
use crate::errors;
use crate::objects::{SignalChecks, bytes as bytes_object, integer, list, reserve, string, tuple};
use crate::signals::Signals;
use crate::turn::SharedState;

#[pymethods]
impl Core {
    /// The chunks of a text, each as text, start, end, count: see `chunks`.
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
        let offsets = CharOffsets::new(&content)?;
        let chunk = |chunk: tokenizer::Chunk| {
            let piece = match content {
                Text::Str(text) => string(py, &text[chunk.range.clone()])?.into_any(),
                Text::Bytes(bytes) => bytes_object(py, &bytes[chunk.range.clone()])?.into_any(),
            };
            let offset = |byte: usize| integer(py, offsets.char_index(bytes, byte) as u64);
            let count = integer(py, chunk.count as u64)?;
            tuple(py, [piece, offset(chunk.range.start)?, offset(chunk.range.end)?, count])
        };
        list(py, chunks.into_iter().map(chunk), &mut SignalChecks::new())
    }

    /// Prepare a text for counting the tokens of any part of it quickly: returns a `digram.Intervals`.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> text = "low lower so low"
    /// >>> intervals = tok.intervals(text)
    /// >>> intervals.count(4, 9), tok.count(text[4:9])
    /// (3, 3)
    ///
    /// `text` is a `str`, for intervals in characters, or `bytes`, for intervals in bytes. Special tokens
    /// in it are encoded as plain text. This call takes time and memory linear in the text; the time of
    /// `count` does not grow with the interval. Raises `InvalidTextError` as `encode` does, and
    /// `TypeError` for a text in parts.
    fn intervals(slf: Bound<'_, Self>, text: Bound<'_, PyAny>) -> PyResult<Intervals> {
        let py = slf.py();
        let content = Text::new(&text)?;
        let signals = Signals::new();
        let (bytes, core) = (content.bytes(), &slf.get().tokenizer);
        let counts = py.detach(|| core.intervals(bytes, &signals));
        let counts = counts.map_err(|error| signals.error(py, error, Some(&content)))?;
        let offsets = CharOffsets::new(&content)?;
        Ok(Intervals { core: slf.unbind(), text: text.unbind(), counts, offsets })
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
    /// `text` is the beginning of the text, "" by default. Special tokens in it are encoded as plain
    /// text. Only the two ends of the text are kept in memory. Appending takes time linear in the
    /// appended text, and the count after it takes bounded time. Raises `InvalidTextError` as `encode`
    /// does.
    #[pyo3(signature = (text=None), text_signature = "($self, text='')")]
    fn counter(slf: Bound<'_, Self>, text: Option<&Bound<'_, PyAny>>) -> PyResult<RunningCount> {
        let py = slf.py();
        let counter =
            RunningCount { core: slf.unbind(), state: SharedState::new("counter", Running::default()) };
        if let Some(text) = text {
            counter.append(py, text)?;
        }
        Ok(counter)
    }
}

/// Converts Python's indices into a text, which count characters for a `str`, to bytes and back.
struct CharOffsets {
    len: usize,
    /// The offset of every 64th character; empty if every character is a byte.
    marks: Vec<usize>,
}

const MARK_INTERVAL: usize = 64;

impl CharOffsets {
    fn new(text: &Text<'_>) -> PyResult<CharOffsets> {
        match text {
            Text::Str(text) if !text.is_ascii() => {
                let mut marks = Vec::new();
                reserve(&mut marks, text.len() / MARK_INTERVAL + 1)?;
                marks.extend(text.char_indices().step_by(MARK_INTERVAL).map(|(offset, _)| offset));
                let last = marks.last().copied().unwrap_or(0);
                let len = marks.len().saturating_sub(1) * MARK_INTERVAL + text[last..].chars().count();
                Ok(CharOffsets { len, marks })
            }
            _ => Ok(CharOffsets { len: text.bytes().len(), marks: Vec::new() }),
        }
    }

    /// The offset of the character with this index.
    fn byte(&self, text: &[u8], index: usize) -> usize {
        if self.marks.is_empty() {
            return index;
        }
        let Some(&mark) = self.marks.get(index / MARK_INTERVAL) else { return text.len() };
        let is_start = |byte: &u8| byte & 0xc0 != 0x80;
        let starts = text[mark..].iter().enumerate().filter(|(_, byte)| is_start(byte));
        starts.map(|(offset, _)| mark + offset).nth(index % MARK_INTERVAL).unwrap_or(text.len())
    }

    /// The index of the character that begins at an offset.
    fn char_index(&self, text: &[u8], byte: usize) -> usize {
        if self.marks.is_empty() {
            return byte;
        }
        let mark_index = self.marks.partition_point(|&mark| mark <= byte) - 1;
        let starts = text[self.marks[mark_index]..byte].iter().filter(|byte| **byte & 0xc0 != 0x80);
        mark_index * MARK_INTERVAL + starts.count()
    }
}

/// Counts the tokens of any part of a text; made by `Tokenizer.intervals`.
///
/// >>> import digram
/// >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
/// >>> text = "low lower so low"
/// >>> intervals = tok.intervals(text)
/// >>> intervals.count(4, 9), tok.count(text[4:9])
/// (3, 3)
///
/// It keeps the text, and numbers that take about a quarter of the memory of the text. Immutable.
/// Special tokens in the text are encoded as plain text.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct Intervals {
    core: Py<Core>,
    text: Py<PyAny>,
    counts: tokenizer::Intervals,
    offsets: CharOffsets,
}

#[pymethods]
impl Intervals {
    /// Count the tokens of `text[start:end]`: equal to `tok.count(text[start:end])`.
    ///
    /// >>> import digram
    /// >>> intervals = digram.train("ab ab", max_merges=1).intervals("ab é ab")
    /// >>> intervals.count(0, 2), intervals.count(3, 4), intervals.count(-2)
    /// (1, 2, 1)
    ///
    /// `start` and `end` are as in a slice, in characters, or in bytes if the text is `bytes`: negative
    /// numbers count from the end, and None is the end. The time does not grow with the interval: only
    /// its two ends are encoded again, each up to the next place where every text is split. A pretoken
    /// of a megabyte has no such place inside.
    #[pyo3(signature = (start, end=None))]
    fn count(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        end: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        // As in a slice, a number outside the text is its end or its beginning.
        let to_index = |index: &Bound<'_, PyAny>| match index.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                let number = py.import("operator")?.call_method1("index", (index,))?;
                Ok(if number.lt(0)? { isize::MIN } else { isize::MAX })
            }
            result => result,
        };
        let start = to_index(start)?;
        let end = end.map(to_index).transpose()?.unwrap_or(isize::MAX);
        let slice = PySlice::new(py, start, end, 1).indices(self.offsets.len as isize)?;
        let text = Text::new(self.text.bind(py))?;
        let bytes = text.bytes();
        let from = self.offsets.byte(bytes, slice.start as usize);
        let to = self.offsets.byte(bytes, slice.stop as usize).max(from);
        let signals = Signals::new();
        let core = &self.core.get().tokenizer;
        let count = || core.count_interval(&self.counts, bytes, from..to, &signals);
        let result = if to - from < KEEP_GIL_BYTES { count() } else { py.detach(count) };
        result.map_err(|error| signals.error(py, error, Some(&text)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let unit = if self.text.bind(py).is_instance_of::<PyString>() { "character" } else { "byte" };
        let length = errors::several(py, self.offsets.len, unit)?;
        let tokens = errors::several(py, self.counts.total(), "token")?;
        Ok(format!("<digram.Intervals: {length}, {tokens}>"))
    }
}

/// Counts the tokens of a text that grows at either end; made by `Tokenizer.counter`.
///
/// >>> import digram
/// >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
/// >>> counter = tok.counter("low")
/// >>> counter.append("er so")
/// >>> counter.prepend("a ")
/// >>> counter.count == int(counter) == tok.count("a lower so")
/// True
///
/// It keeps only the two ends of the text, up to the first place and from the last place where every
/// text is split; special tokens are encoded as plain text. Appending and prepending take time linear
/// in the added text. The count takes bounded time after `append`, some µs, even inside a pretoken
/// without an end, of which only the last few hundred bytes are encoded again (or the last few tokens,
/// if these are longer). After `prepend` it takes time linear in the text before the first split, a word
/// or two in most texts. With a pattern that looks behind or far ahead, and with digits that are grouped
/// from the right, the text is encoded again for each count. Calls from several threads wait for each
/// other.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct RunningCount {
    core: Py<Core>,
    state: SharedState<Running>,
}

#[pymethods]
impl RunningCount {
    /// Add text at the end. `bytes` may end inside a character.
    ///
    /// >>> import digram
    /// >>> counter = digram.train("any text", max_merges=0).counter("n")
    /// >>> counter.append("é")
    /// >>> counter.count
    /// 3
    ///
    /// Raises `InvalidTextError` for text that cannot be encoded; some errors are only raised by
    /// `count`.
    fn append(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(py, text, Running::append)
    }

    /// Add text at the beginning. `bytes` may begin inside a character.
    ///
    /// >>> import digram
    /// >>> counter = digram.train("any text", max_merges=0).counter("n")
    /// >>> counter.prepend("é")
    /// >>> counter.count
    /// 3
    ///
    /// Raises the errors of `append`.
    fn prepend(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(py, text, Running::prepend)
    }

    /// The number of tokens of the whole text: equal to `tok.count(text)`.
    ///
    /// Encodes the text before the first place where every text is split, and the text after the last
    /// such place; of a long text without such a place, only the end. With rules, PickyBPE, superwords
    /// and patterns that look behind, it encodes all of that text: of such texts over 16 KiB in total at
    /// most 32 MiB plus 64 times the text. Beyond that it raises `LimitExceededError`.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        let signals = Signals::new();
        let mut guard = self.state.take(py)?;
        let state: &mut Running = &mut guard;
        let core = &self.core.get().tokenizer;
        py.detach(|| state.count(core, &signals)).map_err(|error| signals.error(py, error, None))
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match self.count(py) {
            Ok(count) => Ok(format!("<digram.RunningCount: {}>", errors::several(py, count, "token")?)),
            // An error of the text must not prevent its display, but Ctrl-C must.
            Err(error) if error.is_instance_of::<PyException>(py) => {
                Ok("<digram.RunningCount: the text cannot be counted>".into())
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
        let mut guard = self.state.take(py)?;
        let state: &mut Running = &mut guard;
        let core = &self.core.get().tokenizer;
        let mut work = || change(state, core, bytes, &signals);
        let result = if bytes.len() < KEEP_GIL_BYTES { work() } else { py.detach(work) };
        result.map_err(|error| signals.error(py, error, None))
    }
}
