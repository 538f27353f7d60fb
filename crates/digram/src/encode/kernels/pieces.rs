//! A trie of pieces that finds those which a text begins with, byte by byte.

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::vocabulary::TokenId;

use super::double_array::{NONE, Root, Unit, double_array};

/// A piece, and what its place in a segmentation adds to the sum of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) id: TokenId,
    pub(crate) score: f64,
}

/// A set of pieces with their scores.
pub(crate) struct Pieces {
    units: Vec<Unit>,
    pieces: Vec<Piece>,
    /// The length of the longest piece, in bytes.
    longest: usize,
}

impl Pieces {
    /// Of two pieces of the same bytes, the last one is kept.
    pub(crate) fn new<'p>(
        pieces: impl IntoIterator<Item = (&'p [u8], Piece)>,
        interrupt: &dyn Interrupt,
    ) -> Result<Pieces> {
        let mut sorted: Vec<(&[u8], Piece)> = pieces.into_iter().collect();
        keep_last(&mut sorted);
        interrupt.check()?;
        let keys: Vec<&[u8]> = sorted.iter().map(|(bytes, _)| *bytes).collect();
        let units = double_array(&keys, 1 << 8, Root::Anywhere, interrupt)?;
        let longest = keys.iter().map(|bytes| bytes.len()).max().unwrap_or(0);
        Ok(Pieces { units, pieces: sorted.into_iter().map(|(_, piece)| piece).collect(), longest })
    }

    /// The length of the longest piece, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Calls `visit` with the pieces that the bytes begin with and their lengths, the shortest first. Returns the
    /// number of steps.
    #[inline(always)]
    pub(crate) fn each_prefix(&self, bytes: &[u8], mut visit: impl FnMut(usize, Piece)) -> usize {
        let mut base = self.units[0].base;
        for (index, &byte) in bytes.iter().enumerate() {
            let unit = self.units[base as usize ^ usize::from(byte)];
            if unit.label != u32::from(byte) {
                return index + 1;
            }
            if unit.key != NONE {
                visit(index + 1, self.pieces[unit.key as usize]);
            }
            if unit.base == 0 {
                return index + 1;
            }
            base = unit.base;
        }
        bytes.len()
    }
}

/// Sorts pieces by their texts, none of which is empty then, and of equal texts keeps the last one.
pub(super) fn keep_last<K: Ord + AsRef<[L]>, L, V>(pieces: &mut Vec<(K, V)>) {
    pieces.retain(|(key, _)| !key.as_ref().is_empty());
    // Stable, so that equal ones stay in the given order.
    pieces.sort_by(|(a, _), (b, _)| a.cmp(b));
    pieces.reverse();
    pieces.dedup_by(|(a, _), (b, _)| a == b);
    pieces.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_prefixes_are_found(
            tokens in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0xe2, 0xff]), 0..6), 0..200),
            text in prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0xe2, 0xff]), 0..12),
        ) {
            let piece = |id: usize| Piece { id: id as TokenId, score: -(id as f64) };
            let pieces = Pieces::new(tokens.iter().enumerate().map(|(id, token)| (&token[..], piece(id))), &Never).unwrap();
            let mut found = Vec::new();
            pieces.each_prefix(&text, |len, piece| found.push((len, piece)));
            let expected: Vec<_> = (1..=text.len())
                .filter_map(|len| Some((len, piece(tokens.iter().rposition(|token| *token == text[..len])?))))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
