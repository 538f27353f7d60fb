//! A stage that writes each unit of measurement in one way, where the rules of a domain find it.
//! `python/digram/reference/rules.py` is the definition.

use hashbrown::{HashMap, HashSet};

use super::traced::{Rewriter, Traced};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::pretokenize::{BLANKS, Pretokenizer, RuleMatch, Rules, Stage};

/// Writes units in one way, and one space between a number and its unit.
pub(super) struct UnitSpeller {
    finder: Pretokenizer,
    /// The unit as it is written, for each other way to write it.
    spelled: HashMap<String, String>,
    /// The first and last characters of what changes, before and after.
    edges: HashSet<char>,
}

impl UnitSpeller {
    pub(super) fn new(rules: Rules, spelled: Vec<(String, String)>) -> Result<UnitSpeller> {
        let mut edges = HashSet::new();
        for (unit, written) in &spelled {
            if unit.chars().count() != written.chars().count() || unit.is_empty() {
                let reason = format!("{unit:?} and {written:?} are not ways to write one unit.");
                return Err(Error::Option { reason });
            }
            for text in [unit, written] {
                edges.extend(text.chars().next().into_iter().chain(text.chars().next_back()));
            }
        }
        let finder = Pretokenizer::new(&[Stage::Rules(Rules { blanks: true, ..rules })])?;
        Ok(UnitSpeller { finder, spelled: spelled.into_iter().collect(), edges })
    }

    pub(super) fn is_in(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let mut is_found = false;
        self.finder.for_rule_matches(text, interrupt, |range, rule_match| {
            if let Some(found) = self.found(text, range.start, range.end, rule_match) {
                let blanks = &text[found.blanks..found.start];
                is_found |= found.written.is_some() || !matches!(blanks, b"" | b" ");
            }
            Ok(())
        })?;
        Ok(is_found)
    }

    /// Each character of a unit comes from the one in its place, and the space from the first of the blanks.
    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let mut rewriter = Rewriter::new(text)?;
        self.finder.for_rule_matches(&text.bytes, interrupt, |range, rule_match| {
            let Some(found) = self.found(&text.bytes, range.start, range.end, rule_match) else {
                return Ok(());
            };
            if found.blanks < found.start {
                rewriter.keep_until(found.blanks)?;
                rewriter.replace(' ')?;
                rewriter.skip_until(found.start);
            }
            if let Some(written) = found.written {
                rewriter.keep_until(found.start)?;
                written.chars().try_for_each(|c| rewriter.replace(c))?;
            }
            Ok(())
        })?;
        rewriter.finish()
    }

    /// The unit that a match is.
    fn found(&self, text: &[u8], start: usize, end: usize, rule_match: RuleMatch) -> Option<Unit<'_>> {
        if !matches!(rule_match, RuleMatch::Term | RuleMatch::Unit) {
            return None;
        }
        let start = start + usize::from(text[start..end].starts_with(b" "));
        let piece = std::str::from_utf8(&text[start..end]).ok()?;
        let written = self.spelled.get(piece)?;
        let blanks = self.finder.blanks_before_unit(text, start).unwrap_or(start);
        Some(Unit { blanks, start, written: (written != piece).then_some(written) })
    }

    /// Whether, in any text with these two characters, no unit crosses what is between them, none is found or
    /// not found because of the other character, and neither changes.
    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        let edges = [before, after].iter().any(|c| self.edges.contains(c));
        !edges && !BLANKS.contains(&before) && self.finder.is_gap(before, after)
    }
}

/// A unit in a text.
struct Unit<'s> {
    /// The start of the blanks before it, if they follow a number.
    blanks: usize,
    start: usize,
    /// How it is written, if that is different.
    written: Option<&'s String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    fn speller() -> UnitSpeller {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let units = texts(&["ml", "mL", "\u{b5}g", "\u{3bc}g", "L", "l"]);
        let rules = Rules {
            terms: [texts(&["ml-syringe"]), units[..4].to_vec()].concat(),
            units,
            ..Rules::default()
        };
        let pairs = [
            ("ml", "mL"),
            ("mL", "mL"),
            ("\u{b5}g", "\u{3bc}g"),
            ("\u{3bc}g", "\u{3bc}g"),
            ("l", "L"),
            ("L", "L"),
        ];
        UnitSpeller::new(rules, pairs.map(|(a, b)| (a.into(), b.into())).to_vec()).unwrap()
    }

    fn spelled(text: &str) -> (String, Vec<[usize; 2]>) {
        let speller = speller();
        let given = Traced::given(text.as_bytes(), 0, true).unwrap();
        let new = speller.applied(&given, &Never).unwrap();
        assert_eq!(speller.is_in(text.as_bytes(), &Never).unwrap(), new.bytes != text.as_bytes());
        (String::from_utf8(new.bytes).unwrap(), new.origins.unwrap())
    }

    #[test]
    fn units_are_written_in_one_way() {
        for (text, expected) in [
            ("5ml, 5  ml, 5\u{a0}\u{202f}ml", "5mL, 5 mL, 5 mL"),
            ("5 \u{b5}g and \u{b5}g", "5 \u{3bc}g and \u{3bc}g"),
            ("5-ml-syringe, html, 5  mlx, 5 l, l", "5-ml-syringe, html, 5  mlx, 5 L, l"),
            ("5         ml", "5         mL"), // nine blanks
        ] {
            assert_eq!(spelled(text).0, expected);
        }
    }

    #[test]
    fn characters_come_from_those_in_their_place() {
        let (text, origins) = spelled("5 \u{a0}ml");
        assert_eq!(text, "5 mL");
        assert_eq!(origins, [[0, 1], [1, 2], [4, 5], [5, 6]]);
    }
}
