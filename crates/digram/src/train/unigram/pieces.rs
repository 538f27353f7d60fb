//! The pieces of a vocabulary in training, and the graph of those that a text consists of.

use crate::encode::{Piece, Pieces as Index};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::utf8;

use super::numbers::{ln, power_of_2};

/// A piece: a part of the text that all pieces share.
#[derive(Clone, Copy)]
pub(super) struct PieceText {
    pub(super) start: usize,
    pub(super) len: u32,
    /// Whether it is a single character, which is always kept.
    pub(super) is_character: bool,
}

/// Pieces, in the order of their texts.
pub(super) struct Pieces {
    pub(super) texts: Vec<PieceText>,
    /// The probability of each; 0 for one that is dropped.
    pub(super) shares: Vec<f64>,
    /// The logarithm of the probability.
    pub(super) scores: Vec<f64>,
    index: Index,
}

/// A piece at a place of a text.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    start: u32,
    end: u32,
    pub(super) piece: u32,
}

/// Memory for the graph of a text.
#[derive(Default)]
pub(super) struct Scratch {
    edges: Vec<Edge>,
    forward: Vec<f64>,
    /// By how many steps of [`STEP`] the sum of a place was raised.
    raised: Vec<u32>,
    backward: Vec<f64>,
    best: Vec<(f64, u32)>,
    path: Vec<u32>,
}

/// Sums that are small are multiplied by this power of two, which changes no bit of their fractions.
const STEP: i64 = 128;
/// The number of characters between two checks of the sums. Probabilities are above 2^-65, so sums are above 2^-400 until then, and
/// the product of one from the left and one from the right is a normal number.
const CHARACTERS_PER_LOOK: usize = 4;

/// Where a sum of shares is counted from, as in `sum * 2^(-STEP * raised)`.
#[derive(Clone, Copy)]
pub(super) struct Total {
    sum: f64,
    raised: u32,
}

impl Total {
    /// The logarithm.
    pub(super) fn ln(self) -> f64 {
        ln(self.sum) - f64::from(self.raised) * (STEP as f64 * std::f64::consts::LN_2)
    }
}

impl Pieces {
    /// The pieces with these texts, in order, all with the share 0.
    pub(super) fn new(texts: Vec<PieceText>, bytes: &[u8], interrupt: &dyn Interrupt) -> Result<Pieces> {
        let entries = texts.iter().zip(0..).map(|(text, id)| (text.of(bytes), Piece { id, score: 0.0 }));
        let index = Index::new(entries, interrupt)?;
        let (shares, scores) = (memory::try_filled(0.0, texts.len())?, memory::try_filled(0.0, texts.len())?);
        Ok(Pieces { texts, shares, scores, index })
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Finds all pieces of a text, in the order of their starts, the shortest first, except `left_out`.
    fn find(&self, text: &[u8], left_out: Option<u32>, edges: &mut Vec<Edge>) -> Result<usize> {
        edges.clear();
        let (mut at, mut work) = (0, 0);
        while at < text.len() {
            memory::try_reserve(edges, self.index.longest().min(text.len() - at))?;
            work += self.index.each_prefix(&text[at..], |len, Piece { id, .. }| {
                if self.shares[id as usize] > 0.0 && Some(id) != left_out {
                    edges.push(Edge { start: at as u32, end: (at + len) as u32, piece: id });
                }
            });
            at += utf8::width(text[at]);
        }
        Ok(work)
    }

    /// The sum of the probabilities of all segmentations of a text. Returns the work done, too.
    pub(super) fn total(&self, text: &[u8], scratch: &mut Scratch) -> Result<(Total, usize)> {
        let work = self.find(text, None, &mut scratch.edges)?;
        let Scratch { edges, forward, raised, .. } = scratch;
        fill(forward, 0.0, text.len() + 1)?;
        fill(raised, 0, text.len() + 1)?;
        forward[0] = 1.0;
        let (mut left, mut raises, mut reach, mut at, mut characters) = (&edges[..], 0, 0, 0, 0);
        while at < text.len() {
            if characters % CHARACTERS_PER_LOOK == 0 {
                raises += raise(&mut forward[at..=reach.max(at)]);
            }
            raised[at] = raises;
            let sum = forward[at];
            while let Some((edge, rest)) = left.split_first()
                && edge.start as usize == at
            {
                forward[edge.end as usize] += sum * self.shares[edge.piece as usize];
                reach = reach.max(edge.end as usize);
                left = rest;
            }
            at += utf8::width(text[at]);
            characters += 1;
        }
        raised[at] = raises;
        let sum = forward[at];
        if sum <= 0.0 {
            return Err(Error::Internal { reason: "a character is no piece.".into() });
        }
        Ok((Total { sum, raised: raises }, work + edges.len()))
    }

    /// Calls `add` with each piece of a text and its expected number of occurrences in `count` texts, in units of
    /// `1 / unit`. Returns the work done.
    pub(super) fn expect(
        &self,
        text: &[u8],
        count: u64,
        unit: f64,
        scratch: &mut Scratch,
        mut add: impl FnMut(u32, u64),
    ) -> Result<usize> {
        let (total, work) = self.total(text, scratch)?;
        let Scratch { edges, forward, raised, backward, .. } = scratch;
        fill(backward, 0.0, text.len() + 1)?;
        backward[text.len()] = 1.0;
        let factor = count as f64 * unit / total.sum;
        let (mut raises, mut left, mut characters) = (0u32, &edges[..], 0);
        // The starts, from right to left, with their edges.
        while let Some(&Edge { start, .. }) = left.last() {
            let start = start as usize;
            if characters % CHARACTERS_PER_LOOK == 0 {
                let reach = text.len().min(start + self.index.longest());
                raises += raise(&mut backward[start + 1..=reach]);
            }
            characters += 1;
            // All factors are powers of two, so results are the same wherever sums were raised.
            let steps = i64::from(total.raised) - i64::from(raised[start]) - i64::from(raises);
            let factor =
                if steps == 0 { factor } else { factor * power_of_2((STEP * steps).clamp(-1000, 1000)) };
            while let Some((edge, rest)) = left.split_last()
                && edge.start as usize == start
            {
                let share = self.shares[edge.piece as usize] * backward[edge.end as usize];
                backward[start] += share;
                add(edge.piece, (forward[start] * share * factor + 0.5) as u64);
                left = rest;
            }
        }
        Ok(work + edges.len())
    }

    /// The pieces with the highest sum of scores, from right to left, without `left_out`; of equal sums the one with the
    /// longest last piece. Returns the work done.
    pub(super) fn best<'s>(
        &self,
        text: &[u8],
        left_out: Option<u32>,
        scratch: &'s mut Scratch,
    ) -> Result<(&'s [u32], usize)> {
        let work = self.find(text, left_out, &mut scratch.edges)?;
        let Scratch { edges, best, path, .. } = scratch;
        fill(best, (f64::NEG_INFINITY, 0), text.len() + 1)?;
        best[0].0 = 0.0;
        for (index, edge) in edges.iter().enumerate() {
            let sum = best[edge.start as usize].0 + self.scores[edge.piece as usize];
            let end = &mut best[edge.end as usize];
            if sum > end.0 {
                *end = (sum, index as u32);
            }
        }
        path.clear();
        let mut at = text.len();
        while at > 0 {
            let edge = edges[best[at].1 as usize];
            if edge.end as usize != at {
                return Err(Error::Internal { reason: "a character is no piece.".into() });
            }
            memory::try_reserve(path, 1)?;
            path.push(edge.piece);
            at = edge.start as usize;
        }
        Ok((path, work + edges.len()))
    }
}

impl PieceText {
    pub(super) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + self.len as usize]
    }
}

/// Raises sums if all are small. Returns by how many steps.
fn raise(sums: &mut [f64]) -> u32 {
    let small = power_of_2(-STEP);
    let mut steps = 0;
    while sums.iter().all(|&sum| sum < small) && sums.iter().any(|&sum| sum > 0.0) {
        sums.iter_mut().for_each(|sum| *sum *= power_of_2(STEP));
        steps += 1;
    }
    steps
}

fn fill<T: Copy>(items: &mut Vec<T>, item: T, len: usize) -> Result<()> {
    items.clear();
    memory::try_reserve(items, len)?;
    items.resize(len, item);
    Ok(())
}
