//! The keys of the table.

use super::LONGEST;
use crate::keys::{TokenKey, sixteen_bytes};

/// What a key is for, in its highest bits: equal bytes may have different ids.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::encode::lookup) enum Owner {
    /// A pretoken.
    Pretoken,
    /// A piece of a pretoken, if pieces may have other ids than pretokens.
    Piece,
    /// A pretoken, if the kernel looks up the words in it.
    Upper,
    /// A word of the given text, before it is normalized.
    Given,
}

impl Owner {
    #[inline(always)]
    pub(super) fn bits(self) -> u128 {
        (self as u128) << 126
    }
}

/// The bit of keys that are hashes.
const LONG: u128 = 1 << 125;

/// Whether a key is a hash.
#[inline(always)]
pub(super) fn is_hash(key: u128) -> bool {
    key & LONG != 0
}

/// Whether a key is that of a pretoken.
#[inline]
pub(super) fn is_pretoken(key: u128) -> bool {
    key < Owner::Piece.bits()
}

/// The seeds of the keys and of their hashes.
pub(super) struct Seeds(pub(super) [u64; 2]);

impl Seeds {
    #[inline(always)]
    pub(super) fn key(&self, owner: Owner, text: &[u8], start: usize, end: usize) -> u128 {
        let number = match end - start <= TokenKey::MAX {
            true => TokenKey::new(text, start, end).number(),
            false => self.long_key(text, start, end),
        };
        number | owner.bits()
    }

    /// The key of more than 15 bytes: a hash and their number.
    #[cold]
    #[inline(never)]
    fn long_key(&self, text: &[u8], start: usize, end: usize) -> u128 {
        let mut hash = self.0[1] ^ (end - start) as u64;
        // Of a pretoken that is too long to be stored, only the beginning is read.
        let end = end.min(start + LONGEST);
        let mut at = start;
        while at < end {
            let len = (end - at).min(16);
            let part = sixteen_bytes(text, at) << (8 * (16 - len)) >> (8 * (16 - len));
            let product = u128::from(part as u64 ^ self.0[0] ^ hash.rotate_left(23))
                * u128::from((part >> 64) as u64 ^ hash);
            hash = (product >> 64) as u64 ^ product as u64;
            at += 16;
        }
        LONG | u128::from(hash) << 32 | u128::from((end - start) as u32)
    }

    #[inline(always)]
    pub(super) fn hash(&self, key: u128) -> u32 {
        TokenKey::of_number(key).hash(self.0)
    }
}
