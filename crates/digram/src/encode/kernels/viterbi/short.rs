//! Short texts, whose characters and segmentations are in arrays.

use super::super::char_trie::Found;
use super::characters::{CharactersAhead, READ_AHEAD};
use super::{
    Addition, Context, FewCharacters, HasNodes, Node, Parts, Progress, SHORT, Sink, Sum, UNKNOWN, Viterbi,
    ViterbiScratch,
};
use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

/// Memory for a short text.
pub(super) struct Short {
    characters: FewCharacters,
    ahead: CharactersAhead,
    path: [TokenId; SHORT],
}

impl Default for Short {
    fn default() -> Short {
        Short { characters: FewCharacters::default(), ahead: CharactersAhead::default(), path: [0; SHORT] }
    }
}

impl Viterbi {
    /// Encodes many texts, of which `text` gives that of a number, so that memory is waited for while others are
    /// encoded. `visit` is called before each one, and `encode` encodes those that are long, or have unknown
    /// characters.
    pub(in crate::encode) fn encode_many<'t, S: Sink>(
        &self,
        count: usize,
        text: impl Fn(usize) -> &'t [u8],
        context: &mut Context<'_>,
        sink: &mut S,
        mut visit: impl FnMut(usize, &mut S),
        encode: impl Fn(usize, &mut Context<'_>, &mut S) -> Result<()>,
    ) -> Result<()> {
        for number in 0..count + READ_AHEAD {
            let next = (number < count && !self.is_extreme).then(|| text(number));
            context.scratch.viterbi.short.ahead.read(&self.trie, number, next);
            let Some(number) = number.checked_sub(READ_AHEAD) else { continue };
            visit(number, sink);
            let is_emitted = match self.addition {
                Addition::Double => self.encode_ahead::<f64>(number, context, sink),
                Addition::Single => self.encode_ahead::<f32>(number, context, sink),
            }?;
            if !is_emitted {
                encode(number, context, sink)?;
            }
        }
        Ok(())
    }

    /// Emits the ids of a text that was read ahead; as `encode_short`.
    fn encode_ahead<S: Sum>(
        &self,
        number: usize,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool>
    where
        ViterbiScratch: HasNodes<S>,
    {
        let Parts { nodes, short: Short { ahead, path, .. }, .. } = context.scratch.viterbi.parts();
        let Some(read) = ahead.of(number) else { return Ok(false) };
        self.encode_read(read, nodes, path, &mut Progress::default(), sink)
    }

    /// Emits the ids of a short text, if it has no unknown characters and no sum is too large; emits nothing, and
    /// returns false, if it may.
    pub(super) fn encode_short<S: Sum>(
        &self,
        text: &[u8],
        progress: &mut Progress,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool>
    where
        ViterbiScratch: HasNodes<S>,
    {
        let Parts { nodes, short: Short { characters, path, .. }, .. } = context.scratch.viterbi.parts();
        let read = characters.read(&self.trie, text)?;
        self.encode_read(read, nodes, path, progress, sink)
    }

    /// The same for characters that were read.
    #[inline(always)]
    fn encode_read<S: Sum>(
        &self,
        (numbers, seconds): (&[u32], &[u32]),
        nodes: &mut Vec<Node<S>>,
        path: &mut [TokenId; SHORT],
        progress: &mut Progress,
        sink: &mut impl Sink,
    ) -> Result<bool> {
        if nodes.len() <= SHORT {
            memory::try_reserve(nodes, SHORT + 1)?;
            nodes.resize(SHORT + 1, Node::origin());
        }
        let count = seconds.len();
        let nodes = &mut nodes[..=count];
        nodes.fill(Node::origin());
        nodes[0].sum = S::of(progress.sum);
        for at in 0..count {
            let sum = nodes[at].sum;
            if sum.is_too_large() {
                return Ok(false);
            }
            let ends = &mut nodes[at..];
            self.trie.each_prefix(&numbers[at..], seconds[at], |Found { chars, unit, score }| {
                let (node, sum) = (&mut ends[chars as usize], sum.plus(score));
                if sum > node.sum {
                    *node = Node { sum, chars, unit };
                }
            });
        }
        let (mut first, mut at) = (SHORT, count);
        while at > 0 {
            let Node { chars, unit, .. } = nodes[at];
            let id = self.trie.id::<S>(unit);
            if id == UNKNOWN {
                return Ok(false);
            }
            first -= 1;
            path[first] = id;
            at -= chars as usize;
        }
        sink.reserve(SHORT - first)?;
        path[first..].iter().for_each(|&id| sink.push_id(id));
        *progress = Progress {
            sum: nodes[count].sum.wide(),
            is_after_unknown: count == 0 && progress.is_after_unknown,
        };
        Ok(true)
    }
}
