//! Properties of characters, looked up for 64 bytes of text at once.
//!
//! Characters of up to three bytes whose UTF-8 differs in the last byte alone are 64 neighbours: for each property, a
//! mask has a bit for each of them. Text of one language has characters of few such rows, and all those of one row are
//! looked up together. The caller looks at characters of four bytes one by one.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{highest_bits, sixteen};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::bytes_from;

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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::cpu::SimdLevel;
    use crate::utf8::decode;
    use proptest::prelude::*;

    /// A property without a rule behind it.
    fn has(c: char) -> bool {
        u32::from(c).wrapping_mul(0x9e37_79b9) >> 30 == 1
    }

    fn mask(row: usize) -> [u64; 1] {
        let bit = |place: usize| char::from_u32((row * ROW + place) as u32).is_some_and(has);
        [(0..ROW).fold(0, |mask, place| mask | u64::from(bit(place)) << place)]
    }

    /// Compares a block with its characters one by one; a block with others than whole characters is refused, unless
    /// these are surrogates, or four bytes that look like a character.
    fn compare(text: &[u8], start: usize) -> Result<(), TestCaseError> {
        let found = look_up(SimdLevel::best(), text, start, mask);
        let (mut at, mut starts, mut wide, mut with) = (start, 0, 0, 0);
        while at < text.len().min(start + BLOCK) {
            let (c, len) = decode(&text[at..]);
            let Some(c) = c else {
                let may_be_taken = |first: u8| matches!(first, 0xed | 0xf0..);
                prop_assert!(found.is_none() || text[start..].iter().any(|&byte| may_be_taken(byte)));
                return Ok(());
            };
            let bit = 1 << (at - start);
            starts |= bit;
            wide |= if len == 4 { bit } else { 0 };
            with |= if len < 4 && has(c) { bit } else { 0 };
            at += len;
        }
        if SimdLevel::best() != SimdLevel::Avx512 {
            prop_assert_eq!(found, None);
            return Ok(());
        }
        let found = found.expect("whole characters");
        let spaces = |at: &usize| text.get(start + at) == Some(&b' ');
        let spaces = (0..BLOCK).filter(spaces).fold(0, |bits, at| bits | 1 << at);
        let ascii = text[start..at].is_ascii();
        prop_assert_eq!(found.is_ascii(), ascii);
        for place in (0..BLOCK).filter(|place| starts >> place & 1 != 0) {
            let next = start + place + decode(&text[start + place..]).1;
            let behind = if next < at.min(start + BLOCK) { 1 << (next - start) } else { 0 };
            prop_assert_eq!(found.behind(1 << place), behind);
            prop_assert_eq!(found.has_last(1 << place), next == at);
        }
        prop_assert_eq!(found, Looked { starts, wide, spaces, with: [with], len: at - start });
        Ok(())
    }

    #[test]
    fn every_character_is_looked_up() {
        let text: String = ('\0'..'\u{1_0400}').collect();
        for (offset, _) in text.char_indices() {
            compare(text.as_bytes(), offset).unwrap();
        }
    }

    proptest! {
        #[test]
        fn blocks_of_characters_of_all_widths(text in "[ aé֑क्षि語가😀\u{7ff}\u{800}\u{ffff}]{1,60}") {
            compare(text.as_bytes(), 0)?;
        }

        #[test]
        fn blocks_of_bytes(
            text in prop::collection::vec(prop::sample::select(
                vec![b'a', 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xe2, 0xed, 0xf0, 0xf5, 0xff]), 1..8),
            before in 0_usize..64,
        ) {
            let text = [&vec![b'a'; before][..], &text].concat();
            compare(&text, 0)?;
        }
    }
}
