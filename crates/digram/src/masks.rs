//! Properties of characters, looked up for 64 bytes of text at once.
//!
//! Characters of up to three bytes whose UTF-8 differs in the last byte alone are 64 neighbours: for each property, a
//! mask has a bit for each of them. Text of one language has characters of few such rows, and all those of one row are
//! looked up together. The caller looks at characters of four bytes one by one.

#[cfg(target_arch = "x86_64")]
mod avx512;

/// The number of bytes that are examined at once.
pub(crate) const BLOCK: usize = 64;

/// The number of characters of a row.
pub(crate) const ROW: usize = 64;

/// The number of rows: those of the Basic Multilingual Plane.
pub(crate) const ROWS: usize = (1 << 16) / ROW;

/// The characters that begin in a block. All bits are those of bytes of the text, from the start of the block on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Looked<const N: usize> {
    /// Their first bytes.
    pub(crate) starts: u64,
    /// The first bytes of those of four bytes.
    pub(crate) wide: u64,
    /// Spaces.
    pub(crate) spaces: u64,
    /// The first bytes of the others that have each property.
    pub(crate) with: [u64; N],
    /// The number of their bytes.
    pub(crate) len: usize,
}

impl<const N: usize> Looked<N> {
    /// Whether all bytes are ASCII characters.
    #[inline(always)]
    pub(crate) fn is_ascii(&self) -> bool {
        self.starts.count_ones() as usize == self.len
    }

    /// The first bytes of the characters that follow those, in this block.
    #[inline(always)]
    pub(crate) fn behind(&self, firsts: u64) -> u64 {
        // A carry runs through the other bytes of a character.
        let inside = !self.starts;
        (firsts << 1).wrapping_add(inside) & self.starts
    }

    /// Whether the last character is among those.
    #[inline(always)]
    pub(crate) fn has_last(&self, firsts: u64) -> bool {
        firsts >> (self.starts | 1).ilog2() & 1 != 0
    }
}

/// Looks up the characters of a text that begin in the 64 bytes from an offset on, where one begins; `masks` gives the
/// masks of a row. `None` if these are not whole characters of UTF-8, surrogates excepted, or the processor cannot do
/// that for 64 bytes at once.
#[inline(always)]
pub(crate) fn look_up<const N: usize>(
    simd: crate::cpu::SimdLevel,
    text: &[u8],
    start: usize,
    masks: impl Fn(usize) -> [u64; N],
) -> Option<Looked<N>> {
    match simd {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has these instructions.
        crate::cpu::SimdLevel::Avx512 => unsafe { avx512::look_up(text, start, masks) },
        _ => {
            let _ = (text, start, masks);
            None
        }
    }
}
