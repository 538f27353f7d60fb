//! Rules split pieces off a text before any other pretokenizer, and later splits keep them whole:
//! terms, units after a number, matches of patterns, whole numbers. At each position the longest
//! term is tried, then the longest unit, then a match of each pattern, then a number; the first
//! match is a piece, and the search continues after it. No match begins or ends inside a word.
//! `python/digram/reference/rules.py` is the definition.

use std::iter::once;
use std::ops::ControlFlow;

use hashbrown::HashSet;

use super::after::{ClassBits, states_after};
use super::alphabet::Alphabet;
use super::automaton::{Automaton, DEAD, Notes};
use super::borders::Between;
use super::effort::{Effort, Stopped};
use super::set::Set;
use super::unicode;
use super::{ASCII_PAIRS, PAUSE_INTERVAL};
use crate::error::Result;
use crate::trie::Trie;
use crate::utf8::{decode, is_inside};

/// The rules that apply to a text before any other split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Texts that are pieces, together with the space before them if there is one.
    pub terms: Vec<String>,
    /// Texts that are pieces after a number, also with one of [`SEPARATORS`] in between.
    pub units: Vec<String>,
    /// Regexes whose matches are pieces. They must not look behind.
    pub patterns: Vec<String>,
    /// Whether numbers are pieces with their decimals: `1,234.5`.
    pub whole_numbers: bool,
    /// Whether numbers are split off, here or by the next split, so that other matches may be
    /// directly beside a number.
    pub numbers: bool,
    /// Whether up to [`MOST_BLANKS`] of [`BLANKS`] may stand between a number and its unit.
    pub blanks: bool,
}

/// Characters allowed between a number and its unit: spaces, including non-breaking and thin ones,
/// and hyphens.
pub const SEPARATORS: [char; 7] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '-', '\u{2010}', '\u{2011}'];

/// Those of [`SEPARATORS`] that are spaces.
pub const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{2009}', '\u{202f}'];

/// The most spaces between a number and its unit, if several are allowed.
pub const MOST_BLANKS: usize = 8;

/// The kind of rule that matched a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleMatch {
    /// One of the terms.
    Term,
    /// A unit after a number.
    Unit,
    /// A match of the pattern of this number.
    Pattern(usize),
    /// A whole number.
    Number,
}

/// The kinds of characters that rules distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharKind {
    /// `\p{L}` or `\p{M}`
    Letter,
    /// `\p{N}`
    Number,
    Other,
}

/// The characters of the first two kinds.
fn kinds() -> [Set; 2] {
    let category = |name| unicode::alone(name).expect("a general category");
    [category("L").union(&category("M")), category("N")]
}

/// The start of a possible match.
#[derive(Clone, Copy)]
struct Place {
    position: usize,
    /// The character there, and its kind.
    c: char,
    kind: CharKind,
    before: CharBefore,
}

/// The character before a position.
#[derive(Clone, Copy)]
struct CharBefore {
    kind: CharKind,
    /// Whether it is a separator after a number.
    separates: bool,
    /// Whether it is one of several blanks allowed between a number and its unit.
    in_blanks: bool,
}

/// Compiled rules.
pub(super) struct RuleFinder {
    kinds: Alphabet,
    ascii: [CharKind; 128],
    terms: Trie,
    units: Trie,
    patterns: Vec<Automaton>,
    /// For each pattern and two classes of its characters: whether a match that has read the first
    /// may depend on the second.
    spans: Vec<Vec<bool>>,
    /// Neighbours inside a term or unit.
    inside: HashSet<(char, char)>,
    whole_numbers: bool,
    numbers: bool,
    blanks: bool,
}

impl RuleFinder {
    pub(super) fn new(rules: &Rules, effort: &mut Effort) -> Result<RuleFinder> {
        let compile = |pattern: &String| {
            // `between_two` is later called for all pairs of ASCII characters.
            effort.after(ASCII_PAIRS).map_err(|stopped| stopped.at(pattern))?;
            let automaton = Automaton::new(pattern, effort)?;
            if automaton.looks_behind() {
                let reason = "a rule cannot look behind, and needs no \\b: no match begins or ends inside \
                              a word. Write it without ^ and \\b.";
                return Err(Stopped::from(reason).at(pattern));
            }
            Ok(automaton)
        };
        let patterns: Vec<Automaton> = rules.patterns.iter().map(compile).collect::<Result<_>>()?;
        let mut inside = HashSet::new();
        for text in rules.terms.iter().chain(&rules.units) {
            inside.extend(once(' ').chain(text.chars()).zip(text.chars()));
        }
        let mut finder = RuleFinder {
            ascii: [CharKind::Other; 128],
            kinds: Alphabet::new(&kinds()).expect("no more than three classes"),
            terms: Trie::new(rules.terms.iter().map(String::as_str)),
            units: Trie::new(rules.units.iter().map(String::as_str)),
            spans: patterns.iter().map(spans).collect(),
            patterns,
            inside,
            whole_numbers: rules.whole_numbers,
            numbers: rules.numbers,
            blanks: rules.blanks && !rules.units.is_empty(),
        };
        finder.ascii = std::array::from_fn(|byte| finder.kind_of(byte as u8 as char));
        Ok(finder)
    }

    /// Calls `visit` with each piece that a rule matches and with the text between them, in order.
    /// Inside a long piece it is called with an empty piece from time to time.
    pub(super) fn split<'t, B>(
        &self,
        text: &'t [u8],
        mut visit: impl FnMut(&'t [u8], Option<RuleMatch>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut notes: Vec<Notes> = self.patterns.iter().map(|_| Notes::default()).collect();
        let (mut last_end, mut position, mut next_pause) = (0, 0, PAUSE_INTERVAL);
        let mut before = CharBefore { kind: CharKind::Other, separates: false, in_blanks: false };
        while position < text.len() {
            // No match begins inside a word, and most of a text is inside words.
            if before.kind == CharKind::Letter {
                let letters =
                    text[position..].iter().take(PAUSE_INTERVAL).take_while(|b| b.is_ascii_alphabetic());
                position += letters.count();
                if position == text.len() {
                    break;
                }
            }
            let (c, width) = decode(&text[position..]);
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            let kind = self.kind(c);
            if kind != CharKind::Letter || before.kind != CharKind::Letter {
                let mut pause = || visit(&text[..0], None);
                let place = Place { position, c, kind, before };
                if let Some((end, rule_match)) = self.match_at(text, place, &mut notes, &mut pause)? {
                    if last_end < position {
                        visit(&text[last_end..position], None)?;
                    }
                    visit(&text[position..end], Some(rule_match))?;
                    (last_end, position) = (end, end);
                    before = self.before(text, position);
                    continue;
                }
            }
            position += width;
            before = self.char_before(text, position, c, kind, before.kind == CharKind::Number);
            if position >= next_pause {
                next_pause = position + PAUSE_INTERVAL;
                visit(&text[..0], None)?;
            }
        }
        if last_end < position { visit(&text[last_end..position], None) } else { ControlFlow::Continue(()) }
    }

    /// Whether a piece is a unit, or a term with or without a space before it.
    pub(super) fn contains(&self, piece: &[u8]) -> bool {
        let start = usize::from(piece.starts_with(b" "));
        let is_member = |trie: &Trie, start| trie.longest(piece, start, |_| true) == Some(piece.len());
        is_member(&self.terms, start) || is_member(&self.units, 0)
    }

    /// The end and kind of the match that begins at a place.
    fn match_at<B>(
        &self,
        text: &[u8],
        Place { position, c, kind, before }: Place,
        notes: &mut [Notes],
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Option<(usize, RuleMatch)>> {
        let result = |end: Option<usize>, rule_match| ControlFlow::Continue(end.map(|end| (end, rule_match)));
        let may_end = |end: usize| self.may_end(text, end) || self.ends_before_unit(text, end);
        let may_begin = self.may_meet(kind, before.kind);
        let start = match c {
            // After a number a space is a piece of its own, as before a unit.
            ' ' if !before.in_blanks && (before.kind != CharKind::Number || self.units.is_empty()) => {
                Some(position + 1)
            }
            ' ' => None,
            _ => may_begin.then_some(position),
        };
        if let Some(end) = start.and_then(|start| self.terms.longest(text, start, may_end)) {
            return result(Some(end), RuleMatch::Term);
        }
        if before.kind == CharKind::Number && kind != CharKind::Number || before.separates {
            let end = self.unit_end(text, position);
            if end.is_some() {
                return result(end, RuleMatch::Unit);
            }
        }
        for (index, pattern) in self.patterns.iter().enumerate().filter(|_| may_begin) {
            let end = pattern.longest(text, position, &mut notes[index], pause)?;
            if end > position && may_end(end) {
                return result(Some(end), RuleMatch::Pattern(index));
            }
        }
        let is_number = self.whole_numbers && kind == CharKind::Number;
        result(is_number.then(|| self.number_end(text, position)), RuleMatch::Number)
    }

    /// The end of the number that begins at a position: digits, and more of them after each point
    /// or comma.
    fn number_end(&self, text: &[u8], mut position: usize) -> usize {
        let (mut end, mut points) = (position, 0);
        while position < text.len() {
            let (kind, width) = self.first(&text[position..]);
            match (kind, text[position]) {
                (CharKind::Number, _) => points = 0,
                (_, b'.' | b',') if points == 0 => points = 1,
                _ => break,
            }
            position += width;
            if points == 0 {
                end = position;
            }
        }
        end
    }

    /// Whether a match may begin or end with the kind `inner` beside the kind `outer`.
    fn may_meet(&self, inner: CharKind, outer: CharKind) -> bool {
        match (inner, outer) {
            (_, CharKind::Other) | (CharKind::Other, _) => true,
            _ => self.numbers && inner != outer,
        }
    }

    fn may_end(&self, text: &[u8], end: usize) -> bool {
        end == text.len() || self.may_meet(self.last(&text[..end]).0, self.first(&text[end..]).0)
    }

    /// Whether a number ends at a position and its unit begins there.
    fn ends_before_unit(&self, text: &[u8], end: usize) -> bool {
        !self.units.is_empty()
            && self.last(&text[..end]).0 == CharKind::Number
            && self.first(&text[end..]).0 != CharKind::Number
            && self.unit_end(text, end).is_some()
    }

    fn unit_end(&self, text: &[u8], start: usize) -> Option<usize> {
        self.units.longest(text, start, |end| self.may_end(text, end))
    }

    fn before(&self, text: &[u8], position: usize) -> CharBefore {
        let c = bstr::decode_last_utf8(&text[..position]).0.unwrap_or(char::REPLACEMENT_CHARACTER);
        let previous = position - self.last(&text[..position]).1;
        let after_number = previous > 0 && self.last(&text[..previous]).0 == CharKind::Number;
        self.char_before(text, position, c, self.kind(c), after_number)
    }

    /// The character `c` before a position, which may directly follow a number.
    #[inline]
    fn char_before(
        &self,
        text: &[u8],
        position: usize,
        c: char,
        kind: CharKind,
        after_number: bool,
    ) -> CharBefore {
        let in_blanks = self.blanks && BLANKS.contains(&c) && self.blanks_before(text, position).is_some();
        CharBefore { kind, separates: in_blanks || after_number && SEPARATORS.contains(&c), in_blanks }
    }

    /// The start of the blanks between a number and a position, if they are neither none nor too many.
    pub(super) fn blanks_before(&self, text: &[u8], position: usize) -> Option<usize> {
        let mut start = position;
        for _ in 0..=MOST_BLANKS {
            let (c, width) = bstr::decode_last_utf8(&text[..start]);
            if !c.is_some_and(|c| BLANKS.contains(&c)) {
                let is_after_number = self.last(&text[..start]).0 == CharKind::Number;
                return (start < position && is_after_number).then_some(start);
            }
            start -= width;
        }
        None
    }

    #[inline]
    fn kind(&self, c: char) -> CharKind {
        self.ascii.get(c as usize).copied().unwrap_or_else(|| self.kind_of(c))
    }

    fn kind_of(&self, c: char) -> CharKind {
        let class = self.kinds.class(c) as usize;
        match (self.kinds.holds(0, class), self.kinds.holds(1, class)) {
            (true, _) => CharKind::Letter,
            (_, true) => CharKind::Number,
            _ => CharKind::Other,
        }
    }

    fn first(&self, text: &[u8]) -> (CharKind, usize) {
        let (c, width) = decode(text);
        (self.kind(c.unwrap_or(char::REPLACEMENT_CHARACTER)), width)
    }

    fn last(&self, text: &[u8]) -> (CharKind, usize) {
        let (c, width) = bstr::decode_last_utf8(text);
        (self.kind(c.unwrap_or(char::REPLACEMENT_CHARACTER)), width)
    }

    /// Returns `Gap` if, in every text with these two characters and the same text before them, no
    /// match crosses the position, and no match begins or ends differently because of the character
    /// on the other side. Then the pieces of the two parts are those of the text, except for the
    /// piece that the position divides.
    pub(super) fn between(&self, text: &[u8], position: usize) -> Between {
        self.between_two(text, position, || self.may_cross(text, position))
    }

    /// Like `between`, for every text with these two characters at the position.
    pub(super) fn between_any(&self, text: &[u8], position: usize) -> Between {
        self.between_two(text, position, || true)
    }

    /// Whether a term or a unit may cross a position.
    fn may_cross(&self, text: &[u8], position: usize) -> bool {
        let char_end = position + decode(&text[position..]).1;
        // A space before a term is part of the piece.
        if text[position - 1] == b' ' && self.terms.has_prefix(&text[position..char_end]) {
            return true;
        }
        let maximum = self.terms.max_bytes().max(self.units.max_bytes());
        let mut starts =
            (position.saturating_sub(maximum)..position).filter(|&start| !is_inside(text[start]));
        starts.any(|start| {
            let may_begin = || self.may_meet(self.first(&text[start..]).0, self.last(&text[..start]).0);
            self.units.has_prefix(&text[start..char_end])
                || self.terms.has_prefix(&text[start..char_end]) && may_begin()
        })
    }

    /// Decides from two characters; if they are neighbours inside a term or unit, `crosses`
    /// decides.
    fn between_two(&self, text: &[u8], position: usize, crosses: impl FnOnce() -> bool) -> Between {
        let before = bstr::decode_last_utf8(&text[..position]).0.unwrap_or(char::REPLACEMENT_CHARACTER);
        let after = decode(&text[position..]).0.unwrap_or(char::REPLACEMENT_CHARACTER);
        let (left, right) = (self.kind(before), self.kind(after));
        let depends_on_earlier =
            !self.units.is_empty() && (left == CharKind::Number || SEPARATORS.contains(&before));
        let in_number = self.whole_numbers && (left == CharKind::Number || matches!(before, '.' | ','));
        let in_pattern = || {
            self.patterns.iter().zip(&self.spans).any(|(pattern, spans)| {
                let class = |c| usize::from(pattern.alphabet().class(c));
                spans[class(before) * pattern.alphabet().len() + class(after)]
            })
        };
        let is_unknown = left != CharKind::Other && right != CharKind::Other
            || depends_on_earlier
            || in_number
            || in_pattern()
            || self.inside.contains(&(before, after)) && crosses();
        if is_unknown { Between::Unknown } else { Between::Gap }
    }
}

/// For each two classes: whether a match that has read the first may behave differently at the
/// second than at the end of the text.
fn spans(automaton: &Automaton) -> Vec<bool> {
    let classes = automaton.alphabet().len();
    let after = states_after(automaton, None, 1);
    let depends_on_next =
        ClassBits::of_states(automaton, |state, step| step != (DEAD, automaton.matches_at_end(state)));
    let next = |states: &Vec<u16>| {
        let next = states.iter().fold(ClassBits::NONE, |any, &state| any.or(depends_on_next[state as usize]));
        (0..classes).map(move |class| next.has(class))
    };
    after.iter().flat_map(next).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::interrupt::Never;

    fn finder(rules: &Rules) -> RuleFinder {
        RuleFinder::new(rules, &mut Effort::new(&Never)).unwrap()
    }

    fn rules() -> Rules {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Rules {
            terms: texts(&["iron", "iron ore", "mg/dL"]),
            units: texts(&["mg", "mg/dL"]),
            patterns: texts(&[r"[A-Z]\d+"]),
            ..Rules::default()
        }
    }

    fn split(rules: &Rules, text: &str) -> Vec<(String, Option<RuleMatch>)> {
        let mut pieces = Vec::new();
        let ControlFlow::Continue(()) = finder(rules).split(text.as_bytes(), |piece, rule_match| {
            pieces.push((String::from_utf8(piece.to_vec()).unwrap(), rule_match));
            ControlFlow::<Infallible>::Continue(())
        });
        pieces
    }

    #[test]
    fn each_kind_of_rule_matches_outside_words() {
        let text = "irons iron ore 5mg 5 mg/dL, mg E11 xE11";
        let matches: Vec<(String, RuleMatch)> = split(&rules(), text)
            .into_iter()
            .filter_map(|(piece, rule_match)| Some((piece, rule_match?)))
            .collect();
        let expected = [
            (" iron ore", RuleMatch::Term),
            ("mg", RuleMatch::Unit),
            ("mg/dL", RuleMatch::Term),
            ("E11", RuleMatch::Pattern(0)),
        ];
        assert_eq!(matches, expected.map(|(piece, rule_match)| (piece.to_owned(), rule_match)));
        let concatenated: String = split(&rules(), text).into_iter().map(|(piece, _)| piece).collect();
        assert_eq!(concatenated, text);
    }

    #[test]
    fn a_pattern_cannot_look_behind() {
        let rules = Rules { patterns: vec![r"\bx".into()], ..rules() };
        let error = RuleFinder::new(&rules, &mut Effort::new(&Never)).err().unwrap();
        assert!(error.to_string().contains("cannot look behind"), "{error}");
    }

    #[test]
    fn pieces_of_rules() {
        let finder = finder(&rules());
        for (piece, expected) in
            [("iron", true), (" iron", true), ("mg", true), (" mg", false), ("irons", false)]
        {
            assert_eq!(finder.contains(piece.as_bytes()), expected, "{piece}");
        }
    }
}
