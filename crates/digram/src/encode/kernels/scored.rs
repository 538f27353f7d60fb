//! Merging by the scores of tokens, as SentencePiece's BPE does.
//!
//! Two neighbours are merged if the joined text is a token. The token with the highest score is made first, and of
//! equal scores the leftmost. There are no pairs with ranks of their own: each way to split a token is a merge, and a
//! part may be a character that has no token. Tokens that are not in use are made like others, and are split again
//! at the end.

use std::collections::BinaryHeap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::algorithm::Scores;
use super::super::build::Ordinary;
use super::super::safe_splits::SafeSplits;
use super::super::symbols::{OnUnknown, Symbols, Unit};
use super::super::{Context, IdCount, Mark, Sink};
use super::check_len;
use super::viterbi::scored_tokens;

/// Merges by scores.
pub(in crate::encode) struct Scored {
    index: TokenIndex,
    /// By id, in an order that is that of the scores.
    order: Vec<u32>,
    unused: HashSet<TokenId>,
    symbols: Arc<Symbols>,
    /// The token for unknown characters, which stands for a run of them.
    marked: HashSet<TokenId>,
}

/// Memory for a call.
#[derive(Default)]
pub(in crate::encode) struct ScoredScratch {
    symbols: Vec<Symbol>,
    candidates: BinaryHeap<Candidate>,
}

/// A symbol: a part of the text. One that was merged into the one before it has the length 0.
#[derive(Clone, Copy)]
struct Symbol {
    start: u32,
    len: u32,
    /// The indices of its neighbours, or [`NOTHING`].
    before: u32,
    after: u32,
}

const NOTHING: u32 = u32::MAX;

/// Tokens that are not in use are split at most this often.
const MAX_DEPTH: usize = 100;

/// More memory is freed after a call.
const KEEP: usize = 1 << 12;

/// Two neighbours that may be merged: first the order of the score, then the index from the right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    key: u64,
    right: u32,
    /// The length of both. They have changed if theirs is another one.
    len: u32,
}

impl Scored {
    pub(in crate::encode) fn new(
        scores: &Scores,
        unused: &[TokenId],
        symbols: Arc<Symbols>,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<Scored> {
        let (mut order, mut tokens) = (vec![0; vocabulary.size()], Vec::new());
        for (id, bytes, score) in scored_tokens(scores, vocabulary, ordinary)? {
            order[id as usize] = ordered(score as f32);
            tokens.push((id, bytes));
        }
        let unused = unused.iter().copied().collect();
        let marked = match symbols.unit() {
            Unit::Char { on_unknown: OnUnknown::Token(id) } => HashSet::from([*id]),
            _ => HashSet::default(),
        };
        Ok(Scored { index: TokenIndex::new(&tokens), order, unused, symbols, marked })
    }

    /// The ids that do not stand for the bytes of their tokens.
    pub(in crate::encode) fn marked(&self) -> &HashSet<TokenId> {
        &self.marked
    }

    /// The places at which a text can be split, if each part has the ids that it has in the text: the splits of tokens
    /// that are not in use may depend on the whole text, and unknown characters next to each other are one token.
    pub(in crate::encode) fn splits(&self, scores: &Scores, vocabulary: &Vocabulary) -> Option<SafeSplits> {
        let emits_bytes = matches!(self.symbols.unit(), Unit::Char { on_unknown: OnUnknown::Bytes { .. } });
        let has_score = |id: TokenId| scores.pieces.get(id as usize).is_some_and(Option::is_some);
        let tokens = vocabulary.iter().filter(|(id, _)| has_score(*id)).map(|(_, bytes)| bytes);
        (emits_bytes && self.unused.is_empty()).then(|| SafeSplits::of_tokens(tokens))
    }

    /// Emits the ids of a piece of text, in near-linear time.
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        self.encode_with(piece, context, None, sink)
    }

    /// Appends the places of the runs of unknown characters in a piece of text.
    pub(in crate::encode) fn marks(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        marks: &mut Vec<Mark>,
    ) -> Result<()> {
        self.encode_with(piece, context, Some(marks), &mut IdCount::default())
    }

    fn encode_with(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        marks: Option<&mut Vec<Mark>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        check_len(piece.len())?;
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let interrupt = context.interrupt;
        let scratch = &mut context.scratch.scored;
        let mut run = Run { by: self, text, scratch, splits: HashMap::new(), marks };
        let emitted = run.merge(interrupt).and_then(|()| run.emit(interrupt, sink));
        if scratch.symbols.capacity() > KEEP {
            *scratch = ScoredScratch::default();
        }
        emitted
    }
}

/// The merging of a text.
struct Run<'a> {
    by: &'a Scored,
    text: &'a str,
    scratch: &'a mut ScoredScratch,
    /// For tokens that are not in use, the length of the first part where they were seen last.
    splits: HashMap<TokenId, u32>,
    /// The places of the runs of unknown characters, if they are requested.
    marks: Option<&'a mut Vec<Mark>>,
}

impl Run<'_> {
    fn merge(&mut self, interrupt: &dyn Interrupt) -> Result<()> {
        let mut pacer = Pacer::every(1 << 12, interrupt);
        self.scratch.symbols.clear();
        self.scratch.candidates.clear();
        for (start, c) in self.text.char_indices() {
            let index = self.scratch.symbols.len() as u32;
            memory::try_reserve(&mut self.scratch.symbols, 1)?;
            let (before, after) = (index.wrapping_sub(1), index + 1);
            let len = c.len_utf8() as u32;
            self.scratch.symbols.push(Symbol { start: start as u32, len, before, after });
            self.offer(before, index)?;
            pacer.after(1)?;
        }
        if let Some(last) = self.scratch.symbols.last_mut() {
            last.after = NOTHING;
        }
        while let Some(Candidate { key, right, len }) = self.scratch.candidates.pop() {
            pacer.after(1)?;
            let left = NOTHING - key as u32;
            let symbols = &mut self.scratch.symbols;
            let (first, second) = (symbols[left as usize], symbols[right as usize]);
            if first.len == 0 || second.len == 0 || first.len + second.len != len {
                continue;
            }
            symbols[left as usize] = Symbol { len, after: second.after, ..first };
            symbols[right as usize].len = 0;
            if second.after != NOTHING {
                symbols[second.after as usize].before = left;
            }
            self.offer(first.before, left)?;
            self.offer(left, second.after)?;
        }
        Ok(())
    }

    /// Adds two neighbours to the candidates, if they are a token.
    #[inline]
    fn offer(&mut self, left: u32, right: u32) -> Result<()> {
        if left == NOTHING || right == NOTHING {
            return Ok(());
        }
        let (first, second) = (self.scratch.symbols[left as usize], self.scratch.symbols[right as usize]);
        let len = first.len + second.len;
        let (start, end) = (first.start as usize, (first.start + len) as usize);
        let Some(id) = self.by.index.get_in(self.text.as_bytes(), start, end) else { return Ok(()) };
        if self.by.unused.contains(&id) {
            self.splits.insert(id, first.len);
        }
        let key = u64::from(self.by.order[id as usize]) << 32 | u64::from(NOTHING - left);
        memory::try_push(&mut self.scratch.candidates, Candidate { key, right, len })
    }

    fn emit(&mut self, interrupt: &dyn Interrupt, sink: &mut impl Sink) -> Result<()> {
        let Unit::Char { on_unknown } = self.by.symbols.unit() else {
            return Err(Error::Internal { reason: "scores of a vocabulary of bytes.".into() });
        };
        let (mut pacer, mut is_after_unknown) = (Pacer::new(interrupt), false);
        // Parts that are still to be split, the first one last: their ranges, and how often they were split.
        let mut parts = Vec::new();
        let mut index = if self.scratch.symbols.is_empty() { NOTHING } else { 0 };
        while index != NOTHING {
            let Symbol { start, len, after, .. } = self.scratch.symbols[index as usize];
            index = after;
            parts.push((start as usize, (start + len) as usize, 0));
            while let Some((start, end, depth)) = parts.pop() {
                pacer.after(end - start)?;
                sink.reserve(end - start)?;
                let bytes = self.text.as_bytes();
                let id = self.by.index.get_in(bytes, start, end);
                let split = id.filter(|id| self.by.unused.contains(id)).map(|id| self.splits.get(&id));
                match (id, split) {
                    (Some(_), Some(Some(&first))) if depth <= MAX_DEPTH => {
                        let middle = start + first as usize;
                        parts.push((middle, end, depth + 1));
                        parts.push((start, middle, depth + 1));
                        continue;
                    }
                    (Some(id), split) if split.is_none() || depth > MAX_DEPTH => {
                        sink.push_id(id);
                        is_after_unknown = false;
                        continue;
                    }
                    _ => {}
                }
                if let Some(marks) = &mut self.marks {
                    Mark::push_unknown(marks, start..end, is_after_unknown)?;
                }
                match on_unknown {
                    OnUnknown::Bytes { ids } => {
                        bytes[start..end].iter().for_each(|&byte| sink.push_id(ids[usize::from(byte)]));
                    }
                    OnUnknown::Token(_) if is_after_unknown => {}
                    OnUnknown::Token(id) => sink.push_id(*id),
                    OnUnknown::Fail => {
                        let character = self.text[start..].chars().next().unwrap_or_default();
                        return Err(Error::UnknownCharacter { character, offset: start });
                    }
                }
                is_after_unknown = true;
            }
        }
        Ok(())
    }
}

/// A number that is greater for a greater score, and equal for equal ones.
fn ordered(score: f32) -> u32 {
    // Adding zero makes both zeros the same.
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}
