//! Words of a text as it was given, before it is normalized, and their ids.

use super::super::{Context, Scratch};
use super::group::Group;
use super::table::{LONGEST, Owner};
use super::{Lookup, MissedIds, Misses};
use crate::error::{Error, Result};
use crate::memory;
use crate::vocabulary::TokenId;

/// The longest word that is looked up, in bytes.
pub(in crate::encode) const LONGEST_GIVEN: usize = LONGEST;

/// Those of a group that the table does not contain; others are looked up while their ids are computed.
pub(in crate::encode) struct GivenMisses {
    misses: Box<Misses>,
    ids: MissedIds,
}

impl GivenMisses {
    pub(in crate::encode) fn new() -> GivenMisses {
        GivenMisses { misses: Box::new(Misses::new()), ids: MissedIds::default() }
    }

    /// Frees a list of a larger capacity than `keep`.
    pub(in crate::encode) fn trim(&mut self, keep: usize) {
        self.ids.trim(keep);
    }
}

impl Lookup {
    /// Appends the ids of a group of given words of up to [`LONGEST_GIVEN`] bytes; `encode_new` appends those of one
    /// that the table does not contain.
    pub(super) fn look_up_given(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
        encode_new: &mut impl FnMut(&mut Scratch, &[u8], &mut Vec<TokenId>) -> Result<()>,
    ) -> Result<()> {
        let before = ids.len();
        self.find::<false>(group, Owner::Given, None, context.scratch, ids)?;
        let count = context.scratch.misses.len();
        if count == 0 {
            return Ok(());
        }
        let Scratch { misses, given_misses, .. } = &mut *context.scratch;
        std::mem::swap(misses, &mut given_misses.misses);
        given_misses.ids.reset(count);
        for miss in 0..count {
            let Scratch { table, given_misses, .. } = &mut *context.scratch;
            let (key, word) =
                (given_misses.misses.key(miss), group.pretoken(given_misses.misses.number(miss)));
            // It may have been added for an earlier miss, or be in a line that was not read.
            if let Some(found) = table.get_missed(key, word) {
                given_misses.ids.set(miss, found.as_slice().iter().copied());
                continue;
            }
            let encoded = context.with_list(|context, new| {
                encode_new(context.scratch, word.bytes(), new)?;
                let Scratch { table, given_misses, .. } = &mut *context.scratch;
                // There is memory for as many ids as a word has bytes when it is looked up.
                if new.len() <= word.len() {
                    table.put(key, word, new, self.tokens());
                }
                given_misses.ids.set(miss, new.iter().copied());
                Ok(())
            });
            encoded.map_err(|error: Error| error.shifted(word.start))?;
        }
        let GivenMisses { misses, ids: new } = &context.scratch.given_misses;
        let found = ids.len() - before;
        memory::try_reserve(ids, new.len())?;
        // SAFETY: there is memory for these ids behind those that were found.
        unsafe {
            let all = new.insert_into(ids.as_mut_ptr().add(before), found, misses);
            ids.set_len(before + all);
        }
        Ok(())
    }
}
