//! Rows of CSV (RFC 4180) with the texts in one column. Only that column is kept in memory.

use memchr::{memchr, memchr3};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Fatal, ReadResult, RecordCounter, Texts, read_texts};
use crate::errors;

/// The maximum number of bytes of a text. After a quote that is not closed, the rest of the file is
/// one field.
const MAX_TEXT: usize = 64 << 20;

/// The maximum number of bytes of a header.
const MAX_HEADER: usize = 1 << 20;

/// The maximum number of header names that an error lists.
const MAX_NAMES: usize = 16;

/// The position of the next byte within a row.
#[derive(Clone, Copy, PartialEq)]
enum CsvState {
    /// Before a row, or before a field.
    Row,
    Field,
    /// In a field without quotes, in one with quotes, and after a quote in one with quotes.
    Plain,
    Quoted,
    Quote,
}

/// The texts in a column of a file of CSV; see the stub.
#[pyclass(module = "digram._core")]
pub(crate) struct CsvTexts {
    /// `None` if only offsets are needed.
    column: Option<String>,
    delimiter: u8,
    state: CsvState,
    /// The names in the header, and the number of their bytes.
    names: Vec<Vec<u8>>,
    names_size: usize,
    /// The index of the column, and the number of columns; `None` before the end of the header.
    header: Option<(usize, usize)>,
    /// Of the current row: its offset, the offset of its last quote, the number of its fields so far,
    /// its text, and its error.
    row_start: usize,
    quote: usize,
    fields: usize,
    text: Vec<u8>,
    row_error: Option<&'static str>,
    /// The number of bytes that were read.
    offset: usize,
    records: RecordCounter,
}

#[pymethods]
impl CsvTexts {
    #[new]
    #[pyo3(signature = (column, delimiter, wanted=0))]
    fn new(column: Option<String>, delimiter: u8, wanted: usize) -> CsvTexts {
        CsvTexts {
            column,
            delimiter,
            state: CsvState::Row,
            names: Vec::new(),
            names_size: 0,
            header: None,
            row_start: 0,
            quote: 0,
            fields: 0,
            text: Vec::new(),
            row_error: None,
            offset: 0,
            records: RecordCounter::new(wanted),
        }
    }

    /// The records that end in the next block.
    fn push<'py>(&mut self, py: Python<'py>, block: &Bound<'py, PyBytes>) -> PyResult<ReadResult<'py>> {
        let bytes = block.as_bytes();
        let (texts, stop) = read_texts(py, |texts| self.read(bytes, texts));
        self.to_result(py, texts, stop)
    }

    /// The results at the end of the file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<ReadResult<'py>> {
        let (texts, stop) = read_texts(py, |texts| self.end(texts));
        self.to_result(py, texts, stop)
    }

    /// The bytes of an incomplete record.
    #[getter]
    fn held(&self) -> usize {
        self.text.len()
    }

    /// The offset of the requested record.
    #[getter]
    fn place(&self) -> Option<usize> {
        self.records.offset
    }
}

/// The reason why reading cannot continue.
enum CsvError {
    Fatal(Fatal),
    /// The header lacks the column: the message and the hint.
    Header(String, String),
}

impl CsvTexts {
    fn to_result<'py>(
        &self,
        py: Python<'py>,
        texts: Texts,
        stop: Option<CsvError>,
    ) -> PyResult<ReadResult<'py>> {
        let fatal = match stop {
            None => None,
            Some(CsvError::Fatal(fatal)) => Some(fatal),
            Some(CsvError::Header(message, hint)) => {
                return Err(errors::build(py, "OptionError", message, |attributes| {
                    attributes.set_item("value", &self.column)?;
                    attributes.set_item("hint", hint)
                }));
            }
        };
        texts.into_result(py, fatal)
    }

    /// Ends the last row, which need not end with a line break.
    fn end(&mut self, texts: &mut Texts) -> Result<(), CsvError> {
        match self.state {
            CsvState::Row => Ok(()),
            CsvState::Quoted => {
                let reason = format!("the quote at byte {} is not closed.", self.quote);
                Err(self.fatal(reason))
            }
            _ => self.end_row(texts),
        }
    }

    fn fatal(&self, reason: String) -> CsvError {
        CsvError::Fatal((self.records.count, self.row_start, reason))
    }

    fn read(&mut self, block: &[u8], texts: &mut Texts) -> Result<(), CsvError> {
        let block_start = self.offset;
        let mut position = 0;
        while position < block.len() {
            let byte = block[position];
            let offset = block_start + position;
            match self.state {
                CsvState::Row if matches!(byte, b'\n' | b'\r') => position += 1,
                CsvState::Row => {
                    self.row_start = offset;
                    self.state = CsvState::Field;
                    self.begin_field();
                }
                CsvState::Field if byte == b'"' => {
                    self.quote = offset;
                    self.state = CsvState::Quoted;
                    position += 1;
                }
                CsvState::Field => self.state = CsvState::Plain,
                CsvState::Plain => {
                    let rest = &block[position..];
                    let len = memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
                    self.keep(&rest[..len])?;
                    position += len;
                    if let Some(&end) = block.get(position) {
                        self.end_field(end, texts)?;
                        position += 1;
                    }
                }
                CsvState::Quoted => {
                    let rest = &block[position..];
                    let len = memchr(b'"', rest).unwrap_or(rest.len());
                    self.keep(&rest[..len])?;
                    position += len;
                    if position < block.len() {
                        self.state = CsvState::Quote;
                        position += 1;
                    }
                }
                CsvState::Quote if byte == b'"' => {
                    self.keep(b"\"")?;
                    self.state = CsvState::Quoted;
                    position += 1;
                }
                CsvState::Quote if byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    self.end_field(byte, texts)?;
                    position += 1;
                }
                CsvState::Quote => {
                    self.row_error = Some("there is text after the closing quote of a field.");
                    self.state = CsvState::Plain;
                }
            }
        }
        self.offset = block_start + block.len();
        Ok(())
    }

    /// Stores bytes of a field if it is in the column or in the header.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), CsvError> {
        let (name, maximum, length) = match self.header {
            None => {
                self.names.last_mut().expect("a field was begun").extend_from_slice(bytes);
                self.names_size += bytes.len();
                ("header", MAX_HEADER, self.names_size)
            }
            Some((column, _)) => {
                if self.fields == column + 1 {
                    self.text.extend_from_slice(bytes);
                }
                ("text of this record", MAX_TEXT, self.text.len())
            }
        };
        if length > maximum {
            let quoted = matches!(self.state, CsvState::Quoted | CsvState::Quote);
            let quote = format!(" The quote at byte {} may not be closed.", self.quote);
            let reason =
                format!("the {name} has more than {maximum} bytes.{}", if quoted { &quote } else { "" });
            return Err(self.fatal(reason));
        }
        Ok(())
    }

    fn begin_field(&mut self) {
        self.fields += 1;
        if self.header.is_none() {
            self.names.push(Vec::new());
            self.names_size += 1;
        }
    }

    /// Handles the end of a field: a delimiter, or the end of a line.
    fn end_field(&mut self, end: u8, texts: &mut Texts) -> Result<(), CsvError> {
        if end == self.delimiter {
            self.state = CsvState::Field;
            self.begin_field();
            if self.header.is_none() {
                self.keep(b"")?; // limits the number of names
            }
            return Ok(());
        }
        self.end_row(texts)
    }

    fn end_row(&mut self, texts: &mut Texts) -> Result<(), CsvError> {
        let fields = std::mem::take(&mut self.fields);
        let row_error = self.row_error.take();
        self.state = CsvState::Row;
        let Some((_, width)) = self.header else {
            self.header = Some((self.column_index()?, fields));
            return Ok(());
        };
        let reason = match row_error {
            Some(row_error) => Some(row_error.to_owned()),
            None if fields != width => {
                let s = if fields == 1 { "" } else { "s" };
                Some(format!("the row has {fields} field{s}, but the header has {width}."))
            }
            None => None,
        };
        match reason {
            Some(reason) => texts.fault(self.records.count, self.row_start, (reason, None)),
            None => {
                texts.add(&self.text);
                texts.end_record(false);
            }
        }
        self.text.clear();
        self.records.add(self.row_start);
        Ok(())
    }

    /// The index of the column in the header.
    fn column_index(&self) -> Result<usize, CsvError> {
        let Some(column) = &self.column else { return Ok(usize::MAX - 1) }; // no row has that many fields
        let is_column = |name: &&Vec<u8>| name.as_slice() == column.as_bytes();
        let message = match self.names.iter().filter(is_column).count() {
            0 => format!("there is no column {column:?}."),
            1 => return Ok(self.names.iter().position(|name| is_column(&name)).expect("counted above")),
            count => format!("the header has {count} columns with the name {column:?}."),
        };
        let shown: Vec<_> = self
            .names
            .iter()
            .take(MAX_NAMES)
            .map(|name| format!("{:?}", String::from_utf8_lossy(name)))
            .collect();
        let ellipsis = if self.names.len() > MAX_NAMES { ", …" } else { "" };
        let hint = format!("The first line names the columns: {}{ellipsis}.", shown.join(", "));
        Err(CsvError::Header(message, hint))
    }
}
