//! Merges from ranks: the `.tiktoken` format lists tokens in the order of their
//! merges, without the parts of each merge.

mod lines;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::{Interrupt, Pacer};
use crate::merges::{MadeBy, Merge, Merges, Rank};
use crate::vocabulary::{TokenId, Vocabulary};

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

/// Prefetch distance, in tokens.
const PREFETCH_DISTANCE: usize = 8;

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

    /// The merges behind the ranks, and the tokens that no merge makes.
    ///
    /// Fails if a token's parts have higher ranks than the token, which no list of merges can express.
    pub fn merges(&self, interrupt: &dyn Interrupt) -> Result<(Merges, Vec<TokenId>)> {
        let mut finder = MergeFinder {
            ranks: self,
            merges: Merges::with_capacity(self.vocabulary.token_count()),
            made: MadeBy::new(self.vocabulary.size()),
            bytes: std::array::from_fn(|byte| self.index.get(&[byte as u8])),
            longest: 1,
        };
        let (text, ends) = self.vocabulary.ends();
        let (mut unreachable, mut start, mut pacer) =
            (Vec::new(), 0, Pacer::every(CHECK_INTERVAL, interrupt));
        for (id, &end) in (0..).zip(ends) {
            pacer.after(1)?;
            if let Some([from, to]) =
                ends.get(id as usize + PREFETCH_DISTANCE..id as usize + PREFETCH_DISTANCE + 2)
            {
                let (from, to) = (*from as usize, *to as usize);
                for middle in from + 1..to.min(from + 4) {
                    self.index.prefetch(text, middle, to);
                }
            }
            let from = std::mem::replace(&mut start, end as usize);
            if start < from + 2 {
                continue;
            }
            match finder.parts_from_merges(text, from, start, id).or_else(|| self.parts(&text[from..start])) {
                Some((left, right)) if left.max(right) < id => {
                    finder.add(Merge { left, right, id }, start - from)
                }
                Some((left, right)) => {
                    return Err(Error::Vocabulary {
                        reason: format!(
                            "token {id} is made of {left} and {right}, one of which has a higher rank."
                        ),
                    });
                }
                None => unreachable.push(id),
            }
        }
        Ok((finder.merges, unreachable))
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

/// Finds the merges of tokens in rank order.
struct MergeFinder<'r> {
    ranks: &'r Ranks,
    merges: Merges,
    made: MadeBy,
    /// The tokens of single bytes.
    bytes: [Option<TokenId>; 256],
    /// The length of the longest token so far.
    longest: usize,
}

impl MergeFinder<'_> {
    fn add(&mut self, merge: Merge, len: usize) {
        self.longest = self.longest.max(len);
        self.made.by(merge.id, self.merges.in_order().len() as Rank);
        self.merges.push(merge);
    }

    /// The two parts of token `id`, which is `text[start..end]`, if the merges so far leave exactly two.
    ///
    /// These are two earlier tokens that stay apart under the merges so far; the encoding of
    /// the bytes is unique. In published vocabularies, 1.4 positions are tried per token, with 10 look-ups in
    /// both indexes; merging its bytes takes 15 or more.
    fn parts_from_merges(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        id: TokenId,
    ) -> Option<(TokenId, TokenId)> {
        if !text[start..end].iter().all(|&byte| self.bytes[byte as usize].is_some()) {
            return None;
        }
        let earlier_token = |from: usize, to: usize| {
            if to - from == 1 {
                return self.bytes[text[from] as usize].filter(|&part| part < id);
            }
            let part = self.ranks.index.get_in(text, from, to)?;
            (part < id && self.made.is_made(part)).then_some(part)
        };
        // The longest right part first: it is correct for two of three tokens.
        let first = (start + 1).max(end.saturating_sub(self.longest));
        let last = (end - 1).min(start + self.longest);
        let below = self.merges.in_order().len() as Rank;
        (first..=last).find_map(|middle| {
            let right = earlier_token(middle, end)?;
            let left = earlier_token(start, middle)?;
            self.made.stay_apart(&self.merges, left, right, below).then_some((left, right))
        })
    }
}
