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
    /// Stops as soon as the result is known. A text with more bytes than `maximum` tokens can have is not
    /// read at all; of a shorter one, only about `maximum` tokens and the text up to the next split are
    /// read, or the whole text if a pattern has no splits. Errors in the rest of the text are not
    /// found. Of a text that normalization changes, all tokens are counted.
    pub fn fits(
        &self,
        text: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        let mut scratch = self.scratch_pool.take();
        if !self.has_segments(text, special, interrupt)? {
            return Ok(self.count_with(text, special, &mut scratch, interrupt)? <= maximum);
        }
        if text.len() > maximum.saturating_mul(self.max_bytes) {
            return Ok(false);
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
                return Ok(false);
            }
        }
        Ok(count <= maximum)
    }
}
