//! The characters of a block that are not ASCII.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use super::super::kinds::KindsOfOthers;
#[cfg(target_arch = "x86_64")]
use super::super::kinds::NONE;
use super::classes::{BLOCK, CASELESS_BIT, HARD, MARK, SPACE, UPPER_BIT};

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Rows;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Bitmaps;

/// The number of bytes after a block that are read with it.
pub(super) const MORE: usize = 2;

/// The characters of a block that are not ASCII, up to the first that is hard or incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Others {
    /// The number of bytes before that one; the masks have arbitrary bits from there on.
    pub(super) len: u32,
    /// The first bytes of characters.
    pub(super) firsts: u64,
    pub(super) letters: u64,
    pub(super) upper: u64,
    pub(super) caseless: u64,
    pub(super) spaces: u64,
}

impl Others {
    /// Reads the characters at the bytes `high` of `text[start..start + 64]`. The bytes after ASCII letters, and the
    /// first byte if a letter is before it, are given.
    #[inline(never)]
    pub(super) fn read<const CASED: bool>(
        high: u64,
        after_letters: u64,
        kinds: &KindsOfOthers,
        text: &[u8],
        start: usize,
    ) -> Others {
        let (mut remaining, mut len) = (high, BLOCK);
        let (mut firsts, mut letters, mut upper, mut caseless, mut spaces) = (0, 0, 0, 0, 0);
        while remaining != 0 {
            let offset = remaining.trailing_zeros() as usize;
            let (kind, width) = kinds.first(text, start + offset);
            // A mark is a part of a word only after a letter.
            let is_hard = kind & HARD != 0 && kind != SPACE
                || CASED && kind == MARK && (letters << 1 | after_letters) >> offset & 1 == 0;
            if is_hard || offset + width > BLOCK {
                len = offset;
                break;
            }
            let bytes = ((1 << width) - 1) << offset;
            // Branch-free, because the kind is unpredictable.
            let bytes_if = |bit: u32| bytes & u64::from(kind >> bit & 1).wrapping_neg();
            letters |= bytes_if(0);
            spaces |= bytes & u64::from(kind == SPACE).wrapping_neg();
            if CASED {
                upper |= bytes_if(UPPER_BIT);
                caseless |= bytes_if(CASELESS_BIT);
            }
            firsts |= 1 << offset;
            remaining &= !bytes;
        }
        Others { len: len as u32, firsts, letters, upper, caseless, spaces }
    }
}

/// The bytes of white space at the start of what is hard, and what is hard after that. The characters are those at
/// `offset` in `text`, and `hard` are their first bytes.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn spaces_of(kinds: &KindsOfOthers, text: &[u8], start: usize, mut hard: u64) -> (u64, u64) {
    let mut spaces = 0;
    while hard != 0 {
        let offset = hard.trailing_zeros();
        let (kind, width) = kinds.first(text, start + offset as usize);
        if kind != SPACE {
            break;
        }
        spaces |= ((1 << width) - 1) << offset;
        hard &= hard - 1;
    }
    (spaces, hard)
}

/// The bytes of marks that are parts of words: those after a letter. An addition carries through each run of marks
/// that begins so.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn attached(marks: u64, letters: u64, after_letters: u64) -> u64 {
    let firsts = marks & (letters << 1 | after_letters);
    marks & !marks.wrapping_add(firsts)
}

/// What is known about a character, as the numbers of bits.
#[cfg(target_arch = "x86_64")]
mod bit {
    pub(super) const LETTER: usize = 0;
    pub(super) const HARD: usize = 1;
    pub(super) const UPPER: usize = 2;
    pub(super) const CASELESS: usize = 3;
    pub(super) const MARK: usize = 4;
    /// The number of bits.
    pub(super) const COUNT: usize = 5;
    /// The characters with one first byte differ.
    pub(super) const MIXED: usize = 7;
}

/// What is known about the 64 characters whose bytes differ in the last alone: a set of these for each bit.
#[cfg(target_arch = "x86_64")]
type Row = [u64; bit::COUNT];

/// The row of characters of these kinds. What is not a character is hard.
#[cfg(target_arch = "x86_64")]
fn row_of(kinds: &[u8; 64]) -> Row {
    let set = |has: &dyn Fn(u8) -> bool| {
        (0..).zip(kinds).fold(0, |set, (at, &kind)| set | u64::from(has(kind)) << at)
    };
    let is_character = |kind: u8| kind != NONE;
    let mut row = [0; bit::COUNT];
    row[bit::LETTER] = set(&|kind| is_character(kind) && kind & 1 != 0 && kind != MARK);
    row[bit::HARD] = set(&|kind| kind & HARD != 0);
    row[bit::UPPER] = set(&|kind| is_character(kind) && kind >> UPPER_BIT & 1 != 0);
    row[bit::CASELESS] = set(&|kind| is_character(kind) && kind >> CASELESS_BIT & 1 != 0);
    row[bit::MARK] = set(&|kind| kind == MARK);
    row
}

/// The bits that the characters of all these rows have, or [`bit::MIXED`] if some have a bit and others do not.
#[cfg(target_arch = "x86_64")]
fn common_bits<'a>(rows: impl Iterator<Item = &'a Row>) -> u8 {
    let (mut all, mut any) = ([u64::MAX; bit::COUNT], [0; bit::COUNT]);
    for row in rows {
        for (number, set) in row.iter().enumerate() {
            all[number] &= set;
            any[number] |= set;
        }
    }
    let is_mixed = all.iter().zip(any).any(|(&all, any)| all != u64::MAX && any != 0);
    let bits = (0..).zip(any).fold(0, |bits, (number, any)| bits | u8::from(any != 0) << number);
    if is_mixed { 1 << bit::MIXED } else { bits }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::super::automaton::Automaton;
    use super::super::tests::patterns;
    use super::super::{FamilyMember, SimdLevel};
    use super::*;

    #[test]
    fn tables_give_what_single_characters_do() {
        for simd in SimdLevel::available() {
            // SAFETY: the processor has these instructions.
            match simd {
                SimdLevel::Avx512 => {
                    compare(Bitmaps::new, |bitmaps, member, high, after_letters, text| unsafe {
                        match member.has_case() {
                            true => bitmaps.read::<true>(high, after_letters, &member.kinds, text, 0),
                            false => bitmaps.read::<false>(high, after_letters, &member.kinds, text, 0),
                        }
                    })
                }
                SimdLevel::Avx2 => compare(Rows::new, |rows, member, high, after_letters, text| unsafe {
                    match member.has_case() {
                        true => rows.read::<true>(high, after_letters, &member.kinds, text, 0),
                        false => rows.read::<false>(high, after_letters, &member.kinds, text, 0),
                    }
                }),
                SimdLevel::Plain => (),
            }
        }
    }

    fn compare<T>(
        tables: impl Fn(&KindsOfOthers) -> Box<T>,
        read: impl Fn(&T, &FamilyMember, u64, u64, &[u8]) -> Option<Others>,
    ) {
        let mut random = 1u64;
        let mut next = move |below: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as u32 % below
        };
        for pattern in patterns() {
            let member = FamilyMember::of(&Automaton::of(&pattern)).unwrap();
            let tables = tables(&member.kinds);
            let (mut seen, mut compared) = (std::collections::HashSet::new(), 0);
            for _ in 0..200_000 {
                // Characters of the same part of Unicode, so that few are hard.
                let part = [
                    0x80,
                    0x400,
                    0x600,
                    0x900,
                    0xe00,
                    0x2000,
                    0x3000,
                    0x4e00,
                    0xac00,
                    0xff00,
                    0x1_0400,
                    0x1_f300,
                    next(0x1_0000),
                ];
                let part = part[next(13) as usize];
                let mut text = Vec::new();
                while text.len() < BLOCK + 2 {
                    let range = [4, 0x80, 0x800][next(3) as usize];
                    let code = if next(6) == 0 { next(0x80) } else { part + next(range) };
                    let c = char::from_u32(code).unwrap_or('a');
                    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    if next(400) == 0 {
                        text.pop();
                    }
                    // Overlong forms, a surrogate, a number above all characters.
                    if next(400) == 0 {
                        let invalid: [&[u8]; 4] =
                            [b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"];
                        text.extend(invalid[next(4) as usize]);
                    }
                }
                let is_in = |first: u8, last: u8| {
                    let bits = text[..BLOCK].iter().enumerate();
                    bits.fold(0u64, |bits, (at, byte)| bits | u64::from((first..=last).contains(byte)) << at)
                };
                let (high, letters) = (is_in(0x80, 0xff), is_in(b'a', b'z') | is_in(b'A', b'Z'));
                let after_letters = letters << 1 | u64::from(next(2));
                let masks = |others: Others, len: u32| {
                    let valid = u64::MAX.checked_shr(BLOCK as u32 - len).unwrap_or(0);
                    let Others { firsts, letters, upper, caseless, spaces, .. } = others;
                    [firsts, letters, upper, caseless, spaces].map(|mask| mask & valid)
                };
                let found = read(&tables, &member, high, after_letters, &text);
                let expected = match member.has_case() {
                    true => Others::read::<true>(high, after_letters, &member.kinds, &text, 0),
                    false => Others::read::<false>(high, after_letters, &member.kinds, &text, 0),
                };
                if let Some(found) = found {
                    // Bytes after the block decide whether they are a character with the last of the block.
                    let len = found.len;
                    let is_cut = len < expected.len && len >= BLOCK as u32 - 3;
                    // Overlong forms and surrogates are hard here.
                    let is_invalid =
                        len < expected.len && crate::utf8::decode(&text[len as usize..]).0.is_none();
                    assert!(len == expected.len || is_cut || is_invalid, "{len} {expected:?} {text:?}");
                    assert_eq!(masks(found, len), masks(expected, len), "{text:?}");
                    compared += 1;
                    seen.extend(String::from_utf8_lossy(&text[..expected.len as usize]).chars());
                }
            }
            assert!(
                compared > 100_000 && seen.len() > 20_000,
                "{compared} blocks, {} characters",
                seen.len()
            );
        }
    }
}
