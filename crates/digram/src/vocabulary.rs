//! The tokens of a vocabulary: from id to bytes, and from bytes to id.

use hashbrown::HashMap;

use crate::error::{Error, Result};

/// The number of a token.
pub type TokenId = u32;

/// Ids are below this, so that one wrong id in a file cannot ask for gigabytes of memory. The
/// largest published vocabularies stay below 2^19.
pub const MAX_VOCAB_SIZE: usize = 1 << 24;

/// The bytes of each token, in one run of memory. Ids may have holes.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Token `id` is `bytes[ends[id] .. ends[id + 1]]`; a hole is empty.
    ends: Vec<u32>,
    tokens: usize,
}

impl Vocabulary {
    /// A vocabulary of the given tokens; the index is the id, `None` a hole.
    ///
    /// Fails if a token is empty, or if all of them exceed 4 GiB.
    pub fn new<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = Option<T>>) -> Result<Vocabulary> {
        let mut vocabulary = Vocabulary { bytes: Vec::new(), ends: vec![0], tokens: 0 };
        for (id, token) in tokens.into_iter().enumerate() {
            if let Some(token) = token {
                if token.as_ref().is_empty() {
                    return Err(Error::Vocabulary { reason: format!("token {id} is empty.") });
                }
                vocabulary.bytes.extend_from_slice(token.as_ref());
                vocabulary.tokens += 1;
            }
            let end = u32::try_from(vocabulary.bytes.len()).ok().filter(|_| id < MAX_VOCAB_SIZE);
            vocabulary.ends.push(end.ok_or_else(|| Error::Limit {
                reason: "the tokens together are longer than 4 GiB or more than 2^24.".into(),
            })?);
        }
        Ok(vocabulary)
    }

    /// One more than the highest id.
    pub fn size(&self) -> usize {
        self.ends.len() - 1
    }

    /// How many tokens there are: the size less the holes.
    pub fn token_count(&self) -> usize {
        self.tokens
    }

    /// The bytes of a token; `None` for a hole and past the end.
    #[inline]
    pub fn get(&self, id: TokenId) -> Option<&[u8]> {
        let (start, end) = (*self.ends.get(id as usize)?, *self.ends.get(id as usize + 1)?);
        (start < end).then(|| &self.bytes[start as usize..end as usize])
    }

    /// The length of a token in bytes; 0 for a hole.
    #[inline]
    pub(crate) fn len_of(&self, id: TokenId) -> usize {
        (self.ends[id as usize + 1] - self.ends[id as usize]) as usize
    }

    /// All tokens with their ids, by id.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        (0..self.size() as TokenId).filter_map(|id| Some((id, self.get(id)?)))
    }
}

/// From bytes to ids, made for pretokens: short keys lie in the table itself, so that a look-up
/// touches one line of memory.
pub(crate) struct TokenIndex {
    slots: Vec<Slot>,
    mask: usize,
    long: HashMap<Box<[u8]>, TokenId>,
}

/// Bytes up to this length are kept in the table; 97 % of the published vocabularies' tokens are.
const SHORT: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    len: u32,
    id: TokenId,
}

/// `len` 0 marks a free slot, since no token is empty.
const FREE: Slot = Slot { low: 0, high: 0, len: 0, id: 0 };

impl TokenIndex {
    /// An index of the given tokens. Among equal bytes the first one stands.
    pub(crate) fn new(tokens: &[(TokenId, &[u8])]) -> TokenIndex {
        let short = tokens.iter().filter(|(_, bytes)| bytes.len() <= SHORT).count();
        let slots = vec![FREE; (short * 2).next_power_of_two().max(8)];
        let mut index = TokenIndex { mask: slots.len() - 1, slots, long: HashMap::default() };
        for &(id, bytes) in tokens {
            if bytes.len() > SHORT {
                index.long.entry(bytes.into()).or_insert(id);
                continue;
            }
            let (low, high) = pack(bytes);
            let at = index.probe(low, high, bytes.len() as u32);
            if index.slots[at].len == 0 {
                index.slots[at] = Slot { low, high, len: bytes.len() as u32, id };
            }
        }
        index
    }

    /// The id of a token with these bytes.
    #[inline]
    pub(crate) fn get(&self, bytes: &[u8]) -> Option<TokenId> {
        if bytes.len() > SHORT {
            return self.long.get(bytes).copied();
        }
        let (low, high) = pack(bytes);
        let slot = &self.slots[self.probe(low, high, bytes.len() as u32)];
        (slot.len != 0).then_some(slot.id)
    }

    /// The slot of a key, or the free one where it would stand.
    #[inline]
    fn probe(&self, low: u64, high: u64, len: u32) -> usize {
        let product = u128::from(low ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(high ^ 0xd6e8_feb8_6659_fd93 ^ u64::from(len));
        let mut at = ((product >> 64) as u64 ^ product as u64) as usize & self.mask;
        loop {
            let slot = &self.slots[at];
            if slot.len == 0 || (slot.low == low && slot.high == high && slot.len == len) {
                return at;
            }
            at = (at + 1) & self.mask;
        }
    }
}

/// Up to 16 bytes as two numbers. Together with the length they determine the bytes: the first and
/// the last part overlap where the bytes do not fill both.
#[inline]
fn pack(bytes: &[u8]) -> (u64, u64) {
    let n = bytes.len();
    let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let four = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    match n {
        8.. => (eight(0), eight(n - 8)),
        4..8 => (four(0), four(n - 4)),
        1..4 => (u64::from(bytes[0]) | u64::from(bytes[n / 2]) << 8 | u64::from(bytes[n - 1]) << 16, 0),
        0 => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_and_nothing_else() {
        let texts: Vec<Vec<u8>> = (0..40usize)
            .flat_map(|len| {
                (0..20u8).map(move |seed| (0..len).map(|i| (i as u8).wrapping_mul(seed) ^ seed).collect())
            })
            .filter(|text: &Vec<u8>| !text.is_empty())
            .collect();
        let tokens: Vec<(TokenId, &[u8])> =
            texts.iter().enumerate().step_by(2).map(|(id, text)| (id as TokenId, &text[..])).collect();
        let index = TokenIndex::new(&tokens);
        for text in &texts {
            let expected = tokens.iter().find(|(_, token)| token == text).map(|(id, _)| *id);
            assert_eq!(index.get(text), expected, "{text:?}");
        }
        assert_eq!(index.get(b""), None);
    }

    #[test]
    fn a_hole_has_no_bytes_and_counts_as_none() {
        let vocabulary = Vocabulary::new([Some("a"), None, Some("b")]).unwrap();
        assert_eq!((vocabulary.size(), vocabulary.token_count()), (3, 2));
        assert_eq!((vocabulary.get(1), vocabulary.get(2), vocabulary.get(3)), (None, Some(&b"b"[..]), None));
    }
}
