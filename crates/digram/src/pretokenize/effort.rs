//! A limit on the work of compiling patterns, which may come from untrusted files.
//!
//! Work is counted in steps, not in time, so that a pattern is refused on every machine or on none.

use crate::error::Error;
use crate::interrupt::{Interrupt, Pacer};

/// The maximum number of steps for all patterns of a pretokenizer: some tenths of a second. The published ones
/// need less than a thousandth of it.
const MAX_STEPS: usize = 1 << 26;

/// Steps between two checks of the interrupt: a millisecond or less.
const CHECK_INTERVAL: usize = 1 << 16;

/// The remaining number of steps, and the interrupt to check meanwhile.
pub(super) struct Effort<'w> {
    remaining: usize,
    pacer: Pacer<'w>,
}

/// The reason why a pattern was not compiled.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The pattern is invalid or not supported, for this reason.
    Refused(String),
    /// The pattern can match the empty string.
    MatchesNothing,
    /// Compiling takes more than [`MAX_STEPS`].
    TooMuch,
    /// The error of the interrupt.
    Interrupted(Error),
}

impl<'w> Effort<'w> {
    pub(super) fn new(interrupt: &'w dyn Interrupt) -> Effort<'w> {
        Effort { remaining: MAX_STEPS, pacer: Pacer::every(CHECK_INTERVAL, interrupt) }
    }

    /// Records `steps` more steps.
    #[inline]
    pub(super) fn after(&mut self, steps: usize) -> Result<(), Stopped> {
        self.remaining = self.remaining.checked_sub(steps).ok_or(Stopped::TooMuch)?;
        self.pacer.after(steps).map_err(Stopped::Interrupted)
    }
}

impl Stopped {
    /// The error for the pattern that was being compiled.
    pub(super) fn at(self, pattern: &str) -> Error {
        let reason = match self {
            Stopped::Interrupted(error) => return error,
            Stopped::Refused(reason) => reason,
            Stopped::MatchesNothing => {
                "it can match nothing, which cuts no text. Make one part required.".into()
            }
            Stopped::TooMuch => format!(
                "its automaton is too large: to build it, after those of the patterns before it, takes more \
                 than {MAX_STEPS} steps. Shorten its counted repetitions, name fewer sets of characters, or \
                 use fewer patterns."
            ),
        };
        Error::Pattern { pattern: pattern.to_owned(), reason }
    }
}

impl From<String> for Stopped {
    fn from(reason: String) -> Stopped {
        Stopped::Refused(reason)
    }
}

impl From<&str> for Stopped {
    fn from(reason: &str) -> Stopped {
        Stopped::Refused(reason.into())
    }
}
