//! Counting batches of text on several threads.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::pretokenize::Pretokenizer;
use crate::watch::{Watch, in_parallel};

use super::table::Table;
use super::{Counts, Totals};

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
