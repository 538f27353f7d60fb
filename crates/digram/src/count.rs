//! Counting pretokens: all that training needs to know of a corpus.

use std::ops::ControlFlow;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;
use crate::watch::{Watch, in_parallel};

/// Text counted between two questions to the watch, in bytes.
const BETWEEN_CHECKS: usize = 1 << 18;

/// Distinct pretokens and how often each stands in the corpus, in the order of first occurrence.
///
/// The order and the numbers are the same however the corpus was cut into batches and however many
/// threads counted.
#[derive(Debug, Default)]
pub struct Counts {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    totals: Totals,
}

/// What was counted in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Texts.
    pub documents: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Pretokens, repeated ones included.
    pub pretokens: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u64,
    len: u32,
    count: u64,
    /// Where the pretoken first stood, in bytes from the start of the corpus.
    first: u64,
}

impl Counts {
    /// Counts from pieces that were counted elsewhere, in the order of first occurrence.
    pub fn from_pieces<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = (T, u64)>) -> Result<Counts> {
        let mut table = Table::default();
        let mut totals = Totals { documents: 1, ..Totals::default() };
        for (order, (piece, count)) in pieces.into_iter().enumerate() {
            let (piece, too_many) =
                (piece.as_ref(), || Error::Limit { reason: "the counts add up to more than 2^64.".into() });
            table.add(piece, count, order as u64)?;
            let bytes = (piece.len() as u64).checked_mul(count).ok_or_else(too_many)?;
            totals.bytes = totals.bytes.checked_add(bytes).ok_or_else(too_many)?;
            totals.pretokens = totals.pretokens.checked_add(count).ok_or_else(too_many)?;
        }
        Ok(Counts { bytes: table.bytes, entries: table.entries, totals })
    }

    /// How many distinct pretokens there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The sums over the corpus.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Each distinct pretoken with its count, in the order of first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (entry.piece(&self.bytes), entry.count))
    }
}

impl Entry {
    fn piece<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.start as usize..self.start as usize + self.len as usize]
    }
}

/// Counts batches of text, one after the other.
pub struct Counter {
    pretokenizer: Arc<Pretokenizer>,
    /// One table for each thread, kept from batch to batch.
    tables: Vec<Table>,
    totals: Totals,
}

impl Counter {
    /// A counter that has counted nothing.
    pub fn new(pretokenizer: impl Into<Arc<Pretokenizer>>) -> Counter {
        Counter { pretokenizer: pretokenizer.into(), tables: Vec::new(), totals: Totals::default() }
    }

    /// Counts a batch of texts on up to `threads` threads. Texts never join.
    ///
    /// If the watch interrupts, the counter is left with a part of the batch and must be dropped.
    pub fn add<T: AsRef<[u8]> + Sync>(
        &mut self,
        texts: &[T],
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<()> {
        let starts: Vec<u64> = texts
            .iter()
            .scan(self.totals.bytes, |at, text| {
                let start = *at;
                *at += text.as_ref().len() as u64;
                Some(start)
            })
            .collect();
        let bytes = texts.iter().map(|text| text.as_ref().len() as u64).sum::<u64>();
        let threads = threads.clamp(1, texts.len().max(1));
        let ready = std::sync::Mutex::new(std::mem::take(&mut self.tables));
        let take = || ready.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop().unwrap_or_default();
        let pretokens = in_parallel(
            threads,
            texts.len(),
            watch,
            || Lent { table: take(), back: &ready },
            |lent, task, watch| {
                lent.table.count(&self.pretokenizer, texts[task].as_ref(), starts[task], watch)
            },
        )?;
        self.tables = ready.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.totals.documents += texts.len() as u64;
        self.totals.bytes += bytes;
        self.totals.pretokens += pretokens.iter().sum::<u64>();
        Ok(())
    }

    /// What was counted so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The counts of all batches.
    ///
    /// Checks that the pieces add up to the text: the sum of count times length is the number of
    /// bytes read, or the result is [`Error::Internal`].
    pub fn finish(self) -> Result<Counts> {
        let mut tables = self.tables.into_iter();
        let mut all = tables.next().unwrap_or_default();
        for table in tables {
            for entry in &table.entries {
                all.add(entry.piece(&table.bytes), entry.count, entry.first)?;
            }
        }
        all.entries.sort_unstable_by_key(|entry| entry.first);
        let sum: u64 = all.entries.iter().map(|entry| entry.count * u64::from(entry.len)).sum();
        if sum != self.totals.bytes {
            let reason = format!("{} bytes were read, but {sum} were counted.", self.totals.bytes);
            return Err(Error::Internal { reason });
        }
        Ok(Counts { bytes: all.bytes, entries: all.entries, totals: self.totals })
    }
}

/// A table that goes back when the thread that used it ends.
struct Lent<'a> {
    table: Table,
    back: &'a std::sync::Mutex<Vec<Table>>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let table = std::mem::take(&mut self.table);
        self.back.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(table);
    }
}

#[derive(Default)]
struct Table {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Table {
    /// Counts the pretokens of a text that starts at byte `start` of the corpus.
    fn count(
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

    fn add(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::Stage;
    use crate::watch::Unwatched;

    fn counts(batches: &[&[&str]], threads: usize) -> Vec<(String, u64)> {
        let words = Pretokenizer::new(&[Stage::Pattern(r"\w+|\W".into())]).unwrap();
        let mut counter = Counter::new(words);
        for batch in batches {
            counter.add(batch, threads, &Unwatched).unwrap();
        }
        let counts = counter.finish().unwrap();
        counts.iter().map(|(piece, count)| (String::from_utf8(piece.to_vec()).unwrap(), count)).collect()
    }

    #[test]
    fn order_is_that_of_first_occurrence_whatever_the_batches_and_threads() {
        let texts = ["the cat the", "dog", "", "a cat", "zebra the dog", "a"];
        let expected = counts(&[&texts], 1);
        assert_eq!(expected[..3], [("the".into(), 3), (" ".into(), 5), ("cat".into(), 2)]);
        for threads in 1..5 {
            assert_eq!(counts(&[&texts[..2], &texts[2..]], threads), expected);
        }
    }
}
