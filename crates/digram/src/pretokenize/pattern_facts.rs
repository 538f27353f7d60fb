//! What is known of a pattern before it splits a text.

use super::effort::{Effort, Stopped};
use super::pattern;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// Facts of one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternFacts {
    /// Whether it may match without a character, as look-around and anchors can.
    pub may_be_empty: bool,
    /// Whether it looks around farther than at the next character and, with an anchor, at the one before.
    pub looks_around: bool,
}

impl PatternFacts {
    /// The facts of a pattern. Fails for one that is not supported.
    pub fn of(pattern: &str, interrupt: &dyn Interrupt) -> Result<PatternFacts> {
        let program = pattern::compile(pattern, &mut Effort::new(interrupt))
            .map_err(|stopped: Stopped| stopped.at(pattern))?;
        Ok(PatternFacts { may_be_empty: program.may_be_empty(), looks_around: !program.scans.is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    #[test]
    fn facts_are_those_of_the_program() {
        for (pattern, may_be_empty, looks_around) in [
            ("a|b+", false, false),
            ("a(?!b)", false, false),
            ("(?!b)", true, false),
            ("(?<=a)b|c", false, true),
            ("(?<=a)(?=bc)", true, true),
            (r"^|a\b", true, false),
            ("(?:a|)b?", true, false),
            ("[(?=]", false, false),
            (r"\(\?<=a", false, false),
        ] {
            let facts = PatternFacts::of(pattern, &Never).unwrap();
            assert_eq!(facts, PatternFacts { may_be_empty, looks_around }, "{pattern}");
        }
        assert!(PatternFacts::of("(", &Never).is_err());
    }
}
