//! Many texts, or a long one, on several threads.
//!
//! The work is split into parts of about equal size, long texts too, so that a single document keeps all
//! threads busy. The result is the same for any number of threads.

use std::ops::Range;
use std::sync::Mutex;

use super::Tokenizer;
use super::joined::Joined;
use crate::added_tokens::OnSpecial;
use crate::encode::{IdCount, IdHistogram, Place, Pooled, Scratch, Sink};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::parallel::{ItemResult, Receiver, items_in_order, items_in_parallel};
use crate::pretokenize::{ALONE_BYTES, TASK_BYTES, TextPart, parts, split_points, tasks};
use crate::text::{AsText, Text};
use crate::vocabulary::TokenId;

/// A rather high estimate of the bytes of text per id.
const BYTES_PER_ID: usize = 4;

/// Texts of up to about this many bytes together get memory for as many ids as bytes, the most that they can have: memory
/// that has to grow is written again, to new pages, which took a quarter of the first pass over 260 KB of Armenian with
/// `cl100k`, and a quarter of 500 KB of Shan, whose letters have more bytes than the estimate. The system keeps less of
/// larger memory for later calls.
const FEW_BYTES: usize = 1 << 20;

/// As this, but low: memory beyond the ids of a task is not touched, and memory that has to grow is touched twice.
const LEAST_BYTES_PER_ID: usize = 2;

/// The output of a task, and its number of ids after each part.
type TaskOutput<S> = (S, Vec<usize>);

/// The ids of all tasks, and for each task the number of ids after each part.
type TasksOutput = (Vec<TokenId>, Vec<Vec<usize>>);

/// The ids of a text, or of the next parts of it.
pub struct EncodedPart<'a> {
    /// The index of the text.
    pub text: usize,
    /// The ids.
    pub ids: &'a [TokenId],
    /// An estimate of the number of ids of the parts of the text that follow; `None` if none do.
    pub ids_after: Option<usize>,
}

/// Receives the ids of texts in order, on the calling thread, while other threads encode.
pub trait ReceiveIds {
    /// The approximate number of bytes of text whose ids are enough to receive; with fewer, the calling thread
    /// encodes first.
    fn enough(&self) -> usize {
        0
    }

    /// Receives the ids of the next parts. An error ends the call, which returns it.
    fn receive<'a>(&mut self, parts: &mut dyn Iterator<Item = EncodedPart<'a>>) -> Result<()>;
}

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

/// What receives the ids of a batch.
#[derive(Clone, Copy)]
enum Outputs {
    /// A single thread writes all ids to one output.
    OneOfAThread,
    /// The ids of tasks are received, so that those of few tasks at a time take memory: that of a near cache.
    OfTasks,
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
        let plan = self.plan(texts, special, threads, Outputs::OneOfAThread, interrupt)?;
        let (ids, task_ends) = match plan.threads {
            1 => self.encode_alone(texts, special, &plan, interrupt)?,
            _ => self.encode_joined(texts, special, &plan, interrupt)?,
        };
        let offsets = ends(texts.len(), &plan, task_ends.iter().map(|ends| &ends[..]));
        Ok((ids, offsets.map_err(without_index)?))
    }

    /// The ids of all tasks, and the number of ids after each part of each task. One thread writes all ids where they
    /// remain.
    fn encode_alone<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        plan: &BatchPlan,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<TasksOutput> {
        let (mut ids, mut ends, mut scratch) = (Vec::new(), Vec::new(), self.scratch_of(plan, 0));
        memory::reserve_hint(&mut ids, plan.likely_ids(texts, BYTES_PER_ID));
        self.each_part(texts, special, &plan.parts, &mut scratch, interrupt, &mut ids, &mut ends)?;
        memory::free_excess(&mut ids);
        Ok((ids, vec![ends]))
    }

    /// The same with several threads.
    fn encode_joined<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        plan: &BatchPlan,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<TasksOutput> {
        let likely = plan.likely_ids(texts, LEAST_BYTES_PER_ID);
        let joined = Joined::new(plan.tasks.len(), likely).map_err(without_index)?;
        let task_ends = items_in_parallel(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            |thread| Ok(joined.writer(self.scratch_of(plan, thread))),
            |writer, task, interrupt| {
                let (parts, mut ids, mut ends) = (plan.parts_of(task), writer.list(), Vec::new());
                ids.reserve_hint(bytes_of(parts) / LEAST_BYTES_PER_ID);
                self.each_part(texts, special, parts, &mut writer.scratch, interrupt, &mut ids, &mut ends)?;
                writer.write(task, ids);
                Ok(ends)
            },
        )?;
        Ok((joined.finish().map_err(without_index)?, task_ends))
    }

    /// Encodes several texts on up to `threads` threads, and gives the ids of each to `receiver` in order.
    ///
    /// An error names the text by its index, unless it is the receiver's.
    pub fn encode_batch_to<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        interrupt: &dyn Interrupt,
        receiver: &mut impl ReceiveIds,
    ) -> ItemResult<()> {
        let plan = self.plan(texts, special, threads, Outputs::OfTasks, interrupt)?;
        self.encode_parts_to(texts, special, &plan, interrupt, receiver)
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
        let plan = self.plan(texts, special, threads, Outputs::OneOfAThread, interrupt)?;
        let totals = Mutex::new(memory::try_filled(0, self.vocab_size()).map_err(|error| (0, error))?);
        let new_share = |thread| {
            let counts = memory::try_filled(0, self.vocab_size())?;
            Ok(HistogramShare { scratch: self.scratch_of(&plan, thread), counts, totals: &totals })
        };
        let task_ends = items_in_parallel(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            new_share,
            |share, task, interrupt| {
                let mut sink = IdHistogram { times: &mut share.counts, len: 0 };
                let (parts, mut ends) = (plan.parts_of(task), Vec::new());
                self.each_part(texts, special, parts, &mut share.scratch, interrupt, &mut sink, &mut ends)?;
                Ok(ends)
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
        let plan = self.plan(texts, special, threads, Outputs::OneOfAThread, interrupt)?;
        let outputs = items_in_parallel(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            |thread| Ok(self.scratch_of(&plan, thread)),
            |scratch, task, interrupt| {
                let (mut sink, mut ends) = TaskOutput::<S>::default();
                let parts = plan.parts_of(task);
                sink.reserve_hint(bytes_of(parts) / BYTES_PER_ID);
                self.each_part(texts, special, parts, scratch, interrupt, &mut sink, &mut ends)?;
                Ok((sink, ends))
            },
        )?;
        Ok((plan, outputs))
    }

    fn encode_parts_to<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        plan: &BatchPlan,
        interrupt: &dyn Interrupt,
        receiver: &mut impl ReceiveIds,
    ) -> ItemResult<()> {
        items_in_order(
            plan.threads,
            plan.tasks.len(),
            interrupt,
            |thread| Ok(self.scratch_of(plan, thread)),
            |scratch, task, (ids, ends): &mut TaskOutput<Vec<TokenId>>, interrupt| {
                let parts = plan.parts_of(task);
                ids.clear();
                ids.reserve_hint(bytes_of(parts) / LEAST_BYTES_PER_ID);
                self.each_part(texts, special, parts, scratch, interrupt, ids, ends)
            },
            &mut PartReceiver { plan, receiver },
        )
    }

    fn plan<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        outputs: Outputs,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<BatchPlan> {
        let bytes: usize = texts.iter().map(|text| text.as_text().len_hint()).sum();
        let threads = if bytes < ALONE_BYTES { 1 } else { threads };
        let is_one_task = threads == 1 && matches!(outputs, Outputs::OneOfAThread);
        let splits = |text: Text<'_>| match text {
            Text::Utf8(_) if is_one_task => Ok(Vec::new()),
            Text::Utf8(text) => self.task_splits(text, special, interrupt),
            // Also for one thread, so that what is converted stays in a near cache.
            text if matches!(special, OnSpecial::Text) => {
                split_points(text.len(), |indices| self.first_split_of_characters(text, indices, interrupt))
            }
            // Special tokens are searched for in UTF-8.
            _ => Ok(Vec::new()),
        };
        let parts = parts(texts, splits).map_err(without_index)?;
        let task_bytes = if is_one_task { usize::MAX } else { TASK_BYTES };
        let tasks = tasks(&parts, task_bytes).map_err(without_index)?;
        Ok(BatchPlan { threads, bytes, parts, tasks })
    }

    /// Emits the ids of parts, and sets the number of ids after each part.
    #[allow(clippy::too_many_arguments)]
    fn each_part<T: AsText>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        parts: &[TextPart],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
        ends: &mut Vec<usize>,
    ) -> ItemResult<()> {
        ends.clear();
        memory::try_reserve(ends, parts.len()).map_err(without_index)?;
        let mut pacer = Pacer::new(interrupt);
        for TextPart { text: index, range, .. } in parts {
            let text = texts[*index].as_text();
            let mut encode = || {
                let bytes = self.each_of(text.part(range), special, scratch, interrupt, sink)?;
                pacer.after_text(bytes)
            };
            encode().map_err(|error| {
                let error = match error {
                    Error::Surrogate { index } => Error::Surrogate { index: range.start + index },
                    other => other.shifted(text.bytes_before(range.start)),
                };
                (*index, error)
            })?;
            ends.push(sink.len());
        }
        Ok(())
    }

    /// The memory of a thread.
    fn scratch_of(&self, plan: &BatchPlan, thread: usize) -> Pooled<'_> {
        let threads = plan.threads.min(plan.tasks.len());
        self.scratch_for(plan.bytes / plan.threads.max(1), Place { thread, threads })
    }

    /// Offsets at which a long text can be split, about the size of a task apart.
    fn task_splits(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<usize>> {
        let set = self.recognized(special);
        let mut found_tokens = set.iter().flat_map(|set| set.matches_of_pass(false, text));
        let ends_split = self.can_split_after_added(special);
        let mut next = found_tokens.next();
        let mut pacer = Pacer::new(interrupt);
        split_points(text.len(), |offsets| {
            let mut from = offsets.start;
            loop {
                let Some(split) = self.first_split(text, from..offsets.end, interrupt)? else {
                    return Ok(None);
                };
                while let Some(found) = &next
                    && found.range.end <= split
                {
                    pacer.after_text(found.range.len())?;
                    next = found_tokens.next();
                }
                match &next {
                    Some(found) if found.range.start < split && ends_split => {
                        return Ok(Some(found.range.end));
                    }
                    Some(found) if found.range.start < split => from = found.range.end,
                    _ => return Ok(Some(split)),
                }
            }
        })
    }
}

impl BatchPlan {
    /// The number of ids of the texts if one has `bytes_per_id` bytes, or the most that few bytes can have.
    fn likely_ids<T: AsText>(&self, texts: &[T], bytes_per_id: usize) -> usize {
        match self.bytes {
            ..=FEW_BYTES => texts.iter().map(|text| text.as_text().most_bytes()).sum(),
            bytes => bytes / bytes_per_id,
        }
    }

    fn parts_of(&self, task: usize) -> &[TextPart] {
        &self.parts[self.tasks[task].clone()]
    }
}

/// The number of bytes of some parts.
fn bytes_of(parts: &[TextPart]) -> usize {
    parts.iter().map(|part| part.bytes).sum()
}

/// Gives the results of tasks to a receiver, part by part.
struct PartReceiver<'a, I> {
    plan: &'a BatchPlan,
    receiver: &'a mut I,
}

impl<I: ReceiveIds> Receiver<TaskOutput<Vec<TokenId>>> for PartReceiver<'_, I> {
    fn enough(&self) -> usize {
        self.receiver.enough() / TASK_BYTES
    }

    fn receive(&mut self, first: usize, results: &[TaskOutput<Vec<TokenId>>]) -> ItemResult<()> {
        let ids: usize = results.iter().map(|(ids, _)| ids.len()).sum();
        let bytes: usize =
            (first..first + results.len()).map(|task| bytes_of(self.plan.parts_of(task))).sum();
        let ids_per_byte = ids as f64 / bytes.max(1) as f64;
        let mut parts = (first..).zip(results).flat_map(|(task, (ids, ends))| {
            let texts = self.plan.parts_of(task).chunk_by(|part, next| part.text == next.text);
            texts.scan((0, 0), move |(count, start), parts| {
                *count += parts.len();
                let (end, last) = (ends[*count - 1], &parts[parts.len() - 1]);
                let ids_after = (last.bytes_after as f64 * ids_per_byte) as usize;
                let ids = &ids[std::mem::replace(start, end)..end];
                let ids_after = (last.bytes_after > 0).then_some(ids_after);
                Some(EncodedPart { text: last.text, ids, ids_after })
            })
        });
        self.receiver.receive(&mut parts).map_err(without_index)
    }
}

/// The counts of a thread, added to the total when it ends.
struct HistogramShare<'a> {
    scratch: Pooled<'a>,
    counts: Vec<u64>,
    totals: &'a Mutex<Vec<u64>>,
}

impl Drop for HistogramShare<'_> {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        totals.iter_mut().zip(&self.counts).for_each(|(totals, counts)| *totals += counts);
    }
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
    use crate::encode::{Algorithm, Unit};
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
            pipeline: Pretokenizer::new(stages).unwrap().into(),
            unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
            algorithm: Algorithm::RANKED,
        })
        .unwrap()
    }

    #[test]
    fn threads_join_what_one_encodes() {
        let tokenizer = tokenizer(&[Stage::Pattern(r"\w+|\W+".into())]);
        // More ids than memory is reserved for, fewer, and both; and texts without any.
        let (many, few) = ("c, ".repeat(100_000), "ab".repeat(60_000) + "\n");
        for texts in [vec![&many[..]], vec![&few[..]; 5], vec!["", &few, &many, &few, "", &many, ""]] {
            let ids_of = |threads| tokenizer.encode_batch(&texts, OnSpecial::Text, threads, &Never).unwrap();
            let alone = ids_of(1);
            for threads in [2, 3, 8] {
                assert!(ids_of(threads) == alone, "{threads} threads");
            }
        }
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
