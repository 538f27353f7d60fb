//! The character properties that patterns can name, of one version of Unicode. They are
//! independent of the pattern parser's own tables, since ids depend on which characters are
//! letters.

mod tables;

use super::set::Set;

/// The characters of `\w`.
pub(super) fn word() -> Set {
    set(tables::WORD)
}

/// The characters of `\s`.
pub(super) fn space() -> Set {
    set(tables::SPACE)
}

/// The characters of `\d`.
pub(super) fn digit() -> Set {
    set(tables::DIGIT)
}

/// The characters of a general category, or of a property without a value, as ranges in order.
pub(crate) fn ranges(name: &str) -> Box<[(char, char)]> {
    match alone(name) {
        Ok(set) => set.ranges().into(),
        Err(_) => unreachable!("a name in the tables"),
    }
}

/// The same characters that a version of Unicode has.
pub(crate) fn ranges_of_age(name: &str, age: &str) -> Box<[(char, char)]> {
    match (alone(name), by_value("age", age)) {
        (Ok(set), Ok(assigned)) => set.intersection(&assigned).ranges().into(),
        _ => unreachable!("names in the tables"),
    }
}

/// The characters of `\w` as ranges in order.
pub(crate) fn word_ranges() -> Box<[(char, char)]> {
    word().ranges().into()
}

/// Whether ranges in order contain a character.
pub(crate) fn contains(ranges: &[(char, char)], c: char) -> bool {
    let range = ranges.partition_point(|&(_, last)| last < c);
    ranges.get(range).is_some_and(|&(first, _)| first <= c)
}

/// The unknown part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Property,
    Value,
}

/// The characters of a property without a value, or of a general category or script.
pub(super) fn alone(name: &str) -> Result<Set, Unknown> {
    find(tables::ALONE, &plain(name)).map(set).ok_or(Unknown::Property)
}

/// The characters for which a property has a value.
pub(super) fn by_value(property: &str, value: &str) -> Result<Set, Unknown> {
    let values = find(tables::BY_VALUE, &plain(property)).ok_or(Unknown::Property)?;
    let number = find(values, &plain(value)).ok_or(Unknown::Value)?;
    if usize::from(number) >= tables::AGES {
        return Ok(set(number));
    }
    // A version includes the characters of all earlier ones.
    Ok(Set::new((0..=number).flat_map(|age| set(age).ranges().to_vec()).collect()))
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.binary_search_by_key(&name, |&(key, _)| key).ok().map(|index| table[index].1)
}

/// A name normalized for comparison: without case, spaces, hyphens, underscores and a leading `has_is_prefix`.
/// So `\p{Is_Greek}` is `\p{greek}`.
fn plain(name: &str) -> String {
    let bytes = name.as_bytes();
    let has_is_prefix = bytes.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"is"));
    let rest = if has_is_prefix { &bytes[2..] } else { bytes };
    let letters = rest.iter().filter(|byte| byte.is_ascii() && !b" _-".contains(byte));
    let plain: String = letters.map(|byte| byte.to_ascii_lowercase() as char).collect();
    // `isc` is the name of a property, not the category C with `has_is_prefix` before it.
    if has_is_prefix && plain == "c" { "isc".into() } else { plain }
}

/// The set with this index, decoded from the generator's format.
fn set(index: u16) -> Set {
    let mut numbers = EncodedNumbers(tables::SETS[usize::from(index)].bytes());
    let (mut ranges, mut end) = (Vec::new(), 0);
    while let Some(gap) = numbers.next() {
        let first = end + gap;
        end = first + numbers.next().expect("two numbers a range");
        ranges.push((character(first), character(end - 1)));
    }
    Set::new(ranges)
}

fn character(code: u32) -> char {
    char::from_u32(code).expect("a character")
}

/// Pairs of characters that differ only in case: each character with each of its other forms, in
/// order.
pub(super) struct Case(Vec<(char, char)>);

impl Case {
    /// The steps counted for making the table.
    pub(super) const STEPS: usize = 1 << 13;

    pub(super) fn new() -> Case {
        let mut numbers = EncodedNumbers(tables::CASE.bytes());
        let (mut pairs, mut code) = (Vec::new(), 0);
        while let Some(difference) = numbers.next() {
            code += difference;
            let distance = numbers.next().expect("two numbers a pair");
            let other = if distance.is_multiple_of(2) { code + distance / 2 } else { code - distance / 2 };
            pairs.push((character(code), character(other)));
        }
        Case(pairs)
    }

    /// The other forms of the characters of a set.
    pub(super) fn others(&self, set: &Set) -> impl Iterator<Item = char> {
        set.ranges().iter().flat_map(|&(first, last)| {
            let start = self.0.partition_point(|&(c, _)| c < first);
            let count = self.0[start..].partition_point(|&(c, _)| c <= last);
            self.0[start..start + count].iter().map(|&(_, other)| other)
        })
    }
}

/// Numbers in digits of five bits, lowest first.
struct EncodedNumbers<I>(I);

impl<I: Iterator<Item = u8>> Iterator for EncodedNumbers<I> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let digit = u32::from(self.0.next()? - b'0');
            number |= (digit & 31) << shift;
            if digit < 32 {
                return Some(number);
            }
            shift += 5;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    /// The set of a pattern by the tables of regex-syntax.
    fn set_of_regex_syntax(pattern: &str) -> Option<Set> {
        match regex_syntax::parse(pattern).ok()?.into_kind() {
            HirKind::Class(Class::Unicode(set)) => {
                Some(Set::new(set.iter().map(|range| (range.start(), range.end())).collect()))
            }
            HirKind::Class(Class::Bytes(set)) if set.ranges().is_empty() => Some(Set::default()),
            HirKind::Literal(text) => Some(Set::one(std::str::from_utf8(&text.0).ok()?.chars().next()?)),
            other => panic!("{pattern}: {other:?}"),
        }
    }

    /// Whether the tables of regex-syntax are of a later version.
    fn regex_syntax_is_later() -> bool {
        regex_syntax::parse(r"\p{age=17.0}").is_ok()
    }

    #[test]
    fn every_name_has_the_characters_that_regex_syntax_gives_it() {
        if regex_syntax_is_later() {
            return;
        }
        for &(name, _) in tables::ALONE {
            assert_eq!(alone(name).ok(), set_of_regex_syntax(&format!(r"\p{{{name}}}")), "{name}");
        }
        for &(property, values) in tables::BY_VALUE {
            for &(value, _) in values {
                let expected = set_of_regex_syntax(&format!(r"\p{{{property}={value}}}"));
                assert_eq!(by_value(property, value).ok(), expected, "{property}={value}");
            }
        }
        let classes = [(word(), r"\w"), (space(), r"\s"), (digit(), r"\d")];
        for (ours, pattern) in classes {
            assert_eq!(Some(ours), set_of_regex_syntax(pattern), "{pattern}");
        }
    }

    /// Also tries all names of up to three letters.
    #[test]
    fn no_name_is_missing() {
        if regex_syntax_is_later() {
            return;
        }
        let letters = || ('a'..='z').map(String::from).chain([String::new()]);
        let two = || letters().flat_map(|first| letters().map(move |second| first.clone() + &second));
        for name in two().flat_map(|two| letters().map(move |third| two.clone() + &third)) {
            if name.is_empty() || alone(&name).is_ok() {
                continue;
            }
            assert!(regex_syntax::parse(&format!(r"\p{{{name}}}")).is_err(), "{name}");
        }
        for &(property, values) in tables::BY_VALUE {
            for &(value, _) in tables::ALONE.iter().chain(values).chain(&[("cs", 0), ("hrkt", 0), ("y", 0)]) {
                let ours = by_value(property, value).is_ok();
                let pattern = format!(r"\p{{{property}={value}}}");
                assert_eq!(ours, regex_syntax::parse(&pattern).is_ok(), "{pattern}");
                let alone_too = format!(r"\p{{{property}}}");
                assert_eq!(alone(property).is_ok(), regex_syntax::parse(&alone_too).is_ok(), "{property}");
            }
        }
    }

    #[test]
    fn names_may_be_written_in_many_ways() {
        for (name, same) in
            [("Is_Greek", "greek"), ("white SPACE", "space"), ("Old-Italic", "ital"), ("é_L", "L")]
        {
            assert_eq!(alone(name), alone(same), "{name}");
            assert!(alone(name).is_ok(), "{name}");
        }
        assert_eq!(alone("isc"), Err(Unknown::Property));
        assert_eq!(by_value("gc", "x"), Err(Unknown::Value));
        assert_eq!(by_value("x", "L"), Err(Unknown::Property));
        assert_eq!(by_value("Age", "V3_0"), by_value("age", "3.0"));
    }

    #[test]
    fn every_character_has_the_other_forms_that_regex_syntax_gives_it() {
        if regex_syntax_is_later() {
            return;
        }
        let case = Case::new();
        for c in ('\0'..=char::MAX).filter(|c| !c.is_ascii_punctuation()) {
            let mut forms: Vec<(char, char)> =
                case.others(&Set::one(c)).map(|other| (other, other)).collect();
            // Skip characters without other forms in the standard library too: these are most.
            if forms.is_empty() && c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]) {
                continue;
            }
            forms.push((c, c));
            assert_eq!(set_of_regex_syntax(&format!("(?i){c}")), Some(Set::new(forms)), "{c:?}");
        }
    }

    #[test]
    fn the_version_is_16() {
        let count =
            |set: Set| set.ranges().iter().map(|&(first, last)| (first..=last).count()).sum::<usize>();
        assert_eq!(count(alone("L").unwrap()), 141_028);
        // The assigned characters, and 66 noncharacters.
        assert_eq!(count(by_value("age", "16.0").unwrap()), count(alone("assigned").unwrap()) + 66);
        assert_eq!(by_value("age", "17.0"), Err(Unknown::Value));
    }
}
