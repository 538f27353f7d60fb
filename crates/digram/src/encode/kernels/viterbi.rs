//! The segmentation with the highest sum of scores, by dynamic programming (Viterbi).
//!
//! From left to right, each character boundary gets the best segmentation of the text before it: the best one up to
//! where its last piece starts, and that piece. Of equal sums the first one found remains, that of the longest last
//! piece. Sums are rounded, so the result depends on the order and the precision of the additions, which are those of
//! the library that made the model; that is why a pretoken is never encoded in parts. A boundary that no piece spans
//! is in every segmentation, so what is before it is emitted, and little memory is needed.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::algorithm::{Addition, Scores};
use super::super::build::Ordinary;
use super::super::lattice::{Edge, Lattice};
use super::super::symbols::{OnUnknown, Symbols, Unit};
use super::super::{Context, IdCount, Sink};
use super::check_len;
use super::pieces::{Piece, Pieces};

/// Finds the best segmentations.
pub(in crate::encode) struct Viterbi {
    pieces: Pieces,
    unknown: f64,
    addition: Addition,
    symbols: Arc<Symbols>,
}

/// Memory for a call.
#[derive(Default)]
pub(in crate::encode) struct ViterbiScratch {
    single: Vec<Node<f32>>,
    double: Vec<Node<f64>>,
    path: Vec<(TokenId, u32)>,
}

/// The best segmentation of the text up to a boundary.
#[derive(Clone, Copy)]
struct Node<S> {
    sum: S,
    /// The length of its last piece; 0 if no segmentation was found.
    len: u32,
    id: TokenId,
}

/// The id of a character that is no piece.
const UNKNOWN: TokenId = TokenId::MAX;

/// With single precision, sums beyond this are set to zero, and later ones are counted from there.
const LARGEST_SUM: f32 = 1e5;

/// More memory is freed after a call.
const KEEP: usize = 1 << 12;

/// A sum of scores.
trait Sum: Copy + PartialOrd + Default {
    fn plus(self, score: f64) -> Self;
    /// Whether later sums are counted from here.
    fn is_too_large(self) -> bool;
    fn minus(self, other: Self) -> Self;
}

impl Sum for f64 {
    #[inline(always)]
    fn plus(self, score: f64) -> f64 {
        score + self
    }

    #[inline(always)]
    fn is_too_large(self) -> bool {
        false
    }

    fn minus(self, other: f64) -> f64 {
        self - other
    }
}

impl Sum for f32 {
    #[inline(always)]
    fn plus(self, score: f64) -> f32 {
        score as f32 + self
    }

    #[inline(always)]
    fn is_too_large(self) -> bool {
        !(-LARGEST_SUM..=LARGEST_SUM).contains(&self)
    }

    fn minus(self, other: f32) -> f32 {
        self - other
    }
}

impl Viterbi {
    pub(in crate::encode) fn new(
        scores: &Scores,
        symbols: Arc<Symbols>,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<Viterbi> {
        let is_finite = |score: f64| match scores.addition {
            Addition::Double => score.is_finite(),
            Addition::Single => (score as f32).is_finite(),
        };
        let mut pieces = Vec::new();
        for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
            let Some(score) = scores.pieces.get(id as usize).copied().flatten() else { continue };
            if !is_finite(score) {
                return Err(Error::Vocabulary { reason: format!("the score of token {id} is not finite.") });
            }
            pieces.push((bytes, Piece { id, score }));
        }
        if !is_finite(scores.unknown) {
            let reason = "the score of unknown characters is not finite.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let pieces = Pieces::new(pieces)?;
        Ok(Viterbi { pieces, unknown: scores.unknown, addition: scores.addition, symbols })
    }

    /// Emits the ids of a piece of text. Takes time linear in it and in the length of the longest token.
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        self.encode_with(piece, context, None, sink)
    }

    /// Appends the ends of the runs of unknown characters in a piece of text.
    pub(in crate::encode) fn unknown_ends(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        self.encode_with(piece, context, Some(ends), &mut IdCount::default())
    }

    /// Adds all pieces of a pretoken.
    pub(in crate::encode) fn push_segmentations(
        &self,
        pretoken: &[u8],
        lattice: &mut Lattice,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        check_len(pretoken.len())?;
        if let Err(error) = std::str::from_utf8(pretoken) {
            return Err(Error::InvalidUtf8 { offset: error.valid_up_to() });
        }
        let (mut edges, mut at, mut pacer) = (Vec::new(), 0, Pacer::new(interrupt));
        while at < pretoken.len() {
            let (width, mut has_single, first) = (width_of(pretoken[at]), false, edges.len());
            memory::try_reserve(&mut edges, self.pieces.longest().min(pretoken.len() - at) + 1)?;
            let edge = |len: usize, id: Option<TokenId>, score: f64| Edge {
                start: at as u32,
                end: (at + len) as u32,
                id,
                score,
            };
            let steps = self.pieces.each_prefix(&pretoken[at..], |len, Piece { id, score }| {
                has_single |= len == width;
                edges.push(edge(len, Some(id), score));
            });
            if !has_single {
                edges.push(edge(width, None, self.unknown));
            }
            pacer.after(steps + edges.len() - first)?;
            at += width;
        }
        lattice.push_pretoken(pretoken.len(), edges.into_iter())
    }

    fn encode_with(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        ends: Option<&mut Vec<usize>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        check_len(piece.len())?;
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let interrupt = context.interrupt;
        let ViterbiScratch { single, double, path } = &mut context.scratch.viterbi;
        let emit = Emit { text, by: &self.symbols, is_after_unknown: false, ends };
        match self.addition {
            Addition::Double => self.segment(emit, double, path, interrupt, sink),
            Addition::Single => self.segment(emit, single, path, interrupt, sink),
        }
    }

    fn segment<S: Sum>(
        &self,
        mut emit: Emit<'_>,
        nodes: &mut Vec<Node<S>>,
        path: &mut Vec<(TokenId, u32)>,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (bytes, mut pacer) = (emit.text.as_bytes(), Pacer::new(interrupt));
        let origin = Node { sum: S::default(), len: 0, id: UNKNOWN };
        // The nodes of the boundaries from `start` to the end of the farthest piece.
        let (mut start, mut at) = (0, 0);
        nodes.clear();
        nodes.push(origin);
        while at < bytes.len() {
            if at - start + 1 == nodes.len() && at > start {
                emit.path(nodes, start, path, sink)?;
                nodes[0].sum = nodes[at - start].sum;
                nodes.truncate(1);
                start = at;
            }
            if nodes[at - start].sum.is_too_large() {
                let sum = nodes[at - start].sum;
                nodes[at - start..].iter_mut().for_each(|node| node.sum = node.sum.minus(sum));
            }
            let (sum, width, mut has_single) = (nodes[at - start].sum, width_of(bytes[at]), false);
            let mut failed = None;
            let mut offer = |nodes: &mut Vec<Node<S>>, len: usize, Piece { id, score }: Piece| {
                let (end, sum) = (at - start + len, sum.plus(score));
                if nodes.len() <= end {
                    if let Err(error) = memory::try_reserve(nodes, end + 1 - nodes.len()) {
                        failed = Some(error);
                        return;
                    }
                    nodes.resize(end + 1, origin);
                }
                if nodes[end].len == 0 || sum > nodes[end].sum {
                    nodes[end] = Node { sum, len: len as u32, id };
                }
            };
            let steps = self.pieces.each_prefix(&bytes[at..], |len, piece| {
                has_single |= len == width;
                offer(nodes, len, piece);
            });
            if !has_single {
                offer(nodes, width, Piece { id: UNKNOWN, score: self.unknown });
            }
            if let Some(error) = failed {
                return Err(error);
            }
            pacer.after(steps)?;
            at += width;
        }
        emit.path(nodes, start, path, sink)?;
        if nodes.capacity() > KEEP {
            *nodes = Vec::new();
        }
        if path.capacity() > KEEP {
            *path = Vec::new();
        }
        Ok(())
    }
}

/// Emits the ids of segmentations of a text, from left to right.
struct Emit<'a> {
    text: &'a str,
    by: &'a Symbols,
    is_after_unknown: bool,
    /// The ends of the runs of unknown characters, if they are requested.
    ends: Option<&'a mut Vec<usize>>,
}

impl Emit<'_> {
    /// Emits the best segmentation up to the last node; the first one is at `start`.
    fn path<S: Sum>(
        &mut self,
        nodes: &[Node<S>],
        start: usize,
        path: &mut Vec<(TokenId, u32)>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        path.clear();
        let mut at = nodes.len() - 1;
        while at > 0 {
            let Node { len, id, .. } = nodes[at];
            memory::try_reserve(path, 1)?;
            path.push((id, len));
            at -= len as usize;
        }
        sink.reserve(nodes.len() - 1)?;
        at = start;
        for &(id, len) in path.iter().rev() {
            match id {
                UNKNOWN => self.unknown(at, len as usize, sink)?,
                _ => sink.push_id(id),
            }
            self.is_after_unknown = id == UNKNOWN;
            at += len as usize;
        }
        Ok(())
    }

    /// Emits an unknown character. Consecutive ones are one unknown token.
    fn unknown(&mut self, at: usize, len: usize, sink: &mut impl Sink) -> Result<()> {
        if let Some(ends) = &mut self.ends {
            push_end(ends, at + len, self.is_after_unknown)?;
        }
        let Unit::Char { on_unknown } = self.by.unit() else {
            return Err(Error::Internal { reason: "scores of a vocabulary of bytes.".into() });
        };
        match on_unknown {
            OnUnknown::Bytes { ids } => {
                let bytes = &self.text.as_bytes()[at..at + len];
                bytes.iter().for_each(|&byte| sink.push_id(ids[usize::from(byte)]));
            }
            OnUnknown::Token(_) if self.is_after_unknown => {}
            OnUnknown::Token(id) => sink.push_id(*id),
            OnUnknown::Fail => {
                let character = self.text[at..].chars().next().unwrap_or_default();
                return Err(Error::UnknownCharacter { character, offset: at });
            }
        }
        Ok(())
    }
}

/// Appends the end of a run, or moves the last one.
pub(super) fn push_end(ends: &mut Vec<usize>, end: usize, is_after_unknown: bool) -> Result<()> {
    if is_after_unknown {
        ends.pop();
    }
    memory::try_reserve(ends, 1)?;
    ends.push(end);
    Ok(())
}

/// The number of bytes of the character that a byte begins.
#[inline(always)]
fn width_of(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}
