//! From ids back to text.

use std::cell::Cell;
use std::mem;
use std::ops::Range;

use digram::Error;
use digram::heap::{GrowingHeap, PageSize};
use digram::tokenizer::{FlatBytes, OffsetUnit, OnInvalid};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::{Core, KEEP_GIL_BYTES};
use crate::arrow::ArrowIds;
use crate::convert::{IdArray, append_ids, flag};
use crate::errors;
use crate::new_strings;
use crate::objects::{
    CHECK_INTERVAL, SignalChecks, bytes as bytes_object, collected, integer, list, prefetch, reserve, string,
    tuple,
};
use crate::signals::Signals;

/// On one thread, the number of ids decoded before their texts are created: few enough that their bytes are
/// still in the cache when they are read again, enough to outweigh releasing the GIL.
const WAVE_IDS: usize = 1 << 14;

#[pymethods]
impl Core {
    /// Decode token ids: the text that they stand for.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.decode([257, 101, 114])
    /// 'lower'
    ///
    /// `ids` is a list, a NumPy array of any type of integers, or any iterable of integers. A special
    /// token becomes its text, or nothing with `skip_special_tokens=True`:
    ///
    /// >>> chat = tok.with_special_tokens(["<|end|>"])
    /// >>> chat.decode([257, 258]), chat.decode([257, 258], skip_special_tokens=True)
    /// ('low<|end|>', 'low')
    ///
    /// The bytes of tokens need not be whole characters: `errors` says what
    /// becomes of bytes that are not UTF-8. "replace" (the default) puts U+FFFD for them, as
    /// `bytes.decode` does, and "strict" raises `InvalidTextError` with their place:
    ///
    /// >>> tok.decode([257, 0xE2, 0x82])
    /// 'low\ufffd'
    /// >>> tok.decode([257, 0xE2, 0x82], errors="strict")
    /// Traceback (most recent call last):
    ///     ...
    /// digram.errors.InvalidTextError: the tokens' bytes are not UTF-8 at byte 3 of the decoded text. ...
    ///
    /// Raises `TokenIdError` for an id that is not in the vocabulary, with its index. Takes time linear
    /// in the text; from 16,384 ids on it runs without the GIL. `decode_batch` decodes several
    /// sequences on all cores, `decoder` ids that come one by one.
    #[pyo3(
        signature = (ids, *, errors=OnInvalidBytes(OnInvalid::Replace), skip_special_tokens=None),
        text_signature = "($self, ids, *, errors=\"replace\", skip_special_tokens=False)"
    )]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        errors: OnInvalidBytes,
        skip_special_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyString>> {
        let bytes = self.bytes_of(py, ids, skips(skip_special_tokens)?, errors.0)?;
        text(py, &bytes, errors.0)
    }

    /// Decode token ids to bytes: the bytes of their tokens, joined.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.decode_bytes([257, 0xE2, 0x82])
    /// b'low\xe2\x82'
    ///
    /// Nothing is replaced, so `tok.decode_bytes(tok.encode(data)) == data` for all bytes in a
    /// vocabulary of bytes. `ids` are those of `decode`; a special token becomes its text in UTF-8, or
    /// nothing with `skip_special_tokens=True`. Raises `TokenIdError` for an id that is not in the
    /// vocabulary, with its index. Takes time linear in the bytes.
    #[pyo3(
        signature = (ids, *, skip_special_tokens=None),
        text_signature = "($self, ids, *, skip_special_tokens=False)"
    )]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        bytes_object(py, &self.bytes_of(py, ids, skips(skip_special_tokens)?, OnInvalid::Replace)?)
    }

    /// Where each token stands in the decoded text: its start and its end.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low", max_merges=2, special_tokens=["<s>"], pretokenizer="gpt2")
    /// >>> ids = [258, 257, *tok.encode("é"), 257]
    /// >>> tok.decode(ids), tok.offsets(ids)
    /// ('<s>lowélow', [(0, 3), (3, 6), (6, 7), (6, 7), (7, 10)])
    /// >>> tok.offsets(ids, unit="bytes")
    /// [(0, 3), (3, 6), (6, 7), (7, 8), (8, 11)]
    /// >>> tok.offsets(ids, skip_special_tokens=True)
    /// [(0, 0), (0, 3), (3, 4), (3, 4), (4, 7)]
    ///
    /// The ids need not be those of any text, as a model generates them. Offsets are in "characters" of
    /// `decode(ids)`, in "bytes" of `decode_bytes(ids)`, or in "utf16" units. A token covers every
    /// character of which it has a byte, so tokens that share a character all have its whole span; bytes
    /// that are not UTF-8 have the span of the U+FFFD that replaces them. A token that adds nothing to
    /// the text, as one that `skip_special_tokens` leaves out, has an empty span.
    ///
    /// Raises `TokenIdError` for an id that is not in the vocabulary, with its index, and `OptionError`
    /// for an unknown unit, and for a tokenizer whose `decoding` has a step that needs all tokens of a text at
    /// once. Takes time linear in the text.
    #[pyo3(
        signature = (ids, *, unit=None, skip_special_tokens=None),
        text_signature = "($self, ids, *, unit=\"characters\", skip_special_tokens=False)"
    )]
    fn offsets<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        unit: Option<UnitName>,
        skip_special_tokens: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (unit, skip) = (unit.map_or(OffsetUnit::Characters, |unit| unit.0), skips(skip_special_tokens)?);
        let ids = self.ids(ids)?;
        let signals = Signals::new();
        let spans = || self.tokenizer.decoded_spans(&ids, unit, !skip, &signals);
        let spans = if ids.len() < KEEP_GIL_BYTES { spans() } else { py.detach(spans) };
        let spans = spans.map_err(|error| signals.error(py, error, None))?;
        let span =
            |[start, end]: [usize; 2]| tuple(py, [integer(py, start as u64)?, integer(py, end as u64)?]);
        list(py, spans.into_iter().map(span), &mut SignalChecks::new())
    }

    /// The texts of several sequences of ids, or their bytes where `errors` is `None`; with `offsets` `batch` is all
    /// their ids, flat.
    #[pyo3(signature = (batch, offsets, errors, threads, skip_special_tokens))]
    fn _decode_batch<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        offsets: Option<&Bound<'py, PyAny>>,
        errors: Option<OnInvalidBytes>,
        threads: Option<usize>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let threads = crate::threads::threads(py, threads)?;
        let on_invalid = errors.map(|errors| errors.0);
        let mut results = Results::new(self, on_invalid, skip_special_tokens);
        match (offsets, batch.cast::<ArrowIds>()) {
            (Some(offsets), _)
                if threads == 1
                    && let Some(ids) = IdArray::of(batch) =>
            {
                let ranges = ranges(offsets, ids.ids().len())?;
                results.add_from_array(py, &ids, &ranges)?;
            }
            (Some(offsets), _) => {
                let ids = self.ids(batch)?;
                results.add(py, &ids, &ranges(offsets, ids.len())?, threads)?;
            }
            (None, Ok(lists)) => {
                let (ids, offsets) = lists.get().parts();
                // Offsets of `ArrowIds` are ascending and inside the ids.
                let ranges = offsets.windows(2).map(|ends| Ok(ends[0] as usize..ends[1] as usize));
                results.add(py, ids, &collected(py, ranges)?, threads)?;
            }
            (None, Err(_)) => results.add_sequences(py, batch, threads)?,
        }
        list(py, results.objects.into_iter().map(Ok), &mut SignalChecks::new())
    }
}

impl Core {
    fn bytes_of(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip: bool,
        on_invalid: OnInvalid,
    ) -> PyResult<Vec<u8>> {
        let ids = self.ids(ids)?;
        let mut bytes = Vec::new();
        let signals = Signals::new();
        let mut decode_all = |ids: &[u32]| {
            self.tokenizer.check_invalid(ids, on_invalid, &signals)?;
            self.tokenizer.decode(ids, &signals, &mut bytes)
        };
        let mut decode = || match skip {
            true => decode_all(&self.tokenizer.without_special(&ids, &signals)?),
            false => decode_all(&ids),
        };
        let decoded = if ids.len() < KEEP_GIL_BYTES { decode() } else { py.detach(decode) };
        decoded.map_err(|error| signals.error(py, error, None))?;
        Ok(bytes)
    }

    /// Several sequences without their special tokens. Errors name the index in the batch.
    fn without_special(
        &self,
        py: Python<'_>,
        ids: &[u32],
        ranges: &[Range<usize>],
        first_index: usize,
        signals: &Signals,
    ) -> PyResult<(Vec<u32>, Vec<Range<usize>>)> {
        let (mut ordinary, mut kept_ranges) = (Vec::new(), Vec::new());
        reserve(&mut ordinary, ids.len())?;
        reserve(&mut kept_ranges, ranges.len())?;
        let mut next_check = CHECK_INTERVAL;
        for (index, range) in ranges.iter().enumerate() {
            if range.start + index >= next_check {
                next_check = range.start + index + CHECK_INTERVAL;
                py.check_signals()?;
            }
            let start = ordinary.len();
            let sequence = self
                .tokenizer
                .without_special(&ids[range.clone()], signals)
                .map_err(|error| in_batch(py, first_index + index, signals.error(py, error, None)))?;
            reserve(&mut ordinary, sequence.len())?;
            ordinary.extend_from_slice(&sequence);
            kept_ranges.push(start..ordinary.len());
        }
        Ok((ordinary, kept_ranges))
    }
}

/// The range of each sequence between ids.
fn ranges(offsets: &Bound<'_, PyAny>, ids: usize) -> PyResult<Vec<Range<usize>>> {
    let (py, offsets) = (offsets.py(), numbers(offsets)?);
    let ranges = collected(py, offsets.windows(2).map(|ends| Ok(ends[0]..ends[1])))?;
    if ranges.iter().all(|range| range.start <= range.end && range.end <= ids) {
        return Ok(ranges);
    }
    let message = format!("the offsets are not rising numbers from 0 to {ids}.");
    Err(errors::raise(py, "OptionError", message))
}

/// The texts of a batch, or the bytes, made wave by wave.
struct Results<'a, 'py> {
    core: &'a Core,
    /// `None` for bytes.
    on_invalid: Option<OnInvalid>,
    skip_special_tokens: bool,
    objects: Vec<Bound<'py, PyAny>>,
    /// The bytes of the last wave, whose memory is used again.
    decoded: FlatBytes,
    /// One for all waves, since a wave may be too small for a check.
    checks: SignalChecks,
    heap: GrowingHeap,
    /// About the number of ids that will be added later.
    later_ids: usize,
}

/// The number of ids in a line of the processor's caches.
const IDS_PER_LINE: usize = 16;

/// About the number of bytes of an object for each id.
const BYTES_PER_ID: usize = 4;

impl<'a, 'py> Results<'a, 'py> {
    fn new(core: &'a Core, on_invalid: Option<OnInvalid>, skip_special_tokens: bool) -> Results<'a, 'py> {
        Results {
            core,
            on_invalid,
            skip_special_tokens,
            objects: Vec::new(),
            decoded: FlatBytes::default(),
            checks: SignalChecks::new(),
            heap: GrowingHeap::of(PageSize::Small),
            later_ids: 0,
        }
    }

    /// Adds the texts of an iterable of sequences. On one thread, the ids of a wave are still in the cache when
    /// they are decoded.
    fn add_sequences(&mut self, py: Python<'py>, batch: &Bound<'py, PyAny>, threads: usize) -> PyResult<()> {
        let enough = if threads == 1 { WAVE_IDS } else { usize::MAX };
        let (mut ids, mut ranges, mut checks) = (Vec::new(), Vec::new(), SignalChecks::new());
        let (count, mut all_ids) = (batch.cast::<PyList>().map_or(0, |list| list.len()), 0);
        for sequence in batch.try_iter()? {
            let (start, index) = (ids.len(), self.objects.len() + ranges.len());
            append_ids(&sequence?, &self.core.tokenizer, &mut ids)
                .map_err(|error| in_batch(py, index, error))?;
            reserve(&mut ranges, 1)?;
            ranges.push(start..ids.len());
            checks.after(py, ids.len() - start + 1)?;
            if ids.len() >= enough || ranges.len() >= enough {
                all_ids += ids.len();
                let done = self.objects.len() + ranges.len();
                // As many for each sequence as so far.
                self.later_ids = (all_ids / done).saturating_mul(count.saturating_sub(done));
                self.add(py, &ids, &ranges, threads)?;
                ids.clear();
                ranges.clear();
            }
        }
        self.later_ids = 0;
        self.add(py, &ids, &ranges, threads)
    }

    /// Adds the texts of consecutive ranges of an array. The ids of a wave are copied, since the array could
    /// change while they are decoded.
    fn add_from_array(&mut self, py: Python<'py>, array: &IdArray, ranges: &[Range<usize>]) -> PyResult<()> {
        let (mut ids, mut copied_ranges, mut rest) = (Vec::new(), Vec::new(), ranges);
        self.later_ids = ranges.iter().map(ExactSizeIterator::len).sum();
        while let Some(Range { start, .. }) = rest.first().cloned() {
            let (wave, remaining) = rest.split_at(wave(rest));
            ids.clear();
            copied_ranges.clear();
            let end = wave.last().map_or(start, |range| range.end);
            reserve(&mut ids, end - start)?;
            reserve(&mut copied_ranges, wave.len())?;
            ids.extend(array.ids()[start..end].iter().map(Cell::get));
            copied_ranges.extend(wave.iter().map(|range| range.start - start..range.end - start));
            self.later_ids = self.later_ids.saturating_sub(ids.len());
            // The ids of the next wave come from memory while this one is decoded.
            for line in array.ids()[end..].chunks(IDS_PER_LINE).take(WAVE_IDS / IDS_PER_LINE) {
                prefetch(line.as_ptr());
            }
            self.add(py, &ids, &copied_ranges, 1)?;
            rest = remaining;
        }
        Ok(())
    }

    /// Adds the texts of ranges of ids.
    fn add(&mut self, py: Python<'py>, ids: &[u32], ranges: &[Range<usize>], threads: usize) -> PyResult<()> {
        let signals = Signals::new();
        if self.skip_special_tokens {
            let core = self.core;
            let (ids, ranges) = core.without_special(py, ids, ranges, self.objects.len(), &signals)?;
            return self.add_all(py, &ids, &ranges, threads, &signals);
        }
        self.add_all(py, ids, ranges, threads, &signals)
    }

    fn add_all(
        &mut self,
        py: Python<'py>,
        ids: &[u32],
        ranges: &[Range<usize>],
        threads: usize,
        signals: &Signals,
    ) -> PyResult<()> {
        let tokenizer = &self.core.tokenizer;
        reserve(&mut self.objects, ranges.len())?;
        let error = |error: (usize, Error), texts: usize| {
            in_batch(py, texts + error.0, signals.error(py, error.1, None))
        };
        let on_invalid = self.on_invalid.unwrap_or(OnInvalid::Replace);
        py.detach(|| {
            ranges.iter().enumerate().try_for_each(|(index, range)| {
                let checked = tokenizer.check_invalid(&ids[range.clone()], on_invalid, signals);
                checked.map_err(|error| (index, error))
            })
        })
        .map_err(|failed| error(failed, self.objects.len()))?;
        if threads > 1 {
            let decoded = py.detach(|| tokenizer.decode_batch(ids, ranges, threads, signals));
            let parts = decoded.map_err(|failed| error(failed, self.objects.len()))?;
            let mut later: usize = parts.iter().map(FlatBytes::len).sum();
            for part in parts {
                later -= part.len();
                self.add_decoded(py, &part, later)?;
            }
            return Ok(());
        }
        let (mut decoded, mut rest) = (mem::take(&mut self.decoded), ranges);
        let mut later_ids = ranges.iter().map(ExactSizeIterator::len).sum::<usize>() + self.later_ids;
        while !rest.is_empty() {
            let (wave, remaining) = rest.split_at(wave(rest));
            py.detach(|| tokenizer.decode_again(ids, wave, signals, &mut decoded))
                .map_err(|failed| error(failed, self.objects.len()))?;
            later_ids = later_ids.saturating_sub(wave.iter().map(ExactSizeIterator::len).sum());
            self.add_decoded(py, &decoded, later_ids.saturating_mul(BYTES_PER_ID))?;
            rest = remaining;
        }
        self.decoded = decoded;
        Ok(())
    }

    /// Adds the objects of sequences, after which about `later` bytes will be added.
    fn add_decoded(&mut self, py: Python<'py>, decoded: &FlatBytes, later: usize) -> PyResult<()> {
        let mut expected = later.saturating_add(decoded.len());
        for bytes in decoded.iter() {
            self.checks.after(py, bytes.len() + 1)?;
            self.heap.before(expected);
            expected -= bytes.len();
            let index = self.objects.len();
            self.objects.push(match self.on_invalid {
                Some(on_invalid) => {
                    text(py, bytes, on_invalid).map_err(|error| in_batch(py, index, error))?.into_any()
                }
                None => bytes_object(py, bytes)?.into_any(),
            });
        }
        Ok(())
    }
}

/// The number of sequences, from the first on, that have about [`WAVE_IDS`] ids together.
fn wave(ranges: &[Range<usize>]) -> usize {
    let mut ids = 0;
    let last_index = ranges.iter().position(|range| {
        ids += range.len() + 1;
        ids >= WAVE_IDS
    });
    last_index.map_or(ranges.len(), |last| last + 1)
}

fn numbers(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    match PyBuffer::<u64>::get(object) {
        Ok(buffer) if buffer.dimensions() == 1 => {
            Ok(buffer.to_vec(object.py())?.into_iter().map(|offset| offset as usize).collect())
        }
        _ => object.try_iter()?.map(|offset| offset?.extract()).collect(),
    }
}

fn in_batch(py: Python<'_>, index: usize, error: PyErr) -> PyErr {
    errors::with_place(py, error, &format!("batch[{index}]"))
}

/// The `str` of bytes; invalid bytes are handled here.
pub(super) fn text<'py>(
    py: Python<'py>,
    bytes: &[u8],
    on_invalid: OnInvalid,
) -> PyResult<Bound<'py, PyString>> {
    if let Some(text) = new_strings::valid(py, bytes)? {
        return Ok(text);
    }
    PyString::from_bytes(py, bytes).or_else(|error| {
        let Err(invalid) = std::str::from_utf8(bytes) else { return Err(error) };
        if !error.is_instance_of::<PyUnicodeDecodeError>(py) {
            return Err(error);
        }
        match on_invalid {
            OnInvalid::Replace => string(py, &replaced(bytes)?),
            OnInvalid::Fail => {
                let error = Error::DecodedInvalidUtf8 { offset: invalid.valid_up_to() };
                Err(errors::from_core(py, error, None))
            }
        }
    })
}

/// The bytes as UTF-8, with U+FFFD for invalid bytes.
fn replaced(bytes: &[u8]) -> PyResult<String> {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        let additional = chunk.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8();
        text.try_reserve(additional).map_err(|_| errors::no_memory(Error::Memory { bytes: additional }))?;
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(text)
}

/// Whether special tokens are omitted; by default they are not.
pub(super) fn skips(argument: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    argument.map_or(Ok(false), |value| flag("skip_special_tokens", value))
}

/// The value of an `errors` argument. It is not taken as a `&str`, whose conversion raises
/// `UnicodeEncodeError` for a lone surrogate.
pub(super) struct OnInvalidBytes(pub(super) OnInvalid);

impl<'py> FromPyObject<'_, 'py> for OnInvalidBytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<OnInvalidBytes> {
        let Ok(name) = object.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("errors is a str, not {}", errors::kind(&object))));
        };
        match name.to_str() {
            Ok("replace") => Ok(OnInvalidBytes(OnInvalid::Replace)),
            Ok("strict") => Ok(OnInvalidBytes(OnInvalid::Fail)),
            _ => {
                let name = errors::shown_repr(&object)?;
                let message = format!("errors={name} is not known. Pass \"replace\" or \"strict\".");
                Err(errors::raise(object.py(), "OptionError", message))
            }
        }
    }
}

/// The value of a `unit` argument.
struct UnitName(OffsetUnit);

impl<'py> FromPyObject<'_, 'py> for UnitName {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<UnitName> {
        let Ok(name) = object.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("unit is a str, not {}", errors::kind(&object))));
        };
        match name.to_str() {
            Ok("characters") => Ok(UnitName(OffsetUnit::Characters)),
            Ok("bytes") => Ok(UnitName(OffsetUnit::Bytes)),
            Ok("utf16") => Ok(UnitName(OffsetUnit::Utf16)),
            _ => {
                let name = errors::shown_repr(&object)?;
                let message =
                    format!("unit={name} is not known. Pass \"characters\", \"bytes\" or \"utf16\".");
                Err(errors::raise(object.py(), "OptionError", message))
            }
        }
    }
}
