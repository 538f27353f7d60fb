//! Counting batches of text on several threads.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use hashbrown::DefaultHashBuilder;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer, find_first};
use crate::memory::{self, saturating_usize};
use crate::normalize::{Normalizer, first_border};
use crate::parallel::in_parallel;
use crate::pretokenize::{ALONE_BYTES, Pretokenizer, TASK_BYTES, TextPart, parts, split_points, tasks};
use crate::text::Text;

use super::folder::Folder;
use super::gather::gather;
use super::sorted::check_sum;
use super::spill::Spill;
use super::tally::{SpillTarget, ThreadCounts};
use super::{Counted, Counts, SortedCounts, Stretched, Stretches, Totals};

/// The minimum memory limit of a counter, in bytes.
pub const MIN_MEMORY: u64 = 4 << 20;

/// The minimum memory of a thread's tables; with less memory, fewer threads are used.
const MIN_THREAD_MEMORY: usize = 1 << 20;

/// Counts batches of text, one after the other.
pub struct Counter {
    normalizer: Option<Arc<Normalizer>>,
    /// What takes texts apart, in place of the normalizer alone.
    stretches: Option<Arc<dyn Stretches>>,
    pretokenizer: Arc<Pretokenizer>,
    hasher: DefaultHashBuilder,
    /// The counts of each thread, which continue from batch to batch.
    tallies: Vec<ThreadCounts>,
    /// The number of threads that share the memory.
    threads: usize,
    memory: Option<u64>,
    spill: Option<Spill>,
    totals: Totals,
}

/// A checkpoint: the state after some batch, from which counting can resume.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// The names of the files that hold the counts.
    pub runs: Vec<String>,
    /// The totals up to the checkpoint.
    pub totals: Totals,
}

impl Counter {
    /// A counter that has counted nothing.
    pub fn new(pretokenizer: impl Into<Arc<Pretokenizer>>) -> Counter {
        Counter {
            normalizer: None,
            stretches: None,
            pretokenizer: pretokenizer.into(),
            hasher: DefaultHashBuilder::default(),
            tallies: Vec::new(),
            threads: 1,
            memory: None,
            spill: None,
            totals: Totals::default(),
        }
    }

    /// A counter that takes up to `memory` bytes, beside the texts and the longest pretokens.
    /// Counts that do not fit are written to a new folder in `parent`, which is deleted with its last
    /// user. [`Error::Option`] if the memory is less than [`MIN_MEMORY`].
    pub fn bounded(
        pretokenizer: impl Into<Arc<Pretokenizer>>,
        memory: u64,
        parent: &Path,
    ) -> Result<Counter> {
        let counter = Counter::new(pretokenizer).with_memory_limit(Some(memory))?;
        let spill = Spill::new(Folder::temporary(parent)?, &[], counter.memory);
        Ok(Counter { spill: Some(spill), ..counter })
    }

    /// A counter that resumes from a checkpoint whose files are in `folder`, and writes new ones there; an
    /// empty counter for [`Checkpoint::default`].
    ///
    /// Other counter files in the folder are deleted: they were written after the checkpoint.
    /// [`Error::Corrupt`] for a file that is not complete, as far as its end shows; [`Error::Checkpoint`]
    /// if files of counts are missing, or, when the counter is finished, if they contain other counts.
    pub fn resumed(
        pretokenizer: impl Into<Arc<Pretokenizer>>,
        memory: Option<u64>,
        folder: &Path,
        checkpoint: &Checkpoint,
    ) -> Result<Counter> {
        let counter = Counter::new(pretokenizer).with_memory_limit(memory)?;
        if checkpoint.runs.is_empty() && checkpoint.totals.bytes > 0 {
            return Err(checkpoint_mismatch(checkpoint.totals, 0, 0));
        }
        let folder = Folder::persistent(folder, &checkpoint.runs)?;
        let spill = Spill::new(folder, &checkpoint.runs, memory);
        spill.check()?;
        Ok(Counter { spill: Some(spill), totals: checkpoint.totals, ..counter })
    }

    /// Normalizes texts before they are split; the totals are then those of normalized text.
    pub fn with_normalizer(self, normalizer: Option<Arc<Normalizer>>) -> Counter {
        Counter { normalizer, ..self }
    }

    /// Takes texts apart before they are split, which includes their normalization.
    pub fn with_stretches(self, stretches: Option<Arc<dyn Stretches>>) -> Counter {
        Counter { stretches, ..self }
    }

    fn with_memory_limit(self, memory: Option<u64>) -> Result<Counter> {
        if let Some(bytes @ ..MIN_MEMORY) = memory {
            let reason = format!(
                "a memory limit of {bytes} bytes is too low for counting; the minimum is {MIN_MEMORY}."
            );
            return Err(Error::Option { reason });
        }
        Ok(Counter { memory, ..self })
    }

    /// Counts a batch of texts on up to `threads` threads, a long text on several of them. Texts
    /// never join.
    ///
    /// After an interrupt the counter contains a part of the batch and must be dropped.
    pub fn add<T: AsRef<[u8]> + Sync>(
        &mut self,
        texts: &[T],
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        self.add_parts(texts, texts.len() as u64, threads, interrupt)
    }

    /// Like `add`, for texts of which some are split into parts at [`Pretokenizer::last_border_so_far`];
    /// `documents` is the number of parts that begin a text.
    pub fn add_parts<T: AsRef<[u8]> + Sync>(
        &mut self,
        texts: &[T],
        documents: u64,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let bytes: usize = texts.iter().map(|text| text.as_ref().len()).sum();
        let alone = threads == 1 || bytes < ALONE_BYTES;
        let parts = parts(texts, |text| match text {
            Text::Utf8(text) if !alone => {
                split_points(text.len(), |offsets| self.first_border(text, offsets, interrupt))
            }
            _ => Ok(Vec::new()),
        })?;
        let threads = self.limit_threads(if alone { 1 } else { threads }, interrupt)?;
        let memory = self.thread_memory();
        let tasks = tasks(&parts, if alone { usize::MAX } else { TASK_BYTES })?;
        let stretches = self.stretches.clone();
        let prepared = self.prepared(stretches.as_deref(), texts, &parts, &tasks, threads, interrupt)?;
        let starts = self.starts(&parts, prepared.as_deref())?;
        let idle = Mutex::new(std::mem::take(&mut self.tallies));
        let pop_idle = || idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let counted = in_parallel(
            threads,
            tasks.len(),
            interrupt,
            || BorrowedCounts {
                tally: Some(pop_idle().unwrap_or_else(|| ThreadCounts::new(memory, &self.hasher))),
                pool: &idle,
            },
            |borrowed, task, interrupt| {
                let spill_target = SpillTarget { spill: self.spill.as_ref(), interrupt };
                let tally = borrowed.tally.as_mut().expect("lent until the end");
                let (mut pretokens, mut pacer) = (0, Pacer::new(interrupt));
                for index in tasks[task].clone() {
                    let (part, start) = (&parts[index], starts[index]);
                    let mut count = |text: &[u8], offset: usize| {
                        pacer.after_text(text.len())?;
                        let start = start + offset as u64;
                        pretokens += tally.count(&self.pretokenizer, text, start, spill_target)?;
                        Ok(())
                    };
                    match &prepared {
                        Some(prepared) => prepared[index].for_each(count)?,
                        None => count(&texts[part.text].as_ref()[part.range.clone()], 0)?,
                    }
                }
                Ok(pretokens)
            },
        )?;
        self.tallies = idle.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.totals.documents += documents;
        self.totals.pretokens += counted.iter().sum::<u64>();
        self.totals.bytes = starts[parts.len()];
        Ok(())
    }

    /// The first place at one of some offsets where a text can be divided.
    fn first_border(
        &self,
        text: &[u8],
        offsets: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<usize>> {
        let Some(stretches) = &self.stretches else {
            return first_border(self.normalizer.as_deref(), &self.pretokenizer, text, offsets, interrupt);
        };
        let may_be = self.pretokenizer.has_borders()
            || self.normalizer.as_ref().is_some_and(|normalizer| normalizer.has_words());
        let offsets = if may_be { offsets.start.max(1)..offsets.end.min(text.len()) } else { 0..0 };
        find_first(offsets, interrupt, |offset| stretches.is_border(text, offset))
    }

    /// The parts of texts, normalized; `None` if they are counted as they are.
    ///
    /// All of a batch are normalized before any is counted, since the place of a pretoken in the corpus depends on
    /// the length of the normalized text before it.
    fn prepared<'t, T: AsRef<[u8]> + Sync>(
        &self,
        stretches: Option<&'t dyn Stretches>,
        texts: &'t [T],
        parts: &[TextPart],
        tasks: &[Range<usize>],
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<Vec<Stretched<'t>>>> {
        if self.normalizer.is_none() && stretches.is_none() {
            return Ok(None);
        }
        let prepare = |part: &TextPart, interrupt: &dyn Interrupt| {
            let text = &texts[part.text].as_ref()[part.range.clone()];
            match (stretches, &self.normalizer) {
                (Some(stretches), _) => stretches.stretched(text, interrupt),
                (None, Some(normalizer)) => Stretched::normalized(normalizer, text, interrupt),
                (None, None) => Ok(Stretched::whole(Cow::Borrowed(text))),
            }
        };
        let of_tasks = in_parallel(
            threads,
            tasks.len(),
            interrupt,
            || (),
            |(), task, interrupt| {
                parts[tasks[task].clone()]
                    .iter()
                    .map(|part| prepare(part, interrupt))
                    .collect::<Result<Vec<_>>>()
            },
        )?;
        let mut prepared = Vec::new();
        memory::try_reserve(&mut prepared, parts.len())?;
        prepared.extend(of_tasks.into_iter().flatten());
        Ok(Some(prepared))
    }

    /// The number of bytes that are counted before each part, and after the last.
    fn starts(&self, parts: &[TextPart], prepared: Option<&[Stretched<'_>]>) -> Result<Vec<u64>> {
        let mut starts = Vec::new();
        memory::try_reserve(&mut starts, parts.len() + 1)?;
        let mut start = self.totals.bytes;
        for (index, part) in parts.iter().enumerate() {
            starts.push(start);
            start += prepared.map_or(part.range.len(), |prepared| prepared[index].len()) as u64;
        }
        starts.push(start);
        Ok(starts)
    }

    /// The totals so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Prepares for this many threads, or for fewer if there is not enough memory.
    fn limit_threads(&mut self, threads: usize, interrupt: &dyn Interrupt) -> Result<usize> {
        let Some(memory) = self.memory else { return Ok(threads) };
        let threads = threads.min(saturating_usize(memory) / MIN_THREAD_MEMORY);
        if threads > self.threads {
            self.threads = threads;
            // Tables sized for a larger share are dropped.
            self.spill_all(interrupt)?;
            self.tallies.clear();
        }
        Ok(threads)
    }

    /// The memory of each thread's tables: a quarter of the limit is left for merging and the rest.
    fn thread_memory(&self) -> usize {
        self.memory.map_or(usize::MAX, |memory| saturating_usize(memory) / 4 * 3 / self.threads)
    }

    fn spill_all(&mut self, interrupt: &dyn Interrupt) -> Result<()> {
        let Some(spill) = &self.spill else { return Ok(()) };
        self.tallies.iter_mut().try_for_each(|tally| spill.write(tally, interrupt))
    }

    /// Writes all counts that are not written yet to the folder of the resumed counter, and syncs them to
    /// disk. [`Counter::resumed`] resumes from the result.
    ///
    /// The result must be stored before the next checkpoint, which deletes files that were merged since
    /// and that only earlier checkpoints name. [`Error::Option`] for a counter that was not resumed.
    pub fn checkpoint(&mut self, interrupt: &dyn Interrupt) -> Result<Checkpoint> {
        self.spill_all(interrupt)?;
        match &self.spill {
            Some(spill) if !spill.is_temporary() => {
                Ok(Checkpoint { runs: spill.checkpoint()?, totals: self.totals })
            }
            _ => Err(Error::Option { reason: "this counter has no folder for checkpoints.".into() }),
        }
    }

    /// The counts of all batches, in memory, combined on as many threads as counted.
    ///
    /// Checks that the pieces add up to the text: the sum of count times length is the number of
    /// bytes read, or the result is [`Error::Internal`].
    pub fn finish(self, interrupt: &dyn Interrupt) -> Result<Counts> {
        if self.spill.as_ref().is_none_or(Spill::is_empty) {
            let threads = self.tallies.len();
            return gather(self.tallies, self.totals, threads, interrupt);
        }
        match self.finish_bounded(interrupt)? {
            Counted::Memory(counts) => Ok(counts),
            Counted::Disk(counts) => counts.read(interrupt),
        }
    }

    /// Like `finish`, within the memory limit: the result is on disk if it does not fit, and without a
    /// limit if a part of it is on disk already.
    pub fn finish_bounded(mut self, interrupt: &dyn Interrupt) -> Result<Counted> {
        let fits = |memory: u64| {
            // Joining and sorting needs up to three copies.
            self.tallies.iter().map(ThreadCounts::memory).sum::<usize>() as u64 * 3 <= memory
        };
        if self.spill.as_ref().is_none_or(Spill::is_empty) && self.memory.is_none_or(fits) {
            return self.finish(interrupt).map(Counted::Memory);
        }
        self.spill_all(interrupt)?;
        self.tallies.clear();
        let Some(spill) = self.spill else {
            return Err(Error::Internal { reason: "a limit without a folder.".into() });
        };
        let is_temporary = spill.is_temporary();
        let (folder, name, run) = spill.into_one(interrupt)?;
        let Totals { bytes, pretokens, .. } = self.totals;
        if !is_temporary && (run.bytes, run.pretokens) != (bytes.into(), pretokens.into()) {
            return Err(checkpoint_mismatch(self.totals, run.bytes, run.pretokens));
        }
        check_sum(self.totals, run.bytes)?;
        let (totals, end) = (self.totals, Some(self.totals.bytes));
        Ok(Counted::Disk(SortedCounts { folder, name, run, totals, end }))
    }
}

fn checkpoint_mismatch(totals: Totals, bytes: u128, pretokens: u128) -> Error {
    let Totals { bytes: counted_bytes, pretokens: counted_pretokens, .. } = totals;
    Error::Checkpoint {
        reason: format!(
            "the files of counts hold {pretokens} pretokens of {bytes} bytes, and {counted_pretokens} of {counted_bytes} were \
             counted."
        ),
    }
}

/// The counts of a thread, returned when the thread ends.
struct BorrowedCounts<'a> {
    tally: Option<ThreadCounts>,
    pool: &'a Mutex<Vec<ThreadCounts>>,
}

impl Drop for BorrowedCounts<'_> {
    fn drop(&mut self) {
        let tally = self.tally.take();
        self.pool.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use crate::pretokenize::Stage;

    fn counts(batches: &[&[&str]], threads: usize) -> Vec<(String, u64)> {
        let words = Pretokenizer::new(&[Stage::Pattern(r"\w+|\W".into())]).unwrap();
        let mut counter = Counter::new(words);
        for batch in batches {
            counter.add(batch, threads, &Never).unwrap();
        }
        let counts = counter.finish(&Never).unwrap();
        counts.iter().map(|(piece, count)| (String::from_utf8(piece.to_vec()).unwrap(), count)).collect()
    }

    #[test]
    fn order_is_that_of_first_occurrence_whatever_the_batches_and_threads() {
        let texts = ["the cat the", "dog", "", "a cat", "zebra the dog", "a"];
        let expected = counts(&[&texts], 1);
        assert_eq!(expected[..3], [("the".into(), 3), (" ".into(), 5), ("cat".into(), 2)]);
        for threads in 1..5 {
            assert_eq!(counts(&[&texts[..2], &texts[2..]], threads), expected);
        }
    }
}
