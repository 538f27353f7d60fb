//! Segmentations that no rounding can change.
//!
//! The sums of a part of a text begin with that of the text before it, so their rounding, and which of two is larger,
//! depend on that text. But each addition is wrong by at most half a unit in the last place of its result, so two
//! sums that differ by more than all such errors together compare as the exact ones do. Then the part has the same
//! ids in every text, and they can be cached (see docs/algorithm.md, 18).

use crate::encode::{Addition, Scores};
use crate::error::Result;
use crate::vocabulary::TokenId;

use super::pieces::Piece;
use super::viterbi::{Best, Endings, LARGEST_SUM, Memory, Progress, Sum, Viterbi};

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

/// The best segmentation of a part up to a boundary.
#[derive(Clone, Copy)]
struct Node<S> {
    sum: S,
    /// The sum of the best one with another last piece.
    second: S,
    /// The number of characters of its last piece, less one.
    chars: u32,
}

impl<S: Sum> Best for Node<S> {
    type Sum = S;

    const NONE: Node<S> = Node { sum: S::LEAST, second: S::LEAST, chars: 0 };

    #[inline(always)]
    fn sum(self) -> S {
        self.sum
    }

    #[inline(always)]
    fn chars(self) -> usize {
        self.chars as usize
    }

    #[inline(always)]
    fn take(&mut self, sum: S, chars: usize) {
        let lower = if self.sum < sum { self.sum } else { sum };
        self.second = if lower > self.second { lower } else { self.second };
        let is_better = sum > self.sum;
        self.sum = if is_better { sum } else { self.sum };
        self.chars = if is_better { chars as u32 } else { self.chars };
    }
}

/// Memory for a part.
pub(in crate::encode) struct Scratch {
    single: [Node<f32>; LONGEST + 1],
    double: [Node<f64>; LONGEST + 1],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { single: [Node::NONE; LONGEST + 1], double: [Node::NONE; LONGEST + 1] }
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
        // Half the unit of a sum is at most this part of it, for the sums of a text and for those of a part alone. That sums
        // in a part may be larger than those before it, the second factor includes.
        let error = (limit + within_part) * unit / 2.0;
        let pieces = pieces.iter().map(|(_, piece)| *piece);
        Certainty {
            scores: match scores.addition {
                Addition::Double => ById::Double(by_id(pieces, |score| score)),
                Addition::Single => ById::Single(by_id(pieces, |score| score as f32)),
            },
            largest_score,
            largest_sum: limit - within_part,
            // More by a hundredth, for the rounding of the margin and of differences.
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
        let mut sum = S::of(progress.sum);
        let (mut least, mut greatest) = (sum, sum);
        for score in scores {
            sum = sum.plus(score);
            least = if sum < least { sum } else { least };
            greatest = if sum > greatest { sum } else { greatest };
        }
        progress.sum = sum.wide();
        let largest = self.certainty.largest_sum;
        -largest <= least.wide() && greatest.wide() <= largest
    }

    /// The ids of the tokens that a part of a text is if it has their bytes, whatever else the text has.
    pub(in crate::encode) fn certain_tokens(&self, tokens: &[(TokenId, &[u8])]) -> Result<Box<[TokenId]>> {
        let (mut memory, mut scratch, mut certain) = (Memory::default(), Scratch::default(), Vec::new());
        self.each_text(
            tokens.len(),
            |number| tokens[number].1,
            &mut memory,
            |number, found| {
                let (id, bytes) = tokens[number];
                if let Some((text, endings)) = found.filter(|_| bytes.len() <= LONGEST)
                    && self.certain_ids(text, endings, &mut scratch) == Some(&[id])
                {
                    certain.push(id);
                }
                Ok(())
            },
        )?;
        Ok(certain.into())
    }

    /// The ids of a part of up to [`LONGEST`] bytes between boundaries that no piece spans, whose pieces were found, if
    /// they are the same in every text and no character is unknown.
    #[inline]
    pub(in crate::encode) fn certain_ids<'e>(
        &self,
        part: usize,
        endings: &'e mut Endings,
        scratch: &mut Scratch,
    ) -> Option<&'e [TokenId]> {
        match self.addition {
            Addition::Double => self.certain_ids_with(part, endings, &mut scratch.double),
            Addition::Single => self.certain_ids_with(part, endings, &mut scratch.single),
        }
    }

    #[inline(always)]
    fn certain_ids_with<'e, S: Sum>(
        &self,
        part: usize,
        endings: &'e mut Endings,
        nodes: &mut [Node<S>],
    ) -> Option<&'e [TokenId]> {
        if endings.is_left_out(part) {
            return None;
        }
        let first = Node { sum: S::of(0.0), ..Node::NONE };
        endings.segment(part, first, S::score, nodes);
        // No segmentation has more additions than characters.
        let margin = S::of(self.certainty.margin * f64::from(endings.chars(part) as u32));
        endings.ids::<S, _>(part, &self.trie, nodes, |node: Node<S>| node.sum.minus(node.second) > margin)
    }
}
