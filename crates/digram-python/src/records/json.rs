//! A field of a record of JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Reason, Texts};

/// The maximum nesting depth; other JSON readers have a limit as well.
const DEEPEST: usize = 64;

/// The maximum number of a record's names that an error lists.
const NAMED: usize = 8;

/// Adds the texts of a record's field, or returns the reason why it has none.
pub(super) fn read(line: &[u8], field: &[String], texts: &mut Texts) -> Result<(), Reason> {
    let begun = texts.len();
    let read = of_field(line, field, texts);
    match read {
        Ok(listed) => texts.end_record(listed),
        Err(_) => texts.truncate(begun),
    }
    read.map(|_| ())
}

/// Adds the texts of a record, and returns whether they are in a list.
fn of_field(line: &[u8], field: &[String], texts: &mut Texts) -> Result<bool, Reason> {
    let json = std::str::from_utf8(line)
        .map_err(|error| (format!("the record is not UTF-8 at byte {}.", error.valid_up_to()), None))?;
    if is_deep(line) {
        return Err((format!("the record is nested more than {DEEPEST} levels deep."), None));
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let mut places = Vec::new();
    let found = Sought { path: field, depth: 0, texts, places: &mut places }
        .deserialize(&mut deserializer)
        .and_then(|found| deserializer.end().map(|()| found))
        .map_err(|error| {
            let detail = error.to_string();
            // These two messages are only about surrogates.
            let lone =
                detail.starts_with("lone leading surrogate") || detail.starts_with("unexpected end of hex");
            let reason = if lone {
                "the record has a lone surrogate, which is not a character."
            } else {
                "invalid JSON."
            };
            (reason.to_owned(), Some(detail))
        })?;
    let name = |left: usize| named(&field[..field.len() - left], &places);
    let reason = match found {
        Found::Text => return Ok(false),
        Found::Texts => return Ok(true),
        Found::Missing { left } if left == field.len() => {
            format!("there is no field {:?}{}", name(left - 1), names(json))
        }
        Found::Missing { left } => format!("there is no field {:?}.", name(left - 1)),
        Found::Other { left: 0, kind } => format!("the field {:?} is {kind}, not a string.", name(0)),
        Found::Other { left, kind } if left == field.len() => {
            format!("the record is {kind}, not an object.")
        }
        Found::Other { left, kind } => format!("the field {:?} is {kind}, not an object.", name(left)),
        Found::Empty { left } => format!("the list {:?} is empty.", name(left)),
    };
    Err((reason, None))
}

/// The path of a field, with the index of items in lists: `messages[2].content`.
fn named(parts: &[String], places: &[(usize, usize)]) -> String {
    let mut name = String::new();
    for (depth, part) in parts.iter().enumerate() {
        name += if depth == 0 { "" } else { "." };
        name += part;
        for (_, item) in places.iter().rev().filter(|(at, _)| *at == depth + 1) {
            name += &format!("[{item}]");
        }
    }
    name
}

/// Whether a record is nested deeper than allowed. Most records have fewer brackets than that.
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

/// The end of a message about a missing field: the names that the record has.
fn names(json: &str) -> String {
    let found: BTreeMap<String, IgnoredAny> = serde_json::from_str(json).unwrap_or_default();
    if found.is_empty() {
        return ".".into();
    }
    let shown: Vec<_> = found.keys().take(NAMED).map(|name| format!("{name:?}")).collect();
    format!("; the record has {}{}.", shown.join(", "), if found.len() > NAMED { ", …" } else { "" })
}

/// The value found instead of a text; `left` parts of the field's name were not used.
enum Found {
    Text,
    /// The texts of the items of a list.
    Texts,
    Missing {
        left: usize,
    },
    Other {
        left: usize,
        kind: &'static str,
    },
    Empty {
        left: usize,
    },
}

impl Found {
    fn is_text(&self) -> bool {
        matches!(self, Found::Text | Found::Texts)
    }
}

/// Finds the field with a name, skips everything else, and adds its text, or the texts of the items
/// of a list. The last of repeated names wins, as in all parsers that make a dictionary.
struct Sought<'a> {
    path: &'a [String],
    /// The number of parts of the name used so far.
    depth: usize,
    texts: &'a mut Texts,
    /// The list items that contain the fault, innermost first: the number of parts of the name that
    /// lead to the list, and the index of the item.
    places: &'a mut Vec<(usize, usize)>,
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
        self.texts.add(text.as_bytes());
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
                self.places.clear();
                let depth = self.depth + 1;
                let (texts, places) = (&mut *self.texts, &mut *self.places);
                found = map.next_value_seed(Sought { path: rest, depth, texts, places })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Found, A::Error> {
        let (mut found, mut item) = (Found::Empty { left: self.path.len() }, 0);
        // The items of a record that is a list have no name.
        while self.depth > 0 && (found.is_text() || item == 0) {
            let (path, depth) = (self.path, self.depth);
            let (texts, places) = (&mut *self.texts, &mut *self.places);
            let Some(next) = items.next_element_seed(Sought { path, depth, texts, places })? else {
                return Ok(found);
            };
            found = if next.is_text() { Found::Texts } else { next };
            if !found.is_text() {
                self.places.push((self.depth, item));
            }
            item += 1;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        if self.depth == 0 { self.other("an array") } else { Ok(found) }
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
