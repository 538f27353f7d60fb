//! Places that no merge can cross.
//!
//! If no token of the vocabulary spans a place of a text, no merge joins what stands on either side
//! of it, and the text may be cut there before merging. Scripts without spaces make long pretokens
//! whose neighbouring characters stand together in few tokens: cut so, Japanese pretokens of 25
//! bytes become pieces of 3, most of which are tokens and need no merge at all.
//!
//! The pairs of characters that stand together in some token are kept as a hashed set of bits. A
//! false hit forbids a cut that would have been sound, which costs time and changes nothing. A
//! token may also begin or end inside a character; then all that is known of that side is the byte
//! next to the place, so there are four kinds of pairs and a place is asked about all of them.

use bstr::decode_utf8;

use crate::error::Result;
use crate::watch::Watch;

use super::BETWEEN_CHECKS;

/// The part of a neighbour that a token is known to hold: all of the character, or one byte.
#[derive(Clone, Copy)]
enum Side {
    Character(u32),
    Byte(u8),
}

impl Side {
    fn code(self) -> u64 {
        match self {
            Side::Character(c) => u64::from(c),
            Side::Byte(byte) => 1 << 31 | u64::from(byte),
        }
    }
}

/// The pairs of neighbours that some token holds.
pub(super) struct Cuts {
    bits: Vec<u64>,
    mask: u64,
    /// Which kinds of pairs there are at all: most vocabularies have few tokens that begin or end
    /// inside a character, and then those questions need not be asked.
    partial_left: bool,
    partial_right: bool,
}

impl Cuts {
    /// The pairs of the given tokens.
    pub(super) fn new<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Cuts {
        let mut pairs = Vec::new();
        let (mut partial_left, mut partial_right) = (false, false);
        for token in tokens.filter(|token| token.len() > 1) {
            for at in 1..token.len() {
                // A place inside a character is never asked about.
                if is_inside(token[at]) {
                    continue;
                }
                let (left, right) = (last_whole(&token[..at]), first_whole(&token[at..]));
                partial_left |= matches!(left, Side::Byte(_));
                partial_right |= matches!(right, Side::Byte(_));
                pairs.push(hash(left, right));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        // One bit in sixteen is set: about 6 % of sound cuts are missed.
        let bits = (pairs.len() * 16).next_power_of_two().max(64);
        let mut cuts = Cuts { bits: vec![0; bits / 64], mask: bits as u64 - 1, partial_left, partial_right };
        for pair in pairs {
            let bit = pair & cuts.mask;
            cuts.bits[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        cuts
    }

    /// Calls `piece` with the pieces between the cuts of `text`, in order, until it fails.
    #[inline]
    pub(super) fn split<'t>(
        &self,
        text: &'t [u8],
        watch: &dyn Watch,
        mut piece: impl FnMut(&'t [u8]) -> Result<()>,
    ) -> Result<()> {
        let (Some(mut before), mut at) = decode(text) else {
            // Bytes that are no UTF-8 have places that this set knows nothing of.
            return piece(text);
        };
        let (mut start, mut check) = (0, BETWEEN_CHECKS);
        while at < text.len() {
            if at >= check {
                check = at + BETWEEN_CHECKS;
                watch.check()?;
            }
            let (Some(c), width) = decode(&text[at..]) else { return piece(&text[start..]) };
            if !self.spanned(before, text[at - 1], c, text[at]) {
                piece(&text[start..at])?;
                start = at;
            }
            (before, at) = (c, at + width);
        }
        piece(&text[start..])
    }

    /// Whether a token may span the place between two characters, of which also the bytes next to
    /// the place are given.
    #[inline]
    fn spanned(&self, left: char, left_byte: u8, right: char, right_byte: u8) -> bool {
        let (left, right) = (Side::Character(left.into()), Side::Character(right.into()));
        let (left_byte, right_byte) = (Side::Byte(left_byte), Side::Byte(right_byte));
        self.has(left, right)
            || (self.partial_left && self.has(left_byte, right))
            || (self.partial_right && self.has(left, right_byte))
            || (self.partial_left && self.partial_right && self.has(left_byte, right_byte))
    }

    #[inline]
    fn has(&self, left: Side, right: Side) -> bool {
        let bit = hash(left, right) & self.mask;
        self.bits[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }
}

#[inline]
fn hash(left: Side, right: Side) -> u64 {
    let product = (left.code() << 32 | right.code()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product >> 32 ^ product >> 15
}

#[inline]
fn decode(text: &[u8]) -> (Option<char>, usize) {
    match text {
        [byte @ 0..=127, ..] => (Some(char::from(*byte)), 1),
        _ => decode_utf8(text),
    }
}

fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The character that ends where `text` does, or the last byte if the character starts before it.
fn last_whole(text: &[u8]) -> Side {
    match bstr::decode_last_utf8(text).0 {
        Some(c) => Side::Character(c.into()),
        None => Side::Byte(text[text.len() - 1]),
    }
}

/// The character that `text` starts with, or the first byte if the character ends after it.
fn first_whole(text: &[u8]) -> Side {
    match decode_utf8(text).0 {
        Some(c) => Side::Character(c.into()),
        None => Side::Byte(text[0]),
    }
}
