//! Somebody who watches and does not wait for ever.

use std::cell::Cell;

use digram::interrupt::Interrupt;
use digram::{Error, Result};

/// Interrupts at the given number of checks.
pub struct Patience {
    pub asked: Cell<usize>,
    maximum: usize,
}

impl Patience {
    pub fn new(maximum: usize) -> Patience {
        Patience { asked: Cell::new(0), maximum }
    }
}

impl Interrupt for Patience {
    fn check(&self) -> Result<()> {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() < self.maximum { Ok(()) } else { Err(Error::Interrupted) }
    }
}
