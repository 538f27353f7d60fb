//! The tokens of a vocabulary, by id.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_has_no_bytes_and_counts_as_none() {
        let vocabulary = Vocabulary::new([Some("a"), None, Some("b")]).unwrap();
        assert_eq!((vocabulary.size(), vocabulary.token_count()), (3, 2));
        assert_eq!((vocabulary.get(1), vocabulary.get(2), vocabulary.get(3)), (None, Some(&b"b"[..]), None));
    }
}
