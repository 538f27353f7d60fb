//! The characters of a corpus: the base of a character vocabulary.

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::count::Pieces;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};

use super::corpus::utf8;

/// The characters of the counted text, sorted: all of them, or the `limit` most frequent ones. Of
/// equally frequent ones, those with the lowest code points are included.
pub fn characters(counts: &dyn Pieces, limit: Option<usize>, interrupt: &dyn Interrupt) -> Result<Vec<char>> {
    let mut counts_by_character = HashMap::<char, u64>::default();
    let mut pacer = Pacer::new(interrupt);
    counts.for_each(&mut |piece| {
        pacer.after(1 + piece.bytes.len())?;
        for character in utf8(piece.bytes)?.chars() {
            let count = counts_by_character.entry(character).or_default();
            *count = count.checked_add(piece.count).ok_or_else(|| Error::Limit {
                reason: format!("{character:?} occurs more than 2^64 times."),
            })?;
        }
        Ok(())
    })?;
    let mut frequencies: Vec<(char, u64)> = counts_by_character.into_iter().collect();
    if let Some(limit) = limit {
        frequencies.sort_unstable_by_key(|&(character, count)| (Reverse(count), character));
        frequencies.truncate(limit);
    }
    let mut characters: Vec<char> = frequencies.into_iter().map(|(character, _)| character).collect();
    characters.sort_unstable();
    Ok(characters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;

    #[test]
    fn the_most_frequent_are_selected_and_ties_go_to_the_lowest() {
        let counts = Counts::from_pieces([("cab", 2), ("d", 3), ("é", 1)]).unwrap();
        let select = |limit| characters(&counts, limit, &Never).unwrap().into_iter().collect::<String>();
        assert_eq!(select(None), "abcdé");
        assert_eq!(
            [select(Some(0)), select(Some(1)), select(Some(2)), select(Some(3))],
            ["", "d", "ad", "abd"]
        );
        assert_eq!(select(Some(99)), "abcdé");
    }
}
