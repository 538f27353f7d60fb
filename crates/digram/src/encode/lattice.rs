//! All segmentations of a text by a model of scores: the best ones, and samples.

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::vocabulary::TokenId;

use super::kernels::dropout::SplitMix64;
use super::symbols::{OnUnknown, Unit};

/// A piece of a text: a token, or an unknown character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// `None` for an unknown character.
    pub(crate) id: Option<TokenId>,
    pub(crate) score: f64,
}

/// The pieces of a text, in the order of their starts.
#[derive(Default)]
pub(crate) struct Lattice {
    edges: Vec<Edge>,
    /// The ends of pretokens, which no unknown token spans.
    pretoken_ends: Vec<u32>,
    len: u32,
}

/// The pieces that end at each place.
struct ByEnd {
    /// The range of each place in `edges`.
    bounds: Vec<u32>,
    edges: Vec<u32>,
}

impl ByEnd {
    fn at(&self, place: u32) -> &[u32] {
        &self.edges[self.bounds[place as usize] as usize..self.bounds[place as usize + 1] as usize]
    }
}

/// One of the best segmentations of the text up to a place.
#[derive(Clone, Copy)]
struct Head {
    sum: f64,
    /// Its last piece, and its place among the best up to where that starts.
    edge: u32,
    rank: u32,
}

impl Lattice {
    /// Adds the next pretoken, of this many bytes. Its pieces are counted from its start.
    pub(crate) fn push_pretoken(&mut self, len: usize, pieces: impl Iterator<Item = Edge>) -> Result<()> {
        let start = self.len;
        self.len = u32::try_from(len)
            .ok()
            .and_then(|len| start.checked_add(len))
            .ok_or_else(|| Error::Limit { reason: "the text is longer than 4 GiB.".into() })?;
        for piece in pieces {
            memory::try_reserve(&mut self.edges, 1)?;
            self.edges.push(Edge { start: piece.start + start, end: piece.end + start, ..piece });
        }
        memory::try_reserve(&mut self.pretoken_ends, 1)?;
        self.pretoken_ends.push(self.len);
        Ok(())
    }

    fn by_end(&self) -> Result<ByEnd> {
        let mut bounds = memory::try_filled(0, self.len as usize + 2)?;
        self.edges.iter().for_each(|edge| bounds[edge.end as usize + 1] += 1);
        for place in 1..bounds.len() {
            bounds[place] += bounds[place - 1];
        }
        let (mut edges, mut next) = (memory::try_filled(0, self.edges.len())?, bounds.clone());
        for (index, edge) in self.edges.iter().enumerate() {
            let place = &mut next[edge.end as usize];
            edges[*place as usize] = index as u32;
            *place += 1;
        }
        Ok(ByEnd { bounds, edges })
    }

    /// The segmentations with the highest sums of scores, up to `count`, the best one first; each with its sum. Of equal
    /// sums, the one with the longer last piece comes first.
    pub(crate) fn best(&self, count: usize, interrupt: &dyn Interrupt) -> Result<Vec<(Vec<Edge>, f64)>> {
        let (by_end, mut pacer) = (self.by_end()?, Pacer::new(interrupt));
        // The best up to each place, one place after the other, and where those of each begin.
        let (mut heads, mut bounds): (Vec<Head>, _) = (Vec::new(), vec![0, 1]);
        memory::try_reserve(&mut bounds, self.len as usize + 1)?;
        heads.push(Head { sum: 0.0, edge: 0, rank: 0 });
        let mut candidates: Vec<Head> = Vec::new();
        for place in 1..=self.len {
            candidates.clear();
            // The pieces are in the order of their starts.
            for &index in by_end.at(place) {
                let edge = self.edges[index as usize];
                let before = &heads[bounds[edge.start as usize]..bounds[edge.start as usize + 1]];
                pacer.after(1 + before.len())?;
                memory::try_reserve(&mut candidates, before.len())?;
                candidates.extend((0..).zip(before).map(|(rank, head)| Head {
                    sum: edge.score + head.sum,
                    edge: index,
                    rank,
                }));
            }
            // Stable, so that equal ones stay in order.
            candidates.sort_by(|one, other| other.sum.total_cmp(&one.sum));
            candidates.truncate(count);
            memory::try_reserve(&mut heads, candidates.len())?;
            heads.extend_from_slice(&candidates);
            bounds.push(heads.len());
        }
        let mut found = Vec::new();
        let whole = &heads[bounds[self.len as usize]..];
        memory::try_reserve(&mut found, whole.len())?;
        for head in whole {
            let (mut path, mut place, mut last) = (Vec::new(), self.len, *head);
            while place > 0 {
                let edge = self.edges[last.edge as usize];
                pacer.after(1)?;
                memory::try_reserve(&mut path, 1)?;
                path.push(edge);
                place = edge.start;
                last = heads[bounds[place as usize] + last.rank as usize];
            }
            path.reverse();
            found.push((path, head.sum));
        }
        Ok(found)
    }

    /// A random segmentation: the probability of each is proportional to the exponential of its sum of scores times
    /// `sharpness`.
    pub(crate) fn sample(&self, sharpness: f64, seed: u64, interrupt: &dyn Interrupt) -> Result<Vec<Edge>> {
        let mut before = memory::try_filled(f64::NEG_INFINITY, self.len as usize + 1)?;
        let mut pacer = Pacer::new(interrupt);
        before[0] = 0.0;
        for edge in &self.edges {
            pacer.after(1)?;
            let sum = before[edge.start as usize] + sharpness * edge.score;
            before[edge.end as usize] = log_sum(before[edge.end as usize], sum);
        }
        let (by_end, mut random) = (self.by_end()?, SplitMix64::new(seed));
        let (mut path, mut place) = (Vec::new(), self.len);
        while place > 0 {
            let (mut left, mut chosen) = (random.fraction(), None);
            for &index in by_end.at(place) {
                pacer.after(1)?;
                let edge = self.edges[index as usize];
                let sum = before[edge.start as usize] + sharpness * edge.score;
                chosen = Some(edge);
                left -= (sum - before[place as usize]).exp();
                if left < 0.0 {
                    break;
                }
            }
            let Some(edge) = chosen else {
                return Err(Error::Internal { reason: "a place of a text has no piece.".into() });
            };
            memory::try_reserve(&mut path, 1)?;
            path.push(edge);
            place = edge.start;
        }
        path.reverse();
        Ok(path)
    }

    /// The ids of a segmentation of a text. Consecutive unknown characters of a pretoken are one unknown token.
    pub(crate) fn ids(&self, path: &[Edge], text: &[u8], unit: &Unit) -> Result<Vec<TokenId>> {
        let Unit::Char { on_unknown } = unit else {
            return Err(Error::Internal { reason: "scores of a vocabulary of bytes.".into() });
        };
        let (mut ids, mut is_after_unknown) = (Vec::new(), false);
        for &Edge { start, end, id, .. } in path {
            let bytes = &text[start as usize..end as usize];
            is_after_unknown &= self.pretoken_ends.binary_search(&start).is_err();
            memory::try_reserve(&mut ids, bytes.len())?;
            match (id, on_unknown) {
                (Some(id), _) => ids.push(id),
                (None, OnUnknown::Bytes { ids: of }) => {
                    ids.extend(bytes.iter().map(|&byte| of[usize::from(byte)]));
                }
                (None, OnUnknown::Token(_)) if is_after_unknown => {}
                (None, OnUnknown::Token(id)) => ids.push(*id),
                (None, OnUnknown::Fail) => {
                    let character = bstr::decode_utf8(bytes).0.unwrap_or_default();
                    return Err(Error::UnknownCharacter { character, offset: start as usize });
                }
            }
            is_after_unknown = id.is_none();
        }
        Ok(ids)
    }
}

/// The index of a random one of numbers, with probabilities proportional to their exponentials.
pub(crate) fn one_of(logarithms: &[f64], seed: u64) -> usize {
    let sum = logarithms.iter().fold(f64::NEG_INFINITY, |sum, &one| log_sum(sum, one));
    let mut left = SplitMix64::new(seed).fraction();
    for (index, one) in logarithms.iter().enumerate() {
        left -= (one - sum).exp();
        if left < 0.0 {
            return index;
        }
    }
    logarithms.len() - 1
}

/// The logarithm of the sum of two exponentials.
fn log_sum(one: f64, other: f64) -> f64 {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}
