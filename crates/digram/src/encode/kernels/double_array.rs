//! Double arrays: tries whose nodes find a child by one load and one comparison.
//!
//! The unit of a child is that of its node's base, exclusively or-ed with the label of the child.

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

/// A node of a trie. No two nodes have the same base, so the label of a unit shows whose child it is.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// 0 for a leaf.
    pub(super) base: u32,
    /// What leads to the node; [`FREE`] for an unused unit.
    pub(super) label: u32,
    /// The number of the key that ends here, or [`NONE`].
    pub(super) key: u32,
}

pub(super) const FREE: u32 = u32::MAX;
pub(super) const NONE: u32 = u32::MAX;

/// The number of units of a block, in which the first child of a node is searched a place.
const BLOCK: usize = 256;

/// The number of nodes that found no place in a block, from which on the block is not searched again.
const MAX_FAILURES: u8 = 16;

/// Where the children of the root are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// At a base other than 0, as those of other nodes.
    Anywhere,
    /// At the base 0, so that the unit of each is that of its label. No label is 0.
    AtZero,
}

/// Consecutive keys in order that begin with the same labels, and the node of these.
struct Task {
    from: usize,
    to: usize,
    depth: usize,
    node: usize,
}

/// The units of a trie of distinct keys in order, none of which is empty. Labels are less than `span`, a power of two,
/// of which the number of units is a multiple. The root is the first unit.
pub(super) fn double_array<L: Copy + Into<u32> + PartialEq>(
    keys: &[&[L]],
    span: usize,
    root: Root,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Unit>> {
    let (mut builder, mut pacer) = (Builder::new(span.max(BLOCK), root)?, Pacer::new(interrupt));
    let mut tasks = vec![Task { from: 0, to: keys.len(), depth: 0, node: 0 }];
    let mut children: Vec<(u32, usize)> = Vec::new();
    while let Some(Task { mut from, to, depth, node }) = tasks.pop() {
        if from < to && keys[from].len() == depth {
            builder.units[node].key = from as u32;
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
            let label = keys[at][depth];
            children.push((label.into(), at));
            at += keys[at..to].partition_point(|key| key[depth] == label);
        }
        let base = match root {
            Root::AtZero if depth == 0 => builder.put(0, 0, &children),
            _ => builder.place(node, &children)?,
        };
        let ends = children[1..].iter().map(|&(_, start)| start).chain([to]);
        for (&(label, start), end) in children.iter().zip(ends) {
            let node = base ^ label as usize;
            tasks.push(Task { from: start, to: end, depth: depth + 1, node });
        }
    }
    Ok(builder.units)
}

/// Finds places for nodes.
struct Builder {
    units: Vec<Unit>,
    is_base: Vec<bool>,
    /// The blocks that may have free units.
    open: Vec<OpenBlock>,
    /// The free units of all blocks, by bits.
    free: Vec<u64>,
    span: usize,
    /// Whether a block in the list is not searched again.
    has_closed: bool,
}

/// A block that may have free units.
struct OpenBlock {
    start: usize,
    /// How often no place for a node was found.
    failures: u8,
}

impl Builder {
    fn new(span: usize, root: Root) -> Result<Builder> {
        let (units, is_base, free) = (Vec::new(), Vec::new(), Vec::new());
        let mut builder = Builder { units, is_base, open: Vec::new(), free, span, has_closed: false };
        builder.add_units()?;
        // No node but a root that has its children there has the base 0.
        builder.is_base[0] = true;
        builder.units[0].label = 0;
        builder.free[0] &= !1;
        if root == Root::Anywhere {
            // The base of a leaf is 0, whose block has no children of another node with any label.
            builder.open.clear();
        }
        Ok(builder)
    }

    fn add_units(&mut self) -> Result<()> {
        let start = self.units.len();
        let len = start + self.span;
        if u32::try_from(len).is_err() {
            return Err(Error::Limit { reason: "the tokens have too many bytes for a trie.".into() });
        }
        memory::try_reserve(&mut self.units, self.span)?;
        memory::try_reserve(&mut self.is_base, self.span)?;
        memory::try_reserve(&mut self.free, self.span / 64)?;
        self.units.resize(len, Unit { base: 0, label: FREE, key: NONE });
        self.is_base.resize(len, false);
        self.free.resize(len / 64, u64::MAX);
        self.open.extend((start..len).step_by(BLOCK).map(|start| OpenBlock { start, failures: 0 }));
        Ok(())
    }

    /// Gives the children of a node units, and returns its base.
    fn place(&mut self, node: usize, children: &[(u32, usize)]) -> Result<usize> {
        let base = match self.find(children) {
            Some(base) => base,
            None => {
                let start = self.units.len();
                self.add_units()?;
                // All units are free, so any base will do.
                start
            }
        };
        Ok(self.put(node, base, children))
    }

    fn put(&mut self, node: usize, base: usize, children: &[(u32, usize)]) -> usize {
        self.units[node].base = base as u32;
        self.is_base[base] = true;
        for &(label, _) in children {
            let unit = base ^ label as usize;
            self.units[unit].label = label;
            self.free[unit / 64] &= !(1 << (unit % 64));
        }
        base
    }

    /// A base whose units for the children are free, the first child in an open block. Blocks in which too many nodes
    /// found no place are closed, so that the search takes linear time.
    fn find(&mut self, children: &[(u32, usize)]) -> Option<usize> {
        if self.has_closed {
            self.open.retain(|block| block.failures < MAX_FAILURES);
            self.has_closed = false;
        }
        let first = children[0].0 as usize;
        let (is_base, free) = (&self.is_base, &self.free);
        let fits = |&base: &usize| {
            let is_free = |&(label, _): &(u32, usize)| {
                let unit = base ^ label as usize;
                free[unit / 64] >> (unit % 64) & 1 != 0
            };
            !is_base[base] && children[1..].iter().all(is_free)
        };
        for block in &mut self.open {
            let words = block.start / 64..(block.start + BLOCK) / 64;
            let units = words.flat_map(|word| bits(free[word]).map(move |bit| word * 64 + bit));
            if let Some(base) = units.map(|unit| unit ^ first).find(fits) {
                return Some(base);
            }
            block.failures += 1;
            self.has_closed |= block.failures == MAX_FAILURES;
        }
        None
    }
}

/// The places of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}
