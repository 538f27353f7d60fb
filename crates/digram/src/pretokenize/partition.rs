//! Finds equivalent states by splitting blocks of states that differ (Hopcroft, "An n log n
//! algorithm for minimizing states in a finite automaton", 1971).

use hashbrown::HashMap;
use std::hash::Hash;

use super::effort::{Effort, Stopped};

/// States in blocks.
pub(super) struct Partition {
    /// All states, grouped by block.
    states: Vec<u16>,
    /// The index of each state in `states`.
    indices: Vec<usize>,
    /// The block of each state.
    blocks: Vec<usize>,
    bounds: Vec<Bounds>,
}

/// The start and end of a block, and the number of marked states at its start.
#[derive(Clone, Copy)]
struct Bounds {
    start: usize,
    end: usize,
    marked: usize,
}

impl Partition {
    /// A partition with the states of equal keys in one block; `keys` are those of the states in
    /// order.
    pub(super) fn new<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> Partition {
        let mut blocks_by_key = HashMap::new();
        let mut members: Vec<Vec<u16>> = Vec::new();
        let mut blocks = Vec::new();
        for (state, key) in keys.enumerate() {
            let block = *blocks_by_key.entry(key).or_insert(members.len());
            if block == members.len() {
                members.push(Vec::new());
            }
            members[block].push(state as u16);
            blocks.push(block);
        }
        let (mut states, mut bounds) = (Vec::with_capacity(blocks.len()), Vec::new());
        for members in members {
            let start = states.len();
            states.extend(members);
            bounds.push(Bounds { start, end: states.len(), marked: 0 });
        }
        let mut indices = vec![0; states.len()];
        states.iter().enumerate().for_each(|(index, &state)| indices[usize::from(state)] = index);
        Partition { states, indices, blocks, bounds }
    }

    /// Splits blocks until for each class the states of a block lead to states of one block:
    /// `next[state * classes + class]`.
    pub(super) fn refine(
        &mut self,
        next: &[u16],
        classes: usize,
        effort: &mut Effort,
    ) -> Result<(), Stopped> {
        let count = self.states.len();
        effort.after(2 * next.len())?;
        // For each class and target state, the states from which the class leads to it.
        let mut ends = vec![0u32; classes * count + 1];
        let list_index =
            |state: usize, class: usize| class * count + usize::from(next[state * classes + class]);
        let transitions = || (0..count).flat_map(|state| (0..classes).map(move |class| (state, class)));
        transitions().for_each(|(state, class)| ends[list_index(state, class)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut sources = vec![0u16; next.len()];
        // Filling the lists turns the ends into starts.
        for (state, class) in transitions() {
            let start = &mut ends[list_index(state, class)];
            *start -= 1;
            sources[*start as usize] = state as u16;
        }
        let mut worklist: Vec<usize> = (0..self.bounds.len()).collect();
        let mut touched = Vec::new();
        while let Some(block) = worklist.pop() {
            let Bounds { start, end, .. } = self.bounds[block];
            let targets = self.states[start..end].to_vec();
            for class in 0..classes {
                let mut steps = 0;
                for &target in &targets {
                    let list_index = class * count + usize::from(target);
                    let sources = &sources[ends[list_index] as usize..ends[list_index + 1] as usize];
                    steps += 1 + sources.len();
                    sources.iter().for_each(|&source| self.mark(source, &mut touched));
                }
                effort.after(steps)?;
                // If a block was in the list, both of its parts must be; otherwise the smaller is
                // enough.
                worklist.extend(touched.drain(..).filter_map(|block| self.split(block)));
            }
        }
        Ok(())
    }

    /// Marks a state of its block.
    fn mark(&mut self, state: u16, touched: &mut Vec<usize>) {
        let index = self.indices[usize::from(state)];
        let block = self.blocks[usize::from(state)];
        let bounds = &mut self.bounds[block];
        if bounds.marked == 0 {
            touched.push(block);
        }
        let first = bounds.start + bounds.marked;
        bounds.marked += 1;
        self.states.swap(index, first);
        self.indices[usize::from(self.states[index])] = index;
        self.indices[usize::from(state)] = first;
    }

    /// Splits the marked states of a block from the others, if it has both; returns the smaller
    /// part, which is a new block.
    fn split(&mut self, block: usize) -> Option<usize> {
        let Bounds { start, end, marked } = self.bounds[block];
        self.bounds[block].marked = 0;
        let middle = start + marked;
        if middle == end {
            return None;
        }
        let new = self.bounds.len();
        let (start, end) = if middle - start <= end - middle {
            self.bounds[block].start = middle;
            (start, middle)
        } else {
            self.bounds[block].end = middle;
            (middle, end)
        };
        self.bounds.push(Bounds { start, end, marked: 0 });
        self.states[start..end].iter().for_each(|&state| self.blocks[usize::from(state)] = new);
        Some(new)
    }

    /// The number of each state's block; blocks are numbered by their first state.
    pub(super) fn numbers(&self) -> Vec<u16> {
        let mut numbers = vec![None; self.bounds.len()];
        let mut count = 0;
        let mut number = |&block: &usize| {
            *numbers[block].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        self.blocks.iter().map(&mut number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    /// A slow implementation: compares all states repeatedly, until no block is split.
    fn blocks_by_repeated_comparison(keys: &[u8], next: &[u16], classes: usize) -> Vec<u16> {
        let mut numbers = vec![0u16; keys.len()];
        let mut count = 0;
        loop {
            let mut block_numbers = HashMap::new();
            let refined = (0..keys.len()).map(|state| {
                let row = next[state * classes..][..classes].iter().map(|&next| numbers[usize::from(next)]);
                let new = block_numbers.len() as u16;
                *block_numbers.entry((numbers[state], keys[state], row.collect::<Vec<_>>())).or_insert(new)
            });
            numbers = refined.collect();
            if block_numbers.len() == count {
                return numbers;
            }
            count = block_numbers.len();
        }
    }

    #[test]
    fn blocks_equal_those_of_repeated_comparison() {
        let mut random = 1u64;
        let mut below = |maximum: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % maximum
        };
        for round in 0..2_000 {
            let (states, classes) = (1 + below(12), 1 + below(3));
            let keys: Vec<u8> = (0..states).map(|_| u8::from(below(4) == 0)).collect();
            // In every second round many states lead to few, so that some are equivalent.
            let targets = if round % 2 == 0 { states } else { 1 + states / 3 };
            let next: Vec<u16> = (0..states * classes).map(|_| below(targets) as u16).collect();
            let mut partition = Partition::new(keys.iter());
            partition.refine(&next, classes, &mut Effort::new(&Never)).unwrap();
            assert_eq!(
                partition.numbers(),
                blocks_by_repeated_comparison(&keys, &next, classes),
                "{keys:?} {next:?}"
            );
        }
    }
}
