//! A journal of merges on disk, so that a killed run can be resumed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::merges::Merge;
use crate::vocabulary::TokenId;

use super::Learned;

const MAGIC: [u8; 8] = *b"dgmerge\x01";

/// The size of a record: both parts, the count, and a checksum of these and the index of the merge.
const RECORD_SIZE: usize = 20;

/// The interval between syncs.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A file to which merges are appended, without runners-up. After a crash it contains the merges up to some
/// point: a partial record is detected by its checksum and cut off.
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Records not written yet.
    pending: Vec<u8>,
    /// The number of merges.
    len: u64,
    last_sync: Instant,
}

impl Journal {
    /// Opens or creates a journal, and returns its merges. `first` is the id that the first merge makes.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Corrupt`] for a file that is not a journal.
    pub fn open(path: &Path, first: TokenId) -> Result<(Journal, Vec<Learned>)> {
        let failed = |error| Error::of_file(&error, path);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        if !bytes.starts_with(&MAGIC) && !MAGIC.starts_with(&bytes) {
            let reason = "the file is not a journal of merges.".into();
            return Err(Error::Corrupt { path: path.into(), offset: 0, reason });
        }
        let mut merges = Vec::new();
        for record in bytes.get(MAGIC.len()..).unwrap_or_default().chunks_exact(RECORD_SIZE) {
            let Some((left, right, count)) = read(record, merges.len() as u64) else { break };
            let id = first + merges.len() as TokenId;
            merges.push(Learned::new(Merge { left, right, id }, count));
        }
        if bytes.len() < MAGIC.len() {
            file.rewind().and_then(|()| file.write_all(&MAGIC)).map_err(failed)?;
        }
        let end = (MAGIC.len() + merges.len() * RECORD_SIZE) as u64;
        let positioned = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        positioned.map_err(failed)?;
        let len = merges.len() as u64;
        let journal =
            Journal { file, path: path.into(), pending: Vec::new(), len, last_sync: Instant::now() };
        Ok((journal, merges))
    }

    /// Appends a merge. It is synced to disk within a second, or with the next merge after that.
    pub fn push(&mut self, learned: &Learned) -> Result<()> {
        let (left, right) = (learned.merge.left.to_le_bytes(), learned.merge.right.to_le_bytes());
        let start = self.pending.len();
        self.pending.extend([left, right].as_flattened());
        self.pending.extend(learned.count.to_le_bytes());
        let digest = digest(&self.pending[start..], self.len);
        self.pending.extend(digest.to_le_bytes());
        self.len += 1;
        if self.last_sync.elapsed() >= SYNC_INTERVAL { self.sync() } else { Ok(()) }
    }

    /// Syncs all merges to disk.
    pub fn sync(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.pending).and_then(|()| self.file.sync_data());
        written.map_err(|error| Error::of_file(&error, &self.path))?;
        self.pending.clear();
        self.last_sync = Instant::now();
        Ok(())
    }
}

fn read(record: &[u8], index: u64) -> Option<(TokenId, TokenId, u64)> {
    let (fields, sum) = record.split_at(RECORD_SIZE - 4);
    let (left, rest) = fields.split_first_chunk()?;
    let (right, count) = rest.split_first_chunk()?;
    let is_valid = sum == digest(fields, index).to_le_bytes();
    is_valid.then_some((
        TokenId::from_le_bytes(*left),
        TokenId::from_le_bytes(*right),
        u64::from_le_bytes(count.try_into().ok()?),
    ))
}

fn digest(fields: &[u8], index: u64) -> u32 {
    let step = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let state = fields.iter().fold(index ^ 0xcbf2_9ce4_8422_2325, step);
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_journal_contains_the_merges_before_the_damage() {
        let path = std::env::temp_dir().join(format!("digram-journal-{}.test", std::process::id()));
        let merges: Vec<Learned> = (0..50)
            .map(|index| {
                let merge = Merge { left: index, right: index * 7 + 1, id: 256 + index };
                Learned::new(merge, u64::from(index) << 40 | 5)
            })
            .collect();
        let (mut journal, stored) = Journal::open(&path, 256).unwrap();
        assert!(stored.is_empty());
        merges.iter().for_each(|learned| journal.push(learned).unwrap());
        journal.sync().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for index in 0..=whole.len() {
            std::fs::write(&path, &whole[..index]).unwrap();
            let (mut journal, stored) = Journal::open(&path, 256).unwrap();
            assert_eq!(stored.len(), index.saturating_sub(MAGIC.len()) / RECORD_SIZE);
            assert_eq!(stored, merges[..stored.len()]);
            merges[stored.len()..].iter().for_each(|learned| journal.push(learned).unwrap());
            journal.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == whole);
        }
        // A page that did not reach the disk, in the middle.
        let mut damaged = whole.clone();
        damaged[200..300].fill(0);
        std::fs::write(&path, &damaged).unwrap();
        let (_, stored) = Journal::open(&path, 256).unwrap();
        assert_eq!(stored, merges[..(200 - MAGIC.len()) / RECORD_SIZE]);
        std::fs::write(&path, b"something else").unwrap();
        assert!(matches!(Journal::open(&path, 256), Err(Error::Corrupt { .. })));
        std::fs::remove_file(&path).unwrap();
    }
}
