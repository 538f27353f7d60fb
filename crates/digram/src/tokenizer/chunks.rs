//! Splitting a long text into chunks with a maximum number of ids.

use std::ops::Range;

use super::borders::{TokenBorders, step_back};
use super::{Side, Tokenizer};
use crate::added_tokens::OnSpecial;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::utf8::decode;

/// A part of a text, and the number of ids it has on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Its number of ids.
    pub count: usize,
}

impl Tokenizer {
    /// Splits a text into overlapping chunks that cover it, each with at most `size` ids on its own.
    ///
    /// Each chunk consists of the next `size` tokens of the text, and begins and ends between characters.
    /// If it has more ids on its own than within the text, it is 1, 3, 7, … tokens shorter. If a single
    /// token has too many ids on its own, it is split between its characters in the same way.
    ///
    /// Each chunk begins with the last `overlap` tokens of the previous one, or 1, 3, 7, … fewer, so that the
    /// shared part has at most `overlap` ids on its own. It begins at the end of the previous one if it could
    /// otherwise not advance. Fails with [`Error::Limit`] if one character has more than `size` ids. Takes
    /// near-linear time.
    pub fn chunks(
        &self,
        text: &[u8],
        size: usize,
        overlap: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Chunk>> {
        let mut borders = TokenBorders::new(self, text, Side::Right, OnSpecial::Text, interrupt)?;
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut covered = 0;
        while covered < text.len() {
            // Chunks of a few ids may never reach a check inside.
            interrupt.check()?;
            let overlap_start = match chunks.last() {
                Some(previous) if overlap > 0 => shared_start(&mut borders, &previous.range, overlap)?,
                _ => None,
            };
            let next =
                overlap_start.map(|start| chunk(&mut borders, text, start, size)).transpose()?.flatten();
            let next = match next.filter(|chunk| chunk.range.end > covered) {
                Some(chunk) => Some(chunk),
                None => chunk(&mut borders, text, covered, size)?,
            };
            let Some(next) = next else {
                let character = &text[covered..covered + decode(&text[covered..]).1];
                return Err(Error::Limit {
                    reason: format!(
                        "the character {:?} at byte {covered} has more than {size} tokens. Allow more in a chunk.",
                        String::from_utf8_lossy(character)
                    ),
                });
            };
            covered = next.range.end;
            borders.forget_before(borders.last_index_where(|border| border.offset <= next.range.start));
            memory::try_reserve(&mut chunks, 1)?;
            chunks.push(next);
        }
        Ok(chunks)
    }
}

/// The chunk that begins at `start`; `None` if not even a character fits.
fn chunk(borders: &mut TokenBorders<'_>, text: &[u8], start: usize, size: usize) -> Result<Option<Chunk>> {
    let first = borders.last_index_where(|border| border.offset <= start);
    let last = borders.farthest(borders.get(first).count.saturating_add(size))?;
    if let Some(maximum) = last.checked_sub(first + 1)
        && let Some(result) =
            longest(borders, start, size, maximum, |borders, distance| borders.get(last - distance).offset)?
    {
        return Ok(Some(result));
    }
    let token = start..borders.get(first + 1).offset;
    let mut ends = Vec::new();
    let mut position = token.start;
    while position < token.end {
        position += decode(&text[position..token.end]).1;
        memory::try_reserve(&mut ends, 1)?;
        ends.push(position);
    }
    longest(borders, start, size, ends.len() - 1, |_, distance| ends[ends.len() - 1 - distance])
}

/// The longest chunk tried from `start` that has at most `size` ids; `end` maps a distance to an end.
fn longest(
    borders: &mut TokenBorders<'_>,
    start: usize,
    size: usize,
    maximum: usize,
    end: impl Fn(&TokenBorders<'_>, usize) -> usize,
) -> Result<Option<Chunk>> {
    let mut count = 0;
    let distance = step_back(maximum, |distance| {
        count = borders.count(start..end(borders, distance))?;
        Ok(count <= size)
    })?;
    Ok(distance.map(|distance| Chunk { range: start..end(borders, distance), count }))
}

/// The start of the part of a chunk that the next chunk shares, if there is one.
fn shared_start(
    borders: &mut TokenBorders<'_>,
    chunk: &Range<usize>,
    overlap: usize,
) -> Result<Option<usize>> {
    let end = borders.last_index_where(|border| border.offset <= chunk.end);
    let count = borders.get(end).count;
    let first = 1 + borders
        .last_index_where(|border| border.offset <= chunk.start)
        .max(borders.last_index_where(|border| border.count.saturating_add(overlap) < count));
    // A shared part that is the whole chunk would not let the next one advance, and an empty one shares
    // nothing.
    let Some(maximum) = end.checked_sub(first + 1) else { return Ok(None) };
    let offset = |borders: &TokenBorders<'_>, distance| borders.get(first + distance).offset;
    let distance = step_back(maximum, |distance| {
        let start = offset(borders, distance);
        Ok(borders.count(start..chunk.end)? <= overlap)
    })?;
    Ok(distance.map(|distance| offset(borders, distance)))
}
