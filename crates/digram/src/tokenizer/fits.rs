//! Whether a text has at most so many ids, without counting all of them.

use super::Tokenizer;
use super::segments::Segment;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::special::OnSpecial;

/// Text that is counted between two questions whether it is too much already, in bytes.
const STEP: usize = 1 << 10;

impl Tokenizer {
    /// Whether [`Tokenizer::count`] of the text is at most `maximum`.
    ///
    /// Stops as soon as that is known: a text of more bytes than so many tokens can have is not
    /// looked at, and of a shorter one no more than has `maximum` ids, and what stands with them up to
    /// the next cut: all of it where a pattern knows no borders. What would be an error after that
    /// is not found.
    pub fn fits(
        &self,
        text: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        if text.len() > maximum.saturating_mul(self.max_bytes) {
            return Ok(false);
        }
        let mut scratch = self.scratch_pool.take();
        let mut count = 0;
        for part in self.parts(text, special) {
            let (range, mut at) = match part? {
                Segment::Special(_) => {
                    count += 1;
                    continue;
                }
                Segment::Text(range) => (range, 0),
            };
            let text = &text[range.clone()];
            while at < text.len() && count <= maximum {
                interrupt.check()?;
                let end = self.next_split(text, at + STEP, interrupt)?;
                count += self
                    .count_ordinary(&text[at..end], &mut scratch, interrupt)
                    .map_err(|error| error.shifted(range.start + at))?;
                at = end;
            }
            if count > maximum {
                return Ok(false);
            }
        }
        Ok(count <= maximum)
    }
}
