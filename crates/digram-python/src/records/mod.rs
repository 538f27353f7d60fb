//! Reading texts from records: lines and lists of JSON, rows of CSV.

mod columns;
mod json;
mod lines;
mod values;

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::objects::{SignalChecks, bytes, list};

pub(crate) use columns::CsvTexts;
pub(crate) use lines::json_texts;
pub(crate) use values::JsonTexts;

/// The reason why a record has no text, and the parser's message.
type Reason = (String, Option<String>);

/// A faulty record: the number of records with a text before it, its number from 0, its offset, the reason,
/// and the parser's message.
type Fault = (usize, usize, usize, String, Option<String>);

/// The reason why reading cannot continue: the number of the record from 0, its offset, the reason.
type Fatal = (usize, usize, String);

/// The result of reading some bytes: for each record its text, or a list of texts; the faulty records; and
/// the reason why reading cannot continue.
type ReadResult<'py> = (Bound<'py, PyList>, Vec<Fault>, Option<Fatal>);

/// Reads without the GIL: returns the texts, and the error after which reading cannot continue.
fn read_texts<E: Send>(
    py: Python<'_>,
    read: impl FnOnce(&mut Texts) -> Result<(), E> + Send,
) -> (Texts, Option<E>) {
    py.detach(|| {
        let mut texts = Texts::default();
        let error = read(&mut texts).err();
        (texts, error)
    })
}

/// The number of records that were read, and the offset of a requested one.
struct RecordCounter {
    count: usize,
    /// The number, from 1, of the requested record; 0 for none.
    requested: usize,
    offset: Option<usize>,
}

impl RecordCounter {
    fn new(requested: usize) -> RecordCounter {
        RecordCounter { count: 0, requested, offset: None }
    }

    /// Counts the record that begins at `offset`.
    fn add(&mut self, offset: usize) {
        self.count += 1;
        if self.count == self.requested {
            self.offset = Some(offset);
        }
    }
}

/// The texts of records, end to end.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The number of texts up to the end of each record, and whether the record's texts are in a list.
    records: Vec<(usize, bool)>,
    faults: Vec<Fault>,
}

impl Texts {
    fn add(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }

    fn end_record(&mut self, is_list: bool) {
        self.records.push((self.ends.len(), is_list));
    }

    fn fault(&mut self, record: usize, offset: usize, (reason, detail): Reason) {
        self.faults.push((self.records.len(), record, offset, reason, detail));
    }

    fn into_result(self, py: Python<'_>, fatal: Option<Fatal>) -> PyResult<ReadResult<'_>> {
        Ok((self.to_list(py)?, self.faults, fatal))
    }

    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let records = PyList::empty(py);
        let checks = &mut SignalChecks::new();
        let text = |index: usize| {
            let start = if index == 0 { 0 } else { self.ends[index - 1] };
            bytes(py, &self.bytes[start..self.ends[index]])
        };
        let mut first = 0;
        for &(end, listed) in &self.records {
            if listed {
                records.append(list(py, (first..end).map(text), checks)?)?;
            } else {
                records.append(text(first)?)?;
            }
            first = end;
        }
        Ok(records)
    }
}
