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

/// The size of the part of a text in which a position to split it is searched for: a text that has none is not
/// read a second time.
const SEARCHED: usize = TASK_BYTES / 16;

/// Positions inside a text of `len` bytes, a task or more apart. `first_in` returns the first possible position in
/// a range, or one behind the range if the text must not be split in between.
pub(crate) fn split_points(
    len: usize,
    mut first_in: impl FnMut(Range<usize>) -> Result<Option<usize>>,
) -> Result<Vec<usize>> {
    let mut split_points = Vec::new();
    let mut offset = TASK_BYTES;
    while offset + TASK_BYTES < len {
        if let Some(split_point) = first_in(offset..offset + SEARCHED)? {
            if split_point >= len {
                break;
            }
            split_points.push(split_point);
            offset = split_point;
        }
        offset += TASK_BYTES;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_positions_is_not_read_a_second_time() {
        const LEN: usize = 20 * TASK_BYTES;
        let mut searched = 0;
        // The only positions, one of which is not in a part that is searched.
        let positions = [TASK_BYTES * 3 / 2, 3 * TASK_BYTES + 7, 9 * TASK_BYTES];
        let found = split_points(LEN, |range| {
            searched += range.len();
            Ok(positions.into_iter().find(|position| range.contains(position)))
        });
        assert_eq!(found.unwrap(), [3 * TASK_BYTES + 7]);
        assert!(searched * 10 < LEN, "{searched}");
        // One that is found behind the range, and one at the end.
        let behind = 5 * TASK_BYTES;
        let found = split_points(LEN, |range| Ok(Some(if range.start < behind { behind } else { LEN })));
        assert_eq!(found.unwrap(), [behind]);
    }
}
