//! What does not fit into memory: runs in a folder.
//!
//! A full table is sorted and written as a run. When there are many runs they are merged to a larger
//! one, and many of these to a still larger one, so that a hundred thousand tables are read and
//! written three times, and never more than [`MOST`] files are open.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::Result;
use crate::room::most;
use crate::watch::Watch;

use super::Piece;
use super::folder::{Folder, remove};
use super::merge::{Merged, merge};
use super::run::{Reader, Writer};
use super::tally::Tally;

/// The most runs that are merged at once.
const MOST: usize = 64;

/// Of so many bytes of memory one is for a block. All blocks of a merge take a sixteenth.
const OF_BLOCK: u64 = 1 << 10;

/// The smallest block, and the one where memory has no limit.
const BLOCK: [usize; 2] = [1 << 12, 1 << 18];

/// Runs in a folder, written by several threads.
pub(crate) struct Spill {
    folder: Arc<Folder>,
    /// The size of a block, in bytes.
    block: usize,
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    /// The names of all: first those of tables, then those of merged runs, and so on.
    levels: Vec<Vec<String>>,
    /// Those not known to be on the disk.
    unsynced: Vec<String>,
    /// Those that were merged, but that a checkpoint may name.
    old: Vec<String>,
    /// Those of them that only the checkpoint before the last one named.
    older: Vec<String>,
    is_merging: bool,
}

impl Spill {
    /// Those of these names. Merging them takes a sixteenth of the memory.
    pub(crate) fn new(folder: impl Into<Arc<Folder>>, runs: &[String], memory: Option<u64>) -> Spill {
        let block = memory.map_or(BLOCK[1], |bytes| most(bytes / OF_BLOCK)).clamp(BLOCK[0], BLOCK[1]);
        let runs = Runs { levels: vec![runs.to_vec()], ..Runs::default() };
        Spill { folder: folder.into(), block, runs: Mutex::new(runs) }
    }

    pub(super) fn is_temporary(&self) -> bool {
        self.folder.is_temporary()
    }

    /// Whether there are no runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs().levels.iter().all(Vec::is_empty)
    }

    /// Whether all runs are there, and whole as far as their ends tell.
    pub(super) fn check(&self) -> Result<()> {
        self.runs()
            .levels
            .concat()
            .iter()
            .try_for_each(|name| Reader::pieces(&self.folder.file(name)).map(|_| ()))
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Writes what a thread counted, which is then empty.
    pub(super) fn write(&self, tally: &mut Tally, watch: &dyn Watch) -> Result<()> {
        if tally.len() == 0 {
            return Ok(());
        }
        self.write_run(watch, |push| tally.drain_sorted(watch, push))
    }

    /// Writes one pretoken, which is too long for a table.
    pub(super) fn write_one(&self, piece: Piece<'_>, watch: &dyn Watch) -> Result<()> {
        self.write_run(watch, |push| push(piece))
    }

    /// Writes the pieces that `give` calls what it is given with, in the order of their bytes.
    pub(crate) fn write_run(
        &self,
        watch: &dyn Watch,
        give: impl FnOnce(&mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let name = self.folder.new_name();
        let mut writer = Writer::create(&self.folder.file(&name), self.block)?;
        give(&mut |piece| if writer.push(piece)? { watch.check() } else { Ok(()) })?;
        writer.finish()?;
        self.add(name, watch)
    }

    /// Adds a run, and merges runs where there are many. One thread merges at a time.
    fn add(&self, name: String, watch: &dyn Watch) -> Result<()> {
        let mut runs = self.runs();
        runs.unsynced.push(name.clone());
        runs.levels[0].push(name);
        while !runs.is_merging
            && let Some(level) = runs.levels.iter().position(|level| level.len() >= MOST)
        {
            let many: Vec<String> = runs.levels[level].drain(..MOST).collect();
            runs.is_merging = true;
            drop(runs);
            let merged = self.merge(&many, watch);
            runs = self.runs();
            runs.is_merging = false;
            if runs.levels.len() == level + 1 {
                runs.levels.push(Vec::new());
            }
            runs.levels[level + 1].push(merged?.0);
        }
        Ok(())
    }

    /// Merges runs to one, and returns its name and what it holds.
    fn merge(&self, many: &[String], watch: &dyn Watch) -> Result<(String, Merged)> {
        let name = self.folder.new_name();
        let paths = many.iter().map(|name| self.folder.file(name));
        let merged = merge(paths, &self.folder.file(&name), self.block, watch)?;
        let mut runs = self.runs();
        runs.unsynced.retain(|name| !many.contains(name));
        runs.unsynced.push(name.clone());
        if self.is_temporary() {
            many.iter().try_for_each(|name| remove(&self.folder.file(name)))?;
        } else {
            runs.old.extend_from_slice(many);
        }
        Ok((name, merged))
    }

    /// Brings all runs to the disk, and returns their names. Deletes those that only names returned
    /// before the last time are of.
    pub(super) fn checkpoint(&self) -> Result<Vec<String>> {
        let mut runs = self.runs();
        let unsynced = std::mem::take(&mut runs.unsynced);
        self.folder.sync(unsynced.iter().map(|name| &name[..]))?;
        let old = std::mem::take(&mut runs.old);
        let older = std::mem::replace(&mut runs.older, old);
        older.iter().try_for_each(|name| remove(&self.folder.file(name)))?;
        Ok(runs.levels.concat())
    }

    /// All pieces in one run: the folder, the run's name, and what it holds.
    pub(super) fn into_one(self, watch: &dyn Watch) -> Result<(Arc<Folder>, String, Merged)> {
        let (folder, name, held) = self.into_run(watch)?;
        let held = match held {
            Some(held) => held,
            None => Merged::of_one(&folder.file(&name), watch)?,
        };
        Ok((folder, name, held))
    }

    /// The same, but a run that needs not be merged is not read to tell what it holds.
    pub(crate) fn into_run(self, watch: &dyn Watch) -> Result<(Arc<Folder>, String, Option<Merged>)> {
        // The smallest first: what is read and written most often should be little.
        let mut names = std::mem::take(&mut self.runs().levels).concat();
        if let [name] = &names[..] {
            return Ok((self.folder, name.clone(), None));
        }
        loop {
            // So many that the last merge has as many as it may.
            let many = if names.len() <= MOST { names.len() } else { (names.len() - MOST + 1).min(MOST) };
            let few: Vec<String> = names.drain(..many).collect();
            let (name, merged) = self.merge(&few, watch)?;
            if names.is_empty() {
                return Ok((self.folder, name, Some(merged)));
            }
            names.push(name);
        }
    }
}
