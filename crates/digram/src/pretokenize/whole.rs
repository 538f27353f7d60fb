//! Patterns that a text is to match as a whole.

use super::automaton::{Automaton, DEAD};
use crate::error::{Error, Result};

/// A regex that is asked of whole texts.
pub(crate) struct WholeMatch(Automaton);

impl WholeMatch {
    /// Compiles `pattern`.
    pub(crate) fn new(pattern: &str) -> Result<WholeMatch> {
        Automaton::new(&format!(r"(?:{pattern})\z")).map(WholeMatch).map_err(|error| match error {
            Error::Pattern { reason, .. } => Error::Pattern { pattern: pattern.into(), reason },
            other => other,
        })
    }

    /// Whether the pattern matches all of `text`. Bytes that are not UTF-8 are U+FFFD.
    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        let Self(automaton) = self;
        let (mut state, mut at) = (automaton.start_state(text, 0), 0);
        while at < text.len() && state != DEAD {
            let (class, width) = automaton.alphabet().first(&text[at..]);
            state = automaton.step(state, usize::from(class)).0;
            at += width;
        }
        automaton.matches_at_end(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_text_is_to_match() {
        let pattern = WholeMatch::new(r"a|ab+|\d{2}").unwrap();
        for (text, expected) in [("a", true), ("abb", true), ("abba", false), ("12", true), ("123", false)] {
            assert_eq!(pattern.is_match(text.as_bytes()), expected, "{text}");
        }
        assert!(!pattern.is_match(b"") && WholeMatch::new("[^a]").unwrap().is_match(b"\xff"));
        let error = WholeMatch::new("(").err().unwrap().to_string();
        assert!(error.contains("\"(\"") && !error.contains("\\z"), "{error}");
    }
}
