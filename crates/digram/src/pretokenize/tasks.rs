//! Texts in tasks for several threads: a long one is cut at borders, short ones come together.
//!
//! At a border the pretokens of a text are those of its two parts, so that one document keeps all
//! threads busy.

use std::ops::Range;

use super::Pretokenizer;

/// A task holds about this much text: enough to outweigh handing it out.
pub(crate) const TASK_BYTES: usize = 1 << 16;

/// Less text than this stays on the calling thread: starting others takes longer.
pub(crate) const ALONE_BYTES: usize = 1 << 17;

/// Some or all of the text of a number.
pub(crate) struct Part {
    pub(crate) text: usize,
    pub(crate) range: Range<usize>,
}

/// The parts of texts, in order, each text cut where `cuts` says.
pub(crate) fn parts<T: AsRef<[u8]>>(texts: &[T], cuts: impl Fn(&[u8]) -> Vec<usize>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(texts.len());
    for (text, content) in texts.iter().enumerate() {
        let mut start = 0;
        for end in cuts(content.as_ref()).into_iter().chain([content.as_ref().len()]) {
            parts.push(Part { text, range: std::mem::replace(&mut start, end)..end });
        }
    }
    parts
}

/// Ranges of parts of about `size` bytes each.
pub(crate) fn tasks(parts: &[Part], size: usize) -> Vec<Range<usize>> {
    let mut tasks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (index, part) in parts.iter().enumerate() {
        bytes += part.range.len();
        if bytes >= size {
            tasks.push(start..index + 1);
            (start, bytes) = (index + 1, 0);
        }
    }
    if start < parts.len() {
        tasks.push(start..parts.len());
    }
    tasks
}

impl Pretokenizer {
    /// Borders inside a long text, about `size` bytes apart, each moved on to where `beyond` says.
    pub(crate) fn cuts(
        &self,
        text: &[u8],
        size: usize,
        mut beyond: impl FnMut(usize) -> usize,
    ) -> Vec<usize> {
        let mut cuts = Vec::new();
        let mut at = size;
        while at + size < text.len() {
            let Some(border) = self.next_border(text, at) else { break };
            let cut = beyond(border);
            cuts.push(cut);
            at = cut + size;
        }
        cuts
    }
}
