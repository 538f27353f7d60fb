//! The bytes beside characters in tokens that contain only a part of the next character.

use crate::utf8::is_inside;

/// For each character of the Basic Multilingual Plane, the bytes that occur next to it or to its last byte in some
/// token, if the character of that byte is only in part in the token: bit `first & 15` for the first byte of the
/// character behind it, and bit `16 + (last & 15)` for the last byte of the one before it. Other characters share
/// the bits of those, though not of ASCII: no part of an ASCII character is in a token without the rest.
pub(in crate::encode) struct BytesBeside {
    pub(super) bits: Box<[u32; 1 << 16]>,
    /// The bits that all characters with a last byte have, at its lower six bits. Few characters have others.
    pub(super) of_last: [u16; 64],
    /// Of each 2,048 characters, the blocks of 64 in which a character has others, a bit each, and the lower five bits
    /// of such characters.
    pub(super) own: [[u32; 32]; 2],
    /// Whether no character has bits, as where all tokens consist of whole characters.
    pub(super) is_empty: bool,
}

impl BytesBeside {
    pub(super) fn new() -> BytesBeside {
        // Zeros are allocated without writing them.
        let bits = vec![0; 1 << 16].into_boxed_slice().try_into().expect("it has this length");
        BytesBeside { bits, of_last: [0; 64], own: [[0; 32]; 2], is_empty: true }
    }

    /// Adds bits to one character.
    pub(super) fn add(&mut self, c: char, bits: u32) {
        let place = BytesBeside::place(c);
        self.is_empty = false;
        self.bits[place] |= bits;
        self.own[0][place >> 11] |= 1 << (place >> 6 & 31);
        self.own[1][place >> 11] |= 1 << (place & 31);
    }

    /// Adds to all characters with this last byte the first byte of a character behind them.
    pub(super) fn add_behind_last(&mut self, last: u8, first: u8) {
        if is_inside(last) {
            self.is_empty = false;
            let bit = 1 << BytesBeside::bit_behind(first);
            let of_last = self.bits.iter_mut().skip(usize::from(last)).step_by(1 << 6);
            of_last.for_each(|bits| *bits |= bit);
            self.of_last[usize::from(last & 63)] |= bit as u16;
        }
    }

    /// The bits of a character.
    #[inline(always)]
    pub(in crate::encode) fn of(&self, c: char) -> u32 {
        self.bits[BytesBeside::place(c)]
    }

    /// Whether a token that holds only a part of a character may span the place between two characters: the bits of
    /// the left one and its last byte, those of the right one and its first byte.
    #[inline(always)]
    pub(in crate::encode) fn may_span((left, last): (u32, u8), (right, first): (u32, u8)) -> bool {
        (left >> BytesBeside::bit_behind(first) | right >> BytesBeside::bit_before(last)) & 1 == 1
    }

    /// The place of a character, which keeps the six bits of its last byte.
    #[inline(always)]
    fn place(c: char) -> usize {
        let code = u32::from(c);
        (code & 0xffff | u32::from(code > 0xffff) << 7) as usize
    }

    /// The bit of the first byte of the character behind another one.
    #[inline(always)]
    pub(super) fn bit_behind(first: u8) -> u32 {
        u32::from(first & 15)
    }

    /// The bit of the last byte of the character before another one.
    #[inline(always)]
    pub(super) fn bit_before(last: u8) -> u32 {
        16 + u32::from(last & 15)
    }
}
