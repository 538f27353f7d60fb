//! Segmentations that no rounding can change.
//!
//! The sums of a part of a text begin with that of the text before it, so their rounding, and which of two is larger,
//! depend on that text. But each addition is wrong by at most half a unit in the last place of its result, so two
//! sums that differ by more than all such errors together compare as the exact ones do. Then the part has the same
//! ids in every text, and they can be cached (see docs/algorithm.md, 18).

use crate::encode::{Addition, Scores};
use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

use super::super::Context;
use super::char_trie::Found;
use super::pieces::Piece;
use super::viterbi::{FewCharacters, LARGEST_SUM, Progress, SHORT, UNKNOWN, Viterbi};

/// The longest part whose segmentation may be certain, in bytes. Longer ones, as in scripts without spaces, rarely recur.
pub(in crate::encode) const LONGEST: usize = SHORT;

/// With double precision, sums are smaller than this; a pretoken whose sum may be larger is not encoded in parts.
const LARGEST_DOUBLE: f64 = 1e9;

/// What says which segmentations are certain.
pub(super) struct Certainty {
    /// The score of each id, as it is added.
    scores: Box<[f64]>,
    /// The largest absolute score.
    pub(super) largest_score: f64,
    /// Sums with a larger absolute value may lead to one that is set to zero, or is rounded by more.
    largest_sum: f64,
    /// By how much two sums after one addition must differ: twice the error of one.
    margin: f64,
}

/// The best segmentation of the text up to a boundary, and the sum of the best one with another last piece.
#[derive(Clone, Copy)]
struct Node {
    sum: f64,
    second: f64,
    chars: u32,
    /// The last piece: its unit in the trie.
    unit: u32,
}

const ORIGIN: Node = Node { sum: f64::NEG_INFINITY, second: f64::NEG_INFINITY, chars: 0, unit: 0 };

/// Memory for a part.
pub(in crate::encode) struct Scratch {
    characters: FewCharacters,
    nodes: [Node; LONGEST + 1],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { characters: FewCharacters::default(), nodes: [ORIGIN; LONGEST + 1] }
    }
}

impl Certainty {
    pub(super) fn new(scores: &Scores, pieces: &[(&[u8], Piece)]) -> Certainty {
        let as_added = |score| as_added(scores.addition, score);
        let all = pieces.iter().map(|(_, piece)| piece.score).chain([scores.unknown]);
        let largest_score = all.map(|score| as_added(score).abs()).fold(0.0, f64::max);
        let within_part = LONGEST as f64 * largest_score;
        let (limit, unit) = match scores.addition {
            Addition::Double => (LARGEST_DOUBLE, f64::EPSILON),
            Addition::Single => (f64::from(LARGEST_SUM), f64::from(f32::EPSILON)),
        };
        // Half the unit of a sum is at most this part of it. The exact sums are rounded too, but by far less; that, and
        // that sums in a part may be larger than those before it, the second factor includes.
        let error = limit * unit / 2.0;
        let ids = pieces.iter().map(|(_, piece)| piece.id as usize);
        let mut by_id = vec![0.0; ids.max().map_or(0, |id| id + 1)];
        pieces.iter().for_each(|(_, piece)| by_id[piece.id as usize] = as_added(piece.score));
        Certainty {
            scores: by_id.into_boxed_slice(),
            largest_score,
            largest_sum: limit - within_part,
            margin: 2.0 * error * 1.01,
        }
    }
}

/// A score in the precision in which it is added.
fn as_added(addition: Addition, score: f64) -> f64 {
    match addition {
        Addition::Double => score,
        Addition::Single => f64::from(score as f32),
    }
}

impl Viterbi {
    /// Whether parts of a pretoken of this many bytes may be certain.
    pub(in crate::encode) fn may_be_certain(&self, len: usize) -> bool {
        let Certainty { largest_score, largest_sum, .. } = self.certainty;
        largest_sum > 0.0
            && (self.addition == Addition::Single || len as f64 * largest_score < LARGEST_DOUBLE)
    }

    /// Adds the scores of the ids of parts that are certain. Returns false if a sum is so large that those of the parts
    /// may not be certain.
    #[inline]
    pub(in crate::encode) fn add(&self, ids: &[TokenId], progress: &mut Progress) -> bool {
        let Certainty { scores, largest_sum, .. } = &self.certainty;
        let mut largest = progress.sum.abs();
        match self.addition {
            Addition::Double => {
                for &id in ids {
                    progress.sum += scores[id as usize];
                    largest = largest.max(progress.sum.abs());
                }
            }
            Addition::Single => {
                let mut sum = progress.sum as f32;
                for &id in ids {
                    sum += scores[id as usize] as f32;
                    largest = largest.max(sum.abs().into());
                }
                progress.sum = sum.into();
            }
        }
        progress.is_after_unknown &= ids.is_empty();
        largest <= *largest_sum
    }

    /// Appends the ids of a part between boundaries that no piece spans, if they are the same in every text; returns
    /// false, and appends nothing, if that is not certain or a character is unknown.
    pub(in crate::encode) fn push_certain(
        &self,
        part: &[u8],
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<bool> {
        if part.len() > LONGEST {
            return Ok(false);
        }
        match self.addition {
            Addition::Double => self.push_certain_with(part, context, ids, |score| score),
            Addition::Single => self.push_certain_with(part, context, ids, |score| f64::from(score as f32)),
        }
    }

    /// The same; `as_added` gives a score in the precision in which it is added.
    #[inline(always)]
    fn push_certain_with(
        &self,
        part: &[u8],
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
        as_added: impl Fn(f64) -> f64,
    ) -> Result<bool> {
        let Scratch { characters, nodes } = &mut context.scratch.viterbi.certain;
        let (numbers, seconds) = characters.read(&self.trie, part)?;
        let count = seconds.len();
        nodes[..=count].fill(ORIGIN);
        nodes[0].sum = 0.0;
        for at in 0..count {
            let sum = nodes[at].sum;
            let ends = &mut nodes[at..];
            self.trie.each_prefix(&numbers[at..], seconds[at], |Found { chars, unit, score }| {
                let (node, sum) = (&mut ends[chars as usize], sum + as_added(score));
                // A score that is not a number, as where no piece ends, changes nothing.
                let lower = if node.sum <= sum { node.sum } else { sum };
                node.second = if lower > node.second { lower } else { node.second };
                if sum > node.sum {
                    (node.sum, node.chars, node.unit) = (sum, chars, unit);
                }
            });
        }
        // No segmentation has more additions than characters.
        let margin = self.certainty.margin * count as f64;
        let (first, mut at) = (ids.len(), count);
        memory::try_reserve(ids, count)?;
        while at > 0 {
            let Node { sum, second, chars, unit } = nodes[at];
            let id = self.trie.id(unit);
            let is_certain = id != UNKNOWN && sum - second > margin;
            if !is_certain {
                ids.truncate(first);
                return Ok(false);
            }
            ids.push(id);
            at -= chars as usize;
        }
        ids[first..].reverse();
        Ok(true)
    }
}
