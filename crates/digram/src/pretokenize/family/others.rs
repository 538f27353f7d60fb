//! The characters of a block that are not ASCII.

use super::super::kinds::KindsOfOthers;
use super::classes::{BLOCK, CASELESS_BIT, HARD, MARK, UPPER_BIT};

/// The number of bytes after a block that are read with it.
pub(super) const MORE: usize = 2;

/// The characters of a block that are not ASCII, up to the first that is hard or incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Others {
    /// The number of bytes before that one; the masks have arbitrary bits from there on.
    pub(super) len: u32,
    /// The first bytes of characters.
    pub(super) firsts: u64,
    pub(super) letters: u64,
    pub(super) upper: u64,
    pub(super) caseless: u64,
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
        let (mut firsts, mut letters, mut upper, mut caseless) = (0, 0, 0, 0);
        while remaining != 0 {
            let offset = remaining.trailing_zeros() as usize;
            let (kind, width) = kinds.first(text, start + offset);
            // A mark is a part of a word only after a letter.
            let is_hard = kind & HARD != 0
                || CASED && kind == MARK && (letters << 1 | after_letters) >> offset & 1 == 0;
            if is_hard || offset + width > BLOCK {
                len = offset;
                break;
            }
            let bytes = ((1 << width) - 1) << offset;
            // Branch-free, because the kind is unpredictable.
            let bytes_if = |bit: u32| bytes & u64::from(kind >> bit & 1).wrapping_neg();
            letters |= bytes_if(0);
            if CASED {
                upper |= bytes_if(UPPER_BIT);
                caseless |= bytes_if(CASELESS_BIT);
            }
            firsts |= 1 << offset;
            remaining &= !bytes;
        }
        Others { len: len as u32, firsts, letters, upper, caseless }
    }
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

/// The classes of all characters of two and three bytes, as sets of bits that vector instructions look up for 64
/// bytes at once.
#[cfg(target_arch = "x86_64")]
pub(super) struct Bitmaps {
    /// For each bit: a set of the two-byte characters.
    two: [[u8; 256]; bit::COUNT],
    /// For each first byte of three-byte characters, for each bit: a set of the characters with that first byte.
    three: [[[u8; 512]; bit::COUNT]; 16],
    /// For each first byte of three-byte characters: the bits that all of them have, or [`bit::MIXED`].
    uniform: [u8; 16],
}

#[cfg(target_arch = "x86_64")]
impl Bitmaps {
    pub(super) fn new(kinds: &KindsOfOthers) -> Box<Bitmaps> {
        let mut bitmaps = Box::new(Bitmaps {
            two: [[0; 256]; bit::COUNT],
            three: [[[0; 512]; bit::COUNT]; 16],
            uniform: [0; 16],
        });
        let bits_of = |code: u32| {
            let Some(c) = char::from_u32(code) else { return 1 << bit::HARD };
            let (kind, _) = kinds.first(c.encode_utf8(&mut [0; 4]).as_bytes(), 0);
            let bits = [
                (bit::LETTER, kind & 1 != 0 && kind != MARK),
                (bit::HARD, kind & HARD != 0),
                (bit::UPPER, kind >> UPPER_BIT & 1 != 0),
                (bit::CASELESS, kind >> CASELESS_BIT & 1 != 0),
                (bit::MARK, kind == MARK),
            ];
            bits.into_iter().fold(0u8, |bits, (number, is_set)| bits | u8::from(is_set) << number)
        };
        // Bytes that would be an overlong form are not a character.
        let bits_of = |code: u32, lowest: u32| if code < lowest { 1 << bit::HARD } else { bits_of(code) };
        let set = |sets: &mut [u8], at: u32, bits: u8, number: usize| {
            sets[at as usize / 8] |= (bits >> number & 1) << (at % 8);
        };
        for code in 0..1 << 11 {
            for number in 0..bit::COUNT {
                set(&mut bitmaps.two[number], code, bits_of(code, 0x80), number);
            }
        }
        for first in 0..16 {
            let all = [0, 1 << 11, (1 << 12) - 1].map(|code| bits_of((first << 12) + code, 0x800));
            bitmaps.uniform[first as usize] = all[0];
            for code in 0..1 << 12 {
                let bits = bits_of((first << 12) + code, 0x800);
                if bits != all[0] {
                    bitmaps.uniform[first as usize] = 1 << bit::MIXED;
                }
                for number in 0..bit::COUNT {
                    set(&mut bitmaps.three[first as usize][number], code, bits, number);
                }
            }
        }
        bitmaps
    }

    /// As [`Others::read`]; `None` if there are characters of four bytes, or bytes that do not have the form of
    /// UTF-8, or if the text ends within two bytes after the block. Overlong forms and surrogates are hard.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn read<const CASED: bool>(
        &self,
        high: u64,
        after_letters: u64,
        text: &[u8],
        start: usize,
    ) -> Option<Others> {
        use std::arch::x86_64::*;
        let bytes = text.get(start..start + BLOCK + MORE)?;
        // SAFETY: 64 bytes from each of these on are in `bytes`.
        let [first, second, third] =
            [0, 1, 2].map(|offset| unsafe { _mm512_loadu_si512(bytes.as_ptr().add(offset).cast()) });
        let splat = |byte: u8| _mm512_set1_epi8(byte as i8);
        let firsts = _mm512_cmpge_epu8_mask(first, splat(0xc0));
        let three = _mm512_cmpge_epu8_mask(first, splat(0xe0));
        let two = firsts & !three;
        if high & !firsts != firsts << 1 | three << 2 || _mm512_cmpge_epu8_mask(first, splat(0xf0)) != 0 {
            return None;
        }
        // The eight bits of a byte of a set, each as a byte.
        let each_bit = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        // A byte of 256: index bits 0 to 6 select one of 128, twice, and bit 7 one of both.
        let byte_of = |set: &[u8; 256], index: __m512i| {
            // SAFETY: there are four times 64 bytes.
            let [a, b, c, d] = [0, 1, 2, 3]
                .map(|quarter| unsafe { _mm512_loadu_si512(set.as_ptr().add(64 * quarter).cast()) });
            let [low, high] = [(a, b), (c, d)].map(|(a, b)| _mm512_permutex2var_epi8(a, index, b));
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high)
        };
        // Five bits of one byte above bits 3 to 5 of the next.
        let index_of = |upper: __m512i, lower: __m512i| {
            let upper = _mm512_and_si512(_mm512_slli_epi16::<3>(upper), splat(0xf8));
            _mm512_or_si512(upper, _mm512_and_si512(_mm512_srli_epi16::<3>(lower), splat(7)))
        };
        let bit_of = |byte: __m512i| _mm512_shuffle_epi8(each_bit, _mm512_and_si512(byte, splat(7)));
        let count = if CASED { bit::COUNT } else { bit::HARD + 1 };
        let mut bits = [0u64; bit::COUNT];
        if two != 0 {
            let (index, bit) = (index_of(first, second), bit_of(second));
            for (bits, set) in bits.iter_mut().zip(&self.two).take(count) {
                *bits = _mm512_mask_test_epi8_mask(two, byte_of(set, index), bit);
            }
        }
        if three != 0 {
            // SAFETY: there are 16 bytes.
            let uniform = unsafe { _mm_loadu_si128(self.uniform.as_ptr().cast()) };
            let uniform =
                _mm512_shuffle_epi8(_mm512_broadcast_i32x4(uniform), _mm512_and_si512(first, splat(0xf)));
            for (number, bits) in bits.iter_mut().enumerate().take(count) {
                *bits |= _mm512_mask_test_epi8_mask(three, uniform, splat(1 << number));
            }
            let mut mixed = _mm512_mask_test_epi8_mask(three, uniform, splat(1 << bit::MIXED));
            let (index, bit) = (index_of(second, third), bit_of(third));
            while mixed != 0 {
                let byte = bytes[mixed.trailing_zeros() as usize];
                let same = _mm512_mask_cmpeq_epi8_mask(mixed, first, splat(byte));
                mixed &= !same;
                let upper = _mm512_test_epi8_mask(second, splat(0x20));
                let sets = &self.three[usize::from(byte & 0xf)];
                for (bits, set) in bits.iter_mut().zip(sets).take(count) {
                    let (halves, _) = set.as_chunks::<256>();
                    let [low, high] = [0, 1].map(|half| byte_of(&halves[half], index));
                    let byte = _mm512_mask_blend_epi8(upper, low, high);
                    *bits |= _mm512_mask_test_epi8_mask(same, byte, bit);
                }
            }
        }
        let all_bytes = |firsts: u64| firsts | firsts << 1 | (firsts & three) << 2;
        let (mut letters, mut hard) = (all_bytes(bits[bit::LETTER]), bits[bit::HARD]);
        if CASED {
            // A mark is a part of a word only after a letter: an addition carries through each run of marks that
            // begins so.
            let marks = all_bytes(bits[bit::MARK]);
            let firsts = marks & (letters << 1 | after_letters);
            let attached = marks & !marks.wrapping_add(firsts);
            letters |= attached;
            hard |= bits[bit::MARK] & !attached;
        }
        let incomplete = firsts & 1 << 63 | three & 1 << 62;
        Some(Others {
            len: (hard | incomplete).trailing_zeros(),
            firsts,
            letters,
            upper: all_bytes(bits[bit::UPPER]),
            caseless: all_bytes(bits[bit::CASELESS]),
        })
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::super::automaton::Automaton;
    use super::super::tests::patterns;
    use super::super::{FamilyMember, SimdLevel};
    use super::*;

    #[test]
    fn bitmaps_give_what_single_characters_do() {
        if SimdLevel::available()[0] != SimdLevel::Avx512 {
            return;
        }
        let mut random = 1u64;
        let mut next = move |below: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as u32 % below
        };
        for pattern in patterns() {
            let member = FamilyMember::of(&Automaton::of(&pattern)).unwrap();
            let bitmaps = Bitmaps::new(&member.kinds);
            let (mut seen, mut compared) = (std::collections::HashSet::new(), 0);
            for _ in 0..200_000 {
                // Characters of the same part of Unicode, so that few are hard.
                let part = [0x80, 0x400, 0x600, 0x900, 0xe00, 0x3000, 0x4e00, 0xac00, 0xff00, next(0x1_0000)];
                let part = part[next(10) as usize];
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
                    let Others { firsts, letters, upper, caseless, .. } = others;
                    [firsts, letters, upper, caseless].map(|mask| mask & valid)
                };
                // SAFETY: the processor has these instructions.
                let (found, expected) = unsafe {
                    match member.has_case() {
                        true => (
                            bitmaps.read::<true>(high, after_letters, &text, 0),
                            Others::read::<true>(high, after_letters, &member.kinds, &text, 0),
                        ),
                        false => (
                            bitmaps.read::<false>(high, after_letters, &text, 0),
                            Others::read::<false>(high, after_letters, &member.kinds, &text, 0),
                        ),
                    }
                };
                if let Some(found) = found {
                    // Bytes after the block decide whether they are a character with the last of the block.
                    let len = found.len;
                    let is_cut = len < expected.len && len > BLOCK as u32 - 3;
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
