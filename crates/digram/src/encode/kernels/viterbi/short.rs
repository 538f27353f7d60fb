//! Short texts, whose characters and segmentations are in arrays.

use super::super::char_trie::Found;
use super::{
    Context, FewCharacters, HasNodes, Node, Parts, Progress, SHORT, Sink, Sum, UNKNOWN, Viterbi,
    ViterbiScratch,
};
use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

/// Memory for a short text.
pub(super) struct Short {
    characters: FewCharacters,
    path: [TokenId; SHORT],
}

impl Default for Short {
    fn default() -> Short {
        Short { characters: FewCharacters::default(), path: [0; SHORT] }
    }
}

impl Viterbi {
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
        let Parts { nodes, short: Short { characters, path }, .. } = context.scratch.viterbi.parts();
        if nodes.len() <= SHORT {
            memory::try_reserve(nodes, SHORT + 1)?;
            nodes.resize(SHORT + 1, Node::origin());
        }
        let (numbers, seconds) = characters.read(&self.trie, text)?;
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
            let id = self.trie.id(unit);
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
