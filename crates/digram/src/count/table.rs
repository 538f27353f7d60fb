//! Distinct pretokens of one thread, found by hashing.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;
use crate::watch::Watch;

use super::Entry;

/// Text counted between two questions to the watch, in bytes.
const BETWEEN_CHECKS: usize = 1 << 18;

#[derive(Default)]
pub(super) struct Table {
    pub(super) bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Table {
    /// Counts the pretokens of a text that starts at byte `start` of the corpus.
    pub(super) fn count(
        &mut self,
        pretokenizer: &Pretokenizer,
        text: &[u8],
        start: u64,
        watch: &dyn Watch,
    ) -> Result<u64> {
        let (mut at, mut check, mut pretokens) = (0, BETWEEN_CHECKS, 0);
        let flow = pretokenizer.try_for_each(text, |pretoken| {
            if let Err(error) = self.add(pretoken, 1, start + at as u64) {
                return ControlFlow::Break(error);
            }
            at += pretoken.len();
            pretokens += 1;
            if at >= check {
                check = at + BETWEEN_CHECKS;
                if let Err(error) = watch.check() {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        match flow {
            ControlFlow::Continue(()) => Ok(pretokens),
            ControlFlow::Break(error) => Err(error),
        }
    }

    pub(super) fn add(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        let hash = self.hasher.hash_one(piece);
        let (bytes, entries) = (&mut self.bytes, &mut self.entries);
        let known = self.index.find(hash, |&number| entries[number as usize].piece(bytes) == piece);
        if let Some(&number) = known {
            let entry = &mut entries[number as usize];
            entry.count = entry.count.checked_add(count).ok_or_else(|| Error::Limit {
                reason: "a pretoken was counted more than 2^64 times.".into(),
            })?;
            entry.first = entry.first.min(first);
            return Ok(());
        }
        let (Ok(number), Ok(len)) = (u32::try_from(entries.len()), u32::try_from(piece.len())) else {
            let reason = "there are more than 2^32 distinct pretokens, or one is longer than 4 GiB.";
            return Err(Error::Limit { reason: reason.into() });
        };
        entries.push(Entry { start: bytes.len() as u64, len, count, first });
        bytes.extend_from_slice(piece);
        let (bytes, entries, hasher) = (&self.bytes, &self.entries, &self.hasher);
        self.index
            .insert_unique(hash, number, |&number| hasher.hash_one(entries[number as usize].piece(bytes)));
        Ok(())
    }
}
