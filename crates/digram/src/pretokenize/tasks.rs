//! Texts in tasks for several threads: a long one is cut, short ones come together.
//!
//! It is cut where what becomes of it is what becomes of its two parts, as at a border of pretokens,
//! so that one document keeps all threads busy.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// A task holds about this much text: enough to outweigh handing it out.
pub(crate) const TASK_BYTES: usize = 1 << 16;

/// Less text than this stays on the calling thread: starting others takes longer.
pub(crate) const ALONE_BYTES: usize = 1 << 17;

/// Places inside a text of `len` bytes, a task apart or more: what `next` finds at a place or after
/// it, up to the first that it finds at the end.
pub(crate) fn split_points(len: usize, mut next: impl FnMut(usize) -> Result<usize>) -> Result<Vec<usize>> {
    let mut split_points = Vec::new();
    let mut at = TASK_BYTES;
    while at + TASK_BYTES < len {
        let split = next(at)?;
        if split >= len {
            break;
        }
        split_points.push(split);
        at = split + TASK_BYTES;
    }
    Ok(split_points)
}

/// Some or all of the text of a number.
pub(crate) struct TextPart {
    pub(crate) text: usize,
    pub(crate) range: Range<usize>,
}

/// The parts of texts, in order, each text cut where `split_points` says.
pub(crate) fn parts<T: AsRef<[u8]>>(
    texts: &[T],
    split_points: impl Fn(&[u8]) -> Result<Vec<usize>>,
) -> Result<Vec<TextPart>> {
    let mut parts = Vec::new();
    memory::try_reserve(&mut parts, texts.len())?;
    for (text, content) in texts.iter().enumerate() {
        let mut start = 0;
        for end in split_points(content.as_ref())?.into_iter().chain([content.as_ref().len()]) {
            memory::try_reserve(&mut parts, 1)?;
            parts.push(TextPart { text, range: std::mem::replace(&mut start, end)..end });
        }
    }
    Ok(parts)
}

/// Ranges of parts of about `size` bytes each.
pub(crate) fn tasks(parts: &[TextPart], size: usize) -> Result<Vec<Range<usize>>> {
    let mut tasks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, part) in parts.iter().enumerate() {
        bytes += part.range.len();
        if bytes >= size {
            memory::try_reserve(&mut tasks, 1)?;
            tasks.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    if start < parts.len() {
        tasks.push(start..parts.len());
    }
    Ok(tasks)
}
