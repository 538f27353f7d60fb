//! The segmentation with the highest sum of scores, by dynamic programming (Viterbi).
//!
//! From left to right, each character boundary gets the best segmentation of the text before it: the best one up to
//! where its last piece starts, and that piece. Of equal sums the first one found remains, that of the longest last
//! piece. Sums are rounded, so the result depends on the order and the precision of the additions, which are those of
//! the library that made the model. A boundary that no piece spans is in every segmentation, so what is before it is
//! emitted, and little memory is needed. A part between two such boundaries can be encoded alone if its sums begin
//! with that of the text before it ([`Progress`]), or if no rounding can change its segmentation ([`certain`]).
//!
//! [`certain`]: super::certain

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Never, Pacer};
use crate::memory;
use crate::utf8;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::algorithm::{Addition, Scores};
use super::super::build::Ordinary;
use super::super::lattice::{Edge, Lattice};
use super::super::symbols::{OnUnknown, Symbols, Unit};
use super::super::{Context, IdCount, Mark, Sink};
use super::certain::{self, Certainty};
use super::check_len;
use super::pieces::{Piece, Pieces};

/// Finds the best segmentations.
pub(in crate::encode) struct Viterbi {
    pub(super) pieces: Pieces,
    pub(super) unknown: f64,
    pub(super) addition: Addition,
    symbols: Arc<Symbols>,
    /// The tokens whose names are pieces.
    spelled: HashSet<TokenId>,
    /// The ids that may be marked.
    marked: HashSet<TokenId>,
    pub(super) certainty: Certainty,
}

/// Memory for a call.
#[derive(Default)]
pub(in crate::encode) struct ViterbiScratch {
    single: Vec<Node<f32>>,
    double: Vec<Node<f64>>,
    path: Vec<(TokenId, u32)>,
    pub(super) certain: Vec<certain::Node>,
}

/// What a segmentation depends on at a boundary that no piece spans: the sum of the scores before it, which has the
/// precision of the model, and whether the character before it is unknown.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::encode) struct Progress {
    pub(super) sum: f64,
    pub(super) is_after_unknown: bool,
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
pub(super) const UNKNOWN: TokenId = TokenId::MAX;

/// With single precision, sums beyond this are set to zero, and later ones are counted from there.
pub(super) const LARGEST_SUM: f32 = 1e5;

/// More memory is freed after a call.
const KEEP: usize = 1 << 12;

/// A sum of scores.
trait Sum: Copy + PartialOrd {
    fn of(sum: f64) -> Self;
    fn wide(self) -> f64;
    fn plus(self, score: f64) -> Self;
    /// Whether later sums are counted from here.
    fn is_too_large(self) -> bool;
    fn minus(self, other: Self) -> Self;
}

impl Sum for f64 {
    fn of(sum: f64) -> f64 {
        sum
    }

    fn wide(self) -> f64 {
        self
    }

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
    fn of(sum: f64) -> f32 {
        sum as f32
    }

    fn wide(self) -> f64 {
        self.into()
    }

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
        let mut pieces = Vec::new();
        for (id, bytes, score) in scored_tokens(scores, vocabulary, ordinary)? {
            pieces.push((bytes, Piece { id, score }));
        }
        for one in &scores.spelled {
            pieces.push((&one.text, Piece { id: one.id, score: checked(scores, one.score, one.id)? }));
        }
        if !is_finite(scores, scores.unknown) {
            let reason = "the score of unknown characters is not finite.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let certainty = Certainty::new(scores, &pieces);
        let pieces = Pieces::new(pieces, &Never)?;
        let spelled: HashSet<_> = scores.spelled.iter().map(|one| one.id).collect();
        let mut marked = spelled.clone();
        match symbols.unit() {
            Unit::Char { on_unknown: OnUnknown::Token(id) } => marked.extend([*id]),
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } if !spelled.is_empty() => {
                marked.extend(ids.iter().copied());
            }
            _ => {}
        }
        Ok(Viterbi {
            pieces,
            unknown: scores.unknown,
            addition: scores.addition,
            symbols,
            spelled,
            marked,
            certainty,
        })
    }

    /// The ids that may not stand for the bytes of their tokens.
    pub(in crate::encode) fn marked(&self) -> &HashSet<TokenId> {
        &self.marked
    }

    /// Emits the ids of a piece of text. Takes time linear in it and in the length of the longest token.
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        self.encode_with(piece, &mut Progress::default(), context, None, sink)
    }

    /// Emits the ids of a part of a text between boundaries that no piece spans.
    pub(in crate::encode) fn encode_part(
        &self,
        part: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.encode_with(part, progress, context, None, sink)
    }

    /// Appends the places of the runs of unknown characters and of names of tokens in a piece of text.
    pub(in crate::encode) fn marks(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        marks: &mut Vec<Mark>,
    ) -> Result<()> {
        self.encode_with(piece, &mut Progress::default(), context, Some(marks), &mut IdCount::default())
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
            let (width, mut has_single, first) = (utf8::width(pretoken[at]), false, edges.len());
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
        progress: &mut Progress,
        context: &mut Context<'_>,
        marks: Option<&mut Vec<Mark>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        check_len(piece.len())?;
        let text =
            std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })?;
        let interrupt = context.interrupt;
        let ViterbiScratch { single, double, path, .. } = &mut context.scratch.viterbi;
        let mut emit = Emit { text, by: self, run: 0..0, goes_on: progress.is_after_unknown, marks };
        let sum = match self.addition {
            Addition::Double => self.segment(progress.sum, &mut emit, double, path, interrupt, sink),
            Addition::Single => self.segment(progress.sum, &mut emit, single, path, interrupt, sink),
        }?;
        let is_after_unknown = !emit.run.is_empty() || piece.is_empty() && progress.is_after_unknown;
        *progress = Progress { sum, is_after_unknown };
        emit.end_run(sink)
    }

    /// Emits the ids of a text, and returns the sum of all scores; `sum` is that of the scores before the text.
    fn segment<S: Sum>(
        &self,
        sum: f64,
        emit: &mut Emit<'_>,
        nodes: &mut Vec<Node<S>>,
        path: &mut Vec<(TokenId, u32)>,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<f64> {
        let (bytes, mut pacer) = (emit.text.as_bytes(), Pacer::new(interrupt));
        let origin = Node { sum: S::of(sum), len: 0, id: UNKNOWN };
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
            let (sum, width, mut has_single) = (nodes[at - start].sum, utf8::width(bytes[at]), false);
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
        let sum = nodes[nodes.len() - 1].sum.wide();
        if nodes.capacity() > KEEP {
            *nodes = Vec::new();
        }
        if path.capacity() > KEEP {
            *path = Vec::new();
        }
        Ok(sum)
    }
}

/// Emits the ids of segmentations of a text, from left to right.
struct Emit<'a> {
    text: &'a str,
    by: &'a Viterbi,
    /// The unknown characters that end where the emitted text does.
    run: Range<usize>,
    /// Whether unknown characters at the start of the text go on with those before it.
    goes_on: bool,
    /// The places of runs and of names of tokens, if they are requested.
    marks: Option<&'a mut Vec<Mark>>,
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
            let end = at + len as usize;
            match id {
                UNKNOWN if self.run.is_empty() => self.run = at..end,
                UNKNOWN => self.run.end = end,
                _ => self.known(id, at..end, sink)?,
            }
            at = end;
        }
        Ok(())
    }

    /// Emits a token, for which there is space.
    #[inline]
    fn known(&mut self, id: TokenId, range: Range<usize>, sink: &mut impl Sink) -> Result<()> {
        if !self.run.is_empty() {
            self.end_run(sink)?;
        }
        if let Some(marks) = &mut self.marks
            && self.by.spelled.contains(&id)
        {
            Mark::push(marks, range, false)?;
        }
        sink.push_id(id);
        Ok(())
    }

    /// Emits the unknown characters up to here. Consecutive ones are one unknown token.
    fn end_run(&mut self, sink: &mut impl Sink) -> Result<()> {
        let run = std::mem::take(&mut self.run);
        if run.is_empty() {
            return Ok(());
        }
        let Unit::Char { on_unknown } = self.by.symbols.unit() else {
            return Err(Error::Internal { reason: "scores of a vocabulary of bytes.".into() });
        };
        let bytes = &self.text.as_bytes()[run.clone()];
        if let Some(marks) = &mut self.marks {
            Mark::push(marks, run.clone(), !matches!(on_unknown, OnUnknown::Token(_)))?;
        }
        match on_unknown {
            OnUnknown::Token(_) if self.goes_on && run.start == 0 => {}
            OnUnknown::Token(id) => {
                sink.reserve(1)?;
                sink.push_id(*id);
            }
            OnUnknown::Bytes { ids } => {
                sink.reserve(bytes.len())?;
                bytes.iter().for_each(|&byte| sink.push_id(ids[usize::from(byte)]));
            }
            OnUnknown::Fail => {
                let character = self.text[run.start..].chars().next().unwrap_or_default();
                return Err(Error::UnknownCharacter { character, offset: run.start });
            }
        }
        Ok(())
    }
}

/// The ordinary tokens that have scores, with these.
pub(super) fn scored_tokens<'v>(
    scores: &Scores,
    vocabulary: &'v Vocabulary,
    ordinary: Ordinary<'_>,
) -> Result<Vec<(TokenId, &'v [u8], f64)>> {
    let mut tokens = Vec::new();
    for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
        if let Some(score) = scores.pieces.get(id as usize).copied().flatten() {
            tokens.push((id, bytes, checked(scores, score, id)?));
        }
    }
    Ok(tokens)
}

fn checked(scores: &Scores, score: f64, id: TokenId) -> Result<f64> {
    match is_finite(scores, score) {
        true => Ok(score),
        false => Err(Error::Vocabulary { reason: format!("the score of token {id} is not finite.") }),
    }
}

fn is_finite(scores: &Scores, score: f64) -> bool {
    match scores.addition {
        Addition::Double => score.is_finite(),
        Addition::Single => (score as f32).is_finite(),
    }
}

/// The number of bytes of the character that a byte begins.
#[inline(always)]
pub(super) fn width_of(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}
