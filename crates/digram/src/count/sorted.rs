//! Counts on disk.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::watch::Watch;

use super::folder::Folder;
use super::run::Reader;
use super::sort::sort;
use super::table::Table;
use super::{Checkpoint, Counts, Entry, Piece, Pieces, Totals};

/// Pieces read between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 16;

/// Distinct pretokens and how often each stands in the corpus, in a file, in the order of their
/// bytes. The file is deleted with this, unless it lies in a folder of checkpoints.
pub struct SortedCounts {
    pub(super) folder: Arc<Folder>,
    pub(super) name: String,
    pub(super) distinct: u64,
    pub(super) totals: Totals,
}

impl SortedCounts {
    /// Where the file is. Its form is private to digram.
    pub fn path(&self) -> PathBuf {
        self.folder.file(&self.name)
    }

    /// A state from which a counter that is finished at once has these counts again.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.folder.sync([&self.name[..]])?;
        Ok(Checkpoint { runs: vec![self.name.clone()], totals: self.totals })
    }

    /// The same counts in memory, as much as that takes, in the order of first occurrence.
    pub fn to_memory(&self, watch: &dyn Watch) -> Result<Counts> {
        let mut table = Table::default();
        self.for_each(&mut |piece| {
            if table.entries.len() % BETWEEN_CHECKS == 0 {
                watch.check()?;
            }
            table.add(piece.bytes, piece.count, piece.first)
        })?;
        sort(&mut table.entries, &|a: &Entry, b: &Entry| a.first.cmp(&b.first), watch)?;
        Ok(Counts::counted(table.bytes, table.entries, self.totals))
    }
}

impl Pieces for SortedCounts {
    fn totals(&self) -> Totals {
        self.totals
    }

    fn distinct(&self) -> u64 {
        self.distinct
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        let mut reader = Reader::open(&self.path())?;
        while reader.next()? {
            visit(reader.piece())?;
        }
        Ok(())
    }
}

/// Counts in memory, or on disk where they did not fit.
pub enum Counted {
    /// In the order of first occurrence.
    Memory(Counts),
    /// In the order of their bytes.
    Disk(SortedCounts),
}

impl Pieces for Counted {
    fn totals(&self) -> Totals {
        match self {
            Counted::Memory(counts) => counts.totals(),
            Counted::Disk(counts) => counts.totals(),
        }
    }

    fn distinct(&self) -> u64 {
        match self {
            Counted::Memory(counts) => counts.distinct(),
            Counted::Disk(counts) => counts.distinct(),
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        match self {
            Counted::Memory(counts) => counts.for_each(visit),
            Counted::Disk(counts) => counts.for_each(visit),
        }
    }
}

/// Bytes read and bytes counted must be the same.
pub(super) fn check_sum(totals: Totals, counted: u64) -> Result<()> {
    if counted == totals.bytes {
        return Ok(());
    }
    let reason = format!("{} bytes were read, but {counted} were counted.", totals.bytes);
    Err(Error::Internal { reason })
}
