//! Counts of pieces that are cut again.

use crate::error::Result;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::watch::{Paced, Watch};

use super::{Adder, Counts};

impl Counts {
    /// Counts of what a pretokenizer cuts these pieces into: those of the corpus, had it been cut by
    /// both from the start.
    pub fn cut_again(&self, pretokenizer: &Pretokenizer, watch: &dyn Watch) -> Result<Counts> {
        let mut adder = Adder::new(self.end.is_some());
        let mut paced = Paced::new(watch);
        for entry in &self.entries {
            let piece = entry.piece(&self.bytes);
            pretokenizer.for_many(piece, 0, GoesOn::No, watch, |mut start, ends| {
                ends.iter().try_for_each(|&end| {
                    let from = std::mem::replace(&mut start, end);
                    adder.add(&piece[from..end], entry.count, entry.first + from as u64)
                })
            })?;
            paced.after(1)?;
        }
        adder.finish(self.totals.documents, watch)
    }
}
