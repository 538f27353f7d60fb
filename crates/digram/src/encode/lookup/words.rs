//! Merging the misses of a group in lockstep.

use super::super::Scratch;
use super::super::kernels::lockstep::{Lockstep, WORDS};
use super::super::kernels::ranked::Ranked;
use super::{Group, Lookup, MissedIds, Misses, Table};

/// Once this many words were merged, more will be: then the filter of all pairs is brought near at once. To wait for each
/// of its lines, when a word first needs it, took 2 to 4 % of a first pass over a few hundred thousand bytes. To do so with
/// the pairs at which pretokens can be split, or with those of bytes, was not faster.
const MANY: usize = 256;

/// The misses of a group that are words of up to `LEN` bytes, and memory to merge them in.
pub(in crate::encode) struct MissedWords<const LEN: usize> {
    misses: Vec<u32>,
    lockstep: Lockstep<LEN>,
}

impl<const LEN: usize> MissedWords<LEN> {
    pub(in crate::encode) fn new() -> MissedWords<LEN> {
        MissedWords { misses: Vec::new(), lockstep: Lockstep::new() }
    }

    pub(super) fn clear(&mut self) {
        self.misses.clear();
    }

    #[inline]
    pub(in crate::encode) fn push(&mut self, miss: usize) {
        self.misses.push(miss as u32);
    }
}

/// Words that are merged in lockstep, by their misses and numbers.
#[derive(Default)]
struct Batch {
    words: [(usize, usize); WORDS],
    keys: [u128; WORDS],
    count: usize,
    /// Misses with the same bytes as the word of another miss.
    repeated: [(usize, usize); WORDS],
    repeated_count: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.count == WORDS || self.repeated_count == WORDS
    }

    fn words(&self) -> &[(usize, usize)] {
        &self.words[..self.count]
    }

    /// Adds a miss.
    #[inline]
    fn push(&mut self, miss: usize, number: usize, key: u128, group: Group<'_>) {
        let bytes = |number: usize| group.pretoken(number).bytes();
        let same_key = self.keys[..self.count].iter().position(|&other| other == key);
        match same_key.map(|index| self.words[index]) {
            // Keys of long words are hashes; one of two with the same key is merged twice then.
            Some((other, other_number)) if bytes(other_number) == bytes(number) => {
                self.repeated[self.repeated_count] = (miss, other);
                self.repeated_count += 1;
            }
            _ => {
                (self.words[self.count], self.keys[self.count]) = ((miss, number), key);
                self.count += 1;
            }
        }
    }
}

impl Lookup {
    /// Sets the ids of missed words, once all other misses have theirs.
    pub(super) fn encode_words(&self, group: Group<'_>, scratch: &mut Scratch, ranked: &Ranked) {
        let Scratch { misses, missed_ids, table, short_words, long_words, longest_words, merged, .. } =
            scratch;
        if *merged < MANY {
            *merged += short_words.misses.len() + long_words.misses.len() + longest_words.misses.len();
            if *merged >= MANY {
                ranked.prefetch_filter();
            }
        }
        let mut to = Merged { lookup: self, ranked, group, misses, missed_ids, table };
        to.encode(short_words);
        to.encode(long_words);
        to.encode(longest_words);
    }
}

/// Where merged words go.
struct Merged<'a> {
    lookup: &'a Lookup,
    ranked: &'a Ranked,
    group: Group<'a>,
    misses: &'a Misses,
    missed_ids: &'a mut MissedIds,
    table: &'a mut Table,
}

impl Merged<'_> {
    fn encode<const LEN: usize>(&mut self, words: &mut MissedWords<LEN>) {
        let MissedWords { misses, lockstep } = words;
        let mut rest = misses.iter().map(|&miss| miss as usize);
        loop {
            let mut batch = Batch::default();
            for miss in rest.by_ref() {
                let number = self.misses.number(miss);
                // An earlier batch may have added it, or it is in a line that was not read.
                let (pretoken, key) = (self.group.pretoken(number), self.misses.key(miss));
                match self.table.get_missed(key, pretoken) {
                    Some(ids) => self.missed_ids.set(miss, ids.as_slice().iter().copied()),
                    None => batch.push(miss, number, key, self.group),
                }
                if batch.is_full() {
                    break;
                }
            }
            if batch.count == 0 {
                break;
            }
            let bytes = batch.words().iter().map(|&(_, number)| self.group.pretoken(number).bytes());
            self.ranked.merge_words(bytes, lockstep);
            for (word, &(miss, number)) in batch.words().iter().enumerate() {
                let (ids, count) = lockstep.ids(word);
                self.missed_ids.set_first(miss, ids, count);
                let pretoken = self.group.pretoken(number);
                self.table.put(batch.keys[word], pretoken, &ids[..count], self.lookup.tokens());
            }
            for &(miss, other) in &batch.repeated[..batch.repeated_count] {
                self.missed_ids.repeat(miss, other);
            }
        }
    }
}
