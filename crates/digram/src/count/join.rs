//! Merging weighted counts of several corpora on disk.

use std::path::Path;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;

use super::folder::Folder;
use super::limits::{too_far, too_many_documents, too_much};
use super::spill::Spill;
use super::{Counts, Piece, Pieces, SortedCounts, Totals, Weight};

/// Merges counts of several corpora, one after the other, as [`Counts::scale`] and
/// [`Counts::merge`] would, without keeping them in memory.
pub struct Joiner {
    spill: Spill,
    documents: u64,
    /// The end of the corpora so far; `None` if first occurrences are unknown.
    end: Option<u64>,
}

impl Joiner {
    /// A joiner without counts. The counts are written to a new folder in `parent`, which is deleted with
    /// its last user; merging takes a sixteenth of `memory` bytes. `ordered` states whether first
    /// occurrences are known.
    pub fn new(memory: u64, parent: &Path, ordered: bool) -> Result<Joiner> {
        let spill = Spill::new(Folder::temporary(parent)?, &[], Some(memory));
        Ok(Joiner { spill, documents: 0, end: ordered.then_some(0) })
    }

    /// Adds the next corpus, with counts in memory.
    pub fn add(&mut self, counts: &Counts, weight: Weight, interrupt: &dyn Interrupt) -> Result<()> {
        counts.sort_by_piece(interrupt)?;
        self.add_sorted(counts.totals(), counts.end(), weight, interrupt, |visit| {
            (0..counts.len()).try_for_each(|index| {
                let (bytes, count, first) = counts.by_piece(index);
                visit(Piece { bytes, count, first })
            })
        })
    }

    /// Adds the next corpus, with counts on disk.
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
        for_each: impl FnOnce(&mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let start = self.end;
        self.spill.write_run(interrupt, |push| {
            for_each(&mut |Piece { bytes, count, first }| {
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

    /// The merged counts.
    pub fn finish(self, interrupt: &dyn Interrupt) -> Result<SortedCounts> {
        let (folder, name, run) = self.spill.into_one(interrupt)?;
        let (Ok(bytes), Ok(pretokens)) = (u64::try_from(run.bytes), u64::try_from(run.pretokens)) else {
            return Err(too_much());
        };
        let totals = Totals { documents: self.documents, bytes, pretokens };
        Ok(SortedCounts { folder, name, run, totals, end: self.end })
    }
}
