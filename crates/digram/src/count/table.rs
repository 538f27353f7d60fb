//! Distinct pretokens in the order in which they come, found by hashing.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};

use super::Entry;
use super::limits::{length, too_often};

#[derive(Default)]
pub(super) struct CountTable {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl CountTable {
    /// Makes room for so many more pieces at once. Whenever the index grows, the pieces that are
    /// there are hashed again, and they lie all over memory.
    pub(super) fn reserve(&mut self, more: usize) {
        let (bytes, entries, hasher) = (&self.bytes, &self.entries, &self.hasher);
        self.index.reserve(more, |&number| hasher.hash_one(entries[number as usize].piece(bytes)));
        self.entries.reserve(more);
    }

    pub(super) fn add(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        let hash = self.hasher.hash_one(piece);
        let (bytes, entries) = (&mut self.bytes, &mut self.entries);
        let known = self.index.find(hash, |&number| entries[number as usize].piece(bytes) == piece);
        if let Some(&number) = known {
            let entry = &mut entries[number as usize];
            entry.count = entry.count.checked_add(count).ok_or_else(too_often)?;
            entry.first = entry.first.min(first);
            return Ok(());
        }
        let number = u32::try_from(entries.len()).map_err(|_| Error::TooManyPretokens)?;
        let len = length(piece.len())?;
        entries.push(Entry { start: bytes.len() as u64, len, count, first });
        bytes.extend_from_slice(piece);
        let (bytes, entries, hasher) = (&self.bytes, &self.entries, &self.hasher);
        self.index
            .insert_unique(hash, number, |&number| hasher.hash_one(entries[number as usize].piece(bytes)));
        Ok(())
    }
}
