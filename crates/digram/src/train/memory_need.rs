//! The memory limit, and an estimate of the memory that a round needs for each minimum count, before
//! anything is read into memory.

use crate::error::Error;

/// Memory that does not depend on the size of the corpus: sketches, tables by token, buffers; in bytes.
pub(super) const FIXED_MEMORY: u64 = 20 << 20;

/// The maximum memory per byte of a pretoken while it is read and written: twice as tokens, twice as bytes.
const PRETOKEN_BYTE_MEMORY: u64 = 16;

/// The maximum useful limit: the positions of a round have 32 bits.
const MAX_MEMORY: u64 = PRETOKEN_BYTE_MEMORY << 31;

// The positions of a round, plus those of one pretoken not yet checked.
const _: () = assert!(MAX_MEMORY / OCCURRENCE_MEMORY + MAX_MEMORY / PRETOKEN_BYTE_MEMORY < 1 << 32);

/// The budget within a memory limit.
#[derive(Clone, Copy)]
pub(super) struct MemoryBudget {
    /// The memory of a round, in bytes.
    pub(super) memory: u64,
    /// The maximum length of a pretoken, in bytes.
    pub(super) pretoken: u64,
}

impl MemoryBudget {
    /// The budget within a limit, which must be more than [`FIXED_MEMORY`].
    pub(super) fn within(bytes: u64) -> MemoryBudget {
        let memory = (bytes - FIXED_MEMORY).min(MAX_MEMORY);
        MemoryBudget { memory, pretoken: memory / PRETOKEN_BYTE_MEMORY }
    }

    /// The error for a pretoken of this length, which does not fit.
    pub(super) fn too_long(&self, pretoken: u64) -> Error {
        let needed = pretoken.saturating_mul(PRETOKEN_BYTE_MEMORY);
        let mebibytes = |memory: u64| memory.saturating_add(FIXED_MEMORY).div_ceil(1 << 20);
        let reason = match needed <= MAX_MEMORY {
            true => format!(
                "a pretoken of {pretoken} bytes cannot be merged in {} MiB of memory; it needs {}. Cut the text by a pretokenizer or a separator, or raise the limit.",
                mebibytes(self.memory),
                mebibytes(needed)
            ),
            false => format!(
                "a pretoken of {pretoken} bytes is longer than 2 GiB, the most that can be merged on disk. Cut the text by a pretokenizer or a separator."
            ),
        };
        Error::Option { reason }
    }
}

/// Memory per occurrence of a tracked pair: its position, and its original token; its posting, twice while
/// these are collected; and the postings of the pairs that arise from it.
const OCCURRENCE_MEMORY: u64 = 20;

/// Memory per stretch of such pairs: one token more than pairs, a border, its run, and its entry in the
/// index.
const STRETCH_MEMORY: u64 = 40;

/// The number of steps between a minimum count and its double.
const STEPS: u64 = 1 << STEP_BITS;
const STEP_BITS: u32 = 4;

/// The memory of stretches with this many pairs, in bytes.
pub(super) fn bytes_of(pairs: u64, stretches: u64) -> u64 {
    pairs * OCCURRENCE_MEMORY + stretches * STRETCH_MEMORY
}

/// The memory of the stretches in which each pair may reach a minimum count, for any minimum.
pub(super) struct MemoryNeed {
    /// For each step, the number of pairs whose highest minimum count it is, and the number of stretches
    /// that it adds to those of the next higher step.
    steps: Vec<(u64, i64)>,
}

impl Default for MemoryNeed {
    fn default() -> MemoryNeed {
        MemoryNeed { steps: vec![(0, 0); step_of(u64::MAX) + 1] }
    }
}

impl MemoryNeed {
    /// Adds a pretoken, given an upper bound for the count of each of its pairs.
    pub(super) fn add(&mut self, bounds: impl Iterator<Item = u64>) {
        let mut previous = 0;
        for bound in bounds {
            let step = step_of(bound);
            self.steps[step].0 += 1;
            // For minimum counts above that of the pair before, a stretch begins here.
            if step > previous {
                self.steps[step].1 += 1;
                self.steps[previous].1 -= 1;
            }
            previous = step;
        }
    }

    /// The lowest minimum count, at least `min_count`, that fits into `bytes`; `None` if even the most
    /// frequent pair does not fit.
    pub(super) fn min_count_within(&self, bytes: u64, min_count: u64) -> Option<u64> {
        let (mut pairs, mut stretches) = (0, 0u64);
        let mut lowest = None;
        for (step, &(added_pairs, added_stretches)) in self.steps.iter().enumerate().rev() {
            pairs += added_pairs;
            stretches = stretches.wrapping_add_signed(added_stretches);
            // Joining stretches may reduce the memory.
            if pairs > 0 && bytes_of(pairs, stretches) <= bytes {
                lowest = Some(min_count_of(step).max(min_count));
            }
            if min_count_of(step) <= min_count {
                break;
            }
        }
        lowest
    }
}

/// The index of the highest step that a count reaches.
fn step_of(count: u64) -> usize {
    if count < STEPS {
        return count as usize;
    }
    let shift = count.ilog2() - STEP_BITS;
    (u64::from(shift) * STEPS + (count >> shift)) as usize
}

/// The lowest count of a step.
fn min_count_of(step: usize) -> u64 {
    let step = step as u64;
    if step < STEPS {
        return step;
    }
    let shift = step / STEPS - 1;
    (step - shift * STEPS) << shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_fit_into_32_bits_for_any_limit() {
        assert_eq!(MemoryBudget::within(FIXED_MEMORY + 1000).memory, 1000);
        for bytes in [MAX_MEMORY + FIXED_MEMORY, u64::MAX] {
            let budget = MemoryBudget::within(bytes);
            assert_eq!(budget.memory, MAX_MEMORY);
            let error = budget.too_long(budget.pretoken + 1).to_string();
            assert!(!error.contains("raise the limit"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_step_begins_with_its_lowest_count(count: u64) {
            let step = step_of(count);
            prop_assert!(min_count_of(step) <= count);
            prop_assert_eq!(step_of(min_count_of(step)), step);
            prop_assert!(step + 1 == step_of(u64::MAX) + 1 || min_count_of(step + 1) > count);
        }

        /// The estimate agrees with one computed separately for each minimum count.
        #[test]
        fn the_minimum_count_is_the_lowest_that_fits(
            words in proptest::collection::vec(proptest::collection::vec(1..200u64, 0..12), 0..12),
            bytes in 0..4_000u64,
            min_count in 1..100u64,
        ) {
            let mut need = MemoryNeed::default();
            words.iter().for_each(|word| need.add(word.iter().copied()));
            let need_of = |min_count: u64| {
                let need_of_word = |word: &Vec<u64>| {
                    word.chunk_by(|&a, &b| a >= min_count && b >= min_count)
                        .filter(|chunk| chunk[0] >= min_count)
                        .fold((0, 0), |(pairs, stretches), chunk| (pairs + chunk.len() as u64, stretches + 1))
                };
                words.iter().map(need_of_word).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
            };
            let expected = (0..=step_of(200))
                .map(min_count_of)
                .filter(|&candidate| step_of(candidate) >= step_of(min_count))
                .map(|candidate| (candidate, need_of(candidate)))
                .filter(|&(_, (pairs, stretches))| pairs > 0
                    && bytes_of(pairs, stretches) <= bytes)
                .min()
                .map(|(candidate, _)| candidate.max(min_count));
            prop_assert_eq!(need.min_count_within(bytes, min_count), expected);
        }
    }
}
