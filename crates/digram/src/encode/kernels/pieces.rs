//! A trie of pieces that finds those which a text begins with.
//!
//! It is a double array: the unit of a child is that of its node's base, with the byte of the child in the lowest
//! bits exclusively or-ed. So a step is one load and one comparison.

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::vocabulary::TokenId;

/// A node of the trie. No two nodes have the same base, so the label of a unit shows whose child it is.
#[derive(Clone, Copy)]
struct Unit {
    base: u32,
    /// The byte that leads to the node; [`FREE`] for an unused unit.
    label: u16,
    /// The number of the piece that ends here, or [`NONE`].
    piece: u32,
}

const FREE: u16 = u16::MAX;
const NONE: u32 = u32::MAX;

/// The number of units of a block. The children of a node are in one block.
const BLOCK: usize = 256;

/// The number of nodes that found no place in a block, from which on the block is not searched again.
const MAX_FAILURES: u8 = 16;

/// A piece, and what its place in a segmentation adds to the sum of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece {
    pub(crate) id: TokenId,
    pub(crate) score: f64,
}

/// A set of pieces with their scores.
pub(crate) struct Pieces {
    units: Vec<Unit>,
    pieces: Vec<Piece>,
    /// The length of the longest piece, in bytes.
    longest: usize,
}

/// Consecutive pieces in order that begin with the same bytes, and the node of these.
struct Task {
    from: usize,
    to: usize,
    depth: usize,
    node: usize,
}

impl Pieces {
    /// Of two pieces of the same bytes, the last one is kept.
    pub(crate) fn new<'p>(
        pieces: impl IntoIterator<Item = (&'p [u8], Piece)>,
        interrupt: &dyn Interrupt,
    ) -> Result<Pieces> {
        let mut sorted: Vec<(&[u8], Piece)> =
            pieces.into_iter().filter(|(bytes, _)| !bytes.is_empty()).collect();
        // Stable, so that equal ones stay in the given order.
        sorted.sort_by_key(|(bytes, _)| *bytes);
        sorted.reverse();
        sorted.dedup_by_key(|(bytes, _)| *bytes);
        sorted.reverse();
        interrupt.check()?;
        let (mut builder, mut pacer) = (Builder::new()?, Pacer::new(interrupt));
        let mut tasks = vec![Task { from: 0, to: sorted.len(), depth: 0, node: 0 }];
        let mut children: Vec<(u8, usize)> = Vec::new();
        while let Some(Task { mut from, to, depth, node }) = tasks.pop() {
            if from < to && sorted[from].0.len() == depth {
                builder.units[node].piece = from as u32;
                from += 1;
            }
            if from == to {
                continue;
            }
            // A place for a node is searched in several blocks.
            pacer.after(64)?;
            children.clear();
            let mut at = from;
            while at < to {
                let byte = sorted[at].0[depth];
                children.push((byte, at));
                at += sorted[at..to].partition_point(|(bytes, _)| bytes[depth] == byte);
            }
            let base = builder.place(node, &children)?;
            let ends = children[1..].iter().map(|&(_, start)| start).chain([to]);
            for (&(byte, start), end) in children.iter().zip(ends) {
                let node = base ^ usize::from(byte);
                tasks.push(Task { from: start, to: end, depth: depth + 1, node });
            }
        }
        let longest = sorted.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0);
        let pieces = sorted.into_iter().map(|(_, piece)| piece).collect();
        Ok(Pieces { units: builder.units, pieces, longest })
    }

    /// The length of the longest piece, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Calls `visit` with the pieces that the bytes begin with and their lengths, the shortest first. Returns the
    /// number of steps.
    #[inline(always)]
    pub(crate) fn each_prefix(&self, bytes: &[u8], mut visit: impl FnMut(usize, Piece)) -> usize {
        let mut base = self.units[0].base;
        for (index, &byte) in bytes.iter().enumerate() {
            // The base of a leaf is 0, whose block has no children of another node with this label.
            let unit = self.units[base as usize ^ usize::from(byte)];
            if unit.label != u16::from(byte) {
                return index + 1;
            }
            if unit.piece != NONE {
                visit(index + 1, self.pieces[unit.piece as usize]);
            }
            if unit.base == 0 {
                return index + 1;
            }
            base = unit.base;
        }
        bytes.len()
    }
}

/// Finds places for nodes.
struct Builder {
    units: Vec<Unit>,
    is_base: Vec<bool>,
    open: Vec<OpenBlock>,
}

/// A block that may have free units.
struct OpenBlock {
    start: usize,
    /// The free units, by bits.
    free: [u64; BLOCK / 64],
    /// How often no place for a node was found.
    failures: u8,
}

impl OpenBlock {
    /// The free units.
    fn free_units(&self) -> impl Iterator<Item = usize> + '_ {
        self.free.iter().enumerate().flat_map(move |(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(self.start + index * 64 + bit)
            })
        })
    }
}

impl Builder {
    fn new() -> Result<Builder> {
        let mut builder = Builder { units: Vec::new(), is_base: Vec::new(), open: Vec::new() };
        // The first block has only the root, so that no base is 0.
        builder.add_block()?;
        builder.units[0].label = 0;
        builder.open.clear();
        Ok(builder)
    }

    fn add_block(&mut self) -> Result<()> {
        let start = self.units.len();
        let len = start + BLOCK;
        if u32::try_from(len).is_err() {
            return Err(Error::Limit { reason: "the tokens have too many bytes for a trie.".into() });
        }
        memory::try_reserve(&mut self.units, BLOCK)?;
        memory::try_reserve(&mut self.is_base, BLOCK)?;
        self.units.resize(len, Unit { base: 0, label: FREE, piece: NONE });
        self.is_base.resize(len, false);
        self.open.push(OpenBlock { start, free: [u64::MAX; BLOCK / 64], failures: 0 });
        Ok(())
    }

    /// Gives the children of a node units, and returns its base.
    fn place(&mut self, node: usize, children: &[(u8, usize)]) -> Result<usize> {
        let (block, base) = match self.find(children) {
            Some(found) => found,
            None => {
                self.add_block()?;
                // All units are free, so any base will do.
                (self.open.len() - 1, self.units.len() - BLOCK)
            }
        };
        self.units[node].base = base as u32;
        self.is_base[base] = true;
        for &(byte, _) in children {
            let unit = base ^ usize::from(byte);
            self.units[unit].label = u16::from(byte);
            self.open[block].free[unit % BLOCK / 64] &= !(1 << (unit % 64));
        }
        Ok(base)
    }

    /// An open block, and a base in it whose units for the children are free. Blocks in which too many nodes found
    /// no place are closed, so that the search takes linear time.
    fn find(&mut self, children: &[(u8, usize)]) -> Option<(usize, usize)> {
        let first = usize::from(children[0].0);
        self.open.retain(|block| block.failures < MAX_FAILURES);
        for (index, block) in self.open.iter_mut().enumerate() {
            let is_free =
                |&(byte, _): &(u8, usize), base: usize| self.units[base ^ usize::from(byte)].label == FREE;
            let fits =
                |&base: &usize| !self.is_base[base] && children[1..].iter().all(|child| is_free(child, base));
            if let Some(base) = block.free_units().map(|unit| unit ^ first).find(fits) {
                return Some((index, base));
            }
            block.failures += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_prefixes_are_found(
            tokens in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0xe2, 0xff]), 0..6), 0..200),
            text in prop::collection::vec(prop::sample::select(vec![0, 1, b'a', b'b', 0xe2, 0xff]), 0..12),
        ) {
            let piece = |id: usize| Piece { id: id as TokenId, score: -(id as f64) };
            let pieces = Pieces::new(tokens.iter().enumerate().map(|(id, token)| (&token[..], piece(id))), &Never).unwrap();
            let mut found = Vec::new();
            pieces.each_prefix(&text, |len, piece| found.push((len, piece)));
            let expected: Vec<_> = (1..=text.len())
                .filter_map(|len| Some((len, piece(tokens.iter().rposition(|token| *token == text[..len])?))))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
