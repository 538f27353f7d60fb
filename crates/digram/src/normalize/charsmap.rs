//! The character maps of SentencePiece: texts of some characters, and what is put in their place.
//!
//! A map is a double array of 32-bit units, preceded by its size in bytes, and then the replacements, each with a zero
//! behind it. The array is a trie: its values are offsets of replacements.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::memory;

/// A map of characters.
pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

/// The number of units of a block, which holds all children of a node.
const BLOCK: usize = 256;

/// The maximum number of nodes that are read to find the first characters of entries, or the second ones.
const MAX_READ: usize = 1 << 13;

/// The maximum number of nodes that are read to find the characters inside entries.
const MAX_NODES: usize = 1 << 17;

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
        if size == 0 || !size.is_multiple_of(4 * BLOCK) || size >= rest.len() {
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
        if label(root) != 0 || has_leaf(root) || offset(root) == 0 || !units.iter().enumerate().all(is_valid)
        {
            return Err(invalid("its array leads out of it"));
        }
        Ok(Charsmap { units, replacements })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether an entry begins with a text.
    pub(super) fn has_entry_from(&self, text: &[u8]) -> bool {
        let Some(&root) = self.units.first() else { return false };
        let mut at = offset(root);
        text.iter().all(|&byte| {
            at ^= usize::from(byte);
            let unit = self.units[at];
            at ^= offset(unit);
            label(unit) == u32::from(byte)
        })
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

    /// The characters that some entry has behind its first, in ascending order. `None` if the map has too many entries
    /// to be read, or some that are not UTF-8.
    pub(super) fn inside(&self) -> Option<Vec<char>> {
        let Some(&root) = self.units.first() else { return Some(Vec::new()) };
        let (mut found, mut seen) = (HashSet::new(), HashSet::new());
        // Nodes below which entries go on, each with the bytes of the character that it is inside of.
        let mut unread = vec![(offset(root), [0; 4], 0, true)];
        while let Some((node, mut bytes, len, is_first)) = unread.pop() {
            if seen.len() > MAX_NODES {
                return None;
            }
            for byte in 1..=u8::MAX {
                let at = node ^ usize::from(byte);
                let unit = self.units[at];
                if label(unit) != u32::from(byte) {
                    continue;
                }
                bytes[len] = byte;
                let child = at ^ offset(unit);
                let character = &bytes[..len + 1];
                match std::str::from_utf8(character) {
                    Ok(character) => {
                        if !is_first {
                            found.extend(character.chars());
                        }
                        if seen.insert((child, [0; 4])) {
                            unread.push((child, [0; 4], 0, false));
                        }
                    }
                    Err(error) if error.error_len().is_some() => return None,
                    // As the first character and as another one it is read twice.
                    Err(_) => {
                        let mut key = bytes;
                        key[len + 1..].fill(0);
                        if is_first || seen.insert((child, key)) {
                            unread.push((child, key, len + 1, is_first));
                        }
                    }
                }
            }
        }
        let mut found: Vec<char> = found.into_iter().collect();
        found.sort_unstable();
        Some(found)
    }

    /// Whether an entry begins with a character, and whether the character alone is one.
    pub(super) fn begins(&self, c: char) -> (bool, bool) {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        (self.has_entry_from(bytes), self.longest(bytes).is_some())
    }

    /// The characters with which entries begin, in ascending order, and whether each is an entry alone. `None` if the map
    /// has too many entries to be read, or some that are not UTF-8.
    pub(super) fn firsts(&self) -> Option<Vec<(char, bool)>> {
        let Some(&root) = self.units.first() else { return Some(Vec::new()) };
        let (mut found, mut nodes) = (Vec::new(), 0);
        self.each_character(offset(root), &mut nodes, |c, is_entry| found.push((c, is_entry)))?;
        found.sort_unstable();
        Some(found)
    }

    /// The characters that entries have behind one of these, with which they begin, in ascending order. `None` if the
    /// map has too many entries to be read, or some that are not UTF-8.
    pub(super) fn seconds(&self, firsts: impl Iterator<Item = char>) -> Option<Vec<char>> {
        let Some(&root) = self.units.first() else { return Some(Vec::new()) };
        let (mut found, mut nodes) = (HashSet::new(), 0);
        for first in firsts {
            let mut bytes = [0; 4];
            let bytes = first.encode_utf8(&mut bytes).bytes();
            let child = |node, byte| self.child(node, byte).map(|(node, _)| node);
            let Some(node) = bytes.into_iter().try_fold(offset(root), child) else { continue };
            self.each_character(node, &mut nodes, |c, _| {
                found.insert(c);
            })?;
        }
        let mut found: Vec<char> = found.into_iter().collect();
        found.sort_unstable();
        Some(found)
    }

    /// The node to which a byte leads from another one, and whether an entry ends there.
    #[inline]
    fn child(&self, node: usize, byte: u8) -> Option<(usize, bool)> {
        let at = node ^ usize::from(byte);
        let unit = self.units[at];
        (label(unit) == u32::from(byte)).then(|| (at ^ offset(unit), has_leaf(unit)))
    }

    /// Calls `visit` with the characters that lead on from a node, and whether an entry ends there. `nodes` counts those
    /// that are read.
    fn each_character(
        &self,
        node: usize,
        nodes: &mut usize,
        mut visit: impl FnMut(char, bool),
    ) -> Option<()> {
        let mut unread = vec![(node, [0; 4], 0)];
        while let Some((node, mut bytes, len)) = unread.pop() {
            *nodes += 1;
            if *nodes > MAX_READ {
                return None;
            }
            // The other bytes of a character are these.
            for byte in if len == 0 { 1..=u8::MAX } else { 0x80..=0xbf } {
                let Some((below, is_entry)) = self.child(node, byte) else { continue };
                bytes[len] = byte;
                match std::str::from_utf8(&bytes[..len + 1]) {
                    Ok(character) => character.chars().for_each(|c| visit(c, is_entry)),
                    Err(error) if error.error_len().is_some() || is_entry => return None,
                    Err(_) => unread.push((below, bytes, len + 1)),
                }
            }
        }
        Some(())
    }

    fn replacement(&self, place: usize) -> &str {
        let rest = &self.replacements[place..];
        // Most have a few bytes, for which a search that prepares itself would take longer.
        &rest[..rest.bytes().position(|byte| byte == 0).unwrap_or(rest.len())]
    }
}

/// Labels of nodes are below this; those of values are not.
const BLOCK_LABEL: u32 = BLOCK as u32;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The map of some entries; each node has a block of its own.
    pub(crate) fn of_entries(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut units = vec![256 << 10];
        units.resize(2 * BLOCK, 1 << 31);
        let mut replacements = String::new();
        for (key, new) in entries {
            let (mut block, mut unit) = (BLOCK, 0);
            for byte in key.bytes() {
                unit = block + usize::from(byte);
                if units[unit] == 1 << 31 {
                    let child = units.len();
                    units.resize(child + BLOCK, 1 << 31);
                    units[unit] = ((unit ^ child) as u32) << 10 | u32::from(byte);
                }
                block = unit ^ offset(units[unit]);
            }
            units[unit] |= 1 << 8;
            units[block] = 1 << 31 | replacements.len() as u32;
            replacements.extend([*new, "\0"]);
        }
        let mut map = (4 * units.len() as u32).to_le_bytes().to_vec();
        units.iter().for_each(|unit| map.extend(unit.to_le_bytes()));
        map.extend(replacements.bytes());
        map
    }

    #[test]
    fn first_and_second_characters_are_found() {
        let entries =
            [("e\u{301}", "é"), ("e", "x"), ("か\u{3099}", "が"), ("か\u{309a}x", "ぱ"), ("😀", "")];
        let map = Charsmap::new(&of_entries(&entries)).unwrap();
        assert_eq!(map.firsts().unwrap(), [('e', true), ('か', false), ('😀', true)]);
        assert_eq!(map.seconds("eか😀x".chars()).unwrap(), ['\u{301}', '\u{3099}', '\u{309a}']);
        for c in ['e', 'か', '😀', 'x'] {
            let found = map.firsts().unwrap().into_iter().find(|(first, _)| *first == c);
            assert_eq!(map.begins(c), found.map_or((false, false), |(_, is_entry)| (true, is_entry)));
        }
        // An entry that ends inside a character: the leaf of its node is the value.
        let mut map = of_entries(&[("語", "x")]);
        let unit = |at: usize| 4 + 4 * at;
        let first = unit(BLOCK + 0xe8);
        map[first + 1] |= 1;
        let leaf = unit(2 * BLOCK);
        map[leaf..leaf + 4].copy_from_slice(&(1u32 << 31).to_le_bytes());
        assert_eq!(Charsmap::new(&map).unwrap().firsts(), None);
        assert_eq!(Charsmap::new(b"").unwrap().firsts().unwrap(), []);
    }

    #[test]
    fn characters_inside_entries_are_found() {
        let inside =
            |entries: &[(&str, &str)]| Charsmap::new(&of_entries(entries)).unwrap().inside().unwrap();
        assert_eq!(inside(&[("a\u{301}", "á"), ("\n", " "), ("か\u{3099}", "が")]), ['\u{301}', '\u{3099}']);
        assert_eq!(inside(&[("abc", "x"), ("cd", ""), ("a", "y")]), ['b', 'c', 'd']);
        let map = Charsmap::new(&of_entries(&[("abc", "x"), ("a", "y")])).unwrap();
        assert_eq!((map.longest(b"abcd"), map.longest(b"abd")), (Some((3, "x")), Some((1, "y"))));
        assert_eq!(Charsmap::new(b"").unwrap().inside().unwrap(), []);
    }

    /// A map with one entry, "a": the root has the child "a", whose leaf is the value.
    fn small(value: u32) -> Vec<u8> {
        let mut units = vec![0u32; 2 * BLOCK];
        units[0] = 256 << 10;
        let child = 256 ^ usize::from(b'a');
        units[child] = 1 << 10 | 1 << 8 | u32::from(b'a');
        units[child ^ 1] = 1 << 31 | value;
        // Free units lead to themselves.
        for (at, unit) in units.iter_mut().enumerate().filter(|(_, unit)| **unit == 0) {
            *unit = if at == 0 { *unit } else { 1 << 31 };
        }
        let mut map = (4 * units.len() as u32).to_le_bytes().to_vec();
        units.iter().for_each(|unit| map.extend(unit.to_le_bytes()));
        map.extend("é\0xyz\0".as_bytes());
        map
    }

    #[test]
    fn entries_are_found() {
        let map = Charsmap::new(&small(3)).unwrap();
        assert_eq!(map.longest(b"ab"), Some((1, "xyz")));
        assert_eq!((map.longest(b"b"), map.longest(b"")), (None, None));
        assert_eq!(
            [&b""[..], b"a", b"ab", b"b"].map(|text| map.has_entry_from(text)),
            [true, true, false, false]
        );
        assert_eq!(map.shortest(b"a\0"), Some("xyz"));
        // Inside a character, and behind the end.
        assert!(Charsmap::new(&small(1)).is_err() && Charsmap::new(&small(99)).is_err());
        assert!(Charsmap::new(b"").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn damaged_maps_are_refused_or_stay_inside(
            places in prop::collection::vec((0usize..2100, any::<u8>()), 1..8),
            text in prop::collection::vec(prop::sample::select(vec![0, b'a', b'b', 0xc3, 0xff]), 0..6),
        ) {
            let mut map = small(3);
            for (place, byte) in places {
                let len = map.len();
                map[place % len] = byte;
            }
            if let Ok(map) = Charsmap::new(&map) {
                map.longest(&text);
                map.shortest(&text);
            }
        }
    }
}
