//! Many texts, or a long one, on several threads.
//!
//! The work is split into parts of about equal size, long texts too, so that a single document keeps all
//! threads busy. The result is the same for any number of threads.

use std::ops::Range;
use std::sync::Mutex;

use super::Tokenizer;
use crate::encode::{IdCount, IdHistogram, Pooled, Sink};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::parallel::{ItemResult, items_in_parallel};
use crate::pretokenize::{ALONE_BYTES, TASK_BYTES, TextPart, parts, split_points, tasks};
use crate::special::OnSpecial;
use crate::text::{AsText, Utf8Converter};
use crate::vocabulary::TokenId;

/// A rather high estimate of the bytes of text per id.
const BYTES_PER_ID: usize = 4;

/// The output of a task, and its number of ids after each part.
type TaskOutput<S> = (S, Vec<usize>);

/// Encoded documents, in the parts that the threads encoded.
pub struct Documents {
    texts: usize,
    unfinished: Vec<usize>,
    parts: Vec<TextPart>,
    outputs: Vec<TaskOutput<Vec<TokenId>>>,
}

impl Documents {
    /// The ids in the form of training files, converted by `narrow`: the ids of each document, followed by
    /// `end`, and the end offset of each document.
    ///
    /// Runs on one thread, and is separate from encoding so that the thread that writes can call it.
    pub fn gather<I>(
        self,
        end: Option<TokenId>,
        narrow: impl Fn(TokenId) -> I,
    ) -> Result<(Vec<I>, Vec<i64>)> {
        let count: usize = self.outputs.iter().map(|(ids, _)| ids.len()).sum();
        let (mut ids, mut ends) = (Vec::new(), Vec::new());
        memory::try_reserve(&mut ids, count + self.texts)?;
        memory::try_reserve(&mut ends, self.texts)?;
        let (mut unfinished, mut next) = (self.unfinished.into_iter().peekable(), 0);
        let mut finish_before = |text: usize, ids: &mut Vec<I>| {
            while next < text {
                if unfinished.next_if_eq(&next).is_none() {
                    ids.extend(end.map(&narrow));
                    ends.push(ids.len() as i64);
                }
                next += 1;
            }
        };
        let mut parts = self.parts.iter();
        for (part_ids, part_ends) in self.outputs {
            let mut start = 0;
            for (part_end, part) in part_ends.into_iter().zip(&mut parts) {
                finish_before(part.text, &mut ids);
                ids.extend(part_ids[start..part_end].iter().map(|&id| narrow(id)));
                start = part_end;
            }
        }
        finish_before(self.texts, &mut ids);
        Ok((ids, ends))
    }
}

/// The parts of the texts, and the range of parts of each task.
struct BatchPlan {
    threads: usize,
    /// The number of bytes of all texts.
    bytes: usize,
    parts: Vec<TextPart>,
    tasks: Vec<Range<usize>>,
}

impl Tokenizer {
    /// Encodes several texts on up to `threads` threads. Returns all ids in one list, and the offsets of
    /// the texts in it: a zero, then the end of each text.
    ///
    /// An error names the text by its index.
    pub fn encode_batch<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<(Vec<TokenId>, Vec<u64>)> {
        let (plan, outputs) = self.encode_in_parts::<_, Vec<TokenId>>(texts, special, threads, interrupt)?;
        let offsets =
            ends(texts.len(), &plan, outputs.iter().map(|(_, ends)| &ends[..])).map_err(without_index)?;
        Ok((joined(outputs).map_err(without_index)?, offsets))
    }

    /// Encodes documents on up to `threads` threads. The documents of the texts at `unfinished`, in rising
    /// order, continue in the next text.
    ///
    /// An error names the text by its index.
    pub fn encode_documents<T: AsText + Sync>(
        &self,
        texts: &[T],
        unfinished: Vec<usize>,
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<Documents> {
        let (plan, outputs) = self.encode_in_parts(texts, special, threads, interrupt)?;
        Ok(Documents { texts: texts.len(), unfinished, parts: plan.parts, outputs })
    }

    /// The number of ids of each text, computed on up to `threads` threads.
    ///
    /// An error names the text by its index.
    pub fn count_batch<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<Vec<u64>> {
        let (plan, outputs) = self.encode_in_parts::<_, IdCount>(texts, special, threads, interrupt)?;
        let ends = ends(texts.len(), &plan, outputs.iter().map(|(_, ends)| &ends[..]));
        ends.and_then(|ends| lengths(&ends)).map_err(without_index)
    }

    /// The number of occurrences of each id in all texts, by id, and the number of ids of each text,
    /// computed on up to `threads` threads. Each thread takes 8 bytes per id of the vocabulary; no ids are
    /// stored.
    ///
    /// An error names the text by its index.
    pub fn histogram_batch<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<(Vec<u64>, Vec<u64>)> {
        let plan = self.plan(texts, special, threads, interrupt)?;
        let totals = Mutex::new(memory::try_filled(0, self.vocab_size()).map_err(|error| (0, error))?);
        let new_share = || {
            let counts = memory::try_filled(0, self.vocab_size())?;
            Ok(HistogramShare { worker: self.worker(&plan), counts, totals: &totals })
        };
        let task_ends = items_in_parallel(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            new_share,
            |share, task, interrupt| {
                let mut sink = IdHistogram { times: &mut share.counts, len: 0 };
                self.each_part(texts, special, &plan, task, &mut share.worker, interrupt, &mut sink)
            },
        )?;
        let ends = ends(texts.len(), &plan, task_ends.iter().map(|ends| &ends[..]));
        let lengths = ends.and_then(|ends| lengths(&ends)).map_err(without_index)?;
        Ok((totals.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()), lengths))
    }

    fn encode_in_parts<T: AsText + Sync, S: Sink + Default + Send>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<(BatchPlan, Vec<TaskOutput<S>>)> {
        let plan = self.plan(texts, special, threads, interrupt)?;
        let outputs = items_in_parallel(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            || Ok(self.worker(&plan)),
            |worker, task, interrupt| {
                let mut sink = S::default();
                let ends = self.each_part(texts, special, &plan, task, worker, interrupt, &mut sink)?;
                Ok((sink, ends))
            },
        )?;
        Ok((plan, outputs))
    }

    fn plan<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<BatchPlan> {
        let bytes: usize = texts.iter().map(|text| text.as_text().len_hint()).sum();
        let threads = if bytes < ALONE_BYTES { 1 } else { threads };
        let splits = |text: &[u8]| match threads {
            1 => Ok(Vec::new()),
            _ => self.task_splits(text, special, interrupt),
        };
        let parts = parts(texts, splits).map_err(without_index)?;
        // A single thread needs only one task and writes to one output.
        let tasks =
            tasks(&parts, if threads == 1 { usize::MAX } else { TASK_BYTES }).map_err(without_index)?;
        Ok(BatchPlan { threads, bytes, parts, tasks })
    }

    /// Emits the ids of the parts of a task, and returns the number of ids after each part.
    #[allow(clippy::too_many_arguments)]
    fn each_part<T: AsText>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        plan: &BatchPlan,
        task: usize,
        worker: &mut Worker<'_>,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> ItemResult<Vec<usize>> {
        let parts = &plan.parts[plan.tasks[task].clone()];
        let bytes: usize = parts.iter().map(|part| part.range.len()).sum();
        sink.reserve_hint(bytes / BYTES_PER_ID);
        let mut ends = Vec::new();
        memory::try_reserve(&mut ends, parts.len()).map_err(without_index)?;
        let mut pacer = Pacer::new(interrupt);
        let Worker { scratch, converter } = worker;
        for TextPart { text, range } in parts {
            let mut encode = || {
                let content = converter.utf8_part(texts[*text].as_text(), range, interrupt)?;
                self.each_id(content, special, scratch, interrupt, sink)?;
                pacer.after_text(content)
            };
            encode().map_err(|error| (*text, error.shifted(range.start)))?;
            ends.push(sink.len());
        }
        Ok(ends)
    }

    /// What a thread needs.
    fn worker(&self, plan: &BatchPlan) -> Worker<'_> {
        Worker {
            scratch: self.scratch_for(plan.bytes / plan.threads.max(1)),
            converter: Utf8Converter::new(),
        }
    }

    /// Offsets at which a long text can be split, about the size of a task apart.
    fn task_splits(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<usize>> {
        let mut special_token = self.find_special(text, 0, special);
        let mut pacer = Pacer::new(interrupt);
        split_points(text.len(), |offset| {
            let split = self.next_split(text, offset, interrupt)?;
            while let Some((start, end, _)) = special_token
                && end <= split
            {
                pacer.after_text(&text[start..end])?;
                special_token = self.find_special(text, end, special);
            }
            Ok(match special_token {
                Some((start, end, _)) if start < split => end,
                _ => split,
            })
        })
    }
}

/// The memory of a thread.
struct Worker<'a> {
    scratch: Pooled<'a>,
    converter: Utf8Converter,
}

/// The counts of a thread, added to the total when it ends.
struct HistogramShare<'a> {
    worker: Worker<'a>,
    counts: Vec<u64>,
    totals: &'a Mutex<Vec<u64>>,
}

impl Drop for HistogramShare<'_> {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        totals.iter_mut().zip(&self.counts).for_each(|(totals, counts)| *totals += counts);
    }
}

/// The ids of all tasks in one list; not copied if there is only one task.
pub(super) fn joined<E>(mut outputs: Vec<(Vec<TokenId>, E)>) -> Result<Vec<TokenId>> {
    if outputs.len() == 1 {
        return Ok(outputs.pop().expect("one task").0);
    }
    let mut ids = Vec::new();
    memory::try_reserve(&mut ids, outputs.iter().map(|(ids, _)| ids.len()).sum())?;
    outputs.into_iter().for_each(|(part, _)| ids.extend(part));
    Ok(ids)
}

/// The offsets of the texts in the list of all ids, from the number of ids after each part of each task.
fn ends<'a>(
    texts: usize,
    plan: &BatchPlan,
    task_ends: impl Iterator<Item = &'a [usize]>,
) -> Result<Vec<u64>> {
    let mut ends = memory::try_filled(0, texts + 1)?;
    let (mut previous_ids, mut parts) = (0, plan.parts.iter());
    for part_ends in task_ends {
        for (end, part) in part_ends.iter().zip(&mut parts) {
            ends[part.text + 1] = (previous_ids + end) as u64;
        }
        previous_ids += part_ends.last().copied().unwrap_or_default();
    }
    Ok(ends)
}

/// The number of ids of each text.
fn lengths(ends: &[u64]) -> Result<Vec<u64>> {
    memory::try_collect(ends.windows(2).map(|ends| ends[1] - ends[0]))
}

/// An error that concerns no particular text.
pub(super) fn without_index(error: Error) -> (usize, Error) {
    (0, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Unit;
    use crate::merges::Merge;
    use crate::pretokenize::{Pretokenizer, Stage};
    use crate::{Definition, Never};

    /// A tokenizer whose tokens never span the end of a line.
    fn tokenizer(stages: &[Stage]) -> Tokenizer {
        let mut tokens: Vec<Option<Vec<u8>>> = (0..=255).map(|byte| Some(vec![byte])).collect();
        tokens.push(Some(b"ab".into()));
        tokens.push(Some(b"ba".into()));
        Tokenizer::new(Definition {
            tokens,
            merges: vec![Merge { left: 97, right: 98, id: 256 }, Merge { left: 98, right: 97, id: 257 }],
            special_tokens: Vec::new(),
            unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
            pretokenizer: Pretokenizer::new(stages).unwrap().into(),
            ignore_merges: false,
            scheme: None,
        })
        .unwrap()
    }

    #[test]
    fn a_long_text_is_split_into_tasks() {
        let text = ("ab".repeat(40) + "\n").repeat(10_000);
        for stages in [vec![], vec![Stage::Pattern(r"\w+|\W+".into())]] {
            let splits = tokenizer(&stages).task_splits(text.as_bytes(), OnSpecial::Text, &Never).unwrap();
            let ends: Vec<usize> = splits.into_iter().chain([text.len()]).collect();
            assert!(ends.windows(2).all(|ends| ends[1] - ends[0] < 2 * TASK_BYTES + 100), "{ends:?}");
            assert!(ends[0] < 2 * TASK_BYTES);
        }
        // A text that cannot be split remains whole.
        let unsplittable = "ab".repeat(400_000);
        let splits = tokenizer(&[]).task_splits(unsplittable.as_bytes(), OnSpecial::Text, &Never);
        assert_eq!(splits, Ok(Vec::new()));
    }
}
