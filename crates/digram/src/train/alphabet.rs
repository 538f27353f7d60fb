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

/// The letters of words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// All of them, sorted.
    pub all: Vec<char>,
    /// Those that occur after the first one of a word, sorted.
    pub inner: Vec<char>,
}

/// The letters of words, which are pretokens without the space that they begin with: all of them, or the `limit` most
/// frequent ones, as [`characters`] chooses them.
pub fn letters(counts: &dyn Pieces, limit: Option<usize>, interrupt: &dyn Interrupt) -> Result<Letters> {
    let mut found = HashMap::<char, (u64, bool)>::default();
    let mut pacer = Pacer::new(interrupt);
    counts.for_each(&mut |piece| {
        pacer.after(1 + piece.bytes.len())?;
        let text = utf8(piece.bytes)?;
        for (index, letter) in text.strip_prefix(' ').unwrap_or(text).chars().enumerate() {
            let (count, is_inner) = found.entry(letter).or_default();
            *count = count.saturating_add(piece.count);
            *is_inner |= index > 0;
        }
        Ok(())
    })?;
    let mut sorted: Vec<(char, (u64, bool))> = found.into_iter().collect();
    sorted.sort_unstable_by_key(|&(letter, (count, _))| (Reverse(count), letter));
    sorted.truncate(limit.unwrap_or(usize::MAX));
    sorted.sort_unstable();
    let inner = sorted.iter().filter(|(_, (_, is_inner))| *is_inner).map(|(letter, _)| *letter).collect();
    Ok(Letters { all: sorted.into_iter().map(|(letter, _)| letter).collect(), inner })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;

    #[test]
    fn letters_inside_words_are_listed_too() {
        let counts = Counts::from_pieces([(" ab", 2), (" c", 1), (" ba", 1), (" ", 1)]).unwrap();
        let select = |limit| letters(&counts, limit, &Never).unwrap();
        assert_eq!(select(None), Letters { all: vec!['a', 'b', 'c'], inner: vec!['a', 'b'] });
        assert_eq!(select(Some(1)), Letters { all: vec!['a'], inner: vec!['a'] });
    }

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
