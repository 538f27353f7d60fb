//! Merges from ranks: the `.tiktoken` format lists tokens in the order of their
//! merges, without the parts of each merge.

mod finder;
mod lines;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::{PREFETCH_DISTANCE, TokenIndex};
use crate::interrupt::{Interrupt, Pacer};
use crate::merges::{Merge, Merges, PAIRS, Rank};
use crate::vocabulary::{TokenId, Vocabulary};
use finder::MergeFinder;

/// Tokens in rank order, all of them different.
///
/// In such a vocabulary two neighbours join if their joined bytes are a token, the lowest rank first. The
/// bytes of a token inside a text are merged as they are alone, in any context, so a token has at most one
/// pair that it comes from: the last two parts of its own bytes.
///
/// ```
/// use digram::{Never, merges::Merge, ranks::Ranks, vocabulary::Vocabulary};
/// let tokens = [Some("a"), Some("b"), Some("c"), Some("ab"), Some("abc"), Some("cc c")];
/// let (merges, unreachable) = Ranks::new(Vocabulary::new(tokens)?)?.merges(&Never)?;
/// assert_eq!(merges.in_order()[1], Merge { left: 3, right: 2, id: 4 });
/// assert_eq!(unreachable, [5]);
/// # Ok::<(), digram::Error>(())
/// ```
pub struct Ranks {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) index: Arc<TokenIndex>,
}

/// Tokens between two checks of the interrupt; finding the parts of a token may take a microsecond.
const CHECK_INTERVAL: usize = 1 << 12;

impl Ranks {
    /// The tokens of a vocabulary, whose ids are their ranks. Fails if two have the same bytes.
    pub fn new(vocabulary: Vocabulary) -> Result<Ranks> {
        match TokenIndex::of_all(&vocabulary) {
            Ok(index) => Ok(Ranks { vocabulary: vocabulary.into(), index: index.into() }),
            Err((first, second)) => Err(Error::Vocabulary {
                reason: format!("the tokens {first} and {second} have the same bytes."),
            }),
        }
    }

    /// The tokens of a `.tiktoken` file in the published form: on each line
    /// base64, a space and a rank, in ascending order. `None` for any other file, valid or not.
    pub fn read(data: &[u8]) -> Option<Ranks> {
        Ranks::new(lines::read(data)?).ok()
    }

    /// The tokens.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rank of the token with these bytes.
    pub fn token_to_id(&self, bytes: &[u8]) -> Option<TokenId> {
        self.index.get(bytes)
    }

    /// The merges of the tokens that stand in a text one after the other: the two parts of each merge, of which `ends`
    /// has the end of the left and of the right one. `None` if a part, or both together, is no token.
    ///
    /// ```
    /// use digram::{ranks::Ranks, vocabulary::Vocabulary};
    /// let ranks = Ranks::new(Vocabulary::new([Some("a"), Some("b"), Some("ab"), Some("aba")])?)?;
    /// let merges = ranks.merges_in(b"ababa".to_vec(), &[(1, 2), (4, 5)]).unwrap();
    /// assert_eq!(merges.iter().map(|merge| merge.id).collect::<Vec<_>>(), [2, 3]);
    /// # Ok::<(), digram::Error>(())
    /// ```
    pub fn merges_in(&self, mut text: Vec<u8>, ends: &[(u32, u32)]) -> Option<Vec<Merge>> {
        // Keys are read sixteen bytes at a time.
        let len = text.len();
        text.extend([0; 16]);
        let parts = |number: usize| {
            let &(middle, end) = ends.get(number)?;
            let start = number.checked_sub(1).map_or(0, |before| ends[before].1);
            let [start, middle, end] = [start, middle, end].map(|place| place as usize);
            (start <= middle && middle <= end && end <= len).then_some([
                (start, middle),
                (middle, end),
                (start, end),
            ])
        };
        (0..ends.len())
            .map(|number| {
                for (start, end) in parts(number + PREFETCH_DISTANCE).into_iter().flatten() {
                    self.index.prefetch(&text, start, end);
                }
                let [left, right, id] =
                    parts(number)?.map(|(start, end)| self.index.get_in(&text, start, end));
                Some(Merge { left: left?, right: right?, id: id? })
            })
            .collect()
    }

    /// The merges behind the ranks, and the tokens that no merge makes.
    ///
    /// Fails if a token's parts have higher ranks than the token, which no list of merges can express.
    pub fn merges(&self, interrupt: &dyn Interrupt) -> Result<(Merges, Vec<TokenId>)> {
        let mut finder = MergeFinder::new(self);
        let mut pacer = Pacer::every(CHECK_INTERVAL, interrupt);
        for first in (0..self.vocabulary.size()).step_by(PAIRS) {
            pacer.after(PAIRS)?;
            finder.find(first)?;
        }
        Ok((finder.merges, finder.unreachable))
    }

    /// The two tokens that `token` is joined from when its bytes are merged lowest rank first, or `None` if
    /// they end as other tokens. This follows the definition, without using what is known about earlier
    /// tokens.
    fn parts(&self, token: &[u8]) -> Option<(TokenId, TokenId)> {
        let rank = |start: usize, end: usize| self.index.get(&token[start..end]).unwrap_or(Rank::MAX);
        // The start of each part, and the end of the last; and the rank at which part i joins with
        // part i + 1.
        let mut starts: Vec<usize> = (0..=token.len()).collect();
        let mut joins: Vec<Rank> = (2..=token.len()).map(|end| rank(end - 2, end)).collect();
        while let Some((index, lowest)) =
            joins.iter().copied().enumerate().min_by_key(|&(index, rank)| (rank, index))
        {
            if lowest == Rank::MAX {
                return None;
            }
            if joins.len() == 1 {
                let parts = (rank(starts[0], starts[1]), rank(starts[1], starts[2]));
                return (parts.0 != Rank::MAX && parts.1 != Rank::MAX).then_some(parts);
            }
            starts.remove(index + 1);
            joins.remove(index);
            if index < joins.len() {
                joins[index] = rank(starts[index], starts[index + 2]);
            }
            if index > 0 {
                joins[index - 1] = rank(starts[index - 1], starts[index + 1]);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_in_a_text_are_those_of_their_bytes() {
        // Tokens of all lengths, shorter and longer than a key.
        let all = "abcdefghijklmnopqrstuvwxyz".repeat(2);
        let places = (1..40).flat_map(|len| (0..9).map(move |start| start..start + len));
        let tokens: Vec<&str> = places.map(|place| &all[place]).collect();
        let ranks = Ranks::new(Vocabulary::new(tokens.iter().map(|&token| Some(token))).unwrap()).unwrap();
        let (mut text, mut ends, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for token in tokens.iter().filter(|token| token.len() > 1) {
            let middles = (1..token.len()).filter(|&at| ranks.token_to_id(&token.as_bytes()[at..]).is_some());
            for middle in middles {
                let (left, right) = token.split_at(middle);
                text.extend(token.bytes());
                ends.push(((text.len() - right.len()) as u32, text.len() as u32));
                let [left, right, id] =
                    [left, right, token].map(|part| ranks.token_to_id(part.as_bytes()).unwrap());
                expected.push(Merge { left, right, id });
            }
        }
        assert!(expected.len() > 1_000, "{}", expected.len());
        assert_eq!(ranks.merges_in(text, &ends), Some(expected));
        for (text, ends) in [("a?", (1, 2)), ("ab", (2, 2)), ("ab", (1, 3)), ("ab", (2, 1))] {
            assert_eq!(ranks.merges_in(text.into(), &[ends]), None, "{text} {ends:?}");
        }
    }
}
