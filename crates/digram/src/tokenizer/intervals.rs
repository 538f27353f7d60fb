//! Counting the ids of any interval of a text, after one pass over it.

use std::ops::Range;

use super::Tokenizer;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;

/// The minimum distance of stored splits, in bytes. An interval counts little more than this anew at its
/// ends, and the memory is a quarter of the text's size.
const MIN_DISTANCE: usize = 64;

/// Offsets at which a text can be split, each with the number of ids before it.
#[derive(Debug)]
pub struct Intervals(Vec<(usize, usize)>);

impl Intervals {
    /// The number of ids of the whole text.
    pub fn total(&self) -> usize {
        self.0.last().map_or(0, |&(_, count)| count)
    }
}

impl Tokenizer {
    /// Counts a text once, so that [`Tokenizer::count_interval`] can count any part of it.
    pub fn intervals(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Intervals> {
        let mut scratch = self.scratch_pool.take();
        let (mut splits, mut offset, mut count) = (vec![(0, 0)], 0, 0);
        while offset < text.len() {
            interrupt.check()?;
            let end = self.next_split(text, offset + MIN_DISTANCE, interrupt)?;
            count += self
                .count_ordinary(&text[offset..end], &mut scratch, interrupt)
                .map_err(|error| error.shifted(offset))?;
            offset = end;
            memory::try_reserve(&mut splits, 1)?;
            splits.push((offset, count));
        }
        Ok(Intervals(splits))
    }

    /// The number of ids of `text[range]`, where `text` is the text that was counted.
    ///
    /// Takes time in proportion to the text between the ends of the interval and the next splits
    /// inside it, independent of its length.
    pub fn count_interval(
        &self,
        Intervals(splits): &Intervals,
        text: &[u8],
        range: Range<usize>,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let part = &text[range.clone()];
        let mut scratch = self.scratch_pool.take();
        let mut count = |from: usize, to: usize| {
            let result = self.count_ordinary(&text[from..to], &mut scratch, interrupt);
            result.map_err(|error| error.shifted(from))
        };
        // A split at the edge of the interval may depend on a character that is not entirely inside.
        let inside = |split: &&(usize, usize)| self.can_split_at(part, split.0 - range.start);
        let within = &splits[splits.partition_point(|split| split.0 <= range.start)..];
        let within = &within[..within.partition_point(|split| split.0 < range.end)];
        match (within.iter().find(inside), within.iter().rev().find(inside)) {
            (Some(first), Some(last)) => {
                Ok(count(range.start, first.0)? + (last.1 - first.1) + count(last.0, range.end)?)
            }
            _ => count(range.start, range.end),
        }
    }
}
