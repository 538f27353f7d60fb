//! Encoding with BPE-dropout.

use std::ops::Range;

use super::Tokenizer;
use super::batch::without_index;
use super::encoding::push_added;
use super::working::Working;
use crate::added_tokens::{AddedMatch, OnSpecial};
use crate::encode::{Dropout, DropoutChoices, DropoutScratch};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::parallel::{ItemResult, items_in_parallel, task_ranges};
use crate::pretokenize::{ALONE_BYTES, GoesOn};
use crate::text::{AsText, Utf8Converter};
use crate::vocabulary::TokenId;

/// The random choices for a text, and buffers.
///
/// The parts of a text that are encoded in sequence with one value have the ids of their concatenation as
/// one text.
pub struct WithDropout {
    choices: DropoutChoices,
    scratch: DropoutScratch,
}

impl WithDropout {
    /// The choices for a single text.
    pub fn new(dropout: &Dropout) -> WithDropout {
        WithDropout::of(dropout, 0)
    }

    /// The choices for text number `text` of a batch.
    pub fn of(dropout: &Dropout, text: usize) -> WithDropout {
        WithDropout { choices: dropout.choices(text), scratch: DropoutScratch::default() }
    }
}

impl Tokenizer {
    /// Encodes `text` with random merges omitted and appends the ids to `ids`; terms and units of rules stay
    /// whole. A probability of 0 omits none, and gives the ids of [`Tokenizer::encode`] unless that
    /// ignores merges.
    ///
    /// Takes O(n log n / (1 − probability)) time for n bytes of text.
    pub fn encode_with_dropout(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        dropout: &mut WithDropout,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let previous_len = ids.len();
        self.all_with_dropout(text, special, dropout, interrupt, ids)
            .inspect_err(|_| ids.truncate(previous_len))
    }

    /// Encodes several texts with random merges omitted, on up to `threads` threads. Returns all ids in one list,
    /// and the offsets of the texts in it: a zero, then the end of each text.
    ///
    /// Text *i* has the ids that it has alone with *i* added to the seed, modulo 2^64. An error names the
    /// text by its index.
    pub fn encode_batch_with_dropout<T: AsText + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        dropout: &Dropout,
        threads: usize,
        interrupt: &dyn Interrupt,
    ) -> ItemResult<(Vec<TokenId>, Vec<u64>)> {
        let bytes: usize = texts.iter().map(|text| text.as_text().len_hint()).sum();
        // Merging without look-ups takes about four times as long.
        let threads = if bytes < ALONE_BYTES / 4 { 1 } else { threads };
        let shares = task_ranges(texts.len(), threads);
        let parts = items_in_parallel(
            threads,
            shares.len(),
            interrupt,
            |_| Ok(Utf8Converter::new()),
            |converter, task, interrupt| {
                let (mut ids, mut ends) = (Vec::new(), Vec::new());
                let mut pacer = Pacer::new(interrupt);
                memory::try_reserve(&mut ends, shares[task].len()).map_err(without_index)?;
                for index in shares[task].clone() {
                    let mut choices = WithDropout::of(dropout, index);
                    let mut encode = || {
                        let text = converter.utf8(texts[index].as_text(), interrupt)?;
                        self.all_with_dropout(text, special, &mut choices, interrupt, &mut ids)?;
                        pacer.after_text(text.len())
                    };
                    encode().map_err(|error| (index, error))?;
                    ends.push(ids.len() as u64);
                }
                Ok((ids, ends))
            },
        )?;
        let (mut offsets, mut previous_ids) = (Vec::new(), 0);
        memory::try_reserve(&mut offsets, texts.len() + 1).map_err(without_index)?;
        offsets.push(0);
        for (ids, ends) in &parts {
            offsets.extend(ends.iter().map(|end| previous_ids + end));
            previous_ids += ids.len() as u64;
        }
        Ok((joined(parts).map_err(without_index)?, offsets))
    }

    fn all_with_dropout(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        dropout: &mut WithDropout,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let working = self.working(text, special, false, interrupt)?;
        let mut emit = || {
            let (text, mut offset, mut pacer) = (working.text(), 0, Pacer::new(interrupt));
            for AddedMatch { range, token } in working.added_tokens() {
                pacer.after_text(range.end.saturating_sub(offset))?;
                if offset < range.start {
                    self.each_with_dropout(&working, offset..range.start, dropout, interrupt, ids)?;
                }
                push_added(special, token, range.start, ids)?;
                offset = range.end;
            }
            self.each_with_dropout(&working, offset..text.len(), dropout, interrupt, ids)
        };
        emit().map_err(|error| self.in_given(error, text, special, interrupt))
    }

    fn each_with_dropout(
        &self,
        working: &Working<'_>,
        part: Range<usize>,
        WithDropout { choices, scratch }: &mut WithDropout,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let mut each = |text: &[u8], mut start: usize, ends: &[usize]| {
            ends.iter().try_for_each(|&end| {
                let pretoken_start = std::mem::replace(&mut start, end);
                let pretoken = &text[pretoken_start..end];
                memory::try_reserve(ids, pretoken.len())?;
                if self.pretokenizer.protects(pretoken)
                    && let Some(id) = self.encoder.whole(pretoken)
                {
                    ids.push(id);
                    return Ok(());
                }
                let encoded = self.encoder.encode_with_dropout(pretoken, choices, scratch, interrupt, ids);
                encoded.map_err(|error| error.shifted(pretoken_start))
            })
        };
        let text = working.text();
        if let Some(ends) = working.word_ends(&part) {
            return self.for_words(text, part.start, ends, interrupt, |start, ends| each(text, start, ends));
        }
        let text = &text[part.clone()];
        let encoded =
            self.pretokenizer.for_many(text, 0, GoesOn::No, interrupt, |start, ends| each(text, start, ends));
        encoded.map(|_| ()).map_err(|error| error.shifted(part.start))
    }
}

/// The ids of all tasks in one list; not copied if there is only one task.
fn joined<E>(mut outputs: Vec<(Vec<TokenId>, E)>) -> Result<Vec<TokenId>> {
    if outputs.len() == 1 {
        return Ok(outputs.pop().expect("one task").0);
    }
    let mut ids = Vec::new();
    memory::try_reserve(&mut ids, outputs.iter().map(|(ids, _)| ids.len()).sum())?;
    outputs.into_iter().for_each(|(part, _)| ids.extend(part));
    Ok(ids)
}
