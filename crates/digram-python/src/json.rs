//! A field of each record in lines of JSON.

use std::collections::BTreeMap;
use std::fmt;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Nothing that is meant is nested deeper, and readers of others stop at some depth as well.
const DEEPEST: usize = 64;

/// Names that an error lists of those that a record has.
const NAMED: usize = 8;

/// What is wrong with a record: texts before it, its number, where it begins, why, and the parser's
/// own words.
type Fault = (usize, usize, usize, String, Option<String>);

/// The number of records in whole lines, the texts that they have in a field, and what is wrong with
/// the others; see the stub.
#[pyfunction]
pub(crate) fn json_texts<'py>(
    py: Python<'py>,
    lines: &Bound<'py, PyBytes>,
    field: Vec<String>,
) -> PyResult<(usize, Bound<'py, PyList>, Vec<Fault>)> {
    let lines = lines.as_bytes();
    let (texts, ends, faults, records) = py.detach(|| read(lines, &field));
    let mut start = 0;
    let list = PyList::empty(py);
    for end in ends {
        list.append(PyBytes::new(py, &texts[start..end]))?;
        start = end;
    }
    Ok((records, list, faults))
}

fn read(lines: &[u8], field: &[String]) -> (Vec<u8>, Vec<usize>, Vec<Fault>, usize) {
    let (mut texts, mut ends, mut faults) = (Vec::with_capacity(lines.len()), Vec::new(), Vec::new());
    let (mut records, mut next) = (0, 0);
    while next < lines.len() {
        let start = next;
        let len = lines[start..].iter().position(|&byte| byte == b'\n').unwrap_or(lines.len() - start);
        next = start + len + 1;
        let line = &lines[start..start + len];
        if line.trim_ascii().is_empty() {
            continue;
        }
        let before = texts.len();
        match text_of(line, field, &mut texts) {
            Ok(()) => ends.push(texts.len()),
            Err((reason, detail)) => {
                texts.truncate(before);
                faults.push((ends.len(), records, start, reason, detail));
            }
        }
        records += 1;
    }
    (texts, ends, faults, records)
}

/// Appends the text that a record has in a field, or says why it has none.
fn text_of(line: &[u8], field: &[String], texts: &mut Vec<u8>) -> Result<(), (String, Option<String>)> {
    let json = std::str::from_utf8(line)
        .map_err(|error| (format!("no UTF-8 at byte {} of the record.", error.valid_up_to()), None))?;
    if is_deep(line) {
        return Err((format!("the record is nested more than {DEEPEST} deep."), None));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = Sought { path: field, texts }
        .deserialize(&mut deserializer)
        .and_then(|found| deserializer.end().map(|()| found))
        .map_err(|error| {
            let detail = error.to_string();
            // These two are said of surrogates alone.
            let lone =
                detail.starts_with("lone leading surrogate") || detail.starts_with("unexpected end of hex");
            let reason = if lone { "a lone surrogate, which is no character." } else { "invalid JSON." };
            (reason.to_owned(), Some(detail))
        })?;
    let name = |left: usize| field[..field.len() - left].join(".");
    let reason = match found {
        Found::Text => return Ok(()),
        Found::Missing { left } if left == field.len() => {
            format!("there is no field {:?}{}.", name(left - 1), names(json))
        }
        Found::Missing { left } => format!("there is no field {:?}.", name(left - 1)),
        Found::Other { left: 0, kind } => format!("the field {:?} is {kind}, not a string.", name(0)),
        Found::Other { left, kind } if left == field.len() => {
            format!("the record is {kind}, not an object.")
        }
        Found::Other { left, kind } => format!("the field {:?} is {kind}, not an object.", name(left)),
    };
    Err((reason, None))
}

/// Whether something is nested deeper than allowed. Most records have fewer brackets than that.
fn is_deep(line: &[u8]) -> bool {
    let opening = line.iter().filter(|&&byte| byte == b'{' || byte == b'[').count();
    if opening <= DEEPEST {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The names that a record has, for a message.
fn names(json: &str) -> String {
    let found: BTreeMap<String, IgnoredAny> = serde_json::from_str(json).unwrap_or_default();
    if found.is_empty() {
        return String::new();
    }
    let shown: Vec<_> = found.keys().take(NAMED).map(|name| format!("{name:?}")).collect();
    format!(" beside {}{}", shown.join(", "), if found.len() > NAMED { ", …" } else { "" })
}

/// What was found in place of a text; `left` of the parts of the field's name were not used.
enum Found {
    Text,
    Missing { left: usize },
    Other { left: usize, kind: &'static str },
}

/// Looks for the field of a name, passes by all else, and appends its text. Of repeated names the
/// last one wins, as with all parsers that make a dictionary.
struct Sought<'a> {
    path: &'a [String],
    texts: &'a mut Vec<u8>,
}

impl Sought<'_> {
    fn other<E>(&self, kind: &'static str) -> Result<Found, E> {
        Ok(Found::Other { left: self.path.len(), kind })
    }
}

impl<'de> DeserializeSeed<'de> for Sought<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sought<'_> {
    type Value = Found;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Found, E> {
        if !self.path.is_empty() {
            return self.other("a string");
        }
        self.texts.extend_from_slice(text.as_bytes());
        Ok(Found::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let Some((name, rest)) = self.path.split_first() else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return self.other("an object");
        };
        let start = self.texts.len();
        let mut found = Found::Missing { left: self.path.len() };
        while let Some(is_it) = map.next_key_seed(Is(name))? {
            if is_it {
                self.texts.truncate(start);
                found = map.next_value_seed(Sought { path: rest, texts: self.texts })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Found, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        self.other("an array")
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        self.other("null")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Found, E> {
        self.other("true or false")
    }

    fn visit_u64<E>(self, _: u64) -> Result<Found, E> {
        self.other("a number")
    }

    fn visit_i64<E>(self, _: i64) -> Result<Found, E> {
        self.other("a number")
    }

    fn visit_f64<E>(self, _: f64) -> Result<Found, E> {
        self.other("a number")
    }
}

/// Whether a name is this one.
struct Is<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}
