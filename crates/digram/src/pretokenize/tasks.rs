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

/// A part of the text with index `text`, or all of it.
pub(crate) struct TextPart {
    pub(crate) text: usize,
    /// In bytes of UTF-8, or in characters of a text in another form.
    pub(crate) range: Range<usize>,
    /// The number of bytes in UTF-8, or an estimate.
    pub(crate) bytes: usize,
    /// That of the parts of the text that follow: 0 only if there are none.
    pub(crate) bytes_after: usize,
}

/// The parts of texts, in order; each text is split at its `split_points`.
pub(crate) fn parts<T: AsText>(
    texts: &[T],
    split_points: impl Fn(Text<'_>) -> Result<Vec<usize>>,
) -> Result<Vec<TextPart>> {
    let mut parts = Vec::new();
    memory::try_reserve(&mut parts, texts.len())?;
    for (text, content) in texts.iter().enumerate() {
        let content = content.as_text();
        let mut start = 0;
        for end in split_points(content)?.into_iter().chain([content.len()]) {
            let range = std::mem::replace(&mut start, end)..end;
            let bytes = content.bytes_hint(range.len());
            let bytes_after = content.bytes_hint(content.len() - end);
            memory::try_reserve(&mut parts, 1)?;
            parts.push(TextPart { text, range, bytes, bytes_after });
        }
    }
    Ok(parts)
}

/// Ranges of parts of about `size` bytes each.
pub(crate) fn tasks(parts: &[TextPart], size: usize) -> Result<Vec<Range<usize>>> {
    let mut tasks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, part) in parts.iter().enumerate() {
        bytes += part.bytes;
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
