//! Merging several short words in lockstep: one merge of each word in turn.
//!
//! A merge needs the ranks of two new pairs, and most of those that may have one are far from the
//! processor. A word that is merged alone waits for each. Here the memory for the pairs of all words is
//! prefetched before any of it is read, so that a word waits while the others are merged.
//!
//! Tried and rejected: 32 words; asking the filter for a pair one turn later, when its memory is near; starting words
//! of Korean and Thai with their characters alone, without the pairs of bytes (3 to 5 % slower, since many words
//! have a character that is not one symbol).

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::bits::set_bits;
use crate::cpu::SimdLevel;
use crate::merges::{Merges, PairSlot};
use crate::vocabulary::TokenId;

use super::first_characters::{FirstCharacter, FirstCharacters};
use super::first_merges::{FirstMerges, NO_MERGE};
use super::rank_key::{NONE, RankKey, key, rank_and_place};

/// The number of words that are merged together.
pub(in crate::encode) const WORDS: usize = 16;

/// The maximum lengths of words, in bytes. Short words are most words in ASCII letters, and long ones those in
/// letters of two bytes; the longest are parts of texts in scripts without spaces.
pub(in crate::encode) const SHORT: usize = 16;
pub(in crate::encode) const LONG: usize = 32;
pub(in crate::encode) const LONGEST: usize = 64;

/// A word whose symbols are merged.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Word<const LEN: usize> {
    /// `keys[at]` is the key of the pair that starts at `at`.
    keys: [RankKey; LEN],
    /// Symbols do not move.
    ids: [TokenId; LEN],
    /// The places where symbols remain, as bits.
    remaining: u64,
    len: u32,
}

/// The first byte of characters of three bytes, and of longer ones, is at least this one. The bytes of shorter ones
/// are mostly merged at once.
const THREE: u8 = 0xe0;

impl<const LEN: usize> Word<LEN> {
    /// Replaces the bytes of characters by one symbol each. `merged` are the places of the pairs that were merged at once;
    /// returns the places of all symbols of several bytes.
    // Not inlined: most words have none.
    #[inline(never)]
    fn start_with(&mut self, characters: &FirstCharacters, bytes: &[u8], mut merged: u64) -> u64 {
        characters.each(bytes, |FirstCharacter { at, width, id }| {
            self.ids[at] = id;
            self.keys[at.saturating_sub(1)..at + width].fill(NONE);
            let places = ((1 << width) - 1) << at;
            merged = merged & !places | 1 << at;
            self.remaining = self.remaining & !places | 1 << at;
        });
        merged
    }
}

/// A pair whose rank is being read.
#[derive(Clone, Copy, Default)]
struct Pending {
    word: u8,
    at: u8,
    slot: PairSlot,
}

/// Up to [`WORDS`] words of up to `LEN` bytes, and memory to merge them in.
pub(in crate::encode) struct Lockstep<const LEN: usize> {
    words: [Word<LEN>; WORDS],
    count: usize,
    /// The pairs that the merges of the current turn made.
    pending: [[Pending; LEN]; WORDS],
    pending_count: usize,
}

impl<const LEN: usize> Lockstep<LEN> {
    pub(in crate::encode) fn new() -> Lockstep<LEN> {
        Lockstep {
            words: [Word { keys: [NONE; LEN], ids: [0; LEN], remaining: 0, len: 0 }; WORDS],
            count: 0,
            pending: [[Pending::default(); LEN]; WORDS],
            pending_count: 0,
        }
    }

    /// Adds words of 1 to `LEN` bytes; there are at most [`WORDS`].
    pub(super) fn start<'a>(
        &mut self,
        words: impl Iterator<Item = &'a [u8]>,
        first_merges: &FirstMerges,
        merges: &Merges,
        simd: SimdLevel,
    ) {
        self.count = 0;
        self.pending_count = 0;
        match simd {
            // SAFETY: this level is chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.push_avx512(words, first_merges, merges) },
            _ => words.for_each(|word| self.push(word, first_merges, merges)),
        }
    }

    #[inline]
    fn push(&mut self, bytes: &[u8], first_merges: &FirstMerges, merges: &Merges) {
        if !first_merges.is_of_bytes(bytes) {
            return self.push_characters(bytes, first_merges, merges);
        }
        let word = &mut self.words[self.count];
        word.keys = [NONE; LEN];
        let len = bytes.len().min(LEN);
        // The places of pairs that are merged at once, as bits; see `first_merges`.
        let mut merged = 0u64;
        // The lowest rank at which the symbol before a pair takes its first byte, and the rank of the pair
        // before it, if that symbol is not merged earlier.
        let (mut taken, mut before) = (NO_MERGE, NO_MERGE);
        for at in 0..len - 1 {
            let pair = first_merges.pair([bytes[at], bytes[at + 1]]);
            let rank = pair.rank();
            word.ids[at] = first_merges.id(bytes[at]);
            word.keys[at] = if rank == NO_MERGE { NONE } else { key::<LONGEST>(rank, at) };
            merged |= u64::from(before < pair.takes_first()) << at;
            before = if rank < taken { rank } else { NO_MERGE };
            taken = pair.takes_second();
        }
        word.ids[len - 1] = first_merges.id(bytes[len - 1]);
        // The bit of a pair is that of the place behind it so far.
        let merged = (merged | u64::from(before < NO_MERGE) << (len - 1)) >> 1;
        for at in set_bits(merged) {
            word.ids[at] = merges.id(rank_and_place::<LONGEST>(word.keys[at]).0);
            word.keys[at.saturating_sub(1)] = NONE;
            word.keys[at] = NONE;
            word.keys[at + 1] = NONE;
        }
        word.remaining = u64::MAX >> (LONGEST - len) & !(merged << 1);
        word.len = len as u32;
        let merged = match first_merges.whole_characters() {
            Some(characters) if bytes.iter().any(|&byte| byte >= THREE) => {
                word.start_with(characters, &bytes[..len], merged)
            }
            _ => merged,
        };
        self.ask_beside(merged, merges);
    }

    /// Adds a word whose symbols are characters. A symbol stands at its first byte. No pair is merged at once.
    #[inline(never)]
    fn push_characters(&mut self, bytes: &[u8], first_merges: &FirstMerges, merges: &Merges) {
        let bytes = &bytes[..bytes.len().min(LEN)];
        let word = &mut self.words[self.count];
        word.keys = [NONE; LEN];
        (word.remaining, word.len) = (0, bytes.len() as u32);
        let pending = self.pending.as_flattened_mut();
        let (mut before, mut before_joins) = (0, false);
        first_merges.each_symbol(bytes, |at, id, joins| {
            word.ids[at] = id;
            word.remaining |= 1 << at;
            let (slot, may_be) = merges.prefetch_pair(word.ids[before], id);
            pending[self.pending_count] = Pending { word: self.count as u8, at: before as u8, slot };
            self.pending_count += usize::from(may_be & joins & before_joins);
            (before, before_joins) = (at, joins);
        });
        self.count += 1;
    }

    /// Prefetches the ranks of the pairs of a new word that are beside its merged ones.
    #[inline(always)]
    fn ask_beside(&mut self, merged: u64, merges: &Merges) {
        let word = &self.words[self.count];
        for at in set_bits((merged | merged >> 1) & word.remaining) {
            let next = (word.remaining & beyond(at)).trailing_zeros() as usize;
            let (slot, may_be) = merges.prefetch_pair(word.ids[at], word.ids[next % LEN]);
            let pending = self.pending.as_flattened_mut();
            pending[self.pending_count] = Pending { word: self.count as u8, at: at as u8, slot };
            self.pending_count += usize::from(may_be & (next < word.len as usize));
        }
        self.count += 1;
    }

    /// Applies all merges to all words.
    pub(super) fn merge(&mut self, merges: &Merges, simd: SimdLevel) {
        match simd {
            SimdLevel::Plain => self.merge_by(merges),
            // SAFETY: this level is chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 | SimdLevel::Avx512 => unsafe { self.merge_avx2(merges) },
        }
        match simd {
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.close_gaps_avx512() },
            _ => self.close_gaps(),
        }
    }

    /// Moves the remaining ids of each word to its start.
    fn close_gaps(&mut self) {
        for word in &mut self.words[..self.count] {
            for (place, at) in set_bits(word.remaining).enumerate() {
                word.ids[place] = word.ids[at];
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_avx2(&mut self, merges: &Merges) {
        self.merge_by(merges);
    }

    #[inline(always)]
    fn merge_by(&mut self, merges: &Merges) {
        let mut unfinished = (1u32 << self.count) - 1;
        while unfinished > 0 {
            for &Pending { word, at, slot } in &self.pending.as_flattened()[..self.pending_count] {
                self.words[word as usize].keys[at as usize] =
                    key::<LONGEST>(merges.rank_in(slot), at as usize);
            }
            let (pending, mut count) = (self.pending.as_flattened_mut(), 0);
            let mut turn = unfinished;
            while turn > 0 {
                let number = turn.trailing_zeros() as usize;
                turn &= turn - 1;
                let word = &mut self.words[number];
                let lowest = word.keys.iter().copied().fold(NONE, RankKey::min);
                if lowest == NONE {
                    unfinished &= !(1 << number);
                    continue;
                }
                let (rank, at) = rank_and_place::<LONGEST>(lowest);
                word.ids[at] = merges.id(rank);
                let right = (word.remaining & beyond(at)).trailing_zeros() as usize;
                word.keys[at] = NONE;
                word.keys[right] = NONE;
                word.remaining &= !(1 << right);
                let next = (word.remaining & beyond(at)).trailing_zeros() as usize;
                // Only the first symbol has none before it.
                let before = word.remaining & ((1 << at) - 1);
                let previous = (before | 1).ilog2() as usize;
                word.keys[previous] = NONE;
                // Without a branch on whether there is such a pair or it may have a rank, which cannot be
                // predicted.
                let mut ask = |at: usize, left: usize, right: usize, is_pair: bool| {
                    let (slot, may_be) = merges.prefetch_pair(word.ids[left], word.ids[right]);
                    pending[count] = Pending { word: number as u8, at: at as u8, slot };
                    count += usize::from(may_be & is_pair);
                };
                ask(at, at, next % LEN, next < word.len as usize);
                ask(previous, previous, at, before > 0);
            }
            self.pending_count = count;
        }
    }

    /// The ids of a merged word, at the start of an array, and their number.
    #[inline]
    pub(in crate::encode) fn ids(&self, number: usize) -> (&[TokenId; LEN], usize) {
        let word = &self.words[number];
        (&word.ids, word.remaining.count_ones() as usize)
    }
}

/// The bits above bit `at`.
#[inline(always)]
fn beyond(at: usize) -> u64 {
    u64::MAX << 1 << at
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;

    #[test]
    fn all_words_are_merged_as_defined() {
        check::<SHORT>();
        check::<LONG>();
        check::<LONGEST>();
    }

    fn check<const LEN: usize>() {
        let (mut next, mut rising) = (naive::random(), 0);
        for round in 0..100 {
            // Ids below and above the table of low ids.
            let (list, merges, vocabulary) = naive::random_merges(&mut next, [4, 200, 300][round % 3], 100);
            let ids = std::array::from_fn(|byte| byte as TokenId);
            let first_merges = FirstMerges::new(&ids, &merges, &vocabulary, None);
            rising += usize::from(merges.is_rising());
            let mut lockstep = Lockstep::<LEN>::new();
            for _ in 0..30 {
                let words: Vec<Vec<u8>> = (0..next(WORDS + 1))
                    .map(|_| (0..1 + next(LEN)).map(|_| next(4) as u8).collect())
                    .collect();
                for simd in SimdLevel::available() {
                    lockstep.start(words.iter().map(|word| &word[..]), &first_merges, &merges, simd);
                    lockstep.merge(&merges, simd);
                    for (number, word) in words.iter().enumerate() {
                        let (ids, count) = lockstep.ids(number);
                        let symbols = word.iter().map(|&byte| byte.into()).collect();
                        assert_eq!(ids[..count], naive::merge(symbols, &list), "{word:?} {simd:?}");
                    }
                }
            }
        }
        assert!((10..90).contains(&rising), "{rising} of 100 lists are rising");
    }
}
