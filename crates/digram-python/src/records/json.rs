//! A field of a record of JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Reason, Texts};

/// The maximum nesting depth; other JSON readers have a limit as well.
const MAX_DEPTH: usize = 64;

/// The maximum number of field names that an error lists.
const MAX_NAMES: usize = 8;

/// Adds the texts of a record's field, or returns the reason why it has none.
pub(super) fn read(line: &[u8], field: &[String], texts: &mut Texts) -> Result<(), Reason> {
    let start = texts.len();
    let read = read_field(line, field, texts);
    match read {
        Ok(listed) => texts.end_record(listed),
        Err(_) => texts.truncate(start),
    }
    read.map(|_| ())
}

/// Adds the texts of a record, and returns whether they are in a list.
fn read_field(line: &[u8], field: &[String], texts: &mut Texts) -> Result<bool, Reason> {
    let json = std::str::from_utf8(line)
        .map_err(|error| (format!("the record is not UTF-8 at byte {}.", error.valid_up_to()), None))?;
    if is_deep(line) {
        return Err((format!("the record is nested more than {MAX_DEPTH} levels deep."), None));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let mut items = Vec::new();
    let value = FieldVisitor { path: field, depth: 0, texts, items: &mut items }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| {
            let detail = error.to_string();
            // serde_json gives these two messages for lone surrogates only.
            let is_lone_surrogate =
                detail.starts_with("lone leading surrogate") || detail.starts_with("unexpected end of hex");
            let reason = if is_lone_surrogate {
                "the record has a lone surrogate, which is not a character."
            } else {
                "invalid JSON."
            };
            (reason.to_owned(), Some(detail))
        })?;
    let name = |remaining: usize| field_path(&field[..field.len() - remaining], &items);
    let reason = match value {
        FieldValue::Text => return Ok(false),
        FieldValue::Texts => return Ok(true),
        FieldValue::Missing { remaining } if remaining == field.len() => {
            format!("there is no field {:?}{}", name(remaining - 1), names(json))
        }
        FieldValue::Missing { remaining } => format!("there is no field {:?}.", name(remaining - 1)),
        FieldValue::Other { remaining: 0, kind } => {
            format!("the field {:?} is {kind}, not a string.", name(0))
        }
        FieldValue::Other { remaining, kind } if remaining == field.len() => {
            format!("the record is {kind}, not an object.")
        }
        FieldValue::Other { remaining, kind } => {
            format!("the field {:?} is {kind}, not an object.", name(remaining))
        }
        FieldValue::Empty { remaining } => format!("the list {:?} is empty.", name(remaining)),
    };
    Err((reason, None))
}

/// The path of a field, with the index of items in lists: `messages[2].content`.
fn field_path(parts: &[String], items: &[(usize, usize)]) -> String {
    let mut name = String::new();
    for (depth, part) in parts.iter().enumerate() {
        name += if depth == 0 { "" } else { "." };
        name += part;
        for (_, item) in items.iter().rev().filter(|(item_depth, _)| *item_depth == depth + 1) {
            name += &format!("[{item}]");
        }
    }
    name
}

/// Whether a record is nested more than `MAX_DEPTH` levels deep. Most records have no more brackets than
/// that, so that counting them is enough.
fn is_deep(line: &[u8]) -> bool {
    let brackets = line.iter().filter(|&&byte| byte == b'{' || byte == b'[').count();
    if brackets <= MAX_DEPTH {
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
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The end of a message about a missing field: the names of the fields that the record has.
fn names(json: &str) -> String {
    let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(json).unwrap_or_default();
    if fields.is_empty() {
        return ".".into();
    }
    let shown: Vec<_> = fields.keys().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
    format!("; the record has {}{}.", shown.join(", "), if fields.len() > MAX_NAMES { ", …" } else { "" })
}

/// What was found at a path. `remaining` is the number of parts of the path that follow the place where the
/// search ended.
enum FieldValue {
    Text,
    /// The texts of the items of a list.
    Texts,
    Missing {
        remaining: usize,
    },
    Other {
        remaining: usize,
        kind: &'static str,
    },
    Empty {
        remaining: usize,
    },
}

impl FieldValue {
    fn is_text(&self) -> bool {
        matches!(self, FieldValue::Text | FieldValue::Texts)
    }
}

/// Finds the field at a path, skips everything else, and adds the field's text, or the texts of the items
/// of its list. If a name is repeated in an object, the last value is used, as in parsers that make
/// a dictionary.
struct FieldVisitor<'a> {
    /// The parts of the path that remain.
    path: &'a [String],
    /// The number of parts of the path used so far.
    depth: usize,
    texts: &'a mut Texts,
    /// The list items that contain the fault, innermost first: the number of parts of the path that
    /// lead to the list, and the index of the item.
    items: &'a mut Vec<(usize, usize)>,
}

impl FieldVisitor<'_> {
    fn other<E>(&self, kind: &'static str) -> Result<FieldValue, E> {
        Ok(FieldValue::Other { remaining: self.path.len(), kind })
    }
}

impl<'de> DeserializeSeed<'de> for FieldVisitor<'_> {
    type Value = FieldValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FieldValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldVisitor<'_> {
    type Value = FieldValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<FieldValue, E> {
        if !self.path.is_empty() {
            return self.other("a string");
        }
        self.texts.add(text.as_bytes());
        Ok(FieldValue::Text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldValue, A::Error> {
        let Some((name, rest)) = self.path.split_first() else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return self.other("an object");
        };
        let start = self.texts.len();
        let mut value = FieldValue::Missing { remaining: self.path.len() };
        while let Some(is_name) = map.next_key_seed(NameIs(name))? {
            if is_name {
                self.texts.truncate(start);
                self.items.clear();
                let depth = self.depth + 1;
                let (texts, items) = (&mut *self.texts, &mut *self.items);
                value = map.next_value_seed(FieldVisitor { path: rest, depth, texts, items })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<FieldValue, A::Error> {
        let (mut value, mut item) = (FieldValue::Empty { remaining: self.path.len() }, 0);
        // If the record itself is a list, no path leads to its items, which are skipped below.
        while self.depth > 0 && (value.is_text() || item == 0) {
            let (path, depth) = (self.path, self.depth);
            let (texts, items) = (&mut *self.texts, &mut *self.items);
            let Some(next) = sequence.next_element_seed(FieldVisitor { path, depth, texts, items })? else {
                return Ok(value);
            };
            value = if next.is_text() { FieldValue::Texts } else { next };
            if !value.is_text() {
                self.items.push((self.depth, item));
            }
            item += 1;
        }
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        if self.depth == 0 { self.other("an array") } else { Ok(value) }
    }

    fn visit_unit<E>(self) -> Result<FieldValue, E> {
        self.other("null")
    }

    fn visit_bool<E>(self, _: bool) -> Result<FieldValue, E> {
        self.other("true or false")
    }

    fn visit_u64<E>(self, _: u64) -> Result<FieldValue, E> {
        self.other("a number")
    }

    fn visit_i64<E>(self, _: i64) -> Result<FieldValue, E> {
        self.other("a number")
    }

    fn visit_f64<E>(self, _: f64) -> Result<FieldValue, E> {
        self.other("a number")
    }
}

/// Deserializes the name of a field: true if it is this one.
struct NameIs<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for NameIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameIs<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}
