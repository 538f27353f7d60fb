//! New words of scripts whose letters are joined by few tokens, as Hindi, Korean, Hebrew or Arabic often are.
//!
//! The bytes of such a word would take longer to be merged than its pieces take to be looked up, which are mostly
//! known. So the pieces of a new word are looked up in groups, like those of texts without spaces. Most new words of
//! a text do not recur, and storing one takes as long as looking up its pieces. So its ids are stored when it is seen
//! for the second time, and then it is looked up whole. Once few words are new, all are looked up whole first, and a
//! new one is stored at once.

use super::super::Context;
use super::super::safe_splits::{CutScripts, PieceVisitor, SafeSplits};
use super::super::text_slice::TextSlice;
use super::group::{GROUP, Group};
use super::scripts::{Scripts, has_splits};
use super::table::{LONGEST, Sight};
use super::{Lookup, Scratch};
use crate::error::Result;
use crate::vocabulary::TokenId;

/// Merging up to this many bytes, a space and two or three letters, takes less time than looking up their pieces.
const FEW_LETTERS: usize = 7;

/// Up to one word of this many is new where most are known.
const KNOWN: usize = 8;

/// Whether the pieces of a word are looked up until it is stored.
#[inline]
pub(super) fn is_in_pieces(word: TextSlice<'_>, cut: &CutScripts) -> bool {
    word.len() > FEW_LETTERS && cut.has(word.bytes())
}

/// The words of a group that will be stored.
pub(in crate::encode) struct NewWords {
    /// Their starts and ends, and their keys in the table.
    words: Vec<(usize, usize, u128)>,
    /// For each piece of a group, the number of ids up to its end that the table contained.
    pub(super) counts: [u32; GROUP],
    /// How many words of the current group were asked for, and how many of them were new.
    asked: usize,
    new: usize,
    /// Whether few words of the last group were new.
    are_known: bool,
}

impl NewWords {
    pub(in crate::encode) fn new() -> NewWords {
        NewWords { words: Vec::new(), counts: [0; GROUP], asked: 0, new: 0, are_known: false }
    }

    fn begin(&mut self) {
        self.words.clear();
        (self.asked, self.new) = (0, 0);
    }

    /// Decides how the words of the next group are looked up: `new` of these words were not known.
    fn end(&mut self, new: usize, words: usize) {
        if words > 0 {
            self.are_known = new * KNOWN <= words;
        }
    }
}

impl Lookup {
    /// Appends the ids of a group with such words, or with pretokens of scripts without spaces.
    pub(super) fn encode_wide_group(
        &self,
        splits: &SafeSplits,
        group: Group<'_>,
        scripts: &Scripts,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let Group { text, start, ends, .. } = group;
        if context.scratch.new_words.are_known && !scripts.are_unspaced {
            self.look_up(group, context, ids)?;
            let Scratch { misses, new_words, .. } = &mut *context.scratch;
            new_words.end(misses.len(), ends.len());
            return Ok(());
        }
        context.scratch.table.prepare(self.tokens())?;
        context.scratch.new_words.begin();
        let cut = splits.scripts();
        splits.each_group(text, start, ends, &mut WideGroup { lookup: self, cut, text, context, ids })?;
        let NewWords { asked, new, .. } = *context.scratch.new_words;
        context.scratch.new_words.end(new, asked);
        Ok(())
    }
}

/// A group whose pretokens are looked up, as they are or in pieces.
struct WideGroup<'a, 'c> {
    lookup: &'a Lookup,
    cut: &'a CutScripts,
    text: &'a [u8],
    context: &'a mut Context<'c>,
    ids: &'a mut Vec<TokenId>,
}

impl PieceVisitor for WideGroup<'_, '_> {
    #[inline]
    fn may_split(&mut self, pretoken: TextSlice<'_>) -> bool {
        has_splits(pretoken.bytes())
            || is_in_pieces(pretoken, self.cut) && (pretoken.len() > LONGEST || self.is_rare(pretoken))
    }

    #[inline]
    fn visit(&mut self, start: usize, ends: &[usize]) -> Result<()> {
        let group = Group { are_split: true, ..Group::new(self.text, start, ends) };
        if self.context.scratch.new_words.words.is_empty() {
            return self.lookup.look_up(group, self.context, self.ids);
        }
        let before = self.ids.len();
        self.lookup.look_up_with::<true>(group, self.context, self.ids)?;
        self.store(group, before);
        Ok(())
    }
}

impl WideGroup<'_, '_> {
    /// Whether a word is not stored yet.
    // Not inlined: few words of most texts are asked for, and the loop over all is short without it.
    #[inline(never)]
    fn is_rare(&mut self, word: TextSlice<'_>) -> bool {
        let Scratch { table, new_words, .. } = &mut *self.context.scratch;
        let (sight, key) = table.see(word);
        if sight == Sight::Second {
            new_words.words.push((word.start, word.end, key));
        }
        new_words.asked += 1;
        new_words.new += usize::from(sight != Sight::Later);
        sight != Sight::Later
    }

    /// Stores the words of a group of pieces, whose ids begin at `before`. One that the group has only a part of is
    /// left out.
    fn store(&mut self, group: Group<'_>, before: usize) {
        let Scratch { table, new_words, misses, missed_ids, .. } = &mut *self.context.scratch;
        let NewWords { words, counts, .. } = &mut **new_words;
        let (mut number, mut miss, mut inserted) = (0, 0, 0);
        // Where the ids of a piece end: those of the misses were inserted.
        let mut ids_end = |number: usize| {
            while miss < misses.len() && misses.number(miss) <= number {
                inserted += missed_ids.of(miss).len();
                miss += 1;
            }
            before + counts[number] as usize + inserted
        };
        for (start, end, key) in words.drain(..) {
            // The pieces of the word, unless it has only one, or begins in the group before or ends in the next.
            let first = number + count_below(&group.ends[number..], start + 1);
            let last = first + count_below(&group.ends[first..], end);
            number = last;
            if first == last || last == group.ends.len() || group.pretoken(first).start != start {
                continue;
            }
            let ids_start = if first == 0 { before } else { ids_end(first - 1) };
            let ids = &self.ids[ids_start..ids_end(last)];
            let word = TextSlice { text: group.text, start, end };
            // It may be in the table since before the words that were seen were forgotten.
            table.put(key, word, ids, self.lookup.tokens());
        }
    }
}

/// How many of these ascending numbers are below another one; few are.
#[inline]
fn count_below(ends: &[usize], place: usize) -> usize {
    ends.iter().take_while(|&&end| end < place).count()
}
