//! Long pretokens of models that add scores, in parts.
//!
//! A text without pretokens is one sum of scores, and the ids of a part of it depend on the sum before it, but only if
//! two segmentations are about as good. The ids of most parts are certain, and are cached. The sum is computed from
//! them, in the order of the text, because a part that is not certain begins with it.
//!
//! The pieces of new parts are found together. docs/speed.md says why, and lists what did not make them faster.

use super::super::kernels::certain::LONGEST;
use super::super::kernels::viterbi::{Endings, Memory, Progress, TEXTS, Viterbi, with_offset};
use super::super::safe_splits::SafeSplits;
use super::super::text_slice::TextSlice;
use super::super::{Context, Scratch, Sink};
use super::group::GROUP;
use super::misses::push_range;
use super::table::{AHEAD, Owner, Table};
use super::{Group, LONG, Lookup, with_list_of};
use crate::error::{Error, Result};
use crate::interrupt::Pacer;
use crate::vocabulary::{TokenId, Vocabulary};

/// Shorter pretokens are looked up whole, in bytes.
const SHORTEST: usize = 48;

/// A group of up to this many parts is encoded without the table if its sums are too large. A larger one is halved.
const FEW: usize = 4;

/// The number of tokens that are stored together, so that memory is waited for once.
const TOGETHER: usize = 32;

/// How long pretokens are encoded.
pub(in crate::encode) struct Sums {
    /// The places that no token spans.
    pub(in crate::encode) splits: SafeSplits,
    /// The tokens that a part is if it has their bytes, in every text.
    pub(in crate::encode) tokens: Box<[TokenId]>,
}

impl Lookup {
    /// Prepares for texts of this many bytes together. A table that has a line for each token gets those that are certain.
    pub(super) fn expect_parts(&self, sums: &Sums, bytes: usize, vocabulary: &Vocabulary, table: &mut Table) {
        if !table.start_for_parts(bytes, self.tokens()) || table.line_count() < sums.tokens.len() {
            return;
        }
        for ids in sums.tokens.chunks(TOGETHER) {
            let mut keys = [0; TOGETHER];
            let token = |id: TokenId| TextSlice::all(vocabulary.get(id).unwrap_or_default());
            keys.iter_mut().zip(ids).for_each(|(key, &id)| *key = table.key_ahead(Owner::Piece, token(id)));
            keys.iter().zip(ids).for_each(|(&key, &id)| table.put(key, token(id), &[id], None));
        }
    }

    /// The kernel and the places at which this pretoken can be divided, if it is encoded in parts.
    #[inline]
    pub(super) fn parts_with_sums(&self, len: usize) -> Option<(&Viterbi, &SafeSplits)> {
        let sums = self.sums.as_ref().filter(|_| len >= SHORTEST)?;
        let viterbi = self.kernel.adds_scores()?;
        viterbi.may_be_certain(len).then_some((viterbi, &sums.splits))
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
        let few = std::mem::take(&mut context.scratch.viterbi.short.few);
        let mut parts = Parts { lookup: self, viterbi, progress: Progress::default(), memory: few };
        let mut pacer = Pacer::new(context.interrupt);
        let encoded = splits.each_group(text, start, &[end], &mut |start: usize, ends: &[usize]| {
            let group = Group::new(text, start, ends);
            pacer.after(group.len())?;
            let count = if group.len() <= LONG { GROUP } else { AHEAD };
            group.parts(count).try_for_each(|group| match group.len() {
                ..=LONG => with_list_of(sink, context, |context, ids| parts.encode(group, context, ids)),
                _ => parts.encode_exactly(group, context, sink),
            })
        });
        context.scratch.viterbi.short.few = parts.memory;
        encoded.map_err(|error| match error {
            Error::InvalidUtf8 { .. } => with_offset(error, pretoken.bytes()).shifted(start),
            error => error,
        })
    }
}

/// The parts of a pretoken, which are encoded one after the other.
struct Parts<'a> {
    lookup: &'a Lookup,
    viterbi: &'a Viterbi,
    /// The sum of those before.
    progress: Progress,
    memory: Memory,
}

impl Parts<'_> {
    /// Appends the ids of some parts.
    fn encode(&mut self, group: Group<'_>, context: &mut Context<'_>, ids: &mut Vec<TokenId>) -> Result<()> {
        let (before, progress_before) = (ids.len(), self.progress);
        let are_added = context.with_list(|context, found| {
            self.lookup.find::<false>(group, Owner::Piece, None, context.scratch, found)?;
            self.append(group, found, context, ids)
        })?;
        if are_added {
            return Ok(());
        }
        ids.truncate(before);
        self.progress = progress_before;
        if group.ends.len() <= FEW {
            return self.encode_exactly(group, context, ids);
        }
        // Only the parts around the place where the sum is set to zero need this.
        let (left, right) = group.halves();
        self.encode(left, context, ids)?;
        self.encode(right, context, ids)
    }

    /// Appends the ids of some parts, of which the table contains those of the `found` ids, and adds their scores. False
    /// if the sums became too large for parts that are certain.
    fn append(
        &mut self,
        group: Group<'_>,
        found: &[TokenId],
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<bool> {
        let Parts { viterbi, progress, memory, .. } = self;
        let count = context.scratch.misses.len();
        let (mut inserted, mut added, mut end) = (0, ids.len(), 0);
        while end < count {
            let (first, endings) = (end, memory.empty()?);
            let new = NewParts::find(viterbi, group, first, endings, context.scratch);
            let mut texts = new.misses().iter().enumerate().peekable();
            end = new.end;
            for miss in first..end {
                let Scratch { misses, table, viterbi: memory, .. } = &mut *context.scratch;
                let until = misses.ids_before()[miss] as usize;
                push_range(ids, found, std::mem::replace(&mut inserted, until)..until)?;
                let (key, part) = (misses.key(miss), group.pretoken(misses.number(miss)));
                let text = texts.next_if(|(_, other)| **other == miss).map(|(text, _)| text);
                match text {
                    Some(text) if part.len() <= LONGEST => {
                        if let Some(certain) = viterbi.certain_ids(text, endings, &mut memory.certain) {
                            push_range(ids, certain, 0..certain.len())?;
                            table.put(key, part, certain, None);
                            continue;
                        }
                    }
                    Some(_) => {}
                    // It was known when the others were found.
                    None => {
                        if let Some(known) = table.get_missed(key, part) {
                            push_range(ids, known.as_slice(), 0..known.as_slice().len())?;
                            continue;
                        }
                    }
                }
                if !viterbi.add(&ids[added..], progress) {
                    return Ok(false);
                }
                let text = text.map(|text| (text, &mut *endings));
                encode_exactly(viterbi, part, text, progress, context, ids)?;
                added = ids.len();
            }
        }
        push_range(ids, found, inserted..found.len())?;
        Ok(viterbi.add(&ids[added..], progress))
    }

    /// Emits the ids of parts as they are beside each other, whatever the sums are.
    fn encode_exactly(
        &mut self,
        group: Group<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Parts { viterbi, progress, memory, .. } = self;
        let text = |number: usize| group.pretoken(number).bytes();
        viterbi.each_text(group.ends.len(), text, memory, |number, found| {
            encode_exactly(viterbi, group.pretoken(number), found, progress, context, sink)
        })
    }
}

/// The parts of some misses of a group whose pieces are found together.
struct NewParts {
    misses: [usize; TEXTS],
    count: usize,
    /// The miss behind them all.
    end: usize,
}

impl NewParts {
    /// Finds the pieces of parts from the `first` miss on that the table does not have, as many as there is space for.
    fn find(
        viterbi: &Viterbi,
        group: Group<'_>,
        first: usize,
        endings: &mut Endings,
        scratch: &mut Scratch,
    ) -> NewParts {
        let Scratch { misses, table, .. } = scratch;
        let mut new = NewParts { misses: [0; TEXTS], count: 0, end: first };
        while new.end < misses.len() {
            let (miss, part) = (new.end, group.pretoken(misses.number(new.end)));
            // It may have been added for an earlier miss, or be in a line that was not read.
            if table.get_missed(misses.key(miss), part).is_none() {
                if viterbi.push(part.bytes(), endings) {
                    new.misses[new.count] = miss;
                    new.count += 1;
                } else if new.count > 0 {
                    break;
                }
            }
            new.end += 1;
        }
        viterbi.find(endings);
        new
    }

    fn misses(&self) -> &[usize] {
        &self.misses[..self.count]
    }
}

/// Emits the ids of a part; `found` if its pieces were found.
fn encode_exactly(
    viterbi: &Viterbi,
    part: TextSlice<'_>,
    found: Option<(usize, &mut Endings)>,
    progress: &mut Progress,
    context: &mut Context<'_>,
    sink: &mut impl Sink,
) -> Result<()> {
    if let Some(found) = found
        && viterbi.encode_found(part.bytes(), found, progress, context, sink)?
    {
        return Ok(());
    }
    let encoded = viterbi.encode_part(part.bytes(), progress, context, sink);
    encoded.map_err(|error| error.shifted(part.start))
}
