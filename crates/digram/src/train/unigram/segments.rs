//! The distinct segments of pretokens from which pieces are learned: parts between which no piece reaches.

use std::cmp::Reverse;
use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::count::{Pieces as Pretokens, sort};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::trie::Trie;

use super::super::corpus::utf8;
use super::Cuts;

/// Distinct segments with their counts, sorted.
#[derive(Default)]
pub(super) struct Segments {
    pub(super) bytes: Vec<u8>,
    ends: Vec<usize>,
    pub(super) counts: Vec<u64>,
}

impl Segments {
    /// The segments of pretokens that are cut.
    pub(super) fn new(pretokens: &dyn Pretokens, cuts: &Cuts, interrupt: &dyn Interrupt) -> Result<Segments> {
        let symbols = Trie::new(cuts.symbols.iter().filter(|symbol| !symbol.is_empty()).map(String::as_str));
        let (mut gathered, mut pacer) = (Gathered::default(), Pacer::new(interrupt));
        pretokens.for_each(&mut |pretoken| {
            pacer.after(1 + pretoken.bytes.len())?;
            let text = utf8(pretoken.bytes)?;
            let (mut start, mut at) = (0, 0);
            while !symbols.is_empty() && at < text.len() {
                let Some(end) = symbols.longest(text.as_bytes(), at, |_| true) else {
                    at += 1;
                    continue;
                };
                cuts.words(&text[start..at], &mut |word| gathered.add(word, pretoken.count))?;
                (start, at) = (end, end);
            }
            cuts.words(&text[start..], &mut |word| gathered.add(word, pretoken.count))
        })?;
        gathered.sorted(interrupt)
    }

    /// The segments without characters other than `known`, at which they are cut.
    pub(super) fn only(&self, known: &HashSet<char>, interrupt: &dyn Interrupt) -> Result<Segments> {
        let (mut gathered, mut pacer) = (Gathered::default(), Pacer::new(interrupt));
        for (index, &count) in self.counts.iter().enumerate() {
            let text = self.text(index)?;
            pacer.after(1 + text.len())?;
            text.split(|character| !known.contains(&character))
                .try_for_each(|part| gathered.add(part, count))?;
        }
        gathered.sorted(interrupt)
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The place of a segment in `bytes`.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]
    }

    pub(super) fn text(&self, index: usize) -> Result<&str> {
        utf8(&self.bytes[self.range(index)])
    }

    /// How often each character occurs, the most frequent first; of equally frequent ones the lowest.
    pub(super) fn characters(&self, interrupt: &dyn Interrupt) -> Result<Vec<(char, u64)>> {
        let (mut found, mut pacer) = (HashMap::<char, u64>::default(), Pacer::new(interrupt));
        for (index, &count) in self.counts.iter().enumerate() {
            let text = self.text(index)?;
            pacer.after(1 + text.len())?;
            for character in text.chars() {
                let sum = found.entry(character).or_default();
                *sum = sum.checked_add(count).ok_or_else(|| Error::Limit {
                    reason: format!("{character:?} occurs more than 2^64 times."),
                })?;
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|&(character, count)| (Reverse(count), character));
        Ok(found)
    }
}

/// Segments in the order in which they are first found.
#[derive(Default)]
struct Gathered {
    counts: HashMap<Box<[u8]>, u64>,
    bytes: usize,
}

impl Gathered {
    fn add(&mut self, text: &str, count: u64) -> Result<()> {
        if text.is_empty() || count == 0 {
            return Ok(());
        }
        let sum = match self.counts.get_mut(text.as_bytes()) {
            Some(sum) => sum,
            None => {
                self.bytes += text.len();
                if self.counts.len() == self.counts.capacity() {
                    let bytes = self.counts.capacity().saturating_mul(4 * size_of::<(Box<[u8]>, u64)>());
                    memory::check_available(bytes)?;
                }
                self.counts.entry(text.as_bytes().into()).or_default()
            }
        };
        *sum = sum
            .checked_add(count)
            .ok_or_else(|| Error::Limit { reason: "a pretoken occurs more than 2^64 times.".into() })?;
        Ok(())
    }

    fn sorted(self, interrupt: &dyn Interrupt) -> Result<Segments> {
        let mut all = memory::try_collect(self.counts.into_iter())?;
        sort(&mut all, &Ord::cmp, interrupt)?;
        let mut segments = Segments::default();
        memory::try_reserve(&mut segments.bytes, self.bytes)?;
        memory::try_reserve(&mut segments.ends, all.len())?;
        memory::try_reserve(&mut segments.counts, all.len())?;
        let mut pacer = Pacer::new(interrupt);
        for (text, count) in all {
            pacer.after_text(text.len())?;
            segments.bytes.extend_from_slice(&text);
            segments.ends.push(segments.bytes.len());
            segments.counts.push(count);
        }
        Ok(segments)
    }
}
