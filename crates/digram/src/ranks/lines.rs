//! A fast reader for `.tiktoken` files in their published form.

use crate::vocabulary::{MAX_VOCAB_SIZE, Vocabulary};

/// Marks bytes that are not base64 digits.
const NONE: u8 = 0xff;

/// The six bits of each base64 digit.
const BITS: [u8; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = [NONE; 256];
    let mut index = 0;
    while index < 64 {
        bits[letters[index] as usize] = index as u8;
        index += 1;
    }
    bits
};

/// The tokens of a file in which each line is a token in base64, one space and its rank, in ascending
/// order; `None` for any other file. It gives no reason: the caller reads such a file with the
/// slow reader, which accepts more forms.
pub(super) fn read(data: &[u8]) -> Option<Vocabulary> {
    let mut bytes = Vec::with_capacity(data.len() / 2);
    let mut ends = Vec::with_capacity(data.len() / 16);
    let mut rest = data;
    while !rest.is_empty() {
        let start = bytes.len();
        rest = token(rest, &mut bytes)?;
        let rank;
        (rank, rest) = number(rest)?;
        if bytes.len() == start || rank < ends.len() || rank >= MAX_VOCAB_SIZE {
            return None;
        }
        ends.resize(rank, start as u32);
        ends.push(bytes.len() as u32);
    }
    (!ends.is_empty()).then(|| Vocabulary::from_ends(bytes, ends).ok())?
}

/// Decodes base64 up to the next space; returns the data after it.
fn token<'d>(mut rest: &'d [u8], bytes: &mut Vec<u8>) -> Option<&'d [u8]> {
    loop {
        let (group, after) = match rest {
            [b' ', after @ ..] => return Some(after),
            [a, b, c, d, after @ ..] => ([*a, *b, *c, *d], after),
            _ => return None,
        };
        let letters = 4 - group.iter().rev().take_while(|&&letter| letter == b'=').count();
        let mut bits = 0;
        for &letter in &group[..letters] {
            let sextet = BITS[letter as usize];
            if sextet == NONE {
                return None;
            }
            bits = bits << 6 | u32::from(sextet);
        }
        match letters {
            4 => bytes.extend_from_slice(&bits.to_be_bytes()[1..]),
            // The unused bits must be zero, so that each token has one encoding.
            3 if bits & 0b11 == 0 => bytes.extend_from_slice(&(bits >> 2).to_be_bytes()[2..]),
            2 if bits & 0b1111 == 0 => bytes.extend_from_slice(&(bits >> 4).to_be_bytes()[3..]),
            _ => return None,
        }
        rest = after;
        if letters < 4 && rest.first() != Some(&b' ') {
            return None;
        }
    }
}

/// A number of at most seven digits up to the end of the line, and the data after it.
fn number(mut rest: &[u8]) -> Option<(usize, &[u8])> {
    let (mut number, mut digits) = (0, 0);
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        number = number * 10 + usize::from(digit - b'0');
        digits += 1;
        if digits > 7 {
            return None;
        }
        rest = after;
    }
    match rest {
        _ if digits == 0 => None,
        [] => Some((number, rest)),
        [b'\n', after @ ..] => Some((number, after)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_lines_are_read() {
        let vocabulary = read(b"YQ== 0\nYWI= 1\nYWJj 3\nYWJjZA== 4").unwrap();
        let tokens: Vec<_> = (0..5).map(|id| vocabulary.get(id)).collect();
        assert_eq!(tokens, [Some(&b"a"[..]), Some(b"ab"), None, Some(b"abc"), Some(b"abcd")]);
    }

    #[test]
    fn other_forms_are_not_read() {
        let cases: [&[u8]; 16] = [
            b"",
            b"\n",
            b"YQ==",
            b"YQ== ",
            b"YQ== 0 ",
            b"YQ== 0\r\n",
            b"YQ==  0",
            b"YQ 0",
            b"YR== 0",
            b" 0",
            b"YQ== 1\nYg== 0",
            b"YQ== 99999999",
            b"YQ== 2097152",
            b"YQ==YQ== 0",
            b"Y=Q= 0",
            b"YQ== -1",
        ];
        assert!(cases.iter().all(|data| read(data).is_none()));
    }
}
