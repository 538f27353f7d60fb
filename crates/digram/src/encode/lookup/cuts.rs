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

use crate::bits::{AsciiPairs, Bits};
use crate::error::Result;
use crate::lazy::Lazy;
use crate::merges::Merge;
use crate::utf8::{decode, is_inside};
use crate::vocabulary::Vocabulary;
use crate::watch::{Paced, Watch};

/// The part of a neighbour that a token is known to hold: all of the character, or one byte.
#[derive(Clone, Copy)]
enum Side {
    Character(char),
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
    pairs: Bits,
    /// The characters before and after which a token may hold one byte of the other side. They are
    /// few, and asking this small set first saves the question for the pair.
    before_part: Bits,
    after_part: Bits,
    /// The pairs of a last and a first byte, `last << 8 | first`.
    parts: Bits,
    /// Those with a cut between them, made at the first question. Where a text has no cut, all of it
    /// is asked about.
    ascii: Lazy<AsciiPairs>,
}

/// A character of a text with the bytes at its ends.
#[derive(Clone, Copy)]
struct Neighbour {
    c: char,
    first: u8,
    last: u8,
}

impl Cuts {
    /// The pairs of the tokens that the merges make.
    pub(super) fn new(vocabulary: &Vocabulary, merges: &[Merge]) -> Cuts {
        let (mut pairs, mut before_part, mut after_part) = (Vec::new(), Vec::new(), Vec::new());
        let mut parts = Bits::new(1 << 16);
        let mut place = |token: &[u8], at: usize| {
            // A place inside a character is never asked about.
            if is_inside(token[at]) {
                return;
            }
            let (left, right) = (last_whole(&token[..at]), first_whole(&token[at..]));
            match (left, right) {
                (Side::Character(_), Side::Character(_)) => {}
                (Side::Character(left), Side::Byte(_)) => before_part.push(u64::from(left)),
                (Side::Byte(_), Side::Character(right)) => after_part.push(u64::from(right)),
                (Side::Byte(left), Side::Byte(right)) => {
                    parts.insert(u64::from(left) << 8 | u64::from(right));
                    return;
                }
            }
            pairs.push(hash(left, right));
        };
        for merge in merges {
            let Some(token) = vocabulary.get(merge.id) else { continue };
            let middle = vocabulary.len_of(merge.left);
            let (left, right) = token.split_at(middle);
            if let (Side::Character(_), Side::Character(_)) = (last_whole(left), first_whole(right)) {
                // The other places have the same neighbours as in the parts. A part that no merge
                // makes never stands in a text, unless it is a symbol, which has no places.
                place(token, middle);
            } else {
                (1..token.len()).for_each(|at| place(token, at));
            }
        }
        // One bit in sixteen is set: about 6 % of sound cuts are missed.
        Cuts {
            pairs: Bits::of(pairs, 16),
            before_part: Bits::of(before_part, 64),
            after_part: Bits::of(after_part, 64),
            parts,
            ascii: Lazy::new(),
        }
    }

    /// Calls `piece` with the pieces between the cuts of `text`, in order, until it fails; and with
    /// the character where a piece is a single one.
    #[inline]
    pub(super) fn split<'t>(
        &self,
        text: &'t [u8],
        watch: &dyn Watch,
        mut piece: impl FnMut(&'t [u8], Option<char>) -> Result<()>,
    ) -> Result<()> {
        let (Some(c), mut at) = decode(text) else {
            // Bytes that are no UTF-8 have places that this set knows nothing of.
            return piece(text, None);
        };
        let mut left = Neighbour { c, first: text[0], last: text[at - 1] };
        let (mut start, mut single, mut paced) = (0, Some(c), Paced::new(watch));
        while at < text.len() {
            let (Some(c), width) = decode(&text[at..]) else { return piece(&text[start..], None) };
            paced.after(width)?;
            let right = Neighbour { c, first: text[at], last: text[at + width - 1] };
            if self.spanned(left, right) {
                single = None;
            } else {
                piece(&text[start..at], single)?;
                (start, single) = (at, Some(c));
            }
            (left, at) = (right, at + width);
        }
        piece(&text[start..], single)
    }

    /// Whether no token spans the place `at` of any text that has these two characters there.
    pub(super) fn is_cut(&self, text: &[u8], at: usize) -> bool {
        if let Some(is_cut) = self.ascii.get_or_make(|| self.of_ascii()).has(text[at - 1], text[at]) {
            return is_cut;
        }
        let neighbour =
            |c: char, bytes: &[u8]| Neighbour { c, first: bytes[0], last: bytes[bytes.len() - 1] };
        match (bstr::decode_last_utf8(&text[..at]), decode(&text[at..])) {
            ((Some(before), width), (Some(after), after_width)) => !self.spanned(
                neighbour(before, &text[at - width..at]),
                neighbour(after, &text[at..at + after_width]),
            ),
            _ => false,
        }
    }

    fn of_ascii(&self) -> AsciiPairs {
        let neighbour = |byte: u8| Neighbour { c: byte.into(), first: byte, last: byte };
        AsciiPairs::of(|before, after| !self.spanned(neighbour(before), neighbour(after)))
    }

    /// Whether a token may span the place between two characters.
    #[inline]
    fn spanned(&self, left: Neighbour, right: Neighbour) -> bool {
        let (left_c, right_c) = (Side::Character(left.c), Side::Character(right.c));
        let (left_byte, right_byte) = (Side::Byte(left.last), Side::Byte(right.first));
        self.pairs.may_hold(hash(left_c, right_c))
            || self.parts.may_hold(u64::from(left.last) << 8 | u64::from(right.first))
            || (self.before_part.may_hold(u64::from(left.c)) && self.pairs.may_hold(hash(left_c, right_byte)))
            || (self.after_part.may_hold(u64::from(right.c)) && self.pairs.may_hold(hash(left_byte, right_c)))
    }
}

#[inline]
fn hash(left: Side, right: Side) -> u64 {
    let product = (left.code() << 32 | right.code()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product >> 32 ^ product >> 15
}

/// The character that ends where `text` does, or the last byte if the character starts before it.
fn last_whole(text: &[u8]) -> Side {
    if let Some(&byte) = text.last().filter(|byte| byte.is_ascii()) {
        return Side::Character(byte.into());
    }
    match bstr::decode_last_utf8(text).0 {
        Some(c) => Side::Character(c),
        None => Side::Byte(text[text.len() - 1]),
    }
}

/// The character that `text` starts with, or the first byte if the character ends after it.
fn first_whole(text: &[u8]) -> Side {
    match decode(text).0 {
        Some(c) => Side::Character(c),
        None => Side::Byte(text[0]),
    }
}
