//! Merging by scores with the kernels that merge by rank.
//!
//! If no two tokens have one score, the token that two neighbours make says when they are merged, so its place in the
//! order of scores is the rank of the pair. All pairs that make one token have one rank, and of equal ranks the
//! leftmost pair is merged first, as of equal scores. Then words are merged in lockstep, by an index of pairs.

use std::sync::Arc;

use crate::error::Result;
use crate::index::TokenIndex;
use crate::merges::{Merge, Merges, Rank};
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::algorithm::Scores;
use super::super::build::Ordinary;
use super::super::symbols::Symbols;
use super::super::{Context, Sink};
use super::Kernel;
use super::ranked::Ranked;
use super::scored::Scored;
use super::short::SHORT;
use super::viterbi::scored_tokens;

/// Merges short pieces by the ranks of scores, and others by the scores themselves.
pub(in crate::encode) struct ScoreRanks {
    pub(super) ranked: Ranked,
    pub(in crate::encode) scored: Scored,
}

/// Models with more pairs are left to the scores.
const MAX_PAIRS: usize = 1 << 22;

impl ScoreRanks {
    /// The kernel that merges by ranks where scores give them: each character of a token is a token, all scores of
    /// longer tokens differ, and an unknown character becomes its bytes. No token is split again at the end.
    pub(in crate::encode) fn kernel(
        scored: Scored,
        scores: &Scores,
        symbols: &Arc<Symbols>,
        vocabulary: &Arc<Vocabulary>,
        ordinary: Ordinary<'_>,
    ) -> Result<Kernel> {
        let mut tokens = scored_tokens(scores, vocabulary, ordinary)?;
        // Short pieces have no longer ones.
        tokens.retain(|(_, bytes, _)| bytes.len() <= SHORT);
        let ties = symbols.character_ids().and_then(|_| Ties::new(&tokens, vocabulary.size()));
        let ranked = ties.and_then(|Ties { merges, all }| {
            Ranked::of_ties(symbols, merges, all.iter().copied(), vocabulary)
        });
        Ok(match ranked {
            Some(ranked) => Kernel::ScoreRanks(Box::new(ScoreRanks { ranked, scored })),
            None => Kernel::Scored(Box::new(scored)),
        })
    }

    /// Emits the ids of a piece of text.
    #[inline]
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        match piece.len() {
            ..=SHORT => self.ranked.encode(piece, context, sink),
            _ => self.scored.encode(piece, context, sink),
        }
    }
}

/// The pairs that make tokens.
struct Ties {
    /// One pair of each token, and all of them in the index.
    merges: Merges,
    /// All of them, with their ranks.
    all: Vec<(Rank, Merge)>,
}

impl Ties {
    fn new(tokens: &[(TokenId, &[u8], f64)], size: usize) -> Option<Ties> {
        let index = TokenIndex::new(&tokens.iter().map(|&(id, bytes, _)| (id, bytes)).collect::<Vec<_>>());
        // Of two tokens with the same bytes none is made alone.
        if tokens.iter().any(|&(id, bytes, _)| index.get(bytes) != Some(id)) {
            return None;
        }
        let mut longer = Vec::new();
        for &(id, bytes, score) in tokens {
            let text = std::str::from_utf8(bytes).ok()?;
            let mut characters = text.char_indices().map(|(start, c)| &bytes[start..start + c.len_utf8()]);
            if text.chars().nth(1).is_some() {
                if !characters.all(|character| index.get(character).is_some()) {
                    return None;
                }
                // Adding zero makes both zeros the same.
                longer.push((score as f32 + 0.0, id, text));
            }
        }
        longer.sort_unstable_by(|first, second| second.0.total_cmp(&first.0));
        if longer.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let mut all = Vec::new();
        for &(_, id, text) in &longer {
            for (middle, _) in text.char_indices().skip(1) {
                let (left, right) = text.split_at(middle);
                if let (Some(left), Some(right)) = (index.get(left.as_bytes()), index.get(right.as_bytes())) {
                    all.push((0, Merge { left, right, id }));
                }
            }
            if all.len() > MAX_PAIRS {
                return None;
            }
        }
        let mut merges = Merges::with_capacity(all.len());
        let mut made_at = vec![None; size];
        for (rank, Merge { left, right, id }) in &mut all {
            match merges.in_order().last() {
                Some(last) if last.id == *id => merges.push_beside(*left, *right),
                _ => merges.push(Merge { left: *left, right: *right, id: *id }),
            };
            *rank = merges.in_order().len() as Rank - 1;
            made_at[*id as usize] = Some(*rank);
        }
        let falls = |&(rank, Merge { left, right, .. }): &(Rank, Merge)| {
            [left, right].iter().any(|&part| made_at[part as usize].is_some_and(|made_at| made_at >= rank))
        };
        if all.iter().any(falls) {
            merges.falls();
        }
        Some(Ties { merges, all })
    }
}
