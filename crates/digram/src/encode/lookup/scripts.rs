//! What the first bytes of a pretoken tell about its script, and so about how it is looked up.
//!
//! Pretokens of scripts without spaces, such as Chinese and Thai, are parts of sentences. Few recur, but most of
//! their pieces between places to split do, so that those are looked up. Pretokens of other scripts are words,
//! which recur, so that they are looked up whole. If a letter has three bytes, as in Hindi and Korean, a word that
//! is new is mostly made of pieces that are not, and merging its bytes would take longer than looking those up.

/// Whether a pretoken is of a script without spaces.
#[inline]
pub(super) fn has_splits(pretoken: &[u8]) -> bool {
    match *pretoken {
        [first, second, ..] if first >= 0xe0 => is_unspaced(first, second),
        [_, first, second, ..] => is_unspaced(first, second),
        _ => false,
    }
}

/// Whether a pretoken begins with a character of three bytes or more that is not punctuation, perhaps behind a space.
#[inline]
pub(super) fn is_of_three_bytes(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| begins_three_bytes(byte))
}

/// Whether a byte begins a character of more than two bytes that is not punctuation, as those between U+2000 and
/// U+2FFF mostly are.
#[inline]
pub(super) fn begins_three_bytes(byte: u8) -> bool {
    (byte >= 0xe0) & (byte != 0xe2)
}

/// Whether two bytes begin a character of a script without spaces: Thai, Lao and Tibetan; Burmese; Khmer; Chinese and
/// Japanese; and those of four bytes, which begin no words.
#[inline]
fn is_unspaced(byte: u8, next: u8) -> bool {
    if byte < 0xe0 {
        return false;
    }
    match byte {
        0xe3..=0xe9 | 0xee.. => true,
        0xe0 => next >= 0xb8,
        0xe1 => matches!(next, 0x80..=0x82 | 0x9e..=0x9f),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
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
        for (word, is_long) in
            [("", false), ("한", true), (" हि", true), ("  हि", false), ("é", false), ("“", false)]
        {
            assert_eq!(is_of_three_bytes(word.as_bytes()), is_long, "{word}");
        }
    }
}
