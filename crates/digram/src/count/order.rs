//! The two orders of counts, by first occurrence and by piece; what is looked up in the latter.

use crate::error::Result;
use crate::interrupt::{Interrupt, Never};
use crate::memory;

use super::{Counts, Entry};

/// Items sorted between two checks of the interrupt: some milliseconds.
const RUN: usize = 1 << 16;

/// Puts entries in order: of first occurrence where it is known, else of the pieces.
pub(super) fn sort(
    entries: &mut Vec<Entry>,
    bytes: &[u8],
    by_first: bool,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    // A key and a number for each, and then the entries once more.
    memory::check_available(
        entries.len() * (size_of::<(u64, u32)>() + size_of::<u32>() + size_of::<Entry>()),
    )?;
    let order = if !by_first {
        in_order_of_pieces(entries, bytes, interrupt)?
    } else if !entries.is_sorted_by(|a, b| a.first < b.first) {
        let keys = entries.iter().enumerate().map(|(number, entry)| (entry.first, number as u32));
        numbers_in_order(keys.collect(), entries, bytes, interrupt)?
    } else {
        return Ok(());
    };
    *entries = order.into_iter().map(|number| entries[number as usize]).collect();
    Ok(())
}

/// The numbers of the entries in the order of their pieces.
fn in_order_of_pieces(entries: &[Entry], bytes: &[u8], interrupt: &dyn Interrupt) -> Result<Vec<u32>> {
    // The first bytes as a number decide nearly every comparison without a look at the pieces,
    // which lie all over memory.
    let keys = entries.iter().enumerate().map(|(number, entry)| (head(entry.piece(bytes)), number as u32));
    numbers_in_order(keys.collect(), entries, bytes, interrupt)
}

/// The numbers of entries in the order of their keys, and where those are equal of their pieces.
///
/// Runs are sorted and then merged, two by two, so that the interrupt is checked in between. Of two million
/// pieces, `sort` took 0.2 s and not 0.3 where the keys are random, but 20 s and not 8 where they are
/// all equal, and twice as long where they are nearly in order.
fn numbers_in_order(
    mut keys: Vec<(u64, u32)>,
    entries: &[Entry],
    bytes: &[u8],
    interrupt: &dyn Interrupt,
) -> Result<Vec<u32>> {
    let piece = |number: u32| entries[number as usize].piece(bytes);
    let rule = |a: &(u64, u32), b: &(u64, u32)| a.0.cmp(&b.0).then_with(|| piece(a.1).cmp(piece(b.1)));
    for run in keys.chunks_mut(RUN) {
        interrupt.check()?;
        run.sort_unstable_by(rule);
    }
    let mut length = RUN;
    while length < keys.len() {
        let mut merged = Vec::with_capacity(keys.len());
        for pair in keys.chunks(2 * length) {
            let (mut left, mut right) = pair.split_at(length.min(pair.len()));
            while let ([a, ..], [b, ..]) = (left, right) {
                if merged.len().is_multiple_of(RUN) {
                    interrupt.check()?;
                }
                let side = if rule(b, a).is_lt() { &mut right } else { &mut left };
                merged.extend(side.split_off_first().copied());
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        (keys, length) = (merged, 2 * length);
    }
    Ok(keys.into_iter().map(|(_, number)| number).collect())
}

/// The first eight bytes as a number that compares as they do.
fn head(piece: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = piece.len().min(8);
    head[..len].copy_from_slice(&piece[..len]);
    u64::from_be_bytes(head)
}

impl Counts {
    /// The number of the entry that comes at `place` in the order of the pieces.
    fn nth(&self, place: usize) -> usize {
        if self.end.is_none() {
            return place;
        }
        let order = || in_order_of_pieces(&self.entries, &self.bytes, &Never);
        self.by_piece.get_or_make(|| order().expect("nothing was there to interrupt it"))[place] as usize
    }

    /// Does what the first call of [`Counts::by_piece`] or [`Counts::get`] would do, watched: it
    /// sorts, some 0.2 µs for each distinct pretoken.
    pub fn sort_by_piece(&self, interrupt: &dyn Interrupt) -> Result<()> {
        if self.end.is_some() && self.by_piece.get().is_none() {
            let order = in_order_of_pieces(&self.entries, &self.bytes, interrupt)?;
            self.by_piece.get_or_make(|| order);
        }
        Ok(())
    }

    /// The pretoken at `place` in the order of the pieces, how often it stands in the corpus, and
    /// where it first does (0 where that is unknown).
    pub fn by_piece(&self, place: usize) -> (&[u8], u64, u64) {
        let entry = &self.entries[self.nth(place)];
        (entry.piece(&self.bytes), entry.count, entry.first)
    }

    /// How often a pretoken stands in the corpus, by bisection.
    pub fn get(&self, piece: &[u8]) -> u64 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let (found, count, _) = self.by_piece(middle);
            match found.cmp(piece) {
                std::cmp::Ordering::Equal => return count,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        0
    }

    /// The `n` most frequent pretokens; of equal counts the one whose bytes come first.
    pub fn most_common(&self, n: usize, interrupt: &dyn Interrupt) -> Result<Vec<(&[u8], u64)>> {
        let mut found: Vec<(&[u8], u64)> = memory::try_collect(self.iter())?;
        let rule = |a: &(&[u8], u64), b: &(&[u8], u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
        if n < found.len() {
            found.select_nth_unstable_by(n, rule);
            found.truncate(n);
        }
        super::sort::sort(&mut found, &rule, interrupt)?;
        Ok(found)
    }
}

impl PartialEq for Counts {
    /// The same pretokens with the same counts and first occurrences, and the same totals.
    fn eq(&self, other: &Counts) -> bool {
        let entry = |a: &Entry, b: &Entry| {
            (a.count, a.first, a.len) == (b.count, b.first, b.len)
                && a.piece(&self.bytes) == b.piece(&other.bytes)
        };
        self.totals == other.totals
            && self.end == other.end
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(|(a, b)| entry(a, b))
    }
}

impl Eq for Counts {}
