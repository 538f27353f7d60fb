//! The entries of the table, and the lines that they are in.

use crate::pages::Zero;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

/// The maximum number of ids in an entry.
pub(super) const FEW: usize = 4;

/// The bits of an id; the bits above them are a count.
const ID_BITS: u32 = 24;
const ID_MASK: u32 = (1 << ID_BITS) - 1;
const _: () = assert!(MAX_VOCAB_SIZE <= 1 << ID_BITS);

/// The count of an entry whose ids are in the arena.
pub(super) const FAR: u32 = 0xff;

/// A key (up to 15 bytes and their number, or a hash of more bytes, or 0) and its ids.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Entry {
    pub(super) key: u128,
    /// The ids, padded with zeros, and their count in the upper bits of the last. With a count of [`FAR`]:
    /// the offset of the ids in the arena, their number, and, if the key is a hash, the number of bytes,
    /// which follow the ids in the arena.
    ids: [u32; FEW],
}

impl Entry {
    /// An entry with at most [`FEW`] ids.
    #[inline]
    pub(super) fn near(key: u128, ids: &[TokenId]) -> Entry {
        // One by one: what a call to copy a few ids has written could not be read as a whole at once.
        let id = |at: usize| ids.get(at).copied().unwrap_or(0);
        let count = (ids.len() as u32) << ID_BITS;
        Entry { key, ids: [id(0), id(1), id(2), id(3) | count] }
    }

    /// An entry whose ids, `count` of them, are in the arena, and behind them `len` bytes.
    #[inline]
    pub(super) fn far(key: u128, offset: usize, count: usize, len: usize) -> Entry {
        Entry { key, ids: [offset as u32, count as u32, len as u32, FAR << ID_BITS] }
    }

    #[inline(always)]
    pub(super) fn has_key(&self, key: &u128) -> bool {
        // The compiler would compare halves, in twice as many instructions.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: all x86-64 processors have SSE2, and numbers of 16 bytes are aligned to as many.
        unsafe {
            use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8};
            let [own, other] = [&self.key, key].map(|key| _mm_load_si128((&raw const *key).cast()));
            _mm_movemask_epi8(_mm_cmpeq_epi8(own, other)) == 0xffff
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.key == *key
        }
    }

    /// The number of ids, or [`FAR`].
    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.ids[FEW - 1] >> ID_BITS
    }

    /// The ids, padded with zeros, if they are not in the arena.
    #[inline(always)]
    pub(super) fn ids(&self) -> [TokenId; FEW] {
        let mut ids = self.ids;
        ids[FEW - 1] &= ID_MASK;
        ids
    }

    /// Copies the ids, if they are not in the arena, and zeros behind them: [`FEW`] numbers.
    ///
    /// # Safety
    ///
    /// There is memory for as many numbers at `place`.
    #[inline(always)]
    pub(super) unsafe fn copy_ids(&self, place: *mut TokenId) {
        // The compiler would copy the last number alone, which takes as long as the rest of a look-up.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: all x86-64 processors have SSE2; the ids are 16 bytes behind the start of an entry, which is
        // aligned to 32; and as the caller promises.
        unsafe {
            use std::arch::x86_64::{_mm_and_si128, _mm_load_si128, _mm_set_epi32, _mm_storeu_si128};
            let ids = _mm_load_si128(self.ids.as_ptr().cast());
            _mm_storeu_si128(place.cast(), _mm_and_si128(ids, _mm_set_epi32(ID_MASK as i32, -1, -1, -1)));
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: as the caller promises.
        unsafe {
            place.cast::<[TokenId; FEW]>().write_unaligned(self.ids())
        }
    }

    /// The place in the arena of the ids, their number, and the number of bytes behind them.
    #[inline]
    pub(super) fn place(&self) -> (usize, usize, usize) {
        let [offset, count, len, _] = self.ids.map(|number| number as usize);
        (offset, count, len)
    }
}

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [Entry; 2]);

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    /// The entry that has a key, unless no entry has it, or the other one begins alike: only half of the key is
    /// compared. The first entry is the one that is compared: the second may be empty, and half of an empty key equals
    /// that of NUL characters.
    #[inline(always)]
    pub(super) fn likely(&self, key: &u128) -> &Entry {
        &self.0[usize::from(self.0[0].key as u64 != *key as u64)]
    }
}

// SAFETY: all bytes of it are zeros, and it has no padding, since a line has 64 bytes.
unsafe impl Zero for Line {
    const ZERO: Line = Line([Entry { key: 0, ids: [0; FEW] }; 2]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_nul_characters_is_told_from_an_empty_one() {
        // Half of this key is zero, as that of an empty entry.
        let key = 1 << 120;
        let (nul, other, empty) = (Entry::near(key, &[7]), Entry::near(key | 1, &[8]), Entry::near(0, &[]));
        for (entries, count) in [([nul, empty], 1), ([nul, other], 2), ([other, nul], 2)] {
            for entry in &entries[..count] {
                assert!(Line(entries).likely(&entry.key).has_key(&entry.key));
            }
        }
    }
}
