//! What the letters of pretokens tell about how those are looked up.
//!
//! Pretokens of scripts without spaces, such as Chinese and Thai, are parts of sentences. Few recur, but most of
//! their pieces between places to split do, so that those are looked up. Pretokens of other scripts are words,
//! which recur, so that they are looked up whole. If few tokens join the letters of a script, a new word is mostly
//! made of pieces that are known, and merging its bytes would take longer than looking those up.

use super::super::safe_splits::CutScripts;
use super::Group;
use crate::cpu::SimdLevel;

/// The first byte of the first letters beyond the Latin ones, and of those that have three bytes.
const BEYOND_LATIN: u8 = 0xce;
const THREE_BYTES: u8 = 0xe0;

/// The first byte of the characters between U+2000 and U+2FFF, most of which are punctuation.
const SYMBOLS: u8 = 0xe2;

/// A text is searched in parts of this many bytes.
const PART: usize = 256;

/// One pretoken of this many is looked at.
const APART: usize = 16;

/// What the text of a group contains.
#[derive(Default)]
pub(super) struct Scripts {
    /// Letters of scripts without spaces.
    pub(super) are_unspaced: bool,
    /// Letters that may be those of scripts that few tokens join.
    pub(super) are_cut: bool,
}

impl Scripts {
    #[inline]
    pub(super) fn of(group: Group<'_>, cut: &CutScripts, simd: SimdLevel) -> Scripts {
        let text = group.bytes();
        if !any(text, simd, |byte| (byte >= BEYOND_LATIN) & (byte != SYMBOLS)) {
            return Scripts::default();
        }
        let are_of_three = any(text, simd, |byte| (byte >= THREE_BYTES) & (byte != SYMBOLS));
        // Words are alike in most texts, so some tell enough.
        let mut some = (0..group.ends.len()).step_by(APART).map(|number| group.pretoken(number));
        Scripts {
            are_unspaced: are_of_three && any_pair(text, is_unspaced),
            are_cut: are_of_three || some.any(|word| cut.has(word.bytes())),
        }
    }
}

/// Whether a pretoken is of a script without spaces.
#[inline]
pub(super) fn has_splits(pretoken: &[u8]) -> bool {
    match *pretoken {
        [first, second, ..] if first >= 0xe0 => is_unspaced(first, second),
        [_, first, second, ..] => is_unspaced(first, second),
        _ => false,
    }
}

/// Whether two bytes begin a character of a script without spaces: Thai, Lao and Tibetan; Burmese; Khmer; Chinese and
/// Japanese; and those of four bytes, which begin no words.
#[inline]
fn is_unspaced(byte: u8, next: u8) -> bool {
    (0xe3..=0xe9).contains(&byte)
        | (byte >= 0xee)
        | (byte == 0xe0) & (next >= 0xb8)
        | (byte == 0xe1) & ((next <= 0x82) | (0x9e..=0x9f).contains(&next))
}

/// Whether a text has such a byte.
#[inline]
fn any(text: &[u8], simd: SimdLevel, is: impl Fn(u8) -> bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
    fn any_avx512(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
        any_by(text, is)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn any_avx2(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
        any_by(text, is)
    }

    match simd {
        // SAFETY: a level is chosen only where the processor has its instructions.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { any_avx512(text, is) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { any_avx2(text, is) },
        SimdLevel::Plain => any_by(text, is),
    }
}

// Without an exit in the inner loop, so that it is compiled to vectors; so is the next.
#[inline(always)]
fn any_by(text: &[u8], is: impl Fn(u8) -> bool) -> bool {
    let (parts, rest) = text.as_chunks::<PART>();
    let in_part = |part: &[u8]| part.iter().fold(0, |found, &byte| found | u8::from(is(byte))) > 0;
    parts.iter().any(|part| in_part(part)) || in_part(rest)
}

/// Whether a text has two such bytes, one after the other.
fn any_pair(text: &[u8], is: impl Fn(u8, u8) -> bool) -> bool {
    text.chunks(PART).zip(text[1..].chunks(PART)).any(|(part, nexts)| {
        part.iter().zip(nexts).fold(0, |found, (&byte, &next)| found | u8::from(is(byte, next))) > 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::safe_splits::LetterCounts;
    use super::*;

    #[test]
    fn words_are_told_from_parts_of_sentences() {
        for text in ["ไทย", " ລາວ", "བོད", "မြန်", "ខ្មែរ", "中文", " かな", "カナ", "。", "😀", "𐐀"]
        {
            assert!(has_splits(text.as_bytes()), "{text}");
        }
        for word in ["", "a", " a", "ä", "हिन्दी", " தமிழ்", "ქართული", "አማርኛ", " 한국어", "ꦗꦮ", "…", " “"]
        {
            assert!(!has_splits(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn letters_are_found_wherever_they_are() {
        let mut counts = LetterCounts::default();
        ('а'..='я').for_each(|letter| counts.add_whole(letter));
        let cut = counts.cut_scripts();
        for (word, are_unspaced, are_cut) in [
            ("a", false, false),
            ("é“”", false, false),
            ("ж", false, true),
            ("हि", false, true),
            ("ไ", true, true),
            ("中", true, true),
            ("😀", true, true),
        ] {
            for before in [0, 1, PART - 2, PART - 1, PART, 3 * PART - 1] {
                for behind in [0, 1, PART] {
                    let text = ["x".repeat(before).as_str(), word, &"x".repeat(behind)].concat();
                    // The word is a pretoken that is looked at.
                    let mut ends = [before; APART + 1];
                    ends[APART] = before + word.len();
                    for simd in SimdLevel::available() {
                        let scripts = Scripts::of(Group::new(text.as_bytes(), 0, &ends), &cut, simd);
                        assert_eq!(
                            (scripts.are_unspaced, scripts.are_cut),
                            (are_unspaced, are_cut),
                            "{text}"
                        );
                    }
                }
            }
        }
    }
}
