//! The tokens of single characters, in a table.

use crate::vocabulary::TokenId;

/// The number of characters of a block, whose bytes differ in the last one.
const BLOCK: usize = 64;

/// The token of each character that has one.
pub(super) struct CharacterIds {
    /// The number of each block of characters among those with tokens, up to the last one; 0 for none.
    blocks: Vec<u16>,
    ids: Vec<[TokenId; BLOCK]>,
}

/// What the table has for a character without a token: no token has this id.
const NO_TOKEN: TokenId = TokenId::MAX;

impl CharacterIds {
    pub(super) fn new(tokens: impl Iterator<Item = (char, TokenId)>) -> CharacterIds {
        let (mut blocks, mut ids) = (Vec::new(), vec![[NO_TOKEN; BLOCK]]);
        for (c, id) in tokens {
            let number = c as usize / BLOCK;
            if blocks.len() <= number {
                blocks.resize(number + 1, 0);
            }
            if blocks[number] == 0 {
                // There are fewer blocks than numbers of 16 bits.
                blocks[number] = ids.len() as u16;
                ids.push([NO_TOKEN; BLOCK]);
            }
            ids[usize::from(blocks[number])][c as usize % BLOCK] = id;
        }
        CharacterIds { blocks, ids }
    }

    /// The token of a character.
    #[inline(always)]
    pub(super) fn get(&self, c: char) -> Option<TokenId> {
        let block = self.blocks.get(c as usize / BLOCK).copied().unwrap_or_default();
        let id = self.ids[usize::from(block)][c as usize % BLOCK];
        (id != NO_TOKEN).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_its_own_token() {
        let tokens = [('a', 0), ('b', 7), ('\u{7f}', 5), ('é', 1), ('語', 2), ('\u{10_ffff}', 3)];
        let ids = CharacterIds::new(tokens.into_iter());
        let found: Vec<_> = ('\0'..=char::MAX).filter_map(|c| Some((c, ids.get(c)?))).collect();
        assert_eq!(found, tokens);
        assert_eq!(CharacterIds::new(std::iter::empty()).get('a'), None);
    }
}
