//! A small memory of pretokens that had to be merged, one for each thread.
//!
//! It holds a bounded number of entries and the newer replaces the older, so that no text can make
//! it large or slow. It never changes a result: an entry is used only for exactly the bytes it was
//! made from.
//!
//! Most words are short and become few ids: two of them with their ids share a line of memory.
//! Longer ones have a line each. What is longer still, such as the lines that are drawn in plain
//! text, lies in a common hash map.

use hashbrown::HashMap;

use crate::bits::seeds;
use crate::index::{Key, near_the_end};
use crate::memory::prefetch;
use crate::room;
use crate::vocabulary::TokenId;

/// The sets of a new table. It grows as it fills, so that a few short texts take little memory.
const FEW_SETS: usize = 1 << 7;

/// The most sets of short words: 4 MiB.
const MOST_SHORT: usize = 1 << 16;

/// The most sets of words: 8 MiB.
const MOST_WORDS: usize = 1 << 16;

/// The most bytes of phrases, with their ids and what the map itself takes for each: 1 MiB.
const MOST_PHRASES: usize = 1 << 20;
const OF_MAP: usize = 80;

/// The most bytes of one phrase.
const LONGEST_PHRASE: usize = 256;

/// The most ids of a short word.
pub(super) const FEW_IDS: usize = 3;

/// The most ids of a word; 98 % of the words of prose fit.
pub(super) const MOST_IDS: usize = 7;

/// What was merged, by its bytes.
pub(in crate::encode) struct Cache {
    short: Table<Short>,
    words: Table<Word>,
    phrases: HashMap<Box<[u8]>, Box<[TokenId]>>,
    /// The bytes that all phrases take.
    phrase_bytes: usize,
}

impl Cache {
    pub(in crate::encode) fn new() -> Cache {
        Cache {
            short: Table::new(MOST_SHORT),
            words: Table::new(MOST_WORDS),
            phrases: HashMap::new(),
            phrase_bytes: 0,
        }
    }

    /// How many bytes all of it takes.
    pub(in crate::encode) fn bytes(&self) -> usize {
        size_of_val(&*self.short.sets) + size_of_val(&*self.words.sets) + self.phrase_bytes
    }

    /// Asks for the memory where `text[start..end]` with this key would be, without waiting for it.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: Key, text: &[u8], start: usize, end: usize) {
        if !key.is_long() {
            prefetch(self.short.set(key.hash(self.short.seeds) as usize));
        } else if let Some(word) = Word::new(text, start, end) {
            let Set([newer, older]) = self.words.set(word.hash(self.words.seeds));
            prefetch(newer);
            prefetch(older);
        }
    }

    /// The ids of a word if it is short and has few, and how many of them they are.
    #[inline(always)]
    pub(super) fn get_short(&self, key: Key) -> Option<(&[TokenId; FEW_IDS], usize)> {
        let Set([newer, older]) = self.short.set(key.hash(self.short.seeds) as usize);
        let found = if newer.key == key { newer } else { older };
        // The key of long words is that of no entry.
        (found.key == key).then_some((&found.ids, found.count as usize))
    }

    /// The ids of `text[start..end]`.
    pub(super) fn get(&self, text: &[u8], start: usize, end: usize) -> Option<&[TokenId]> {
        let key = Key::new(text, start, end);
        if let Some((ids, count)) = (!key.is_long()).then(|| self.get_short(key)).flatten() {
            return Some(&ids[..count]);
        }
        self.get_longer(text, start, end)
    }

    /// The ids of `text[start..end]` if it is not among the short words.
    pub(super) fn get_longer(&self, text: &[u8], start: usize, end: usize) -> Option<&[TokenId]> {
        if let Some(word) = Word::new(text, start, end) {
            let Set(both) = self.words.set(word.hash(self.words.seeds));
            if let Some(found) = both.iter().find(|entry| entry.is_of(&word)) {
                return Some(&found.ids[..usize::from(found.count)]);
            }
        }
        let phrase = Cache::phrase(text, start, end).filter(|_| !self.phrases.is_empty())?;
        self.phrases.get(phrase).map(|ids| &ids[..])
    }

    /// Remembers the ids of `text[start..end]`, unless it or they are long.
    pub(super) fn put(&mut self, text: &[u8], start: usize, end: usize, ids: &[TokenId]) {
        let key = Key::new(text, start, end);
        if ids.len() <= FEW_IDS && !key.is_long() {
            let mut entry = Short { key, ids: [0; FEW_IDS], count: ids.len() as u32 };
            entry.ids[..ids.len()].copy_from_slice(ids);
            self.short.insert(entry);
        } else if ids.len() <= MOST_IDS
            && let Some(mut word) = Word::new(text, start, end)
        {
            word.ids[..ids.len()].copy_from_slice(ids);
            word.count = ids.len() as u16;
            self.words.insert(word);
        } else if let Some(phrase) = Cache::phrase(text, start, end) {
            let bytes = phrase.len() + size_of_val(ids) + OF_MAP;
            if self.phrase_bytes + bytes > MOST_PHRASES {
                self.phrases = HashMap::new();
                self.phrase_bytes = 0;
            }
            self.phrase_bytes += bytes;
            self.phrases.insert(phrase.into(), ids.into());
        }
    }

    /// `text[start..end]` if it is worth to be kept as a phrase. In scripts without spaces long
    /// pretokens hardly ever come again, so those that begin and end so are left out.
    fn phrase(text: &[u8], start: usize, end: usize) -> Option<&[u8]> {
        let phrase = &text[start..end];
        let ends = [phrase.first()?, phrase.last()?];
        (phrase.len() <= LONGEST_PHRASE && ends.iter().all(|byte| byte.is_ascii())).then_some(phrase)
    }
}

/// Entries by hash, in sets of two.
///
/// With one place for each, a tenth of the words of prose put each other out again and again, and
/// merging those took longer than all that the cache spares.
struct Table<E> {
    sets: Box<[Set<E>]>,
    seeds: [u64; 2],
    most: usize,
    /// How many entries there are.
    taken: usize,
}

/// The newer and the older entry of a place.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Set<E>([E; 2]);

trait Entry: Copy {
    const FREE: Self;

    fn is_free(&self) -> bool;

    fn hash(&self, seeds: [u64; 2]) -> usize;
}

impl<E: Entry> Table<E> {
    fn new(most: usize) -> Table<E> {
        Table { sets: vec![Set([E::FREE; 2]); FEW_SETS].into(), seeds: seeds(), most, taken: 0 }
    }

    #[inline(always)]
    fn set(&self, hash: usize) -> &Set<E> {
        &self.sets[hash & (self.sets.len() - 1)]
    }

    fn insert(&mut self, entry: E) {
        if self.taken > self.sets.len() / 2 && self.sets.len() < self.most {
            self.grow();
        }
        let place = entry.hash(self.seeds) & (self.sets.len() - 1);
        let Set([newer, older]) = &mut self.sets[place];
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
        // What is remembered is of no need: without the memory for more, it stays as large as it is.
        let Ok(larger) = room::filled(Set([E::FREE; 2]), (self.sets.len() * 4).min(self.most)) else {
            self.most = self.sets.len();
            return;
        };
        let sets = std::mem::replace(&mut self.sets, larger.into());
        self.taken = 0;
        for Set([newer, older]) in sets {
            [older, newer].into_iter().filter(|entry| !entry.is_free()).for_each(|entry| self.insert(entry));
        }
    }
}

/// A word that has a key, with its ids: half a line of memory.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Short {
    key: Key,
    ids: [TokenId; FEW_IDS],
    count: u32,
}

const _: () = assert!(size_of::<Set<Short>>() == 64);

impl Entry for Short {
    const FREE: Short = Short { key: Key::NONE, ids: [0; FEW_IDS], count: 0 };

    fn is_free(&self) -> bool {
        self.key == Key::NONE
    }

    fn hash(&self, seeds: [u64; 2]) -> usize {
        self.key.hash(seeds) as usize
    }
}

/// A word of up to 32 bytes, zeros behind them, and their number, with its ids: a line of memory.
/// No word has no bytes, so one without is free.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Word {
    low: u128,
    high: u128,
    ids: [TokenId; MOST_IDS],
    len: u16,
    count: u16,
}

const _: () = assert!(size_of::<Word>() == 64);

impl Word {
    /// The most bytes: a word of Russian or Thai fits.
    const MOST: usize = 32;

    /// For each length what of 16 bytes belongs to a word.
    const MASKS: [u128; 17] = {
        let mut masks = [u128::MAX; 17];
        let mut len = 0;
        while len < 16 {
            masks[len] = (1 << (8 * len)) - 1;
            len += 1;
        }
        masks
    };

    /// `text[start..end]` without ids, if it is no longer than an entry may be.
    #[inline]
    fn new(text: &[u8], start: usize, end: usize) -> Option<Word> {
        let len = end - start;
        if len > Word::MOST {
            return None;
        }
        let bytes: [u8; Word::MOST] = match text.get(start..start + Word::MOST) {
            Some(bytes) => bytes.try_into().expect("so many bytes"),
            None => near_the_end(text, start),
        };
        let half = |at: usize| u128::from_le_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
        let low = half(0) & Word::MASKS[len.min(16)];
        let high = half(16) & Word::MASKS[len.saturating_sub(16)];
        Some(Word { low, high, len: len as u16, ..Word::FREE })
    }

    #[inline]
    fn is_of(&self, word: &Word) -> bool {
        self.low == word.low && self.high == word.high && self.len == word.len
    }
}

impl Entry for Word {
    const FREE: Word = Word { low: 0, high: 0, ids: [0; MOST_IDS], len: 0, count: 0 };

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
        assert!(found > 0 && phrases > MOST_PHRASES / 2 && phrases <= MOST_PHRASES);
        assert!(cache.short.sets.len() == MOST_SHORT && cache.words.sets.len() == MOST_WORDS);
    }
}
