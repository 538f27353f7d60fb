//! What one thread counts.
//!
//! Some pretokens at a time: the processor waits for the memory of all of them at once.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use hashbrown::DefaultHashBuilder;

use crate::bits::bits;
use crate::error::Result;
use crate::index::{AT_ONCE, Key, start_of};
use crate::memory::Way;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::watch::Watch;

use super::Piece;
use super::long::Long;
use super::short::Short;

/// Text counted between two questions to the watch, in bytes.
const BETWEEN_CHECKS: usize = 1 << 18;

/// Distinct pretokens with their counts, short and long ones.
pub(super) struct Tally {
    pub(super) short: Short,
    pub(super) long: Long,
    way: Way,
}

impl Tally {
    /// An empty one. Only those of one hasher can be joined.
    pub(super) fn new(hasher: &DefaultHashBuilder) -> Tally {
        // The seed of short hashes, that is multiplied with, is odd: no bit is lost.
        let seeds = [hasher.hash_one(0u64), hasher.hash_one(1u64) | 1];
        Tally { short: Short::new(seeds), long: Long::new(hasher.clone()), way: Way::best() }
    }

    /// How many distinct pretokens there are.
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Those in the `part`th of `parts` equal ranges of hashes, with their hashes: the same in all
    /// tallies of one hasher. The parts are a power of two, and at most 64.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, Piece<'_>)> {
        let short = self.short.part(part, parts);
        let long = self.long.part(part, parts);
        short
            .map(|(hash, slot)| (hash, Piece { bytes: slot.piece(), count: slot.count, first: slot.first }))
            .chain(long.map(|(hash, slot)| {
                (hash, Piece { bytes: self.long.piece(slot), count: slot.count, first: slot.first })
            }))
    }

    /// Counts the pretokens of a text that starts at byte `start` of the corpus, after all that was
    /// counted before; returns how many they are.
    pub(super) fn count(
        &mut self,
        pretokenizer: &Pretokenizer,
        text: &[u8],
        start: u64,
        watch: &dyn Watch,
    ) -> Result<u64> {
        let (mut check, mut pretokens) = (BETWEEN_CHECKS, 0);
        let flow = pretokenizer.try_for_many(text, 0, GoesOn::No, |mut from, ends| {
            for ends in ends.chunks(AT_ONCE) {
                if let Err(error) = self.count_group(text, from, ends, start) {
                    return ControlFlow::Break(error);
                }
                from = ends[ends.len() - 1];
            }
            pretokens += ends.len() as u64;
            if from >= check {
                check = from + BETWEEN_CHECKS;
                if let Err(error) = watch.check() {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        match flow {
            ControlFlow::Continue(_) => Ok(pretokens),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// Counts up to [`AT_ONCE`] pretokens that stand one after the other from `from`.
    #[inline]
    fn count_group(&mut self, text: &[u8], from: usize, ends: &[usize], start: u64) -> Result<()> {
        if !self.short.has_room(AT_ONCE) {
            self.short.grow();
        }
        let long = match self.way {
            // SAFETY: the way was chosen because the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 | Way::Avx2 => unsafe { self.count_short_bmi(text, from, ends, start) },
            Way::Plain => self.count_short(text, from, ends, start),
        };
        if long == 0 { Ok(()) } else { self.count_long(text, from, ends, long, start) }
    }

    /// With shifts and multiplications that leave the flags alone: a fifth fewer instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn count_short_bmi(&mut self, text: &[u8], from: usize, ends: &[usize], start: u64) -> u64 {
        self.count_short(text, from, ends, start)
    }

    /// Counts those that have a key, and returns a word with a bit for each that has none.
    #[inline(always)]
    fn count_short(&mut self, text: &[u8], from: usize, ends: &[usize], start: u64) -> u64 {
        // The compiler sees from this that all numbers are inside the arrays.
        let ends = &ends[..ends.len().min(AT_ONCE)];
        let (mut keys, mut homes) = ([Key::NONE; AT_ONCE], [0; AT_ONCE]);
        let mut at = from;
        for (number, &end) in ends.iter().enumerate() {
            let key = Key::new(text, at, end);
            (keys[number], homes[number]) = (key, self.short.prefetch(key) as u32);
            at = end;
        }
        let mut long = 0;
        for number in 0..ends.len() {
            let (key, home) = (keys[number], homes[number] as usize);
            // A long one is never found: all that have a key differ from it.
            if !self.short.count_known(key, home) {
                if key.is_long() {
                    long |= 1 << number;
                } else {
                    self.short.count(key, home, start + start_of(number, from, ends) as u64);
                }
            }
        }
        long
    }

    /// The same for those with a bit in `long`.
    fn count_long(&mut self, text: &[u8], from: usize, ends: &[usize], long: u64, start: u64) -> Result<()> {
        if !self.long.has_room(AT_ONCE) {
            self.long.grow()?;
        }
        let mut tags = [0; AT_ONCE];
        for number in bits(long) {
            tags[number] = self.long.prefetch(&text[start_of(number, from, ends)..ends[number]]);
        }
        bits(long).for_each(|number| self.long.prefetch_bytes(tags[number]));
        for number in bits(long) {
            let at = start_of(number, from, ends);
            self.long.count(&text[at..ends[number]], tags[number], start + at as u64)?;
        }
        Ok(())
    }
}
