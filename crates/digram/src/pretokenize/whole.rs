//! Patterns that must match a whole text.

use super::automaton::{Automaton, DEAD};
use super::effort::Effort;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

/// A regex for whole texts.
pub(crate) struct WholeMatch(Automaton);

impl WholeMatch {
    /// Compiles patterns.
    pub(crate) fn all(patterns: &[String], interrupt: &dyn Interrupt) -> Result<Vec<WholeMatch>> {
        let effort = &mut Effort::new(interrupt);
        let compile = |pattern: &String| {
            let automaton = Automaton::new(&format!(r"(?:{pattern})\z"), effort);
            automaton.map(WholeMatch).map_err(|error| match error {
                Error::Pattern { reason, .. } => Error::Pattern { pattern: pattern.clone(), reason },
                other => other,
            })
        };
        patterns.iter().map(compile).collect()
    }

    /// Whether the pattern matches all of `text`. Bytes that are not UTF-8 are U+FFFD.
    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        let Self(automaton) = self;
        let (mut state, mut offset) = (automaton.start_state(text, 0), 0);
        while offset < text.len() && state != DEAD {
            let (class, width) = automaton.alphabet().first(&text[offset..]);
            state = automaton.step(state, usize::from(class)).0;
            offset += width;
        }
        automaton.matches_at_end(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    fn compiled(pattern: &str) -> Result<WholeMatch> {
        WholeMatch::all(&[pattern.to_owned()], &Never).map(|mut all| all.remove(0))
    }

    #[test]
    fn the_whole_text_must_match() {
        let pattern = compiled(r"a|ab+|\d{2}").unwrap();
        for (text, expected) in [("a", true), ("abb", true), ("abba", false), ("12", true), ("123", false)] {
            assert_eq!(pattern.is_match(text.as_bytes()), expected, "{text}");
        }
        assert!(!pattern.is_match(b"") && compiled("[^a]").unwrap().is_match(b"\xff"));
        let error = compiled("(").err().unwrap().to_string();
        assert!(error.contains("\"(\"") && !error.contains("\\z"), "{error}");
    }
}
