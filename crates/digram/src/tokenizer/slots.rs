//! A second copy of the tokens for decoding: one cache line and one branch-free copy per token.

use crate::error::Error;
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

/// The size of a slot, which one instruction copies.
const SLOT_SIZE: usize = 16;

/// Longer tokens do not fit into a slot with their length. In running text under the published
/// vocabularies, one token in a hundred is longer.
const MAX_LEN: usize = SLOT_SIZE - 1;

/// The number of tokens per reservation of memory.
const BLOCK: usize = 1024;

/// The bytes of a token, and its length in the last byte; 0 for a hole and for a token that does not fit.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct TokenSlot([u8; SLOT_SIZE]);

/// The reason why not all ids were appended.
#[derive(Debug, PartialEq)]
pub(super) enum AppendError {
    /// The id at this index has no token.
    NoToken(usize),
    /// There is not enough memory.
    Memory(Error),
}

/// A slot for each id.
pub(super) struct TokenSlots(Box<[TokenSlot]>);

impl TokenSlots {
    pub(super) fn new(vocabulary: &Vocabulary) -> TokenSlots {
        let slot = |id| {
            let mut slot = [0; SLOT_SIZE];
            if let Some(token) = vocabulary.get(id).filter(|token| token.len() <= MAX_LEN) {
                slot[..token.len()].copy_from_slice(token);
                slot[MAX_LEN] = token.len() as u8;
            }
            TokenSlot(slot)
        };
        TokenSlots((0..vocabulary.size() as TokenId).map(slot).collect())
    }

    /// Appends the bytes of `ids`, tokens of `vocabulary`, to `bytes`. On an error, the bytes of the ids
    /// before it remain.
    pub(super) fn append(
        &self,
        ids: &[TokenId],
        vocabulary: &Vocabulary,
        bytes: &mut Vec<u8>,
    ) -> Result<(), AppendError> {
        for (block_index, block) in ids.chunks(BLOCK).enumerate() {
            let mut position = 0;
            loop {
                memory::try_reserve(bytes, (block.len() - position) * SLOT_SIZE)
                    .map_err(AppendError::Memory)?;
                position += self.append_short(&block[position..], bytes);
                let Some(&id) = block.get(position) else { break };
                // A hole, an id past the end, or a long token.
                let token = vocabulary.get(id).ok_or(AppendError::NoToken(block_index * BLOCK + position))?;
                memory::try_reserve(bytes, token.len()).map_err(AppendError::Memory)?;
                bytes.extend_from_slice(token);
                position += 1;
            }
        }
        Ok(())
    }

    /// Appends tokens up to the first without a slot, and returns their number.
    #[inline]
    fn append_short(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> usize {
        bytes.reserve(ids.len() * SLOT_SIZE);
        let mut end = bytes.len();
        let mut count = 0;
        for &id in ids {
            let Some(TokenSlot(slot)) = self.0.get(id as usize) else { break };
            // The whole slot is copied, since copying a variable length costs more. Bytes past the token's
            // end are overwritten by the next token, or stay past the end of `bytes`.
            unsafe { std::ptr::copy_nonoverlapping(slot.as_ptr(), bytes.as_mut_ptr().add(end), SLOT_SIZE) };
            if slot[MAX_LEN] == 0 {
                break;
            }
            end += usize::from(slot[MAX_LEN]);
            count += 1;
        }
        // SAFETY: the bytes up to `end` were written above, and are within the capacity.
        unsafe { bytes.set_len(end) };
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_are_appended() {
        let token =
            |len: usize| (len > 0).then(|| (0..len).map(|index| (index * 7 + len) as u8).collect::<Vec<_>>());
        let vocabulary = Vocabulary::new((0..60).map(token)).unwrap();
        let slots = TokenSlots::new(&vocabulary);
        let ids: Vec<TokenId> =
            (0..5_000).map(|index: u32| 1 + index.wrapping_mul(2_654_435_761) % 59).collect();
        let expected: Vec<u8> = ids.iter().flat_map(|&id| token(id as usize).unwrap()).collect();
        let mut bytes = Vec::new();
        assert_eq!(slots.append(&ids, &vocabulary, &mut bytes), Ok(()));
        assert!(bytes == expected);
        for invalid in [0, 60, u32::MAX] {
            for index in [0, 1, 255, 256, 1023, 1024, 1999] {
                let mut ids = ids[..2000].to_vec();
                ids[index] = invalid;
                assert_eq!(
                    slots.append(&ids, &vocabulary, &mut Vec::new()),
                    Err(AppendError::NoToken(index))
                );
            }
        }
    }
}
