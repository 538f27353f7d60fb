//! Character classes: all of Unicode folded into the few classes that a pattern can tell apart.

use super::set::Set;
use super::unicode;
use crate::utf8;

/// Number of code points, surrogates included (they never occur in decoded text).
const CODE_POINTS: usize = 0x11_0000;
const BLOCK: usize = 256;

/// A class of characters that no set of the pattern separates.
pub(super) type Class = u8;

/// Maps each character to its class.
///
/// Two characters share a class exactly when every set of the pattern holds both or neither. The
/// published patterns need 6 to 20 classes, so an automaton over classes stays small where one
/// over bytes or characters would not.
#[derive(Clone)]
pub(super) struct Alphabet {
    /// `blocks[c >> 8]` is the block of `c`; equal blocks are stored once.
    blocks: Vec<u16>,
    classes: Vec<[Class; BLOCK]>,
    /// For each class: which sets of the pattern hold it, a bit each.
    sets: Vec<u128>,
}

impl Alphabet {
    /// The most sets that one alphabet can tell apart.
    pub(super) const MAX_SETS: usize = 128;

    /// How many steps that takes.
    pub(super) fn steps(sets: &[Set]) -> usize {
        CODE_POINTS / BLOCK + sets.iter().map(|set| 16 * set.len()).sum::<usize>()
    }

    /// Builds the alphabet that tells `sets` apart; `None` if that takes more than 256 classes.
    pub(super) fn new(sets: &[Set]) -> Option<Alphabet> {
        assert!(sets.len() <= Self::MAX_SETS);
        // Walk over the borders of all sets; between two borders nothing tells characters apart.
        let mut borders = vec![(0, 0u128), (CODE_POINTS, 0)];
        for (number, set) in sets.iter().enumerate() {
            for &(first, last) in set.ranges() {
                borders.push((first as usize, 1 << number));
                borders.push((last as usize + 1, 1 << number));
            }
        }
        borders.sort_unstable();

        let mut known: hashbrown::HashMap<u128, Class> = hashbrown::HashMap::new();
        let mut classes_of_sets = Vec::new();
        let mut holding = 0u128;
        let (mut blocks, mut classes) = (Vec::with_capacity(CODE_POINTS / BLOCK), Vec::new());
        let mut stored = hashbrown::HashMap::new();
        let mut block = [0 as Class; BLOCK];
        for pair in borders.windows(2) {
            holding ^= pair[0].1;
            let (start, end) = (pair[0].0, pair[1].0);
            if start < end {
                let class = match known.get(&holding) {
                    Some(&class) => class,
                    None => {
                        let class = Class::try_from(classes_of_sets.len()).ok()?;
                        known.insert(holding, class);
                        classes_of_sets.push(holding);
                        class
                    }
                };
                // Up to the end of each block; all of those between are equal.
                let mut at = start;
                while at < end {
                    let until = end.min((at / BLOCK + 1) * BLOCK);
                    block[at % BLOCK..][..until - at].fill(class);
                    if until % BLOCK == 0 {
                        let index = *stored.entry(block).or_insert_with(|| {
                            classes.push(block);
                            (classes.len() - 1) as u16
                        });
                        let more = if at % BLOCK == 0 { (end - at) / BLOCK } else { 1 };
                        blocks.extend(std::iter::repeat_n(index, more));
                        at = (at / BLOCK + more) * BLOCK;
                    } else {
                        at = until;
                    }
                }
            }
        }
        Some(Alphabet { blocks, classes, sets: classes_of_sets })
    }

    /// The same characters with other classes: `classes` says which each becomes. What sets they are
    /// in is forgotten.
    pub(super) fn renamed(&self, classes: &[Class]) -> Alphabet {
        let rename = |block: &[Class; BLOCK]| block.map(|class| classes[class as usize]);
        Alphabet {
            blocks: self.blocks.clone(),
            classes: self.classes.iter().map(rename).collect(),
            sets: Vec::new(),
        }
    }

    /// How many classes there are.
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
        let all = white_space.ranges().iter().flat_map(|&(first, last)| first..=last);
        all.for_each(|c| characters[self.class(c) as usize] -= 1);
        characters.iter().map(|&others| others == 0).collect()
    }

    /// Whether the set numbered `set` holds the characters of `class`.
    pub(super) fn holds(&self, set: usize, class: usize) -> bool {
        self.sets[class] >> set & 1 == 1
    }

    /// The class of the character that `text` starts with and its length in bytes; bytes that are
    /// no UTF-8 are U+FFFD, as many of them at once as Unicode advises.
    #[inline]
    pub(super) fn first(&self, text: &[u8]) -> (Class, usize) {
        let (c, width) = utf8::decode(text);
        (self.class(c.unwrap_or(char::REPLACEMENT_CHARACTER)), width)
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
        for (number, set) in sets.iter().enumerate() {
            let mut expected = vec![false; CODE_POINTS];
            for &(first, last) in set.ranges() {
                expected[first as usize..=last as usize].fill(true);
            }
            for c in '\0'..=char::MAX {
                let class = alphabet.class(c) as usize;
                assert_eq!(alphabet.holds(number, class), expected[c as usize], "{c:?}");
            }
        }
    }
}
