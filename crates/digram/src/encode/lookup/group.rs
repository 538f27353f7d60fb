//! Encoding a group of pretokens: they are looked up together, and those that the table does not contain
//! are merged.

use std::ops::Range;

use super::super::kernels::lockstep;
use super::super::safe_splits::SafeSplits;
use super::super::text_slice::TextSlice;
use super::super::{Context, Scratch};
use super::Lookup;
use super::new_words::is_in_pieces;
use super::scripts::{Scripts, has_splits};
use super::table::{AHEAD, BEYOND, GroupQuery, LONGEST, Owner};
use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::memory;
use crate::vocabulary::TokenId;

/// The maximum number of pretokens in a group: enough that the words that the table does not contain, a few in a
/// hundred, can be merged together.
pub(crate) const GROUP: usize = 1024;

/// Up to [`GROUP`] pretokens that follow one another in a text.
#[derive(Clone, Copy)]
pub(crate) struct Group<'t> {
    pub(super) text: &'t [u8],
    /// The start of the first.
    pub(super) start: usize,
    /// The ends of all.
    pub(super) ends: &'t [usize],
    /// Whether these are the pieces between the places at which pretokens can be split.
    pub(super) are_split: bool,
}

impl<'t> Group<'t> {
    /// The pretokens that end at `ends`; the first starts at `start`.
    #[inline]
    pub(crate) fn new(text: &'t [u8], start: usize, ends: &'t [usize]) -> Group<'t> {
        Group { text, start, ends, are_split: false }
    }

    /// The number of bytes.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.ends.last().map_or(0, |end| end - self.start)
    }

    #[inline]
    pub(super) fn bytes(self) -> &'t [u8] {
        &self.text[self.start..][..self.len()]
    }

    /// The pretoken of this number.
    #[inline(always)]
    pub(super) fn pretoken(self, number: usize) -> TextSlice<'t> {
        let start = if number == 0 { self.start } else { self.ends[number - 1] };
        TextSlice { text: self.text, start, end: self.ends[number] }
    }

    /// The pretokens of these numbers.
    #[inline]
    pub(super) fn between(self, numbers: Range<usize>) -> Group<'t> {
        let start = numbers.start.checked_sub(1).map_or(self.start, |last| self.ends[last]);
        Group { start, ends: &self.ends[numbers], ..self }
    }

    /// The first half of the pretokens, and the other ones. There are two or more.
    pub(super) fn halves(self) -> (Group<'t>, Group<'t>) {
        let middle = self.ends.len() / 2;
        (self.between(0..middle), self.between(middle..self.ends.len()))
    }

    /// The group in parts of up to `count` pretokens.
    #[inline]
    pub(super) fn parts(self, count: usize) -> impl Iterator<Item = Group<'t>> {
        let mut start = self.start;
        self.ends.chunks(count).map(move |ends| {
            let start = std::mem::replace(&mut start, ends[ends.len() - 1]);
            Group { start, ends, ..self }
        })
    }

    /// All pretokens.
    #[inline(always)]
    pub(in crate::encode) fn pretokens(self) -> impl Iterator<Item = TextSlice<'t>> {
        let mut start = self.start;
        self.ends.iter().map(move |&end| TextSlice {
            text: self.text,
            start: std::mem::replace(&mut start, end),
            end,
        })
    }
}

impl Lookup {
    /// Appends the ids of a group. In scripts without spaces most pieces of pretokens are known, and few
    /// pretokens recur, so the pieces of all pretokens are looked up together. So are those of words that are
    /// seen for the first time, if few tokens join the letters of their script.
    #[inline]
    pub(super) fn encode_group(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if let Some(splits) = self.splits.as_ref().filter(|_| self.splits_first) {
            // One that is not stored, as a text that is not split into pretokens.
            if group.ends.len() == 1 && group.len() > LONGEST {
                return self.encode_pieces(splits, group.pretoken(0), context, ids);
            }
            let scripts = Scripts::of(group, splits.scripts(), context.scratch.table.simd());
            if scripts.are_cut {
                return self.encode_wide_group(splits, group, &scripts, context, ids);
            }
        }
        self.look_up(group, context, ids)
    }

    /// Appends the ids of a part of a pretoken, which is split.
    pub(super) fn encode_pieces(
        &self,
        splits: &SafeSplits,
        part: TextSlice<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let TextSlice { text, start, end } = part;
        splits.each_group(text, start, &[end], &mut |start: usize, ends: &[usize]| {
            self.look_up(Group { text, start, ends, are_split: true }, context, ids)
        })
    }

    /// Appends the ids of a group whose pretokens are looked up whole.
    #[inline]
    pub(super) fn look_up(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.look_up_with::<false>(group, context, ids)
    }

    /// The same; with `COUNTS`, the scratch memory has the counts of the group then.
    #[inline]
    pub(super) fn look_up_with<const COUNTS: bool>(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let tokens = self.tokens().filter(|_| !context.scratch.table.has_tokens());
        let before = ids.len();
        self.find::<COUNTS>(group, self.owner, tokens, context.scratch, ids)?;
        if context.scratch.misses.len() > 0 {
            self.encode_misses(group, context)?;
            insert_missed(context.scratch, before, ids);
        }
        Ok(())
    }

    /// Appends the ids of the pretokens of a group that the table contains, with memory for those of the others, which
    /// become the misses.
    #[inline]
    pub(super) fn find<const COUNTS: bool>(
        &self,
        group: Group<'_>,
        owner: Owner,
        tokens: Option<&TokenIndex>,
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        scratch.table.prepare(self.tokens())?;
        // A byte becomes at most one id, and some ids are written beyond the last.
        memory::try_reserve(ids, group.len() + BEYOND)?;
        let before = ids.len();
        let Scratch { table, keys, misses, new_words, .. } = scratch;
        misses.clear();
        let (mut number, mut found) = (0, 0);
        for group in group.parts(AHEAD) {
            // SAFETY: there is memory for an id for each byte of the pretokens, and for those beyond.
            found = unsafe {
                let ids = ids.as_mut_ptr().add(before);
                let query = GroupQuery { owner, group, number, found, keys, tokens, misses, ids };
                table.get_group::<COUNTS>(query)
            };
            if COUNTS {
                new_words.counts[number..][..AHEAD].copy_from_slice(keys.counts());
            }
            number += AHEAD;
        }
        // SAFETY: these ids were written, one after the other.
        unsafe { ids.set_len(before + found) };
        Ok(())
    }

    /// Computes the ids of the misses of a group.
    fn encode_misses(&self, group: Group<'_>, context: &mut Context<'_>) -> Result<()> {
        let in_lockstep = self.kernel.in_lockstep();
        let cut = self.splits.as_ref().filter(|_| group.are_split).map(SafeSplits::scripts);
        let count = context.scratch.misses.len();
        context.scratch.missed_ids.reset(count);
        // An error may have left words in them.
        context.scratch.short_words.clear();
        context.scratch.long_words.clear();
        context.scratch.longest_words.clear();
        for miss in 0..count {
            let scratch = &mut *context.scratch;
            let pretoken = group.pretoken(scratch.misses.number(miss));
            let has_pieces =
                cut.is_some_and(|cut| is_in_pieces(pretoken, cut)) && !has_splits(pretoken.bytes());
            let is_word = pretoken.len() <= lockstep::LONGEST
                && in_lockstep.is_some_and(|ranked| ranked.has_symbols(pretoken.bytes()))
                && if group.are_split { !has_pieces } else { !has_splits(pretoken.bytes()) };
            let is_no_token =
                scratch.misses.is_no_token(miss) || scratch.table.has_tokens_of_len(pretoken.len());
            if is_word && is_no_token {
                scratch.push_word(miss, pretoken.len());
                continue;
            }
            // It may have been added for an earlier miss, or be in a line that was not read.
            let key = scratch.misses.key(miss);
            if let Some(ids) = scratch.table.get_missed(key, pretoken) {
                scratch.missed_ids.set(miss, ids.as_slice().iter().copied());
            } else if let Some(id) = (!is_no_token).then(|| self.whole(pretoken)).flatten() {
                scratch.missed_ids.set(miss, [id]);
                scratch.table.put(key, pretoken, &[id], self.tokens());
            } else if is_word {
                scratch.push_word(miss, pretoken.len());
            } else {
                let encoded = context.with_list(|context, ids| {
                    match group.are_split {
                        true if has_pieces => self.encode_word_in_pieces(pretoken, key, context, ids)?,
                        true => self.encode_new_piece(pretoken, context, ids)?,
                        false => self.encode_new(pretoken, context, ids)?,
                    }
                    context.scratch.missed_ids.set(miss, ids.iter().copied());
                    Ok(())
                });
                encoded.map_err(|error: Error| error.shifted(pretoken.start))?;
            }
        }
        if let Some(ranked) = in_lockstep {
            self.encode_words(group, context.scratch, ranked);
        }
        Ok(())
    }
}

/// Inserts the ids of the misses of a group among those from `before` on, which [`Lookup::find`] appended.
pub(super) fn insert_missed(scratch: &Scratch, before: usize, ids: &mut Vec<TokenId>) {
    let found = ids.len() - before;
    // SAFETY: there is memory for an id for each byte of the group, and the ids of the misses have a byte each.
    unsafe {
        let place = ids.as_mut_ptr().add(before);
        let all = scratch.missed_ids.insert_into(place, found, &scratch.misses);
        ids.set_len(before + all);
    }
}
