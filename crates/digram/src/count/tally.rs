//! The counts of one thread.
//!
//! Pretokens are counted in groups, so that their cache misses overlap.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::bits::{seeds_of, set_bits};
use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::index::{AT_ONCE, start_of};
use crate::interrupt::Interrupt;
use crate::keys::{Pretokens, TokenKey};
use crate::pretokenize::{GoesOn, Pretokenizer};

use super::Piece;
use super::limits::length;
use super::long::{LongTable, TableLimits};
use super::short::ShortTable;
use super::spill::Spill;

/// The size of a table entry, in bytes.
const SLOT_SIZE: usize = 32;

/// Where to write full tables, and the interrupt.
#[derive(Clone, Copy)]
pub(super) struct SpillTarget<'a> {
    /// `None`: tables may grow without limit.
    pub(super) spill: Option<&'a Spill>,
    pub(super) interrupt: &'a dyn Interrupt,
}

/// Distinct pretokens with their counts, short and long ones.
pub(super) struct ThreadCounts {
    pub(super) short: ShortTable,
    pub(super) long: LongTable,
    simd: SimdLevel,
}

impl ThreadCounts {
    /// Empty tables with a limit of `memory` bytes. Only tables with the same hasher can be combined.
    pub(super) fn new(memory: usize, hasher: &DefaultHashBuilder) -> ThreadCounts {
        let seeds = seeds_of(|number| hasher.hash_one(number));
        let max_slots = |memory: usize| (memory / SLOT_SIZE + 1).next_power_of_two() / 2;
        // A growing table takes twice its size, if its old memory cannot be reused.
        let short = ShortTable::new(max_slots(memory / 8 * 3), seeds);
        let bytes = if memory == usize::MAX { memory } else { memory / 8 };
        let long = LongTable::new(TableLimits { slots: max_slots(memory / 16), bytes }, hasher.clone());
        ThreadCounts { short, long, simd: SimdLevel::best() }
    }

    /// The number of distinct pretokens.
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// The memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.short.memory() + self.long.memory()
    }

    /// The pretokens in the `part`th of `parts` equal ranges of hashes, with their hashes: the same in all
    /// tables with the same hasher. `parts` is a power of two, at most 64.
    pub(super) fn part(&self, part: usize, parts: usize) -> impl Iterator<Item = (u64, Piece<'_>)> {
        let short = self.short.part(part, parts);
        let long = self.long.part(part, parts);
        short
            .map(|(hash, slot)| (hash, slot.piece()))
            .chain(long.map(|(hash, slot)| (hash, self.long.piece(slot))))
    }

    /// Counts the pretokens of a text that starts at byte `start` of the corpus, after the texts counted
    /// before; returns their number.
    pub(super) fn count(
        &mut self,
        pretokenizer: &Pretokenizer,
        text: &[u8],
        start: u64,
        spill_target: SpillTarget<'_>,
    ) -> Result<u64> {
        let mut pretokens = 0;
        pretokenizer.for_many(text, 0, GoesOn::No, spill_target.interrupt, |mut from, ends| {
            for ends in ends.chunks(AT_ONCE) {
                self.count_group(text, from, ends, start, spill_target)?;
                from = ends[ends.len() - 1];
            }
            pretokens += ends.len() as u64;
            Ok(())
        })?;
        Ok(pretokens)
    }

    /// Counts up to [`AT_ONCE`] consecutive pretokens that begin at `from`.
    #[inline]
    fn count_group(
        &mut self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        start: u64,
        spill_target: SpillTarget<'_>,
    ) -> Result<()> {
        if !self.short.has_room(AT_ONCE) {
            match spill_target.spill {
                Some(spill) if !self.short.may_grow() => spill.write(self, spill_target.interrupt)?,
                _ => self.short.grow()?,
            }
        }
        let long = match self.simd {
            // SAFETY: the level was chosen because the processor supports it.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 | SimdLevel::Avx2 => unsafe { self.count_short_bmi(text, from, ends, start) },
            SimdLevel::Plain => self.count_short(text, from, ends, start),
        };
        if long == 0 { Ok(()) } else { self.count_long(text, from, ends, (long, start), spill_target) }
    }

    /// Compiled with shifts and multiplications that do not change the flags.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn count_short_bmi(&mut self, text: &[u8], from: usize, ends: &[usize], start: u64) -> u64 {
        self.count_short(text, from, ends, start)
    }

    /// Counts the pretokens that have a key, and returns a word with a bit for each long one.
    #[inline(always)]
    fn count_short(&mut self, text: &[u8], from: usize, ends: &[usize], start: u64) -> u64 {
        // With this the compiler removes bounds checks.
        let ends = &ends[..ends.len().min(AT_ONCE)];
        let (mut keys, mut homes) = ([0; AT_ONCE], [0; AT_ONCE]);
        let (rule, simd) = (self.short.key_rule(), self.simd);
        let ahead = |home| self.short.prefetch(home);
        let (done, with_long) =
            rule.by_fours(simd, Pretokens { text, start: from, ends }, &mut keys, &mut homes, ahead);
        let again = set_bits(with_long).flat_map(|four| four * 4..four * 4 + 4);
        for index in again.chain(done..ends.len()) {
            let key = TokenKey::new(text, start_of(index, from, ends), ends[index]);
            keys[index] = key.number();
            homes[index] = self.short.home(key) as u32;
            self.short.prefetch(homes[index]);
        }
        let mut long = 0;
        for index in 0..ends.len() {
            let (key, home) = (TokenKey::of_number(keys[index]), homes[index] as usize);
            // The key of a long pretoken differs from all keys in the table.
            if !self.short.count_at_home(key, home) {
                if key.is_long() {
                    long |= 1 << index;
                } else {
                    self.short.count(key, home, start + start_of(index, from, ends) as u64);
                }
            }
        }
        long
    }

    /// Counts the pretokens with a bit in `long`.
    fn count_long(
        &mut self,
        text: &[u8],
        from: usize,
        ends: &[usize],
        (long, start): (u64, u64),
        spill_target: SpillTarget<'_>,
    ) -> Result<()> {
        if !self.long.has_room(AT_ONCE) {
            match spill_target.spill {
                Some(spill) if !self.long.may_grow() => spill.write(self, spill_target.interrupt)?,
                _ => self.long.grow()?,
            }
        }
        let mut tags = [0; AT_ONCE];
        for index in set_bits(long) {
            tags[index] = self.long.prefetch(&text[start_of(index, from, ends)..ends[index]]);
        }
        set_bits(long).for_each(|index| self.long.prefetch_bytes(tags[index]));
        for index in set_bits(long) {
            let offset = start_of(index, from, ends);
            let (piece, first) = (&text[offset..ends[index]], start + offset as u64);
            if let Some(spill) = spill_target.spill
                && !self.long.has_bytes(piece.len())
            {
                spill.write(self, spill_target.interrupt)?;
                if !self.long.has_bytes(piece.len()) {
                    // The limit of counts in memory applies to counts on disk too.
                    length(piece.len())?;
                    spill.write_one(Piece { bytes: piece, count: 1, first }, spill_target.interrupt)?;
                    continue;
                }
            }
            self.long.count(piece, tags[index], first)?;
        }
        Ok(())
    }

    /// Calls `visit` with all pieces in the order of their bytes, and empties the tables.
    pub(super) fn drain_sorted(
        &mut self,
        interrupt: &dyn Interrupt,
        visit: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut long = self.long.sort(interrupt)?.peekable();
        for piece in self.short.sort(interrupt)? {
            while let Some(long_piece) = long.next_if(|long_piece| long_piece.bytes < piece.bytes) {
                visit(long_piece)?;
            }
            visit(piece)?;
        }
        long.by_ref().try_for_each(visit)?;
        drop(long);
        self.short.clear();
        self.long.clear();
        Ok(())
    }
}
