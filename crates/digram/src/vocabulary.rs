//! The tokens of a vocabulary: from id to bytes, and from bytes to id.

use hashbrown::HashMap;

use crate::error::{Error, Result};

/// The number of a token.
pub type TokenId = u32;

/// Ids are below this, so that one wrong id in a file cannot ask for gigabytes of memory, and so
/// that a pair and its rank fit into 64 bits. The largest published vocabularies stay below 2^19.
pub const MAX_VOCAB_SIZE: usize = 1 << 21;

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
                reason: "the tokens together are longer than 4 GiB or more than 2^21.".into(),
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
/// touches one line of memory, and the most frequent tokens in a table of their own that stays in
/// the second-level cache.
pub(crate) struct TokenIndex {
    hot: Table,
    cold: Table,
    long: HashMap<Box<[u8]>, TokenId>,
}

/// The tokens of the lowest ids, which training made first: under o200k these are 73 % of the
/// pretokens of English.
const HOT: usize = 1 << 13;

impl TokenIndex {
    /// An index of the given tokens, by rising id. Among equal bytes the first one stands.
    pub(crate) fn new(tokens: &[(TokenId, &[u8])]) -> TokenIndex {
        let mut short = Vec::with_capacity(tokens.len());
        let mut long: HashMap<Box<[u8]>, TokenId> = HashMap::new();
        for &(id, bytes) in tokens {
            match ShortKey::new(bytes) {
                Some(key) => short.push((key, id)),
                None => _ = long.entry(bytes.into()).or_insert(id),
            }
        }
        let (hot, cold) = short.split_at(short.len().min(HOT));
        TokenIndex { hot: Table::new(hot), cold: Table::new(cold), long }
    }

    /// The id of a token with these bytes.
    #[inline]
    pub(crate) fn get(&self, bytes: &[u8]) -> Option<TokenId> {
        match ShortKey::new(bytes) {
            Some(key) => self.get_short(key),
            None => self.long.get(bytes).copied(),
        }
    }

    /// The id of a token with the bytes of a key.
    #[inline]
    pub(crate) fn get_short(&self, key: ShortKey) -> Option<TokenId> {
        self.hot.get(key).or_else(|| self.cold.get(key))
    }

    /// Where a key would stand if nothing else stood there, in both tables.
    ///
    /// Asking for many keys before using one answer lets the processor wait for all of them at
    /// once: 64 at a time made encoding English twice as fast as one by one.
    #[inline]
    pub(crate) fn glance(&self, key: ShortKey) -> Glance {
        Glance { key, hot: self.hot.first(key), cold: self.cold.first(key) }
    }

    /// The id of the key that was glanced at.
    #[inline]
    pub(crate) fn resolve(&self, glance: &Glance) -> Option<TokenId> {
        let Glance { key, hot, cold } = glance;
        if hot.key() == *key {
            Some(hot.id)
        } else if cold.key() == *key && hot.key() == ShortKey::NONE {
            Some(cold.id)
        } else {
            self.get_short(*key)
        }
    }
}

/// What stood in the tables where a key would stand.
#[derive(Clone, Copy)]
pub(crate) struct Glance {
    pub(crate) key: ShortKey,
    hot: Slot,
    cold: Slot,
}

impl Glance {
    /// A glance at nothing.
    pub(crate) const NONE: Glance = Glance { key: ShortKey::NONE, hot: Slot::FREE, cold: Slot::FREE };
}

/// Up to 16 bytes as three numbers that determine them. 97 % of the published vocabularies' tokens
/// are so short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortKey {
    low: u64,
    high: u64,
    len: u32,
}

impl ShortKey {
    const MOST: usize = 16;

    /// The key of no bytes, which no token has.
    pub(crate) const NONE: ShortKey = ShortKey { low: 0, high: 0, len: 0 };

    /// The key of these bytes, if they are few enough.
    #[inline]
    pub(crate) fn new(bytes: &[u8]) -> Option<ShortKey> {
        let n = bytes.len();
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let four =
            |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
        // The first and the last part overlap where the bytes do not fill both; with the length
        // they still determine the bytes.
        let (low, high) = match n {
            8..=Self::MOST => (eight(0), eight(n - 8)),
            4..8 => (four(0), four(n - 4)),
            1..4 => (u64::from(bytes[0]) | u64::from(bytes[n / 2]) << 8 | u64::from(bytes[n - 1]) << 16, 0),
            _ => return (n == 0).then_some(Self::NONE),
        };
        Some(ShortKey { low, high, len: n as u32 })
    }

    /// A number that differs between most keys in all of its lower bits.
    #[inline]
    pub(crate) fn hash(self) -> usize {
        let left = u128::from(self.low ^ 0x9e37_79b9_7f4a_7c15);
        let product = left * u128::from(self.high ^ 0xd6e8_feb8_6659_fd93 ^ u64::from(self.len));
        ((product >> 64) as u64 ^ product as u64) as usize
    }
}

/// A key with its id, in 24 bytes: the key as a part of its own would take 32.
#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    len: u32,
    id: TokenId,
}

impl Slot {
    const FREE: Slot = Slot { low: 0, high: 0, len: 0, id: 0 };

    #[inline]
    fn key(&self) -> ShortKey {
        ShortKey { low: self.low, high: self.high, len: self.len }
    }
}

/// A hash table of short keys, at most half full.
struct Table {
    slots: Vec<Slot>,
    mask: usize,
}

impl Table {
    fn new(tokens: &[(ShortKey, TokenId)]) -> Table {
        let slots = vec![Slot::FREE; (tokens.len() * 2).next_power_of_two().max(2)];
        let mut table = Table { mask: slots.len() - 1, slots };
        for &(key, id) in tokens {
            let at = table.probe(key);
            if table.slots[at].key() == ShortKey::NONE {
                table.slots[at] = Slot { low: key.low, high: key.high, len: key.len, id };
            }
        }
        table
    }

    #[inline]
    fn get(&self, key: ShortKey) -> Option<TokenId> {
        let slot = self.slots[self.probe(key)];
        (slot.key() != ShortKey::NONE).then_some(slot.id)
    }

    #[inline]
    fn first(&self, key: ShortKey) -> Slot {
        self.slots[key.hash() & self.mask]
    }

    /// The slot of a key, or the free one where it would stand.
    #[inline]
    fn probe(&self, key: ShortKey) -> usize {
        let mut at = key.hash() & self.mask;
        loop {
            let found = self.slots[at].key();
            if found == key || found == ShortKey::NONE {
                return at;
            }
            at = (at + 1) & self.mask;
        }
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
