//! Outputs of the encoder: lists of ids, and counters.

use crate::error::Result;
use crate::memory;
use crate::vocabulary::TokenId;

use super::lookup::Packed;

/// Receives ids: stores them, or only counts them.
pub(crate) trait Sink {
    /// Reserves memory for `ids` more ids, or fails. Called before the other methods, which do not check.
    fn reserve(&mut self, ids: usize) -> Result<()>;
    fn push_id(&mut self, id: TokenId);
    fn push_ids(&mut self, ids: &[TokenId]);
    /// Adds the first `count` of these ids.
    fn push_few(&mut self, ids: [TokenId; Packed::MAX], count: usize);
    /// Reserves memory for about `ids` ids, if it can be had.
    fn reserve_hint(&mut self, _ids: usize) {}
    /// The list that receives the ids, if there is one.
    fn list(&mut self) -> Option<&mut Vec<TokenId>> {
        None
    }
    /// The number of ids received.
    fn len(&self) -> usize;
}

impl Sink for Vec<TokenId> {
    #[inline]
    fn reserve(&mut self, ids: usize) -> Result<()> {
        memory::try_reserve(self, ids)
    }

    #[inline]
    fn push_id(&mut self, id: TokenId) {
        self.push(id);
    }

    #[inline]
    fn push_ids(&mut self, ids: &[TokenId]) {
        self.extend_from_slice(ids);
    }

    #[inline]
    fn push_few(&mut self, ids: [TokenId; Packed::MAX], count: usize) {
        // Copying all and truncating takes fewer instructions than copying `count`.
        let end = Vec::len(self) + count;
        self.extend_from_slice(&ids);
        self.truncate(end);
    }

    fn reserve_hint(&mut self, ids: usize) {
        memory::reserve_hint(self, ids);
    }

    #[inline]
    fn list(&mut self) -> Option<&mut Vec<TokenId>> {
        Some(self)
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }
}

/// Counts ids.
#[derive(Default)]
pub(crate) struct IdCount(pub(crate) usize);

impl Sink for IdCount {
    #[inline]
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn push_id(&mut self, _: TokenId) {
        self.0 += 1;
    }

    #[inline]
    fn push_ids(&mut self, ids: &[TokenId]) {
        self.0 += ids.len();
    }

    #[inline]
    fn push_few(&mut self, _: [TokenId; Packed::MAX], count: usize) {
        self.0 += count;
    }

    fn len(&self) -> usize {
        self.0
    }
}

/// Counts the occurrences of each id, and all ids.
pub(crate) struct IdHistogram<'a> {
    /// By id.
    pub(crate) times: &'a mut [u64],
    pub(crate) len: usize,
}

impl Sink for IdHistogram<'_> {
    #[inline]
    fn reserve(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn push_id(&mut self, id: TokenId) {
        self.push_ids(&[id]);
    }

    #[inline]
    fn push_ids(&mut self, ids: &[TokenId]) {
        self.len += ids.len();
        ids.iter().for_each(|&id| self.times[id as usize] += 1);
    }

    #[inline]
    fn push_few(&mut self, ids: [TokenId; Packed::MAX], count: usize) {
        self.push_ids(&ids[..count]);
    }

    fn len(&self) -> usize {
        self.len
    }
}
