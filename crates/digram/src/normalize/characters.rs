//! Stages that change each character on its own.

use super::traced::{Rewriter, Traced};
use super::unchanged::Unchanged;
use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::masks::{self, Looked};
use crate::pretokenize::unicode;
use crate::utf8::{character_until, decode};

/// The number of bytes that are examined at once.
const BLOCK: usize = 32;

/// The number of blocks between two checks of the interrupt.
const PACE: usize = 1 << 12;

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
pub(super) struct Characters {
    simd: SimdLevel,
    rule: Rule,
    unchanged: Unchanged,
}

/// What a stage changes.
enum Rule {
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
    fn new(rule: Rule) -> Characters {
        Characters { simd: SimdLevel::best(), rule, unchanged: Unchanged::default() }
    }

    pub(super) fn lowercase() -> Characters {
        Characters::new(Rule::Lowercase { assigned: unicode::ranges("assigned") })
    }

    pub(super) fn without_marks() -> Characters {
        Characters::new(Rule::WithoutMarks { marks: unicode::ranges_of_age("m", "9.0") })
    }

    pub(super) fn without_nonspacing_marks() -> Characters {
        Characters::new(Rule::WithoutNonspacingMarks { marks: unicode::ranges_of_age("mn", "8.0") })
    }

    pub(super) fn nmt() -> Characters {
        Characters::new(Rule::Nmt)
    }

    pub(super) fn clean() -> Characters {
        Characters::new(Rule::Clean)
    }

    pub(super) fn spaced_ideographs() -> Characters {
        Characters::new(Rule::SpacedIdeographs)
    }

    /// What a character becomes at a side where it is not changed by its neighbour; `None` if it is dropped.
    pub(super) fn at_side(&self, c: char, is_last: bool) -> Option<char> {
        match self.rule.change(c) {
            Change::Keep => Some(c),
            Change::Drop => None,
            Change::To(other) => Some(other),
            Change::ToLowercase if is_last => c.to_lowercase().last(),
            Change::ToLowercase => c.to_lowercase().next(),
            Change::Surround => Some(' '),
        }
    }

    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        Ok(self.next_changed(text, 0, &mut Pacer::new(interrupt))? < text.len())
    }

    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let (mut rewriter, mut pacer) = (Rewriter::new(text)?, Pacer::new(interrupt));
        let bytes = &text.bytes[..];
        let mut position = 0;
        while position < bytes.len() {
            if let Some(block) = self.look_up(bytes, position) {
                pacer.after(block.len)?;
                let mut changed = block.starts & !block.with[0];
                if changed != 0 && block.is_ascii() && self.map_block(bytes, position, &mut rewriter)? {
                    position += BLOCK;
                    continue;
                }
                while changed != 0 {
                    let at = position + changed.trailing_zeros() as usize;
                    if let (Some(c), _) = decode(&bytes[at..]) {
                        self.write_change(c, at, &mut rewriter)?;
                    }
                    changed &= changed - 1;
                }
                position += block.len;
                continue;
            }
            position = self.next_changed(bytes, position, &mut pacer)?;
            // What follows one character that changes is often changed too.
            while self.map_block(bytes, position, &mut rewriter)? {
                position += BLOCK;
                pacer.after(BLOCK)?;
            }
            let (c, len) = decode(&bytes[position..]);
            if let Some(c) = c {
                self.write_change(c, position, &mut rewriter)?;
            }
            position += len;
            pacer.after(len)?;
        }
        rewriter.finish()
    }

    /// Writes what becomes of a block of ASCII characters. False if they are fewer, or do not become as many.
    #[inline]
    fn map_block(&self, bytes: &[u8], position: usize, rewriter: &mut Rewriter<'_>) -> Result<bool> {
        let mut new = [0; BLOCK];
        match bytes[position..].first_chunk() {
            Some(block) if self.rule.maps_block(block, &mut new) => {
                rewriter.keep_until(position)?;
                rewriter.replace_bytes(&new)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Which characters of a block are left.
    #[inline]
    fn look_up(&self, text: &[u8], position: usize) -> Option<Looked<1>> {
        let is_left = |c: char| matches!(self.rule.change(c), Change::Keep);
        masks::look_up(self.simd, text, position, |row| [self.unchanged.of_row(row, is_left)])
    }

    /// Writes what becomes of the character at an offset.
    #[inline]
    fn write_change(&self, c: char, position: usize, rewriter: &mut Rewriter<'_>) -> Result<()> {
        let change = self.rule.change(c);
        if !matches!(change, Change::Keep) {
            rewriter.keep_until(position)?;
        }
        match change {
            Change::Keep => Ok(()),
            Change::Drop => {
                rewriter.skip_characters(1);
                Ok(())
            }
            Change::To(c) => rewriter.replace(c),
            Change::ToLowercase => {
                let mut lower = c.to_lowercase();
                lower.next().map_or(Ok(()), |c| rewriter.replace(c))?;
                lower.try_for_each(|c| rewriter.insert(c))
            }
            Change::Surround => {
                rewriter.replace(' ')?;
                [c, ' '].into_iter().try_for_each(|c| rewriter.insert(c))
            }
        }
    }

    /// The offset of the first character from an offset on that changes; the end of the text if there is none.
    fn next_changed(&self, text: &[u8], from: usize, pacer: &mut Pacer<'_>) -> Result<usize> {
        let is_left = |c: char| matches!(self.rule.change(c), Change::Keep);
        let mut position = from;
        while position < text.len() {
            if let Some(block) = self.look_up(text, position) {
                let mut changed = block.starts & !block.with[0];
                while changed != 0 {
                    let at = position + changed.trailing_zeros() as usize;
                    let is_wide = block.wide >> changed.trailing_zeros() & 1 != 0;
                    if !is_wide || decode(&text[at..]).0.is_some_and(|c| !is_left(c)) {
                        return Ok(at);
                    }
                    changed &= changed - 1;
                }
                pacer.after(block.len)?;
                position += block.len;
                continue;
            }
            let blocks = text[position..].chunks_exact(BLOCK).take(PACE);
            let plain = blocks.take_while(|block| self.rule.keeps_block(block)).count() * BLOCK;
            if plain > 0 {
                pacer.after(plain)?;
                position = character_until(text, position + plain);
                continue;
            }
            let end = text.len().min(position + BLOCK);
            while position < end {
                let (is_left, len) = self.unchanged.first(&text[position..], is_left);
                if !is_left {
                    return Ok(position);
                }
                position += len;
            }
            pacer.after(BLOCK)?;
        }
        Ok(position)
    }
}

impl Rule {
    /// Whether each byte of a block belongs to a character that does not change, whatever the others are. False if
    /// that is not known.
    #[inline(always)]
    fn keeps_block(&self, block: &[u8]) -> bool {
        match self {
            Rule::Lowercase { .. } => all(block, |byte| byte.is_ascii() & !byte.is_ascii_uppercase()),
            // Up to U+02FF, and three scripts without marks.
            Rule::WithoutMarks { .. } | Rule::WithoutNonspacingMarks { .. } => {
                all(block, |byte| (byte < 0xcc) | is_without_marks(byte))
            }
            // From U+0080 to U+00BF there are control characters.
            Rule::Clean | Rule::Nmt => all(block, |byte| {
                is_printed(byte)
                    | (0x80..0xc0).contains(&byte)
                    | (0xc3..0xcc).contains(&byte)
                    | is_without_marks(byte)
            }),
            // Up to U+2FFF, and from U+A000 to U+EFFF.
            Rule::SpacedIdeographs => all(block, |byte| (byte < 0xe3) | (0xea..=0xee).contains(&byte)),
        }
    }

    /// Writes what becomes of a block of ASCII characters. False if they do not become as many.
    #[inline(always)]
    fn maps_block(&self, block: &[u8; BLOCK], new: &mut [u8; BLOCK]) -> bool {
        let to_space = |byte: u8| if byte < b' ' { b' ' } else { byte };
        match self {
            Rule::Lowercase { .. } => {
                *new = block.map(|byte| byte | u8::from(byte.is_ascii_uppercase()) << 5);
                block.is_ascii()
            }
            Rule::Clean => {
                *new = block.map(to_space);
                all(block, |byte| is_printed(byte) | (byte == b'\t') | (byte == b'\n') | (byte == b'\r'))
            }
            Rule::Nmt => {
                *new = block.map(to_space);
                all(block, |byte| {
                    is_printed(byte) | (byte == b'\t') | (byte == b'\n') | (byte == b'\x0c') | (byte == b'\r')
                })
            }
            _ => false,
        }
    }

    #[inline]
    fn change(&self, c: char) -> Change {
        match self {
            Rule::Lowercase { .. } if c.is_ascii() => match c.is_ascii_uppercase() {
                true => Change::To(c.to_ascii_lowercase()),
                false => Change::Keep,
            },
            Rule::Lowercase { .. } if matches!(c, '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}') => {
                Change::To(moved(c, 1))
            }
            Rule::Lowercase { .. } if matches!(c, '\u{16ea0}'..='\u{16eb8}') => Change::To(moved(c, 27)),
            Rule::Lowercase { assigned } => {
                let is_changed = !c.to_lowercase().eq([c]) && unicode::contains(assigned, c);
                if is_changed { Change::ToLowercase } else { Change::Keep }
            }
            Rule::WithoutMarks { .. } if c < '\u{300}' => Change::Keep,
            // Three characters had other categories in Unicode 9.
            Rule::WithoutMarks { .. } if matches!(c, '\u{1cf2}' | '\u{1cf3}') => Change::Drop,
            Rule::WithoutMarks { .. } if c == '\u{111c9}' => Change::Keep,
            Rule::WithoutMarks { marks } => match unicode::contains(marks, c) {
                true => Change::Drop,
                false => Change::Keep,
            },
            Rule::Nmt => match u32::from(c) {
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
            Rule::Clean => cleaned(c),
            Rule::SpacedIdeographs => match u32::from(c) {
                0x3400..=0x4dbf
                | 0x4e00..=0x9fff
                | 0xf900..=0xfaff
                | 0x20000..=0x2a6df
                | 0x2a700..=0x2b81f
                | 0x2b920..=0x2ceaf
                | 0x2f800..=0x2fa1f => Change::Surround,
                _ => Change::Keep,
            },
            Rule::WithoutNonspacingMarks { .. } if c < '\u{300}' => Change::Keep,
            // Six characters had other categories.
            Rule::WithoutNonspacingMarks { .. } if matches!(c, '\u{1734}' | '\u{1171e}') => Change::Drop,
            Rule::WithoutNonspacingMarks { .. }
                if matches!(c, '\u{1885}' | '\u{1886}' | '\u{a9bd}' | '\u{111c9}') =>
            {
                Change::Keep
            }
            Rule::WithoutNonspacingMarks { marks } => match unicode::contains(marks, c) {
                true => Change::Drop,
                false => Change::Keep,
            },
        }
    }
}

/// Whether a predicate holds for all bytes, without branches, so that the compiler uses vectors.
#[inline(always)]
fn all(block: &[u8], is_one: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(true, |all, &byte| all & is_one(byte))
}

/// Whether a byte begins a character of a script that has neither marks nor characters without a form: Cyrillic up to
/// U+047F, U+4000 to U+9FFF, and from U+B000 to U+DFFF.
#[inline(always)]
fn is_without_marks(byte: u8) -> bool {
    (byte & 0xfe == 0xd0) | within(byte, 0xe4, 0xe9) | within(byte, 0xeb, 0xed)
}

#[inline(always)]
fn within(byte: u8, first: u8, last: u8) -> bool {
    byte.wrapping_sub(first) <= last - first
}

/// Whether a byte is an ASCII character that is neither white space other than a space nor a control character.
#[inline(always)]
fn is_printed(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
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
