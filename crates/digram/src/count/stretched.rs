//! Texts that are ready to be counted: normalized, and without what is not counted.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::normalize::Normalizer;

/// A text whose parts are split into pretokens, each on its own.
pub struct Stretched<'t> {
    text: Cow<'t, [u8]>,
    /// From the left; `None` for the whole text.
    parts: Option<Vec<Range<usize>>>,
}

impl<'t> Stretched<'t> {
    /// A text that is counted as a whole.
    pub(crate) fn whole(text: Cow<'t, [u8]>) -> Stretched<'t> {
        Stretched { text, parts: None }
    }

    /// A text of which some parts are counted; they are given by `each`.
    pub(crate) fn of(text: Cow<'t, [u8]>, each: impl Iterator<Item = Range<usize>>) -> Result<Stretched<'t>> {
        let mut parts = Vec::new();
        for part in each.filter(|part| !part.is_empty()) {
            memory::try_reserve(&mut parts, 1)?;
            parts.push(part);
        }
        Ok(Stretched { text, parts: Some(parts) })
    }

    /// A text after normalization, cut into words if the normalizer does so.
    pub(super) fn normalized(
        normalizer: &Normalizer,
        text: &'t [u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Stretched<'t>> {
        let prepared = normalizer.prepared(text, interrupt)?;
        match prepared.word_ends {
            None => Ok(Stretched::whole(prepared.text)),
            Some(ends) => {
                let mut start = 0;
                Stretched::of(
                    prepared.text,
                    ends.into_iter().map(|end| std::mem::replace(&mut start, end)..end),
                )
            }
        }
    }

    /// The number of bytes to count.
    pub(super) fn len(&self) -> usize {
        self.parts.as_ref().map_or(self.text.len(), |parts| parts.iter().map(Range::len).sum())
    }

    /// Calls `visit` with each part, and with the number of bytes in those before it.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&[u8], usize) -> Result<()>) -> Result<()> {
        let Some(parts) = &self.parts else { return visit(&self.text, 0) };
        let mut before = 0;
        for part in parts {
            visit(&self.text[part.clone()], before)?;
            before += part.len();
        }
        Ok(())
    }
}

/// Takes texts apart before they are counted.
pub trait Stretches: Send + Sync {
    /// Whether a text with these two characters around `offset`, which is inside of it, can be divided there: the
    /// parts of both are then those of the text.
    fn is_border(&self, text: &[u8], offset: usize) -> bool;

    /// The text, normalized, with the parts of it that are counted.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), and interruption.
    fn stretched<'t>(&'t self, text: &'t [u8], interrupt: &dyn Interrupt) -> Result<Stretched<'t>>;
}
