//! A small memory of pretokens that had to be merged, one for each thread.
//!
//! It holds a bounded number of entries and the newer replaces the older, so that no text can make
//! it large or slow. It never changes a result: an entry is used only for exactly the bytes it was
//! made from.

use crate::memory::prefetch;
use crate::vocabulary::TokenId;

/// The most entries of one cache: together 8 MiB. An eighth of that lost a tenth of the speed on
/// English, since what falls out must be merged again.
const MOST_ENTRIES: usize = 1 << 17;

/// The entries of a new cache. It grows as it fills, so that a few short texts take little memory.
const FEW_ENTRIES: usize = 1 << 8;

/// The most ids of an entry; 98 % of the words of prose fit.
pub(super) const MOST_IDS: usize = 7;

/// A word as a cache sees it: up to 32 bytes, zeros behind them, and their number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    low: u128,
    high: u128,
    len: u32,
}

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

    /// `text[start..end]`, if it is no longer than an entry may be.
    #[inline(always)]
    pub(super) fn new(text: &[u8], start: usize, end: usize) -> Option<Word> {
        let len = end - start;
        if len > Word::MOST {
            return None;
        }
        let bytes: [u8; Word::MOST] = match text.get(start..start + Word::MOST) {
            Some(bytes) => bytes.try_into().expect("so many bytes"),
            None => near_the_end(text, start),
        };
        let half = |at: usize| u128::from_le_bytes(bytes[at..at + 16].try_into().expect("sixteen bytes"));
        Some(Word {
            low: half(0) & Word::MASKS[len.min(16)],
            high: half(16) & Word::MASKS[len.saturating_sub(16)],
            len: len as u32,
        })
    }

    #[inline(always)]
    fn hash(&self) -> usize {
        let part = |bytes: u128, factor: u64| (bytes as u64 ^ (bytes >> 64) as u64).wrapping_mul(factor);
        let mixed = part(self.low, 0x9e37_79b9_7f4a_7c15)
            ^ part(self.low >> 64 | self.high << 64, 0xd6e8_feb8_6659_fd93)
            ^ part(self.high, 0xa076_1d64_78bd_642f);
        ((mixed ^ u64::from(self.len)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
    }
}

#[cold]
fn near_the_end(text: &[u8], start: usize) -> [u8; Word::MOST] {
    let mut bytes = [0; Word::MOST];
    let rest = &text[start..text.len().min(start + Word::MOST)];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// A word with its ids, which together are one line of memory. No word has no bytes, so one
/// without is free.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Entry {
    low: u128,
    high: u128,
    ids: [TokenId; MOST_IDS],
    len: u16,
    count: u16,
}

const FREE: Entry = Entry { low: 0, high: 0, ids: [0; MOST_IDS], len: 0, count: 0 };

const _: () = assert!(size_of::<Entry>() == 64);

impl Entry {
    #[inline(always)]
    fn word(&self) -> Word {
        Word { low: self.low, high: self.high, len: u32::from(self.len) }
    }
}

/// Words with the ids they were merged to.
pub(super) struct Cache {
    entries: Box<[Entry]>,
    /// How many entries were free when they were taken, since the cache grew.
    taken: usize,
}

impl Cache {
    pub(super) fn new() -> Cache {
        Cache { entries: vec![FREE; FEW_ENTRIES].into(), taken: 0 }
    }

    /// Asks for the memory where a word would be, without waiting for it.
    #[inline(always)]
    pub(super) fn prefetch(&self, word: &Word) {
        prefetch(&self.entries[self.place(word)]);
    }

    /// The ids of a word that was merged before, and how many of them they are.
    #[inline(always)]
    pub(super) fn get(&self, word: &Word) -> Option<(&[TokenId; MOST_IDS], usize)> {
        let entry = &self.entries[self.place(word)];
        (entry.word() == *word).then_some((&entry.ids, usize::from(entry.count)))
    }

    /// Remembers the ids of a word, if they are few.
    pub(super) fn put(&mut self, word: &Word, ids: &[TokenId]) {
        if ids.len() > MOST_IDS {
            return;
        }
        if self.taken > self.entries.len() / 2 && self.entries.len() < MOST_ENTRIES {
            self.grow();
        }
        let place = self.place(word);
        let entry = &mut self.entries[place];
        self.taken += usize::from(entry.len == 0);
        *entry =
            Entry { low: word.low, high: word.high, len: word.len as u16, count: ids.len() as u16, ..FREE };
        entry.ids[..ids.len()].copy_from_slice(ids);
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![FREE; (self.entries.len() * 4).min(MOST_ENTRIES)].into();
        let entries = std::mem::replace(&mut self.entries, larger);
        self.taken = 0;
        for entry in entries.iter().filter(|entry| entry.len > 0) {
            let place = self.place(&entry.word());
            self.taken += usize::from(self.entries[place].len == 0);
            self.entries[place] = *entry;
        }
    }

    #[inline(always)]
    fn place(&self, word: &Word) -> usize {
        word.hash() & (self.entries.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_put_last() {
        let mut cache = Cache::new();
        let mut text: Vec<u8> = Vec::new();
        let mut found = 0;
        for number in 0..400_000u32 {
            let (start, len) = (text.len(), 1 + number as usize % 40);
            // Zeros at the end must not make words alike.
            text.extend((0..len).map(|at| if at > 3 { 0 } else { (number >> (at * 5)) as u8 }));
            let ids: Vec<TokenId> = (0..number % 9).collect();
            let Some(word) = Word::new(&text, start, text.len()) else {
                assert!(len > Word::MOST);
                continue;
            };
            let before = cache.get(&word).map(|(ids, count)| ids[..count].to_vec());
            cache.put(&word, &ids);
            let kept = cache.get(&word).map(|(ids, count)| ids[..count].to_vec());
            assert_eq!(kept, if ids.len() > MOST_IDS { before } else { Some(ids) });
            if number % 7 == 0 {
                text.clear();
            }
            if number > 0 {
                let other =
                    Word::new(&number.to_le_bytes(), 0, 1 + number as usize % 4).expect("a short one");
                found += usize::from(cache.get(&other).is_some());
            }
        }
        assert!(found > 0 && cache.entries.len() == MOST_ENTRIES);
    }
}
