//! Encoding several texts at once, on several threads.

use super::Tokenizer;
use crate::encode::Scratch;
use crate::error::Error;
use crate::special::OnSpecial;
use crate::vocabulary::TokenId;
use crate::watch::{Watch, in_parallel};

/// A task of a batch holds about this much text: enough to outweigh handing it out.
const TASK_BYTES: usize = 1 << 16;

/// Below this much text a batch stays on the calling thread: starting others takes longer.
pub(super) const ALONE_BYTES: usize = 1 << 17;

impl Tokenizer {
    /// Encodes several texts, on up to `threads` threads: all ids in one run, and where each text
    /// ends in it, with a zero before the first.
    ///
    /// An error names the text by its index.
    pub fn encode_batch<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        watch: &dyn Watch,
    ) -> std::result::Result<(Vec<TokenId>, Vec<u64>), (usize, Error)> {
        let (tasks, bytes) = tasks(texts);
        let threads = if bytes < ALONE_BYTES { 1 } else { threads };
        let failed = std::sync::Mutex::new(None);
        let parts = in_parallel(
            threads,
            tasks.len(),
            watch,
            || Scratch::new(bytes),
            |scratch, task, watch| {
                let mut ids: Vec<TokenId> = Vec::new();
                let mut ends = Vec::with_capacity(tasks[task].len());
                for index in tasks[task].clone() {
                    let text = texts[index].as_ref();
                    if let Err(error) = self.each_id(text, special, scratch, watch, &mut ids) {
                        let mut failed = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        if failed.is_none_or(|other| index < other) {
                            *failed = Some(index);
                        }
                        return Err(error);
                    }
                    ends.push(ids.len() as u64);
                }
                Ok((ids, ends))
            },
        );
        let mut parts = match parts {
            Ok(parts) => parts,
            Err(error) => {
                let index = failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
                return Err((index.unwrap_or(0), error));
            }
        };
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        offsets.push(0);
        if parts.len() == 1 {
            let (ids, ends) = parts.pop().expect("one part");
            offsets.extend(ends);
            return Ok((ids, offsets));
        }
        let mut ids = Vec::with_capacity(parts.iter().map(|(ids, _)| ids.len()).sum());
        for (part, ends) in parts {
            let start = ids.len() as u64;
            offsets.extend(ends.into_iter().map(|end| start + end));
            ids.extend(part);
        }
        Ok((ids, offsets))
    }
}

/// Ranges of texts of about [`TASK_BYTES`] each, and the bytes of all.
fn tasks<T: AsRef<[u8]>>(texts: &[T]) -> (Vec<std::ops::Range<usize>>, usize) {
    let mut tasks = Vec::new();
    let (mut start, mut bytes, mut total) = (0, 0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.as_ref().len();
        if bytes >= TASK_BYTES {
            tasks.push(start..index + 1);
            (start, total, bytes) = (index + 1, total + bytes, 0);
        }
    }
    if start < texts.len() {
        tasks.push(start..texts.len());
    }
    (tasks, total + bytes)
}
