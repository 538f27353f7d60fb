//! The weights of pretokens, by position.

/// The weight of a pretoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PretokenWeight {
    /// Added to the count of each of its pairs.
    pub(super) count: u64,
    /// Added, per token, to the length that determines the choice of language; 0 if it has no effect.
    pub(super) length: u64,
    /// The index of its language; 0 if there are none.
    pub(super) language: u32,
}

impl PretokenWeight {
    /// The weight of a pretoken with this count, without languages.
    pub(super) fn of(count: u64) -> PretokenWeight {
        PretokenWeight { count, length: 0, language: 0 }
    }
}

/// The number of positions per block; each block stores the run in which it begins.
const BLOCK_SIZE: usize = 128;

/// Run-length encoded weights of positions.
///
/// Pretokens sorted by count make few runs, most of them long, so the run of a position is nearly always the
/// first one of its block. The table of blocks fits into a near cache, and a weight per position would not.
#[derive(Default)]
pub(super) struct WeightRuns {
    /// The start of each run; the last entry is the end.
    starts: Vec<u32>,
    weights: Vec<PretokenWeight>,
    /// The run in which each block of positions begins.
    blocks: Vec<u32>,
}

impl WeightRuns {
    /// Reserves capacity for exactly this many runs.
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

    /// Builds the index of blocks; call it after the last `push`.
    pub(super) fn finish(&mut self) {
        let mut run = 0;
        self.blocks = (0..self.end().div_ceil(BLOCK_SIZE))
            .map(|block| {
                while self.starts[run + 1] as usize <= block * BLOCK_SIZE {
                    run += 1;
                }
                run as u32
            })
            .collect();
    }

    /// The end of the last run.
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

    /// The weight at a position.
    #[inline]
    pub(super) fn weight(&self, position: usize) -> PretokenWeight {
        let mut run = self.blocks[position / BLOCK_SIZE] as usize;
        while self.starts[run + 1] as usize <= position {
            run += 1;
        }
        self.weights[run]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_the_weight_of_its_run() {
        let mut runs = WeightRuns::default();
        let mut expected = Vec::new();
        for number in 0..3_000u64 {
            let (count, len) = (number * 7 % 5, 1 + number * number % 300);
            let weight = PretokenWeight { language: (number / 1_000) as u32, ..PretokenWeight::of(count) };
            expected.extend((0..len).map(|_| weight));
            runs.push(weight, expected.len());
        }
        runs.finish();
        assert!(expected.iter().enumerate().all(|(position, &weight)| runs.weight(position) == weight));
        let weights: Vec<PretokenWeight> =
            runs.iter().flat_map(|(range, weight)| range.map(move |_| weight)).collect();
        assert_eq!(weights, expected);
    }
}
