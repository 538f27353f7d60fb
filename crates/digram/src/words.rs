//! Words (text between white space), and how many words of a text are in a given set.

use std::iter::zip;

use crate::error::Result;
use crate::index::{AT_ONCE, TokenIndex};
use crate::interrupt::Interrupt;
use crate::parallel::in_parallel;
use crate::utf8;

/// The size of the text of one task, in bytes.
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
        let words: Vec<_> = zip(0.., words).map(|(index, word)| (index, word.as_ref())).collect();
        WordSet { index: TokenIndex::new(&words) }
    }

    /// Counts the words of several texts together, on up to `threads` threads.
    ///
    /// White space is as defined by Unicode; bytes that are not UTF-8 are part of words. Nothing is stored.
    /// A set of 100,000 words is searched at about 300 MB/s per thread.
    pub fn count<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<WordCounts> {
        let tasks = tasks(texts);
        let state = || [(0, 0); AT_ONCE];
        let counts = in_parallel(threads, tasks.len(), interrupt, state, |ranges, task, _| {
            let texts = tasks[task].iter();
            Ok(texts.map(|text| self.count_in(text, ranges)).fold(WordCounts::default(), WordCounts::plus))
        })?;
        Ok(counts.into_iter().fold(WordCounts::default(), WordCounts::plus))
    }

    /// Looks up groups of words together, so that their cache misses overlap.
    fn count_in(&self, text: &[u8], ranges: &mut [(usize, usize); AT_ONCE]) -> WordCounts {
        let mut counts = WordCounts::default();
        let mut offset = 0;
        loop {
            let mut len = 0;
            while len < AT_ONCE
                && let Some((start, end)) = next_word(text, offset)
            {
                self.index.prefetch(text, start, end);
                ranges[len] = (start, end);
                (len, offset) = (len + 1, end);
            }
            let is_known = |&&(start, end): &&(usize, usize)| self.index.get_in(text, start, end).is_some();
            counts.words += len as u64;
            counts.known += ranges[..len].iter().filter(is_known).count() as u64;
            if len < AT_ONCE {
                return counts;
            }
        }
    }
}

impl WordCounts {
    fn plus(self, other: WordCounts) -> WordCounts {
        WordCounts { words: self.words + other.words, known: self.known + other.known }
    }
}

/// The start and end of the next word at or after `offset`, which is not inside a word.
#[inline]
fn next_word(text: &[u8], mut offset: usize) -> Option<(usize, usize)> {
    while offset < text.len() {
        match space_at(text, offset) {
            0 => break,
            len => offset += len,
        }
    }
    let start = offset;
    while offset < text.len() && space_at(text, offset) == 0 {
        offset += 1;
    }
    (start < offset).then_some((start, offset))
}

/// The length in bytes of the white space character at `offset`; 0 if there is none. No white space starts with
/// a continuation byte.
#[inline(always)]
fn space_at(text: &[u8], offset: usize) -> usize {
    match text[offset] {
        b'\t'..=b'\r' | b' ' => 1,
        0xc2 | 0xe1..=0xe3 => match utf8::decode(&text[offset..]) {
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
    space.map_or(text.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bstr::ByteSlice;
    use proptest::prelude::*;

    use super::*;
    use crate::Never;

    /// Counts character by character.
    fn naive(texts: &[Vec<u8>], words: &[Vec<u8>]) -> WordCounts {
        let known: HashSet<&[u8]> = words.iter().map(|word| &word[..]).collect();
        let mut counts = WordCounts::default();
        for text in texts {
            let spaces = text.char_indices().filter(|(_, _, c)| c.is_whitespace());
            let mut start = 0;
            for (offset, after) in spaces.map(|(offset, after, _)| (offset, after)).chain([(text.len(), 0)]) {
                counts.words += u64::from(start < offset);
                counts.known += u64::from(start < offset && known.contains(&text[start..offset]));
                start = after;
            }
        }
        counts
    }

    #[test]
    fn white_space_is_that_of_unicode() {
        for c in '\0'..=char::MAX {
            let text = format!("{c}a");
            let len = if c.is_whitespace() { c.len_utf8() } else { 0 };
            assert_eq!(space_at(text.as_bytes(), 0), len, "{c:?}");
        }
    }

    #[test]
    fn a_long_text_has_the_same_counts_in_parts() {
        let words = [b"low".to_vec(), b"lowest of all words".to_vec(), b"sixteen-and-more-of-them".to_vec()];
        let long = b"low lowest\nsixteen-and-more-of-them\xc2\xa0low".repeat(100_000);
        let texts = [long, vec![b'a'; 3 << 20], b"low".to_vec()];
        assert!(tasks(&texts).len() > 4);
        let counts = WordSet::new(&words).count(&texts, 3, &Never).expect("nothing stops it");
        assert_eq!(counts, naive(&texts, &words));
    }

    proptest! {
        #[test]
        fn words_are_those_found_character_by_character(
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
            let counts = WordSet::new(&words).count(&texts, 1, &Never).expect("nothing stops it");
            prop_assert_eq!(counts, naive(&texts, &words));
        }
    }
}
