//! Sets of characters that are looked up for 64 bytes of text at once.
//!
//! Text of one language has characters of few *rows*: 128 characters whose bytes differ in the last and in one bit of
//! the one before it. So all characters of one row are looked up together, then those of the next one that the block
//! has. Characters of four bytes are in no set; the caller looks at them one by one.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::collections::HashMap;

#[cfg(target_arch = "x86_64")]
pub(super) use avx512::LastRow;

/// The number of bytes that are examined at once.
pub(super) const BLOCK: usize = 64;

/// The number of characters of a row.
const ROW: usize = 128;

/// The number of rows: those of the characters of up to three bytes.
const ROWS: usize = (1 << 16) / ROW;

/// Of 128 characters those of each set: the lower four bits of a character select a byte, the next three a bit.
type Row<const N: usize> = [[u8; 16]; N];

/// Sets of the characters of two and three bytes.
pub(super) struct Sets<const N: usize> {
    /// The first bytes of characters that are not all usual: the lower four bits select a byte, and the
    /// bits of it are for C0, D0, E0 and F0.
    mixed: [u8; 16],
    /// The same by the lower six bits of a byte from C0 on: the highest bit of a byte.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    mixed_leads: [u8; 64],
    /// The rows of characters of three bytes that are not all usual, a bit each in their order.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    mixed_rows: [u8; ROWS / 8],
    /// The number of each row among the distinct ones.
    numbers: Box<[u16]>,
    rows: Vec<Row<N>>,
    /// The same: for each character of a row the sets that it is in, a bit each.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    classes: Vec<[u8; ROW]>,
}

/// Which characters of a block are in the sets.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct Block<const N: usize> {
    /// The first bytes of characters of more than one byte that may be unusual.
    pub(super) mixed: u64,
    /// Those of `mixed` that are in each set.
    pub(super) sets: [u64; N],
    /// The first bytes of characters of more than one byte.
    pub(super) leads: u64,
    /// The other bytes of characters, also of one that began before the block.
    pub(super) inside: u64,
    /// The bytes behind the block that belong to its last character.
    pub(super) beyond: u64,
    /// The number of bytes from its start to the end of its last character.
    pub(super) len: usize,
}

/// Bytes of a block, a bit each: ASCII characters of three kinds, and the first bytes of invalid sequences.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct Ascii {
    /// Those from " " to "~".
    pub(super) printable: u64,
    pub(super) spaces: u64,
    /// Tabs, newlines and carriage returns.
    pub(super) blanks: u64,
    /// The first bytes of overlong forms and of surrogates, if the bytes have the form of UTF-8.
    pub(super) invalid: u64,
}

/// For the lower four bits of a byte, the blank that has them, or what has others.
#[cfg(target_arch = "x86_64")]
const BLANKS: [u8; 16] = [1, 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];

impl<const N: usize> Sets<N> {
    /// Sets of characters, by a function that says for each of these sets whether a character is in it. It is called in
    /// the order of the characters. `is_usual` says in which sets usual characters are: they need not be looked up.
    pub(super) fn new(
        mut is_in: impl FnMut(char) -> [bool; N],
        is_usual: impl Fn([bool; N]) -> bool,
    ) -> Sets<N> {
        const { assert!(N <= 8, "a bit for each set") };
        let mut rows: Vec<Row<N>> = Vec::new();
        let mut known: HashMap<Row<N>, usize> = HashMap::new();
        let mut mixed = [0; 16];
        let mut mixed_rows = [0; ROWS / 8];
        let mut row = |number: usize| {
            let mut row = [[0; 16]; N];
            for code in number * ROW..(number + 1) * ROW {
                // A surrogate is not a character. Its bytes are not changed.
                let c = char::from_u32(code as u32);
                let are_in = c.map_or([true; N], &mut is_in);
                for (set, is_in) in row.iter_mut().zip(are_in) {
                    set[code % 16] |= u8::from(is_in) << (code / 16 % 8);
                }
                let first = if code < 0x800 { 0xc0 | code >> 6 } else { 0xe0 | code >> 12 };
                if code >= 0x80 && c.is_some() && !is_usual(are_in) {
                    mixed[first % 16] |= 1 << (first / 16 - 0xc);
                    mixed_rows[number / 8] |= 1 << (number % 8);
                }
            }
            *known.entry(row).or_insert_with(|| {
                rows.push(row);
                rows.len() - 1
            }) as u16
        };
        let numbers = (0..ROWS).map(&mut row).collect();
        let class = |row: &Row<N>, code: usize| {
            let bit = |set: &[u8; 16]| set[code % 16] >> (code / 16) & 1;
            row.iter().rev().fold(0, |class, set| class << 1 | bit(set))
        };
        let classes = rows.iter().map(|row| std::array::from_fn(|code| class(row, code))).collect();
        mixed.iter_mut().for_each(|first| *first |= 1 << 3);
        let mixed_leads = std::array::from_fn(|lead| (mixed[lead % 16] >> (lead / 16) & 1) << 7);
        Sets { mixed, mixed_leads, mixed_rows, numbers, rows, classes }
    }
}

/// The number of the row of a character of two or three bytes, by its first two.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn row_number(first: u8, second: u8) -> usize {
    match first {
        0xe0.. => (usize::from(first) & 0xf) << 5 | (usize::from(second) & 0x3f) >> 1,
        _ => (usize::from(first) & 0x1f) >> 1,
    }
}

impl<const N: usize> Block<N> {
    /// A block of ASCII characters, of a text with `left` more bytes.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn ascii(left: usize) -> Block<N> {
        Block { mixed: 0, sets: [0; N], leads: 0, inside: 0, beyond: 0, len: BLOCK.min(left) }
    }

    /// The first bytes of the characters that follow those, and whether the last one of the block is among those.
    /// `before` says whether the character before the first one of the block is.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) fn behind(&self, firsts: u64, before: bool) -> (u64, bool) {
        // A carry runs through the other bytes of a character.
        let next = (firsts << 1 | u64::from(before)).wrapping_add(self.inside) & !self.inside;
        let starts = !self.inside & u64::MAX >> (BLOCK - self.len.min(BLOCK));
        (next, firsts >> (starts | 1).ilog2() & 1 != 0)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::cpu::SimdLevel;
    use crate::utf8::{decode, is_inside};
    use proptest::prelude::*;

    /// Sets without a rule behind them, except that whole first bytes are in the first one.
    fn is_in(c: char) -> [bool; 2] {
        let number = u32::from(c).wrapping_mul(0x9e37_79b9) >> 28;
        let is_whole = matches!(u32::from(c), ..0x80 | 0x100..0x180 | 0x4000..0xa000);
        [is_whole || number & 1 == 0, number & 6 == 0]
    }

    fn read(sets: &Sets<2>, text: &[u8], start: usize, inside: u64, simd: SimdLevel) -> Option<Block<2>> {
        // SAFETY: callers make sure that the processor has these instructions.
        match simd {
            SimdLevel::Avx512 => unsafe { sets.read_avx512(text, start, inside, &mut LastRow::default()) },
            _ => unsafe { sets.read(text, start, inside) },
        }
    }

    /// Compares a block with its characters, one by one, at each level.
    fn compare(sets: &Sets<2>, text: &[u8], start: usize) {
        for simd in SimdLevel::available().into_iter().filter(|simd| *simd != SimdLevel::Plain) {
            compare_at(sets, text, start, simd);
        }
    }

    fn compare_at(sets: &Sets<2>, text: &[u8], start: usize, simd: SimdLevel) {
        let mut offset = start;
        let (mut in_sets, mut outside, mut widths) = ([0u64; 2], 0u64, Vec::new());
        while offset < text.len().min(start + BLOCK) {
            let (Some(c), len) = decode(&text[offset..]) else {
                return assert!(offset + 3 < text.len() || read(sets, text, start, 0, simd).is_none());
            };
            let bit = 1 << (offset - start);
            let [is_first, is_second] = if len == 4 { [false; 2] } else { is_in(c) };
            outside |= if is_first { 0 } else { bit };
            in_sets[0] |= if is_first && len > 1 { bit } else { 0 };
            in_sets[1] |= if is_second { bit } else { 0 };
            widths.push((offset - start, len));
            offset += len;
        }
        let block = read(sets, text, start, 0, simd).unwrap();
        assert_eq!(block.mixed & !block.sets[0], outside);
        assert_eq!(block.sets, in_sets.map(|set| set & block.mixed));
        assert_eq!(block.len, offset - start);
        let last = widths.last().copied();
        for (at, len) in widths {
            let next = if at + len < BLOCK { 1 << (at + len) } else { 0 };
            assert_eq!(block.behind(1 << at, false), (next, Some((at, len)) == last));
        }
    }

    #[test]
    fn each_byte_is_told() {
        let mut text: Vec<u8> = (0..=u8::MAX).collect();
        for first in [0xc0, 0xc1, 0xc2, 0xe0, 0xe1, 0xed] {
            text.extend([0x80, 0x9f, 0xa0, 0xbf].iter().flat_map(|second| [first, *second, 0x80, b'a']));
        }
        for start in 0..text.len() {
            let bits = |is: fn(u8) -> bool| {
                let block = text[start..].iter().take(BLOCK).enumerate();
                block.fold(0u64, |bits, (at, &byte)| bits | u64::from(is(byte)) << at)
            };
            for simd in SimdLevel::available() {
                // SAFETY: the processor has these instructions.
                let found = match simd {
                    SimdLevel::Plain => continue,
                    SimdLevel::Avx2 => unsafe { Ascii::at(&text, start) },
                    SimdLevel::Avx512 => unsafe { Ascii::at_avx512(&text, start) },
                };
                assert_eq!(found.printable, bits(|byte| (b' '..=b'~').contains(&byte)));
                assert_eq!(found.spaces, bits(|byte| byte == b' '));
                assert_eq!(found.blanks, bits(|byte| b"\t\n\r".contains(&byte)));
                for at in 0..text.len().saturating_sub(start + 1).min(BLOCK) {
                    let pair = [text[start + at], text[start + at + 1]];
                    if is_inside(pair[1]) {
                        let expected =
                            matches!(pair, [0xc0..=0xc1, _] | [0xe0, ..=0x9f] | [0xed, 0xa0..=0xff]);
                        assert_eq!(found.invalid >> at & 1 != 0, expected, "{pair:x?} {simd:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_character_is_looked_up() {
        let sets = Sets::new(is_in, |[is_first, _]| is_first);
        let text: String = ('\0'..'\u{2_1000}').collect();
        for (offset, _) in text.char_indices() {
            compare(&sets, text.as_bytes(), offset);
        }
    }

    proptest! {
        #[test]
        fn blocks_of_characters_of_all_widths(text in "[aé֑क्षि語가😀\u{7ff}\u{800}\u{ffff}]{1,60}") {
            compare(&Sets::new(is_in, |[is_first, _]| is_first), text.as_bytes(), 0);
        }

        #[test]
        fn blocks_that_begin_inside_characters(text in "[aé֑क्षि語가😀\u{7ff}\u{800}\u{ffff}]{1,200}", cut in 0..4usize) {
            let sets = Sets::new(|c| [false, is_in(c)[1]], |_| false);
            let bytes = &text.as_bytes()[..text.len() - cut.min(text.len())];
            let whole = std::str::from_utf8(bytes);
            for simd in SimdLevel::available().into_iter().filter(|simd| *simd != SimdLevel::Plain) {
                let (mut inside, mut second, mut follows, mut is_second) = (0, Vec::new(), Vec::new(), false);
                for start in (0..bytes.len()).step_by(BLOCK) {
                    let Some(block) = read(&sets, bytes, start, inside, simd) else {
                        prop_assert!(whole.is_err() && bytes.len() <= start + BLOCK + 3);
                        break;
                    };
                    let (behind, is_last) = block.behind(block.sets[1], is_second);
                    let places = |mask: u64| (0..BLOCK).filter(move |at| mask >> at & 1 != 0).map(move |at| start + at);
                    second.extend(places(block.sets[1]));
                    follows.extend(places(behind).filter(|&at| at < bytes.len()));
                    (inside, is_second) = (block.beyond, is_last);
                }
                let Ok(whole) = whole else { continue };
                let chars: Vec<(usize, char)> = whole.char_indices().collect();
                let is_second = |c: char| matches!(c.len_utf8(), 2..4) && is_in(c)[1];
                let behind = |number: usize| chars.get(number + 1).map(|&(at, _)| at);
                let (expected, next): (Vec<usize>, Vec<Option<usize>>) = (0..)
                    .zip(&chars)
                    .filter(|(_, (_, c))| is_second(*c))
                    .map(|(number, (at, _))| (*at, behind(number)))
                    .unzip();
                prop_assert_eq!(second, expected);
                prop_assert_eq!(follows, next.into_iter().flatten().collect::<Vec<_>>());
            }
        }
    }
}
