//! The text between the added tokens that are found in all text: what training that continues from a tokenizer
//! counts.

use super::Tokenizer;
use crate::added_tokens::{AddedMatch, OnSpecial};
use crate::count::{Stretched, Stretches};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::normalize::is_border;
use crate::utf8::complete;

impl Tokenizer {
    /// Whether some added token is found in all text.
    pub fn finds_in_all_text(&self) -> bool {
        !self.always.is_empty()
    }

    /// The last offset at or after `from` at which a text that begins like this can be divided without changing
    /// its pretokens and the added tokens that are found in all text.
    pub fn last_border_so_far(&self, text: &[u8], from: usize) -> Option<usize> {
        let text = &text[..complete(text)];
        let may_be = self.pretokenizer.has_borders()
            || self.normalizer.as_ref().is_some_and(|normalizer| normalizer.has_words());
        let mut offsets = if may_be { from.max(1)..text.len() } else { 0..0 };
        offsets.rfind(|&offset| Stretches::is_border(self, text, offset))
    }
}

impl Stretches for Tokenizer {
    fn is_border(&self, text: &[u8], offset: usize) -> bool {
        let normalizer = self.normalizer.as_deref();
        let seam = normalizer.and_then(|normalizer| normalizer.seam_at(text, offset));
        // Some tokens are found in the normal form.
        !self.added.may_cross(text[offset - 1], text[offset])
            && !seam.is_some_and(|seam| self.added.may_cross_between(seam.before, seam.after))
            && is_border(normalizer, &self.pretokenizer, text, offset)
    }

    fn stretched<'t>(&'t self, text: &'t [u8], interrupt: &dyn Interrupt) -> Result<Stretched<'t>> {
        let working = self.working(text, OnSpecial::Text, false, interrupt)?;
        let end = working.text().len();
        let (mut parts, mut start) = (Vec::new(), 0);
        let gaps = working.added_tokens().map(|AddedMatch { range, .. }| range);
        for gap in gaps.chain(std::iter::once(end..end)) {
            // A token that took white space may reach over the start of the next one.
            let part = start..gap.start.max(start);
            let whole = [part.end];
            let ends = working.word_ends(&part).unwrap_or(&whole);
            memory::try_reserve(&mut parts, ends.len())?;
            let mut word = part.start;
            parts.extend(ends.iter().map(|&end| std::mem::replace(&mut word, end)..end));
            start = gap.end;
        }
        Stretched::of(working.into_text(), parts.into_iter())
    }
}
