//! Places at which a text can be divided before it is normalized and split, without changing its pretokens.

use std::ops::Range;

use super::Normalizer;
use crate::error::Result;
use crate::interrupt::{Interrupt, find_first};
use crate::pretokenize::Pretokenizer;
use crate::utf8::complete;

/// Whether a text with these two characters around `offset` is always divided there.
pub(crate) fn is_border(
    normalizer: Option<&Normalizer>,
    pretokenizer: &Pretokenizer,
    text: &[u8],
    offset: usize,
) -> bool {
    let Some(normalizer) = normalizer else { return pretokenizer.is_border(text, offset) };
    let seam = normalizer.seam_at(text, offset);
    seam.is_some_and(|seam| normalizer.divides(seam).unwrap_or_else(|| seam.is_border(pretokenizer)))
}

/// Those of some offsets that may be borders: all, or none.
fn possible(
    normalizer: Option<&Normalizer>,
    pretokenizer: &Pretokenizer,
    offsets: Range<usize>,
) -> Range<usize> {
    let may_be = pretokenizer.has_borders() || normalizer.is_some_and(Normalizer::has_words);
    if may_be { offsets.start.max(1)..offsets.end } else { 0..0 }
}

/// The first border at one of some offsets.
pub(crate) fn first_border(
    normalizer: Option<&Normalizer>,
    pretokenizer: &Pretokenizer,
    text: &[u8],
    offsets: Range<usize>,
    interrupt: &dyn Interrupt,
) -> Result<Option<usize>> {
    let offsets = possible(normalizer, pretokenizer, offsets.start..offsets.end.min(text.len()));
    find_first(offsets, interrupt, |offset| is_border(normalizer, pretokenizer, text, offset))
}

/// The last border at or after `from`, in text that may continue: the character after it must be complete.
pub fn last_border_so_far(
    normalizer: Option<&Normalizer>,
    pretokenizer: &Pretokenizer,
    text: &[u8],
    from: usize,
) -> Option<usize> {
    let text = &text[..complete(text)];
    let mut offsets = possible(normalizer, pretokenizer, from..text.len()).rev();
    offsets.find(|&offset| is_border(normalizer, pretokenizer, text, offset))
}
