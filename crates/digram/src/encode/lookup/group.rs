//! Looking up a group of pretokens, and encoding those that the table does not contain.

use std::ops::Range;

use super::super::Scratch;
use super::super::kernels::lockstep::{self, Lockstep};
use super::super::kernels::ranked::Ranked;
use super::super::safe_splits::SafeSplits;
use super::table::{BEYOND, GROUP};
use super::{Lookup, has_splits};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::vocabulary::TokenId;

/// Up to [`GROUP`] pretokens that follow one another in a text.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) text: &'a [u8],
    /// The start of the first.
    pub(super) start: usize,
    /// The ends of all.
    pub(super) ends: &'a [usize],
    /// Whether these are the pieces between the places at which pretokens can be split.
    pub(super) are_split: bool,
}

impl<'a> Group<'a> {
    /// The number of bytes.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ends.last().map_or(0, |end| end - self.start)
    }

    /// Where in the text the pretoken of this number is.
    #[inline(always)]
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { self.start } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    /// The bytes of the pretoken of this number.
    #[inline]
    pub(super) fn bytes(&self, number: usize) -> &'a [u8] {
        &self.text[self.range(number)]
    }
}

/// The pretokens of a group that the table does not contain.
pub(in crate::encode) struct Misses {
    count: usize,
    /// Their numbers in the group.
    numbers: [u16; GROUP],
    /// For each, the number of ids of the pretokens before it that the table contains.
    ids_before: [u32; GROUP],
}

impl Misses {
    pub(in crate::encode) fn new() -> Misses {
        Misses { count: 0, numbers: [0; GROUP], ids_before: [0; GROUP] }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds the pretoken of a number, before which there are `ids_before` ids.
    #[inline(always)]
    pub(super) fn push(&mut self, number: usize, ids_before: usize) {
        (self.numbers[self.count], self.ids_before[self.count]) = (number as u16, ids_before as u32);
        self.count += 1;
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number in the group of a miss.
    #[inline]
    pub(super) fn number(&self, miss: usize) -> usize {
        usize::from(self.numbers[miss])
    }

    #[inline]
    pub(super) fn ids_before(&self) -> &[u32] {
        &self.ids_before[..self.count]
    }
}

/// The ids of the misses of a group.
#[derive(Default)]
pub(in crate::encode) struct MissedIds {
    ids: Vec<TokenId>,
    /// The range of each miss in `ids`.
    ranges: Vec<Range<u32>>,
    /// The misses that are merged in lockstep, once the others have their ids: short words and long ones.
    short_words: Vec<u32>,
    long_words: Vec<u32>,
}

impl MissedIds {
    /// Forgets the ids of the last group; this one has `count` misses.
    fn reset(&mut self, count: usize) {
        self.ids.clear();
        self.short_words.clear();
        self.long_words.clear();
        self.ranges.clear();
        self.ranges.resize(count, 0..0);
    }

    /// Adds a miss to those that are merged in lockstep.
    #[inline]
    fn push_word(&mut self, miss: usize, len: usize) {
        let words = if len <= lockstep::SHORT { &mut self.short_words } else { &mut self.long_words };
        words.push(miss as u32);
    }

    /// Sets the ids of a miss.
    #[inline]
    fn set(&mut self, miss: usize, ids: impl IntoIterator<Item = TokenId>) {
        let start = self.ids.len();
        self.ids.extend(ids);
        self.ranges[miss] = start as u32..self.ids.len() as u32;
    }

    /// The ids of a miss.
    #[inline]
    fn of(&self, miss: usize) -> &[TokenId] {
        let Range { start, end } = self.ranges[miss];
        &self.ids[start as usize..end as usize]
    }

    /// Inserts the ids of all misses between the `found` ids of the other pretokens at `place`, and returns
    /// the number of all.
    ///
    /// # Safety
    ///
    /// `place` points to memory for all ids.
    unsafe fn insert_into(&self, place: *mut TokenId, found: usize, misses: &Misses) -> usize {
        let inserted: usize = self.ranges.iter().map(|range| range.len()).sum();
        let (mut end, mut left) = (found, inserted);
        for (miss, &before) in misses.ids_before().iter().enumerate().rev() {
            let (before, ids) = (before as usize, self.of(miss));
            // SAFETY: from the last miss to the first, the ids behind it move by the number of ids that are
            // still to be inserted, so that no id is overwritten before it has moved.
            unsafe {
                std::ptr::copy(place.add(before), place.add(before + left), end - before);
                left -= ids.len();
                std::ptr::copy_nonoverlapping(ids.as_ptr(), place.add(before + left), ids.len());
            }
            end = before;
        }
        found + inserted
    }

    /// Frees a list of a larger capacity than `keep`.
    pub(in crate::encode) fn trim(&mut self, keep: usize) {
        if self.ids.capacity() > keep {
            self.ids = Vec::new();
        }
    }
}

/// Words that are merged in lockstep, by their misses and numbers.
#[derive(Default)]
struct Batch {
    words: [(usize, usize); lockstep::WORDS],
    count: usize,
    /// Misses with the same bytes as the word of another miss.
    repeated: [(usize, usize); lockstep::WORDS],
    repeated_count: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.count == lockstep::WORDS || self.repeated_count == lockstep::WORDS
    }

    fn words(&self) -> &[(usize, usize)] {
        &self.words[..self.count]
    }

    /// Adds a miss.
    #[inline]
    fn push(&mut self, miss: usize, number: usize, group: Group) {
        let word = group.bytes(number);
        match self.words().iter().find(|&&(_, other)| group.bytes(other) == word) {
            Some(&(other, _)) => {
                self.repeated[self.repeated_count] = (miss, other);
                self.repeated_count += 1;
            }
            None => {
                self.words[self.count] = (miss, number);
                self.count += 1;
            }
        }
    }
}

impl Lookup {
    /// Appends the ids of a group, after splitting those of its pretokens that may have places to split.
    #[inline]
    pub(super) fn encode_group(
        &self,
        group: Group,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        match &self.splits {
            Some(splits) if self.splits_first && !group.text[group.start..][..group.len()].is_ascii() => {
                self.encode_split(splits, group, scratch, interrupt, ids)
            }
            _ => self.encode_as_given(group, scratch, interrupt, ids),
        }
    }

    /// Appends the ids of a group whose pretokens are split first, so that the pieces of all are looked up
    /// together. In scripts without spaces most pieces are known, and few pretokens recur.
    #[inline(never)]
    fn encode_split(
        &self,
        splits: &SafeSplits,
        group: Group,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let mut ends = [0; GROUP];
        let (mut count, mut start) = (0, group.start);
        let mut add = |end: usize, is_last: bool| {
            ends[count] = end;
            count += 1;
            if count == GROUP || is_last {
                let pieces = Group { start, ends: &ends[..count], are_split: true, ..group };
                self.encode_as_given(pieces, scratch, interrupt, ids)?;
                (start, count) = (end, 0);
            }
            Ok(())
        };
        let all = group.start + group.len();
        for number in 0..group.ends.len() {
            let (pretoken, mut end) = (group.bytes(number), group.range(number).start);
            if has_splits(pretoken) {
                splits.split(pretoken, interrupt, |piece, _| {
                    end += piece.len();
                    add(end, end == all)
                })?;
            } else {
                end += pretoken.len();
                add(end, end == all)?;
            }
        }
        Ok(())
    }

    /// Appends the ids of a group whose pretokens are looked up as they are.
    #[inline]
    fn encode_as_given(
        &self,
        group: Group,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        scratch.table.prepare()?;
        // A byte becomes at most one id, and some ids are written beyond the last.
        memory::try_reserve(ids, group.len() + BEYOND)?;
        let before = ids.len();
        // SAFETY: there is memory for an id for each byte of the pretokens, and for those beyond.
        let found = unsafe {
            let place = ids.as_mut_ptr().add(before);
            scratch.table.get_many(self.owner, group, &mut scratch.keys, &mut scratch.misses, place)
        };
        if scratch.misses.len() == 0 {
            // SAFETY: these ids were written, one after the other.
            unsafe { ids.set_len(before + found) };
            return Ok(());
        }
        self.encode_misses(group, scratch, interrupt)?;
        // SAFETY: as above; the ids of the misses are among those that have a byte each.
        unsafe {
            let place = ids.as_mut_ptr().add(before);
            let all = scratch.missed_ids.insert_into(place, found, &scratch.misses);
            ids.set_len(before + all);
        }
        Ok(())
    }

    /// Computes the ids of the misses of a group.
    fn encode_misses(&self, group: Group, scratch: &mut Scratch, interrupt: &dyn Interrupt) -> Result<()> {
        let in_lockstep = self.kernel.in_lockstep();
        scratch.missed_ids.reset(scratch.misses.len());
        for miss in 0..scratch.misses.len() {
            let number = scratch.misses.number(miss);
            let (bytes, Range { start, end }) = (group.bytes(number), group.range(number));
            let is_word = in_lockstep.is_some()
                && bytes.len() <= lockstep::LONG
                && (group.are_split || !has_splits(bytes));
            // A table with all tokens contains it if it is one.
            if is_word && scratch.table.has_tokens_of_len(bytes.len()) {
                scratch.missed_ids.push_word(miss, bytes.len());
                continue;
            }
            // It may have been added for an earlier miss.
            if let Some(ids) = scratch.table.get(self.owner, group.text, start, end) {
                scratch.missed_ids.set(miss, ids.as_slice().iter().copied());
            } else if let Some(id) = self.whole.get_in(group.text, start, end) {
                scratch.missed_ids.set(miss, [id]);
                scratch.table.put(self.owner, group.text, start, end, &[id], self.tokens());
            } else if is_word {
                scratch.missed_ids.push_word(miss, bytes.len());
            } else {
                let encoded = scratch.with_list(|scratch, ids| {
                    match group.are_split {
                        true => self.encode_new_piece(group.text, start, end, scratch, interrupt, ids)?,
                        false => self.encode_new(group.text, start, end, scratch, interrupt, ids)?,
                    }
                    scratch.missed_ids.set(miss, ids.iter().copied());
                    Ok(())
                });
                encoded.map_err(|error: Error| error.shifted(start))?;
            }
        }
        if let Some(ranked) = in_lockstep {
            let words = std::mem::take(&mut scratch.missed_ids.short_words);
            self.encode_words(group, &words, scratch, ranked, |scratch| &mut scratch.short_words);
            scratch.missed_ids.short_words = words;
            let words = std::mem::take(&mut scratch.missed_ids.long_words);
            self.encode_words(group, &words, scratch, ranked, |scratch| &mut scratch.long_words);
            scratch.missed_ids.long_words = words;
        }
        Ok(())
    }

    /// Merges misses of a group in lockstep.
    fn encode_words<const LEN: usize>(
        &self,
        group: Group,
        words: &[u32],
        scratch: &mut Scratch,
        ranked: &Ranked,
        lockstep: impl Fn(&mut Scratch) -> &mut Lockstep<LEN>,
    ) {
        let mut rest = words.iter().map(|&miss| miss as usize);
        loop {
            let mut batch = Batch::default();
            for miss in rest.by_ref() {
                let number = scratch.misses.number(miss);
                let Range { start, end } = group.range(number);
                // An earlier batch may have added it.
                match scratch.table.get(self.owner, group.text, start, end) {
                    Some(ids) => scratch.missed_ids.set(miss, ids.as_slice().iter().copied()),
                    None => batch.push(miss, number, group),
                }
                if batch.is_full() {
                    break;
                }
            }
            if batch.count == 0 {
                break;
            }
            let bytes = batch.words().iter().map(|&(_, number)| group.bytes(number));
            ranked.merge_words(bytes, lockstep(scratch));
            for (word, &(miss, number)) in batch.words().iter().enumerate() {
                let Range { start, end } = group.range(number);
                let mut ids = [0; LEN];
                let count = lockstep(scratch).copy_ids(word, &mut ids);
                scratch.missed_ids.set(miss, ids[..count].iter().copied());
                scratch.table.put(self.owner, group.text, start, end, &ids[..count], self.tokens());
            }
            for &(miss, other) in &batch.repeated[..batch.repeated_count] {
                scratch.missed_ids.ranges[miss] = scratch.missed_ids.ranges[other].clone();
            }
        }
    }
}
