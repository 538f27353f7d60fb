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
    /// For [`Side::Right`] a beginning of some bytes for each of `maximum` tokens is read, or a longer one if it has
    /// fewer; the whole text if it has no places where its beginning can be cut. Errors in the rest of the text are not
    /// found. Takes near-linear time in the text that is read.
    pub fn truncate(
        &self,
        text: &[u8],
        maximum: usize,
        side: Side,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Range<usize>> {
        if side == Side::Right {
            for len in self.beginnings_of(text, maximum, special) {
                if let Some(end) = self.truncate_beginning(&text[..len], maximum, special, interrupt)? {
                    return Ok(0..end);
                }
            }
        }
        let borders = TokenBorders::new(self, text, side, special, interrupt)?;
        let offset = truncated(borders, maximum)?.0;
        Ok(match side {
            Side::Left => offset..text.len(),
            Side::Right => 0..offset,
        })
    }

    /// The end of what [`Tokenizer::truncate`] keeps of every text that begins like this, for [`Side::Right`]; `None`
    /// if that is not known.
    ///
    /// Takes near-linear time in the beginning.
    pub fn truncate_beginning(
        &self,
        beginning: &[u8],
        maximum: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<usize>> {
        let Some(part) = self.certain_part(beginning, special, interrupt)? else { return Ok(None) };
        let borders = TokenBorders::new(self, part, Side::Right, special, interrupt)?;
        // The place of the last token depends on what follows, but not that of those before it.
        let (end, exceeds) = truncated(borders, maximum)?;
        Ok(exceeds.then_some(end))
    }
}

/// The offset at which a text is cut so that at most `maximum` ids remain, and whether it has more.
fn truncated(mut borders: TokenBorders<'_>, maximum: usize) -> Result<(usize, bool)> {
    let last = borders.farthest(maximum)?;
    let distance = step_back(last, |distance| Ok(borders.own_count(last - distance)? <= maximum))?;
    let offset = borders.get(last - distance.expect("nothing has no ids")).offset;
    Ok((offset, borders.exceed(maximum)))
}
