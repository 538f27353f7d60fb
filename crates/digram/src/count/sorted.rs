//! Counts on disk.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

use super::folder::Folder;
use super::limits::length;
use super::merge::Merged;
use super::run::RunReader;
use super::sort::sort;
use super::{Checkpoint, CountEntry, Counts, Piece, Pieces, Totals};

/// Distinct pretokens with their counts in a file, in the order of their bytes. The file is deleted
/// when this value is dropped, unless it is in a checkpoint folder.
pub struct SortedCounts {
    pub(super) folder: Arc<Folder>,
    pub(super) name: String,
    pub(super) run: Merged,
    pub(super) totals: Totals,
    /// The end of the corpus in the unit of first occurrences; `None` if those are unknown.
    pub(super) end: Option<u64>,
}

impl SortedCounts {
    /// The path of the file. Its format is private to digram.
    pub fn path(&self) -> PathBuf {
        self.folder.file(&self.name)
    }

    /// A checkpoint with these counts: a counter that resumes from it and is finished at once
    /// returns them.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.folder.sync([&self.name[..]])?;
        Ok(Checkpoint { runs: vec![self.name.clone()], totals: self.totals })
    }

    /// The end of the corpus in the unit of first occurrences; `None` if those are unknown.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// The same counts in memory, in the order of first occurrence if it is known.
    pub fn read(&self, interrupt: &dyn Interrupt) -> Result<Counts> {
        if u32::try_from(self.run.pieces).is_err() {
            return Err(Error::TooManyPretokens);
        }
        memory::check_available(memory::saturating_usize(self.in_memory()))?;
        let mut bytes = Vec::with_capacity(self.run.text as usize);
        let mut entries = Vec::with_capacity(self.run.pieces as usize);
        let mut pacer = Pacer::new(interrupt);
        self.for_each(&mut |piece| {
            pacer.after(1 + piece.bytes.len())?;
            let (start, len) = (bytes.len() as u64, length(piece.bytes.len())?);
            entries.push(CountEntry { start, len, count: piece.count, first: piece.first });
            bytes.extend_from_slice(piece.bytes);
            Ok(())
        })?;
        if self.end.is_some() {
            sort(&mut entries, &|a: &CountEntry, b: &CountEntry| a.first.cmp(&b.first), interrupt)?;
        }
        Ok(Counts { end: self.end, ..Counts::counted(bytes, entries, self.totals) })
    }
}

impl Pieces for SortedCounts {
    fn totals(&self) -> Totals {
        self.totals
    }

    fn distinct(&self) -> u64 {
        self.run.pieces
    }

    fn distinct_bytes(&self) -> u64 {
        self.run.text
    }

    fn memory_in_use(&self) -> u64 {
        0
    }

    fn to_memory(&self, interrupt: &dyn Interrupt) -> Result<Cow<'_, Counts>> {
        self.read(interrupt).map(Cow::Owned)
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        let mut reader = RunReader::open(&self.path())?;
        while reader.next()? {
            visit(reader.piece())?;
        }
        Ok(())
    }
}

/// Counts in memory, or on disk if they did not fit.
pub enum Counted {
    /// In the order of first occurrence.
    Memory(Counts),
    /// In the order of their bytes.
    Disk(SortedCounts),
}

/// Checks that all bytes read were counted.
pub(super) fn check_sum(totals: Totals, counted: u128) -> Result<()> {
    if counted == u128::from(totals.bytes) {
        return Ok(());
    }
    let reason = format!("{} bytes were read, but {counted} were counted.", totals.bytes);
    Err(Error::Internal { reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    #[test]
    fn too_many_pretokens_are_an_error_before_the_file_is_read() {
        let counts = SortedCounts {
            folder: Arc::new(Folder::temporary(&std::env::temp_dir()).unwrap()),
            name: "there is no such file".into(),
            run: Merged { pieces: 1 << 32, ..Merged::default() },
            totals: Totals::default(),
            end: None,
        };
        assert_eq!(counts.to_memory(&Never).err(), Some(Error::TooManyPretokens));
    }
}
