//! Counts as a file: Arrow's file format, with the digest of all data before the footer in the
//! footer. The reader checks the digest first, so that damaged data is never decoded. Python
//! computes the digest and accesses the disk.

use std::sync::Mutex;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_buffer::Buffer;
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::{StreamDecoder, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::ArrowError;
use digram::Error;
use digram::count::Rows;
use digram::interrupt::Interrupt;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use super::Counts;
use super::columns::{Batches, Columns, KEY};
use crate::errors;
use crate::signals::Signals;

/// The format begins with this, padded to the alignment, and ends with it.
const MAGIC: &[u8] = b"ARROW1\0\0";
/// The length of the footer and the magic without padding, in bytes.
const TAIL_SIZE: usize = 10;
/// The bytes between the digested part and the footer: the end of the stream of batches.
const END_OF_STREAM: usize = 8;
const DIGEST: &str = "digram.sha256";
/// The number of bytes decoded between two checks of the interrupt.
const BLOCK_SIZE: usize = 1 << 20;

const COPY: &str = "Copy the file again, or count again.";
const FOREIGN: &str = "Another program wrote it: read it with that program, and pass the table to \
                       digram.Counts.from_arrow.";

/// Writes counts as a file, a batch at a time.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct CountsWriter {
    state: Mutex<(Batches, FileWriter<Vec<u8>>)>,
}

#[pymethods]
impl CountsWriter {
    #[new]
    fn new(py: Python<'_>, counts: &Counts, metadata: String) -> PyResult<Self> {
        let batches = Batches::new(py, counts.counts.clone(), metadata)?;
        let writer = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)
            .and_then(|options| FileWriter::try_new_with_options(Vec::new(), &batches.schema(), options))
            .map_err(|error| unexpected(py, &error))?;
        Ok(CountsWriter { state: Mutex::new((batches, writer)) })
    }

    /// The next bytes of the file; `None` when only the footer is left.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = py.detach(|| {
            let (batches, writer) = &mut *self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if let Some(batch) = batches.next() {
                writer.write(&batch?)?;
            }
            Ok(std::mem::take(writer.get_mut()))
        });
        let bytes = bytes.map_err(|error| unexpected(py, &error))?;
        Ok((!bytes.is_empty()).then(|| PyBytes::new(py, &bytes)))
    }

    /// The rest of the file, given the digest of everything before it.
    fn footer<'py>(&self, py: Python<'py>, digest: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        let (_, writer) = &mut *state;
        writer.write_metadata(DIGEST, digest);
        writer.finish().map_err(|error| unexpected(py, &error))?;
        Ok(PyBytes::new(py, writer.get_ref()))
    }
}

/// Reads counts from the bytes of a file.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct CountsReader {
    data: Py<PyBytes>,
    /// The end of the digested part.
    #[pyo3(get)]
    digested: usize,
    /// The digest in the footer, in hexadecimal.
    #[pyo3(get)]
    digest: String,
}

#[pymethods]
impl CountsReader {
    /// Checks both ends of the file.
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let (digested, digest) = ends(data.as_bytes()).map_err(|damage| damage.raise(py))?;
        Ok(CountsReader { data: data.clone().unbind(), digested, digest })
    }

    /// The metadata of the file. The caller must have checked the digest.
    fn metadata(&self, py: Python<'_>) -> PyResult<String> {
        let data = &self.data.as_bytes(py)[..self.digested + END_OF_STREAM];
        guarded(|| metadata(data)).map_err(|error| error.raise(py, &Signals::new()))
    }

    /// The counts, with the given number of documents and end of the corpus; see `metadata`.
    fn counts(&self, py: Python<'_>, documents: u64, end: Option<u64>) -> PyResult<Counts> {
        let data = &self.data.as_bytes(py)[..self.digested + END_OF_STREAM];
        let signals = Signals::new();
        let rows = py.detach(|| {
            let rows = guarded(|| read_rows(data, Rows::new(end), &signals))?;
            rows.finish(documents, &signals).map_err(ReadError::Core)
        });
        rows.map(Counts::new).map_err(|error| error.raise(py, &signals))
    }
}

/// Turns a panic of the decoder into an error: it may panic for a forged file with a valid digest.
fn guarded<T>(decode: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode)).unwrap_or_else(|_| {
        Err(ReadError::Damaged(Damage::at(MAGIC.len(), "the batches cannot be decoded.")))
    })
}

/// digram's entry in the metadata of the schema.
fn metadata(data: &[u8]) -> Result<String, ReadError> {
    let missing = || ReadError::Damaged(Damage::at(MAGIC.len(), "the schema has no metadata of digram."));
    // A message is a marker, a length, and its bytes; the decoder reads it only if more data
    // follows.
    let start = MAGIC.len() + 8;
    let length = data.get(start - 4..start).and_then(|length| length.try_into().ok());
    let end = start + u32::from_le_bytes(length.ok_or_else(missing)?) as usize;
    let mut message = Buffer::from(data.get(MAGIC.len()..end + 1).ok_or_else(missing)?);
    let mut decoder = StreamDecoder::new();
    decoder.decode(&mut message).map_err(|_| missing())?;
    decoder.schema().and_then(|schema| schema.metadata().get(KEY).cloned()).ok_or_else(missing)
}

/// The end of the digested part, and its digest.
fn ends(data: &[u8]) -> Result<(usize, String), Damage> {
    if !data.starts_with(MAGIC) {
        return Err(Damage::at(0, "the file does not begin like an Arrow file."));
    }
    let tail_start = data.len().checked_sub(TAIL_SIZE).filter(|&tail_start| tail_start >= MAGIC.len());
    let tail_start = tail_start.ok_or(Damage::at(data.len(), "the file ends before its footer."))?;
    let length =
        data[tail_start..].try_into().ok().and_then(|end: [u8; TAIL_SIZE]| read_footer_length(end).ok());
    let footer_start = length.and_then(|length| tail_start.checked_sub(length));
    let footer_start = footer_start.filter(|&footer_start| footer_start >= MAGIC.len() + END_OF_STREAM);
    let Some(footer_start) = footer_start else {
        return Err(Damage::at(data.len(), "the file does not end like an Arrow file: it is truncated."));
    };
    let damaged = || Damage::at(footer_start, "the footer is damaged.");
    let parsed = root_as_footer(&data[footer_start..tail_start]).map_err(|_| damaged())?;
    let entries = parsed.custom_metadata().into_iter().flatten();
    let digest = entries.filter(|pair| pair.key() == Some(DIGEST)).find_map(|pair| pair.value());
    match digest {
        Some(digest) => Ok((footer_start - END_OF_STREAM, digest.to_owned())),
        None => {
            Err(Damage { hint: FOREIGN, ..Damage::at(footer_start, "the footer has no digest of digram.") })
        }
    }
}

/// The rows of all batches.
fn read_rows(data: &[u8], mut rows: Rows, interrupt: &dyn Interrupt) -> Result<Rows, ReadError> {
    let mut decoder = StreamDecoder::new();
    let mut offset = MAGIC.len();
    for block in data[offset..].chunks(BLOCK_SIZE) {
        interrupt.check().map_err(ReadError::Core)?;
        let damaged = |error: ArrowError| ReadError::Damaged(Damage::at(offset, &format!("{error}.")));
        let mut rest = Buffer::from(block);
        while !rest.is_empty() {
            if let Some(batch) = decoder.decode(&mut rest).map_err(damaged)? {
                push(&mut rows, &batch).map_err(|error| error.with_offset(offset))?;
            }
        }
        offset += block.len();
    }
    let result = decoder.finish();
    result.map_err(|error| ReadError::Damaged(Damage::at(data.len(), &format!("{error}."))))?;
    Ok(rows)
}

fn push(rows: &mut Rows, batch: &RecordBatch) -> Result<(), ReadError> {
    let schema = batch.schema();
    let damaged = |reason: String| ReadError::Damaged(Damage::at(0, &reason));
    let columns = Columns::new(schema.fields(), batch.columns()).map_err(damaged)?;
    for row in 0..columns.len() {
        let (piece, count, first) = columns.row(row).map_err(damaged)?;
        rows.push(piece, count, first).map_err(|error| match error {
            Error::Option { reason } => damaged(format!("{reason}.")),
            error => ReadError::Core(error),
        })?;
    }
    Ok(())
}

/// The reason why a file is damaged, and its approximate position.
struct Damage {
    offset: usize,
    reason: String,
    hint: &'static str,
}

enum ReadError {
    Damaged(Damage),
    Core(Error),
}

impl ReadError {
    fn raise(self, py: Python<'_>, signals: &Signals) -> PyErr {
        match self {
            ReadError::Damaged(damage) => damage.raise(py),
            ReadError::Core(error) => signals.error(py, error, None),
        }
    }

    fn with_offset(self, offset: usize) -> ReadError {
        match self {
            ReadError::Damaged(damage) => ReadError::Damaged(Damage { offset, ..damage }),
            core => core,
        }
    }
}

impl Damage {
    fn at(offset: usize, reason: &str) -> Damage {
        Damage { offset, reason: reason.to_owned(), hint: COPY }
    }

    fn raise(self, py: Python<'_>) -> PyErr {
        let Damage { offset, reason, hint } = self;
        errors::build(py, "CorruptFileError", format!("byte {offset}: {reason}"), |attributes| {
            attributes.set_item("offset", offset)?;
            attributes.set_item("hint", hint)
        })
    }
}

fn unexpected(py: Python<'_>, error: &ArrowError) -> PyErr {
    errors::raise(py, "InternalError", error.to_string())
}
