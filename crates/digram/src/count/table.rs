//! A hash table of distinct pretokens in insertion order.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};

use super::CountEntry;
use super::limits::{length, too_often};

#[derive(Default)]
pub(super) struct CountTable {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<CountEntry>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl CountTable {
    /// Reserves memory for `additional` pieces. Whenever the index grows, all pieces are hashed again,
    /// and they are scattered in memory.
    pub(super) fn reserve(&mut self, additional: usize) {
        let (bytes, entries, hasher) = (&self.bytes, &self.entries, &self.hasher);
        self.index.reserve(additional, |&index| hasher.hash_one(entries[index as usize].piece(bytes)));
        self.entries.reserve(additional);
    }

    pub(super) fn add(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        let hash = self.hasher.hash_one(piece);
        let (bytes, entries) = (&mut self.bytes, &mut self.entries);
        let existing = self.index.find(hash, |&index| entries[index as usize].piece(bytes) == piece);
        if let Some(&index) = existing {
            let entry = &mut entries[index as usize];
            entry.count = entry.count.checked_add(count).ok_or_else(too_often)?;
            entry.first = entry.first.min(first);
            return Ok(());
        }
        let index = u32::try_from(entries.len()).map_err(|_| Error::TooManyPretokens)?;
        let len = length(piece.len())?;
        entries.push(CountEntry { start: bytes.len() as u64, len, count, first });
        bytes.extend_from_slice(piece);
        let (bytes, entries, hasher) = (&self.bytes, &self.entries, &self.hasher);
        self.index.insert_unique(hash, index, |&index| hasher.hash_one(entries[index as usize].piece(bytes)));
        Ok(())
    }
}
