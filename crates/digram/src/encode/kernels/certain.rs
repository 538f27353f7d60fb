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
use super::viterbi::{FewCharacters, LARGEST_SUM, Progress, Sum, UNKNOWN, Viterbi};

/// The longest part whose segmentation may be certain, in bytes. Longer ones, as in scripts without spaces, rarely recur.
pub(in crate::encode) const LONGEST: usize = 48;

/// With double precision, sums are smaller than this; a pretoken whose sum may be larger is not encoded in parts.
const LARGEST_DOUBLE: f64 = 1e9;

/// What says which segmentations are certain.
pub(super) struct Certainty {
    scores: ById,
    /// The largest absolute score.
    pub(super) largest_score: f64,
    /// Sums with a larger absolute value may lead to one that is set to zero, or is rounded by more.
    largest_sum: f64,
    /// By how much two sums after one addition must differ: twice the error of one.
    margin: f64,
}

/// The score of each id, in the precision in which it is added.
enum ById {
    Double(Box<[f64]>),
    Single(Box<[f32]>),
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
    /// The units of the pieces of the best segmentation. They fill the end of the array.
    path: [u32; LONGEST],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { characters: FewCharacters::default(), nodes: [ORIGIN; LONGEST + 1], path: [0; LONGEST] }
    }
}

impl Certainty {
    pub(super) fn new(scores: &Scores, pieces: &[(&[u8], Piece)]) -> Certainty {
        let all = pieces.iter().map(|(_, piece)| piece.score).chain([scores.unknown]);
        let largest_score = all.map(|score| as_added(scores.addition, score).abs()).fold(0.0, f64::max);
        let within_part = LONGEST as f64 * largest_score;
        let (limit, unit) = match scores.addition {
            Addition::Double => (LARGEST_DOUBLE, f64::EPSILON),
            Addition::Single => (f64::from(LARGEST_SUM), f64::from(f32::EPSILON)),
        };
        // Half the unit of a sum is at most this part of it. The exact sums are rounded too, but by far less; that, and
        // that sums in a part may be larger than those before it, the second factor includes.
        let error = limit * unit / 2.0;
        let pieces = pieces.iter().map(|(_, piece)| *piece);
        Certainty {
            scores: match scores.addition {
                Addition::Double => ById::Double(by_id(pieces, |score| score)),
                Addition::Single => ById::Single(by_id(pieces, |score| score as f32)),
            },
            largest_score,
            largest_sum: limit - within_part,
            margin: 2.0 * error * 1.01,
        }
    }
}

/// The score of each id; `of` gives it its precision.
fn by_id<S: Copy + Default>(pieces: impl Iterator<Item = Piece> + Clone, of: impl Fn(f64) -> S) -> Box<[S]> {
    let largest = pieces.clone().map(|piece| piece.id as usize).max();
    let mut scores = vec![S::default(); largest.map_or(0, |id| id + 1)];
    pieces.for_each(|piece| scores[piece.id as usize] = of(piece.score));
    scores.into_boxed_slice()
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
        match &self.certainty.scores {
            ById::Double(scores) => self.add_each(ids.iter().map(|&id| scores[id as usize]), progress),
            ById::Single(scores) => self.add_each(ids.iter().map(|&id| scores[id as usize]), progress),
        }
    }

    /// Adds scores to the sum. Returns false as [`add`](Viterbi::add) does.
    #[inline(always)]
    fn add_each<S: Sum>(&self, scores: impl ExactSizeIterator<Item = S>, progress: &mut Progress) -> bool {
        progress.is_after_unknown &= scores.len() == 0;
        let (mut sum, mut largest) = (S::of(progress.sum), progress.sum.abs());
        for score in scores {
            sum = sum.plus(score);
            largest = largest.max(sum.wide().abs());
        }
        progress.sum = sum.wide();
        largest <= self.certainty.largest_sum
    }

    /// Appends the ids of a part between boundaries that no piece spans, if they are the same in every text, and adds
    /// their scores; as [`add`](Viterbi::add). `None`, with nothing appended or added, if that is not certain or a
    /// character is unknown.
    pub(in crate::encode) fn push_certain(
        &self,
        part: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<Option<bool>> {
        if part.len() > LONGEST {
            return Ok(None);
        }
        match self.addition {
            Addition::Double => self.push_certain_of::<f64>(part, progress, context, ids),
            Addition::Single => self.push_certain_of::<f32>(part, progress, context, ids),
        }
    }

    #[inline(always)]
    fn push_certain_of<S: Sum>(
        &self,
        part: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<Option<bool>> {
        let Scratch { characters, nodes, path } = &mut context.scratch.viterbi.certain;
        let (numbers, seconds) = characters.read(&self.trie, part)?;
        let count = seconds.len();
        nodes[..=count].fill(ORIGIN);
        nodes[0].sum = 0.0;
        for at in 0..count {
            let sum = nodes[at].sum;
            let ends = &mut nodes[at..];
            self.trie.each_prefix(&numbers[at..], seconds[at], |Found::<S> { chars, unit, score }| {
                let (node, sum) = (&mut ends[chars as usize], sum + score.wide());
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
        let (mut first, mut at) = (LONGEST, count);
        while at > 0 {
            let Node { sum, second, chars, unit } = nodes[at];
            let is_certain = self.trie.id::<S>(unit) != UNKNOWN && sum - second > margin;
            if !is_certain {
                return Ok(None);
            }
            first -= 1;
            path[first] = unit;
            at -= chars as usize;
        }
        let units = &path[first..];
        memory::try_reserve(ids, units.len())?;
        ids.extend(units.iter().map(|&unit| self.trie.id::<S>(unit)));
        Ok(Some(self.add_each(units.iter().map(|&unit| self.trie.score::<S>(unit)), progress)))
    }
}
