//! Interrupts: long operations check regularly whether they should stop.

use std::ops::Range;

use crate::error::Result;

/// Decides whether a long operation continues. Operations call [`Interrupt::check`] every few milliseconds.
pub trait Interrupt {
    /// `Ok` to continue. An error, usually [`crate::Error::Interrupted`], stops the operation, which
    /// returns it.
    fn check(&self) -> Result<()>;

    /// The number of bytes, positions or rows between two checks.
    fn interval(&self) -> usize {
        CHECK_INTERVAL
    }

    /// The check after `_work` bytes, positions or rows.
    fn check_after(&self, _work: usize) -> Result<()> {
        self.check()
    }

    /// Reports progress: `_done` of `_total` units. Only operations that know their total size call this.
    fn progress(&self, _done: u64, _total: u64) {}
}

/// Never interrupts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Never;

impl Interrupt for Never {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// The number of bytes, positions or rows processed between two checks. They take 0.1 ms or more; a check that reads the
/// clock takes a thousandth of that.
pub(crate) const CHECK_INTERVAL: usize = 1 << 16;

/// The fixed cost of starting a text, expressed in bytes of text.
const TEXT_COST: usize = 32;

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
        Pacer::every(interrupt.interval(), interrupt)
    }

    /// A pacer that checks every `every` units, which should take some milliseconds.
    pub(crate) fn every(every: usize, interrupt: &'w dyn Interrupt) -> Pacer<'w> {
        Pacer { interrupt, every, left: every }
    }

    /// Records that one of several texts was processed, of this many bytes. Even an empty text has a cost.
    #[inline]
    pub(crate) fn after_text(&mut self, bytes: usize) -> Result<()> {
        self.after(bytes + TEXT_COST)
    }

    /// Records `work` more units.
    #[inline]
    pub(crate) fn after(&mut self, work: usize) -> Result<()> {
        if work < self.left {
            self.left -= work;
            return Ok(());
        }
        let done = (self.every - self.left).saturating_add(work);
        self.left = self.every;
        check_interrupt(self.interrupt, done)
    }
}

/// A separate function, so that the counter stays in a register in the calling loop.
#[cold]
#[inline(never)]
fn check_interrupt(interrupt: &dyn Interrupt, work: usize) -> Result<()> {
    interrupt.check_after(work)
}

/// The first of these positions for which `predicate` returns true.
pub(crate) fn find_first(
    positions: Range<usize>,
    interrupt: &dyn Interrupt,
    predicate: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut start = positions.start;
    while start < positions.end {
        let end = positions.end.min(start.saturating_add(CHECK_INTERVAL));
        if let Some(position) = (start..end).find(|&position| predicate(position)) {
            return Ok(Some(position));
        }
        start = end;
        interrupt.check()?;
    }
    Ok(None)
}

/// The last of these positions for which `predicate` returns true.
pub(crate) fn find_last(
    positions: Range<usize>,
    interrupt: &dyn Interrupt,
    predicate: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    let mut end = positions.end;
    while positions.start < end {
        let start = positions.start.max(end.saturating_sub(CHECK_INTERVAL));
        if let Some(position) = (start..end).rev().find(|&position| predicate(position)) {
            return Ok(Some(position));
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
    fn the_interrupt_is_checked_once_per_interval() {
        struct CountingInterrupt(std::cell::Cell<usize>);
        impl Interrupt for CountingInterrupt {
            fn check(&self) -> Result<()> {
                self.0.set(self.0.get() + 1);
                Ok(())
            }
        }
        let checks = |every, work: &[usize]| {
            let interrupt = CountingInterrupt(Default::default());
            let mut pacer = Pacer::every(every, &interrupt);
            work.iter().for_each(|&work| pacer.after(work).unwrap());
            interrupt.0.get()
        };
        assert_eq!(checks(3, &[1; 8]), 2);
        assert_eq!(checks(3, &[2, 2, 2, 2]), 2);
        assert_eq!(checks(3, &[100, usize::MAX, 0, 2]), 2);
    }
}
