//! Looking up a group of pretokens: first all keys are computed and their lines prefetched, and then the
//! lines are read.

use super::super::group::Group;
use super::super::misses::Misses;
use super::entry::{Entry, FEW};
use super::key::{Owner, is_hash};
use super::{AHEAD, Place, Table, step};
use crate::bits::set_bits;
use crate::cpu::prefetch;
use crate::index::TokenIndex;
use crate::keys::{KeyRule, Pretokens, TokenKey};
use crate::vocabulary::TokenId;

/// In groups of up to this many pretokens, the tokens of all are prefetched.
const FEW_PRETOKENS: usize = 32;

/// The same is done if the table did not contain this many pretokens of the last group.
const MANY_NEW: usize = AHEAD / 16;

/// The keys of a group, and the lines in which they are looked up, which make room for counts.
pub(in crate::encode) struct Keys {
    keys: [u128; AHEAD],
    lines: [u32; AHEAD],
}

impl Keys {
    pub(in crate::encode) fn new() -> Keys {
        Keys { keys: [0; AHEAD], lines: [0; AHEAD] }
    }

    /// For each pretoken of the group that was looked up last, the number of ids that were found up to its end.
    pub(in crate::encode::lookup) fn counts(&self) -> &[u32; AHEAD] {
        &self.lines
    }
}

/// A group to look up, and the memory for the result.
pub(in crate::encode::lookup) struct GroupQuery<'a> {
    pub(in crate::encode::lookup) owner: Owner,
    /// At most [`AHEAD`] pretokens.
    pub(in crate::encode::lookup) group: Group<'a>,
    /// The number of the first pretoken in the whole group, by which misses are numbered.
    pub(in crate::encode::lookup) number: usize,
    /// The number of ids that have been written already.
    pub(in crate::encode::lookup) found: usize,
    pub(in crate::encode::lookup) keys: &'a mut Keys,
    /// The tokens that pretokens become, unless the table contains all of them.
    pub(in crate::encode::lookup) tokens: Option<&'a TokenIndex>,
    /// Receives the pretokens that the table does not contain.
    pub(in crate::encode::lookup) misses: &'a mut Misses,
    /// Receives the ids of the others, after those that were found: memory for [`BEYOND`](super::BEYOND) more
    /// ids than the group has bytes.
    pub(in crate::encode::lookup) ids: *mut TokenId,
}

impl Table {
    /// Writes the ids of a group, in order, and returns the number of all ids that were found. Pretokens that the table
    /// does not contain are left out. With `COUNTS`, the keys have the [counts](Keys::counts) then.
    ///
    /// # Safety
    ///
    /// `query.ids` points to memory for as many ids as its documentation states.
    #[inline]
    pub(in crate::encode::lookup) unsafe fn get_group<const COUNTS: bool>(
        &mut self,
        mut query: GroupQuery<'_>,
    ) -> usize {
        self.prepare_keys(&mut query);
        // SAFETY: as the caller promises.
        unsafe { self.copy_ids::<COUNTS>(&mut query) }
    }

    /// Computes the keys of a group, and prefetches the lines that they belong to.
    // A function of its own, as is the next one: both need all registers.
    #[inline(never)]
    fn prepare_keys(&self, query: &mut GroupQuery<'_>) {
        let Group { text, start, ends, .. } = query.group;
        let ends = &ends[..ends.len().min(AHEAD)];
        let (owner, table, places) = (query.owner, self.lines.as_ptr(), self.places());
        // Of a short text, or at the start of one, most words may be new, and their tokens are in memory that is
        // far.
        let tokens = query.tokens.filter(|_| ends.len() <= FEW_PRETOKENS || self.new_in_group >= MANY_NEW);
        let done = if tokens.is_none() { self.prepare_fours(query) } else { 0 };
        let Keys { keys, lines } = &mut *query.keys;
        let mut start = if done == 0 { start } else { ends[done - 1] };
        for number in done..ends.len() {
            let end = ends[number];
            let key = self.seeds.key(owner, text, start, end);
            let hash = self.seeds.hash(key);
            let line = places.place(hash);
            prefetch(table.wrapping_add(line));
            if let Some(tokens) = tokens {
                tokens.prefetch_hash(hash);
            }
            (keys[number], lines[number]) = (key, line as u32);
            start = end;
        }
    }

    /// Does this for the first pretokens of a group, if the processor can do several at once, and returns for
    /// how many.
    #[inline(always)]
    fn prepare_fours(&self, query: &mut GroupQuery<'_>) -> usize {
        let Group { text, start, ends, .. } = query.group;
        let (owner, places) = (query.owner, self.places());
        let Keys { keys, lines } = &mut *query.keys;
        let rule = KeyRule { owner: owner.bits(), seeds: self.seeds.0, places };
        let table = self.lines.as_ptr();
        let ahead = |line: u32| prefetch(table.wrapping_add(line as usize));
        let (count, long) = rule.by_fours(self.simd, Pretokens { text, start, ends }, keys, lines, ahead);
        for number in set_bits(long).flat_map(|four| four * 4..four * 4 + 4) {
            let pretoken = query.group.pretoken(number);
            if pretoken.len() > TokenKey::MAX {
                keys[number] = self.key(owner, pretoken);
                lines[number] = places.place(self.seeds.hash(keys[number])) as u32;
                ahead(lines[number]);
            }
        }
        count
    }

    /// Writes the ids of a group whose keys have been computed.
    #[inline(never)]
    unsafe fn copy_ids<const COUNTS: bool>(&mut self, query: &mut GroupQuery<'_>) -> usize {
        let (lines, ids) = (self.lines.as_ptr(), query.ids);
        let mut count = query.found;
        let known = self.count + query.misses.len();
        for number in 0..query.group.ends.len().min(AHEAD) {
            let key = &query.keys.keys[number];
            // SAFETY: the number of the line was computed for this table.
            let line = unsafe { &*lines.add(query.keys.lines[number] as usize) };
            // Without a branch on which of the two entries it is, which cannot be predicted.
            let entry = line.likely(key);
            if entry.has_key(key) && entry.count() <= FEW as u32 {
                // SAFETY: no pretoken has more ids than bytes, and there is memory for four more.
                unsafe { entry.copy_ids(ids.add(count)) };
                count += entry.count() as usize;
            } else {
                // SAFETY: as the caller promises.
                count += unsafe { self.copy_further(query, number, count) };
            }
            if COUNTS {
                query.keys.lines[number] = count as u32;
            }
        }
        self.new_in_group = self.count + query.misses.len() - known;
        count
    }

    /// Writes the ids of a pretoken that are not in the line of its key, but in the arena, in the next
    /// line or among the tokens, after `count` others; returns their number. An entry in the next line changes places with one
    /// of the line of its key, so that it is found at once from then on: most entries of a line are tokens
    /// that a text does not contain.
    #[cold]
    #[inline(never)]
    unsafe fn copy_further(&mut self, query: &mut GroupQuery<'_>, number: usize, count: usize) -> usize {
        let (key, first) = (query.keys.keys[number], query.keys.lines[number] as usize);
        if query.tokens.is_none() && self.is_absent(key, first) {
            query.misses.push(query.number + number, key, count, false);
            return 0;
        }
        let pretoken = query.group.pretoken(number);
        let mut is_no_token = false;
        for (steps, line) in [first, step(first, 1) & (self.lines.len() - 1)].into_iter().enumerate() {
            for slot in 0..self.lines[line].0.len() {
                let entry = self.lines[line].0[slot];
                let Some(ids) = entry.has_key(&key).then(|| self.ids_of(&entry, pretoken)).flatten() else {
                    continue;
                };
                let ids = ids.as_slice();
                // SAFETY: no pretoken has more ids than bytes.
                unsafe { std::ptr::copy_nonoverlapping(ids.as_ptr(), query.ids.add(count), ids.len()) };
                let written = ids.len();
                if steps == 1 {
                    self.swap(Place { line, slot }, first);
                }
                return written;
            }
            // An entry is in the next line only if this one was full, and no entry is removed alone.
            if let Some(slot) = self.lines[line].0.iter().position(|entry| entry.key == 0) {
                // A new word is mostly a token, and a miss takes three times as long. The keys of the group are
                // those of a table that does not grow meanwhile.
                let tokens = query.tokens.filter(|_| !is_hash(key) && !self.is_full());
                if let Some(id) = tokens.and_then(|tokens| tokens.of_key(TokenKey::of_number(key))) {
                    self.lines[line].0[slot] = Entry::near(key, &[id]);
                    self.count += 1;
                    // SAFETY: as above.
                    unsafe { query.ids.add(count).write(id) };
                    return 1;
                }
                is_no_token = tokens.is_some();
                break;
            }
        }
        query.misses.push(query.number + number, key, count, is_no_token);
        0
    }
}
