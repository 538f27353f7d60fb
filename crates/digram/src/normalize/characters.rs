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
    /// A space before and after it.
    Surround,
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
    /// As the cleaning of text by BERT.
    Clean,
    /// With spaces around ideographs, as BERT has them.
    SpacedIdeographs,
    WithoutNonspacingMarks {
        /// Those of Unicode 8 that are nonspacing marks in Unicode 16.
        marks: Box<[(char, char)]>,
    },
}

impl Characters {
    pub(super) fn lowercase() -> Characters {
        Characters::Lowercase { assigned: unicode::ranges("assigned") }
    }

    pub(super) fn without_marks() -> Characters {
        Characters::WithoutMarks { marks: unicode::ranges_of_age("m", "9.0") }
    }

    pub(super) fn without_nonspacing_marks() -> Characters {
        Characters::WithoutNonspacingMarks { marks: unicode::ranges_of_age("mn", "8.0") }
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
            Characters::Clean => cleaned(c),
            Characters::SpacedIdeographs => match u32::from(c) {
                0x3400..=0x4dbf
                | 0x4e00..=0x9fff
                | 0xf900..=0xfaff
                | 0x20000..=0x2a6df
                | 0x2a700..=0x2b81f
                | 0x2b920..=0x2ceaf
                | 0x2f800..=0x2fa1f => Change::Surround,
                _ => Change::Keep,
            },
            Characters::WithoutNonspacingMarks { .. } if c < '\u{300}' => Change::Keep,
            // Six characters had other categories.
            Characters::WithoutNonspacingMarks { .. } if matches!(c, '\u{1734}' | '\u{1171e}') => {
                Change::Drop
            }
            Characters::WithoutNonspacingMarks { .. }
                if matches!(c, '\u{1885}' | '\u{1886}' | '\u{a9bd}' | '\u{111c9}') =>
            {
                Change::Keep
            }
            Characters::WithoutNonspacingMarks { marks } => match unicode::contains(marks, c) {
                true => Change::Drop,
                false => Change::Keep,
            },
        }
    }

    /// What a character becomes at a side where it is not changed by its neighbour; `None` if it is dropped.
    pub(super) fn at_side(&self, c: char, is_last: bool) -> Option<char> {
        match self.change(c) {
            Change::Keep => Some(c),
            Change::Drop => None,
            Change::To(other) => Some(other),
            Change::ToLowercase if is_last => c.to_lowercase().last(),
            Change::ToLowercase => c.to_lowercase().next(),
            Change::Surround => Some(' '),
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
                Change::Surround => {
                    rewriter.replace(' ')?;
                    c.into_iter().chain([' ']).try_for_each(|c| rewriter.insert(c))?;
                }
            }
            position += len;
            pacer.after(len)?;
        }
        rewriter.finish()
    }
}

/// A character without controls, formats (of Unicode 9) and private ones; other white space becomes a space.
fn cleaned(c: char) -> Change {
    match u32::from(c) {
        0x20..=0x7e => Change::Keep,
        0x09 | 0x0a | 0x0d | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000 => {
            Change::To(' ')
        }
        0x00..=0x1f
        | 0x7f..=0x9f
        | 0xad
        | 0x600..=0x605
        | 0x61c
        | 0x6dd
        | 0x70f
        | 0x180e
        | 0x200b..=0x200f
        | 0x202a..=0x202e
        | 0x2060..=0x2064
        | 0x2066..=0x206f
        | 0xe000..=0xf8ff
        | 0xfeff
        | 0xfff9..=0xfffb
        | 0xfffd
        | 0x110bd
        | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a
        | 0xe0001
        | 0xe0020..=0xe007f
        | 0xf0000..=0xffffd
        | 0x100000..=0x10fffd => Change::Drop,
        _ => Change::Keep,
    }
}

/// The character this many code points after another.
fn moved(c: char, by: u32) -> char {
    char::from_u32(u32::from(c) + by).unwrap_or(c)
}
