//! The suffixes of a text in order, in linear time by induced sorting: Nong, Zhang and Chan, "Two Efficient Algorithms
//! for Linear Time Suffix Array Construction" (2011).
//!
//! A position is of the lower kind if its suffix is less than the next one. The first position of each run of lower ones
//! begins a block. The order of the blocks gives that of all suffixes in two passes; if some blocks are equal, their
//! order is that of the suffixes of the text of blocks, which has at most half the length. So at most 32 levels are
//! nested.

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::memory;

const NONE: u32 = u32::MAX;
/// The work of an access to a random place, in units of a [`Pacer`].
const RANDOM_ACCESS: usize = 16;

/// The starts of the suffixes of a text, in the order of the suffixes. The symbols are below `symbols`, and the text is
/// shorter than 2^32 - 1. A suffix that another one begins with comes before it.
pub(super) fn suffix_array(text: &[u32], symbols: usize, pacer: &mut Pacer<'_>) -> Result<Vec<u32>> {
    let len = text.len();
    if len < 2 {
        return memory::try_collect((0..len).map(|at| at as u32));
    }
    let mut sorter = Sorter::new(text, symbols, pacer)?;
    let starts = memory::try_collect((1..len).filter(|&at| sorter.begins_block(at)).map(|at| at as u32))?;
    let mut sorted = sorter.sorted(&starts, pacer)?;
    if starts.is_empty() {
        return Ok(sorted);
    }
    // The number of each block by its place.
    let mut number = memory::try_filled(NONE, len)?;
    (0..).zip(&starts).for_each(|(block, &start)| number[start as usize] = block);
    let in_order = sorted.iter().copied().filter(|&start| number[start as usize] != NONE);
    let mut in_order = memory::try_collect(in_order)?;
    drop(sorted);
    let end_of = |start: u32| {
        let next = starts.get(number[start as usize] as usize + 1);
        next.map_or(len, |&next| next as usize + 1)
    };
    let mut names = memory::try_filled(0, starts.len())?;
    let mut name = 0;
    for pair in in_order.windows(2) {
        let (one, other) = (pair[0] as usize..end_of(pair[0]), pair[1] as usize..end_of(pair[1]));
        pacer.after(one.len().min(other.len()))?;
        // The last block has no symbol of the next one at its end, so no other block equals it.
        let is_last = one.end == len || other.end == len;
        name += u32::from(is_last || text[one] != text[other]);
        names[number[pair[1] as usize] as usize] = name;
    }
    if (name as usize) < starts.len() - 1 {
        let order = suffix_array(&names, name as usize + 1, pacer)?;
        in_order.iter_mut().zip(order).for_each(|(start, block)| *start = starts[block as usize]);
    }
    drop((number, names));
    sorted = sorter.sorted(&in_order, pacer)?;
    Ok(sorted)
}

struct Sorter<'t> {
    text: &'t [u32],
    is_lower: Vec<bool>,
    /// Where the suffixes of each first symbol begin, and where the lower ones of them do.
    first: Vec<u32>,
    first_lower: Vec<u32>,
}

impl<'t> Sorter<'t> {
    fn new(text: &'t [u32], symbols: usize, pacer: &mut Pacer<'_>) -> Result<Sorter<'t>> {
        let mut is_lower = memory::try_filled(false, text.len())?;
        for at in (0..text.len() - 1).rev() {
            is_lower[at] = text[at] < text[at + 1] || text[at] == text[at + 1] && is_lower[at + 1];
            pacer.after(1)?;
        }
        let mut first = memory::try_filled(0, symbols + 1)?;
        let mut first_lower = memory::try_filled(0, symbols)?;
        for (&symbol, is_lower) in text.iter().zip(&is_lower) {
            first[symbol as usize + 1] += 1;
            first_lower[symbol as usize] += u32::from(!is_lower);
            pacer.after(1)?;
        }
        for symbol in 0..symbols {
            first_lower[symbol] += first[symbol];
            first[symbol + 1] += first[symbol];
        }
        Ok(Sorter { text, is_lower, first, first_lower })
    }

    fn begins_block(&self, at: usize) -> bool {
        self.is_lower[at] && !self.is_lower[at - 1]
    }

    /// All suffixes, sorted from those at `blocks`. If these are in order, so is the result; otherwise it has the blocks
    /// in order.
    fn sorted(&mut self, blocks: &[u32], pacer: &mut Pacer<'_>) -> Result<Vec<u32>> {
        let Sorter { text, is_lower, first, first_lower } = self;
        let mut sorted = memory::try_filled(NONE, text.len())?;
        let put = |sorted: &mut [u32], next: &mut [u32], start: usize| {
            let place = &mut next[text[start] as usize];
            sorted[*place as usize] = start as u32;
            *place += 1;
        };
        let mut next = memory::try_collect(first_lower.iter().copied())?;
        for &start in blocks {
            pacer.after(RANDOM_ACCESS)?;
            put(&mut sorted, &mut next, start as usize);
        }
        next.clear();
        next.extend_from_slice(first);
        put(&mut sorted, &mut next, text.len() - 1);
        for place in 0..sorted.len() {
            pacer.after(RANDOM_ACCESS)?;
            if let Some(start) = before(sorted[place])
                && !is_lower[start]
            {
                put(&mut sorted, &mut next, start);
            }
        }
        next.clear();
        next.extend_from_slice(&first[1..]);
        for place in (0..sorted.len()).rev() {
            pacer.after(RANDOM_ACCESS)?;
            if let Some(start) = before(sorted[place])
                && is_lower[start]
            {
                let place = &mut next[text[start] as usize];
                *place -= 1;
                sorted[*place as usize] = start as u32;
            }
        }
        Ok(sorted)
    }
}

/// The place before that of a suffix, if there is one.
fn before(start: u32) -> Option<usize> {
    if start == NONE || start == 0 { None } else { Some(start as usize - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    fn naive(text: &[u32]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..text.len() as u32).collect();
        order.sort_by_key(|&start| &text[start as usize..]);
        order
    }

    fn fast(text: &[u32], symbols: usize) -> Vec<u32> {
        suffix_array(text, symbols, &mut Pacer::new(&Never)).unwrap()
    }

    proptest! {
        #[test]
        fn suffixes_are_in_order(
            symbols in 1u32..5,
            text in prop::collection::vec(0u32..1000, 0..200),
            repeats in 1usize..4,
        ) {
            let text: Vec<u32> = text.iter().map(|symbol| symbol % symbols).collect::<Vec<_>>().repeat(repeats);
            prop_assert_eq!(fast(&text, symbols as usize), naive(&text));
        }
    }

    #[test]
    fn regular_texts_are_sorted() {
        let (mut one, mut other) = (vec![0], vec![0, 1]);
        for _ in 0..12 {
            (one, other) = (other.clone(), [&other[..], &one].concat());
        }
        for text in [vec![0; 300], [1, 0].repeat(150), (0..300).rev().collect(), one] {
            assert_eq!(fast(&text, 300), naive(&text));
        }
    }
}
