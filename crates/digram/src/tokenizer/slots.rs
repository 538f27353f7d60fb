//! The tokens once more, laid out for decoding: one line of memory, one copy without a branch.

use crate::error::Error;
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

/// Bytes of a slot: what one instruction moves.
const SLOT: usize = 16;

/// A longer token does not fit into its slot beside its length. Of running text under the published
/// vocabularies one token in a hundred is longer.
const MAX: usize = SLOT - 1;

/// Tokens between two looks at the room that is left.
const BLOCK: usize = 256;

/// The bytes of a token, and in the last byte how many they are; 0 for a hole and for a token that
/// does not fit.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct TokenSlot([u8; SLOT]);

/// Why not all ids were appended.
#[derive(Debug, PartialEq)]
pub(super) enum AppendError {
    /// The id at this index has no token.
    NoToken(usize),
    /// There is no memory for more bytes.
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

    /// Appends the bytes of `ids`, tokens of `vocabulary`, to `bytes`; where that fails, those before
    /// are left there.
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

    /// Appends the tokens that have a slot, up to the first that has none, and says how many.
    #[inline]
    fn append_short(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> usize {
        bytes.reserve(ids.len() * SLOT);
        let mut end = bytes.len();
        let mut done = 0;
        for &id in ids {
            let Some(TokenSlot(slot)) = self.0.get(id as usize) else { break };
            // All of the slot is copied, since asking how much would cost more. What is past the
            // token's end is overwritten by the next one, or stays past the end of `bytes`.
            // SAFETY: there is room for a slot for each id, and each took at most one so far.
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
