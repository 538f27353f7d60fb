//! A slice of a text that can still be read past its end.

use crate::index::TokenIndex;
use crate::vocabulary::TokenId;

/// The bytes of a text from `start` to `end`. Look-ups load 16 bytes at once, so they need the text behind
/// a slice too.
#[derive(Clone, Copy)]
pub(super) struct TextSlice<'t> {
    pub(super) text: &'t [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'t> TextSlice<'t> {
    /// A text as a slice of itself.
    #[inline]
    pub(super) fn all(text: &'t [u8]) -> TextSlice<'t> {
        TextSlice { text, start: 0, end: text.len() }
    }

    #[inline(always)]
    pub(super) fn bytes(self) -> &'t [u8] {
        &self.text[self.start..self.end]
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    /// The token with these bytes.
    #[inline]
    pub(super) fn token(self, index: &TokenIndex) -> Option<TokenId> {
        index.get_in(self.text, self.start, self.end)
    }
}
