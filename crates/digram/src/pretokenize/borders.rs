//! Places where every text is cut, as two neighbours tell.
//!
//! Between a letter and a space the published patterns always cut, whatever stands before and
//! after. At such a place the pretokens of a text are those of its two parts, so the parts can be
//! worked on by different threads, or one of them again without the other.
//!
//! Whether two classes of characters are such neighbours is found out from the automaton. A match
//! that has read the first of them must end before the second, and at the end of a text as well;
//! and some match must get to read the first. Or no match ever reads the first, and whatever
//! follows the second, a match starts with it.

use super::after::{Classes, states_after};
use super::automaton::{Automaton, DEAD};

/// What two neighbouring classes of characters tell about the place between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// A pretoken ends here, in any text.
    Border,
    /// Both are in a gap between matches, in any text. Cut here, a text has the same pieces, but
    /// for the one that is cut.
    Gap,
    /// It depends on what stands around them.
    Unknown,
}

/// For each pair of classes what stands between them.
pub(super) struct Borders {
    /// `between[before * classes + after]`
    between: Vec<Between>,
    classes: usize,
}

impl Borders {
    /// The borders of an automaton. One that looks behind has none: a part of a text starts with
    /// nothing behind it.
    pub(super) fn new(automaton: &Automaton) -> Borders {
        let classes = automaton.alphabet().len();
        let after = states_after(automaton, None, 1);
        let ends_in = Classes::of_states(automaton, |state, step| {
            step == (DEAD, true) && automaton.matches_at_end(state)
        });
        let ends_after = |states: &Vec<u16>| {
            states.iter().fold(Classes::ALL, |all, &state| all.and(ends_in[state as usize]))
        };
        let ends: Vec<Classes> = after.iter().map(ends_after).collect();
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

    /// Whether any piece can hold a space directly behind a character that is not white space: the
    /// border of a word.
    ///
    /// None can where no match reads on from such a character into a space, and where a match always
    /// begins with the space if it is in none. What looks behind is not followed, so it may.
    pub(super) fn may_be_inside(automaton: &Automaton) -> bool {
        if automaton.looks_behind() {
            return true;
        }
        let alphabet = automaton.alphabet();
        let after = states_after(automaton, None, 1);
        let space = alphabet.class(' ') as usize;
        let reads_on =
            |class: usize| after[class].iter().any(|&state| automaton.step(state, space).0 != DEAD);
        !is_match(automaton, space)
            || alphabet.only_white_space().iter().enumerate().any(|(class, &white)| !white && reads_on(class))
    }

    /// Whether there are any.
    pub(super) fn are_there(&self) -> bool {
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
