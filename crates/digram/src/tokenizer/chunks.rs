//! A long text in chunks of at most so many ids.

use std::ops::Range;

use super::borders::{TokenBorders, step_back};
use super::{Side, Tokenizer};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::special::OnSpecial;
use crate::utf8::decode;

/// A piece of a text and the number of ids of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// How many ids it has.
    pub count: usize,
}

impl Tokenizer {
    /// Pieces of a text that cover it, each with at most `size` ids of its own.
    ///
    /// Each is the next `size` tokens of the text, and ends and begins between characters; where they
    /// have more ids as a text of their own than as a part of the whole, 1, 3, 7, … fewer. Where one
    /// token alone has too many it is cut between its characters in the same way.
    ///
    /// Each begins with the last `overlap` tokens of the one before, or 1, 3, 7, … fewer, so that
    /// these have at most `overlap` ids of their own; but at its end where it could not begin behind
    /// the beginning of the one before, or go on beyond its end. Fails with [`Error::Limit`] where
    /// one character has more than `size` ids. Takes time near-linear in the text.
    pub fn chunks(
        &self,
        text: &[u8],
        size: usize,
        overlap: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<Chunk>> {
        let mut borders = TokenBorders::new(self, text, Side::Right, OnSpecial::Text, interrupt)?;
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut done = 0;
        while done < text.len() {
            // A chunk of a few ids is too little to be interrupted in.
            interrupt.check()?;
            let shared = match chunks.last() {
                Some(before) if overlap > 0 => shared(&mut borders, &before.range, overlap)?,
                _ => None,
            };
            let next = shared.map(|start| chunk(&mut borders, text, start, size)).transpose()?.flatten();
            let next = match next.filter(|found| found.range.end > done) {
                Some(found) => Some(found),
                None => chunk(&mut borders, text, done, size)?,
            };
            let Some(next) = next else {
                let character = &text[done..done + decode(&text[done..]).1];
                return Err(Error::Limit {
                    reason: format!(
                        "the character {:?} at byte {done} has more than {size} tokens. Allow more in a chunk.",
                        String::from_utf8_lossy(character)
                    ),
                });
            };
            done = next.range.end;
            borders.forget_before(borders.number_where(|border| border.place <= next.range.start));
            memory::try_reserve(&mut chunks, 1)?;
            chunks.push(next);
        }
        Ok(chunks)
    }
}

/// The chunk that begins at a place; nothing if not even a character fits.
fn chunk(borders: &mut TokenBorders<'_>, text: &[u8], start: usize, size: usize) -> Result<Option<Chunk>> {
    let first = borders.number_where(|border| border.place <= start);
    let last = borders.farthest(borders.get(first).count.saturating_add(size))?;
    if let Some(maximum) = last.checked_sub(first + 1)
        && let Some(found) =
            longest(borders, start, size, maximum, |borders, distance| borders.get(last - distance).place)?
    {
        return Ok(Some(found));
    }
    let token = start..borders.get(first + 1).place;
    let mut ends = Vec::new();
    let mut at = token.start;
    while at < token.end {
        at += decode(&text[at..token.end]).1;
        memory::try_reserve(&mut ends, 1)?;
        ends.push(at);
    }
    longest(borders, start, size, ends.len() - 1, |_, distance| ends[ends.len() - 1 - distance])
}

/// The first chunk from `start` that has at most `size` ids; `end` maps a distance to where it ends.
fn longest(
    borders: &mut TokenBorders<'_>,
    start: usize,
    size: usize,
    maximum: usize,
    end: impl Fn(&TokenBorders<'_>, usize) -> usize,
) -> Result<Option<Chunk>> {
    let mut count = 0;
    let found = step_back(maximum, |distance| {
        count = borders.count(start..end(borders, distance))?;
        Ok(count <= size)
    })?;
    Ok(found.map(|distance| Chunk { range: start..end(borders, distance), count }))
}

/// Where the end of a chunk begins that the next one is to share, if there is one.
fn shared(borders: &mut TokenBorders<'_>, chunk: &Range<usize>, overlap: usize) -> Result<Option<usize>> {
    let end = borders.number_where(|border| border.place <= chunk.end);
    let count = borders.get(end).count;
    let first = 1 + borders
        .number_where(|border| border.place <= chunk.start)
        .max(borders.number_where(|border| border.count.saturating_add(overlap) < count));
    // A shared piece that is all of the chunk would only make it grow, and an empty one is none.
    let Some(maximum) = end.checked_sub(first + 1) else { return Ok(None) };
    let place = |borders: &TokenBorders<'_>, distance| borders.get(first + distance).place;
    let found = step_back(maximum, |distance| {
        let start = place(borders, distance);
        Ok(borders.count(start..chunk.end)? <= overlap)
    })?;
    Ok(found.map(|distance| place(borders, distance)))
}
