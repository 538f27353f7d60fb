//! Dividing texts into tasks for several threads: a long text is split, short ones are combined.
//!
//! A text is split where the results of its two parts join to that of the text, as at a border of
//! pretokens, so that one document keeps all threads busy.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::text::{AsText, Text};

/// The approximate size of a task, which is enough to outweigh its overhead.
pub(crate) const TASK_BYTES: usize = 1 << 16;

/// Less text than this is processed on the calling thread, because starting others takes longer.
pub(crate) const ALONE_BYTES: usize = 1 << 17;

/// Positions inside a text of `len` bytes, a task or more apart. `next` returns the first possible
/// position from an offset on, or `len`.
pub(crate) fn split_points(len: usize, mut next: impl FnMut(usize) -> Result<usize>) -> Result<Vec<usize>> {
    let mut split_points = Vec::new();
    let mut offset = TASK_BYTES;
    while offset + TASK_BYTES < len {
        let split_point = next(offset)?;
        if split_point >= len {
            break;
        }
        split_points.push(split_point);
        offset = split_point + TASK_BYTES;
    }
    Ok(split_points)
}

/// A part of the text with index `text`, or all of it. All of a text that is not in UTF-8 has the range of its
/// estimated length.
pub(crate) struct TextPart {
    pub(crate) text: usize,
    pub(crate) range: Range<usize>,
}

/// The parts of texts, in order; each text in UTF-8 is split at its `split_points`.
pub(crate) fn parts<T: AsText>(
    texts: &[T],
    split_points: impl Fn(&[u8]) -> Result<Vec<usize>>,
) -> Result<Vec<TextPart>> {
    let mut parts = Vec::new();
    memory::try_reserve(&mut parts, texts.len())?;
    for (text, content) in texts.iter().enumerate() {
        let (splits, len) = match content.as_text() {
            Text::Utf8(bytes) => (split_points(bytes)?, bytes.len()),
            other => (Vec::new(), other.len_hint()),
        };
        let mut start = 0;
        for end in splits.into_iter().chain([len]) {
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
