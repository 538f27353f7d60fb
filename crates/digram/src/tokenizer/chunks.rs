//! A long text in chunks of at most so many ids.

use std::ops::Range;

use super::{Side, Tokenizer};
use crate::error::{Error, Result};
use crate::room;
use crate::special::OnSpecial;
use crate::utf8::{character_until, decode};
use crate::watch::Watch;

/// A piece of a text and the number of ids of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// How many ids it has.
    pub count: usize,
}

/// So many bytes of what is left are looked at for each id that a chunk may have, or twice as many if
/// these are too few, and so on. To look at all of a long pretoken for each chunk of it would take
/// time in its square.
const BYTES_OF_ONE: usize = 8;

impl Tokenizer {
    /// Pieces of a text that cover it, each with at most `size` ids of its own: the longest
    /// beginning of a stretch of what is left that has more.
    ///
    /// Each begins with the longest end of the one before that has at most `overlap` ids of its
    /// own, unless it could not go on beyond the one before with it. Fails with [`Error::Limit`]
    /// where not even one character fits.
    pub fn chunks(&self, text: &[u8], size: usize, overlap: usize, watch: &dyn Watch) -> Result<Vec<Chunk>> {
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut done = 0;
        while done < text.len() {
            // A chunk of a few ids is too little to be interrupted in.
            watch.check()?;
            let mut next = None;
            if let Some(before) = chunks.last()
                && overlap > 0
            {
                let shared = self.within(text, before.range.clone(), |text| {
                    self.truncate(text, overlap, Side::Left, OnSpecial::Text, watch)
                })?;
                // A shared piece that is all of the chunk would only make it grow.
                if shared.start > before.range.start {
                    next = Some(self.beginning_at(text, shared.start, size, watch)?)
                        .filter(|range| range.end > done);
                }
            }
            let range = match next {
                Some(range) => range,
                None => self.beginning_at(text, done, size, watch)?,
            };
            if range.end <= done {
                let character = &text[done..done + decode(&text[done..]).1];
                return Err(Error::Limit {
                    reason: format!(
                        "the character {:?} at byte {done} has more than {size} tokens. Allow more in a chunk.",
                        String::from_utf8_lossy(character)
                    ),
                });
            }
            done = range.end;
            let count = self.count(&text[range.clone()], OnSpecial::Text, watch);
            let count = count.map_err(|error| error.shifted(range.start))?;
            room::reserve(&mut chunks, 1)?;
            chunks.push(Chunk { range, count });
        }
        Ok(chunks)
    }

    fn beginning_at(
        &self,
        text: &[u8],
        start: usize,
        size: usize,
        watch: &dyn Watch,
    ) -> Result<Range<usize>> {
        let mut width = size.saturating_mul(BYTES_OF_ONE);
        let end = loop {
            let end = start + character_until(&text[start..], width.min(text.len() - start));
            if end == text.len() || !self.fits(&text[start..end], size, OnSpecial::Text, watch)? {
                break end;
            }
            width = width.saturating_mul(2);
        };
        self.within(text, start..end, |text| self.truncate(text, size, Side::Right, OnSpecial::Text, watch))
    }

    /// What `find` finds in a part of the text, told in places of the whole.
    fn within(
        &self,
        text: &[u8],
        part: Range<usize>,
        find: impl FnOnce(&[u8]) -> Result<Range<usize>>,
    ) -> Result<Range<usize>> {
        let found = find(&text[part.clone()]).map_err(|error| error.shifted(part.start))?;
        Ok(part.start + found.start..part.start + found.end)
    }
}
