//! Truncation of a text to a number of ids, at its beginning or at its end.
//!
//! A text is cut where one of its tokens ends, but what is left need not have the ids it had: cut
//! inside the white space before a word, or inside a number, the rest is split otherwise. So what is
//! left is counted, and cut a few tokens earlier where it has too many. To ask every place instead,
//! for the longest part that fits, would take the square of a stretch that is cut nowhere.

use std::ops::Range;

use super::Tokenizer;
use super::borders::{TokenBorders, step_back};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::special::OnSpecial;

/// Which side of a text is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    Right,
}

impl Tokenizer {
    /// A part of a text that has at most `maximum` ids of its own: it begins where the text does, or for
    /// [`Side::Left`] ends there.
    ///
    /// The text itself if it has no more. Else, of its first `maximum` tokens, as many as end, or for
    /// [`Side::Left`] begin, between characters; and where these have more ids as a text of their own
    /// than as a part of the whole, 1, 3, 7, … fewer.
    ///
    /// For [`Side::Right`] no more of the text is looked at than has `maximum` ids, and what stands
    /// with them up to the next cut. Takes time near-linear in what is looked at.
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
        let place = borders.get(last - distance.expect("nothing has no ids")).place;
        Ok(match side {
            Side::Left => place..text.len(),
            Side::Right => 0..place,
        })
    }
}
