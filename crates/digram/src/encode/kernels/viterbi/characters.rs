//! The characters of texts, as the trie knows them.

use super::super::char_trie::{CharTrie, NO_CHARACTER, each_char};
use crate::error::{Error, Result};
use crate::memory;

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
