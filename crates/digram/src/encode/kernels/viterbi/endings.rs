//! The pieces of short texts, found together.
//!
//! How many pieces begin at a character, and how long the longest one is, a processor cannot predict. If they are found
//! character by character, it predicts wrongly at most of them, and waits for memory meanwhile. Here all characters of
//! some texts go from pieces of one length to those of the next in one loop, whose end is its only branch. The best
//! segmentations are found in another one, from the pieces that end at each boundary.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

use super::super::char_trie::{CharTrie, NO_CHARACTER, NO_PIECE, Packed, each_char};
use super::{Sum, UNKNOWN};

/// The largest number of texts.
pub(in crate::encode) const TEXTS: usize = 16;

/// The number of bytes of all texts that there is always space for.
pub(super) const BYTES: usize = 48 * TEXTS;

/// The longest piece, in characters. Texts that may have longer ones are left out.
const LONGEST: usize = 16;

/// Pieces of up to this many characters are added without asking whether there are any.
const USUAL: usize = 4;

/// The number of boundaries for which there is space. Before the first one and behind the last one there is space for a
/// piece.
const SPACE: usize = LONGEST + BYTES + TEXTS + LONGEST;

/// Pieces may begin with some characters and the next one.
#[derive(Clone, Copy, Default)]
struct Open {
    /// The boundary at which they begin.
    start: u32,
    /// The unit of these characters in the trie, if there is one.
    unit: u32,
}

/// The best segmentation of a text up to a boundary.
pub(in crate::encode::kernels) trait Best: Copy {
    type Sum: Sum;

    /// No segmentation was found.
    const NONE: Self;

    fn sum(self) -> Self::Sum;

    /// The number of characters of the last piece, less one.
    fn chars(self) -> usize;

    /// Compares with a segmentation by its sum. The ones with a longer last piece come first, and a sum that is not a
    /// number is that of none.
    fn take(&mut self, sum: Self::Sum, chars: usize);
}

/// Short texts, and the pieces that end at their boundaries. The boundaries of all texts are numbered together.
pub(in crate::encode) struct Endings {
    count: usize,
    /// The first boundary of each text, and the one behind the last boundary of the last text.
    starts: [usize; TEXTS + 1],
    /// The number of the character at each boundary; that of no character at the last boundary of a text.
    numbers: [u32; SPACE],
    open: [Open; SPACE],
    /// By their number of characters less one, the pieces that end at each boundary. If there is none of a usual number,
    /// this is no piece.
    pieces: Box<[[Packed; SPACE]; LONGEST]>,
    /// The units of these pieces, if their ids are not packed.
    units: Box<[[u32; SPACE]; LONGEST]>,
    /// The numbers of characters less one of other pieces that may end at each boundary, as bits.
    longer: [u16; SPACE],
    /// The texts that may have pieces that are too long, as bits.
    left_out: u32,
    path: [TokenId; BYTES],
}

impl Endings {
    pub(super) fn new() -> Result<Endings> {
        Ok(Endings {
            count: 0,
            starts: [LONGEST; TEXTS + 1],
            numbers: [NO_CHARACTER; SPACE],
            open: [Open::default(); SPACE],
            pieces: boxed([NO_PIECE; SPACE])?,
            units: boxed([0; SPACE])?,
            longer: [0; SPACE],
            left_out: 0,
            path: [0; BYTES],
        })
    }

    /// Removes all texts.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a text. Returns false if there is no space for it, or it is not UTF-8.
    #[inline(always)]
    pub(super) fn push(&mut self, trie: &CharTrie, text: &[u8]) -> bool {
        let start = self.starts[self.count];
        if self.count == TEXTS || start + text.len() + 1 + LONGEST > SPACE {
            return false;
        }
        let mut at = start;
        let read = each_char(text, BYTES, |c, _| {
            self.numbers[at] = trie.number(c);
            at += 1;
        });
        if read != Some(text.len()) {
            return false;
        }
        self.numbers[at] = NO_CHARACTER;
        self.count += 1;
        self.starts[self.count] = at + 1;
        true
    }

    /// Finds the pieces of all texts.
    #[inline(never)]
    pub(super) fn find<S: Sum>(&mut self, trie: &CharTrie) {
        let mut count = 0;
        let all = self.starts[0]..self.starts[self.count];
        self.pieces[1][all.start + 1] = NO_PIECE;
        self.pieces[2..USUAL].iter_mut().for_each(|pieces| pieces[all.clone()].fill(NO_PIECE));
        for start in all {
            let [number, next, third] = [0, 1, 2].map(|at| self.numbers[start + at]);
            let second = trie.second(number, next);
            self.pieces[0][start + 1] = trie.piece(number);
            let (piece, base) = trie.child(second, next);
            self.pieces[1][start + 2] = piece;
            if !S::HAS_IDS {
                self.units[0][start + 1] = number;
                self.units[1][start + 2] = second;
            }
            self.longer[start + 1] = 0;
            let unit = base ^ third;
            trie.prefetch(unit);
            self.open[count] = Open { start: start as u32, unit };
            count += usize::from(base != 0);
        }
        let mut chars = 2;
        while count > 0 && chars < LONGEST {
            let mut still = 0;
            for at in 0..count {
                let Open { start, unit } = self.open[at];
                let end = start as usize + chars;
                let (piece, base) = trie.child(unit, self.numbers[end]);
                self.pieces[chars][end + 1] = piece;
                if !S::HAS_IDS {
                    self.units[chars][end + 1] = unit;
                }
                if chars >= USUAL {
                    self.longer[end + 1] |= u16::from(!S::score(piece).is_nan()) << chars;
                }
                let unit = base ^ self.numbers[end + 1];
                trie.prefetch(unit);
                self.open[still] = Open { start, unit };
                still += usize::from(base != 0);
            }
            count = still;
            chars += 1;
        }
        self.left_out = 0;
        for open in &self.open[..count] {
            let text = self.starts[1..=self.count].partition_point(|&end| end <= open.start as usize);
            self.left_out |= 1 << text;
        }
    }

    /// Whether a text may have a piece that is too long.
    #[inline]
    pub(in crate::encode::kernels) fn is_left_out(&self, text: usize) -> bool {
        self.left_out >> text & 1 == 1
    }

    /// The boundaries of a text.
    #[inline(always)]
    fn boundaries(&self, text: usize) -> Range<usize> {
        self.starts[text]..self.starts[text + 1]
    }

    /// The number of characters of a text.
    #[inline]
    pub(in crate::encode::kernels) fn chars(&self, text: usize) -> usize {
        self.boundaries(text).len() - 1
    }

    /// Finds the best segmentation of a text up to each of its boundaries, from the `first`; `score` is that of a
    /// piece. There is space for as many as the text has boundaries.
    #[inline(always)]
    pub(in crate::encode::kernels) fn segment<B: Best>(
        &self,
        text: usize,
        first: B,
        score: impl Fn(Packed) -> B::Sum,
        best: &mut [B],
    ) {
        let Range { start, end } = self.boundaries(text);
        let best = &mut best[..end - start];
        // The sums of the last boundaries.
        let none = B::Sum::NAN;
        let (mut one, mut two, mut three, mut four) = (first.sum(), none, none, none);
        best[0] = first;
        // With the minimum, which changes nothing, the compiler leaves out the checks of bounds.
        for (number, boundary) in (start + 1..end.min(SPACE)).enumerate() {
            let piece = |chars: usize| score(self.pieces[chars][boundary]);
            let mut longer = self.longer[boundary];
            let mut here = B::NONE;
            while longer != 0 {
                let chars = longer.ilog2() as usize;
                longer ^= 1 << chars;
                here.take(best[number - chars].sum().plus(piece(chars)), chars);
            }
            here.take(four.plus(piece(3)), 3);
            here.take(three.plus(piece(2)), 2);
            here.take(two.plus(piece(1)), 1);
            here.take(one.plus(piece(0)), 0);
            best[number + 1] = here;
            (one, two, three, four) = (here.sum(), one, two, three);
        }
    }

    /// The ids of the best segmentation of a text, if no character is unknown and `is_good` is true of what was found at
    /// the ends of all its pieces.
    #[inline(always)]
    pub(in crate::encode::kernels) fn ids<S: Sum, B: Best>(
        &mut self,
        text: usize,
        trie: &CharTrie,
        best: &[B],
        is_good: impl Fn(B) -> bool,
    ) -> Option<&[TokenId]> {
        let (mut first, mut at, mut are_good) = (BYTES, self.chars(text), true);
        while at > 0 {
            let here = best[at];
            let id = self.id::<S>(text, trie, at, here.chars());
            are_good &= is_good(here) & (id != UNKNOWN);
            first -= 1;
            self.path[first] = id;
            at -= here.chars() + 1;
        }
        are_good.then(|| &self.path[first..])
    }

    /// The id of the piece with this number of characters less one that ends at a boundary of a text.
    #[inline(always)]
    pub(super) fn id<S: Sum>(&self, text: usize, trie: &CharTrie, at: usize, chars: usize) -> TokenId {
        let boundary = self.starts[text] + at;
        trie.id_of::<S>(self.pieces[chars][boundary], self.units[chars][boundary])
    }
}

/// An array that is too large for the stack.
fn boxed<T: Copy, const LEN: usize>(item: T) -> Result<Box<[T; LEN]>> {
    match memory::try_filled(item, LEN)?.try_into() {
        Ok(array) => Ok(array),
        Err(_) => unreachable!("the list has this length"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::pieces::Piece;
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const LETTERS: [char; 5] = ['a', 'a', 'a', 'é', '日'];

    fn texts(longest: usize, most: usize) -> impl Strategy<Value = Vec<String>> {
        let letters = prop::collection::vec(prop::sample::select(&LETTERS[..]), 1..longest);
        prop::collection::vec(letters.prop_map(String::from_iter), 0..most)
    }

    proptest! {
        #[test]
        fn all_pieces_are_found(tokens in texts(20, 60), texts in texts(48, TEXTS)) {
            check::<f32>(&tokens, &texts)?;
            check::<f64>(&tokens, &texts)?;
        }
    }

    fn check<S: Sum>(tokens: &[String], texts: &[String]) -> std::result::Result<(), TestCaseError> {
        let pieces: HashMap<&str, Piece> =
            (0..).zip(tokens).map(|(id, token)| (&token[..], Piece { id, score: -f64::from(id) })).collect();
        let unknown = Piece { id: UNKNOWN, score: -1e9 };
        let all = pieces.iter().map(|(token, piece)| (token.as_bytes(), *piece));
        let trie = CharTrie::new::<S>(all, unknown, &Never).unwrap();
        let mut endings = Endings::new().unwrap();
        // What an earlier call left must not be found.
        for texts in [texts, &texts[texts.len() / 2..]] {
            endings.clear();
            let count = texts.iter().take_while(|text| endings.push(&trie, text.as_bytes())).count();
            prop_assert!(texts.iter().map(String::len).sum::<usize>() > BYTES || count == texts.len());
            endings.find::<S>(&trie);
            for (number, text) in texts[..count].iter().enumerate() {
                let chars: Vec<char> = text.chars().collect();
                prop_assert_eq!(endings.chars(number), chars.len());
                if endings.is_left_out(number) {
                    let is_long = |token: &&str| token.chars().count() > LONGEST;
                    prop_assert!(pieces.keys().any(is_long));
                    continue;
                }
                for (end, len) in (1..=chars.len()).flat_map(|end| (1..=end).map(move |len| (end, len))) {
                    let piece: String = chars[end - len..end].iter().collect();
                    let expected = pieces.get(&piece[..]).or((len == 1).then_some(&unknown));
                    let boundary = endings.starts[number] + end;
                    let is_looked_at =
                        len <= USUAL || len <= LONGEST && endings.longer[boundary] >> (len - 1) & 1 == 1;
                    let found = is_looked_at.then(|| {
                        let unit = endings.units[len - 1][boundary];
                        let piece = endings.pieces[len - 1][boundary];
                        (S::score(piece), trie.id_of::<S>(piece, unit))
                    });
                    let found = found.filter(|(score, _)| !score.is_nan());
                    prop_assert_eq!(
                        found.map(|(score, id)| (score.wide(), id)),
                        expected.map(|one| (one.score, one.id))
                    );
                }
            }
        }
        Ok(())
    }
}
