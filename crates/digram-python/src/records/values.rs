//! Reading JSON values in blocks: values one after the other, or one list of values.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::json;
use super::{Fatal, ReadResult, RecordCounter, Texts, read_texts};

/// The position of the next byte within a file of JSON.
#[derive(Clone, Copy, PartialEq)]
enum JsonState {
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
    state: JsonState,
    is_list: bool,
    /// The state of an incomplete value: its bytes in previous blocks, its offset, and at its last
    /// byte the nesting depth, whether it is in a string, and after a backslash.
    partial: Vec<u8>,
    value_start: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    scalar: bool,
    /// The number of bytes that were read.
    offset: usize,
    records: RecordCounter,
}

#[pymethods]
impl JsonTexts {
    #[new]
    #[pyo3(signature = (field, wanted=0))]
    fn new(field: Vec<String>, wanted: usize) -> JsonTexts {
        JsonTexts {
            field,
            state: JsonState::Start,
            is_list: false,
            partial: Vec::new(),
            value_start: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            scalar: false,
            offset: 0,
            records: RecordCounter::new(wanted),
        }
    }

    /// The records that end in the next block.
    fn push<'py>(&mut self, py: Python<'py>, block: &Bound<'py, PyBytes>) -> PyResult<ReadResult<'py>> {
        let bytes = block.as_bytes();
        let (texts, fatal) = read_texts(py, |texts| self.read(bytes, texts));
        texts.into_result(py, fatal)
    }

    /// The results at the end of the file.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<ReadResult<'py>> {
        let (texts, fatal) = read_texts(py, |texts| self.end(texts));
        texts.into_result(py, fatal)
    }

    /// The bytes of an incomplete record.
    #[getter]
    fn held(&self) -> usize {
        self.partial.len()
    }

    /// The offset of the requested record.
    #[getter]
    fn place(&self) -> Option<usize> {
        self.records.offset
    }
}

impl JsonTexts {
    fn read(&mut self, block: &[u8], texts: &mut Texts) -> Result<(), Fatal> {
        let block_start = self.offset;
        let mut start = 0; // of the current value, in the block
        let mut position = 0;
        while position < block.len() {
            let byte = block[position];
            if self.state != JsonState::Value {
                self.offset = block_start + position;
                if !byte.is_ascii_whitespace() && self.begins(byte)? {
                    start = position;
                    // A bracket or quote is passed; a number or word may end at its next byte.
                    position += usize::from(!self.scalar);
                } else {
                    position += 1;
                }
                continue;
            }
            let (len, is_complete) = self.scan(&block[position..], block_start + position)?;
            position += len;
            if is_complete {
                self.record(&block[start..position], texts);
            }
        }
        if self.state == JsonState::Value {
            self.partial.extend_from_slice(&block[start..]);
        }
        self.offset = block_start + block.len();
        Ok(())
    }

    /// Reads a byte between values; returns whether a value begins with it.
    fn begins(&mut self, byte: u8) -> Result<bool, Fatal> {
        match (self.state, byte) {
            (JsonState::Start, b'[') => {
                self.is_list = true;
                self.state = JsonState::First;
                return Ok(false);
            }
            (JsonState::First | JsonState::AfterValue, b']') => {
                self.state = JsonState::After;
                return Ok(false);
            }
            (JsonState::AfterValue, b',') => {
                self.state = JsonState::Next;
                return Ok(false);
            }
            (JsonState::AfterValue, _) => {
                return Err(self.fatal("a comma or the end of the list is missing here."));
            }
            (JsonState::After, _) => return Err(self.fatal("there is more text after the end of the list.")),
            (_, b',' | b':' | b']' | b'}') => return Err(self.fatal("a record is missing here.")),
            _ => {}
        }
        self.value_start = self.offset;
        self.depth = usize::from(matches!(byte, b'{' | b'['));
        self.in_string = byte == b'"';
        self.escaped = false;
        self.scalar = self.depth == 0 && !self.in_string;
        self.state = JsonState::Value;
        Ok(true)
    }

    /// The number of further bytes of the value, and whether it ends there.
    fn scan(&mut self, bytes: &[u8], offset: usize) -> Result<(usize, bool), Fatal> {
        for (index, &byte) in bytes.iter().enumerate() {
            if self.scalar {
                let ends = matches!(byte, b',' | b']' | b'}' | b'{' | b'[' | b'"');
                if ends || byte.is_ascii_whitespace() {
                    return Ok((index, true));
                }
            } else if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Ok((index + 1, true));
                        }
                    }
                    // Not allowed there; the rest cannot be divided into values.
                    b'\n' => {
                        self.offset = offset + index;
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
                            return Ok((index + 1, true));
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
        let read = if self.partial.is_empty() {
            json::read(end, &self.field, texts)
        } else {
            self.partial.extend_from_slice(end);
            let value = std::mem::take(&mut self.partial);
            json::read(&value, &self.field, texts)
        };
        if let Err(reason) = read {
            texts.fault(self.records.count, self.value_start, reason);
        }
        self.records.add(self.value_start);
        self.state = if self.is_list { JsonState::AfterValue } else { JsonState::Between };
    }

    fn end(&mut self, texts: &mut Texts) -> Result<(), Fatal> {
        if self.state == JsonState::Value && self.scalar && !self.is_list {
            self.record(&[], texts);
        }
        match self.state {
            JsonState::Start | JsonState::Between | JsonState::After => Ok(()),
            JsonState::Value => {
                self.offset = self.value_start;
                Err(self.fatal("the file ends within the record that begins here."))
            }
            JsonState::First | JsonState::Next | JsonState::AfterValue => {
                Err(self.fatal("the file ends before its list does."))
            }
        }
    }

    fn fatal(&self, reason: &str) -> Fatal {
        (self.records.count, self.offset, reason.to_owned())
    }
}
