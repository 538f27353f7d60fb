//! A small memory of pretokens that had to be merged, one for each thread.
//!
//! It holds a fixed number of entries and the newer replaces the older, so that its memory is
//! bounded and no text can make it slow. It never changes a result: an entry is used only for
//! exactly the bytes it was made from.

use crate::memory::prefetch;
use crate::vocabulary::TokenId;

/// The most entries of one cache: together 4 MiB. A quarter of that lost a tenth of the speed on
/// English, since what falls out must be merged again.
const MOST_ENTRIES: usize = 1 << 16;

/// A cache is made for the text at hand: one entry for so many bytes.
const BYTES_AN_ENTRY: usize = 64;

/// Longer pretokens are not kept; a word of Russian or Thai fits.
const MOST_BYTES: usize = 32;

/// Longer results are not kept; 98 % of those of prose fit.
const MOST_IDS: usize = 7;

/// One line of memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Entry {
    bytes: [u8; MOST_BYTES],
    ids: [TokenId; MOST_IDS],
    byte_count: u8,
    id_count: u8,
}

/// Stands for no text, since no pretoken is empty.
const EMPTY: Entry = Entry { bytes: [0; MOST_BYTES], ids: [0; MOST_IDS], byte_count: 0, id_count: 0 };

/// Pretokens with the ids they were merged to.
pub(super) struct Cache {
    entries: Vec<Entry>,
    mask: usize,
}

impl Cache {
    /// A cache for a text of `bytes` bytes, or several of that length together.
    pub(super) fn new(bytes: usize) -> Cache {
        let entries = (bytes / BYTES_AN_ENTRY).next_power_of_two().min(MOST_ENTRIES);
        // The memory of a short text would cost more than it saves.
        let entries = if entries < 64 { Vec::new() } else { vec![EMPTY; entries] };
        Cache { mask: entries.len().wrapping_sub(1), entries }
    }

    /// Asks for the memory where a pretoken would be, without waiting for it.
    #[inline]
    pub(super) fn prefetch(&self, pretoken: &[u8]) {
        if let Some(entry) = self.entries.get(hash(pretoken) & self.mask) {
            prefetch(entry);
        }
    }

    /// The ids of a pretoken that was merged before.
    #[inline]
    pub(super) fn get(&self, pretoken: &[u8]) -> Option<&[TokenId]> {
        let entry = self.entries.get(hash(pretoken) & self.mask)?;
        let same = entry.bytes.get(..entry.byte_count as usize)? == pretoken;
        same.then(|| &entry.ids[..entry.id_count as usize])
    }

    /// Remembers the ids of a pretoken.
    pub(super) fn put(&mut self, pretoken: &[u8], ids: &[TokenId]) {
        let Some(entry) = self.entries.get_mut(hash(pretoken) & self.mask) else { return };
        if pretoken.len() <= MOST_BYTES && ids.len() <= MOST_IDS {
            entry.bytes[..pretoken.len()].copy_from_slice(pretoken);
            entry.ids[..ids.len()].copy_from_slice(ids);
            (entry.byte_count, entry.id_count) = (pretoken.len() as u8, ids.len() as u8);
        }
    }
}

/// Two multiplications for any length: the first and the last eight bytes, and the length.
#[inline]
fn hash(bytes: &[u8]) -> usize {
    let part = |range: std::ops::Range<usize>| {
        let mut eight = [0; 8];
        eight[..range.len()].copy_from_slice(&bytes[range]);
        u64::from_le_bytes(eight)
    };
    let n = bytes.len();
    let (first, last) = (part(0..n.min(8)), part(n.saturating_sub(8)..n));
    let mixed = (first ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last;
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ mixed >> 32) as usize
}
