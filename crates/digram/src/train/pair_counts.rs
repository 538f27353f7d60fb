//! Counting the pairs of a corpus, and collecting those that reach a minimum count.

use hashbrown::HashMap;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::vocabulary::TokenId;

use super::corpus::Corpus;
use super::neighbours::NOWHERE;
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
    places: usize,
}

impl PairTable {
    /// The maximum number of tokens; the table has a cell for each pair.
    const MAX: usize = 1 << 9;

    /// Counts the pairs of a corpus, in total and by language. `None` if there are too many tokens, or more
    /// cells than the size of the corpus justifies.
    pub(super) fn of(
        corpus: &Corpus,
        tokens: usize,
        languages: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<PairTable>> {
        if tokens > PairTable::MAX || corpus.len() < tokens * tokens * languages.max(1) / 16 {
            return Ok(None);
        }
        let mut cells = vec![PairCell { count: 0, places: 0 }; tokens * tokens];
        let mut shares = vec![0; tokens * tokens * languages];
        corpus.for_each_pair(interrupt, |_, left, right, weight| {
            let number = left as usize * tokens + right as usize;
            cells[number].count += weight.count;
            cells[number].places += 1;
            if languages > 0 {
                shares[number * languages + weight.language as usize] += weight.count;
            }
        })?;
        Ok(Some(PairTable { tokens, cells, shares, languages }))
    }

    /// The largest count that more than `wanted` pairs reach; 1 if there are fewer pairs.
    pub(super) fn reached_by(&self, wanted: usize) -> u64 {
        reached_by(self.cells.iter().map(|cell| cell.count), wanted)
    }

    /// Like `reached_by`, for the counts of a language.
    pub(super) fn reached_in(&self, language: usize, wanted: usize) -> u64 {
        reached_by(
            self.shares.get(language..).unwrap_or_default().iter().step_by(self.languages).copied(),
            wanted,
        )
    }

    /// The pairs that are `allowed` and whose counts, in total and by language, are `enough`.
    pub(super) fn pairs(
        &self,
        corpus: &Corpus,
        enough: impl Fn(u64, &[u64]) -> bool,
        allowed: impl Fn(TokenId, TokenId) -> bool,
        interrupt: &dyn Interrupt,
    ) -> Result<Pairs> {
        let mut pairs = Pairs::of_languages(self.languages);
        let mut next = vec![NOWHERE; self.cells.len()];
        let mut start = 0;
        for (number, cell) in self.cells.iter().enumerate() {
            let (left, right) = ((number / self.tokens) as TokenId, (number % self.tokens) as TokenId);
            let shares = &self.shares[number * self.languages..][..self.languages];
            if enough(cell.count, shares) && allowed(left, right) {
                next[number] = start;
                pairs.add(left, right, cell.count, shares, start..start + cell.places)?;
                start += cell.places;
            }
        }
        pairs.postings = memory::try_filled(0, start)?;
        corpus.for_each_pair(interrupt, |at, left, right, _| {
            let next = &mut next[left as usize * self.tokens + right as usize];
            if *next != NOWHERE {
                pairs.postings[*next] = at as u32;
                *next += 1;
            }
        })?;
        Ok(pairs)
    }
}

/// The largest number that more than `wanted` numbers reach; 1 if fewer are above 0.
fn reached_by(numbers: impl Iterator<Item = u64>, wanted: usize) -> u64 {
    let mut numbers: Vec<u64> = numbers.filter(|&number| number > 0).collect();
    if numbers.len() <= wanted {
        return 1;
    }
    *numbers.select_nth_unstable_by(wanted, |a, b| b.cmp(a)).1
}

/// The pairs for which `asked` returns true and whose count is at least `min_count`.
pub(super) fn pairs(
    corpus: &Corpus,
    min_count: u64,
    asked: impl Fn(TokenId, TokenId) -> bool,
    interrupt: &dyn Interrupt,
) -> Result<Pairs> {
    pairs_of_languages(corpus, 0, asked, |count, _| count >= min_count, interrupt)
}

/// The pairs for which `asked` returns true and whose counts, in total and by language, are `enough`.
pub(super) fn pairs_of_languages(
    corpus: &Corpus,
    languages: usize,
    asked: impl Fn(TokenId, TokenId) -> bool,
    enough: impl Fn(u64, &[u64]) -> bool,
    interrupt: &dyn Interrupt,
) -> Result<Pairs> {
    let mut numbers: HashMap<(TokenId, TokenId), u32> = HashMap::default();
    let mut found: Vec<((TokenId, TokenId), PairCell)> = Vec::new();
    let mut shares: Vec<u64> = Vec::new();
    // The number and place of each occurrence, in the order of the corpus: sorting them into the postings
    // from here is faster than a second pass over the corpus.
    let mut log: Vec<(u32, u32)> = Vec::new();
    memory::check_available(corpus.len() * 2 * size_of::<(u32, u32)>())?;
    corpus.for_each_pair(interrupt, |at, left, right, weight| {
        if asked(left, right) {
            let number = *numbers.entry((left, right)).or_insert_with(|| {
                found.push(((left, right), PairCell { count: 0, places: 0 }));
                shares.resize(found.len() * languages, 0);
                (found.len() - 1) as u32
            });
            let cell = &mut found[number as usize].1;
            cell.count += weight.count;
            cell.places += 1;
            if languages > 0 {
                shares[number as usize * languages + weight.language as usize] += weight.count;
            }
            log.push((number, at as u32));
        }
    })?;
    drop(numbers);
    let mut pairs = Pairs::of_languages(languages);
    let mut start = 0;
    let mut next = Vec::with_capacity(found.len());
    for (number, ((left, right), cell)) in found.into_iter().enumerate() {
        let shares = &shares[number * languages..][..languages];
        if enough(cell.count, shares) {
            next.push(start);
            pairs.add(left, right, cell.count, shares, start..start + cell.places)?;
            start += cell.places;
        } else {
            next.push(NOWHERE);
        }
    }
    pairs.postings = memory::try_filled(0, start)?;
    for (number, at) in log {
        let next = &mut next[number as usize];
        if *next != NOWHERE {
            pairs.postings[*next] = at;
            *next += 1;
        }
    }
    Ok(pairs)
}
