//! The tokens of a vocabulary, by id.

use crate::error::{Error, Result};

/// The id of a token.
pub type TokenId = u32;

/// Ids are below this, so that one wrong id in a file cannot cause the allocation of gigabytes, and
/// so that a pair and its rank fit into 64 bits. The largest published vocabularies stay below
/// 2^19.
pub const MAX_VOCAB_SIZE: usize = 1 << 21;

/// The bytes of all tokens, in one buffer. Ids may have gaps ("holes"). One token may be empty: no
/// text is encoded to it, and it decodes to nothing.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Token `id` is `bytes[ends[id] .. ends[id + 1]]`; a hole is empty.
    ends: Vec<u32>,
    tokens: usize,
    /// The empty token, which is not a hole.
    empty: Option<TokenId>,
}

impl Vocabulary {
    /// A vocabulary of the given tokens; the index is the id, `None` a hole.
    ///
    /// Fails if two are empty, or if all of them exceed 4 GiB.
    pub fn new<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = Option<T>>) -> Result<Vocabulary> {
        let mut vocabulary = Vocabulary { bytes: Vec::new(), ends: vec![0], tokens: 0, empty: None };
        for (id, token) in tokens.into_iter().enumerate() {
            if let Some(token) = token {
                if token.as_ref().is_empty()
                    && let Some(other) = vocabulary.empty.replace(id as TokenId)
                {
                    return Err(Error::Vocabulary {
                        reason: format!("tokens {other} and {id} are both empty."),
                    });
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

    /// A vocabulary of tokens whose bytes are concatenated: token `id` ends before byte `ends[id]`,
    /// and one that ends where it starts is a hole. Fails if the ends are not ascending or do not
    /// match the bytes, or if there are more than 2^21.
    pub fn from_ends(bytes: Vec<u8>, mut ends: Vec<u32>) -> Result<Vocabulary> {
        ends.insert(0, 0);
        let is_ascending = ends.windows(2).all(|pair| pair[0] <= pair[1]);
        if !is_ascending || ends.last().map(|&end| end as usize) != Some(bytes.len()) {
            return Err(Error::Vocabulary { reason: "the tokens do not end where their bytes do.".into() });
        }
        if ends.len() > MAX_VOCAB_SIZE + 1 {
            return Err(Error::Limit { reason: "there are more than 2^21 tokens.".into() });
        }
        let tokens = ends.windows(2).filter(|pair| pair[0] < pair[1]).count();
        Ok(Vocabulary { bytes, ends, tokens, empty: None })
    }

    /// The same vocabulary with this hole as the empty token. Fails if the id is not a hole.
    pub(crate) fn with_empty(mut self, id: Option<TokenId>) -> Result<Vocabulary> {
        if let Some(id) = id {
            if self.empty.is_some() || id as usize >= self.size() || self.len_of(id) > 0 {
                return Err(Error::Vocabulary { reason: format!("token {id} is not empty.") });
            }
            self.empty = Some(id);
            self.tokens += 1;
        }
        Ok(self)
    }

    /// The empty token, if there is one.
    pub fn empty(&self) -> Option<TokenId> {
        self.empty
    }

    /// The concatenated bytes of all tokens, and the end of each; see [`Vocabulary::from_ends`].
    pub fn ends(&self) -> (&[u8], &[u32]) {
        (&self.bytes, &self.ends[1..])
    }

    /// These tokens and `added`, in ascending order of ids, which must be free.
    pub(crate) fn with(&self, added: &[(TokenId, &[u8])]) -> Result<Vocabulary> {
        let added_len: usize = added.iter().map(|(_, token)| token.len()).sum();
        let size = added.last().map_or(0, |(id, _)| *id as usize + 1).max(self.size());
        if u32::try_from(self.bytes.len() + added_len).is_err() {
            return Err(Error::Limit { reason: "the tokens together are longer than 4 GiB.".into() });
        }
        let mut bytes = Vec::with_capacity(self.bytes.len() + added_len);
        let mut ends = Vec::with_capacity(size);
        let mut shift = 0;
        let mut added = added.iter().peekable();
        while ends.len() < size {
            if let Some((_, token)) = added.next_if(|(id, _)| *id as usize == ends.len()) {
                bytes.extend_from_slice(token);
                shift += token.len() as u32;
                ends.push(bytes.len() as u32);
                continue;
            }
            // Copy all tokens up to the next added one at once.
            let (from, to) = (ends.len(), added.peek().map_or(size, |(id, _)| *id as usize));
            let copied = from.min(self.size())..to.min(self.size());
            bytes.extend_from_slice(
                &self.bytes[self.ends[copied.start] as usize..self.ends[copied.end] as usize],
            );
            ends.extend(self.ends[copied.start + 1..=copied.end].iter().map(|end| end + shift));
            ends.resize(to, bytes.len() as u32);
        }
        Vocabulary::from_ends(bytes, ends)?.with_empty(self.empty)
    }

    /// One more than the highest id.
    pub fn size(&self) -> usize {
        self.ends.len() - 1
    }

    /// The number of tokens: the size without the holes.
    pub fn token_count(&self) -> usize {
        self.tokens
    }

    /// The bytes of a token; `None` for a hole and past the end.
    #[inline]
    pub fn get(&self, id: TokenId) -> Option<&[u8]> {
        let (start, end) = (*self.ends.get(id as usize)?, *self.ends.get(id as usize + 1)?);
        (start < end || self.empty == Some(id)).then(|| &self.bytes[start as usize..end as usize])
    }

    /// The length of a token in bytes; 0 for a hole.
    #[inline]
    pub(crate) fn len_of(&self, id: TokenId) -> usize {
        (self.ends[id as usize + 1] - self.ends[id as usize]) as usize
    }

    /// All tokens except the empty one with their ids, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        (0..self.size() as TokenId)
            .filter_map(|id| Some((id, self.get(id)?)))
            .filter(|(_, token)| !token.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_token_is_not_a_hole() {
        let vocabulary = Vocabulary::new([Some("a"), Some(""), None]).unwrap();
        assert_eq!((vocabulary.size(), vocabulary.token_count(), vocabulary.empty()), (3, 2, Some(1)));
        assert_eq!((vocabulary.get(1), vocabulary.get(2)), (Some(&b""[..]), None));
        assert_eq!(vocabulary.iter().collect::<Vec<_>>(), [(0, &b"a"[..])]);
        let extended = vocabulary.with(&[(2, b"b")]).unwrap();
        assert_eq!(
            (extended.get(1), extended.get(2), extended.token_count()),
            (Some(&b""[..]), Some(&b"b"[..]), 3)
        );
        assert!(Vocabulary::new([Some(""), Some("")]).is_err());
    }

    #[test]
    fn a_hole_is_not_a_token() {
        let vocabulary = Vocabulary::new([Some("a"), None, Some("b")]).unwrap();
        assert_eq!((vocabulary.size(), vocabulary.token_count()), (3, 2));
        assert_eq!((vocabulary.get(1), vocabulary.get(2), vocabulary.get(3)), (None, Some(&b"b"[..]), None));
    }
}
