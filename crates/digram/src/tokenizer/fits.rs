//! Whether a text has at most so many ids, without counting all of them.

use super::Tokenizer;
use super::cuts::Part;
use crate::error::Result;
use crate::special::OnSpecial;
use crate::watch::Watch;

/// Text that is counted between two questions whether it is too much already, in bytes.
const STEP: usize = 1 << 10;

impl Tokenizer {
    /// Whether [`Tokenizer::count`] of the text is at most `most`.
    ///
    /// Stops as soon as that is known: a text of more bytes than so many tokens can have is not
    /// looked at, and of a shorter one no more than has `most` ids, and what stands with them up to
    /// the next cut: all of it where a pattern knows no borders. What would be an error after that
    /// is not found.
    pub fn fits(&self, text: &[u8], most: usize, special: OnSpecial<'_>, watch: &dyn Watch) -> Result<bool> {
        if text.len() > most.saturating_mul(self.most_bytes) {
            return Ok(false);
        }
        let mut scratch = self.kept.lend();
        let mut count = 0;
        for part in self.parts(text, special) {
            let (range, mut at) = match part? {
                Part::Special(_) => {
                    count += 1;
                    continue;
                }
                Part::Text(range) => (range, 0),
            };
            let text = &text[range.clone()];
            while at < text.len() && count <= most {
                watch.check()?;
                let end = self.cut_from(text, at + STEP, watch)?;
                count += self
                    .count_ordinary(&text[at..end], &mut scratch, watch)
                    .map_err(|error| error.shifted(range.start + at))?;
                at = end;
            }
            if count > most {
                return Ok(false);
            }
        }
        Ok(count <= most)
    }
}
