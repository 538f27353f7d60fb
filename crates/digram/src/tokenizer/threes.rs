//! The longest beginning or end with so many ids of a run of digits that are grouped from the right.
//!
//! A beginning has the groups of one that is three digits shorter, and one more; an end has those of
//! one that is up to three digits shorter, and one more. So the number of ids of each is one sum.

use std::ops::Range;

use super::stretch::Stretch;
use super::truncate::Search;
use crate::error::Result;
use crate::utf8::is_inside;
use crate::watch::{Paced, Watch};

/// The digits of a group.
const THREE: usize = 3;

impl Search<'_> {
    /// Where the longest beginning ends of a stretch that begins with `len` bytes of digits that
    /// are grouped from the right. What follows them is cut off by the first split, in any text.
    pub(super) fn beginning_of_digits(
        &mut self,
        stretch: Range<usize>,
        len: usize,
        most: usize,
    ) -> Result<usize> {
        let run = stretch.start..stretch.start + len;
        let counts = of_beginnings(&self.text[run.clone()], self.watch, |group| {
            self.count(run.start + group.start..run.start + group.end)
        })?;
        let all = counts.last().map_or(0, |(_, count)| *count);
        if all <= most {
            return self.beginning_of(run.end..stretch.end, most - all);
        }
        let tokens = Stretch::new(self, run.clone())?.borders;
        let fits = |(place, count): &&(usize, usize)| {
            *count <= most && (*place == 0 || tokens.binary_search(place).is_ok())
        };
        Ok(run.start + counts.iter().rev().find(fits).map_or(0, |(place, _)| *place))
    }

    /// Where the longest end begins of such a stretch.
    pub(super) fn end_of_digits(&mut self, stretch: Range<usize>, len: usize, most: usize) -> Result<usize> {
        let run = stretch.start..stretch.start + len;
        let after = self.count(run.end..stretch.end)?;
        if after > most {
            return self.end_of(run.end..stretch.end, most);
        }
        let counts = of_ends(&self.text[run.clone()], self.watch, |group| {
            self.count(run.start + group.start..run.start + group.end)
        })?;
        let tokens = Stretch::new(self, run.clone())?.borders;
        let fits = |(place, count): &&(usize, usize)| {
            after + *count <= most && (*place == 0 || tokens.binary_search(place).is_ok())
        };
        Ok(run.start + counts.iter().find(fits).map_or(len, |(place, _)| *place))
    }
}

/// Where each character begins, and where the text ends.
fn places(run: &[u8]) -> Vec<usize> {
    let begins = run.iter().enumerate().filter(|(_, byte)| !is_inside(**byte));
    begins.map(|(at, _)| at).chain([run.len()]).collect()
}

/// Each place between two digits with the number of ids of the text before it; `count` gives those
/// of one group.
fn of_beginnings(
    run: &[u8],
    watch: &dyn Watch,
    mut count: impl FnMut(Range<usize>) -> Result<usize>,
) -> Result<Vec<(usize, usize)>> {
    let (places, mut paced) = (places(run), Paced::new(watch));
    let mut counts = vec![(0, 0)];
    for digits in 1..places.len() {
        paced.after(1)?;
        let (start, before) = counts[digits.saturating_sub(THREE)];
        counts.push((places[digits], before + count(start..places[digits])?));
    }
    Ok(counts)
}

/// Each place between two digits with the number of ids of the text after it.
fn of_ends(
    run: &[u8],
    watch: &dyn Watch,
    mut count: impl FnMut(Range<usize>) -> Result<usize>,
) -> Result<Vec<(usize, usize)>> {
    let (places, mut paced) = (places(run), Paced::new(watch));
    let all = places.len() - 1;
    let mut counts = vec![(run.len(), 0); places.len()];
    for digits in 1..=all {
        paced.after(1)?;
        let first = (digits - 1) % THREE + 1;
        let (end, after) = counts[all - digits + first];
        let start = places[all - digits];
        counts[all - digits] = (start, after + count(start..end)?);
    }
    Ok(counts)
}
