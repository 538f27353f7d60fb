//! Character classes: Unicode reduced to the few classes that a pattern distinguishes.

use super::letters::letters;
use super::set::Set;
use super::unicode;
use crate::utf8;

/// Number of code points, surrogates included (they never occur in decoded text).
const CODE_POINTS: usize = 0x11_0000;
const BLOCK: usize = 256;

/// A class of characters that are in the same sets of the pattern.
pub(super) type Class = u8;

/// Maps each character to its class.
///
/// Two characters have the same class if every set of the pattern contains both or neither. The
/// published patterns need 6 to 20 classes, so an automaton over classes is small, unlike one over
/// bytes or characters.
#[derive(Clone)]
pub(super) struct Alphabet {
    /// `blocks[c >> 8]` is the block of `c`; equal blocks are stored once.
    blocks: Vec<u16>,
    classes: Vec<[Class; BLOCK]>,
    /// For each class, a bit for each set of the pattern that contains it.
    sets: Vec<u128>,
    /// The class of each byte, if every byte counts as a character.
    bytes: Option<Box<[Class; 256]>>,
}

impl Alphabet {
    /// The maximum number of sets of an alphabet.
    pub(super) const MAX_SETS: usize = 128;

    /// The number of steps that [`Alphabet::new`] takes.
    pub(super) fn steps(sets: &[Set]) -> usize {
        CODE_POINTS / BLOCK + sets.iter().map(|set| 16 * set.len()).sum::<usize>()
    }

    /// Builds the alphabet of `sets`; `None` if it has more than 256 classes.
    pub(super) fn new(sets: &[Set]) -> Option<Alphabet> {
        assert!(sets.len() <= Self::MAX_SETS);
        // Walk over the borders of all sets; the characters between two borders have the same class.
        let mut borders = vec![(0, 0u128), (CODE_POINTS, 0)];
        for (index, set) in sets.iter().enumerate() {
            for &(first, last) in set.ranges() {
                borders.push((first as usize, 1 << index));
                borders.push((last as usize + 1, 1 << index));
            }
        }
        borders.sort_unstable();

        let mut class_by_members: hashbrown::HashMap<u128, Class> = hashbrown::HashMap::new();
        let mut classes_of_sets = Vec::new();
        let mut members = 0u128;
        let (mut blocks, mut classes) = (Vec::with_capacity(CODE_POINTS / BLOCK), Vec::new());
        let mut block_indices = hashbrown::HashMap::new();
        let mut block = [0 as Class; BLOCK];
        for pair in borders.windows(2) {
            members ^= pair[0].1;
            let (start, end) = (pair[0].0, pair[1].0);
            if start < end {
                let class = match class_by_members.get(&members) {
                    Some(&class) => class,
                    None => {
                        let class = Class::try_from(classes_of_sets.len()).ok()?;
                        class_by_members.insert(members, class);
                        classes_of_sets.push(members);
                        class
                    }
                };
                // Piece by piece, up to the end of each block; the whole blocks inside are equal.
                let mut position = start;
                while position < end {
                    let piece_end = end.min((position / BLOCK + 1) * BLOCK);
                    block[position % BLOCK..][..piece_end - position].fill(class);
                    if piece_end % BLOCK == 0 {
                        let block_index = *block_indices.entry(block).or_insert_with(|| {
                            classes.push(block);
                            (classes.len() - 1) as u16
                        });
                        let repetitions = if position % BLOCK == 0 { (end - position) / BLOCK } else { 1 };
                        blocks.extend(std::iter::repeat_n(block_index, repetitions));
                        position = (position / BLOCK + repetitions) * BLOCK;
                    } else {
                        position = piece_end;
                    }
                }
            }
        }
        Some(Alphabet { blocks, classes, sets: classes_of_sets, bytes: None })
    }

    /// The same classes for text in which every byte counts as its [letter](super::letters).
    pub(super) fn of_letters(mut self) -> Alphabet {
        self.bytes = Some(Box::new(letters().map(|letter| self.class(letter))));
        self
    }

    /// Whether every byte counts as a character.
    pub(super) fn reads_letters(&self) -> bool {
        self.bytes.is_some()
    }

    /// The same characters with each class replaced by `classes[class]`. The sets of the classes are
    /// lost.
    pub(super) fn renamed(&self, classes: &[Class]) -> Alphabet {
        let rename = |block: &[Class; BLOCK]| block.map(|class| classes[class as usize]);
        Alphabet {
            blocks: self.blocks.clone(),
            classes: self.classes.iter().map(rename).collect(),
            sets: Vec::new(),
            bytes: None,
        }
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// For each class, whether all of its characters are white space.
    pub(super) fn only_white_space(&self) -> Vec<bool> {
        let mut blocks = vec![0; self.classes.len()];
        self.blocks.iter().for_each(|&block| blocks[block as usize] += 1);
        let mut characters = vec![0usize; self.len()];
        for (block, times) in self.classes.iter().zip(blocks) {
            block.iter().for_each(|&class| characters[class as usize] += times);
        }
        let white_space = unicode::space();
        let spaces = white_space.ranges().iter().flat_map(|&(first, last)| first..=last);
        spaces.for_each(|c| characters[self.class(c) as usize] -= 1);
        characters.iter().map(|&remaining| remaining == 0).collect()
    }

    /// Whether the set with index `set` contains the characters of `class`.
    pub(super) fn holds(&self, set: usize, class: usize) -> bool {
        self.sets[class] >> set & 1 == 1
    }

    /// The class of the first character of `text` and its length in bytes. Invalid UTF-8 is read as
    /// U+FFFD, with as many bytes at once as Unicode recommends.
    #[inline]
    pub(super) fn first(&self, text: &[u8]) -> (Class, usize) {
        if let (Some(bytes), Some(&byte)) = (&self.bytes, text.first()) {
            return (bytes[byte as usize], 1);
        }
        let (c, width) = utf8::decode(text);
        (self.class(c.unwrap_or(char::REPLACEMENT_CHARACTER)), width)
    }

    /// The class of the last character of `text`, with invalid UTF-8 read as U+FFFD.
    pub(super) fn last(&self, text: &[u8]) -> Class {
        if let (Some(bytes), Some(&byte)) = (&self.bytes, text.last()) {
            return bytes[byte as usize];
        }
        self.class(bstr::decode_last_utf8(text).0.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// The class of a byte below 128.
    pub(super) fn class_of_ascii(&self, byte: u8) -> Class {
        self.first(&[byte]).0
    }

    /// The class of a character.
    #[inline]
    pub(super) fn class(&self, c: char) -> Class {
        let c = c as usize;
        self.classes[self.blocks[c / BLOCK] as usize][c % BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_character_is_in_the_sets_that_hold_it() {
        let letters = unicode::alone("L").unwrap();
        let hex = Set::new(vec![('a', 'f'), ('0', '9')]);
        let others = unicode::space().union(&letters).negated();
        let sets = [letters, others, hex, unicode::alone("Lu").unwrap(), Set::one('a').negated()];
        let alphabet = Alphabet::new(&sets).unwrap();
        for (index, set) in sets.iter().enumerate() {
            let mut expected = vec![false; CODE_POINTS];
            for &(first, last) in set.ranges() {
                expected[first as usize..=last as usize].fill(true);
            }
            for c in '\0'..=char::MAX {
                let class = alphabet.class(c) as usize;
                assert_eq!(alphabet.holds(index, class), expected[c as usize], "{c:?}");
            }
        }
    }
}
