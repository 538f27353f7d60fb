//! Merges from ranks: the `.tiktoken` form of a vocabulary lists tokens in the order of their
//! merges, but not what they were merged from.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::merges::{Merge, Rank};
use crate::vocabulary::TokenId;

/// The merges behind a list of tokens in rank order (`None` is a hole), and the tokens that no
/// merge makes.
///
/// In such a vocabulary any two neighbours join whose bytes together are a token, the lowest rank
/// first. The bytes of a token inside a text are merged as they are alone, whatever stands around
/// them, so a token has at most one pair that it comes from: the last two parts of its own bytes.
/// Fails where those parts come later than the token, since no list of merges can say that.
///
/// ```
/// use digram::{merges::Merge, ranks::merges_from_ranks};
/// let tokens = [Some("a"), Some("b"), Some("c"), Some("ab"), Some("abc"), Some("cc c")];
/// let (merges, unreachable) = merges_from_ranks(&tokens)?;
/// assert_eq!(merges[1], Merge { left: 3, right: 2, id: 4 });
/// assert_eq!(unreachable, [5]);
/// # Ok::<(), digram::Error>(())
/// ```
pub fn merges_from_ranks<T: AsRef<[u8]>>(tokens: &[Option<T>]) -> Result<(Vec<Merge>, Vec<TokenId>)> {
    let ranks: HashMap<&[u8], TokenId> = tokens
        .iter()
        .enumerate()
        .filter_map(|(id, token)| Some((token.as_ref()?.as_ref(), id as TokenId)))
        .collect();
    let (mut merges, mut unreachable) = (Vec::new(), Vec::new());
    let mut parts = Parts::default();
    for (id, token) in tokens.iter().enumerate() {
        let Some(token) = token.as_ref().map(|token| token.as_ref()) else { continue };
        if token.len() < 2 {
            continue;
        }
        match parts.of(token, id as TokenId, &ranks) {
            Some((left, right)) if left.max(right) < id as TokenId => {
                merges.push(Merge { left, right, id: id as TokenId });
            }
            Some((left, right)) => {
                return Err(Error::Vocabulary {
                    reason: format!(
                        "token {id} is made of {left} and {right}, one of which has a higher rank."
                    ),
                });
            }
            None => unreachable.push(id as TokenId),
        }
    }
    Ok((merges, unreachable))
}

/// Memory used again from token to token.
#[derive(Default)]
struct Parts {
    /// Where each part starts, and the end of the last.
    starts: Vec<usize>,
    /// The rank at which part i joins with part i + 1.
    joins: Vec<Rank>,
}

impl Parts {
    /// The two tokens that `token` is joined from when its bytes are merged lowest rank first, or
    /// `None` if they end as other tokens.
    fn of(
        &mut self,
        token: &[u8],
        id: TokenId,
        ranks: &HashMap<&[u8], TokenId>,
    ) -> Option<(TokenId, TokenId)> {
        let rank = |start: usize, end: usize| ranks.get(&token[start..end]).copied().unwrap_or(Rank::MAX);
        let Parts { starts, joins } = self;
        starts.clear();
        starts.extend(0..=token.len());
        joins.clear();
        joins.extend((2..=token.len()).map(|end| rank(end - 2, end)));
        while let Some((at, lowest)) = joins.iter().copied().enumerate().min_by_key(|&(at, rank)| (rank, at))
        {
            if lowest == Rank::MAX {
                return None;
            }
            if joins.len() == 1 {
                debug_assert_eq!(lowest, id);
                let parts = (rank(starts[0], starts[1]), rank(starts[1], starts[2]));
                return (parts.0 != Rank::MAX && parts.1 != Rank::MAX).then_some(parts);
            }
            starts.remove(at + 1);
            joins.remove(at);
            if at < joins.len() {
                joins[at] = rank(starts[at], starts[at + 2]);
            }
            if at > 0 {
                joins[at - 1] = rank(starts[at - 1], starts[at + 1]);
            }
        }
        None
    }
}
