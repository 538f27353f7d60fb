//! Combining the counts of all threads in the order of first occurrence.
//!
//! There are two steps. The first divides the pretokens by hash, and sums the counts that the threads have
//! of each. The second divides them by first occurrence, and sorts them. The parts of a step are processed
//! in parallel, and each is small enough for the cache of a processor core.

use std::sync::Mutex;

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::memory;
use crate::parallel::in_parallel;

use super::sorted::check_sum;
use super::tally::ThreadCounts;
use super::{CountEntry, Counts, Piece, Totals};

/// The approximate number of pretokens of a part.
const PART_SIZE: usize = 1 << 12;

/// The maximum number of parts.
const MAX_PARTS: usize = 1 << 6;

/// Pretokens whose hashes are in one part, and that first occur in one part of the corpus.
#[derive(Default)]
struct Bucket<'t> {
    pieces: Vec<Piece<'t>>,
    /// The number of bytes to copy, which is those outside [`SharedBytes`].
    bytes: usize,
    /// The sum of count times length over `pieces`.
    sum: u64,
}

/// The sum of the counts of all threads, computed on up to `threads` threads.
///
/// Checks that the pieces add up to the text: the sum of count times length is the number of
/// bytes read, or the result is [`Error::Internal`].
pub(super) fn gather(
    mut tallies: Vec<ThreadCounts>,
    totals: Totals,
    threads: usize,
    interrupt: &dyn Interrupt,
) -> Result<Counts> {
    let maximum = tallies.iter().map(ThreadCounts::len).max().unwrap_or(0);
    // At most: each pretoken once in `joined`, once more while it is sorted, and as an entry of the result.
    let max_pretokens: usize = tallies.iter().map(ThreadCounts::len).sum();
    memory::check_available(max_pretokens * (2 * size_of::<Piece<'_>>() + size_of::<CountEntry>()))?;
    let parts = (maximum / PART_SIZE).next_power_of_two().clamp(1, MAX_PARTS);
    // The result takes over the bytes of the first thread's long pretokens. A corpus may be a single
    // pretoken, so a copy of them could double the memory.
    let shared = SharedBytes(tallies.first().map_or(&[], |tally| tally.long.bytes()));
    let joined: Vec<Vec<Bucket<'_>>> = in_parallel(
        threads,
        parts,
        interrupt,
        || (),
        |(), part, _| Ok(by_first(&join(&tallies, part, parts), parts, totals.bytes, shared)),
    )?;

    let bucket = |index: usize| joined.iter().map(move |buckets| &buckets[index]);
    let sum: u64 = joined.iter().flatten().map(|bucket| bucket.sum).sum();
    check_sum(totals, u128::from(sum))?;
    let distinct = joined.iter().flatten().map(|bucket| bucket.pieces.len()).sum();
    if distinct > u32::MAX as usize {
        return Err(Error::TooManyPretokens);
    }
    let mut entries = memory::try_filled(CountEntry::default(), distinct)?;
    let mut bytes = memory::try_filled(0, joined.iter().flatten().map(|bucket| bucket.bytes).sum())?;
    let (mut entries_left, mut bytes_left, mut start) = (&mut entries[..], &mut bytes[..], shared.0.len());
    let outputs: Vec<_> = (0..parts)
        .map(|index| {
            let pieces = bucket(index).map(|bucket| bucket.pieces.len()).sum();
            let len = bucket(index).map(|bucket| bucket.bytes).sum();
            let output = BucketOutput {
                start,
                entries: entries_left.split_off_mut(..pieces).expect("room for all"),
                bytes: bytes_left.split_off_mut(..len).expect("room for all"),
            };
            start += len;
            Mutex::new(output)
        })
        .collect();
    in_parallel(
        threads,
        parts,
        interrupt,
        || (),
        |(), index, _| {
            let mut pieces: Vec<Piece<'_>> =
                bucket(index).flat_map(|bucket| &bucket.pieces).copied().collect();
            pieces.sort_unstable_by_key(|piece| piece.first);
            outputs[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()).fill(&pieces, shared);
            Ok(())
        },
    )?;
    drop((outputs, joined));
    let bytes = match tallies.is_empty() {
        true => bytes,
        false => {
            let mut combined = tallies.swap_remove(0).long.into_bytes();
            memory::try_reserve(&mut combined, bytes.len())?;
            combined.extend_from_slice(&bytes);
            combined
        }
    };
    Ok(Counts::counted(bytes, entries, totals))
}

/// The distinct pretokens of one part of all tables.
fn join(tallies: &[ThreadCounts], part: usize, parts: usize) -> Vec<Piece<'_>> {
    let maximum = tallies.iter().map(ThreadCounts::len).sum::<usize>() / parts;
    let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(maximum + maximum / 8);
    if let [tally] = tallies {
        pieces.extend(tally.part(part, parts).map(|(_, piece)| piece));
        return pieces;
    }
    let mut index: HashTable<(u64, usize)> = HashTable::with_capacity(maximum);
    for (hash, piece) in tallies.iter().flat_map(|tally| tally.part(part, parts)) {
        // Hashes are mixed again for this table: those of a part have the same high bits, and those of long
        // pretokens have zeros as low bits.
        let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = hash ^ hash >> 32;
        match index.find(hash, |&(other, position)| other == hash && pieces[position].bytes == piece.bytes) {
            Some(&(_, position)) => {
                pieces[position].count += piece.count;
                pieces[position].first = pieces[position].first.min(piece.first);
            }
            None => {
                index.insert_unique(hash, (hash, pieces.len()), |&(hash, _)| hash);
                pieces.push(piece);
            }
        }
    }
    pieces
}

/// Groups pretokens by the part of the corpus, of `corpus_bytes` bytes, in which they first occur.
fn by_first<'t>(
    pieces: &[Piece<'t>],
    parts: usize,
    corpus_bytes: u64,
    shared: SharedBytes<'_>,
) -> Vec<Bucket<'t>> {
    let shift = (u64::BITS - corpus_bytes.leading_zeros()).saturating_sub(parts.trailing_zeros());
    let bucket = |piece: &Piece<'_>| piece.first.checked_shr(shift).unwrap_or(0) as usize;
    let mut sizes = vec![0; parts];
    pieces.iter().for_each(|piece| sizes[bucket(piece)] += 1);
    let new = |size: usize| Bucket { pieces: Vec::with_capacity(size), ..Bucket::default() };
    let mut buckets: Vec<Bucket<'_>> = sizes.into_iter().map(new).collect();
    for piece in pieces {
        let bucket = &mut buckets[bucket(piece)];
        bucket.pieces.push(*piece);
        bucket.bytes += if shared.offset(piece.bytes).is_none() { piece.bytes.len() } else { 0 };
        bucket.sum += piece.count * piece.bytes.len() as u64;
    }
    buckets
}

/// The bytes of the first thread's long pretokens, which are not copied into the result.
#[derive(Clone, Copy)]
struct SharedBytes<'t>(&'t [u8]);

impl SharedBytes<'_> {
    /// The offset of a piece in these bytes, if it is a part of them.
    fn offset(self, piece: &[u8]) -> Option<usize> {
        let range = self.0.as_ptr_range();
        range.contains(&piece.as_ptr()).then(|| piece.as_ptr() as usize - range.start as usize)
    }
}

/// Where the pretokens that first occur in one part of the corpus are written.
struct BucketOutput<'o> {
    entries: &'o mut [CountEntry],
    bytes: &'o mut [u8],
    /// The offset of `bytes` in the bytes of the result.
    start: usize,
}

impl BucketOutput<'_> {
    fn fill(&mut self, pieces: &[Piece<'_>], shared: SharedBytes<'_>) {
        let mut written = 0;
        for (entry, &Piece { bytes, count, first }) in self.entries.iter_mut().zip(pieces) {
            let start = shared.offset(bytes).unwrap_or_else(|| {
                self.bytes[written..written + bytes.len()].copy_from_slice(bytes);
                written += bytes.len();
                self.start + written - bytes.len()
            });
            // The length fits: counting refuses pretokens of 4 GiB or more.
            *entry = CountEntry { start: start as u64, len: bytes.len() as u32, count, first };
        }
    }
}
