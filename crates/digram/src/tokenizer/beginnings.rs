//! Beginnings of a text that are read instead of all of it.
//!
//! The first ids of a text are those of a beginning that ends where no token reaches over, and nothing that
//! normalization changes. A beginning of about the length that the ids are likely to have is tried first, and longer
//! ones if it has too few. The end is searched for in a few thousand bytes only, so that a text that has no such
//! place is not read twice.

use std::iter;

use super::Tokenizer;
use crate::added_tokens::{AddedTokens, OnSpecial};
use crate::error::Result;
use crate::interrupt::{Interrupt, find_last};
use crate::utf8::complete;

/// The length of the shortest beginning.
const SHORTEST: usize = 1 << 11;

/// The number of bytes for each id in the first beginning. Few texts have more.
const BYTES_PER_ID: usize = 8;

/// How many times as long the next beginning is.
const GROWTH: usize = 4;

/// The length of the part of a beginning in which its end is searched for.
const WINDOW: usize = 1 << 12;

/// The lengths of the beginnings that may have the first `maximum` ids of a text of a length. None is longer than
/// half of the text, and all together have at most two thirds of its length.
pub fn beginnings(maximum: usize, len: usize) -> impl Iterator<Item = usize> {
    let first = maximum.saturating_mul(BYTES_PER_ID).max(SHORTEST);
    iter::successors(Some(first), |previous| Some(previous.saturating_mul(GROWTH)))
        .take_while(move |&next| next <= len / 2)
}

impl Tokenizer {
    /// Whether the first ids of a text may be known from its beginning.
    pub fn cuts_beginnings(&self, special: OnSpecial<'_>) -> bool {
        self.may_end_beginning() || self.can_split_after_added(special)
    }

    /// The lengths of the beginnings to be tried before a whole text: none if a text is read only as far as needed
    /// anyway, or if it must be read to its end.
    pub(super) fn beginnings_of(
        &self,
        text: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
    ) -> impl Iterator<Item = usize> + use<> {
        let is_read_in_order = self.normalizer.is_none() && self.recognized(special).is_none();
        let is_tried = !is_read_in_order && self.cuts_beginnings(special);
        beginnings(maximum, if is_tried { text.len() } else { 0 })
    }

    /// The part of the beginning of a text whose ids are the first ids of the text, however it goes on; `None` if it is
    /// not known, or much shorter.
    pub(super) fn certain_part<'t>(
        &self,
        beginning: &'t [u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<&'t [u8]>> {
        // Added tokens that start before this are complete, and so is any longer one that starts in the same way.
        let longest = self.recognized(special).map_or(0, AddedTokens::longest);
        let certain = (beginning.len() + 1).saturating_sub(longest.max(1));
        // The character after the end must be complete.
        let until = certain.min(complete(beginning).saturating_sub(1));
        let places = until.saturating_sub(WINDOW).max(1)..until + 1;
        let may_end = self.may_end_beginning();
        let find = |offsets| {
            let offsets = if may_end { offsets } else { 0..0 };
            find_last(offsets, interrupt, |offset| self.can_end_beginning_at(beginning, offset))
        };
        let end = self.last_outside_added(beginning, places, certain, special, interrupt, find)?;
        Ok(end.map(|end| &beginning[..end]))
    }
}
