//! A small cache of merged pretokens, one for each thread.
//!
//! The number of entries is bounded and newer ones replace older ones, so that no text can make it large or
//! slow. It never changes a result: an entry is used only for exactly the bytes it was made from.
//!
//! Most words are short and have few ids: two of them share a cache line. Longer words take a cache line
//! each. Still longer pretokens, such as lines drawn in plain text, are in a hash map.

use hashbrown::HashMap;

use crate::bits::seeds;
use crate::cpu::prefetch;
use crate::index::{TokenKey, near_the_end};
use crate::memory;
use crate::vocabulary::TokenId;

/// The number of sets of a new table. It grows as it fills, so that a few short texts take little memory.
const FEW_SETS: usize = 1 << 7;

/// The maximum number of sets of short words: 4 MiB.
const MAX_SHORT_SETS: usize = 1 << 16;

/// The maximum number of sets of words: 8 MiB.
const MAX_WORD_SETS: usize = 1 << 16;

/// The maximum size of all phrases, with their ids and the overhead of the map for each: 1 MiB.
const MAX_PHRASE_BYTES: usize = 1 << 20;
const OF_MAP: usize = 80;

/// The maximum length of a phrase, in bytes.
const LONGEST_PHRASE: usize = 256;

/// The maximum number of ids of a short word.
pub(super) const FEW_IDS: usize = 3;

/// The maximum number of ids of a word; 98 % of the words of prose fit.
pub(super) const MAX_IDS: usize = 7;

/// The ids of merged pretokens, by their bytes.
pub(in crate::encode) struct Cache {
    short: CacheTable<ShortEntry>,
    words: CacheTable<WordEntry>,
    phrases: HashMap<Box<[u8]>, Box<[TokenId]>>,
    /// The size of all phrases, in bytes.
    phrase_bytes: usize,
}

impl Cache {
    pub(in crate::encode) fn new() -> Cache {
        Cache {
            short: CacheTable::new(MAX_SHORT_SETS),
            words: CacheTable::new(MAX_WORD_SETS),
            phrases: HashMap::new(),
            phrase_bytes: 0,
        }
    }

    /// The size of the cache, in bytes.
    pub(in crate::encode) fn bytes(&self) -> usize {
        size_of_val(&*self.short.sets) + size_of_val(&*self.words.sets) + self.phrase_bytes
    }

    /// Prefetches the place of `text[start..end]`, which has this key.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: TokenKey, text: &[u8], start: usize, end: usize) {
        if !key.is_long() {
            prefetch(self.short.set(key.hash(self.short.seeds) as usize));
        } else if let Some(word) = WordEntry::new(text, start, end) {
            let CacheSet([newer, older]) = self.words.set(word.hash(self.words.seeds));
            prefetch(newer);
            prefetch(older);
        }
    }

    /// The ids of a short word and their number.
    #[inline(always)]
    pub(super) fn get_short(&self, key: TokenKey) -> Option<(&[TokenId; FEW_IDS], usize)> {
        let CacheSet([newer, older]) = self.short.set(key.hash(self.short.seeds) as usize);
        let found = if newer.key == key { newer } else { older };
        // No entry has the key of long words.
        (found.key == key).then_some((&found.ids, found.count as usize))
    }

    /// The ids of `text[start..end]`.
    pub(super) fn get(&self, text: &[u8], start: usize, end: usize) -> Option<&[TokenId]> {
        let key = TokenKey::new(text, start, end);
        if let Some((ids, count)) = (!key.is_long()).then(|| self.get_short(key)).flatten() {
            return Some(&ids[..count]);
        }
        self.get_longer(text, start, end)
    }

    /// The ids of `text[start..end]` if it is not a short word.
    pub(super) fn get_longer(&self, text: &[u8], start: usize, end: usize) -> Option<&[TokenId]> {
        if let Some(word) = WordEntry::new(text, start, end) {
            let CacheSet(both) = self.words.set(word.hash(self.words.seeds));
            if let Some(found) = both.iter().find(|entry| entry.is_of(&word)) {
                return Some(&found.ids[..usize::from(found.count)]);
            }
        }
        let phrase = Cache::phrase(text, start, end).filter(|_| !self.phrases.is_empty())?;
        self.phrases.get(phrase).map(|ids| &ids[..])
    }

    /// Stores the ids of `text[start..end]`, unless the text or the ids are too long.
    pub(super) fn put(&mut self, text: &[u8], start: usize, end: usize, ids: &[TokenId]) {
        let key = TokenKey::new(text, start, end);
        if ids.len() <= FEW_IDS && !key.is_long() {
            let mut entry = ShortEntry { key, ids: [0; FEW_IDS], count: ids.len() as u32 };
            entry.ids[..ids.len()].copy_from_slice(ids);
            self.short.insert(entry);
        } else if ids.len() <= MAX_IDS
            && let Some(mut word) = WordEntry::new(text, start, end)
        {
            word.ids[..ids.len()].copy_from_slice(ids);
            word.count = ids.len() as u16;
            self.words.insert(word);
        } else if let Some(phrase) = Cache::phrase(text, start, end) {
            let bytes = phrase.len() + size_of_val(ids) + OF_MAP;
            if self.phrase_bytes + bytes > MAX_PHRASE_BYTES {
                self.phrases = HashMap::new();
                self.phrase_bytes = 0;
            }
            self.phrase_bytes += bytes;
            self.phrases.insert(phrase.into(), ids.into());
        }
    }

    /// `text[start..end]` if it is worth caching as a phrase. In scripts without spaces long pretokens
    /// rarely recur, so those that begin or end with such characters are not cached.
    fn phrase(text: &[u8], start: usize, end: usize) -> Option<&[u8]> {
        let phrase = &text[start..end];
        let ends = [phrase.first()?, phrase.last()?];
        (phrase.len() <= LONGEST_PHRASE && ends.iter().all(|byte| byte.is_ascii())).then_some(phrase)
    }
}

/// A hash table with sets of two entries (2-way associative).
///
/// With direct mapping, a tenth of the words of prose evicted each other repeatedly, and merging those took
/// longer than the whole cache saves.
struct CacheTable<E> {
    sets: Box<[CacheSet<E>]>,
    seeds: [u64; 2],
    maximum: usize,
    /// The number of entries.
    taken: usize,
}

/// The newer and the older entry of a set.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheSet<E>([E; 2]);

trait CacheEntry: Copy {
    const FREE: Self;

    fn is_free(&self) -> bool;

    fn hash(&self, seeds: [u64; 2]) -> usize;
}

impl<E: CacheEntry> CacheTable<E> {
    fn new(maximum: usize) -> CacheTable<E> {
        CacheTable { sets: vec![CacheSet([E::FREE; 2]); FEW_SETS].into(), seeds: seeds(), maximum, taken: 0 }
    }

    #[inline(always)]
    fn set(&self, hash: usize) -> &CacheSet<E> {
        &self.sets[hash & (self.sets.len() - 1)]
    }

    fn insert(&mut self, entry: E) {
        if self.taken > self.sets.len() / 2 && self.sets.len() < self.maximum {
            self.grow();
        }
        let place = entry.hash(self.seeds) & (self.sets.len() - 1);
        let CacheSet([newer, older]) = &mut self.sets[place];
        if newer.is_free() {
            self.taken += 1;
        } else {
            self.taken += usize::from(older.is_free());
            *older = *newer;
        }
        *newer = entry;
    }

    #[cold]
    fn grow(&mut self) {
        // The cache is optional: without memory to grow, it keeps its size.
        let Ok(larger) = memory::try_filled(CacheSet([E::FREE; 2]), (self.sets.len() * 4).min(self.maximum))
        else {
            self.maximum = self.sets.len();
            return;
        };
        let sets = std::mem::replace(&mut self.sets, larger.into());
        self.taken = 0;
        for CacheSet([newer, older]) in sets {
            [older, newer].into_iter().filter(|entry| !entry.is_free()).for_each(|entry| self.insert(entry));
        }
    }
}

/// A word that fits into a key, with its ids: half a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct ShortEntry {
    key: TokenKey,
    ids: [TokenId; FEW_IDS],
    count: u32,
}

const _: () = assert!(size_of::<CacheSet<ShortEntry>>() == 64);

impl CacheEntry for ShortEntry {
    const FREE: ShortEntry = ShortEntry { key: TokenKey::NONE, ids: [0; FEW_IDS], count: 0 };

    fn is_free(&self) -> bool {
        self.key == TokenKey::NONE
    }

    fn hash(&self, seeds: [u64; 2]) -> usize {
        self.key.hash(seeds) as usize
    }
}

/// A word of up to 32 bytes, padded with zeros, and its length, with its ids: a cache line. No word is
/// empty, so an entry of length 0 is free.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct WordEntry {
    low: u128,
    high: u128,
    ids: [TokenId; MAX_IDS],
    len: u16,
    count: u16,
}

const _: () = assert!(size_of::<WordEntry>() == 64);

impl WordEntry {
    /// The maximum length in bytes: a word of Russian or Thai fits.
    const MAX: usize = 32;

    /// For each length, the mask of the bytes of a word within 16 bytes.
    const MASKS: [u128; 17] = {
        let mut masks = [u128::MAX; 17];
        let mut len = 0;
        while len < 16 {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    /// `text[start..end]` without ids, if it is not too long for an entry.
    #[inline]
    fn new(text: &[u8], start: usize, end: usize) -> Option<WordEntry> {
        let len = end - start;
        if len > WordEntry::MAX {
            return None;
        }
        let bytes: [u8; WordEntry::MAX] = match text.get(start..start + WordEntry::MAX) {
            Some(bytes) => bytes.try_into().expect("so many bytes"),
            None => near_the_end(text, start),
        };
        let half = |at: usize| u128::from_le_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
        let low = half(0) & WordEntry::MASKS[len.min(16)];
        let high = half(16) & WordEntry::MASKS[len.saturating_sub(16)];
        Some(WordEntry { low, high, len: len as u16, ..WordEntry::FREE })
    }

    #[inline]
    fn is_of(&self, word: &WordEntry) -> bool {
        self.low == word.low && self.high == word.high && self.len == word.len
    }
}

impl CacheEntry for WordEntry {
    const FREE: WordEntry = WordEntry { low: 0, high: 0, ids: [0; MAX_IDS], len: 0, count: 0 };

    fn is_free(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn hash(&self, seeds: [u64; 2]) -> usize {
        let part = |bytes: u128, factor: u64| (bytes as u64 ^ (bytes >> 64) as u64).wrapping_mul(factor);
        let mixed = part(self.low, 0x9e37_79b9_7f4a_7c15)
            ^ part(self.low >> 64 | self.high << 64, 0xd6e8_feb8_6659_fd93)
            ^ part(self.high, 0xa076_1d64_78bd_642f);
        ((mixed ^ u64::from(self.len) ^ seeds[0]).wrapping_mul(seeds[1]) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_put() {
        let mut cache = Cache::new();
        let mut text: Vec<u8> = Vec::new();
        let (mut found, mut phrases) = (0, 0);
        for number in 0..900_000u32 {
            let (start, len) = (text.len(), 1 + number as usize % 60);
            // Zeros at the end must not make words alike.
            text.extend((0..len).map(|at| if at > 3 { 0 } else { (number >> (at * 5)) as u8 & 0x7f }));
            let end = text.len();
            // The same bytes become the same ids each time.
            let sum: u32 = text[start..end].iter().map(|&byte| u32::from(byte)).sum();
            let ids: Vec<TokenId> = (0..1 + sum % 9).collect();
            cache.put(&text, start, end, &ids);
            assert_eq!(cache.get(&text, start, end), Some(&ids[..]), "{len}");
            phrases = phrases.max(cache.phrase_bytes);
            if number % 7 == 0 {
                text.clear();
            }
            if number > 0 {
                let other = number.to_le_bytes();
                found += usize::from(cache.get(&other, 0, 1 + number as usize % 4).is_some());
            }
        }
        assert!(found > 0 && phrases > MAX_PHRASE_BYTES / 2 && phrases <= MAX_PHRASE_BYTES);
        assert!(cache.short.sets.len() == MAX_SHORT_SETS && cache.words.sets.len() == MAX_WORD_SETS);
    }
}
