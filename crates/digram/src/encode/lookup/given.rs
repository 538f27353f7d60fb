//! Words of a text as it was given, before it is normalized, and their ids.

use super::super::kernels::Kernel;
use super::super::text_slice::TextSlice;
use super::super::{Context, Scratch};
use super::group::Group;
use super::table::{LONGEST, Owner};
use super::{Lookup, MissedIds, Misses};
use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

/// The longest word that is looked up, in bytes.
pub(in crate::encode) const LONGEST_GIVEN: usize = LONGEST;

/// The number of words whose ids are computed together: most of those that are new several times in a group are not
/// computed twice.
const TOGETHER: usize = 128;

/// Those of a group that the table does not contain; others are looked up while their ids are computed.
pub(in crate::encode) struct GivenMisses {
    misses: Box<Misses>,
    ids: MissedIds,
    /// The misses whose ids are computed together.
    new: Vec<usize>,
    /// The ends of their ids.
    ends: Vec<usize>,
}

impl GivenMisses {
    pub(in crate::encode) fn new() -> GivenMisses {
        let (ids, new, ends) = (MissedIds::default(), Vec::new(), Vec::new());
        GivenMisses { misses: Box::new(Misses::new()), ids, new, ends }
    }

    /// Frees a list of a larger capacity than `keep`.
    pub(in crate::encode) fn trim(&mut self, keep: usize) {
        self.ids.trim(keep);
    }
}

/// Computes the ids of words.
pub(crate) trait EncodeWords {
    /// Appends the ids of words of a text that start and end there, and to `ends` the number of all ids up to the end
    /// of each.
    fn encode(
        &mut self,
        words: &[[usize; 2]],
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()>;
}

impl Lookup {
    /// Appends the ids of a group of given words of up to [`LONGEST_GIVEN`] bytes; `new` computes those of words that
    /// the table does not contain.
    pub(super) fn look_up_given(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
        new: &mut impl EncodeWords,
    ) -> Result<()> {
        let before = ids.len();
        self.find::<false>(group, Owner::Given, None, context.scratch, ids)?;
        if context.scratch.misses.len() == 0 {
            return Ok(());
        }
        self.encode_given_misses(group, context, new)?;
        let GivenMisses { misses, ids: new, .. } = &context.scratch.given_misses;
        let found = ids.len() - before;
        memory::try_reserve(ids, new.len())?;
        // SAFETY: there is memory for these ids behind those that were found.
        unsafe {
            let all = new.insert_into(ids.as_mut_ptr().add(before), found, misses);
            ids.set_len(before + all);
        }
        Ok(())
    }

    /// Whether pretokens of new words are encoded without the table: they are not stored, and few are tokens.
    pub(in crate::encode) fn encodes_new_alone(&self) -> bool {
        matches!(self.kernel, Kernel::Viterbi(_) | Kernel::WordPiece(_) | Kernel::WordLevel(_))
    }

    /// Appends the ids of a group of such pretokens, and to `ends` the number of all ids before the first pretoken that
    /// starts at or behind each of `bounds`, which are taken.
    pub(in crate::encode) fn encode_alone_each(
        &self,
        group: Group<'_>,
        bounds: &mut &[usize],
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let mut pass = |start: usize, ids: &Vec<TokenId>| {
            while let [bound, rest @ ..] = *bounds
                && *bound <= start
            {
                ends.push(ids.len());
                *bounds = rest;
            }
        };
        let encode = |pretoken: TextSlice<'_>, context: &mut Context<'_>, ids: &mut Vec<TokenId>| {
            let TextSlice { text, start, end } = pretoken;
            match pretoken.len() <= LONGEST && self.parts_with_sums(pretoken.len()).is_none() {
                true => self.kernel.encode(pretoken, context, ids),
                false => self.encode(Group::new(text, start, &[end]), context, ids),
            }
        };
        if let Kernel::Viterbi(viterbi) = &self.kernel {
            let text = |number: usize| group.pretoken(number).bytes();
            let visit = |number: usize, ids: &mut Vec<TokenId>| pass(group.pretoken(number).start, ids);
            let encode = |number: usize, context: &mut Context<'_>, ids: &mut Vec<TokenId>| {
                encode(group.pretoken(number), context, ids)
            };
            return viterbi.encode_many(group.ends.len(), text, context, ids, visit, encode);
        }
        for pretoken in group.pretokens() {
            pass(pretoken.start, ids);
            encode(pretoken, context, ids)?;
        }
        Ok(())
    }

    /// Computes the ids of the misses of a group.
    fn encode_given_misses(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        encode: &mut impl EncodeWords,
    ) -> Result<()> {
        let Scratch { misses, given_misses, .. } = &mut *context.scratch;
        let count = misses.len();
        std::mem::swap(misses, &mut given_misses.misses);
        given_misses.ids.reset(count);
        let (mut miss, mut words) = (0, Vec::new());
        let (mut new, mut ends) =
            (std::mem::take(&mut given_misses.new), std::mem::take(&mut given_misses.ends));
        while miss < count {
            let Scratch { table, given_misses: GivenMisses { misses, ids, .. }, .. } = &mut *context.scratch;
            new.clear();
            words.clear();
            ends.clear();
            while miss < count && new.len() < TOGETHER {
                let word = group.pretoken(misses.number(miss));
                // It may have been added for an earlier miss, or be in a line that was not read.
                match table.get_missed(misses.key(miss), word) {
                    Some(found) => ids.set(miss, found.as_slice().iter().copied()),
                    None => {
                        new.push(miss);
                        words.push([word.start, word.end]);
                    }
                }
                miss += 1;
            }
            context.with_list(|context, ids| {
                encode.encode(&words, context.scratch, ids, &mut ends)?;
                let Scratch { table, given_misses, .. } = &mut *context.scratch;
                let mut start = 0;
                for (&miss, &end) in new.iter().zip(&ends) {
                    let ids = &ids[std::mem::replace(&mut start, end)..end];
                    let (key, word) =
                        (given_misses.misses.key(miss), group.pretoken(given_misses.misses.number(miss)));
                    // There is memory for as many ids as a word has bytes when it is looked up.
                    if ids.len() <= word.len() {
                        table.put(key, word, ids, self.tokens());
                    }
                    given_misses.ids.set(miss, ids.iter().copied());
                }
                Ok(())
            })?;
        }
        (context.scratch.given_misses.new, context.scratch.given_misses.ends) = (new, ends);
        Ok(())
    }
}
