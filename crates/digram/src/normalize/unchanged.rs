//! Which characters a stage leaves as they are, by blocks that are computed when a text has them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::utf8::{decode, is_inside, is_three_bytes};

/// The number of characters of a block.
const BLOCK: usize = 64;

/// The number of blocks: those of the Basic Multilingual Plane.
const BLOCKS: usize = (1 << 16) / BLOCK;

/// Which characters a stage leaves as they are.
pub(super) struct Unchanged {
    /// For each block, a bit for each character that is left.
    masks: Box<[AtomicU64]>,
    /// Whether the mask of a block was computed.
    known: Box<[AtomicBool]>,
}

impl Default for Unchanged {
    fn default() -> Unchanged {
        Unchanged {
            masks: (0..BLOCKS).map(|_| AtomicU64::new(0)).collect(),
            known: (0..BLOCKS).map(|_| AtomicBool::new(false)).collect(),
        }
    }
}

impl Unchanged {
    /// Whether the first character of a text is left, which `is_left` says of a character, and its length. Bytes
    /// that are not UTF-8 are left.
    #[inline(always)]
    pub(super) fn first(&self, text: &[u8], is_left: impl Fn(char) -> bool) -> (bool, usize) {
        let (block, last, len) = match *text {
            [byte @ 0..=0x7f, ..] => (usize::from(byte) / BLOCK, byte, 1),
            [first @ 0xc2..=0xdf, last, ..] if is_inside(last) => (usize::from(first & 0x1f), last, 2),
            [first, second, last, ..] if is_three_bytes(first, second, last) => {
                (usize::from(first & 0x0f) << 6 | usize::from(second & 0x3f), last, 3)
            }
            _ => {
                let (c, len) = decode(text);
                return (c.is_none_or(is_left), len);
            }
        };
        (self.of_row(block, is_left) >> (last & 0x3f) & 1 == 1, len)
    }

    /// The characters of a row that are left, a bit each.
    #[inline(always)]
    pub(super) fn of_row(&self, row: usize, is_left: impl Fn(char) -> bool) -> u64 {
        match self.known[row].load(Ordering::Acquire) {
            true => self.masks[row].load(Ordering::Relaxed),
            false => self.compute(row, is_left),
        }
    }

    #[cold]
    fn compute(&self, block: usize, is_left: impl Fn(char) -> bool) -> u64 {
        let is_left = |index: usize| char::from_u32((block * BLOCK + index) as u32).is_none_or(&is_left);
        let mask = (0..BLOCK).fold(0, |mask, index| mask | u64::from(is_left(index)) << index);
        self.masks[block].store(mask, Ordering::Relaxed);
        // Whoever sees that it is known sees the mask.
        self.known[block].store(true, Ordering::Release);
        mask
    }
}
