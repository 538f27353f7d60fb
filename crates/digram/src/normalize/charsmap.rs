//! The character maps of SentencePiece: texts of some characters, and what is put in their place.
//!
//! A map is a double array of 32-bit units, preceded by its size in bytes, and then the replacements, each with a zero
//! behind it. The array is a trie: its values are offsets of replacements.

use crate::error::{Error, Result};
use crate::memory;

/// A map of characters.
pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

/// The children of a node are in one block of so many units.
const BLOCK: usize = 256;

fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xff)
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}

fn value(unit: u32) -> usize {
    (unit & ((1 << 31) - 1)) as usize
}

impl Charsmap {
    /// Reads a map, and checks that no look-up leaves it. An empty one has no entries.
    pub(super) fn new(bytes: &[u8]) -> Result<Charsmap> {
        let invalid = |what: &str| Error::Option { reason: format!("the character map is damaged: {what}.") };
        if bytes.is_empty() {
            return Ok(Charsmap { units: Vec::new(), replacements: String::new() });
        }
        let (size, rest) = bytes.split_first_chunk().ok_or_else(|| invalid("it is too short"))?;
        let size = u32::from_le_bytes(*size) as usize;
        if size == 0 || size % (4 * BLOCK) != 0 || size >= rest.len() {
            return Err(invalid("the size of its array is wrong"));
        }
        let (array, replacements) = rest.split_at(size);
        let replacements = std::str::from_utf8(replacements)
            .map_err(|_| invalid("the replacements are not UTF-8"))?
            .to_owned();
        if !replacements.ends_with('\0') {
            return Err(invalid("the last replacement has no end"));
        }
        let mut units = Vec::new();
        memory::try_reserve(&mut units, array.len() / 4)?;
        units.extend(array.as_chunks().0.iter().map(|&unit| u32::from_le_bytes(unit)));
        let is_inside = |at: usize, unit: u32| (at ^ offset(unit)) | (BLOCK - 1) < units.len();
        let is_valid = |(at, &unit): (usize, &u32)| match label(unit) {
            // The leaf of a node is a value.
            ..BLOCK_LABEL if has_leaf(unit) => {
                is_inside(at, unit) && label(units[at ^ offset(unit)]) >= BLOCK_LABEL
            }
            ..BLOCK_LABEL => is_inside(at, unit),
            _ => replacements.is_char_boundary(value(unit)) && value(unit) < replacements.len(),
        };
        let root = units[0];
        if label(root) != 0 || has_leaf(root) || offset(root) == 0 || !units.iter().enumerate().all(is_valid) {
            return Err(invalid("its array leads out of it"));
        }
        Ok(Charsmap { units, replacements })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The length of the longest entry that the text begins with, and its replacement.
    #[inline]
    pub(super) fn longest(&self, text: &[u8]) -> Option<(usize, &str)> {
        let mut longest = None;
        self.each(text, |len, place| {
            longest = Some((len, place));
            true
        });
        longest.map(|(len, place)| (len, self.replacement(place)))
    }

    /// The replacement of the shortest entry that the text begins with; no entry has a zero byte.
    #[inline]
    pub(super) fn shortest(&self, text: &[u8]) -> Option<&str> {
        let mut shortest = None;
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        self.each(&text[..end], |_, place| {
            shortest = Some(place);
            false
        });
        shortest.map(|place| self.replacement(place))
    }

    /// Calls `visit` with the entries that the text begins with until it returns false: the length of each, and the
    /// place of its replacement.
    #[inline(always)]
    fn each(&self, text: &[u8], mut visit: impl FnMut(usize, usize) -> bool) {
        let Some(&root) = self.units.first() else { return };
        let mut at = offset(root);
        for (index, &byte) in text.iter().enumerate() {
            at ^= usize::from(byte);
            let unit = self.units[at];
            if label(unit) != u32::from(byte) {
                return;
            }
            at ^= offset(unit);
            if has_leaf(unit) && !visit(index + 1, value(self.units[at])) {
                return;
            }
        }
    }

    fn replacement(&self, place: usize) -> &str {
        let rest = &self.replacements[place..];
        &rest[..rest.find('\0').unwrap_or(rest.len())]
    }
}

/// Labels of nodes are below this; those of values are not.
const BLOCK_LABEL: u32 = BLOCK as u32;
