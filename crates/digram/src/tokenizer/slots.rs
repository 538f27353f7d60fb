//! A second copy of the tokens for decoding: one cache line and one branch-free copy per token.

use crate::error::Error;
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

/// The size of a slot: what one instruction copies.
const SLOT: usize = 16;

/// Longer tokens do not fit into a slot with their length. In running text under the published
/// vocabularies, one token in a hundred is longer.
const MAX: usize = SLOT - 1;

/// Tokens per reservation of memory.
const BLOCK: usize = 256;

/// The bytes of a token, and its length in the last byte; 0 for a hole and for a token that does not fit.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct TokenSlot([u8; SLOT]);

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
            let mut slot = [0; SLOT];
            if let Some(token) = vocabulary.get(id).filter(|token| token.len() <= MAX) {
                slot[..token.len()].copy_from_slice(token);
                slot[MAX] = token.len() as u8;
            }
            TokenSlot(slot)
        };
        TokenSlots((0..vocabulary.size() as TokenId).map(slot).collect())
    }

    /// Appends the bytes of `ids`, tokens of `vocabulary`, to `bytes`. On an error, the bytes of the ids
    /// before are kept.
    pub(super) fn append(
        &self,
        ids: &[TokenId],
        vocabulary: &Vocabulary,
        bytes: &mut Vec<u8>,
    ) -> Result<(), AppendError> {
        for (number, block) in ids.chunks(BLOCK).enumerate() {
            let mut done = 0;
            loop {
                memory::try_reserve(bytes, (block.len() - done) * SLOT).map_err(AppendError::Memory)?;
                done += self.append_short(&block[done..], bytes);
                let Some(&id) = block.get(done) else { break };
                // A hole, an id past the end, or a long token.
                let token = vocabulary.get(id).ok_or(AppendError::NoToken(number * BLOCK + done))?;
                memory::try_reserve(bytes, token.len()).map_err(AppendError::Memory)?;
                bytes.extend_from_slice(token);
                done += 1;
            }
        }
        Ok(())
    }

    /// Appends tokens up to the first without a slot, and returns their number.
    #[inline]
    fn append_short(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> usize {
        bytes.reserve(ids.len() * SLOT);
        let mut end = bytes.len();
        let mut done = 0;
        for &id in ids {
            let Some(TokenSlot(slot)) = self.0.get(id as usize) else { break };
            // The whole slot is copied, since copying a variable length costs more. Bytes past the token's
            // end are overwritten by the next token, or stay past the end of `bytes`.
            unsafe { std::ptr::copy_nonoverlapping(slot.as_ptr(), bytes.as_mut_ptr().add(end), SLOT) };
            if slot[MAX] == 0 {
                break;
            }
            end += usize::from(slot[MAX]);
            done += 1;
        }
        // SAFETY: the bytes up to `end` were written above, and are within the capacity.
        unsafe { bytes.set_len(end) };
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_length_are_appended() {
        let token =
            |len: usize| (len > 0).then(|| (0..len).map(|at| (at * 7 + len) as u8).collect::<Vec<_>>());
        let vocabulary = Vocabulary::new((0..60).map(token)).unwrap();
        let slots = TokenSlots::new(&vocabulary);
        let ids: Vec<TokenId> = (0..5_000).map(|at: u32| 1 + at.wrapping_mul(2_654_435_761) % 59).collect();
        let expected: Vec<u8> = ids.iter().flat_map(|&id| token(id as usize).unwrap()).collect();
        let mut bytes = Vec::new();
        assert_eq!(slots.append(&ids, &vocabulary, &mut bytes), Ok(()));
        assert!(bytes == expected);
        for bad in [0, 60, u32::MAX] {
            for at in [0, 1, 255, 256, 999] {
                let mut ids = ids[..1000].to_vec();
                ids[at] = bad;
                assert_eq!(slots.append(&ids, &vocabulary, &mut Vec::new()), Err(AppendError::NoToken(at)));
            }
        }
    }
}
