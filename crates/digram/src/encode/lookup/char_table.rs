//! The ids of single characters.
//!
//! In scripts without spaces most pieces between splits are one character. There are few characters, and
//! their ids fit into a word, so they are merged once per vocabulary and then looked up in a table. The
//! table is shared by all threads; its blocks are computed when a text first needs them.

use once_cell::race::OnceBox;

use crate::vocabulary::TokenId;

/// Characters per block, which Unicode mostly assigns to one script.
const BLOCK: usize = 64;

/// Characters below this code point have entries: all living scripts.
const CHARACTERS: usize = 1 << 16;

/// Up to three ids and their number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::encode) struct Packed(u64);

impl Packed {
    /// Ids that are not known or do not fit.
    const NONE: Packed = Packed(0);

    pub(in crate::encode) const MAX: usize = 3;

    /// The published vocabularies stay below 2^19.
    const ID_BITS: u32 = 20;

    fn new(ids: &[TokenId]) -> Packed {
        if ids.len() > Packed::MAX || ids.iter().any(|id| id >> Packed::ID_BITS > 0) {
            return Packed::NONE;
        }
        let packed = ids.iter().rev().fold(0, |packed, &id| packed << Packed::ID_BITS | u64::from(id));
        Packed(packed | (ids.len() as u64) << (3 * Packed::ID_BITS))
    }

    /// The ids, arbitrary values behind them, and the number of ids.
    #[inline]
    pub(in crate::encode) fn ids(self) -> ([TokenId; Packed::MAX], usize) {
        let id =
            |at: usize| (self.0 >> (at as u32 * Packed::ID_BITS)) as TokenId & ((1 << Packed::ID_BITS) - 1);
        (std::array::from_fn(id), (self.0 >> (3 * Packed::ID_BITS)) as usize)
    }
}

/// The ids of characters.
pub(super) struct CharTable {
    blocks: Box<[OnceBox<[Packed; BLOCK]>]>,
}

impl CharTable {
    pub(super) fn new() -> CharTable {
        CharTable { blocks: (0..CHARACTERS / BLOCK).map(|_| OnceBox::new()).collect() }
    }

    /// The ids of `c`, if the table has them. `merge` computes the ids of a missing block: it returns a
    /// function from a character to its ids, or to `None` if it has none.
    #[inline]
    pub(super) fn get<M: FnMut(char) -> Option<Vec<TokenId>>>(
        &self,
        c: char,
        merge: impl FnOnce() -> M,
    ) -> Option<Packed> {
        let code = c as usize;
        let block = self.blocks.get(code / BLOCK)?.get_or_init(|| {
            let mut merge = merge();
            Box::new(std::array::from_fn(|at| {
                let c = char::from_u32((code / BLOCK * BLOCK + at) as u32);
                c.and_then(&mut merge).map_or(Packed::NONE, |ids| Packed::new(&ids))
            }))
        });
        let packed = block[code % BLOCK];
        (packed != Packed::NONE).then_some(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_where_they_fit() {
        let char_table = CharTable::new();
        let maximum = (1 << Packed::ID_BITS) - 1;
        let ids = |c: char| match c {
            'a' => Some(vec![7]),
            'b' => Some(vec![0, maximum, 5]),
            'c' => Some(vec![1, 2, 3, 4]),
            'd' => Some(vec![maximum + 1]),
            _ => None,
        };
        let kept = |c| char_table.get(c, || ids).map(Packed::ids).map(|(ids, count)| ids[..count].to_vec());
        assert_eq!((kept('a'), kept('b')), (Some(vec![7]), Some(vec![0, maximum, 5])));
        assert_eq!((kept('c'), kept('d'), kept('e'), kept('\u{10000}')), (None, None, None, None));
    }
}
