//! Merging, subtracting, filtering and scaling counts.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};

use super::limits::{too_far, too_many_documents};
use super::{CountEntry, CountTable, Counts, escaped};

/// Rows between two checks of the interrupt; each row is a cache miss.
const ROWS: usize = 1 << 14;

/// A positive number as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    numerator: u64,
    denominator: u64,
}

impl Weight {
    /// `numerator / denominator`, both at least 1.
    pub fn new(numerator: u64, denominator: u64) -> Result<Weight> {
        if numerator == 0 || denominator == 0 {
            return Err(Error::Option {
                reason: format!("a weight must be greater than 0, not {numerator}/{denominator}."),
            });
        }
        Ok(Weight { numerator, denominator })
    }

    /// The count times this weight, rounded to the nearest whole number, a half to the even one;
    /// `None` if it does not fit.
    fn of(self, count: u64) -> Option<u64> {
        let (product, denominator) =
            (u128::from(count) * u128::from(self.numerator), u128::from(self.denominator));
        let (quotient, remainder) = (product / denominator, product % denominator);
        let carry = match (2 * remainder).cmp(&denominator) {
            Ordering::Less => 0,
            Ordering::Equal => quotient % 2,
            Ordering::Greater => 1,
        };
        u64::try_from(quotient + carry).ok()
    }

    /// Like `of`; an error names the piece.
    pub(super) fn of_piece(self, piece: &[u8], count: u64) -> Result<u64> {
        self.of(count).ok_or_else(|| Error::Limit {
            reason: format!("the weighted count of {} is more than 2^64.", escaped(piece)),
        })
    }
}

impl Counts {
    /// The counts of several corpora, as if they were concatenated.
    ///
    /// First occurrences are known if they are in all of the parts. Time and memory are those of
    /// all entries together.
    pub fn merge(parts: &[&Counts], interrupt: &dyn Interrupt) -> Result<Counts> {
        let ordered = parts.iter().all(|part| part.end.is_some());
        let (mut table, mut documents, mut end) = (CountTable::default(), 0u64, 0u64);
        // Parts of one corpus share most pretokens, so the sum of their lengths would be too much.
        let maximum = parts.iter().map(|part| part.len()).max().unwrap_or(0);
        table.reserve(parts.iter().map(|part| part.len()).sum::<usize>().min(2 * maximum));
        let mut pacer = Pacer::every(ROWS, interrupt);
        for part in parts {
            for entry in &part.entries {
                pacer.after(1)?;
                let first = if ordered { end.checked_add(entry.first).ok_or_else(too_far)? } else { 0 };
                table.add(entry.piece(&part.bytes), entry.count, first)?;
            }
            end = end.checked_add(part.end.unwrap_or(0)).ok_or_else(too_far)?;
            documents = documents.checked_add(part.totals.documents).ok_or_else(too_many_documents)?;
        }
        Counts::assembled(table.bytes, table.entries, documents, ordered.then_some(end), interrupt)
    }

    /// These counts minus those of a part of the corpus.
    ///
    /// The first occurrences in the rest are unknown, so the result has none. An [`Error::Option`]
    /// names the first piece with a smaller count here than in `part`.
    pub fn subtract(&self, part: &Counts, interrupt: &dyn Interrupt) -> Result<Counts> {
        let too_few = |piece: &[u8], minuend: u64, subtrahend: u64| Error::Option {
            reason: format!(
                "{} was counted {minuend} times here, but {subtrahend} times in the counts to subtract.",
                escaped(piece)
            ),
        };
        let Some(documents) = self.totals.documents.checked_sub(part.totals.documents) else {
            let reason = format!(
                "the counts to subtract have {} documents, more than the {} here.",
                part.totals.documents, self.totals.documents
            );
            return Err(Error::Option { reason });
        };
        self.sort_by_piece(interrupt)?;
        part.sort_by_piece(interrupt)?;
        let mut difference = EntryCollector::new(interrupt);
        let mut next = 0;
        for index in 0..self.len() {
            let (piece, count, _) = self.by_piece(index);
            let mut subtrahend = 0;
            if next < part.len() {
                let (other_piece, other_count, _) = part.by_piece(next);
                match other_piece.cmp(piece) {
                    Ordering::Less => return Err(too_few(other_piece, 0, other_count)),
                    Ordering::Equal => (subtrahend, next) = (other_count, next + 1),
                    Ordering::Greater => {}
                }
            }
            difference.push(
                piece,
                count.checked_sub(subtrahend).ok_or_else(|| too_few(piece, count, subtrahend))?,
                0,
            )?;
        }
        if next < part.len() {
            let (other_piece, other_count, _) = part.by_piece(next);
            return Err(too_few(other_piece, 0, other_count));
        }
        difference.finish(documents, None)
    }

    /// The pretokens with a count of at least `min_count`. Documents and first occurrences stay.
    pub fn filter(&self, min_count: u64, interrupt: &dyn Interrupt) -> Result<Counts> {
        let mut result = EntryCollector::new(interrupt);
        for entry in self.entries.iter().filter(|entry| entry.count >= min_count) {
            result.push(entry.piece(&self.bytes), entry.count, entry.first)?;
        }
        result.finish(self.totals.documents, self.end)
    }

    /// Each count times a weight, rounded to the nearest whole number, a half to the even one. Pretokens
    /// whose count becomes 0 are removed. Documents and first occurrences stay.
    pub fn scale(&self, weight: Weight, interrupt: &dyn Interrupt) -> Result<Counts> {
        let mut result = EntryCollector::new(interrupt);
        for entry in &self.entries {
            let piece = entry.piece(&self.bytes);
            result.push(piece, weight.of_piece(piece, entry.count)?, entry.first)?;
        }
        result.finish(self.totals.documents, self.end)
    }

    /// These counts without first occurrences.
    pub fn without_first(&self, interrupt: &dyn Interrupt) -> Result<Counts> {
        let entries = self.entries.iter().map(|entry| CountEntry { first: 0, ..*entry }).collect();
        Counts::assembled(self.bytes.clone(), entries, self.totals.documents, None, interrupt)
    }
}

/// Collects the entries of a result, which are distinct and in order.
struct EntryCollector<'a> {
    bytes: Vec<u8>,
    entries: Vec<CountEntry>,
    interrupt: &'a dyn Interrupt,
    pacer: Pacer<'a>,
}

impl<'a> EntryCollector<'a> {
    fn new(interrupt: &'a dyn Interrupt) -> EntryCollector<'a> {
        EntryCollector {
            bytes: Vec::new(),
            entries: Vec::new(),
            interrupt,
            pacer: Pacer::every(ROWS, interrupt),
        }
    }

    fn push(&mut self, piece: &[u8], count: u64, first: u64) -> Result<()> {
        if count > 0 {
            self.pacer.after(1)?;
            let start = self.bytes.len() as u64;
            self.entries.push(CountEntry { start, len: piece.len() as u32, count, first });
            self.bytes.extend_from_slice(piece);
        }
        Ok(())
    }

    fn finish(self, documents: u64, end: Option<u64>) -> Result<Counts> {
        Counts::assembled(self.bytes, self.entries, documents, end, self.interrupt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    fn counts(pieces: &[(&str, u64)]) -> Counts {
        Counts::from_pieces(pieces.iter().copied()).unwrap()
    }

    #[test]
    fn first_occurrences_of_the_second_follow_those_of_the_first() {
        let (a, b) = (counts(&[("the", 2), ("cat", 1)]), counts(&[("dog", 1), ("the", 3)]));
        let both = Counts::merge(&[&a, &b], &Never).unwrap();
        let rows: Vec<_> = (0..both.len()).map(|place| both.by_piece(place)).collect();
        assert_eq!(rows, [(&b"cat"[..], 1, 1), (b"dog", 1, 2), (b"the", 5, 0)]);
        assert_eq!(both.end(), Some(4));
        let rest = both.subtract(&b, &Never).unwrap();
        assert_eq!(rest, a.without_first(&Never).unwrap());
        assert!(a.subtract(&b, &Never).is_err());
    }

    #[test]
    fn more_entries_than_one_sorted_run_are_in_order() {
        let mut adder = super::super::Adder::new(true);
        // Heads of eight bytes are equal, and every number comes twice.
        for number in 0..200_000u64 {
            let piece = format!("a long head {}", number * 7919 % 100_003);
            adder.add(piece.as_bytes(), number, 1_000_000 - number).unwrap();
        }
        let counts = adder.finish(1, &Never).unwrap();
        let rows: Vec<_> = (0..counts.len()).map(|place| counts.by_piece(place)).collect();
        assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
        assert!(counts.entries.is_sorted_by(|a, b| a.first < b.first));
        assert!(rows.iter().all(|(piece, count, _)| counts.get(piece) == *count));
        assert_eq!(counts.totals().pretokens, (0..200_000).sum());
        let without = counts.without_first(&Never).unwrap();
        assert!(without.iter().map(|(piece, _)| piece).eq(rows.iter().map(|row| row.0)));
    }

    #[test]
    fn weights_round_a_half_to_the_even_number() {
        let weight = |numerator, denominator| Weight::new(numerator, denominator).unwrap();
        let halves: Vec<_> = (0..6).map(|count| weight(1, 2).of(count).unwrap()).collect();
        assert_eq!(halves, [0, 0, 1, 2, 2, 2]);
        assert_eq!(weight(u64::MAX, u64::MAX).of(u64::MAX), Some(u64::MAX));
        assert_eq!(weight(u64::MAX, 1).of(2), None);
        assert_eq!(weight(1, u64::MAX).of(u64::MAX), Some(1));
    }
}
