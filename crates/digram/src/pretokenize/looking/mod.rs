//! Patterns with look-around of any kind, in linear time.
//!
//! The body of each look-around is an automaton of its own, which one pass over the text runs ([`facts`]). The pattern
//! itself is an automaton that reads, at each position, which look-arounds are true there, besides the next character
//! ([`table`]). Its states are those of [`super::automaton`]: ordered lists, which give the match that backtracking
//! would give.
//!
//! An empty match is possible where a look-around or an anchor asks for it; it cuts the text.

mod facts;
mod reach;
mod source;
mod table;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use facts::{Facts, Finder};
pub(super) use reach::Reach;
pub(super) use source::Source;
use table::{Reading, Table};

use super::alphabet::Alphabet;
use super::automaton::{DEAD, MAX_TABLE, Notes, UNRECORDED};
use super::effort::{Effort, Stopped};
use super::pattern::Program;
use super::pieces::pieces;
use super::{GoesOn, PAUSE_INTERVAL};

/// The maximum number of bytes of a character.
const MAX_WIDTH: usize = 4;

/// A compiled pattern with look-around.
pub(super) struct Looking {
    alphabet: Alphabet,
    finder: Finder,
    table: Table,
    reach: Reach,
}

/// One text that is matched.
struct Matching<'a> {
    looking: &'a Looking,
    text: &'a [u8],
    facts: Facts<'a>,
    notes: Notes,
    /// The last position whose facts do not depend on how the text continues.
    last_certain: usize,
}

impl Looking {
    pub(super) fn new(program: &Program, effort: &mut Effort) -> Result<Looking, Stopped> {
        effort.after(Alphabet::steps(&program.sets) + 2 * program.insts.len())?;
        if program.matches_nothing_anywhere() {
            return Err(Stopped::MatchesNothing);
        }
        let alphabet =
            Alphabet::new(&program.sets).ok_or("it tells more than 256 classes of characters apart.")?;
        let mut room = MAX_TABLE;
        let room = &mut room;
        let finder = Finder::new(program, &alphabet, room, effort)?;
        let pattern = (&program.insts[..], program.start);
        let table = Table::new(pattern, Reading::Match, &finder.list, &alphabet, room, effort)?;
        Ok(Looking { alphabet, finder, table, reach: program.reach })
    }

    /// The same pattern for text in which every byte counts as its [letter](super::letters).
    pub(super) fn of_letters(self) -> Looking {
        Looking { alphabet: self.alphabet.of_letters(), ..self }
    }

    /// The classes of characters.
    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The number of characters before a text on which its pieces may depend; `None` if it is any number.
    pub(super) fn reach_before(&self) -> Option<usize> {
        // For a text that may continue, pieces are found only if the number of characters behind is limited too.
        self.reach.after.and(self.reach.before)
    }

    /// Calls `visit` with the end of each piece of `text[from..]`, in order, and during a long search with the last end
    /// again. Pieces that depend on how a text continues are left out. Returns the end of the last one. `text[..from]` is
    /// context.
    pub(super) fn split<B>(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        mut visit: impl FnMut(usize) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let last_certain = match (goes_on, self.reach.before, self.reach.after) {
            (GoesOn::No, _, _) => text.len(),
            (GoesOn::Maybe, Some(_), Some(after)) => text.len().saturating_sub(MAX_WIDTH * after),
            (GoesOn::Maybe, _, _) => return ControlFlow::Continue(from),
        };
        if from == text.len() {
            return ControlFlow::Continue(from);
        }
        let facts = Facts::new(&self.finder, &self.alphabet, text, &mut || visit(from))?;
        let mut matching = Matching { looking: self, text, facts, notes: Notes::default(), last_certain };
        let (mut last_end, mut position) = (from, from);
        let mut next_pause = from + PAUSE_INTERVAL;
        while position < text.len() {
            let end = matching.longest(position, &mut || visit(last_end))?;
            if goes_on == GoesOn::Maybe && matching.notes.open {
                return ControlFlow::Continue(last_end);
            }
            if end.is_some() && last_end < position {
                visit(position)?;
                last_end = position;
            }
            match end {
                Some(end) if end > position => {
                    visit(end)?;
                    (last_end, position) = (end, end);
                }
                _ => {
                    position += self.alphabet.first(&text[position..]).1;
                    if position >= next_pause {
                        next_pause = position + PAUSE_INTERVAL;
                        visit(last_end)?;
                    }
                }
            }
        }
        if goes_on == GoesOn::No && last_end < text.len() {
            visit(text.len())?;
            last_end = text.len();
        }
        ControlFlow::Continue(last_end)
    }
}

impl Looking {
    /// Calls `visit` with each piece of a text, and whether it is a match.
    pub(super) fn pieces<B>(
        &self,
        text: &[u8],
        pause: &mut dyn FnMut() -> ControlFlow<B>,
        visit: &mut dyn FnMut(Range<usize>, bool) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let facts = Facts::new(&self.finder, &self.alphabet, text, &mut *pause)?;
        let last_certain = text.len();
        let mut matching = Matching { looking: self, text, facts, notes: Notes::default(), last_certain };
        pieces(text, |at, pause| matching.longest(at, pause), pause, visit)
    }
}

impl Matching<'_> {
    /// The end of the match that starts at `start`, if there is one. During a long match, `pause` is called from time to
    /// time, and may break.
    fn longest<B>(
        &mut self,
        start: usize,
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Option<usize>> {
        let Looking { alphabet, table, .. } = self.looking;
        let (mut state, mut position, mut end) = (table.start(), start, None);
        // As in `Automaton::longest_recorded`: failed positions are recorded once a match reads far.
        let mut next_recorded = (start + UNRECORDED).next_multiple_of(64);
        let mut next_pause = start + PAUSE_INTERVAL;
        self.notes.trail.clear();
        loop {
            if position >= next_recorded {
                next_recorded = (position + 1).next_multiple_of(64);
                if position >= next_pause {
                    next_pause = position + PAUSE_INTERVAL;
                    pause()?;
                }
                if self.notes.failed.contains(&(state, position)) {
                    break;
                }
                self.notes.trail.push((state, position));
            }
            self.notes.open |= position > self.last_certain || position == self.text.len();
            let (mut column, mut width) = (alphabet.len(), 0);
            if position < self.text.len() {
                let class;
                (class, width) = alphabet.first(&self.text[position..]);
                column = usize::from(class);
            }
            let (next, matched) = table.step(state, self.facts.at(position), column);
            if matched {
                end = Some(position);
                self.notes.trail.clear();
            }
            if next == DEAD {
                break;
            }
            (state, position) = (next, position + width);
        }
        self.notes.failed.extend(self.notes.trail.drain(..));
        ControlFlow::Continue(end)
    }
}
