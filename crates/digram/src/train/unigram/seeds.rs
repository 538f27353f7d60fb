//! The pieces from which training starts: substrings of segments.
//!
//! They have two to `max_chars` characters, occur at two places of the distinct segments, and at least `min_count` times
//! in the text. A substring that is always followed by the same character is none, unless it has `max_chars` characters:
//! the longer one with that character would always be taken instead. The remaining ones are the inner nodes of a suffix
//! tree of all segments, which are found in one pass over the suffixes in order. Substrings of a single segment are left
//! out, because they would describe other text worse, in which that segment is rare.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::count::sort;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

use super::segments::Segments;
use super::suffix_array::suffix_array;

/// Which substrings are seeds.
pub(super) struct SeedLimits {
    pub(super) seeds: usize,
    pub(super) max_chars: usize,
    pub(super) min_count: u64,
}

/// A substring of the segments.
pub(super) struct Seed {
    /// Where it occurs in the bytes of the segments.
    pub(super) start: usize,
    pub(super) len: usize,
    /// Its count times its number of characters.
    pub(super) weight: u64,
}

/// The end of a segment, which is before all characters.
const END: u32 = 0;

/// The memory that the search takes for each character, in bytes.
const CHARACTER_MEMORY: usize = 40;

/// The characters of all segments as numbers, each segment followed by [`END`].
struct Symbols {
    text: Vec<u32>,
    /// One more than the highest symbol.
    end: usize,
}

/// A group of consecutive suffixes that begin with the same `depth` characters.
struct Group {
    depth: u32,
    first: usize,
}

/// A substring by its place among the symbols.
struct Candidate {
    weight: u64,
    at: u32,
    len: u32,
}

/// The substrings of the highest weight, up to `limits.seeds`, in the order of their places. Of equal weights the first
/// in the order of texts is taken.
pub(super) fn seeds(
    segments: &Segments,
    limits: &SeedLimits,
    interrupt: &dyn Interrupt,
) -> Result<Vec<Seed>> {
    let mut pacer = Pacer::new(interrupt);
    let symbols = Symbols::new(segments, interrupt)?;
    memory::check_available(symbols.text.len().saturating_mul(CHARACTER_MEMORY))?;
    let suffixes = suffix_array(&symbols.text, symbols.end, &mut pacer)?;
    let common = common_prefixes(&symbols.text, &suffixes, limits.max_chars, &mut pacer)?;
    let mut found = candidates(segments, &symbols, &suffixes, &common, limits, &mut pacer)?;
    drop((suffixes, common));
    if found.len() > limits.seeds {
        let text = |one: &Candidate| &symbols.text[one.at as usize..(one.at + one.len) as usize];
        found.select_nth_unstable_by(limits.seeds, |one, other| {
            Reverse(one.weight).cmp(&Reverse(other.weight)).then_with(|| text(one).cmp(text(other)))
        });
        found.truncate(limits.seeds);
    }
    sort(&mut found, &|one, other| (one.at, one.len).cmp(&(other.at, other.len)), interrupt)?;
    in_bytes(segments, &found, &mut pacer)
}

impl Symbols {
    fn new(segments: &Segments, interrupt: &dyn Interrupt) -> Result<Symbols> {
        let mut pacer = Pacer::new(interrupt);
        let characters = segments.characters(interrupt)?;
        let mut sorted: Vec<char> = characters.into_iter().map(|(character, _)| character).collect();
        sorted.sort_unstable();
        let numbers: HashMap<char, u32> = sorted.iter().copied().zip(END + 1..).collect();
        let mut text = Vec::new();
        memory::try_reserve(&mut text, segments.len())?;
        for index in 0..segments.len() {
            let segment = segments.text(index)?;
            pacer.after(1 + segment.len())?;
            memory::try_reserve(&mut text, segment.len() + 1)?;
            text.extend(segment.chars().map(|character| numbers[&character]));
            text.push(END);
        }
        if u32::try_from(text.len() + 1).is_err() {
            let reason =
                "the distinct pretokens have more than 2^32 characters. Train on a sample of the corpus.";
            return Err(Error::Limit { reason: reason.into() });
        }
        Ok(Symbols { text, end: sorted.len() + 1 })
    }
}

/// How many characters each suffix has in common with the one before it, within a segment and up to `most`; by the
/// method of Kasai et al. (2001), which needs linear time.
fn common_prefixes(text: &[u32], suffixes: &[u32], most: usize, pacer: &mut Pacer<'_>) -> Result<Vec<u32>> {
    let mut rank = memory::try_filled(0u32, text.len())?;
    for (&start, place) in suffixes.iter().zip(0..) {
        pacer.after(16)?;
        rank[start as usize] = place;
    }
    let mut common = memory::try_filled(0, text.len())?;
    let (mut len, mut end) = (0usize, 0);
    for start in 0..text.len() {
        if start >= end {
            end = start + text[start..].iter().position(|&symbol| symbol == END).unwrap_or(0) + 1;
        }
        let place = rank[start] as usize;
        if place == 0 {
            len = 0;
            continue;
        }
        let other = suffixes[place - 1] as usize;
        let before = len;
        while start.max(other) + len < text.len() && text[start + len] == text[other + len] {
            len += 1;
        }
        pacer.after(32 + len - before)?;
        common[place] = len.min(end - 1 - start).min(most) as u32;
        len = len.saturating_sub(1);
    }
    Ok(common)
}

/// All substrings that may be seeds.
fn candidates(
    segments: &Segments,
    symbols: &Symbols,
    suffixes: &[u32],
    common: &[u32],
    limits: &SeedLimits,
    pacer: &mut Pacer<'_>,
) -> Result<Vec<Candidate>> {
    // The segment of each symbol, by which a suffix finds its count and its end.
    let mut owner = memory::try_filled(0u32, symbols.text.len())?;
    let mut ends = Vec::new();
    memory::try_reserve(&mut ends, segments.len())?;
    let mut segment = 0;
    for (at, &symbol) in symbols.text.iter().enumerate() {
        owner[at] = segment;
        if symbol == END {
            ends.push(at as u32);
            segment += 1;
        }
    }
    let mut found = Vec::new();
    // The sum of the counts of the suffixes before each group.
    let mut groups: Vec<(Group, u64)> = vec![(Group { depth: 0, first: 0 }, 0)];
    let mut sum = 0u64;
    let mut offer = |weight: u64, depth: u32, first: usize| -> Result<()> {
        if depth >= 2 && weight >= limits.min_count {
            memory::try_reserve(&mut found, 1)?;
            let weight = weight.saturating_mul(u64::from(depth));
            found.push(Candidate { weight, at: suffixes[first], len: depth });
        }
        Ok(())
    };
    for (place, &start) in suffixes.iter().enumerate() {
        pacer.after(32)?;
        let start = start as usize;
        let next = common.get(place + 1).copied().unwrap_or(0);
        let (before, count) = (sum, segments.counts[owner[start] as usize]);
        sum = sum.saturating_add(if ends[owner[start] as usize] == start as u32 { 0 } else { count });
        let (mut first, mut sum_before) = (place, before);
        while let Some(&(Group { depth, first: begun }, sum_begun)) = groups.last()
            && depth > next
        {
            offer(sum - sum_begun, depth, begun)?;
            groups.pop();
            (first, sum_before) = (begun, sum_begun);
        }
        if groups.last().is_none_or(|(group, _)| group.depth < next) {
            groups.push((Group { depth: next, first }, sum_before));
        }
    }
    Ok(found)
}

/// Candidates in the order of their places, by their bytes.
fn in_bytes(segments: &Segments, found: &[Candidate], pacer: &mut Pacer<'_>) -> Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    memory::try_reserve(&mut seeds, found.len())?;
    let (mut rest, mut first) = (found, 0);
    let mut starts = Vec::new();
    for index in 0..segments.len() {
        let (text, range) = (segments.text(index)?, segments.range(index));
        pacer.after(1 + text.len())?;
        starts.clear();
        starts.extend(text.char_indices().map(|(offset, _)| offset));
        starts.push(text.len());
        while let Some((one, others)) = rest.split_first()
            && (one.at as usize) < first + starts.len()
        {
            let at = one.at as usize - first;
            let (start, end) = (starts[at], starts[at + one.len as usize]);
            seeds.push(Seed { start: range.start + start, len: end - start, weight: one.weight });
            rest = others;
        }
        // One symbol for each character, and one for the end.
        first += starts.len();
    }
    Ok(seeds)
}
