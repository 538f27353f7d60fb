//! Counting the ids of a text that grows at its end, encoding only the last part anew.
//!
//! Text far enough before the end is not encoded again. In most text, pretokens that no further text can
//! change are settled. In one open pretoken nothing is settled, but two facts decide whether the ids before a
//! position in it are still valid (`docs/algorithm.md`). Valid encodings that share a token join to a valid
//! one, so the ids stay valid as long as the text from that token on, encoded alone, begins with that
//! token. And a match that begins there ends where the long one ends, once both were in the same state at
//! the same position.

use std::ops::ControlFlow;

use super::Tokenizer;
use crate::encode::Scratch;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pretokenize::GoesOn;
use crate::utf8::{complete, is_inside};
use crate::vocabulary::TokenId;

/// The approximate number of bytes encoded anew at each count; more if tokens are long.
const MIN_TAIL: usize = 256;

/// Matches that converge do so within this many bytes: eight characters.
const CONVERGENCE_BYTES: usize = 32;

/// The number of tokens tried as a new start.
const MAX_ATTEMPTS: usize = 8;

/// The position from which a text is encoded anew.
#[derive(Debug)]
pub(super) struct Tail {
    start: usize,
    /// The number of ids before it.
    ids_before: usize,
    /// The token that begins there inside a pretoken; `None` if a pretoken is certain to begin there.
    first: Option<TokenId>,
    /// A later position is searched for when this many bytes follow.
    threshold: usize,
}

impl Default for Tail {
    fn default() -> Tail {
        Tail { start: 0, ids_before: 0, first: None, threshold: MIN_TAIL }
    }
}

impl Tail {
    /// The part of a text that the next count encodes.
    pub(super) fn rest_of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..]
    }

    /// The number of ids of a text in which special tokens are plain text, and which begins with the text of the
    /// previous call. All of it is encoded anew if text is changed before it is split.
    pub(super) fn count(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        if tokenizer.normalizer.is_some() || !tokenizer.always.is_empty() {
            return tokenizer.count_ordinary(text, scratch, interrupt);
        }
        loop {
            let rest = self.rest_of(text);
            let mut ids = Vec::new();
            tokenizer
                .each_ordinary(rest, 0, GoesOn::No, scratch, interrupt, &mut ids)
                .map_err(|error| error.shifted(self.start))?;
            let is_valid = match self.first {
                None => true,
                Some(first) => ids.first() == Some(&first) && is_open(tokenizer, rest, interrupt)?,
            };
            if is_valid {
                let count = self.ids_before + ids.len();
                if rest.len() >= self.threshold {
                    self.advance(tokenizer, rest, &ids, interrupt)?;
                }
                return Ok(count);
            }
            *self = Tail::default();
        }
    }

    /// Moves to a later position, if there is one in the text that was just encoded.
    fn advance(
        &mut self,
        tokenizer: &Tokenizer,
        rest: &[u8],
        ids: &[TokenId],
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let mut lengths = tokenizer.ordinary_lengths(rest, ids, interrupt)?;
        let mut end = 0;
        let ends = ids.iter().map(|&id| {
            end += lengths.at(rest, end, id);
            end
        });
        let ends: Vec<usize> = ends.collect();
        let settled = settled_end(tokenizer, rest, &ends, interrupt)?;
        let settled_ids = ends.partition_point(|&end| end <= settled);
        let (mut start, mut ids_before) = (settled, settled_ids);
        let mut first = self.first.filter(|_| settled == 0);
        if rest.len() - settled >= MIN_TAIL
            && let Some(end) =
                start_in_pretoken(tokenizer, &rest[settled..], settled, &ends[settled_ids..], interrupt)?
        {
            start = end;
            ids_before = ends.partition_point(|&end| end <= start);
            first = Some(ids[ids_before]);
        }
        self.start += start;
        self.ids_before += ids_before;
        self.first = first;
        // Less than double: the new position is before the middle, so doubling would let the encoded part
        // grow a little each time.
        self.threshold = MIN_TAIL.max((rest.len() - start) / 2 * 3);
        Ok(())
    }
}

/// The last position where a pretoken begins, however the text continues, and as it would if the text began
/// there; or such a position near the middle; or 0.
fn settled_end(
    tokenizer: &Tokenizer,
    text: &[u8],
    tokens: &[usize],
    interrupt: &dyn Interrupt,
) -> Result<usize> {
    let pretokenizer = &tokenizer.pretokenizer;
    if pretokenizer.may_begin_at_pretokens() {
        return pretokenizer.for_many(text, 0, GoesOn::Maybe, interrupt, |_, _| Ok(()));
    }
    // Later stages see the pieces of the first one separately.
    if tokenizer.pretokenizer.looks_behind() {
        return Ok(pretokenizer.last_border_so_far(text, 0).unwrap_or(0));
    }
    let half = tokens.partition_point(|&end| end <= text.len() / 2);
    for &end in tokens[..half].iter().rev().take(MAX_ATTEMPTS) {
        if pretokenizer.ends_for_certain(text, 0, end, interrupt)? {
            return Ok(end);
        }
    }
    Ok(0)
}

/// A position in the first half of an open pretoken where a token begins and a text could begin, as long as
/// the pretoken stays open. `tokens` are the ends of its tokens, counted from `offset` bytes before.
fn start_in_pretoken(
    tokenizer: &Tokenizer,
    pretoken: &[u8],
    offset: usize,
    tokens: &[usize],
    interrupt: &dyn Interrupt,
) -> Result<Option<usize>> {
    if !tokenizer.encoder.is_by_rank() || !is_open(tokenizer, pretoken, interrupt)? {
        return Ok(None);
    }
    // A pretoken that is a token contrary to its merges is not longer than the longest token. And if `pretoken`
    // begins inside a longer one, it must have converged with that one earlier.
    let max_whole_token = if tokenizer.encoder.slices_are_valid() { 0 } else { tokenizer.max_bytes };
    let minimum = CONVERGENCE_BYTES.max(max_whole_token);
    // Nothing is known about an incomplete character.
    let Some(convergent) = complete(pretoken).checked_sub(CONVERGENCE_BYTES) else { return Ok(None) };
    let maximum = convergent.min(pretoken.len() / 2);
    let suffixes = tokenizer.pretokenizer.suffixes(pretoken, interrupt)?;
    let count = tokens.partition_point(|&end| end - offset <= maximum);
    let mut candidates = tokens[..count].iter().rev().take(MAX_ATTEMPTS);
    let start = candidates.find(|&&end| {
        let position = end - offset;
        position >= minimum && !is_inside(pretoken[position]) && suffixes.is_regular(pretoken, position)
    });
    Ok(start.copied())
}

/// Whether a text is one pretoken: a match that would end there in any text that ends there, or characters
/// with which no match begins.
fn is_open(tokenizer: &Tokenizer, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
    let visit = |_, ends: &[usize]| match ends.first() {
        Some(&end) => ControlFlow::Break(Ok(end)),
        None => interrupt.check().map_or_else(|error| ControlFlow::Break(Err(error)), ControlFlow::Continue),
    };
    let first = tokenizer.pretokenizer.try_for_many(text, 0, GoesOn::No, visit);
    let is_single = first.break_value().transpose()? == Some(text.len());
    Ok(is_single && tokenizer.pretokenizer.whole_prefixes(text, 0, interrupt)?[text.len()])
}
