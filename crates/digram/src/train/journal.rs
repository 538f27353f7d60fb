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

/// A record: both parts, the count, and a checksum of these and the number of the merge.
const RECORD: usize = 20;

/// The interval between syncs.
const BETWEEN_SYNCS: Duration = Duration::from_secs(1);

/// A file to which merges are appended, without runners-up. After a crash it contains the merges up to some
/// point: a partial record is detected by its checksum and cut off.
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Records not written yet.
    waiting: Vec<u8>,
    number: u64,
    synced: Instant,
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
        let mut known = Vec::new();
        for record in bytes.get(MAGIC.len()..).unwrap_or_default().chunks_exact(RECORD) {
            let Some((left, right, count)) = read(record, known.len() as u64) else { break };
            let id = first + known.len() as TokenId;
            known.push(Learned::new(Merge { left, right, id }, count));
        }
        if bytes.len() < MAGIC.len() {
            file.rewind().and_then(|()| file.write_all(&MAGIC)).map_err(failed)?;
        }
        let end = (MAGIC.len() + known.len() * RECORD) as u64;
        let set = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        set.map_err(failed)?;
        let number = known.len() as u64;
        let journal =
            Journal { file, path: path.into(), waiting: Vec::new(), number, synced: Instant::now() };
        Ok((journal, known))
    }

    /// Appends a merge. It is synced to disk within a second, or with the next merge after that.
    pub fn push(&mut self, learned: &Learned) -> Result<()> {
        let (left, right) = (learned.merge.left.to_le_bytes(), learned.merge.right.to_le_bytes());
        let start = self.waiting.len();
        self.waiting.extend([left, right].as_flattened());
        self.waiting.extend(learned.count.to_le_bytes());
        let digest = digest(&self.waiting[start..], self.number);
        self.waiting.extend(digest.to_le_bytes());
        self.number += 1;
        if self.synced.elapsed() >= BETWEEN_SYNCS { self.sync() } else { Ok(()) }
    }

    /// Syncs all merges to disk.
    pub fn sync(&mut self) -> Result<()> {
        let written = self.file.write_all(&self.waiting).and_then(|()| self.file.sync_data());
        written.map_err(|error| Error::of_file(&error, &self.path))?;
        self.waiting.clear();
        self.synced = Instant::now();
        Ok(())
    }
}

fn read(record: &[u8], number: u64) -> Option<(TokenId, TokenId, u64)> {
    let (fields, sum) = record.split_at(RECORD - 4);
    let (left, rest) = fields.split_first_chunk()?;
    let (right, count) = rest.split_first_chunk()?;
    let same = sum == digest(fields, number).to_le_bytes();
    same.then_some((
        TokenId::from_le_bytes(*left),
        TokenId::from_le_bytes(*right),
        u64::from_le_bytes(count.try_into().ok()?),
    ))
}

fn digest(fields: &[u8], number: u64) -> u32 {
    let step = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let state = fields.iter().fold(number ^ 0xcbf2_9ce4_8422_2325, step);
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_crash_the_merges_up_to_some_point_are_there() {
        let path = std::env::temp_dir().join(format!("digram-journal-{}.test", std::process::id()));
        let merges: Vec<Learned> = (0..50)
            .map(|number| {
                let merge = Merge { left: number, right: number * 7 + 1, id: 256 + number };
                Learned::new(merge, u64::from(number) << 40 | 5)
            })
            .collect();
        let (mut journal, known) = Journal::open(&path, 256).unwrap();
        assert!(known.is_empty());
        merges.iter().for_each(|learned| journal.push(learned).unwrap());
        journal.sync().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for len in 0..=whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let (mut journal, known) = Journal::open(&path, 256).unwrap();
            assert_eq!(known.len(), len.saturating_sub(MAGIC.len()) / RECORD);
            assert_eq!(known, merges[..known.len()]);
            merges[known.len()..].iter().for_each(|learned| journal.push(learned).unwrap());
            journal.sync().unwrap();
            assert!(std::fs::read(&path).unwrap() == whole);
        }
        // A page that did not reach the disk, in the middle.
        let mut hole = whole.clone();
        hole[200..300].fill(0);
        std::fs::write(&path, &hole).unwrap();
        let (_, known) = Journal::open(&path, 256).unwrap();
        assert_eq!(known, merges[..(200 - MAGIC.len()) / RECORD]);
        std::fs::write(&path, b"something else").unwrap();
        assert!(matches!(Journal::open(&path, 256), Err(Error::Corrupt { .. })));
        std::fs::remove_file(&path).unwrap();
    }
}
