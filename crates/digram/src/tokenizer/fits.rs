//! Whether a text has at most a number of ids, without counting all of them.

use super::Tokenizer;
use super::segments::Segment;
use crate::added_tokens::OnSpecial;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// The number of bytes counted between two comparisons with the maximum.
const STEP: usize = 1 << 10;

impl Tokenizer {
    /// Whether [`Tokenizer::count`] of the text is at most `maximum`.
    ///
    /// Stops as soon as the result is known: of a long text, only a beginning of some bytes for each of `maximum`
    /// tokens is read, or a longer one if it has fewer. The whole text is read, once, if it has no places where its
    /// beginning can be cut. Errors in the rest of the text are not found.
    pub fn fits(
        &self,
        text: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        for len in self.beginnings_of(text, maximum, special) {
            if self.beginning_exceeds(&text[..len], maximum, special, interrupt)? {
                return Ok(false);
            }
        }
        Ok(!self.exceeds(text, maximum, special, interrupt)?)
    }

    /// Whether every text that begins like this has more than `maximum` ids; false if that is not known.
    ///
    /// Takes at most the time of counting the ids of the beginning.
    pub fn beginning_exceeds(
        &self,
        beginning: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        match self.certain_part(beginning, special, interrupt)? {
            Some(part) => self.exceeds(part, maximum, special, interrupt),
            None => Ok(false),
        }
    }

    /// Whether a whole text has more than `maximum` ids.
    fn exceeds(
        &self,
        text: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        let mut scratch = self.scratch_pool.take();
        if !self.has_segments(text, special, interrupt)? {
            return Ok(self.count_with(text, special, &mut scratch, interrupt)? > maximum);
        }
        if text.len() > maximum.saturating_mul(self.max_bytes) {
            return Ok(true);
        }
        let mut count = 0;
        for segment in self.segments(text, special) {
            let (range, mut position) = match segment? {
                Segment::Added(_) => {
                    count += 1;
                    continue;
                }
                Segment::Text(range) => (range, 0),
            };
            let text = &text[range.clone()];
            while position < text.len() && count <= maximum {
                interrupt.check()?;
                let end = self.next_split(text, position + STEP, interrupt)?;
                count += self
                    .count_ordinary(&text[position..end], &mut scratch, interrupt)
                    .map_err(|error| error.shifted(range.start + position))?;
                position = end;
            }
            if count > maximum {
                return Ok(true);
            }
        }
        Ok(count > maximum)
    }
}
