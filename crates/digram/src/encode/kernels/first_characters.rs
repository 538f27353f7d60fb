//! The characters of a word that merging starts with as single symbols (see docs/algorithm.md, 20).
//!
//! Suppose that each token that spans a border of a character contains the whole characters on both sides. Then no
//! merge crosses the border before the bytes of the character are one symbol, so they are merged as if they were alone.
//! If each token has a higher rank than its parts, it does not matter when these merges are applied.

use std::sync::Arc;

use crate::encode::character_ids::CharacterIds;
use crate::encode::safe_splits::BytesBeside;
use crate::merges::Merges;
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};

/// A character that is one symbol at the start.
pub(super) struct FirstCharacter {
    pub(super) at: usize,
    pub(super) width: usize,
    pub(super) id: TokenId,
}

/// The characters that are one symbol when their bytes are merged.
pub(in crate::encode) struct FirstCharacters {
    ids: CharacterIds,
    beside: Arc<BytesBeside>,
}

impl FirstCharacters {
    /// The characters of a vocabulary over bytes with these ids; `None` if the merges do not rise.
    pub(super) fn new(
        byte_ids: &[TokenId; 256],
        merges: &Merges,
        vocabulary: &Vocabulary,
        beside: &Arc<BytesBeside>,
    ) -> Option<FirstCharacters> {
        if !merges.is_rising() {
            return None;
        }
        let tokens = vocabulary.iter().filter(|(_, token)| (2..=3).contains(&token.len()));
        let characters = tokens.filter_map(|(id, token)| match decode(token) {
            (Some(c), width) if width == token.len() => {
                (merged(token, byte_ids, merges) == Some(id)).then_some((c, id))
            }
            _ => None,
        });
        Some(FirstCharacters { ids: CharacterIds::new(characters), beside: beside.clone() })
    }

    /// Calls `visit` with the characters of a word that are one symbol at the start.
    #[inline]
    pub(super) fn each(&self, word: &[u8], mut visit: impl FnMut(FirstCharacter)) {
        let (mut at, mut left, mut last) = (0, None, None);
        while at < word.len() {
            let (Some(c), width) = decode(&word[at..]) else { return };
            let right = (self.beside.of(c), word[at]);
            let is_whole = left.is_none_or(|left| !BytesBeside::may_span(left, right));
            if let Some(character) = last.take().filter(|_| is_whole) {
                visit(character);
            }
            last = self.ids.get(c).filter(|_| is_whole).map(|id| FirstCharacter { at, width, id });
            at += width;
            left = Some((right.0, word[at - 1]));
        }
        if let Some(character) = last {
            visit(character);
        }
    }
}

/// The token of two or three bytes, if they are merged to one.
fn merged(bytes: &[u8], byte_ids: &[TokenId; 256], merges: &Merges) -> Option<TokenId> {
    let ids: Vec<TokenId> = bytes.iter().map(|&byte| byte_ids[usize::from(byte)]).collect();
    let join = |left, right| {
        let rank = merges.rank(left, right);
        (rank != crate::merges::NO_RANK).then(|| (rank, merges.id(rank)))
    };
    match ids[..] {
        [first, second] => Some(join(first, second)?.1),
        [first, second, third] => {
            let (before, behind) = (join(first, second), join(second, third));
            // The lowest rank, and of equal ones the left one.
            match (before, behind) {
                (Some((rank, id)), behind) if behind.is_none_or(|(other, _)| rank <= other) => {
                    Some(join(id, third)?.1)
                }
                (_, Some((_, id))) => Some(join(first, id)?.1),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::first_merges::FirstMerges;
    use super::super::lockstep::{LONGEST, Lockstep, WORDS};
    use super::super::naive;
    use super::*;
    use crate::cpu::SimdLevel;
    use crate::encode::safe_splits::SafeSplits;
    use crate::merges::Merge;

    const CHARACTERS: [&[u8]; 8] = [
        b" ",
        b"a",
        "é".as_bytes(),
        "ж".as_bytes(),
        "가".as_bytes(),
        "각".as_bytes(),
        "語".as_bytes(),
        "🙂".as_bytes(),
    ];

    /// Merges of which some make characters and others parts of them, beside other characters too.
    fn random_merges(next: &mut impl FnMut(usize) -> usize) -> (Vec<Vec<u8>>, Vec<Merge>) {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut merges = Vec::new();
        let mut texts: Vec<u8> = (0..40).flat_map(|_| CHARACTERS[next(8)]).copied().collect();
        if next(3) == 0 {
            texts.remove(next(texts.len()));
        }
        let mut symbols: Vec<TokenId> = texts.iter().map(|&byte| byte.into()).collect();
        // Each merge joins a pair of a text, as in training; most pairs are within a character.
        for _ in 0..next(40) {
            let within = |at: &usize| std::str::from_utf8(&tokens[symbols[*at] as usize]).is_err();
            let places: Vec<usize> = (0..symbols.len() - 1).collect();
            let parts: Vec<usize> = places.iter().copied().filter(within).collect();
            let from = if next(4) > 0 && !parts.is_empty() { &parts } else { &places };
            let at = from[next(from.len())];
            let (left, right) = (symbols[at], symbols[at + 1]);
            let token = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            if token.len() > 16 || tokens.contains(&token) {
                continue;
            }
            let id = tokens.len() as TokenId;
            merges.push(Merge { left, right, id });
            tokens.push(token);
            symbols = naive::merge(texts.iter().map(|&byte| byte.into()).collect(), &merges);
            if symbols.len() < 2 {
                break;
            }
        }
        (tokens, merges)
    }

    #[test]
    fn words_that_start_with_characters_are_merged_as_defined() {
        let (mut next, mut whole, mut parts) = (naive::random(), 0, 0);
        for _ in 0..600 {
            let (tokens, list) = random_merges(&mut next);
            let vocabulary = Vocabulary::new(tokens.iter().map(Some)).unwrap();
            let merges = Merges::new(list.clone(), &vocabulary).unwrap();
            let splits = SafeSplits::new(&vocabulary, &list, false);
            let ids = std::array::from_fn(|byte| byte as TokenId);
            let first_merges = FirstMerges::new(&ids, &merges, &vocabulary, Some(splits.beside()));
            let mut lockstep = Lockstep::<LONGEST>::new();
            let words: Vec<Vec<u8>> = (0..WORDS)
                .map(|_| {
                    let mut word: Vec<u8> =
                        (0..1 + next(14)).flat_map(|_| CHARACTERS[next(8)]).copied().collect();
                    if next(5) == 0 && word.len() > 1 {
                        word.remove(next(word.len()));
                    }
                    word
                })
                .collect();
            let characters = first_merges.whole_characters().expect("rising merges");
            for word in &words {
                let mut count = 0;
                characters.each(word, |character| count += character.width - 1);
                whole += count;
                parts += word.iter().filter(|byte| crate::utf8::is_inside(**byte)).count() - count;
            }
            for simd in SimdLevel::available() {
                lockstep.start(words.iter().map(|word| &word[..]), &first_merges, &merges, simd);
                lockstep.merge(&merges, simd);
                for (number, word) in words.iter().enumerate() {
                    let (ids, count) = lockstep.ids(number);
                    let symbols = word.iter().map(|&byte| byte.into()).collect();
                    assert_eq!(ids[..count], naive::merge(symbols, &list), "{word:?} {simd:?} {tokens:?}");
                }
            }
        }
        assert!(whole > 5_000 && parts > 5_000, "{whole} bytes in whole characters, {parts} in others");
    }
}
