//! The merges of two bytes that happen in every word in which the bytes next to them are the same.
//!
//! Let a word contain the bytes `a b`, whose merge has rank `r`. A symbol before them ends in the byte before
//! `a`, whatever it is merged from, and a symbol after them begins with the byte after `b`. If all merges of
//! such a symbol with `a` or with `b` have a higher rank than `r`, none of them is applied while `a` and `b` are
//! there, so they are merged. And if a token has only merges of higher ranks than its own, merging them at once
//! changes nothing else. In published vocabularies half of all merges are of this kind.

use std::sync::Arc;

use super::super::character_ids::CharacterIds;
use super::super::safe_splits::BytesBeside;
use super::first_characters::FirstCharacters;
use crate::merges::{Merge, Merges, Rank};
use crate::utf8::decode;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

/// What merges do with two neighbouring bytes, as three ranks of [`RANK_BITS`] bits: that of their merge in the
/// lowest ones; then the lowest rank of a merge of a token that ends in the first byte with the second byte; then
/// the lowest rank of a merge of the first byte with a token that begins with the second byte.
///
/// One number, so that a pair is read at once, and the pairs of common letters stay in a near cache.
#[derive(Clone, Copy)]
pub(super) struct BytePair(u64);

/// The bits of each rank of a pair.
pub(super) const RANK_BITS: u32 = MAX_VOCAB_SIZE.ilog2();

/// The rank of a merge that does not exist.
pub(super) const NO_MERGE: Rank = (1 << RANK_BITS) - 1;

impl BytePair {
    const NONE: BytePair = BytePair(u64::MAX >> (u64::BITS - 3 * RANK_BITS));

    /// The rank of their merge.
    #[inline(always)]
    pub(super) fn rank(self) -> Rank {
        self.get(0)
    }

    /// The lowest rank at which the symbol before them takes the second byte.
    #[inline(always)]
    pub(super) fn takes_second(self) -> Rank {
        self.get(1)
    }

    /// The lowest rank at which the first byte takes the symbol behind them.
    #[inline(always)]
    pub(super) fn takes_first(self) -> Rank {
        self.get(2)
    }

    /// All three ranks.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn get(self, number: u32) -> Rank {
        (self.0 >> (number * RANK_BITS)) as Rank & NO_MERGE
    }

    /// Sets one of the three ranks.
    fn set(&mut self, number: u32, rank: Rank) {
        self.0 &= !(u64::from(NO_MERGE) << (number * RANK_BITS));
        self.0 |= u64::from(rank) << (number * RANK_BITS);
    }

    /// Sets one of them if it was higher.
    fn lower(&mut self, number: u32, rank: Rank) {
        self.set(number, self.get(number).min(rank));
    }
}

/// The token of each byte, and all pairs of bytes.
pub(in crate::encode) struct FirstMerges {
    ids: [TokenId; 256],
    /// The lowest of these ids, and the differences of all to it, if they are less than 256.
    near_ids: Option<(TokenId, [u8; 256])>,
    /// By [`index`].
    pairs: Box<[BytePair; 1 << 16]>,
    /// The symbols of words, unless these are bytes.
    characters: Option<Characters>,
    /// The characters that words of bytes start with, where they are known.
    whole: Option<FirstCharacters>,
}

/// The symbols of words that are characters: a character without a token is that of its bytes, which nothing joins.
struct Characters {
    ids: Arc<CharacterIds>,
    byte_ids: [TokenId; 256],
    /// The ASCII characters that have tokens. Of words of these, the merges are those of bytes.
    are_plain: [bool; 256],
}

impl FirstMerges {
    /// Those of words whose symbols are bytes.
    pub(super) fn new(
        ids: &[TokenId; 256],
        merges: &Merges,
        vocabulary: &Vocabulary,
        beside: Option<&Arc<BytesBeside>>,
    ) -> FirstMerges {
        let all = merges.in_order().iter().enumerate().map(|(rank, &merge)| (rank as Rank, merge));
        let first_merges = FirstMerges::of(ids, all, merges.is_rising(), vocabulary);
        let whole = beside.and_then(|beside| FirstCharacters::new(ids, merges, vocabulary, beside));
        FirstMerges { whole, ..first_merges }
    }

    /// The characters that words of bytes start with.
    #[inline(always)]
    pub(super) fn whole_characters(&self) -> Option<&FirstCharacters> {
        self.whole.as_ref()
    }

    /// Those of words whose symbols are characters, or bytes of those without a token; of `all` merges, each with its
    /// rank, none joins such a byte.
    pub(super) fn of_characters(
        ids: &Arc<CharacterIds>,
        byte_ids: &[TokenId; 256],
        all: impl Iterator<Item = (Rank, Merge)>,
        are_rising: bool,
        vocabulary: &Vocabulary,
    ) -> FirstMerges {
        let known = |byte: usize| ids.get(char::from(byte as u8)).filter(|_| byte < 128);
        // Those of other bytes are not used.
        let ascii_ids = std::array::from_fn(|byte| known(byte).unwrap_or_default());
        let are_plain = std::array::from_fn(|byte| known(byte).is_some());
        let characters = Characters { ids: ids.clone(), byte_ids: *byte_ids, are_plain };
        let first_merges = FirstMerges::of(&ascii_ids, all, are_rising, vocabulary);
        FirstMerges { characters: Some(characters), ..first_merges }
    }

    fn of(
        ids: &[TokenId; 256],
        all: impl Iterator<Item = (Rank, Merge)>,
        are_rising: bool,
        vocabulary: &Vocabulary,
    ) -> FirstMerges {
        let mut pairs = Box::new([BytePair::NONE; 1 << 16]);
        // Of merges that are not rising, only those of whole words of two bytes are known.
        if !are_rising {
            for pair in pairs.iter_mut() {
                pair.set(1, 0);
                pair.set(2, 0);
            }
        }
        for (rank, merge) in all {
            let (Some(left), Some(right)) = (vocabulary.get(merge.left), vocabulary.get(merge.right)) else {
                continue;
            };
            let (Some(&end), Some(&start)) = (left.last(), right.first()) else { continue };
            let pair = &mut pairs[index([end, start])];
            if right.len() == 1 {
                pair.lower(1, rank);
            }
            if left.len() == 1 {
                pair.lower(2, rank);
            }
            if (merge.left, merge.right) == (ids[usize::from(end)], ids[usize::from(start)]) {
                pair.set(0, rank);
            }
        }
        let lowest_id = ids.iter().copied().min().unwrap_or_default();
        let is_near = ids.iter().all(|id| id - lowest_id < 256);
        let near_ids = is_near.then(|| (lowest_id, ids.map(|id| (id - lowest_id) as u8)));
        FirstMerges { ids: *ids, near_ids, pairs, characters: None, whole: None }
    }

    /// Whether the symbols of a word are bytes, or like those.
    #[inline(always)]
    pub(super) fn is_of_bytes(&self, word: &[u8]) -> bool {
        let Some(characters) = &self.characters else { return true };
        word.iter().fold(true, |all, &byte| all & characters.are_plain[usize::from(byte)])
    }

    /// Whether a word consists of symbols.
    #[inline(always)]
    pub(super) fn has_symbols(&self, word: &[u8]) -> bool {
        self.characters.is_none() || word.is_ascii() || std::str::from_utf8(word).is_ok()
    }

    /// Calls `visit` with the place and the token of each symbol of a word, and whether merges may join it.
    #[inline(always)]
    pub(super) fn each_symbol(&self, word: &[u8], mut visit: impl FnMut(usize, TokenId, bool)) {
        let Some(Characters { ids, byte_ids, .. }) = &self.characters else { return };
        let mut at = 0;
        while at < word.len() {
            let (c, len) = decode(&word[at..]);
            match c.and_then(|c| ids.get(c)) {
                Some(id) => visit(at, id, true),
                None => (at..at + len).for_each(|at| visit(at, byte_ids[usize::from(word[at])], false)),
            }
            at += len;
        }
    }

    /// The token of a byte.
    #[inline(always)]
    pub(super) fn id(&self, byte: u8) -> TokenId {
        self.ids[usize::from(byte)]
    }

    /// The token of each byte.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn ids(&self) -> &[TokenId; 256] {
        &self.ids
    }

    /// The lowest token of a byte, and the differences of all to it, if they are less than 256.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn near_ids(&self) -> Option<&(TokenId, [u8; 256])> {
        self.near_ids.as_ref()
    }

    #[inline(always)]
    pub(super) fn pair(&self, bytes: [u8; 2]) -> BytePair {
        self.pairs[index(bytes)]
    }
}

/// The index of two bytes: as they are read from memory, without computing anything.
#[inline(always)]
fn index(bytes: [u8; 2]) -> usize {
    usize::from(u16::from_ne_bytes(bytes))
}
