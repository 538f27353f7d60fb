//! A second copy of the tokens for decoding: one cache line and one branch-free copy per token.

use std::ops::Range;

use crate::cpu::prefetch;
use crate::error::{self, Error};
use crate::memory;
use crate::pages::{Pages, Zero};
use crate::vocabulary::{TokenId, Vocabulary};

/// The size of a slot, which one instruction copies.
const SLOT_SIZE: usize = 16;

/// Longer tokens do not fit into a slot with their length. In running text under the published
/// vocabularies, up to one token in a hundred is longer.
const MAX_LEN: usize = SLOT_SIZE - 1;

/// Tokens up to this length, if they do not fit into a slot, are copied from an array of their own: all of these
/// bytes, as a copy of a constant length needs no call.
const MAX_LONG: usize = 64;

/// Where the slot of a token that does not fit has its length.
const LONG_LEN: usize = size_of::<u32>();

/// The number of tokens per reservation of memory.
const BLOCK: usize = 1024;

/// The number of ids between the one that is decoded and the one whose slot is prefetched: all slots take more memory
/// than the near caches have.
const AHEAD: usize = 32;

/// The bytes of a token, and its length in the last byte. That is 0 for other ids: their slots begin with the
/// place of the token in the array of long tokens, and its length, which is 0 for holes and for what is in the
/// vocabulary only.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct TokenSlot([u8; SLOT_SIZE]);

// SAFETY: the bytes of `ZERO` are zero.
unsafe impl Zero for TokenSlot {
    const ZERO: TokenSlot = TokenSlot([0; SLOT_SIZE]);
}

/// The reason why not all ids were appended.
#[derive(Debug, PartialEq)]
pub(super) enum AppendError {
    /// The id at this index has no token.
    NoToken(usize),
    /// There is not enough memory.
    Memory(Error),
}

/// A slot for each id.
pub(super) struct TokenSlots {
    slots: Pages<TokenSlot>,
    /// Tokens of more than [`MAX_LEN`] and up to [`MAX_LONG`] bytes, with bytes after the last one.
    long: Vec<u8>,
}

impl TokenSlots {
    pub(super) fn new(vocabulary: &Vocabulary) -> error::Result<TokenSlots> {
        let mut slots = Pages::<TokenSlot>::zeroed(vocabulary.size())?;
        let mut long = Vec::new();
        for (id, TokenSlot(slot)) in slots.iter_mut().enumerate() {
            let token = vocabulary.get(id as TokenId).unwrap_or_default();
            if token.len() <= MAX_LEN {
                slot[..token.len()].copy_from_slice(token);
                slot[MAX_LEN] = token.len() as u8;
            } else if token.len() <= MAX_LONG
                && let Ok(start) = u32::try_from(long.len())
            {
                slot[..LONG_LEN].copy_from_slice(&start.to_ne_bytes());
                slot[LONG_LEN] = token.len() as u8;
                memory::try_reserve(&mut long, token.len() + MAX_LONG)?;
                long.extend_from_slice(token);
            }
        }
        long.resize(long.len() + MAX_LONG, 0);
        Ok(TokenSlots { slots, long })
    }

    /// Appends the bytes of a range of `ids`, tokens of `vocabulary`, to `bytes`. On an error, the bytes of the ids
    /// before it remain.
    pub(super) fn append(
        &self,
        ids: &[TokenId],
        range: Range<usize>,
        vocabulary: &Vocabulary,
        bytes: &mut Vec<u8>,
    ) -> Result<(), AppendError> {
        let mut position = range.start;
        while position < range.end {
            let end = range.end.min(position + BLOCK);
            memory::try_reserve(bytes, (end - position) * SLOT_SIZE).map_err(AppendError::Memory)?;
            position = self.append_short(ids, position..end, bytes);
            if position == end {
                continue;
            }
            // A hole, an id past the end, or a token that does not fit into a slot.
            let id = ids[position];
            memory::try_reserve(bytes, MAX_LONG).map_err(AppendError::Memory)?;
            if !self.append_long(id, bytes) {
                let token = vocabulary.get(id).ok_or(AppendError::NoToken(position))?;
                memory::try_reserve(bytes, token.len()).map_err(AppendError::Memory)?;
                bytes.extend_from_slice(token);
            }
            position += 1;
        }
        Ok(())
    }

    /// Appends tokens up to the first that is not in its slot, and returns its index, or the end of the range.
    #[inline]
    fn append_short(&self, ids: &[TokenId], range: Range<usize>, bytes: &mut Vec<u8>) -> usize {
        let mut end = bytes.len();
        let mut position = range.start;
        bytes.reserve(range.len() * SLOT_SIZE);
        let mut append = |id: TokenId| {
            let Some(TokenSlot(slot)) = self.slots.get(id as usize) else { return false };
            // The whole slot is copied, since copying a variable length costs more. Bytes past the token's
            // end are overwritten by the next token, or stay past the end of `bytes`.
            // SAFETY: there is room for as many slots as the range has ids.
            unsafe { std::ptr::copy_nonoverlapping(slot.as_ptr(), bytes.as_mut_ptr().add(end), SLOT_SIZE) };
            end += usize::from(slot[MAX_LEN]);
            slot[MAX_LEN] > 0
        };
        // Sequences of a batch follow each other, so ids after the range will be decoded too.
        let (now, later) = (&ids[..range.end], &ids[AHEAD.min(ids.len())..]);
        let is_short = loop {
            let (Some(&id), Some(&ahead)) = (now.get(position), later.get(position)) else { break true };
            prefetch(self.slots.as_ptr().wrapping_add(ahead as usize));
            if !append(id) {
                break false;
            }
            position += 1;
        };
        while is_short
            && let Some(&id) = now.get(position)
            && append(id)
        {
            position += 1;
        }
        // SAFETY: the bytes up to `end` were written above, and are within the capacity.
        unsafe { bytes.set_len(end) };
        position
    }

    /// Appends a token that does not fit into a slot, if it is in the array of long tokens.
    #[inline]
    fn append_long(&self, id: TokenId, bytes: &mut Vec<u8>) -> bool {
        let Some(TokenSlot(slot)) = self.slots.get(id as usize) else { return false };
        let len = usize::from(slot[LONG_LEN]);
        let mut start = [0; LONG_LEN];
        start.copy_from_slice(&slot[..LONG_LEN]);
        let start = u32::from_ne_bytes(start) as usize;
        let Some(token) = self.long.get(start..start + MAX_LONG).filter(|_| len > 0) else { return false };
        bytes.reserve(MAX_LONG);
        let end = bytes.len();
        // SAFETY: there is room for these bytes, of which only those of the token become part of `bytes`.
        unsafe {
            std::ptr::copy_nonoverlapping(token.as_ptr(), bytes.as_mut_ptr().add(end), MAX_LONG);
            bytes.set_len(end + len);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_are_appended() {
        let token =
            |len: usize| (len > 0).then(|| (0..len).map(|index| (index * 7 + len) as u8).collect::<Vec<_>>());
        let vocabulary = Vocabulary::new((0..100).map(token)).unwrap();
        let slots = TokenSlots::new(&vocabulary).unwrap();
        let ids: Vec<TokenId> =
            (0..5_000).map(|index: u32| 1 + index.wrapping_mul(2_654_435_761) % 99).collect();
        let expected: Vec<u8> = ids.iter().flat_map(|&id| token(id as usize).unwrap()).collect();
        let mut bytes = Vec::new();
        assert_eq!(slots.append(&ids, 0..ids.len(), &vocabulary, &mut bytes), Ok(()));
        assert!(bytes == expected);
        for invalid in [0, 100, u32::MAX] {
            for index in [0, 1, 255, 256, 1023, 1024, 1999] {
                let mut ids = ids[..2000].to_vec();
                ids[index] = invalid;
                assert_eq!(
                    slots.append(&ids, 0..ids.len(), &vocabulary, &mut Vec::new()),
                    Err(AppendError::NoToken(index))
                );
            }
        }
    }
}
