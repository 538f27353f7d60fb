//! Counting batches of text on several threads.

use std::sync::{Arc, Mutex};

use hashbrown::DefaultHashBuilder;

use crate::error::Result;
use crate::pretokenize::{ALONE_BYTES, Pretokenizer, TASK_BYTES, parts, tasks};
use crate::watch::{Watch, in_parallel};

use super::gather::gather;
use super::tally::Tally;
use super::{Counts, Totals};

/// Counts batches of text, one after the other.
pub struct Counter {
    pretokenizer: Arc<Pretokenizer>,
    hasher: DefaultHashBuilder,
    /// One for each thread, kept from batch to batch.
    tallies: Vec<Tally>,
    totals: Totals,
}

impl Counter {
    /// A counter that has counted nothing.
    pub fn new(pretokenizer: impl Into<Arc<Pretokenizer>>) -> Counter {
        Counter {
            pretokenizer: pretokenizer.into(),
            hasher: DefaultHashBuilder::default(),
            tallies: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Counts a batch of texts on up to `threads` threads, a long text on several of them. Texts
    /// never join.
    ///
    /// If the watch interrupts, the counter is left with a part of the batch and must be dropped.
    pub fn add<T: AsRef<[u8]> + Sync>(
        &mut self,
        texts: &[T],
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut bytes = 0;
        let start = |text: &T| {
            bytes += text.as_ref().len() as u64;
            self.totals.bytes + bytes - text.as_ref().len() as u64
        };
        let starts: Vec<u64> = texts.iter().map(start).collect();
        let alone = threads == 1 || bytes < ALONE_BYTES as u64;
        let cuts = |text: &[u8]| match alone {
            true => Vec::new(),
            false => self.pretokenizer.cuts(text, TASK_BYTES, |cut| cut),
        };
        let parts = parts(texts, cuts);
        let tasks = tasks(&parts, if alone { usize::MAX } else { TASK_BYTES });
        let ready = Mutex::new(std::mem::take(&mut self.tallies));
        let take = || ready.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let pretokens = in_parallel(
            if alone { 1 } else { threads },
            tasks.len(),
            watch,
            || Lent { tally: Some(take().unwrap_or_else(|| Tally::new(&self.hasher))), back: &ready },
            |lent, task, watch| {
                let mut pretokens = 0;
                for part in &parts[tasks[task].clone()] {
                    let text = &texts[part.text].as_ref()[part.range.clone()];
                    let start = starts[part.text] + part.range.start as u64;
                    let tally = lent.tally.as_mut().expect("lent until the end");
                    pretokens += tally.count(&self.pretokenizer, text, start, watch)?;
                }
                Ok(pretokens)
            },
        )?;
        self.tallies = ready.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.totals.documents += texts.len() as u64;
        self.totals.bytes += bytes;
        self.totals.pretokens += pretokens.iter().sum::<u64>();
        Ok(())
    }

    /// What was counted so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The counts of all batches, found on as many threads as counted.
    ///
    /// Checks that the pieces add up to the text: the sum of count times length is the number of
    /// bytes read, or the result is [`crate::Error::Internal`].
    pub fn finish(self, watch: &dyn Watch) -> Result<Counts> {
        let threads = self.tallies.len();
        gather(self.tallies, self.totals, threads, watch)
    }
}

/// A tally that goes back when the thread that used it ends.
struct Lent<'a> {
    tally: Option<Tally>,
    back: &'a Mutex<Vec<Tally>>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let tally = self.tally.take();
        self.back.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(tally);
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
        let counts = counter.finish(&Unwatched).unwrap();
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
