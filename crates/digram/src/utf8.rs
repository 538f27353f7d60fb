//! Decoding characters from bytes that may be invalid UTF-8.

/// The first character of `text` and its length in bytes. If `text` starts with invalid bytes, `None` and
/// the number of bytes that one U+FFFD replaces, as Unicode recommends. For an empty text, `None` and 0.
///
/// Two-byte and three-byte characters are decoded here, in a few instructions, because they make up most
/// text that is not ASCII.
#[inline(always)]
pub(crate) fn decode(text: &[u8]) -> (Option<char>, usize) {
    let bits = |byte: u8| u32::from(byte & 0x3f);
    match *text {
        [byte @ 0..=0x7f, ..] => (Some(char::from(byte)), 1),
        [first @ 0xe0..=0xef, second, third, ..] if is_inside(second) && is_inside(third) => {
            let code = u32::from(first & 0x0f) << 12 | bits(second) << 6 | bits(third);
            match char::from_u32(code) {
                Some(c) if code >= 0x800 => (Some(c), 3),
                // An overlong form or a surrogate.
                _ => (None, 1),
            }
        }
        [first @ 0xc2..=0xdf, second, ..] if is_inside(second) => {
            (char::from_u32(u32::from(first & 0x1f) << 6 | bits(second)), 2)
        }
        _ => bstr::decode_utf8(text),
    }
}

/// The character of three bytes at an offset of a text, if there is one; `None` also at the last three offsets,
/// where four bytes cannot be read.
#[inline(always)]
pub(crate) fn three_bytes_at(text: &[u8], offset: usize) -> Option<char> {
    if offset as isize > text.len() as isize - 4 {
        return None;
    }
    // SAFETY: four bytes from `offset` on are in the text.
    let word = u32::from_be(unsafe { text.as_ptr().add(offset).cast::<u32>().read_unaligned() });
    let code = word >> 12 & 0xf000 | word >> 10 & 0xfc0 | word >> 8 & 0x3f;
    // Neither an overlong form nor a surrogate.
    let is_character = word & 0xf0c0_c000 == 0xe080_8000 && code >= 0x800 && code & 0xf800 != 0xd800;
    // SAFETY: it is a character.
    is_character.then(|| unsafe { char::from_u32_unchecked(code) })
}

/// The character of two bytes at an offset of a text, if there is one.
#[inline(always)]
pub(crate) fn two_bytes_at(text: &[u8], offset: usize) -> Option<char> {
    let [first, second] = *text.get(offset..)?.first_chunk()?;
    // Not an overlong form.
    let is_character = first & 0xe0 == 0xc0 && first >= 0xc2 && is_inside(second);
    let code = u32::from(first & 0x1f) << 6 | u32::from(second & 0x3f);
    is_character.then(|| char::from_u32(code)).flatten()
}

/// The number of bytes of the character that a byte begins.
#[inline(always)]
pub(crate) fn width(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// Whether a byte is a continuation byte.
#[inline(always)]
pub(crate) fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Whether three bytes are a character, other than those that begin with a byte ED, of which some are none.
#[inline(always)]
pub(crate) fn is_three_bytes(first: u8, second: u8, last: u8) -> bool {
    let are_inside = is_inside(second) & is_inside(last);
    are_inside & (0xe0..=0xef).contains(&first) & (first != 0xed) & ((first != 0xe0) | (second >= 0xa0))
}

/// The last offset up to `offset` that is not inside a character, nor inside invalid bytes that one U+FFFD
/// replaces.
pub(crate) fn character_until(text: &[u8], offset: usize) -> usize {
    // A byte that can start a character is never inside one.
    let start =
        (1..=3).filter_map(|distance| offset.checked_sub(distance)).find(|&start| text[start] >= 0xc0);
    match start {
        Some(start) if offset < text.len() && start + decode(&text[start..]).1 > offset => start,
        _ => offset,
    }
}

/// The length of `text` without an incomplete character at its end.
pub(crate) fn complete(text: &[u8]) -> usize {
    let first_byte = text.iter().rev().take(3).position(|&byte| !is_inside(byte));
    let Some(continuation) = first_byte else { return text.len() };
    let is_incomplete = match text[text.len() - 1 - continuation] {
        0xf0..=0xf4 => continuation < 3,
        0xe0..=0xef => continuation < 2,
        0xc2..=0xdf => continuation < 1,
        _ => false,
    };
    if is_incomplete { text.len() - 1 - continuation } else { text.len() }
}

/// The length of a text without the white space at its end.
pub(crate) fn without_white_space_at_end(text: &[u8]) -> usize {
    let mut end = text.len();
    while let (Some(character), len) = bstr::decode_last_utf8(&text[..end])
        && character.is_whitespace()
    {
        end -= len;
    }
    end
}

/// The length of the white space at the start of a text.
pub(crate) fn white_space_at_start(text: &[u8]) -> usize {
    let mut start = 0;
    while let (Some(character), len) = decode(&text[start..])
        && character.is_whitespace()
    {
        start += len;
    }
    start
}

/// Whether the token of two parts contains no partial character next to other bytes: it consists of whole
/// characters, or is a piece of a single character.
pub(crate) fn keeps_characters(left: &[u8], right: &[u8]) -> bool {
    let is_text = |part| std::str::from_utf8(part).is_ok();
    match (is_text(left), is_text(right)) {
        (true, true) => true,
        // Whole characters next to a partial one.
        (true, false) | (false, true) => false,
        (false, false) => {
            let token = [left, right].concat();
            is_text(&token) || is_piece(&token)
        }
    }
}

/// Whether `bytes` is a proper part of the UTF-8 form of a single character.
fn is_piece(bytes: &[u8]) -> bool {
    let is_prefix = || match std::str::from_utf8(bytes) {
        Ok(_) => false,
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    };
    // Up to three continuation bytes can follow the first byte of a character.
    bytes.len() <= 3 && bytes.iter().all(|&byte| is_inside(byte)) || is_prefix()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_four_bytes_are_decoded_as_by_bstr() {
        let edges = [
            0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
            0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        for first in 0..=255 {
            for second in 0..=255 {
                assert_eq!(decode(&[first, second]), bstr::decode_utf8([first, second]));
                for third in edges {
                    let three = [first, second, third];
                    assert_eq!(decode(&three), bstr::decode_utf8(three), "{three:x?}");
                    for fourth in edges {
                        let four = [first, second, third, fourth];
                        assert_eq!(decode(&four), bstr::decode_utf8(four), "{four:x?}");
                    }
                }
            }
            assert_eq!(decode(&[first]), bstr::decode_utf8([first]));
        }
        assert_eq!(decode(&[]), (None, 0));
    }

    #[test]
    fn pieces_are_the_proper_parts_of_characters() {
        let mut pieces = std::collections::HashSet::new();
        for c in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            for end in 1..=bytes.len() {
                pieces.extend(
                    (0..end)
                        .map(|start| &bytes[start..end])
                        .filter(|p| p.len() < bytes.len())
                        .map(<[u8]>::to_vec),
                );
            }
        }
        let edges = [
            0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4,
            0xf5,
        ];
        for first in edges {
            assert_eq!(is_piece(&[first]), pieces.contains(&[first][..]));
            for second in edges {
                assert_eq!(is_piece(&[first, second]), pieces.contains(&[first, second][..]));
                for third in edges {
                    let three = [first, second, third];
                    assert_eq!(is_piece(&three), pieces.contains(&three[..]), "{three:x?}");
                    for fourth in edges {
                        assert!(!is_piece(&[first, second, third, fourth]));
                    }
                }
            }
        }
    }

    #[test]
    fn an_incomplete_character_at_the_end_is_excluded() {
        for c in ['a', 'é', '語', '😀'] {
            let text = format!("x{c}");
            for end in 1..text.len() {
                assert_eq!(complete(&text.as_bytes()[..end]), 1, "{text} {end}");
            }
            assert_eq!(complete(text.as_bytes()), text.len());
        }
        for (bytes, expected) in
            [(&b""[..], 0), (b"\x80\x80\x80\x80", 4), (b"a\xff", 2), (b"\xc3\x28", 2), (b"\xe2\x82", 0)]
        {
            assert_eq!(complete(bytes), expected, "{bytes:x?}");
        }
    }
}
