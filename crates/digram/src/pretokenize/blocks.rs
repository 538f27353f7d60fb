//! Reading text in blocks of 64 bytes, with facts about each position as masks.

use super::after::Disturbing;
use super::automaton::Automaton;
use super::class_tables::{BLOCK, BoundaryMasks, ClassTables, equal};
use super::grouping::Grouping;
use super::kinds::{Kinds, KindsOfOthers, PairFacts};
use crate::cpu::prefetch;

/// Prefetch distance, in bytes: hardware prefetching stops at page boundaries.
const AHEAD: usize = 1024;

/// The tables with which the blocks of a text are read.
pub(super) struct Blocks {
    tables: ClassTables,
    kinds: KindsOfOthers,
    /// The kind after which the automaton steps over `reach` characters; meaningless if `reach` is 0.
    disturbing: u8,
    reach: usize,
}

/// The masks of a block, with one bit per position.
pub(super) struct Block {
    pub(super) start: usize,
    /// The starts of characters.
    pub(super) starts: u64,
    /// The positions where the automaton must step.
    pub(super) steps: u64,
    /// The ends of pretokens.
    pub(super) borders: u64,
    /// The undecided positions, where a pretoken may end.
    pub(super) open: u64,
    /// The start of the next block, which is the start of a character.
    pub(super) next: usize,
    /// Facts about the last character, for the next block; `None` if a pretoken starts there.
    last: Option<Last>,
    /// The number of characters of the next block that are stepped in any case.
    disturbed: usize,
}

/// Facts about the character before a block.
#[derive(Clone, Copy)]
struct Last {
    kind: u8,
    /// Whether a pretoken certainly starts with it.
    first: bool,
    /// Whether it is certainly inside a pretoken.
    inner: bool,
}

impl Blocks {
    /// The tables of a pattern.
    pub(super) fn new(automaton: &Automaton, grouping: &Grouping) -> Blocks {
        let kinds = Kinds::new(automaton, grouping);
        let alphabet = automaton.alphabet();
        let kind = |byte: usize| kinds.of_class[alphabet.class(byte as u8 as char) as usize];
        let none = Disturbing { class: 0, byte: 0, reach: 0 };
        let Disturbing { class, byte, reach } = grouping.disturbing.unwrap_or(none);
        Blocks {
            tables: ClassTables::new(std::array::from_fn(kind), kinds.facts, byte),
            kinds: KindsOfOthers::new(automaton.alphabet(), &kinds.of_class),
            disturbing: kinds.of_class[class as usize],
            reach,
        }
    }

    /// Reads the next block.
    pub(super) fn read(&self, text: &[u8], block: &mut Block) {
        block.start = block.next;
        let rest = &text[block.start..];
        if let Some(ahead) = rest.get(AHEAD) {
            prefetch(ahead);
        }
        match rest.first_chunk::<BLOCK>() {
            Some(bytes) => self.read_whole(text, bytes, block),
            None => {
                let mut bytes = [0; BLOCK];
                bytes[..rest.len()].copy_from_slice(rest);
                self.read_whole(text, &bytes, block);
                block.next = block.next.min(text.len());
                let valid = (1 << rest.len()) - 1;
                block.starts &= valid;
                block.steps &= valid;
                block.borders &= valid;
                block.open &= valid;
            }
        }
    }

    #[inline]
    fn read_whole(&self, text: &[u8], bytes: &[u8; BLOCK], block: &mut Block) {
        let mut kinds = [0; BLOCK];
        let byte_masks = self.tables.kinds(bytes, &mut kinds);
        let (mut starts, mut disturbing) = (u64::MAX, byte_masks.marked);
        block.next = block.start + BLOCK;
        if byte_masks.others != 0 {
            starts = self.read_others(text, bytes, byte_masks.others, &mut kinds, block);
            disturbing = equal(&kinds, self.disturbing) & starts;
        }
        let before = block.last.map_or(0, |last| last.kind);
        let masks = self.tables.masks(before, &kinds);
        let mut disturbed = first_of(starts, std::mem::take(&mut block.disturbed));
        while disturbing != 0 {
            let after = starts & u64::MAX << 1 << disturbing.trailing_zeros();
            disturbed |= first_of(after, self.reach);
            block.disturbed = block.disturbed.max(self.reach.saturating_sub(after.count_ones() as usize));
            disturbing &= disturbing - 1;
        }
        let settles = masks[usize::from(PairFacts::SETTLES)] & starts & !disturbed;
        let steps = masks[usize::from(PairFacts::STEP)] & !(settles & next_of(settles, starts));
        block.steps = steps & starts | disturbed;
        block.starts = starts;
        block.decide_borders(&masks, starts, disturbed, kinds[BLOCK - 1]);
    }

    /// Writes the kinds of characters that are not ASCII, and returns a mask of the positions where characters
    /// begin.
    fn read_others(
        &self,
        text: &[u8],
        bytes: &[u8; BLOCK],
        others: u64,
        kinds: &mut [u8; BLOCK],
        block: &mut Block,
    ) -> u64 {
        // The last character may extend beyond the block.
        let mut other_kinds = [0; BLOCK + 4];
        let (mut remaining, mut inside, mut last_end) = (others, 0, 0);
        while remaining != 0 {
            let offset = remaining.trailing_zeros() as usize;
            let (kind, width) = self.kinds.first(text, block.start + offset);
            // All bytes of a character get its kind, so that the next character finds it before itself. Further
            // bytes are written again, or are ASCII. Four bytes that are read and changed would wait for those
            // that were written last.
            *other_kinds[offset..].first_chunk_mut().expect("four more than the block") = [kind; 4];
            let bits = ((1 << width) - 2) << offset;
            inside |= bits;
            remaining &= !(bits | 1 << offset);
            last_end = offset + width;
        }
        block.next = block.start + last_end.max(BLOCK);
        for (at, kind) in kinds.iter_mut().enumerate() {
            // All bits of a byte that is not ASCII. Without a branch, so that this is compiled to vectors.
            let is_other = (bytes[at] as i8 >> 7) as u8;
            *kind = *kind & !is_other | other_kinds[at] & is_other;
        }
        !inside
    }
}

impl Block {
    /// An empty block.
    pub(super) fn new() -> Block {
        Block { start: 0, starts: 0, steps: 0, borders: 0, open: 0, next: 0, last: None, disturbed: 0 }
    }

    /// Continues with the block that begins at `start`, where a pretoken begins.
    pub(super) fn restart(&mut self, start: usize) {
        self.next = start;
        (self.last, self.disturbed) = (None, 0);
    }

    /// Computes the borders and the undecided positions; the last character has the kind `last`.
    #[inline(always)]
    fn decide_borders(&mut self, masks: &BoundaryMasks, starts: u64, disturbed: u64, last: u8) {
        // Positions where a pretoken is known to start are not evaluated.
        let (candidates, begins, after_first, after_inner) = match self.last {
            None => (starts & !1, 1, 0, 0),
            Some(last) => (starts, 0, u64::from(last.first), u64::from(last.inner)),
        };
        let mask = |fact: u8| masks[usize::from(fact)] & candidates;
        let undisturbed = |fact: u8| mask(fact) & !disturbed;
        let (mut borders, mut inside) = (undisturbed(PairFacts::BORDER), undisturbed(PairFacts::INSIDE));
        let after_first = after_first | next_of(borders | begins, starts);
        let after_inner = after_inner | next_of(inside, starts);
        borders |= after_first & mask(PairFacts::BORDER_AFTER_FIRST);
        borders |= after_inner & undisturbed(PairFacts::BORDER_AFTER_INNER);
        inside |= after_first & mask(PairFacts::INSIDE_AFTER_FIRST);
        inside |= after_inner & undisturbed(PairFacts::INSIDE_AFTER_INNER);
        self.borders = borders;
        self.open = candidates & !(borders | inside);
        let is_at_last = |mask: u64| mask.leading_zeros() == starts.leading_zeros();
        self.last = Some(Last { kind: last, first: is_at_last(borders), inner: is_at_last(inside) });
    }
}

/// The starts of the characters after those that start at `positions`.
#[inline(always)]
pub(super) fn next_of(positions: u64, starts: u64) -> u64 {
    // Adding a position to the continuation bytes carries it to the start of the next character.
    let (after, inside) = (positions << 1, !starts);
    (after | (after & inside).wrapping_add(inside)) & starts
}

/// The lowest `count` bits of these.
#[inline(always)]
fn first_of(mut positions: u64, count: usize) -> u64 {
    let all = positions;
    (0..count).for_each(|_| positions &= positions.wrapping_sub(1));
    all & !positions
}
