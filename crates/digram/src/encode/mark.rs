//! Parts of a text whose ids do not stand for the bytes of their tokens.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// A part of a text whose id or ids do not stand for the bytes of their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether there is an id for each byte of the part, which covers all of it. Otherwise there is one id.
    pub(crate) has_bytes: bool,
}

impl Mark {
    /// Appends a mark.
    pub(super) fn push(marks: &mut Vec<Mark>, range: Range<usize>, has_bytes: bool) -> Result<()> {
        memory::try_reserve(marks, 1)?;
        marks.push(Mark { start: range.start, end: range.end, has_bytes });
        Ok(())
    }

    /// Appends a mark of unknown text with one id, or extends the last one.
    pub(super) fn push_unknown(marks: &mut Vec<Mark>, range: Range<usize>, extends: bool) -> Result<()> {
        match marks.last_mut().filter(|_| extends) {
            Some(last) => last.end = range.end,
            None => Mark::push(marks, range, false)?,
        }
        Ok(())
    }
}
