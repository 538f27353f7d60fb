//! Runs: files of pieces in the order of their bytes. A run begins with [`MAGIC`]. Then come
//! blocks: the length of the content and its digest, eight bytes each, little-endian, and the
//! content. The run ends with a length of zero, the number of pieces and the digest of that number.
//! A block contains pieces: the number of bytes shared with the previous piece, the number of
//! further bytes, these bytes, the count, and the first occurrence. Numbers have seven bits per
//! byte, lowest first. The format is private and may change with a version.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::memory;

use super::Piece;
use super::digest::{FACTORS, hash};

const MAGIC: [u8; 8] = *b"digram\x00\x01";

/// The number of bytes after the last block.
const END: usize = 24;

/// Writes a run.
pub(crate) struct RunWriter {
    file: File,
    path: PathBuf,
    /// A block is written when it has this many bytes.
    size: usize,
    block: Vec<u8>,
    last: Vec<u8>,
    pieces: u64,
}

impl RunWriter {
    pub(crate) fn create(path: &Path, size: usize) -> Result<RunWriter> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|error| Error::of_file(&error, path))?;
        let mut writer =
            RunWriter { file, path: path.into(), size, block: Vec::new(), last: Vec::new(), pieces: 0 };
        writer.write(&MAGIC)?;
        Ok(writer)
    }

    /// Appends a piece, which must be greater than the previous ones; returns whether a block was
    /// written.
    pub(crate) fn push(&mut self, piece: Piece<'_>) -> Result<bool> {
        let shared = match self.block.is_empty() {
            true => 0,
            false => self.last.iter().zip(piece.bytes).take_while(|(a, b)| a == b).count(),
        };
        let rest = &piece.bytes[shared..];
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        write_varint(&mut self.block, shared as u64);
        write_varint(&mut self.block, rest.len() as u64);
        self.block.extend_from_slice(rest);
        write_varint(&mut self.block, piece.count);
        write_varint(&mut self.block, piece.first);
        self.pieces += 1;
        let full = self.block.len() >= self.size;
        if full {
            self.end_block()?;
        }
        Ok(full)
    }

    /// Writes the last block, and returns the number of pieces.
    pub(crate) fn finish(mut self) -> Result<u64> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let pieces = self.pieces.to_le_bytes();
        let mut end = [0; END];
        end[8..16].copy_from_slice(&pieces);
        end[16..].copy_from_slice(&digest(&pieces).to_le_bytes());
        self.write(&end)?;
        Ok(self.pieces)
    }

    fn end_block(&mut self) -> Result<()> {
        let mut head = [0; 16];
        head[..8].copy_from_slice(&(self.block.len() as u64).to_le_bytes());
        head[8..].copy_from_slice(&digest(&self.block).to_le_bytes());
        self.write(&head)?;
        let block = std::mem::take(&mut self.block);
        self.write(&block)?;
        self.block = block;
        self.block.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| Error::of_file(&error, &self.path))
    }
}

/// Reads a run, piece by piece.
pub(crate) struct RunReader {
    file: File,
    path: PathBuf,
    /// The number of bytes of the file that are not read yet.
    unread: u64,
    /// The offset of the block in the file.
    offset: u64,
    block: Vec<u8>,
    position: usize,
    piece: Vec<u8>,
    count: u64,
    first: u64,
    pieces: u64,
}

impl RunReader {
    /// Opens a run before its first piece.
    pub(crate) fn open(path: &Path) -> Result<RunReader> {
        let failed = |error: io::Error| Error::of_file(&error, path);
        let file = File::open(path).map_err(failed)?;
        let unread = file.metadata().map_err(failed)?.len();
        let mut reader = RunReader {
            file,
            path: path.into(),
            unread,
            offset: 0,
            block: Vec::new(),
            position: 0,
            piece: Vec::new(),
            count: 0,
            first: 0,
            pieces: 0,
        };
        let mut magic = [0; 8];
        reader.read(&mut magic)?;
        match magic == MAGIC {
            true => Ok(reader),
            false => {
                Err(reader.corrupt("it does not begin like a file of counts of this version of digram."))
            }
        }
    }

    /// The number of pieces that is stored at the end of a run.
    pub(crate) fn pieces(path: &Path) -> Result<u64> {
        let mut reader = RunReader::open(path)?;
        if reader.unread < END as u64 {
            return Err(reader.corrupt("the file ends early."));
        }
        let end = reader.file.seek(SeekFrom::End(-(END as i64)));
        reader.offset = end.map_err(|error| Error::of_file(&error, path))?;
        reader.unread = END as u64;
        match reader.read_number()? {
            0 => reader.end(),
            _ => Err(reader.corrupt("the end of the file is damaged.")),
        }
    }

    pub(crate) fn piece(&self) -> Piece<'_> {
        Piece { bytes: &self.piece, count: self.count, first: self.first }
    }

    /// Advances to the next piece, if there is one.
    pub(crate) fn next(&mut self) -> Result<bool> {
        if self.position == self.block.len() && !self.next_block()? {
            return Ok(false);
        }
        if self.next_in_block().is_none() {
            return Err(self.corrupt("a block does not match its digest."));
        }
        self.pieces += 1;
        Ok(true)
    }

    fn next_in_block(&mut self) -> Option<()> {
        let mut rest = &self.block[self.position..];
        let shared = usize::try_from(read_varint(&mut rest)?).ok()?;
        let length = usize::try_from(read_varint(&mut rest)?).ok()?;
        let (suffix, mut rest) = rest.split_at_checked(length)?;
        if shared > self.piece.len() {
            return None;
        }
        self.piece.truncate(shared);
        self.piece.extend_from_slice(suffix);
        (self.count, self.first) = (read_varint(&mut rest)?, read_varint(&mut rest)?);
        self.position = self.block.len() - rest.len();
        Some(())
    }

    fn next_block(&mut self) -> Result<bool> {
        self.offset += self.block.len() as u64;
        let len = self.read_number()?;
        if len == 0 {
            let stored = self.end()?;
            return match stored == self.pieces && self.unread == 0 {
                true => Ok(false),
                false => Err(self.corrupt("the number of pieces differs from the one stored at the end.")),
            };
        }
        let expected = self.read_number()?;
        // Check the length before allocating, since a damaged file may contain any length.
        if len > self.unread {
            return Err(self.corrupt("the file ends early."));
        }
        let mut block = std::mem::take(&mut self.block);
        let bytes = memory::saturating_usize(len);
        let additional = bytes.saturating_sub(block.len());
        memory::try_reserve(&mut block, additional)?;
        block.resize(bytes, 0);
        self.read(&mut block)?;
        self.offset -= len;
        self.block = block;
        self.position = 0;
        match digest(&self.block) == expected {
            true => Ok(true),
            false => Err(self.corrupt("a block does not match its digest.")),
        }
    }

    /// Reads the number of pieces at the end of the file.
    fn end(&mut self) -> Result<u64> {
        let pieces = self.read_number()?;
        match self.read_number()? == digest(&pieces.to_le_bytes()) {
            true => Ok(pieces),
            false => Err(self.corrupt("the end of the file is damaged.")),
        }
    }

    fn read_number(&mut self) -> Result<u64> {
        let mut number = [0; 8];
        self.read(&mut number)?;
        Ok(u64::from_le_bytes(number))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        if self.unread < bytes.len() as u64 {
            return Err(self.corrupt("the file ends early."));
        }
        self.file.read_exact(bytes).map_err(|error| Error::of_file(&error, &self.path))?;
        self.unread -= bytes.len() as u64;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn corrupt(&self, reason: &str) -> Error {
        Error::Corrupt { path: self.path.clone(), offset: self.offset, reason: reason.into() }
    }
}

/// Appends a number with seven bits per byte, lowest first.
pub(crate) fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number from the start of `bytes` and advances them; `None` if it is incomplete.
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// The digest of a block.
fn digest(bytes: &[u8]) -> u64 {
    hash(bytes, FACTORS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<(Vec<u8>, u64, u64)>> {
        let mut reader = RunReader::open(path)?;
        let mut pieces = Vec::new();
        while reader.next()? {
            let Piece { bytes, count, first } = reader.piece();
            pieces.push((bytes.to_vec(), count, first));
        }
        Ok(pieces)
    }

    #[test]
    fn a_run_reads_back_as_written_and_damage_is_an_error() {
        let path = std::env::temp_dir().join(format!("digram-run-{}.test", std::process::id()));
        let mut pieces: Vec<(Vec<u8>, u64, u64)> = (0..300u64)
            .map(|number| {
                (
                    number.to_string().repeat(1 + number as usize % 5).into_bytes(),
                    1 << (number % 64),
                    (number * number) << 40,
                )
            })
            .collect();
        pieces.push((vec![b'x'; 5000], u64::MAX, u64::MAX));
        pieces.push((vec![], 1, 0));
        pieces.sort();
        let mut writer = RunWriter::create(&path, 500).unwrap();
        for (bytes, count, first) in &pieces {
            writer.push(Piece { bytes, count: *count, first: *first }).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), pieces.len() as u64);
        assert_eq!(RunReader::pieces(&path).unwrap(), pieces.len() as u64);
        assert_eq!(read(&path).unwrap(), pieces);

        let whole = std::fs::read(&path).unwrap();
        let is_refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            matches!(read(&path), Err(Error::Corrupt { .. }))
        };
        for offset in (0..whole.len()).step_by(7) {
            assert!(is_refused(&whole[..offset]), "cut at {offset}");
            let mut other = whole.clone();
            other[offset] ^= 1 << (offset % 8);
            assert!(is_refused(&other), "changed at {offset}");
        }
        assert!(is_refused(&[&whole[..], b"x"].concat()));
        std::fs::remove_file(&path).unwrap();
    }
}
