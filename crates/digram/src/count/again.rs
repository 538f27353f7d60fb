//! Counts of pieces that are cut again.

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::pretokenize::{GoesOn, Pretokenizer};

use super::{Adder, Counts};

impl Counts {
    /// Counts of what a pretokenizer cuts these pieces into: those of the corpus, had it been cut by
    /// both from the start.
    pub fn cut_again(&self, pretokenizer: &Pretokenizer, interrupt: &dyn Interrupt) -> Result<Counts> {
        let mut adder = Adder::new(self.end.is_some());
        let mut pacer = Pacer::new(interrupt);
        for entry in &self.entries {
            let piece = entry.piece(&self.bytes);
            pretokenizer.for_many(piece, 0, GoesOn::No, interrupt, |mut start, ends| {
                ends.iter().try_for_each(|&end| {
                    let from = std::mem::replace(&mut start, end);
                    adder.add(&piece[from..end], entry.count, entry.first + from as u64)
                })
            })?;
            pacer.after(1)?;
        }
        adder.finish(self.totals.documents, interrupt)
    }
}
