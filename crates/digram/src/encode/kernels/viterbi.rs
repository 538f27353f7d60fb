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
use crate::utf8::decode;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::algorithm::{Addition, Scores};
use super::super::build::Ordinary;
use super::super::lattice::{Edge, Lattice};
use super::super::symbols::{OnUnknown, Symbols, Unit};
use super::super::{Context, IdCount, Mark, Sink};
use super::certain::{self, Certainty};
use super::char_trie::{CharTrie, Found};
use super::check_len;
use super::pieces::Piece;
use characters::Characters;
pub(super) use endings::Best;
pub(in crate::encode) use endings::{Endings, TEXTS};
pub(in crate::encode) use short::Memory;
use short::{SHORT, Short};
pub(super) use sum::{LARGEST_SUM, Sum};

mod characters;
mod endings;
mod short;
mod sum;

/// Finds the best segmentations.
pub(in crate::encode) struct Viterbi {
    pub(super) trie: CharTrie,
    pub(super) addition: Addition,
    /// Whether a sum may be infinite.
    is_extreme: bool,
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
    characters: Characters,
    single: Vec<Node<f32>>,
    double: Vec<Node<f64>>,
    path: Vec<[u32; 2]>,
    pub(in crate::encode) short: Short,
    pub(in crate::encode) certain: certain::Scratch,
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
    /// The number of characters of its last piece; 0 if no segmentation was found.
    chars: u32,
    /// The piece: its unit in the trie.
    unit: u32,
}

impl<S: Sum> Node<S> {
    /// No segmentation was found.
    fn origin() -> Node<S> {
        Node { sum: S::LEAST, chars: 0, unit: 0 }
    }
}

/// The id of a character that is no piece.
pub(super) const UNKNOWN: TokenId = TokenId::MAX;

/// More memory is freed after a call.
const KEEP: usize = 1 << 13;

/// The number of characters that are read at a time.
const READ: usize = 1 << 10;

/// The number of steps between two checks, or a few more.
const STEPS: usize = 1 << 13;

/// No sum of smaller scores is infinite: up to 2³² of them are added, with single precision fewer.
const EXTREME: f64 = 1e25;

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
        let is_extreme = certainty.largest_score >= EXTREME;
        let unknown = Piece { id: UNKNOWN, score: scores.unknown };
        let trie = match scores.addition {
            Addition::Double => CharTrie::new::<f64>(pieces, unknown, &Never),
            Addition::Single => CharTrie::new::<f32>(pieces, unknown, &Never),
        }?;
        let spelled: HashSet<_> = scores.spelled.iter().map(|one| one.id).collect();
        let mut marked = spelled.clone();
        match symbols.unit() {
            Unit::Char { on_unknown: OnUnknown::Token(id) } => marked.extend([*id]),
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } if !spelled.is_empty() => {
                marked.extend(ids.iter().copied());
            }
            _ => {}
        }
        let addition = scores.addition;
        Ok(Viterbi { trie, addition, is_extreme, symbols, spelled, marked, certainty })
    }

    /// The ids that may not stand for the bytes of their tokens.
    pub(in crate::encode) fn marked(&self) -> &HashSet<TokenId> {
        &self.marked
    }

    /// Emits the ids of a piece of text. Takes time linear in it and in the length of the longest token.
    pub(super) fn encode(&self, piece: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        let encoded = self.encode_with(piece, &mut Progress::default(), context, None, sink);
        encoded.map_err(|error| with_offset(error, piece))
    }

    /// Emits the ids of a part of a text between boundaries that no piece spans. If it is not UTF-8, the offset of the
    /// error is not known. A part that [`encode_found`](Viterbi::encode_found) did not emit is encoded so.
    pub(in crate::encode) fn encode_part(
        &self,
        part: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        check_len(part.len())?;
        self.encode_long(part, progress, context, None, sink)
    }

    /// Appends the places of the runs of unknown characters and of names of tokens in a piece of text.
    pub(in crate::encode) fn marks(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        marks: &mut Vec<Mark>,
    ) -> Result<()> {
        let (progress, count) = (&mut Progress::default(), &mut IdCount::default());
        let encoded = self.encode_with(piece, progress, context, Some(marks), count);
        encoded.map_err(|error| with_offset(error, piece))
    }

    /// Adds all pieces of a pretoken.
    pub(in crate::encode) fn push_segmentations(
        &self,
        pretoken: &[u8],
        lattice: &mut Lattice,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match self.addition {
            Addition::Double => self.push_segmentations_of::<f64>(pretoken, lattice, interrupt),
            Addition::Single => self.push_segmentations_of::<f32>(pretoken, lattice, interrupt),
        }
    }

    fn push_segmentations_of<S: Sum>(
        &self,
        pretoken: &[u8],
        lattice: &mut Lattice,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        check_len(pretoken.len())?;
        let (mut characters, mut read) = (Characters::default(), 0);
        let advanced = characters.advance(&self.trie, pretoken, &mut read, 0, pretoken.len());
        advanced.map_err(|error| with_offset(error, pretoken))?;
        let Characters { numbers, seconds, starts } = &characters;
        let (mut edges, mut pacer) = (Vec::new(), Pacer::new(interrupt));
        for at in 0..characters.len() {
            let first = edges.len();
            memory::try_reserve(&mut edges, self.trie.longest().min(characters.len() - at) + 1)?;
            let steps =
                self.trie.each_prefix(&numbers[at..], seconds[at], |Found::<S> { chars, unit, score }| {
                    if !score.is_nan() {
                        let id = Some(self.trie.id::<S>(unit)).filter(|&id| id != UNKNOWN);
                        let (start, end) = (starts[at], starts[at + chars as usize]);
                        edges.push(Edge { start, end, id, score: score.wide() });
                    }
                });
            pacer.after(steps + edges.len() - first)?;
        }
        lattice.push_pretoken(pretoken.len(), edges.into_iter())
    }

    fn encode_with(
        &self,
        text: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        marks: Option<&mut Vec<Mark>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        check_len(text.len())?;
        let is_short = text.len() <= SHORT && !self.is_extreme && marks.is_none();
        if is_short && self.encode_short(text, progress, context, sink)? {
            return Ok(());
        }
        self.encode_long(text, progress, context, marks, sink)
    }

    /// Emits the ids of a text of any length.
    fn encode_long(
        &self,
        text: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        marks: Option<&mut Vec<Mark>>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut emit = Emit::new(self, text, *progress, marks);
        let sum = match (self.addition, self.is_extreme) {
            (Addition::Double, false) => self.segment::<f64, false>(progress.sum, &mut emit, context, sink),
            (Addition::Double, true) => self.segment::<f64, true>(progress.sum, &mut emit, context, sink),
            (Addition::Single, false) => self.segment::<f32, false>(progress.sum, &mut emit, context, sink),
            (Addition::Single, true) => self.segment::<f32, true>(progress.sum, &mut emit, context, sink),
        }?;
        *progress = Progress { sum, is_after_unknown: emit.is_after_unknown() };
        emit.end_run(sink)
    }

    /// Emits the ids of a text, and returns the sum of all scores; `sum` is that of the scores before the text.
    /// `EXTREME` if a sum may be infinite.
    fn segment<S: Sum, const EXTREME: bool>(
        &self,
        sum: f64,
        emit: &mut Emit<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<f64>
    where
        ViterbiScratch: HasNodes<S>,
    {
        let mut pacer = Pacer::new(context.interrupt);
        let Parts { nodes, characters, path } = context.scratch.viterbi.parts();
        let (text, mut read, longest) = (emit.text, 0, self.trie.longest());
        let origin = Node::origin();
        nodes.clear();
        nodes.push(Node { sum: S::of(sum), ..origin });
        characters.clear();
        // The last boundary that no piece spans, the end of the farthest piece, and the next boundary. They and the
        // nodes are counted from the first character that is kept.
        let (mut cut, mut reach, mut at) = (0, 0, 0);
        loop {
            emit.path(&nodes[..=cut], characters, path, sink)?;
            nodes.drain(..cut);
            let from = std::mem::take(&mut cut);
            (reach, at) = (reach - from, at - from);
            characters.advance(&self.trie, text, &mut read, from, at + READ.min(text.len()) + longest)?;
            let is_last = read == text.len();
            let until = if is_last { characters.len() } else { characters.len() - longest };
            memory::try_reserve(nodes, characters.len() + 1 - nodes.len())?;
            nodes.resize(characters.len() + 1, origin);
            let mut steps = 0;
            while at < until {
                if at >= reach {
                    cut = at;
                }
                if nodes[at].sum.is_too_large() {
                    let sum = nodes[at].sum;
                    nodes[at..=reach.max(at)].iter_mut().for_each(|node| node.sum = node.sum.minus(sum));
                }
                let sum = nodes[at].sum;
                let ends = &mut nodes[at..];
                let mut farthest = 1;
                let (numbers, second) = (&characters.numbers[at..], characters.seconds[at]);
                steps += self.trie.each_prefix(numbers, second, |Found { chars, unit, score }| {
                    let (node, sum) = (&mut ends[chars as usize], sum.plus(score));
                    let is_first = EXTREME && node.chars == 0 && !score.is_nan();
                    if sum > node.sum || is_first {
                        *node = Node { sum, chars, unit };
                    }
                    farthest = if score.is_nan() { farthest } else { chars };
                });
                reach = reach.max(at + farthest as usize);
                at += 1;
                // A piece may have as many characters as the text.
                if steps >= STEPS {
                    pacer.after(std::mem::take(&mut steps))?;
                }
            }
            pacer.after(steps)?;
            if is_last {
                break;
            }
        }
        emit.path(nodes, characters, path, sink)?;
        let sum = nodes[nodes.len() - 1].sum.wide();
        if nodes.capacity() > KEEP {
            context.scratch.viterbi = ViterbiScratch::default();
        }
        Ok(sum)
    }
}

/// The memory of a call, with the nodes for sums of a precision.
struct Parts<'a, S> {
    nodes: &'a mut Vec<Node<S>>,
    characters: &'a mut Characters,
    path: &'a mut Vec<[u32; 2]>,
}

trait HasNodes<S> {
    fn parts(&mut self) -> Parts<'_, S>;
}

impl HasNodes<f32> for ViterbiScratch {
    fn parts(&mut self) -> Parts<'_, f32> {
        let ViterbiScratch { single: nodes, characters, path, .. } = self;
        Parts { nodes, characters, path }
    }
}

impl HasNodes<f64> for ViterbiScratch {
    fn parts(&mut self) -> Parts<'_, f64> {
        let ViterbiScratch { double: nodes, characters, path, .. } = self;
        Parts { nodes, characters, path }
    }
}

/// An error with its offset, if it is that a text is not UTF-8.
#[cold]
pub(in crate::encode) fn with_offset(error: Error, text: &[u8]) -> Error {
    match (&error, std::str::from_utf8(text)) {
        (Error::InvalidUtf8 { .. }, Err(invalid)) => Error::InvalidUtf8 { offset: invalid.valid_up_to() },
        _ => error,
    }
}

/// Emits the ids of segmentations of a text, from left to right.
struct Emit<'a> {
    text: &'a [u8],
    by: &'a Viterbi,
    /// The unknown characters that end where the emitted text does.
    run: Range<usize>,
    /// Whether unknown characters at the start of the text go on with those before it.
    goes_on: bool,
    /// The places of runs and of names of tokens, if they are requested.
    marks: Option<&'a mut Vec<Mark>>,
}

impl<'a> Emit<'a> {
    /// Emits those of a text that follows another one.
    fn new(
        by: &'a Viterbi,
        text: &'a [u8],
        progress: Progress,
        marks: Option<&'a mut Vec<Mark>>,
    ) -> Emit<'a> {
        Emit { text, by, run: 0..0, goes_on: progress.is_after_unknown, marks }
    }

    /// Whether the last character of the whole text is unknown.
    fn is_after_unknown(&self) -> bool {
        !self.run.is_empty() || self.text.is_empty() && self.goes_on
    }

    /// Emits the best segmentation up to the last node, which begins at the first character.
    fn path<S: Sum>(
        &mut self,
        nodes: &[Node<S>],
        characters: &Characters,
        path: &mut Vec<[u32; 2]>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        path.clear();
        let mut at = nodes.len() - 1;
        memory::try_reserve(path, at)?;
        while at > 0 {
            let Node { chars, unit, .. } = nodes[at];
            path.push([unit, chars]);
            at -= chars as usize;
        }
        sink.reserve(path.len())?;
        for &[unit, chars] in path.iter().rev() {
            let start = at;
            at += chars as usize;
            let id = self.by.trie.id::<S>(unit);
            if id != UNKNOWN && self.run.is_empty() && self.marks.is_none() {
                sink.push_id(id);
                continue;
            }
            self.piece(id, characters.starts[start] as usize..characters.starts[at] as usize, sink)?;
        }
        Ok(())
    }

    /// Emits a piece, for which there is space, or adds it to the run if it is unknown.
    #[inline]
    fn piece(&mut self, id: TokenId, range: Range<usize>, sink: &mut impl Sink) -> Result<()> {
        match id {
            UNKNOWN if self.run.is_empty() => self.run = range,
            UNKNOWN => self.run.end = range.end,
            _ => self.known(id, range, sink)?,
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
        let bytes = &self.text[run.clone()];
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
                let (character, _) = decode(&self.text[run.start..]);
                return Err(Error::UnknownCharacter {
                    character: character.unwrap_or_default(),
                    offset: run.start,
                });
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
