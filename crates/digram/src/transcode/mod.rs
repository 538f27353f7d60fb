//! Converting UTF-8 to characters of a fixed width, as Python stores them.
//!
//! Python's own conversion looks at each character twice, and at one in a step. Here a few instructions find the
//! width and the number of characters of 64 bytes, and a few more convert and validate them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::mem::MaybeUninit;

use crate::cpu::SimdLevel;
use crate::utf8;

/// What is known of a text before it is converted, if it is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// The number of characters.
    pub characters: usize,
    /// The width of the widest character.
    pub width: Width,
}

/// The number of bytes that each character needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// All characters are ASCII.
    Ascii,
    /// One byte: up to U+00FF.
    One,
    /// Two bytes: up to U+FFFF.
    Two,
    /// Four bytes.
    Four,
}

/// The number of characters of a text, and their width. The text may be invalid; then they have no meaning.
pub fn survey(text: &[u8]) -> Survey {
    let (characters, highest) = match SimdLevel::best() {
        // SAFETY: the level has the features.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { avx512::survey(text) },
        // SAFETY: the level has the features.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { survey_avx2(text) },
        SimdLevel::Plain => survey_plain(text),
    };
    let width = match highest {
        0..=0x7f => Width::Ascii,
        // The first bytes of characters tell the most that can follow.
        0x80..=0xc3 => Width::One,
        0xc4..=0xef => Width::Two,
        _ => Width::Four,
    };
    Survey { characters, width }
}

/// The number of bytes that are not inside a character, and the highest byte.
#[inline(always)]
fn survey_plain(text: &[u8]) -> (usize, u8) {
    // Counts of 8 bits, so that many are added in one instruction.
    text.chunks(255).fold((0, 0), |(characters, highest), part| {
        let starts: u8 = part.iter().map(|&byte| u8::from(!utf8::is_inside(byte))).sum();
        (characters + usize::from(starts), part.iter().fold(highest, |highest, &byte| highest.max(byte)))
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn survey_avx2(text: &[u8]) -> (usize, u8) {
    survey_plain(text)
}

/// A character of a fixed width.
pub trait Unit: Copy + private::Unit {}

impl Unit for u8 {}
impl Unit for u16 {}
impl Unit for u32 {}

mod private {
    /// The widths that there are.
    pub trait Unit: Sized {
        /// The unit of a character, if it is wide enough.
        fn of(character: char) -> Option<Self>;

        /// As [`super::convert`], vectorized.
        ///
        /// # Safety
        ///
        /// The processor has the features of the level.
        #[cfg(target_arch = "x86_64")]
        unsafe fn convert_avx512(text: &[u8], units: &mut [std::mem::MaybeUninit<Self>]) -> bool;
    }

    macro_rules! unit {
        ($unit:ty, $convert:ident) => {
            impl Unit for $unit {
                #[inline(always)]
                fn of(character: char) -> Option<$unit> {
                    u32::from(character).try_into().ok()
                }

                #[cfg(target_arch = "x86_64")]
                unsafe fn convert_avx512(text: &[u8], units: &mut [std::mem::MaybeUninit<$unit>]) -> bool {
                    // SAFETY: as the caller promises.
                    unsafe { super::avx512::$convert(text, units) }
                }
            }
        };
    }
    unit!(u8, to_ones);
    unit!(u16, to_twos);
    unit!(u32, to_fours);
}

/// Writes all characters of `text` to `units`. False if the text is not valid UTF-8, or has a character that is
/// wider than a unit, or not as many characters as there are units; then `units` need not be initialized.
pub fn convert<U: Unit>(text: &[u8], units: &mut [MaybeUninit<U>]) -> bool {
    match SimdLevel::best() {
        // SAFETY: the level has the features.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { U::convert_avx512(text, units) },
        // SAFETY: the level has the features.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { avx2::convert(text, units) },
        SimdLevel::Plain => {
            let (mut offset, mut written) = (0, 0);
            convert_until(text, text.len(), units, &mut offset, &mut written) && written == units.len()
        }
    }
}

/// Converts characters one by one until one ends at an offset or behind it. False if one is invalid or has no place.
fn convert_until<U: Unit>(
    text: &[u8],
    end: usize,
    units: &mut [MaybeUninit<U>],
    offset: &mut usize,
    written: &mut usize,
) -> bool {
    while *offset < end {
        let (Some(character), len) = utf8::decode(&text[*offset..]) else { return false };
        let (Some(unit), Some(place)) = (U::of(character), units.get_mut(*written)) else { return false };
        place.write(unit);
        (*offset, *written) = (*offset + len, *written + 1);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units of a text, or `None` where `convert` is false.
    fn converted<U: Unit>(text: &[u8], count: usize) -> Option<Vec<U>> {
        let mut units = vec![MaybeUninit::uninit(); count];
        // SAFETY: `convert` has written all units.
        convert(text, &mut units)
            .then(|| units.iter().map(|unit: &MaybeUninit<U>| unsafe { unit.assume_init() }).collect())
    }

    fn check(text: &[u8]) {
        let valid = std::str::from_utf8(text).ok();
        let points: Option<Vec<u32>> = valid.map(|text| text.chars().map(u32::from).collect());
        let starts = text.iter().filter(|&&byte| !utf8::is_inside(byte)).count();
        let narrow = |limit| points.clone().filter(|points| points.iter().all(|&point| point <= limit));
        for simd in SimdLevel::available() {
            simd.force(|| {
                let Survey { characters, width } = survey(text);
                assert_eq!(characters, starts);
                assert_eq!(converted::<u32>(text, starts), points, "{simd:?} {text:x?}");
                let twos = converted::<u16>(text, starts);
                let twos = twos.map(|units| units.into_iter().map(u32::from).collect());
                assert_eq!(twos, narrow(0xffff), "{simd:?} {text:x?}");
                let ones = converted::<u8>(text, starts);
                let ones = ones.map(|units| units.into_iter().map(u32::from).collect());
                assert_eq!(ones, narrow(0xff), "{simd:?} {text:x?}");
                assert_eq!(converted::<u32>(text, starts + 1), None);
                if starts > 0 {
                    assert_eq!(converted::<u32>(text, starts - 1), None);
                }
                if let Some(points) = &points {
                    let expected = match points.iter().max().unwrap_or(&0) {
                        0..=0x7f => Width::Ascii,
                        0x80..=0xff => Width::One,
                        0x100..=0xffff => Width::Two,
                        _ => Width::Four,
                    };
                    assert_eq!(width, expected);
                }
            });
        }
    }

    #[test]
    fn all_characters_are_converted() {
        let all: String = ('\0'..=char::MAX).collect();
        for part in all.as_bytes().chunks(1 << 14) {
            check(part);
        }
        check(all.as_bytes());
    }

    #[test]
    fn invalid_bytes_are_found_at_every_place() {
        let invalid: &[&[u8]] = &[
            b"\x80",
            b"\xc0\x80",
            b"\xc1\xbf",
            b"\xc3",
            b"\xe0\x9f\xbf",
            b"\xe2\x82",
            b"\xed\xa0\x80",
            b"\xed\xbf\xbf",
            b"\xf0\x8f\xbf\xbf",
            b"\xf0\x9f\x99",
            b"\xf4\x90\x80\x80",
            b"\xf5\x80\x80\x80",
            b"\xf8\x88\x80\x80\x80",
            b"\xff",
            b"\xc3\xa9\xa9",
            b"\xe2\x82\xac\x80",
            b"\xf0\x9f\x99\x82\x82",
        ];
        for filler in ["a", "é", "語", "😀", "aé", "a語é", "😀a"] {
            for before in 0..70 {
                for after in [0, 1, 2, 3, 50, 70] {
                    for &bytes in invalid {
                        let cycle = |count| filler.chars().cycle().take(count).collect::<String>();
                        let text = [cycle(before).as_bytes(), bytes, cycle(after).as_bytes()].concat();
                        check(&text);
                    }
                }
            }
        }
    }

    #[test]
    fn random_bytes_are_judged_as_by_the_standard_library() {
        let pieces: &[&[u8]] = &[
            b"a",
            b"text ",
            "é".as_bytes(),
            "ÿ".as_bytes(),
            "Ā".as_bytes(),
            "語".as_bytes(),
            "😀".as_bytes(),
            "\u{ffff}".as_bytes(),
            "\u{10ffff}".as_bytes(),
            b"0123456789abcdef0123456789abcdef",
            b"\x80",
            b"\xe2",
            b"\xf0\x9f",
        ];
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for case in 0..20_000 {
            // Most texts are valid, and some have narrow characters only.
            let kinds = [4, 6, 7, 10, pieces.len()][case % 5];
            let text: Vec<u8> = (0..random(60)).flat_map(|_| pieces[random(kinds)].to_vec()).collect();
            check(&text);
        }
        for len in 0..200 {
            check(&vec![b'a'; len]);
        }
    }
}
