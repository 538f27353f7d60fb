//! Counts of several corpora, weighted and brought together on disk.

use std::path::Path;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

use super::folder::Folder;
use super::limits::{too_far, too_many_documents, too_much};
use super::spill::Spill;
use super::{Counts, Piece, Pieces, SortedCounts, Totals, Weight};

/// Brings together counts of several corpora, one after the other, as [`Counts::scale`] and
/// [`Counts::merge`] would, and holds none of them.
pub struct Joiner {
    spill: Spill,
    documents: u64,
    /// Where the corpora so far end; `None` where first occurrences are not known.
    end: Option<u64>,
}

impl Joiner {
    /// Nothing yet. What comes goes to a new folder in `inside`, which is deleted when nobody needs
    /// it any more; bringing it together takes a sixteenth of `memory` bytes. `ordered` says whether
    /// first occurrences are known.
    pub fn new(memory: u64, inside: &Path, ordered: bool) -> Result<Joiner> {
        let spill = Spill::new(Folder::temporary(inside)?, &[], Some(memory));
        Ok(Joiner { spill, documents: 0, end: ordered.then_some(0) })
    }

    /// The next corpus, whose counts are in memory.
    pub fn add(&mut self, counts: &Counts, weight: Weight, interrupt: &dyn Interrupt) -> Result<()> {
        counts.sort_by_piece(interrupt)?;
        self.add_sorted(counts.totals(), counts.end(), weight, interrupt, |visit| {
            (0..counts.len()).try_for_each(|place| {
                let (bytes, count, first) = counts.by_piece(place);
                visit(Piece { bytes, count, first })
            })
        })
    }

    /// The next corpus, whose counts are on disk.
    pub fn add_from_disk(
        &mut self,
        counts: &SortedCounts,
        weight: Weight,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        self.add_sorted(counts.totals(), counts.end(), weight, interrupt, |visit| counts.for_each(visit))
    }

    fn add_sorted(
        &mut self,
        totals: Totals,
        end: Option<u64>,
        weight: Weight,
        interrupt: &dyn Interrupt,
        each: impl FnOnce(&mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let start = self.end;
        self.spill.write_run(interrupt, |push| {
            each(&mut |Piece { bytes, count, first }| {
                let first = match start {
                    Some(start) => start.checked_add(first).ok_or_else(too_far)?,
                    None => 0,
                };
                match weight.of_piece(bytes, count)? {
                    0 => Ok(()),
                    count => push(Piece { bytes, count, first }),
                }
            })
        })?;
        self.documents = self.documents.checked_add(totals.documents).ok_or_else(too_many_documents)?;
        if let Some(start) = start {
            let unknown = || Error::Internal { reason: "first occurrences are not known.".into() };
            self.end = Some(start.checked_add(end.ok_or_else(unknown)?).ok_or_else(too_far)?);
        }
        Ok(())
    }

    /// The counts of all of them.
    pub fn finish(self, interrupt: &dyn Interrupt) -> Result<SortedCounts> {
        let (folder, name, run) = self.spill.into_one(interrupt)?;
        let (Ok(bytes), Ok(pretokens)) = (u64::try_from(run.bytes), u64::try_from(run.pretokens)) else {
            return Err(too_much());
        };
        let totals = Totals { documents: self.documents, bytes, pretokens };
        Ok(SortedCounts { folder, name, run, totals, end: self.end })
    }
}
