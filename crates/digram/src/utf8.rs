//! Reading characters out of bytes that may be no UTF-8.

/// The character that `text` starts with and its length in bytes; where `text` starts with bytes
/// that are no UTF-8, `None` and how many of them one U+FFFD stands for, as Unicode advises. An
/// empty text gives `None` and 0.
///
/// The two and three byte forms are read here, in a few instructions: most text that is not ASCII
/// consists of them.
#[inline(always)]
pub(crate) fn decode(text: &[u8]) -> (Option<char>, usize) {
    let bits = |byte: u8| u32::from(byte & 0x3f);
    match *text {
        [byte @ 0..=0x7f, ..] => (Some(char::from(byte)), 1),
        [first @ 0xe0..=0xef, second, third, ..] if is_inside(second) && is_inside(third) => {
            let code = u32::from(first & 0x0f) << 12 | bits(second) << 6 | bits(third);
            match char::from_u32(code) {
                Some(c) if code >= 0x800 => (Some(c), 3),
                // A form that is too long, or a surrogate.
                _ => (None, 1),
            }
        }
        [first @ 0xc2..=0xdf, second, ..] if is_inside(second) => {
            (char::from_u32(u32::from(first & 0x1f) << 6 | bits(second)), 2)
        }
        _ => bstr::decode_utf8(text),
    }
}

/// Whether a byte goes on with a character that started before it.
#[inline(always)]
pub(crate) fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The last place up to `at` that is not inside a character, nor inside bytes that one U+FFFD stands
/// for.
pub(crate) fn character_until(text: &[u8], at: usize) -> usize {
    // No byte that may begin a character is inside one.
    let begin = (1..=3).filter_map(|back| at.checked_sub(back)).find(|&begin| text[begin] >= 0xc0);
    match begin {
        Some(begin) if at < text.len() && begin + decode(&text[begin..]).1 > at => begin,
        _ => at,
    }
}

/// How many bytes of `text` stand before a character that is only begun at its end.
pub(crate) fn complete(text: &[u8]) -> usize {
    let last = text.iter().rev().take(3).position(|&byte| !is_inside(byte));
    let Some(behind) = last else { return text.len() };
    let begun = match text[text.len() - 1 - behind] {
        0xf0..=0xf4 => behind < 3,
        0xe0..=0xef => behind < 2,
        0xc2..=0xdf => behind < 1,
        _ => false,
    };
    if begun { text.len() - 1 - behind } else { text.len() }
}

/// Whether two parts of a token make one that cuts no character in a way that its text does not show:
/// it is whole characters, or a piece from inside a single one.
pub(crate) fn keeps_characters(left: &[u8], right: &[u8]) -> bool {
    let is_text = |part| std::str::from_utf8(part).is_ok();
    match (is_text(left), is_text(right)) {
        (true, true) => true,
        // Characters with nothing between them and a part of another.
        (true, false) | (false, true) => false,
        (false, false) => {
            let token = [left, right].concat();
            is_text(&token) || is_piece(&token)
        }
    }
}

/// Whether bytes stand inside the UTF-8 of a single character, which they do not hold whole.
fn is_piece(bytes: &[u8]) -> bool {
    let is_begun = || match std::str::from_utf8(bytes) {
        Ok(_) => false,
        Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
    };
    // After the first byte of four any three may come that go on.
    bytes.len() <= 3 && bytes.iter().all(|&byte| is_inside(byte)) || is_begun()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_four_bytes_are_read_as_by_bstr() {
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
    fn pieces_are_what_stands_inside_a_character() {
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
    fn a_character_begun_at_the_end_is_not_complete() {
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
