//! Rows of CSV (RFC 4180) with the texts in one column. Only that column is kept in memory.

use memchr::{memchr, memchr3};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Fatal, Found, RecordCounter, Texts, read_texts};
use crate::errors;

/// The maximum number of bytes of a text. After a quote that is not closed, the rest of the file is
/// one field.
const LONGEST: usize = 64 << 20;

/// The maximum number of bytes of a header.
const LONGEST_HEADER: usize = 1 << 20;

/// The maximum number of header names that an error lists.
const NAMED: usize = 16;

/// The position of the next byte within a row.
#[derive(Clone, Copy, PartialEq)]
enum State {
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
    state: State,
    /// The names in the header, and the number of their bytes.
    names: Vec<Vec<u8>>,
    named: usize,
    /// The index of the column, and the number of columns; `None` before the end of the header.
    header: Option<(usize, usize)>,
    /// Of the current row: its offset, the offset of its last quote, the number of its fields so far,
    /// its text, and its error.
    begun: usize,
    quote: usize,
    fields: usize,
    text: Vec<u8>,
    wrong: Option<&'static str>,
    /// The number of bytes that were read.
    done: usize,
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
            state: State::Row,
            names: Vec::new(),
            named: 0,
            header: None,
            begun: 0,
            quote: 0,
            fields: 0,
            text: Vec::new(),
            wrong: None,
            done: 0,
            records: RecordCounter::new(wanted),
        }
    }

    /// The records that end in the next block.
    fn push<'py>(&mut self, py: Python<'py>, block: &Bound<'py, PyBytes>) -> PyResult<Found<'py>> {
        let bytes = block.as_bytes();
        let (texts, stop) = read_texts(py, |texts| self.read(bytes, texts));
        self.found(py, texts, stop)
    }

    /// The results at the end of the file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Found<'py>> {
        let (texts, stop) = read_texts(py, |texts| self.end(texts));
        self.found(py, texts, stop)
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
enum Stop {
    Fatal(Fatal),
    /// The header lacks the column: the message and the hint.
    Header(String, String),
}

impl CsvTexts {
    fn found<'py>(&self, py: Python<'py>, texts: Texts, stop: Option<Stop>) -> PyResult<Found<'py>> {
        let fatal = match stop {
            None => None,
            Some(Stop::Fatal(fatal)) => Some(fatal),
            Some(Stop::Header(message, hint)) => {
                return Err(errors::build(py, "OptionError", message, |places| {
                    places.set_item("value", &self.column)?;
                    places.set_item("hint", hint)
                }));
            }
        };
        texts.into_found(py, fatal)
    }

    /// Ends the last row, which need not end with a line break.
    fn end(&mut self, texts: &mut Texts) -> Result<(), Stop> {
        match self.state {
            State::Row => Ok(()),
            State::Quoted => {
                let reason = format!("the quote at byte {} is not closed.", self.quote);
                Err(self.fatal(reason))
            }
            _ => self.end_row(texts),
        }
    }

    fn fatal(&self, reason: String) -> Stop {
        Stop::Fatal((self.records.count, self.begun, reason))
    }

    fn read(&mut self, block: &[u8], texts: &mut Texts) -> Result<(), Stop> {
        let before = self.done;
        let mut at = 0;
        while at < block.len() {
            let byte = block[at];
            let offset = before + at;
            match self.state {
                State::Row if matches!(byte, b'\n' | b'\r') => at += 1,
                State::Row => {
                    self.begun = offset;
                    self.state = State::Field;
                    self.begin_field();
                }
                State::Field if byte == b'"' => {
                    self.quote = offset;
                    self.state = State::Quoted;
                    at += 1;
                }
                State::Field => self.state = State::Plain,
                State::Plain => {
                    let rest = &block[at..];
                    let len = memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
                    self.keep(&rest[..len])?;
                    at += len;
                    if let Some(&end) = block.get(at) {
                        self.end_field(end, texts)?;
                        at += 1;
                    }
                }
                State::Quoted => {
                    let rest = &block[at..];
                    let len = memchr(b'"', rest).unwrap_or(rest.len());
                    self.keep(&rest[..len])?;
                    at += len;
                    if at < block.len() {
                        self.state = State::Quote;
                        at += 1;
                    }
                }
                State::Quote if byte == b'"' => {
                    self.keep(b"\"")?;
                    self.state = State::Quoted;
                    at += 1;
                }
                State::Quote if byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    self.end_field(byte, texts)?;
                    at += 1;
                }
                State::Quote => {
                    self.wrong = Some("there is text after the closing quote of a field.");
                    self.state = State::Plain;
                }
            }
        }
        self.done = before + block.len();
        Ok(())
    }

    /// Stores bytes of a field if it is in the column or in the header.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let (name, maximum, length) = match self.header {
            None => {
                self.names.last_mut().expect("a field was begun").extend_from_slice(bytes);
                self.named += bytes.len();
                ("header", LONGEST_HEADER, self.named)
            }
            Some((column, _)) => {
                if self.fields == column + 1 {
                    self.text.extend_from_slice(bytes);
                }
                ("text of this record", LONGEST, self.text.len())
            }
        };
        if length > maximum {
            let quoted = matches!(self.state, State::Quoted | State::Quote);
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
            self.named += 1;
        }
    }

    /// Handles the end of a field: a delimiter, or the end of a line.
    fn end_field(&mut self, end: u8, texts: &mut Texts) -> Result<(), Stop> {
        if end == self.delimiter {
            self.state = State::Field;
            self.begin_field();
            if self.header.is_none() {
                self.keep(b"")?; // limits the number of names
            }
            return Ok(());
        }
        self.end_row(texts)
    }

    fn end_row(&mut self, texts: &mut Texts) -> Result<(), Stop> {
        let fields = std::mem::take(&mut self.fields);
        let wrong = self.wrong.take();
        self.state = State::Row;
        let Some((_, width)) = self.header else {
            self.header = Some((self.column_index()?, fields));
            return Ok(());
        };
        let reason = match wrong {
            Some(wrong) => Some(wrong.to_owned()),
            None if fields != width => {
                let s = if fields == 1 { "" } else { "s" };
                Some(format!("the row has {fields} field{s}, but the header has {width}."))
            }
            None => None,
        };
        match reason {
            Some(reason) => texts.fault(self.records.count, self.begun, (reason, None)),
            None => {
                texts.add(&self.text);
                texts.end_record(false);
            }
        }
        self.text.clear();
        self.records.add(self.begun);
        Ok(())
    }

    /// The index of the column in the header.
    fn column_index(&self) -> Result<usize, Stop> {
        let Some(column) = &self.column else { return Ok(usize::MAX - 1) }; // no row has that many fields
        let same = |name: &&Vec<u8>| name.as_slice() == column.as_bytes();
        let message = match self.names.iter().filter(same).count() {
            0 => format!("there is no column {column:?}."),
            1 => return Ok(self.names.iter().position(|name| same(&name)).expect("counted above")),
            several => format!("the header has {several} columns with the name {column:?}."),
        };
        let shown: Vec<_> = self
            .names
            .iter()
            .take(NAMED)
            .map(|name| format!("{:?}", String::from_utf8_lossy(name)))
            .collect();
        let more = if self.names.len() > NAMED { ", …" } else { "" };
        let hint = format!("The first line names the columns: {}{more}.", shown.join(", "));
        Err(Stop::Header(message, hint))
    }
}
