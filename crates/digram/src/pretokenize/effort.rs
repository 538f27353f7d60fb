//! How much work it may be to make patterns ready, which may come from a file of anybody.
//!
//! Work is counted in steps, not in time, so that a pattern is refused on every machine or on none.

use crate::error::Error;
use crate::interrupt::{Interrupt, Pacer};

/// The most steps for all patterns of a pretokenizer: some tenths of a second. The published ones
/// need less than a thousandth.
const MOST_STEPS: usize = 1 << 26;

/// Steps between two checks of the interrupt: a millisecond or less.
const CHECK_INTERVAL: usize = 1 << 16;

/// What is left of the work that is allowed, and who is asked meanwhile whether to go on.
pub(super) struct Effort<'w> {
    left: usize,
    pacer: Pacer<'w>,
}

/// Why a pattern is not made ready.
#[derive(Debug)]
pub(super) enum Stopped {
    /// What is wrong with it.
    Refused(String),
    /// It takes more than [`MOST_STEPS`].
    TooMuch,
    /// The error of the interrupt.
    Watched(Error),
}

impl<'w> Effort<'w> {
    pub(super) fn new(interrupt: &'w dyn Interrupt) -> Effort<'w> {
        Effort { left: MOST_STEPS, pacer: Pacer::every(CHECK_INTERVAL, interrupt) }
    }

    /// So many more steps are done.
    #[inline]
    pub(super) fn after(&mut self, steps: usize) -> Result<(), Stopped> {
        self.left = self.left.checked_sub(steps).ok_or(Stopped::TooMuch)?;
        self.pacer.after(steps).map_err(Stopped::Watched)
    }
}

impl Stopped {
    /// The error for the pattern that was worked on.
    pub(super) fn at(self, pattern: &str) -> Error {
        let reason = match self {
            Stopped::Watched(error) => return error,
            Stopped::Refused(reason) => reason,
            Stopped::TooMuch => format!(
                "its automaton is too large: to build it, after those of the patterns before it, takes more \
                 than {MOST_STEPS} steps. Shorten its counted repetitions, name fewer sets of characters, or \
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
