//! The characters of a corpus: the base of a character vocabulary.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};

use super::corpus::utf8;

/// The characters of the counted text, sorted: all of them, or the `limit` most frequent ones. Of
/// equally frequent ones the lowest code points stay.
pub fn characters(counts: &dyn Pieces, limit: Option<usize>, interrupt: &dyn Interrupt) -> Result<Vec<char>> {
    let mut seen = HashMap::<char, u64>::default();
    let mut pacer = Pacer::new(interrupt);
    counts.for_each(&mut |piece| {
        pacer.after(1 + piece.bytes.len())?;
        for character in utf8(piece.bytes)?.chars() {
            let count = seen.entry(character).or_default();
            *count = count.checked_add(piece.count).ok_or_else(|| Error::Limit {
                reason: format!("{character:?} occurs more than 2^64 times."),
            })?;
        }
        Ok(())
    })?;
    let mut found: Vec<(char, u64)> = seen.into_iter().collect();
    if let Some(limit) = limit {
        found.sort_unstable_by_key(|&(character, count)| (Reverse(count), character));
        found.truncate(limit);
    }
    let mut characters: Vec<char> = found.into_iter().map(|(character, _)| character).collect();
    characters.sort_unstable();
    Ok(characters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;

    #[test]
    fn the_most_frequent_stay_and_ties_go_to_the_lowest() {
        let counts = Counts::from_pieces([("cab", 2), ("d", 3), ("é", 1)]).unwrap();
        let of = |limit| characters(&counts, limit, &Never).unwrap().into_iter().collect::<String>();
        assert_eq!(of(None), "abcdé");
        assert_eq!([of(Some(0)), of(Some(1)), of(Some(2)), of(Some(3))], ["", "d", "ad", "abd"]);
        assert_eq!(of(Some(99)), "abcdé");
    }
}
