//! The characters of texts, as the trie knows them.

use super::super::char_trie::{CharTrie, NO_CHARACTER, each_char};
use crate::error::{Error, Result};
use crate::memory;

/// The size in bytes of texts whose characters are in arrays.
pub(in super::super) const SHORT: usize = 192;

/// The characters of a text of up to [`SHORT`] bytes.
pub(in super::super) struct FewCharacters {
    /// How many there are; `None` if the text is not UTF-8 or too long.
    count: Option<usize>,
    numbers: [u32; SHORT + 1],
    seconds: [u32; SHORT],
}

/// The characters of a part of a text, from a boundary on.
#[derive(Default)]
pub(super) struct Characters {
    /// Their numbers in the trie, and behind them that of no character.
    pub(super) numbers: Vec<u32>,
    /// For each but the last, the unit of it and the next one in the trie.
    pub(super) seconds: Vec<u32>,
    /// Where each begins in the text, and where the last one ends.
    pub(super) starts: Vec<u32>,
}

impl Default for FewCharacters {
    fn default() -> FewCharacters {
        FewCharacters { count: None, numbers: [NO_CHARACTER; SHORT + 1], seconds: [0; SHORT] }
    }
}

impl FewCharacters {
    /// Reads a text. Gives the numbers of its characters in the trie, with that of no character behind them, and for
    /// each but the last the unit of it and the next one.
    #[inline(always)]
    pub(in super::super) fn read(&mut self, trie: &CharTrie, text: &[u8]) -> Result<(&[u32], &[u32])> {
        self.read_numbers(trie, text);
        self.find_seconds(trie);
        self.found().ok_or(Error::InvalidUtf8 { offset: 0 })
    }

    /// Reads a text, if it is short.
    #[inline(always)]
    fn read_numbers(&mut self, trie: &CharTrie, text: &[u8]) {
        self.count = None;
        if text.len() > SHORT {
            return;
        }
        let mut count = 0;
        let read = each_char(text, SHORT, |c, _| {
            self.numbers[count] = trie.number(c);
            count += 1;
        });
        self.numbers[count] = NO_CHARACTER;
        self.count = (read == Some(text.len())).then_some(count);
    }

    /// Prefetches what [`find_seconds`](FewCharacters::find_seconds) reads.
    #[inline(always)]
    fn prefetch(&self, trie: &CharTrie) {
        self.numbers[..self.count.unwrap_or(0)].iter().for_each(|&number| trie.prefetch(number));
    }

    /// Finds the units of two characters each, and prefetches those of three.
    #[inline(always)]
    fn find_seconds(&mut self, trie: &CharTrie) {
        if let Some(count) = self.count {
            trie.seconds(&self.numbers[..=count], &mut self.seconds);
        }
    }

    /// The numbers and the units, once both were found.
    #[inline(always)]
    fn found(&self) -> Option<(&[u32], &[u32])> {
        let count = self.count?;
        Some((&self.numbers[..=count], &self.seconds[..count]))
    }
}

/// The number of texts that are read ahead of the one that is encoded: of the next one the units of two characters are
/// read, of the one after it those of one are prefetched.
pub(super) const READ_AHEAD: usize = 2;

/// The characters of several short texts, which are read so far ahead that memory is not waited for.
#[derive(Default)]
pub(super) struct CharactersAhead([FewCharacters; READ_AHEAD + 1]);

impl CharactersAhead {
    /// Reads the text of a number, and goes on with the one before it. To be called with the numbers of all texts, and
    /// [`READ_AHEAD`] more without a text; each time the text of the number that many before is ready.
    #[inline(always)]
    pub(super) fn read(&mut self, trie: &CharTrie, number: usize, text: Option<&[u8]>) {
        let CharactersAhead(all) = self;
        let place = |number: usize| number % all.len();
        let [this, last] = [place(number), place(number + READ_AHEAD)];
        all[this].count = None;
        if let Some(text) = text {
            all[this].read_numbers(trie, text);
            all[this].prefetch(trie);
        }
        match number {
            0 => all[last].count = None,
            _ => all[last].find_seconds(trie),
        }
    }

    /// The numbers and units of the text of a number, as [`FewCharacters::read`] gives them; `None` if it is not UTF-8
    /// or too long.
    #[inline(always)]
    pub(super) fn of(&self, number: usize) -> Option<(&[u32], &[u32])> {
        self.0[number % self.0.len()].found()
    }
}

impl Characters {
    /// Forgets the characters before one, and reads more until there are `count`, or the text ends at `read`, which is
    /// set to the end of the last one.
    pub(super) fn advance(
        &mut self,
        trie: &CharTrie,
        text: &[u8],
        read: &mut usize,
        from: usize,
        count: usize,
    ) -> Result<()> {
        self.numbers.pop();
        self.starts.pop();
        self.numbers.drain(..from);
        self.starts.drain(..from);
        let more = count.saturating_sub(self.numbers.len());
        memory::try_reserve(&mut self.numbers, more + 1)?;
        memory::try_reserve(&mut self.starts, more + 1)?;
        let start = *read;
        let len = each_char(&text[start..], more, |c, at| {
            self.numbers.push(trie.number(c));
            self.starts.push((start + at) as u32);
        });
        let Some(len) = len else { return Err(Error::InvalidUtf8 { offset: 0 }) };
        *read = start + len;
        self.numbers.push(NO_CHARACTER);
        self.starts.push(*read as u32);
        let count = self.len();
        let missing = count.saturating_sub(self.seconds.len());
        memory::try_reserve(&mut self.seconds, missing)?;
        self.seconds.resize(count, 0);
        trie.seconds(&self.numbers, &mut self.seconds);
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.starts.clear();
    }

    /// The number of characters.
    pub(super) fn len(&self) -> usize {
        self.numbers.len() - 1
    }
}
