//! Somebody who watches and does not wait for ever.

use std::cell::Cell;

use digram::watch::Watch;
use digram::{Error, Result};

/// Stops the work when it is asked so many times.
pub struct Patience {
    pub asked: Cell<usize>,
    most: usize,
}

impl Patience {
    pub fn new(most: usize) -> Patience {
        Patience { asked: Cell::new(0), most }
    }
}

impl Watch for Patience {
    fn check(&self) -> Result<()> {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() < self.most { Ok(()) } else { Err(Error::Interrupted) }
    }
}
