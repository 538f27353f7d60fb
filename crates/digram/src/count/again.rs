//! Pretokenizing counted pieces again.

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::pretokenize::{GoesOn, Pretokenizer};

use super::{Adder, Counts};

impl Counts {
    /// Splits each piece with a second pretokenizer and counts the results: the counts of a corpus that
    /// both pretokenizers split.
    pub fn cut_again(&self, pretokenizer: &Pretokenizer, interrupt: &dyn Interrupt) -> Result<Counts> {
        let mut adder = Adder::new(self.end.is_some());
        let mut pacer = Pacer::new(interrupt);
        for entry in &self.entries {
            let piece = entry.piece(&self.bytes);
            pretokenizer.for_many(piece, 0, GoesOn::No, interrupt, |mut previous_end, ends| {
                ends.iter().try_for_each(|&end| {
                    let start = std::mem::replace(&mut previous_end, end);
                    adder.add(&piece[start..end], entry.count, entry.first + start as u64)
                })
            })?;
            pacer.after(1)?;
        }
        adder.finish(self.totals.documents, interrupt)
    }
}
