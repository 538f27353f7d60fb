//! How much the pretoken around a place weighs.

/// What a pretoken adds wherever it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PretokenWeight {
    /// To the count of each of its pairs.
    pub(super) count: u64,
    /// For each of its tokens, to the length by which its language is steered; 0 where nothing is.
    pub(super) length: u64,
    /// The number of its language; 0 where there are none.
    pub(super) language: u32,
}

impl PretokenWeight {
    /// That of a pretoken that occurs so often, where languages play no part.
    pub(super) fn of(count: u64) -> PretokenWeight {
        PretokenWeight { count, length: 0, language: 0 }
    }
}

/// Places of one block share the answer where to begin to look.
const BLOCK: usize = 128;

/// Stretches of places with one weight each, end to end.
///
/// Pretokens that are sorted by count make few stretches, most of them long, so the stretch of a
/// place is nearly always the one that its block begins in: the table of blocks stays in the near
/// memory, where a number for each place would not.
#[derive(Default)]
pub(super) struct WeightRuns {
    /// Where each run starts; the last is the end of all.
    starts: Vec<u32>,
    weights: Vec<PretokenWeight>,
    /// The run in which each block of places begins.
    blocks: Vec<u32>,
}

impl WeightRuns {
    /// Makes room for so many runs, and no more.
    pub(super) fn reserve(&mut self, runs: usize) {
        self.starts.reserve_exact(1 + runs);
        self.weights.reserve_exact(runs);
    }

    /// Appends a run that ends at `end`. Adjacent runs of equal weight are joined.
    pub(super) fn push(&mut self, weight: PretokenWeight, end: usize) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        if self.weights.last() == Some(&weight) {
            self.starts.pop();
        } else {
            self.weights.push(weight);
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

    /// Each run with its weight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (std::ops::Range<usize>, PretokenWeight)> {
        self.starts
            .windows(2)
            .zip(&self.weights)
            .map(|(ends, &weight)| (ends[0] as usize..ends[1] as usize, weight))
    }

    /// The weight of a place.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> PretokenWeight {
        let mut run = self.blocks[at / BLOCK] as usize;
        while self.starts[run + 1] as usize <= at {
            run += 1;
        }
        self.weights[run]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_the_weight_of_its_run() {
        let mut runs = WeightRuns::default();
        let mut expected = Vec::new();
        for number in 0..3_000u64 {
            let (count, len) = (number * 7 % 5, 1 + number * number % 300);
            let weight = PretokenWeight { language: (number / 1_000) as u32, ..PretokenWeight::of(count) };
            expected.extend((0..len).map(|_| weight));
            runs.push(weight, expected.len());
        }
        runs.finish();
        assert!(expected.iter().enumerate().all(|(at, &weight)| runs.weight(at) == weight));
        let again: Vec<PretokenWeight> =
            runs.iter().flat_map(|(places, weight)| places.map(move |_| weight)).collect();
        assert_eq!(again, expected);
    }
}
