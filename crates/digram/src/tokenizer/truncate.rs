//! Truncating a text to a number of ids, at its beginning or its end.
//!
//! A text is cut at the end of a token, but the rest may then be encoded differently: if the cut is inside
//! white space before a word, or inside a number, the rest is split differently. So the result is counted,
//! and cut a few tokens earlier if it has too many ids. Testing every position, for the longest part that
//! fits, would take quadratic time in text that cannot be split.

use std::ops::Range;

use super::Tokenizer;
use super::borders::{TokenBorders, step_back};
use crate::added_tokens::OnSpecial;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// The side of a text that is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    Right,
}

impl Tokenizer {
    /// The part of a text that is kept: it has at most `maximum` ids when encoded on its own, and begins
    /// where the text does, or for [`Side::Left`] ends there.
    ///
    /// This is the whole text if it has no more ids. Otherwise it is the first `maximum` tokens, or for
    /// [`Side::Left`] the last, reduced to end (or begin) between characters; if that part has more ids on
    /// its own than within the text, it is reduced by 1, 3, 7, … tokens.
    ///
    /// For [`Side::Right`] only the first `maximum` tokens, and the text up to the next split, are read.
    /// Takes near-linear time in the text that is read.
    pub fn truncate(
        &self,
        text: &[u8],
        maximum: usize,
        side: Side,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Range<usize>> {
        let mut borders = TokenBorders::new(self, text, side, special, interrupt)?;
        let last = borders.farthest(maximum)?;
        let distance = step_back(last, |distance| Ok(borders.own_count(last - distance)? <= maximum))?;
        let offset = borders.get(last - distance.expect("nothing has no ids")).offset;
        Ok(match side {
            Side::Left => offset..text.len(),
            Side::Right => 0..offset,
        })
    }
}
