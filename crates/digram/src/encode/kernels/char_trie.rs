//! A trie of pieces that finds those which a text begins with, character by character.
//!
//! Characters have numbers, the most frequent ones of the pieces the smallest, so that the children of most nodes are
//! near each other. The node of a first character is at its number. What a step of Viterbi needs is in one unit of
//! sixteen bytes; scores of single precision leave space in it for the id.

use std::cmp::Reverse;
use std::hint::select_unpredictable;

use hashbrown::HashMap;

use crate::cpu;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::utf8::decode;
use crate::vocabulary::TokenId;

use super::double_array::{FREE, Root, double_array};
use super::pieces::{Piece, keep_last};

/// The number of a character that is in no piece, and what follows the last character of a text.
pub(super) const NO_CHARACTER: u32 = 0;

/// A piece, packed by [`Precision::stored`].
pub(super) type Packed = u64;

/// No piece: its score is not a number.
pub(super) const NO_PIECE: Packed = Packed::MAX;

/// A unit to which no character leads.
const NO_UNIT: u32 = 0;

/// A node of the trie.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Unit {
    /// 0 for a leaf.
    base: u32,
    /// The number of the character that leads to the node.
    label: u32,
    /// The piece that ends here.
    piece: Packed,
}

/// The precision of the scores of a trie.
pub(super) trait Precision: Copy {
    /// Whether the packed piece contains the id.
    const HAS_IDS: bool;

    /// Packs a piece for its unit. A unit without a piece has NaN as its score.
    fn stored(piece: Piece) -> Packed;

    /// Unpacks the score.
    fn score(stored: Packed) -> Self;

    fn is_nan(self) -> bool;

    fn wide(self) -> f64;

    /// The id of the piece of a unit: unpacked, or, unless `HAS_IDS`, read from `ids` by the number of the unit.
    fn id(stored: Packed, ids: &[TokenId], unit: u32) -> TokenId;
}

impl Precision for f64 {
    const HAS_IDS: bool = false;

    fn stored(piece: Piece) -> Packed {
        piece.score.to_bits()
    }

    #[inline(always)]
    fn score(stored: Packed) -> f64 {
        f64::from_bits(stored)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn id(_: Packed, ids: &[TokenId], unit: u32) -> TokenId {
        ids[unit as usize]
    }
}

impl Precision for f32 {
    const HAS_IDS: bool = true;

    fn stored(piece: Piece) -> Packed {
        u64::from(piece.id) << 32 | u64::from((piece.score as f32).to_bits())
    }

    #[inline(always)]
    fn score(stored: Packed) -> f32 {
        f32::from_bits(stored as u32)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn id(stored: Packed, _: &[TokenId], _: u32) -> TokenId {
        (stored >> 32) as TokenId
    }
}

/// The numbers of characters.
struct Numbers {
    /// The page of each 256 characters; the first one has no numbers.
    pages: Box<[u16; PAGES]>,
    numbers: Vec<[u32; PAGE]>,
}

const PAGE: usize = 256;
const PAGES: usize = 0x11_0000 / PAGE;

impl Numbers {
    /// Those of characters, the first of which has the number one.
    fn new(characters: impl Iterator<Item = char>) -> Numbers {
        let mut numbers = Numbers { pages: Box::new([0; PAGES]), numbers: vec![[NO_CHARACTER; PAGE]] };
        for (number, c) in (1..).zip(characters) {
            let (page, place) = (c as usize / PAGE, c as usize % PAGE);
            if numbers.pages[page] == 0 {
                numbers.pages[page] = numbers.numbers.len() as u16;
                numbers.numbers.push([NO_CHARACTER; PAGE]);
            }
            numbers.numbers[usize::from(numbers.pages[page])][place] = number;
        }
        numbers
    }

    #[inline(always)]
    fn of(&self, c: char) -> u32 {
        self.numbers[usize::from(self.pages[c as usize / PAGE])][c as usize % PAGE]
    }
}

/// A set of pieces with their scores.
pub(super) struct CharTrie {
    numbers: Numbers,
    /// Their number is a power of two, or a multiple of one that is larger than the number of each character.
    units: Vec<Unit>,
    /// For each unit, the id of the piece that ends there; empty if the units have them.
    ids: Vec<TokenId>,
    /// The length of the longest piece, in characters.
    longest: usize,
}

/// A piece that a text begins with.
#[derive(Clone, Copy)]
pub(super) struct Found<S> {
    /// The length in characters.
    pub(super) chars: u32,
    /// The number of its unit.
    pub(super) unit: u32,
    /// Not a number if there is no such piece.
    pub(super) score: S,
}

impl CharTrie {
    /// Builds a trie whose scores have precision `S`. Other methods must be called with the same `S`. Of two pieces of
    /// the same text, the trie keeps the last one. A character that is no piece alone has the score `unknown.score`, and the id
    /// `unknown.id`.
    pub(super) fn new<'p, S: Precision>(
        pieces: impl IntoIterator<Item = (&'p [u8], Piece)>,
        unknown: Piece,
        interrupt: &dyn Interrupt,
    ) -> Result<CharTrie> {
        // What is not UTF-8 is in no text.
        let texts =
            pieces.into_iter().filter_map(|(bytes, piece)| Some((std::str::from_utf8(bytes).ok()?, piece)));
        let texts: Vec<(&str, Piece)> = texts.collect();
        let mut counts: HashMap<char, usize> = HashMap::new();
        texts.iter().flat_map(|(text, _)| text.chars()).for_each(|c| *counts.entry(c).or_default() += 1);
        let mut characters: Vec<(Reverse<usize>, char)> =
            counts.into_iter().map(|(c, count)| (Reverse(count), c)).collect();
        characters.sort_unstable();
        let span = (characters.len() + 1).next_power_of_two();
        let numbers = Numbers::new(characters.iter().map(|(_, c)| *c));
        let mut keys: Vec<(Box<[u32]>, Piece)> = Vec::new();
        memory::try_reserve(&mut keys, characters.len() + texts.len())?;
        keys.extend((1..=characters.len() as u32).map(|number| ([number].into(), unknown)));
        keys.extend(
            texts.iter().map(|(text, piece)| (text.chars().map(|c| numbers.of(c)).collect(), *piece)),
        );
        keep_last(&mut keys);
        interrupt.check()?;
        let labels: Vec<&[u32]> = keys.iter().map(|(key, _)| &key[..]).collect();
        let nodes = double_array(&labels, span, Root::AtZero, interrupt)?;
        let (mut units, mut ids) = (Vec::new(), Vec::new());
        memory::try_reserve(&mut units, nodes.len())?;
        memory::try_reserve(&mut ids, if S::HAS_IDS { 0 } else { nodes.len() })?;
        for node in &nodes {
            let piece = keys.get(node.key as usize).map(|(_, piece)| *piece);
            let piece = piece.unwrap_or(Piece { score: f64::NAN, ..unknown });
            units.push(Unit { base: node.base, label: node.label, piece: S::stored(piece) });
            if !S::HAS_IDS {
                ids.push(piece.id);
            }
        }
        // The node of a character of no piece. No label is the number of none.
        units[0] = Unit { base: 0, label: FREE, piece: S::stored(unknown) };
        let longest = labels.iter().map(|key| key.len()).max().unwrap_or(0);
        Ok(CharTrie { numbers, units, ids, longest })
    }

    /// The length of the longest piece, in characters.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// The number of a character.
    #[inline(always)]
    pub(super) fn number(&self, c: char) -> u32 {
        self.numbers.of(c)
    }

    /// The id of the piece of a unit.
    #[inline(always)]
    pub(super) fn id<S: Precision>(&self, unit: u32) -> TokenId {
        self.id_of::<S>(self.units[unit as usize].piece, unit)
    }

    /// The score of the piece of a unit.
    #[inline(always)]
    pub(super) fn score<S: Precision>(&self, unit: u32) -> S {
        S::score(self.units[unit as usize].piece)
    }

    /// The piece of a unit.
    #[inline(always)]
    pub(super) fn piece(&self, unit: u32) -> Packed {
        self.units[unit as usize].piece
    }

    /// The piece of the unit at which the child of a node by the number of a character is, and the base of its children,
    /// or 0: no piece and 0, if it has no such child. Without branches.
    #[inline(always)]
    pub(super) fn child(&self, unit: u32, number: u32) -> (Packed, u32) {
        let Unit { piece, base, label } = self.units[unit as usize];
        let is_child = label == number;
        (select_unpredictable(is_child, piece, NO_PIECE), select_unpredictable(is_child, base, 0))
    }

    /// The unit at which the child of a character by the number of another one is, or [`NO_UNIT`].
    #[inline(always)]
    pub(super) fn second(&self, first: u32, number: u32) -> u32 {
        let base = self.units[first as usize].base;
        select_unpredictable(base != 0, base ^ number, NO_UNIT)
    }

    /// The id of a piece that is that of a unit.
    #[inline(always)]
    pub(super) fn id_of<S: Precision>(&self, piece: Packed, unit: u32) -> TokenId {
        S::id(piece, &self.ids, unit)
    }

    /// Prefetches a unit.
    #[inline(always)]
    pub(super) fn prefetch(&self, unit: u32) {
        cpu::prefetch(&self.units[unit as usize]);
    }

    /// For each number but the last, the unit of the two characters from there on, or 0: without branches, so that the
    /// memory of many is read at the same time. The last number is [`NO_CHARACTER`].
    #[inline(always)]
    pub(super) fn seconds(&self, numbers: &[u32], seconds: &mut [u32]) {
        for (at, (pair, second)) in numbers.windows(2).zip(seconds).enumerate() {
            let base = self.units[pair[0] as usize].base;
            let index = base ^ pair[1];
            let unit = self.units[index as usize];
            let is_child = (base != 0) & (unit.label == pair[1]);
            *second = if is_child { index } else { 0 };
            if let Some(third) = numbers.get(at + 2) {
                cpu::prefetch(&self.units[(unit.base ^ third) as usize]);
            }
        }
    }

    /// Calls `visit` with the nodes that the characters of these numbers begin with, the shortest text first: the first
    /// one is its first character. `second` is the unit of the first two. Returns the number of steps. The last number
    /// is [`NO_CHARACTER`], and not the only one.
    #[inline(always)]
    pub(super) fn each_prefix<S: Precision>(
        &self,
        numbers: &[u32],
        second: u32,
        mut visit: impl FnMut(Found<S>),
    ) -> usize {
        visit(Found { chars: 1, unit: numbers[0], score: self.score(numbers[0]) });
        if second == 0 {
            return 1;
        }
        let mut unit = self.units[second as usize];
        let mut chars = 2;
        visit(Found { chars: 2, unit: second, score: S::score(unit.piece) });
        while unit.base != 0 {
            let index = unit.base ^ numbers[chars];
            unit = self.units[index as usize];
            // The last number is no label.
            if unit.label != numbers[chars] {
                break;
            }
            chars += 1;
            visit(Found { chars: chars as u32, unit: index, score: S::score(unit.piece) });
        }
        chars
    }

    /// The longest piece that a text begins with: its id, and its length in bytes.
    #[inline]
    pub(super) fn longest_of<S: Precision>(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let (mut index, mut at, mut found) = (0, 0, None);
        loop {
            let (Some(c), len) = decode(&text[at..]) else { return found };
            let number = self.numbers.of(c);
            index = if at == 0 { number } else { self.units[index as usize].base ^ number };
            let unit = self.units[index as usize];
            if unit.label != number {
                return found;
            }
            at += len;
            if !S::score(unit.piece).is_nan() {
                found = Some((S::id(unit.piece, &self.ids, index), at));
            }
            if unit.base == 0 {
                return found;
            }
        }
    }
}

/// Calls `visit` with up to `count` characters at the start of a text, and their offsets. Returns the number of their
/// bytes, or `None` if the text is not UTF-8.
#[inline(always)]
pub(super) fn each_char(text: &[u8], count: usize, mut visit: impl FnMut(char, usize)) -> Option<usize> {
    let mut at = 0;
    for _ in 0..count {
        if at == text.len() {
            break;
        }
        let (c, len) = decode(&text[at..]);
        visit(c?, at);
        at += len;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_prefixes_are_found(
            tokens in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!['a', 'b', 'é', '日', '😀', '\0']), 0..6), 0..200),
            text in prop::collection::vec(prop::sample::select(vec!['a', 'b', 'é', '日', '😀', '\0', 'x']), 1..12),
        ) {
            let tokens: Vec<String> = tokens.into_iter().map(|token| token.into_iter().collect()).collect();
            check_prefixes::<f64>(&tokens, &text)?;
            check_prefixes::<f32>(&tokens, &text)?;
        }
    }

    fn check_prefixes<S: Precision>(
        tokens: &[String],
        text: &[char],
    ) -> std::result::Result<(), TestCaseError> {
        let piece = |id: usize| Piece { id: id as TokenId, score: -(id as f64) };
        let unknown = Piece { id: TokenId::MAX, score: -1e9 };
        let trie = CharTrie::new::<S>(
            tokens.iter().enumerate().map(|(id, token)| (token.as_bytes(), piece(id))),
            unknown,
            &Never,
        )
        .unwrap();
        let mut numbers: Vec<u32> = text.iter().map(|&c| trie.number(c)).collect();
        numbers.push(NO_CHARACTER);
        let mut found = Vec::new();
        let mut seconds = vec![0; text.len()];
        trie.seconds(&numbers, &mut seconds);
        trie.each_prefix(&numbers, seconds[0], |Found::<S> { chars, unit, score }| {
            if !score.is_nan() {
                found.push((chars as usize, Piece { id: trie.id::<S>(unit), score: score.wide() }));
            }
        });
        let expected: Vec<_> = (1..=text.len())
            .filter_map(|len| {
                let beginning: String = text[..len].iter().collect();
                match tokens.iter().rposition(|token| *token == beginning) {
                    Some(id) => Some((len, piece(id))),
                    None => (len == 1).then_some((1, unknown)),
                }
            })
            .collect();
        prop_assert_eq!(&found, &expected);
        let longest = found.iter().rev().find(|(_, piece)| piece.id != unknown.id);
        let chars: String = text.iter().collect();
        let expected =
            longest.map(|(len, piece)| (piece.id, chars.chars().take(*len).map(char::len_utf8).sum()));
        prop_assert_eq!(trie.longest_of::<S>(chars.as_bytes()).filter(|(id, _)| *id != unknown.id), expected);
        Ok(())
    }
}
