//! How often the pretoken around a place occurs.

/// Places of one block share the answer where to begin to look.
const BLOCK: usize = 128;

/// Stretches of places with one count each, end to end.
///
/// Pretokens that are sorted by count make few stretches, most of them long, so the stretch of a
/// place is nearly always the one that its block begins in: the table of blocks stays in the near
/// memory, where a number for each place would not.
#[derive(Default)]
pub(super) struct Runs {
    /// Where each run starts; the last is the end of all.
    starts: Vec<u32>,
    counts: Vec<u64>,
    /// The run in which each block of places begins.
    blocks: Vec<u32>,
}

impl Runs {
    /// Makes room for so many runs, and no more.
    pub(super) fn reserve(&mut self, runs: usize) {
        self.starts.reserve_exact(1 + runs);
        self.counts.reserve_exact(runs);
    }

    /// Runs are added from left to right, up to `end` each; those of one count join.
    pub(super) fn push(&mut self, count: u64, end: usize) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        if self.counts.last() == Some(&count) {
            self.starts.pop();
        } else {
            self.counts.push(count);
        }
        self.starts.push(end as u32);
    }

    /// To be called when all were added.
    pub(super) fn finish(&mut self) {
        let mut run = 0;
        self.blocks = (0..self.end().div_ceil(BLOCK))
            .map(|block| {
                while self.starts[run + 1] as usize <= block * BLOCK {
                    run += 1;
                }
                run as u32
            })
            .collect();
    }

    /// Where the last run ends.
    pub(super) fn end(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// Each run with its count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (std::ops::Range<usize>, u64)> {
        self.starts
            .windows(2)
            .zip(&self.counts)
            .map(|(ends, &count)| (ends[0] as usize..ends[1] as usize, count))
    }

    /// The count of a place.
    #[inline]
    pub(super) fn count(&self, at: usize) -> u64 {
        let mut run = self.blocks[at / BLOCK] as usize;
        while self.starts[run + 1] as usize <= at {
            run += 1;
        }
        self.counts[run]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_the_count_of_its_run() {
        let mut runs = Runs::default();
        let mut expected = Vec::new();
        for number in 0..3_000u64 {
            let (count, len) = (number * 7 % 5, 1 + number * number % 300);
            expected.extend((0..len).map(|_| count));
            runs.push(count, expected.len());
        }
        runs.finish();
        assert!(expected.iter().enumerate().all(|(at, &count)| runs.count(at) == count));
        let again: Vec<u64> = runs.iter().flat_map(|(places, count)| places.map(move |_| count)).collect();
        assert_eq!(again, expected);
    }
}
