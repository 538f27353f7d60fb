//! Short texts, whose pieces are found together.

use super::endings::{self, Best, Endings};
use super::{
    Addition, Context, Emit, HasNodes, Node, OnUnknown, Parts, Progress, Sink, Sum, Unit, Viterbi,
    ViterbiScratch,
};
use crate::encode::kernels::char_trie::each_char;
use crate::error::Result;
use crate::memory;

/// The size in bytes of texts that are short.
pub(super) const SHORT: usize = endings::BYTES;

/// Memory for short texts. What encodes several takes theirs away meanwhile.
#[derive(Default)]
pub(in crate::encode) struct Short {
    /// For those of a call of [`Viterbi::encode_many`], which encodes some of them in another way.
    many: Memory,
    /// For all others.
    pub(in crate::encode) few: Memory,
}

/// Memory for the pieces of short texts, which is allocated when it is first needed.
#[derive(Default)]
pub(in crate::encode) struct Memory(Option<Box<Endings>>);

impl Memory {
    /// Without texts.
    #[inline]
    pub(in crate::encode) fn empty(&mut self) -> Result<&mut Endings> {
        let endings = match self.0.take() {
            Some(endings) => endings,
            None => Box::new(Endings::new()?),
        };
        let endings = self.0.insert(endings);
        endings.clear();
        Ok(endings)
    }
}

impl<S: Sum> Best for Node<S> {
    type Sum = S;

    const NONE: Node<S> = Node { sum: S::LEAST, chars: 0, unit: 0 };

    #[inline(always)]
    fn sum(self) -> S {
        self.sum
    }

    #[inline(always)]
    fn chars(self) -> usize {
        (self.chars as usize).saturating_sub(1)
    }

    #[inline(always)]
    fn take(&mut self, sum: S, chars: usize) {
        let is_better = sum > self.sum;
        self.sum = if is_better { sum } else { self.sum };
        self.chars = if is_better { chars as u32 + 1 } else { self.chars };
    }
}

impl Viterbi {
    /// Encodes many texts, of which `text` gives that of a number. `visit` is called before each one, and `encode` encodes
    /// those that are not short.
    pub(in crate::encode) fn encode_many<'t, S: Sink>(
        &self,
        count: usize,
        text: impl Fn(usize) -> &'t [u8],
        context: &mut Context<'_>,
        sink: &mut S,
        mut visit: impl FnMut(usize, &mut S),
        encode: impl Fn(usize, &mut Context<'_>, &mut S) -> Result<()>,
    ) -> Result<()> {
        let mut memory = std::mem::take(&mut context.scratch.viterbi.short.many);
        self.each_text(count, &text, &mut memory, |number, found| {
            visit(number, sink);
            if let Some(found) = found
                && self.encode_found(text(number), found, &mut Progress::default(), context, sink)?
            {
                return Ok(());
            }
            encode(number, context, sink)
        })?;
        context.scratch.viterbi.short.many = memory;
        Ok(())
    }

    /// Calls `encode` with the number of each text, and the pieces that were found together with those of others, unless
    /// it is not short or not UTF-8.
    #[inline(always)]
    pub(in crate::encode) fn each_text<'t>(
        &self,
        count: usize,
        text: impl Fn(usize) -> &'t [u8],
        memory: &mut Memory,
        mut encode: impl FnMut(usize, Option<(usize, &mut Endings)>) -> Result<()>,
    ) -> Result<()> {
        let mut number = 0;
        while number < count {
            let (first, endings) = (number, memory.empty()?);
            while number < count && self.push(text(number), endings) {
                number += 1;
            }
            if number == first {
                encode(number, None)?;
                number += 1;
                continue;
            }
            self.find(endings);
            for number in first..number {
                encode(number, Some((number - first, &mut *endings)))?;
            }
        }
        Ok(())
    }

    /// Adds a text to others whose pieces will be found together. Returns false if there is no space for it, or it is not
    /// UTF-8.
    #[inline(always)]
    pub(in crate::encode) fn push(&self, text: &[u8], endings: &mut Endings) -> bool {
        !self.is_extreme && endings.push(&self.trie, text)
    }

    /// Finds the pieces of all texts.
    #[inline]
    pub(in crate::encode) fn find(&self, endings: &mut Endings) {
        match self.addition {
            Addition::Double => endings.find::<f64>(&self.trie),
            Addition::Single => endings.find::<f32>(&self.trie),
        }
    }

    /// Emits the ids of a short text, unless a sum is too large; emits nothing, and returns false, if one may be.
    pub(super) fn encode_short(
        &self,
        text: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool> {
        let mut memory = std::mem::take(&mut context.scratch.viterbi.short.few);
        let endings = memory.empty()?;
        let is_emitted = self.push(text, endings) && {
            self.find(endings);
            self.encode_found(text, (0, &mut *endings), progress, context, sink)?
        };
        context.scratch.viterbi.short.few = memory;
        Ok(is_emitted)
    }

    /// The same for a text whose pieces were `found`.
    #[inline(always)]
    pub(in crate::encode) fn encode_found(
        &self,
        text: &[u8],
        found: (usize, &mut Endings),
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool> {
        match self.addition {
            Addition::Double => self.encode_found_with::<f64>(text, found, progress, context, sink),
            Addition::Single => self.encode_found_with::<f32>(text, found, progress, context, sink),
        }
    }

    #[inline(always)]
    fn encode_found_with<S: Sum>(
        &self,
        text: &[u8],
        (number, endings): (usize, &mut Endings),
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool>
    where
        ViterbiScratch: HasNodes<S>,
    {
        let Parts { nodes, path, .. } = context.scratch.viterbi.parts();
        if nodes.len() <= SHORT {
            memory::try_reserve(nodes, SHORT + 1)?;
            nodes.resize(SHORT + 1, Node::NONE);
        }
        let first = Node { sum: S::of(progress.sum), ..Node::NONE };
        endings.segment(number, first, S::score, nodes);
        let count = endings.chars(number);
        let is_too_large = nodes[..count].iter().any(|node| node.sum.is_too_large());
        if is_too_large || endings.is_left_out(number) {
            return Ok(false);
        }
        let sum = nodes[count].sum.wide();
        if let Some(ids) = endings.ids::<S, _>(number, &self.trie, nodes, |_| true) {
            sink.reserve(ids.len())?;
            ids.iter().for_each(|&id| sink.push_id(id));
            *progress = Progress { sum, is_after_unknown: count == 0 && progress.is_after_unknown };
            return Ok(true);
        }
        // Another way finds the place of the error.
        if matches!(self.symbols.unit(), Unit::Char { on_unknown: OnUnknown::Fail }) {
            return Ok(false);
        }
        path.clear();
        memory::try_reserve(path, count)?;
        let mut at = count;
        while at > 0 {
            let chars = nodes[at].chars();
            path.push([endings.id::<S>(number, &self.trie, at, chars), chars as u32 + 1]);
            at -= chars + 1;
        }
        let mut emit = Emit::new(self, text, *progress, None);
        emit.pieces(path.iter().rev(), sink)?;
        *progress = Progress { sum, is_after_unknown: emit.is_after_unknown() };
        emit.end_run(sink)?;
        Ok(true)
    }
}

impl Emit<'_> {
    /// Emits the pieces of a whole text: the id of each, and its number of characters.
    fn pieces<'p>(
        &mut self,
        pieces: impl ExactSizeIterator<Item = &'p [u32; 2]>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        sink.reserve(pieces.len())?;
        let mut start = 0;
        for &[id, chars] in pieces {
            let rest = &self.text[start..];
            let len = each_char(rest, chars as usize, |_, _| {}).unwrap_or(rest.len());
            self.piece(id, start..start + len, sink)?;
            start += len;
        }
        Ok(())
    }
}
