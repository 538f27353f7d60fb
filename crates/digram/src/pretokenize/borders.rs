//! Positions where every text is split, decided by two neighbouring characters.
//!
//! The published patterns always split between a letter and a space, in any context. At such a position the
//! pretokens of a text are those of its two parts, so the parts can be processed by different threads, or
//! one of them again without the other.
//!
//! Such pairs of classes are derived from the automaton. Either some match can read the first class, and
//! every match that has read it ends before the second, and also at the end of a text. Or no match ever
//! reads the first, and a match starts with the second, whatever follows.

use super::after::{ClassBits, states_after};
use super::automaton::{Automaton, DEAD};

/// What two neighbouring classes of characters decide about the position between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// A pretoken ends here, in any text.
    Border,
    /// Both are in a gap between matches, in any text. Split here, a text has the same pieces, except the
    /// one that is split.
    Gap,
    /// It depends on the context.
    Unknown,
}

/// The result for each pair of classes.
pub(super) struct Borders {
    /// `between[before * classes + after]`
    between: Vec<Between>,
    classes: usize,
}

impl Borders {
    /// The borders of an automaton. With look-behind there are none, since a part of a text has no context
    /// before it.
    pub(super) fn new(automaton: &Automaton) -> Borders {
        let classes = automaton.alphabet().len();
        let after = states_after(automaton, None, 1);
        let ends_in = ClassBits::of_states(automaton, |state, step| {
            step == (DEAD, true) && automaton.matches_at_end(state)
        });
        let ends_after = |states: &Vec<u16>| {
            states.iter().fold(ClassBits::ALL, |common, &state| common.and(ends_in[state as usize]))
        };
        let ends: Vec<ClassBits> = after.iter().map(ends_after).collect();
        let starts = |class: usize| automaton.step(automaton.start(), class).0 != DEAD;
        let is_match: Vec<bool> = (0..classes).map(|class| is_match(automaton, class)).collect();
        let mut between = Vec::with_capacity(classes * classes);
        for before in 0..classes {
            for next in 0..classes {
                between.push(if automaton.looks_behind() {
                    Between::Unknown
                } else if after[before].is_empty() && after[next].is_empty() {
                    Between::Gap
                } else if starts(before) && ends[before].has(next)
                    || after[before].is_empty() && is_match[next]
                {
                    Between::Border
                } else {
                    Between::Unknown
                });
            }
        }
        Borders { between, classes }
    }

    /// Whether a piece can contain a word boundary: a space directly after a character that is not white
    /// space.
    ///
    /// It cannot if no match continues from such a character into a space, and a match always begins with a
    /// space that is in no match. With look-behind, or if bytes count as letters, it is assumed to.
    pub(super) fn may_be_inside(automaton: &Automaton) -> bool {
        let alphabet = automaton.alphabet();
        if automaton.looks_behind() || alphabet.reads_letters() {
            return true;
        }
        let after = states_after(automaton, None, 1);
        let space = alphabet.class(' ') as usize;
        let continues =
            |class: usize| after[class].iter().any(|&state| automaton.step(state, space).0 != DEAD);
        !is_match(automaton, space)
            || alphabet
                .only_white_space()
                .iter()
                .enumerate()
                .any(|(class, &white)| !white && continues(class))
    }

    /// Whether there are any borders.
    pub(super) fn any(&self) -> bool {
        self.between.contains(&Between::Border)
    }

    pub(super) fn between(&self, before: u8, after: u8) -> Between {
        self.between[before as usize * self.classes + after as usize]
    }
}

/// Whether a character of this class is a match of its own, or the beginning of one, whatever follows.
fn is_match(automaton: &Automaton, class: usize) -> bool {
    let (state, _) = automaton.step(automaton.start(), class);
    automaton.matches_at_end(state)
        && (0..automaton.alphabet().len()).all(|next| automaton.step(state, next).1)
}
