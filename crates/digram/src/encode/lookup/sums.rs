//! Long pretokens of models that add scores, in parts.
//!
//! A text without pretokens is one sum of scores, and the ids of a part of it depend on the sum before it, but only if
//! two segmentations are about as good. The ids of most parts are certain, and are cached. The sum is computed from
//! them, in the order of the text, because a part that is not certain begins with it.
//!
//! The new parts take almost half of the time of a first pass over many languages. docs/speed.md says why, and lists what
//! did not make them faster.

use super::super::kernels::viterbi::{Progress, Viterbi, with_offset};
use super::super::safe_splits::SafeSplits;
use super::super::text_slice::TextSlice;
use super::super::{Context, Sink};
use super::group::insert_missed;
use super::table::Owner;
use super::{Group, LONG, Lookup, with_list_of};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::vocabulary::TokenId;

/// Shorter pretokens are looked up whole, in bytes.
const SHORTEST: usize = 48;

/// A group of up to this many parts is encoded without the table if its sums are too large. A larger one is halved.
const FEW: usize = 4;

impl Lookup {
    /// The kernel and the places at which this pretoken can be divided, if it is encoded in parts.
    #[inline]
    pub(super) fn parts_with_sums(&self, len: usize) -> Option<(&Viterbi, &SafeSplits)> {
        let splits = self.sum_splits.as_ref().filter(|_| len >= SHORTEST)?;
        let viterbi = self.kernel.adds_scores()?;
        viterbi.may_be_certain(len).then_some((viterbi, splits))
    }

    /// Emits the ids of a group of pretokens, the long ones in parts.
    pub(super) fn encode_with_sums(
        &self,
        group: Group<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut first = 0;
        for (number, pretoken) in group.pretokens().enumerate() {
            let Some((viterbi, splits)) = self.parts_with_sums(pretoken.len()) else { continue };
            if first < number {
                self.encode_whole(group.between(first..number), context, sink)?;
            }
            first = number + 1;
            self.encode_pretoken(viterbi, splits, pretoken, context, sink)?;
        }
        match group.ends.len() {
            end if first < end => self.encode_whole(group.between(first..end), context, sink),
            _ => Ok(()),
        }
    }

    /// Emits the ids of a pretoken in parts.
    fn encode_pretoken(
        &self,
        viterbi: &Viterbi,
        splits: &SafeSplits,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        // The table has only parts that are UTF-8, and the kernel reads the others.
        let TextSlice { text, start, end } = pretoken;
        let (mut progress, mut pacer) = (Progress::default(), Pacer::new(context.interrupt));
        let encoded = splits.each_group(text, start, &[end], &mut |start: usize, ends: &[usize]| {
            let group = Group::new(text, start, ends);
            pacer.after(group.len())?;
            match group.len() {
                ..=LONG => with_list_of(sink, context, |context, ids| {
                    self.encode_parts(viterbi, group, &mut progress, context, ids)
                }),
                _ => encode_exactly(viterbi, group, &mut progress, context, sink),
            }
        });
        encoded.map_err(|error| match error {
            Error::InvalidUtf8 { .. } => with_offset(error, pretoken.bytes()).shifted(start),
            error => error,
        })
    }

    /// Appends the ids of some parts.
    fn encode_parts(
        &self,
        viterbi: &Viterbi,
        group: Group<'_>,
        progress: &mut Progress,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (before, progress_before) = (ids.len(), *progress);
        self.find::<false>(group, Owner::Piece, None, context.scratch, ids)?;
        if self.add_parts(viterbi, group, before, progress, context, ids)? {
            return Ok(());
        }
        ids.truncate(before);
        *progress = progress_before;
        if group.ends.len() <= FEW {
            return encode_exactly(viterbi, group, progress, context, ids);
        }
        // Only the parts around the place where the sum is set to zero need this.
        let (left, right) = group.halves();
        self.encode_parts(viterbi, left, progress, context, ids)?;
        self.encode_parts(viterbi, right, progress, context, ids)
    }

    /// Adds the scores of parts, of which those that the table contains have their ids from `before` on, and inserts
    /// the ids of the others. False if the sums became too large for parts that are certain.
    fn add_parts(
        &self,
        viterbi: &Viterbi,
        group: Group<'_>,
        before: usize,
        progress: &mut Progress,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<bool> {
        let count = context.scratch.misses.len();
        let mut missed = std::mem::take(&mut context.scratch.missed_ids);
        missed.reset(count);
        let mut added = before;
        for miss in 0..count {
            let until = before + context.scratch.misses.ids_before()[miss] as usize;
            if !viterbi.add(&ids[std::mem::replace(&mut added, until)..until], progress) {
                return Ok(false);
            }
            let part = group.pretoken(context.scratch.misses.number(miss));
            let is_small =
                missed.append(miss, |new| self.encode_new_part(viterbi, part, miss, progress, context, new));
            if !is_small.map_err(|error| error.shifted(part.start))? {
                return Ok(false);
            }
        }
        if !viterbi.add(&ids[added..], progress) {
            return Ok(false);
        }
        context.scratch.missed_ids = missed;
        if count > 0 {
            insert_missed(context.scratch, before, ids);
        }
        Ok(true)
    }

    /// Appends the ids of a part that the table did not contain, and adds their scores; as `add_parts`.
    fn encode_new_part(
        &self,
        viterbi: &Viterbi,
        part: TextSlice<'_>,
        miss: usize,
        progress: &mut Progress,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<bool> {
        let key = context.scratch.misses.key(miss);
        // It may have been added for an earlier miss, or be in a line that was not read.
        if let Some(found) = context.scratch.table.get_missed(key, part) {
            ids.extend_from_slice(found.as_slice());
            return Ok(viterbi.add(found.as_slice(), progress));
        }
        let before = ids.len();
        if let Some(is_small) = viterbi.push_certain(part.bytes(), progress, context, ids)? {
            context.scratch.table.put(key, part, &ids[before..], None);
            return Ok(is_small);
        }
        viterbi.encode_part(part.bytes(), progress, context, ids)?;
        Ok(true)
    }
}

/// Emits the ids of parts as they are beside each other, whatever the sums are.
fn encode_exactly(
    viterbi: &Viterbi,
    group: Group<'_>,
    progress: &mut Progress,
    context: &mut Context<'_>,
    sink: &mut impl Sink,
) -> Result<()> {
    group.pretokens().try_for_each(|part| {
        let encoded = viterbi.encode_part(part.bytes(), progress, context, sink);
        encoded.map_err(|error| error.shifted(part.start))
    })
}
