//! Values of JSON one after the other, or in one list: a file of JSON that is read in blocks.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::json;
use super::{Fatal, Found, RecordCounter, Texts, read_texts};

/// The position of the next byte within a file of JSON.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before anything.
    Start,
    /// Between values outside of a list.
    Between,
    /// In the list: after its opening bracket, after a comma, after a value.
    First,
    Next,
    AfterValue,
    /// After the end of the list.
    After,
    /// Within a value.
    Value,
}

/// The texts in a field of the records of a file of JSON; see the stub.
#[pyclass(module = "digram._core")]
pub(crate) struct JsonTexts {
    field: Vec<String>,
    state: State,
    listed: bool,
    /// The state of an incomplete value: its bytes in previous blocks, its offset, and at its last
    /// byte the nesting depth, whether it is in a string, and after a backslash.
    held: Vec<u8>,
    begun: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    scalar: bool,
    /// The number of bytes that were read.
    done: usize,
    records: RecordCounter,
}

#[pymethods]
impl JsonTexts {
    #[new]
    #[pyo3(signature = (field, wanted=0))]
    fn new(field: Vec<String>, wanted: usize) -> JsonTexts {
        JsonTexts {
            field,
            state: State::Start,
            listed: false,
            held: Vec::new(),
            begun: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            scalar: false,
            done: 0,
            records: RecordCounter::new(wanted),
        }
    }

    /// The records that end in the next block.
    fn push<'py>(&mut self, py: Python<'py>, block: &Bound<'py, PyBytes>) -> PyResult<Found<'py>> {
        let bytes = block.as_bytes();
        let (texts, fatal) = read_texts(py, |texts| self.read(bytes, texts));
        texts.into_found(py, fatal)
    }

    /// The results at the end of the file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Found<'py>> {
        let (texts, fatal) = read_texts(py, |texts| self.end(texts));
        texts.into_found(py, fatal)
    }

    /// The bytes of an incomplete record.
    #[getter]
    fn held(&self) -> usize {
        self.held.len()
    }

    /// The offset of the requested record.
    #[getter]
    fn place(&self) -> Option<usize> {
        self.records.offset
    }
}

impl JsonTexts {
    fn read(&mut self, block: &[u8], texts: &mut Texts) -> Result<(), Fatal> {
        let before = self.done;
        let mut from = 0; // of the value that is read, in the block
        let mut at = 0;
        while at < block.len() {
            let byte = block[at];
            if self.state != State::Value {
                self.done = before + at;
                if !byte.is_ascii_whitespace() && self.begins(byte)? {
                    from = at;
                    // A bracket or quote is passed; a number or word may end at its next byte.
                    at += usize::from(!self.scalar);
                } else {
                    at += 1;
                }
                continue;
            }
            let (read, ended) = self.scan(&block[at..], before + at)?;
            at += read;
            if ended {
                self.record(&block[from..at], texts);
            }
        }
        if self.state == State::Value {
            self.held.extend_from_slice(&block[from..]);
        }
        self.done = before + block.len();
        Ok(())
    }

    /// Reads a byte between values; returns whether a value begins with it.
    fn begins(&mut self, byte: u8) -> Result<bool, Fatal> {
        match (self.state, byte) {
            (State::Start, b'[') => {
                self.listed = true;
                self.state = State::First;
                return Ok(false);
            }
            (State::First | State::AfterValue, b']') => {
                self.state = State::After;
                return Ok(false);
            }
            (State::AfterValue, b',') => {
                self.state = State::Next;
                return Ok(false);
            }
            (State::AfterValue, _) => {
                return Err(self.fatal("a comma or the end of the list is missing here."));
            }
            (State::After, _) => return Err(self.fatal("there is more text after the end of the list.")),
            (_, b',' | b':' | b']' | b'}') => return Err(self.fatal("a record is missing here.")),
            _ => {}
        }
        self.begun = self.done;
        self.depth = usize::from(matches!(byte, b'{' | b'['));
        self.in_string = byte == b'"';
        self.escaped = false;
        self.scalar = self.depth == 0 && !self.in_string;
        self.state = State::Value;
        Ok(true)
    }

    /// The number of further bytes of the value, and whether it ends there.
    fn scan(&mut self, bytes: &[u8], offset: usize) -> Result<(usize, bool), Fatal> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.scalar {
                let ends = matches!(byte, b',' | b']' | b'}' | b'{' | b'[' | b'"');
                if ends || byte.is_ascii_whitespace() {
                    return Ok((at, true));
                }
            } else if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Ok((at + 1, true));
                        }
                    }
                    // Not allowed there; the rest cannot be divided into values.
                    b'\n' => {
                        self.done = offset + at;
                        return Err(self.fatal("a line ends within a string."));
                    }
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return Ok((at + 1, true));
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok((bytes.len(), false))
    }

    /// Reads the value that ends with these bytes.
    fn record(&mut self, end: &[u8], texts: &mut Texts) {
        let read = if self.held.is_empty() {
            json::read(end, &self.field, texts)
        } else {
            self.held.extend_from_slice(end);
            let value = std::mem::take(&mut self.held);
            json::read(&value, &self.field, texts)
        };
        if let Err(reason) = read {
            texts.fault(self.records.count, self.begun, reason);
        }
        self.records.add(self.begun);
        self.state = if self.listed { State::AfterValue } else { State::Between };
    }

    fn end(&mut self, texts: &mut Texts) -> Result<(), Fatal> {
        if self.state == State::Value && self.scalar && !self.listed {
            self.record(&[], texts);
        }
        match self.state {
            State::Start | State::Between | State::After => Ok(()),
            State::Value => {
                self.done = self.begun;
                Err(self.fatal("the file ends within the record that begins here."))
            }
            State::First | State::Next | State::AfterValue => {
                Err(self.fatal("the file ends before its list does."))
            }
        }
    }

    fn fatal(&self, reason: &str) -> Fatal {
        (self.records.count, self.done, reason.to_owned())
    }
}
