//! Interrupts: long operations check regularly whether they should stop.

use std::ops::Range;

use crate::error::Result;

/// Decides whether a long operation continues. Operations call [`Interrupt::check`] every few milliseconds.
pub trait Interrupt {
    /// `Ok` to continue. An error, usually [`crate::Error::Interrupted`], stops the operation, which
    /// returns it.
    fn check(&self) -> Result<()>;

    /// Reports progress: `_done` of `_all` units. Only operations that know their total size call this.
    fn progress(&self, _done: u64, _all: u64) {}
}

/// Never interrupts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Never;

impl Interrupt for Never {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Bytes, places or rows processed between two checks. They take 0.1 ms or more; a check that reads the
/// clock takes a thousandth of that.
pub(crate) const CHECK_INTERVAL: usize = 1 << 16;

/// The fixed cost of starting a text, expressed in bytes of text.
const OF_TEXT: usize = 32;

/// Calls [`Interrupt::check`] once per fixed amount of work.
///
/// A loop over many small items needs one pacer around the whole loop, because no single item may be large
/// enough to trigger a check.
pub(crate) struct Pacer<'w> {
    interrupt: &'w dyn Interrupt,
    every: usize,
    left: usize,
}

impl<'w> Pacer<'w> {
    /// A pacer for units that take nanoseconds each.
    pub(crate) fn new(interrupt: &'w dyn Interrupt) -> Pacer<'w> {
        Pacer::every(CHECK_INTERVAL, interrupt)
    }

    /// A pacer that checks every `every` units, which should take some milliseconds.
    pub(crate) fn every(every: usize, interrupt: &'w dyn Interrupt) -> Pacer<'w> {
        Pacer { interrupt, every, left: every }
    }

    /// Records that one of several texts was processed. Even an empty text has a cost.
    #[inline]
    pub(crate) fn after_text(&mut self, text: &[u8]) -> Result<()> {
        self.after(text.len() + OF_TEXT)
    }

    /// Records `work` more units.
    #[inline]
    pub(crate) fn after(&mut self, work: usize) -> Result<()> {
        if work < self.left {
            self.left -= work;
            return Ok(());
        }
        self.left = self.every;
        ask(self.interrupt)
    }
}

/// A separate function, so that the counter stays in a register in the calling loop.
#[cold]
#[inline(never)]
fn ask(interrupt: &dyn Interrupt) -> Result<()> {
    interrupt.check()
}

/// The first of these places for which `is` returns true.
pub(crate) fn find_first(
    places: Range<usize>,
    interrupt: &dyn Interrupt,
    is: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut start = places.start;
    while start < places.end {
        let end = places.end.min(start.saturating_add(CHECK_INTERVAL));
        if let Some(found) = (start..end).find(|&at| is(at)) {
            return Ok(Some(found));
        }
        start = end;
        interrupt.check()?;
    }
    Ok(None)
}

/// The last of these places for which `is` returns true.
pub(crate) fn find_last(
    places: Range<usize>,
    interrupt: &dyn Interrupt,
    is: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut end = places.end;
    while places.start < end {
        let start = places.start.max(end.saturating_sub(CHECK_INTERVAL));
        if let Some(found) = (start..end).rev().find(|&at| is(at)) {
            return Ok(Some(found));
        }
        end = start;
        interrupt.check()?;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_asked_each_time_so_much_was_done() {
        struct CountingInterrupt(std::cell::Cell<usize>);
        impl Interrupt for CountingInterrupt {
            fn check(&self) -> Result<()> {
                self.0.set(self.0.get() + 1);
                Ok(())
            }
        }
        let asked = |every, work: &[usize]| {
            let interrupt = CountingInterrupt(Default::default());
            let mut pacer = Pacer::every(every, &interrupt);
            work.iter().for_each(|&work| pacer.after(work).unwrap());
            interrupt.0.get()
        };
        assert_eq!(asked(3, &[1; 8]), 2);
        assert_eq!(asked(3, &[2, 2, 2, 2]), 2);
        assert_eq!(asked(3, &[100, usize::MAX, 0, 2]), 2);
    }
}
