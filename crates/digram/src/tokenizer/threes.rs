//! The numbers of ids of all beginnings and ends of a run of digits that are grouped from the right.
//!
//! A beginning has the groups of one that is three digits shorter, and one more; an end has those of
//! one that is up to three digits shorter, and one more. So each number is one sum.

use std::ops::Range;

use super::BETWEEN_CHECKS;
use crate::error::Result;
use crate::utf8::is_inside;
use crate::watch::Watch;

/// The digits of a group.
const THREE: usize = 3;

/// Where each character begins, and where the text ends.
fn places(run: &[u8]) -> Vec<usize> {
    let begins = run.iter().enumerate().filter(|(_, byte)| !is_inside(**byte));
    begins.map(|(at, _)| at).chain([run.len()]).collect()
}

/// Each place between two digits with the number of ids of the text before it; `count` gives those
/// of one group.
pub(super) fn of_beginnings(
    run: &[u8],
    watch: &dyn Watch,
    mut count: impl FnMut(Range<usize>) -> Result<usize>,
) -> Result<Vec<(usize, usize)>> {
    let places = places(run);
    let mut counts = vec![(0, 0)];
    for digits in 1..places.len() {
        if digits % BETWEEN_CHECKS == 0 {
            watch.check()?;
        }
        let (start, before) = counts[digits.saturating_sub(THREE)];
        counts.push((places[digits], before + count(start..places[digits])?));
    }
    Ok(counts)
}

/// Each place between two digits with the number of ids of the text after it.
pub(super) fn of_ends(
    run: &[u8],
    watch: &dyn Watch,
    mut count: impl FnMut(Range<usize>) -> Result<usize>,
) -> Result<Vec<(usize, usize)>> {
    let places = places(run);
    let all = places.len() - 1;
    let mut counts = vec![(run.len(), 0); places.len()];
    for digits in 1..=all {
        if digits % BETWEEN_CHECKS == 0 {
            watch.check()?;
        }
        let first = (digits - 1) % THREE + 1;
        let (end, after) = counts[all - digits + first];
        let start = places[all - digits];
        counts[all - digits] = (start, after + count(start..end)?);
    }
    Ok(counts)
}
