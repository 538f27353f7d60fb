//! Stages that change each character on its own.

use super::traced::{Rewriter, Traced};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::pretokenize::unicode;
use crate::utf8::decode;

/// What becomes of a character.
pub(super) enum Change {
    Keep,
    Drop,
    To(char),
    ToLowercase,
}

/// A stage that changes each character on its own.
pub(super) enum Characters {
    /// By Unicode 17.
    Lowercase {
        /// The characters of Unicode 16, for which all versions of the compiler have the same letters.
        assigned: Box<[(char, char)]>,
    },
    WithoutMarks {
        /// Those of Unicode 9 that are marks in Unicode 16.
        marks: Box<[(char, char)]>,
    },
    Nmt,
}

impl Characters {
    pub(super) fn lowercase() -> Characters {
        Characters::Lowercase { assigned: unicode::ranges("assigned") }
    }

    pub(super) fn without_marks() -> Characters {
        Characters::WithoutMarks { marks: unicode::ranges_of_age("m", "9.0") }
    }

    pub(super) fn nmt() -> Characters {
        Characters::Nmt
    }

    #[inline]
    pub(super) fn change(&self, c: char) -> Change {
        match self {
            Characters::Lowercase { .. } if c.is_ascii() => match c.is_ascii_uppercase() {
                true => Change::To(c.to_ascii_lowercase()),
                false => Change::Keep,
            },
            Characters::Lowercase { .. } if matches!(c, '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}') => {
                Change::To(moved(c, 1))
            }
            Characters::Lowercase { .. } if matches!(c, '\u{16ea0}'..='\u{16eb8}') => {
                Change::To(moved(c, 27))
            }
            Characters::Lowercase { assigned } => {
                let is_changed = !c.to_lowercase().eq([c]) && unicode::contains(assigned, c);
                if is_changed { Change::ToLowercase } else { Change::Keep }
            }
            Characters::WithoutMarks { .. } if c < '\u{300}' => Change::Keep,
            // Three characters had other categories in Unicode 9.
            Characters::WithoutMarks { .. } if matches!(c, '\u{1cf2}' | '\u{1cf3}') => Change::Drop,
            Characters::WithoutMarks { .. } if c == '\u{111c9}' => Change::Keep,
            Characters::WithoutMarks { marks } => match unicode::contains(marks, c) {
                true => Change::Drop,
                false => Change::Keep,
            },
            Characters::Nmt => match u32::from(c) {
                0x01..=0x08 | 0x0b | 0x0e..=0x1f | 0x7f | 0x8f | 0x9f => Change::Drop,
                0x09
                | 0x0a
                | 0x0c
                | 0x0d
                | 0x1680
                | 0x200b..=0x200f
                | 0x2028
                | 0x2029
                | 0x2581
                | 0xfeff
                | 0xfffd => Change::To(' '),
                _ => Change::Keep,
            },
        }
    }

    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let (mut position, mut pacer) = (0, Pacer::new(interrupt));
        while position < text.len() {
            let (c, len) = decode(&text[position..]);
            if let Some(c) = c
                && !matches!(self.change(c), Change::Keep)
            {
                return Ok(true);
            }
            position += len;
            pacer.after(len)?;
        }
        Ok(false)
    }

    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let (mut rewriter, mut pacer) = (Rewriter::new(text)?, Pacer::new(interrupt));
        let mut position = 0;
        while position < text.bytes.len() {
            let (c, len) = decode(&text.bytes[position..]);
            let change = c.map_or(Change::Keep, |c| self.change(c));
            if !matches!(change, Change::Keep) {
                rewriter.keep_until(position)?;
            }
            match change {
                Change::Keep => {}
                Change::Drop => rewriter.skip_characters(1),
                Change::To(c) => rewriter.replace(c)?,
                Change::ToLowercase => {
                    let mut lower = c.into_iter().flat_map(char::to_lowercase);
                    lower.next().map_or(Ok(()), |c| rewriter.replace(c))?;
                    lower.try_for_each(|c| rewriter.insert(c))?;
                }
            }
            position += len;
            pacer.after(len)?;
        }
        rewriter.finish()
    }
}

/// The character this many code points after another.
fn moved(c: char, by: u32) -> char {
    char::from_u32(u32::from(c) + by).unwrap_or(c)
}
