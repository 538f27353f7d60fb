//! Counting the pairs of a corpus, and collecting those that reach a minimum count.

use hashbrown::HashMap;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::vocabulary::TokenId;

use super::corpus::Corpus;
use super::neighbours::NOT_TRACKED;
use super::pairs::Pairs;

/// The counts of all pairs, as a table, for few tokens.
pub(super) struct PairTable {
    tokens: usize,
    cells: Vec<PairCell>,
    /// The counts by language, if there are languages.
    shares: Vec<u64>,
    languages: usize,
}

#[derive(Clone, Copy)]
struct PairCell {
    count: u64,
    positions: usize,
}

impl PairTable {
    /// The maximum number of tokens; the table has a cell for each pair.
    const MAX_TOKENS: usize = 1 << 9;

    /// Counts the pairs of a corpus, in total and by language. `None` if there are too many tokens, or more
    /// cells than the size of the corpus justifies.
    pub(super) fn of(
        corpus: &Corpus,
        tokens: usize,
        languages: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<PairTable>> {
        if tokens > PairTable::MAX_TOKENS || corpus.len() < tokens * tokens * languages.max(1) / 16 {
            return Ok(None);
        }
        let mut cells = vec![PairCell { count: 0, positions: 0 }; tokens * tokens];
        let mut shares = vec![0; tokens * tokens * languages];
        corpus.for_each_pair(interrupt, |_, left, right, weight| {
            let index = left as usize * tokens + right as usize;
            cells[index].count += weight.count;
            cells[index].positions += 1;
            if languages > 0 {
                shares[index * languages + weight.language as usize] += weight.count;
            }
        })?;
        Ok(Some(PairTable { tokens, cells, shares, languages }))
    }

    /// The largest count that more than `pair_count` pairs reach; 1 if there are fewer pairs.
    pub(super) fn reached_by(&self, pair_count: usize) -> u64 {
        reached_by(self.cells.iter().map(|cell| cell.count), pair_count)
    }

    /// Like `reached_by`, for the counts of a language.
    pub(super) fn reached_in(&self, language: usize, pair_count: usize) -> u64 {
        reached_by(
            self.shares.get(language..).unwrap_or_default().iter().step_by(self.languages).copied(),
            pair_count,
        )
    }

    /// The pairs that are `is_allowed` and whose counts, in total and by language, are `is_frequent`.
    pub(super) fn pairs(
        &self,
        corpus: &Corpus,
        is_frequent: impl Fn(u64, &[u64]) -> bool,
        is_allowed: impl Fn(TokenId, TokenId) -> bool,
        interrupt: &dyn Interrupt,
    ) -> Result<Pairs> {
        let mut pairs = Pairs::of_languages(self.languages);
        let mut next = vec![NOT_TRACKED; self.cells.len()];
        let mut start = 0;
        for (index, cell) in self.cells.iter().enumerate() {
            let (left, right) = ((index / self.tokens) as TokenId, (index % self.tokens) as TokenId);
            let shares = &self.shares[index * self.languages..][..self.languages];
            if is_frequent(cell.count, shares) && is_allowed(left, right) {
                next[index] = start;
                pairs.add(left, right, cell.count, shares, start..start + cell.positions)?;
                start += cell.positions;
            }
        }
        pairs.postings = memory::try_filled(0, start)?;
        corpus.for_each_pair(interrupt, |position, left, right, _| {
            let next = &mut next[left as usize * self.tokens + right as usize];
            if *next != NOT_TRACKED {
                pairs.postings[*next] = position as u32;
                *next += 1;
            }
        })?;
        Ok(pairs)
    }
}

/// The largest number that more than `pair_count` numbers reach; 1 if fewer are above 0.
fn reached_by(numbers: impl Iterator<Item = u64>, pair_count: usize) -> u64 {
    let mut numbers: Vec<u64> = numbers.filter(|&index| index > 0).collect();
    if numbers.len() <= pair_count {
        return 1;
    }
    *numbers.select_nth_unstable_by(pair_count, |a, b| b.cmp(a)).1
}

/// The pairs for which `is_candidate` returns true and whose count is at least `min_count`.
pub(super) fn pairs(
    corpus: &Corpus,
    min_count: u64,
    is_candidate: impl Fn(TokenId, TokenId) -> bool,
    interrupt: &dyn Interrupt,
) -> Result<Pairs> {
    pairs_of_languages(corpus, 0, is_candidate, |count, _| count >= min_count, interrupt)
}

/// The pairs for which `is_candidate` returns true and whose counts, in total and by language, are `is_frequent`.
pub(super) fn pairs_of_languages(
    corpus: &Corpus,
    languages: usize,
    is_candidate: impl Fn(TokenId, TokenId) -> bool,
    is_frequent: impl Fn(u64, &[u64]) -> bool,
    interrupt: &dyn Interrupt,
) -> Result<Pairs> {
    let mut indices: HashMap<(TokenId, TokenId), u32> = HashMap::default();
    let mut cells: Vec<((TokenId, TokenId), PairCell)> = Vec::new();
    let mut shares: Vec<u64> = Vec::new();
    // The index and position of each occurrence, in the order of the corpus: sorting them into the postings
    // from here is faster than a second pass over the corpus.
    let mut occurrences: Vec<(u32, u32)> = Vec::new();
    memory::check_available(corpus.len() * 2 * size_of::<(u32, u32)>())?;
    corpus.for_each_pair(interrupt, |position, left, right, weight| {
        if is_candidate(left, right) {
            let index = *indices.entry((left, right)).or_insert_with(|| {
                cells.push(((left, right), PairCell { count: 0, positions: 0 }));
                shares.resize(cells.len() * languages, 0);
                (cells.len() - 1) as u32
            });
            let cell = &mut cells[index as usize].1;
            cell.count += weight.count;
            cell.positions += 1;
            if languages > 0 {
                shares[index as usize * languages + weight.language as usize] += weight.count;
            }
            occurrences.push((index, position as u32));
        }
    })?;
    drop(indices);
    let mut pairs = Pairs::of_languages(languages);
    let mut start = 0;
    let mut next = Vec::with_capacity(cells.len());
    for (index, ((left, right), cell)) in cells.into_iter().enumerate() {
        let shares = &shares[index * languages..][..languages];
        if is_frequent(cell.count, shares) {
            next.push(start);
            pairs.add(left, right, cell.count, shares, start..start + cell.positions)?;
            start += cell.positions;
        } else {
            next.push(NOT_TRACKED);
        }
    }
    pairs.postings = memory::try_filled(0, start)?;
    for (index, position) in occurrences {
        let next = &mut next[index as usize];
        if *next != NOT_TRACKED {
            pairs.postings[*next] = position;
            *next += 1;
        }
    }
    Ok(pairs)
}
