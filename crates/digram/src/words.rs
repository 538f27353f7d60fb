//! Words (text between white space), and how many words of a text are in a given set.

use std::iter::zip;

use crate::error::Result;
use crate::index::{AT_ONCE, TokenIndex};
use crate::interrupt::Interrupt;
use crate::parallel::in_parallel;
use crate::utf8;

/// The text of one task, in bytes.
const TASK_BYTES: usize = 1 << 20;

/// A set of words.
pub struct WordSet {
    index: TokenIndex,
}

/// The number of words in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordCounts {
    /// The number of all words.
    pub words: u64,
    /// The number of words that are in the set.
    pub known: u64,
}

impl WordSet {
    /// A set of the given words.
    pub fn new<T: AsRef<[u8]>>(words: &[T]) -> WordSet {
        let words: Vec<_> = zip(0.., words).map(|(number, word)| (number, word.as_ref())).collect();
        WordSet { index: TokenIndex::new(&words) }
    }

    /// Counts the words of several texts together, on up to `threads` threads.
    ///
    /// White space is as defined by Unicode; bytes that are not UTF-8 are part of words. Nothing is stored.
    /// A set of 100,000 words is searched at about 300 MB/s per thread.
    pub fn find<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<WordCounts> {
        let tasks = tasks(texts);
        let state = || [(0, 0); AT_ONCE];
        let found = in_parallel(threads, tasks.len(), interrupt, state, |places, task, _| {
            let texts = tasks[task].iter();
            Ok(texts.map(|text| self.find_in(text, places)).fold(WordCounts::default(), WordCounts::and))
        })?;
        Ok(found.into_iter().fold(WordCounts::default(), WordCounts::and))
    }

    /// Finds some words first and then looks all of them up together, so that their cache misses overlap.
    fn find_in(&self, text: &[u8], places: &mut [(usize, usize); AT_ONCE]) -> WordCounts {
        let mut found = WordCounts::default();
        let mut at = 0;
        loop {
            let mut many = 0;
            while many < AT_ONCE
                && let Some((start, end)) = next_word(text, at)
            {
                self.index.prefetch(text, start, end);
                places[many] = (start, end);
                (many, at) = (many + 1, end);
            }
            let known = |&&(start, end): &&(usize, usize)| self.index.get_in(text, start, end).is_some();
            found.words += many as u64;
            found.known += places[..many].iter().filter(known).count() as u64;
            if many < AT_ONCE {
                return found;
            }
        }
    }
}

impl WordCounts {
    fn and(self, other: WordCounts) -> WordCounts {
        WordCounts { words: self.words + other.words, known: self.known + other.known }
    }
}

/// The start and end of the next word at or after `at`, which is not inside a word.
#[inline]
fn next_word(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    while at < text.len() {
        match space_at(text, at) {
            0 => break,
            len => at += len,
        }
    }
    let start = at;
    while at < text.len() && space_at(text, at) == 0 {
        at += 1;
    }
    (start < at).then_some((start, at))
}

/// The length in bytes of the white space character at `at`; 0 if there is none. No white space starts with
/// a continuation byte.
#[inline(always)]
fn space_at(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'\t'..=b'\r' | b' ' => 1,
        0xc2 | 0xe1..=0xe3 => match utf8::decode(&text[at..]) {
            (Some(c), len) if c.is_whitespace() => len,
            _ => 0,
        },
        _ => 0,
    }
}

/// Groups the texts into tasks of about equal size; long texts are split at white space.
fn tasks<T: AsRef<[u8]>>(texts: &[T]) -> Vec<Vec<&[u8]>> {
    let mut tasks = vec![Vec::new()];
    let mut size = 0;
    for text in texts {
        let mut rest = text.as_ref();
        while !rest.is_empty() {
            let end = first_space(rest, TASK_BYTES - size);
            let part = rest.split_off(..end).unwrap_or_default();
            tasks.last_mut().expect("there is one").push(part);
            size += part.len();
            if size >= TASK_BYTES {
                tasks.push(Vec::new());
                size = 0;
            }
        }
    }
    tasks
}

/// The first space or line feed at or after `from`, or the end of the text.
fn first_space(text: &[u8], from: usize) -> usize {
    let after = text.get(from..).unwrap_or_default();
    let space = after.iter().position(|byte| matches!(byte, b' ' | b'\n'));
    space.map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bstr::ByteSlice;
    use proptest::prelude::*;

    use super::*;
    use crate::Never;

    /// Character by character.
    fn naive(texts: &[Vec<u8>], words: &[Vec<u8>]) -> WordCounts {
        let known: HashSet<&[u8]> = words.iter().map(|word| &word[..]).collect();
        let mut found = WordCounts::default();
        for text in texts {
            let spaces = text.char_indices().filter(|(_, _, c)| c.is_whitespace());
            let mut start = 0;
            for (at, after) in spaces.map(|(at, after, _)| (at, after)).chain([(text.len(), 0)]) {
                found.words += u64::from(start < at);
                found.known += u64::from(start < at && known.contains(&text[start..at]));
                start = after;
            }
        }
        found
    }

    #[test]
    fn all_white_space_is_known_and_nothing_else() {
        for c in '\0'..=char::MAX {
            let text = format!("{c}a");
            let len = if c.is_whitespace() { c.len_utf8() } else { 0 };
            assert_eq!(space_at(text.as_bytes(), 0), len, "{c:?}");
        }
    }

    #[test]
    fn a_long_text_is_the_same_in_parts() {
        let words = [b"low".to_vec(), b"lowest of all words".to_vec(), b"sixteen-and-more-of-them".to_vec()];
        let long = b"low lowest\nsixteen-and-more-of-them\xc2\xa0low".repeat(100_000);
        let texts = [long, vec![b'a'; 3 << 20], b"low".to_vec()];
        assert!(tasks(&texts).len() > 4);
        let found = WordSet::new(&words).find(&texts, 3, &Never).expect("nothing stops it");
        assert_eq!(found, naive(&texts, &words));
    }

    proptest! {
        #[test]
        fn words_are_found_as_character_by_character(
            texts in prop::collection::vec(
                prop::collection::vec(prop::sample::select(vec![
                    &b"a"[..], b"b", b" ", b"\n", b"\xc2", b"\xa0", b"\xe2\x80", b"\x83", b"\xe3\x80\x80", b"\xf0",
                    b"\x1c", "\u{85}".as_bytes(), "\u{1680}".as_bytes(), "é".as_bytes(), b"abcdefghijklmnop",
                ]), 0..200),
                0..4,
            ),
            words in prop::collection::vec("[ab]{1,3}|é|abcdefghijklmnop", 0..8),
        ) {
            let texts: Vec<Vec<u8>> = texts.iter().map(|pieces| pieces.concat()).collect();
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            let found = WordSet::new(&words).find(&texts, 1, &Never).expect("nothing stops it");
            prop_assert_eq!(found, naive(&texts, &words));
        }
    }
}
