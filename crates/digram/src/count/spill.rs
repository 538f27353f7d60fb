//! Counts that do not fit into memory: sorted runs in a folder.
//!
//! A full table is sorted and written as a run. If there are many runs, they are merged into a larger one,
//! and many of these into a still larger one. So even a hundred thousand tables are read and written only
//! three times, and no more than [`MAX_MERGED_RUNS`] files are open at once.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory::saturating_usize;

use super::Piece;
use super::folder::{Folder, remove};
use super::merge::{Merged, merge};
use super::run::{RunReader, RunWriter};
use super::tally::ThreadCounts;

/// The maximum number of runs merged at once.
const MAX_MERGED_RUNS: usize = 64;

/// One byte in this many of the memory limit is the size of a block. All blocks of a merge take a sixteenth
/// of the limit.
const BLOCK_SHARE: u64 = 1 << 10;

/// The minimum block size, and the size used without a memory limit.
const BLOCK_SIZES: [usize; 2] = [1 << 12, 1 << 18];

/// Sorted runs in a folder, written by several threads.
pub(crate) struct Spill {
    folder: Arc<Folder>,
    /// The size of a block, in bytes.
    block: usize,
    runs: Mutex<RunFiles>,
}

#[derive(Default)]
struct RunFiles {
    /// The file names by level: runs of tables first, then runs merged from those, and so on.
    levels: Vec<Vec<String>>,
    /// Files that have not been synced to disk yet.
    unsynced: Vec<String>,
    /// Files that were merged since, but that the last checkpoint may name.
    old: Vec<String>,
    /// Files that only the checkpoint before the last one named.
    older: Vec<String>,
    is_merging: bool,
}

impl Spill {
    /// Starts from the runs with these names. Merging takes a sixteenth of `memory`.
    pub(crate) fn new(folder: impl Into<Arc<Folder>>, runs: &[String], memory: Option<u64>) -> Spill {
        let block = memory
            .map_or(BLOCK_SIZES[1], |bytes| saturating_usize(bytes / BLOCK_SHARE))
            .clamp(BLOCK_SIZES[0], BLOCK_SIZES[1]);
        let runs = RunFiles { levels: vec![runs.to_vec()], ..RunFiles::default() };
        Spill { folder: folder.into(), block, runs: Mutex::new(runs) }
    }

    pub(super) fn is_temporary(&self) -> bool {
        self.folder.is_temporary()
    }

    /// Whether there are no runs.
    pub(super) fn is_empty(&self) -> bool {
        self.runs().levels.iter().all(Vec::is_empty)
    }

    /// Checks that all runs exist and are complete, as far as their ends show.
    pub(super) fn check(&self) -> Result<()> {
        self.runs()
            .levels
            .concat()
            .iter()
            .try_for_each(|name| RunReader::pieces(&self.folder.file(name)).map(|_| ()))
    }

    fn runs(&self) -> MutexGuard<'_, RunFiles> {
        self.runs.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Writes the counts of a thread as a run and empties them.
    pub(super) fn write(&self, tally: &mut ThreadCounts, interrupt: &dyn Interrupt) -> Result<()> {
        if tally.len() == 0 {
            return Ok(());
        }
        self.write_run(interrupt, |push| tally.drain_sorted(interrupt, push))
    }

    /// Writes one pretoken, which is too long for a table.
    pub(super) fn write_one(&self, piece: Piece<'_>, interrupt: &dyn Interrupt) -> Result<()> {
        self.write_run(interrupt, |push| push(piece))
    }

    /// Writes the pieces that `for_each` passes to its argument; they must come in the order of their bytes.
    pub(crate) fn write_run(
        &self,
        interrupt: &dyn Interrupt,
        for_each: impl FnOnce(&mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let name = self.folder.new_name();
        let mut writer = RunWriter::create(&self.folder.file(&name), self.block)?;
        for_each(&mut |piece| if writer.push(piece)? { interrupt.check() } else { Ok(()) })?;
        writer.finish()?;
        self.add(name, interrupt)
    }

    /// Adds a run, and merges runs if there are many. Only one thread merges at a time.
    fn add(&self, name: String, interrupt: &dyn Interrupt) -> Result<()> {
        let mut runs = self.runs();
        runs.unsynced.push(name.clone());
        runs.levels[0].push(name);
        while !runs.is_merging
            && let Some(level) = runs.levels.iter().position(|level| level.len() >= MAX_MERGED_RUNS)
        {
            let names: Vec<String> = runs.levels[level].drain(..MAX_MERGED_RUNS).collect();
            runs.is_merging = true;
            drop(runs);
            let merged = self.merge(&names, interrupt);
            runs = self.runs();
            runs.is_merging = false;
            if runs.levels.len() == level + 1 {
                runs.levels.push(Vec::new());
            }
            runs.levels[level + 1].push(merged?.0);
        }
        Ok(())
    }

    /// Merges the runs `inputs` into one; returns its name and totals.
    fn merge(&self, inputs: &[String], interrupt: &dyn Interrupt) -> Result<(String, Merged)> {
        let name = self.folder.new_name();
        let paths = inputs.iter().map(|name| self.folder.file(name));
        let merged = merge(paths, &self.folder.file(&name), self.block, interrupt)?;
        let mut runs = self.runs();
        runs.unsynced.retain(|name| !inputs.contains(name));
        runs.unsynced.push(name.clone());
        if self.is_temporary() {
            inputs.iter().try_for_each(|name| remove(&self.folder.file(name)))?;
        } else {
            runs.old.extend_from_slice(inputs);
        }
        Ok((name, merged))
    }

    /// Syncs all runs to disk and returns their names. Deletes the files that only earlier checkpoints than
    /// the last one name.
    pub(super) fn checkpoint(&self) -> Result<Vec<String>> {
        let mut runs = self.runs();
        let unsynced = std::mem::take(&mut runs.unsynced);
        self.folder.sync(unsynced.iter().map(|name| &name[..]))?;
        let old = std::mem::take(&mut runs.old);
        let older = std::mem::replace(&mut runs.older, old);
        older.iter().try_for_each(|name| remove(&self.folder.file(name)))?;
        Ok(runs.levels.concat())
    }

    /// Merges all pieces into one run: the folder, the run's name, and its totals.
    pub(super) fn into_one(self, interrupt: &dyn Interrupt) -> Result<(Arc<Folder>, String, Merged)> {
        let (folder, name, totals) = self.into_run(interrupt)?;
        let totals = match totals {
            Some(totals) => totals,
            None => Merged::of_run(&folder.file(&name), interrupt)?,
        };
        Ok((folder, name, totals))
    }

    /// Like [`Spill::into_one`], but a single run is not read to find its totals.
    pub(crate) fn into_run(self, interrupt: &dyn Interrupt) -> Result<(Arc<Folder>, String, Option<Merged>)> {
        // The smallest first, because the runs of early merges are read and written most often.
        let mut names = std::mem::take(&mut self.runs().levels).concat();
        if let [name] = &names[..] {
            return Ok((self.folder, name.clone(), None));
        }
        loop {
            // Sized so that the last merge has the maximum number of runs.
            let count = if names.len() <= MAX_MERGED_RUNS {
                names.len()
            } else {
                (names.len() - MAX_MERGED_RUNS + 1).min(MAX_MERGED_RUNS)
            };
            let inputs: Vec<String> = names.drain(..count).collect();
            let (name, merged) = self.merge(&inputs, interrupt)?;
            if names.is_empty() {
                return Ok((self.folder, name, Some(merged)));
            }
            names.push(name);
        }
    }
}
