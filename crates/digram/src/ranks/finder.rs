//! Finding the merges of tokens in rank order.
//!
//! Most of the time is spent waiting for memory, so tokens are read in batches: what does not depend on the merges of
//! the batch itself is found for all of its tokens together.

use crate::error::{Error, Result};
use crate::merges::{MadeBy, Merge, Merges, PAIRS, Rank};
use crate::vocabulary::TokenId;

use super::Ranks;

/// See the [module](self).
pub(super) struct MergeFinder<'r> {
    ranks: &'r Ranks,
    pub(super) merges: Merges,
    /// The tokens that no merge makes.
    pub(super) unreachable: Vec<TokenId>,
    made: MadeBy,
    /// The tokens of single bytes.
    bytes: [Option<TokenId>; 256],
    /// The length of the longest token so far.
    longest: usize,
}

/// A token of more than one byte: its id, and where it is in the bytes of all.
#[derive(Clone, Copy, Default)]
struct Token {
    id: TokenId,
    start: usize,
    end: usize,
}

/// A place that divides a token into two tokens of lower ranks.
#[derive(Clone, Copy)]
struct Division {
    middle: usize,
    left: TokenId,
    right: TokenId,
}

/// The number of places whose right parts are prefetched.
const PREFETCHED: usize = 3;

impl<'r> MergeFinder<'r> {
    pub(super) fn new(ranks: &'r Ranks) -> MergeFinder<'r> {
        MergeFinder {
            ranks,
            merges: Merges::with_capacity(ranks.vocabulary.token_count()),
            unreachable: Vec::new(),
            made: MadeBy::new(ranks.vocabulary.size()),
            bytes: std::array::from_fn(|byte| ranks.index.get(&[byte as u8])),
            longest: 1,
        }
    }

    /// Adds the merges of the tokens with the [`PAIRS`] ids from `first` on; those with lower ids were added before.
    pub(super) fn find(&mut self, first: usize) -> Result<()> {
        let (tokens, count) = self.tokens(first);
        let tokens = &tokens[..count];
        self.prefetch_rights(first + PAIRS);
        let mut divisions = self.first_divisions(tokens);
        let are_found = self.find_known(first, tokens, &mut divisions);
        for (number, token) in tokens.iter().enumerate() {
            match self.parts(*token, divisions[number], are_found >> number & 1 == 1) {
                Some((left, right)) if left.max(right) < token.id => {
                    self.add(Merge { left, right, id: token.id })
                }
                Some((left, right)) => {
                    return Err(Error::Vocabulary {
                        reason: format!(
                            "token {} is made of {left} and {right}, one of which has a higher rank.",
                            token.id
                        ),
                    });
                }
                None => self.unreachable.push(token.id),
            }
        }
        Ok(())
    }

    fn add(&mut self, merge: Merge) {
        self.made.by(merge.id, self.merges.in_order().len() as Rank);
        self.merges.push(merge);
    }

    /// Prefetches the lines of the index that [`first_divisions`](MergeFinder::first_divisions) reads first for the batch
    /// from `first` on.
    fn prefetch_rights(&self, first: usize) {
        let (text, _) = self.ranks.vocabulary.ends();
        let (tokens, count) = self.tokens(first);
        for &Token { start, end, .. } in &tokens[..count] {
            let middles = start + 1..end.min(start + 1 + PREFETCHED);
            middles.for_each(|middle| self.ranks.index.prefetch(text, middle, end));
        }
    }

    /// The first division of each token of a batch.
    fn first_divisions(&mut self, tokens: &[Token]) -> [Option<Division>; PAIRS] {
        let (text, _) = self.ranks.vocabulary.ends();
        let (mut rights, mut divisions) = ([None; PAIRS], [None; PAIRS]);
        for (right, token) in rights.iter_mut().zip(tokens) {
            *right = self.first_right(*token);
            if let Some((middle, _)) = *right {
                self.ranks.index.prefetch(text, token.start, middle);
            }
            self.longest = self.longest.max(token.end - token.start);
        }
        for (number, token) in tokens.iter().enumerate() {
            divisions[number] = rights[number].and_then(|right| self.division_from(*token, right));
            if let Some(Division { left, right, .. }) = divisions[number] {
                self.made.prefetch(left);
                self.made.prefetch(right);
            }
        }
        divisions
    }

    /// The tokens of a batch with more than one byte, and their number.
    fn tokens(&self, first: usize) -> ([Token; PAIRS], usize) {
        let (mut tokens, mut count) = ([Token::default(); PAIRS], 0);
        let (_, ends) = self.ranks.vocabulary.ends();
        let mut start =
            first.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |&end| end as usize);
        for (id, &end) in ends.iter().enumerate().skip(first).take(PAIRS) {
            tokens[count] = Token { id: id as TokenId, start, end: end as usize };
            count += usize::from(end as usize >= start + 2);
            start = end as usize;
        }
        (tokens, count)
    }

    /// Moves the divisions of tokens on to the first one whose parts stay apart, or whose parts are in the batch.
    /// Returns which of them are of the first kind, a bit for each.
    fn find_known(&self, first: usize, tokens: &[Token], divisions: &mut [Option<Division>; PAIRS]) -> u64 {
        let (mut numbers, mut count): ([usize; PAIRS], _) =
            (std::array::from_fn(|number| number), tokens.len());
        let mut are_found = 0;
        while count > 0 {
            let (mut pairs, mut examined) = ([(0, 0); PAIRS], 0);
            for place in 0..count {
                let number = numbers[place];
                let is_known = |left: TokenId, right: TokenId| (left.max(right) as usize) < first;
                while let Some(Division { middle, left, right }) = divisions[number]
                    && is_known(left, right)
                {
                    if self.are_made(left, right) {
                        (pairs[examined], numbers[examined]) = ((left, right), number);
                        examined += 1;
                        // Most pairs do stay apart, and then become a merge.
                        self.merges.prefetch_pair(left, right);
                        break;
                    }
                    divisions[number] = self.division(tokens[number], middle + 1);
                }
            }
            let are_apart = self.made.which_stay_apart(&self.merges, &pairs[..examined]);
            count = 0;
            for place in 0..examined {
                let number = numbers[place];
                if are_apart >> place & 1 == 1 {
                    are_found |= 1 << number;
                } else {
                    let next =
                        divisions[number].and_then(|last| self.division(tokens[number], last.middle + 1));
                    divisions[number] = next;
                    numbers[count] = number;
                    count += 1;
                }
            }
        }
        are_found
    }

    /// The two tokens that a token is joined from, or `None` if merging its bytes ends with other tokens. The search
    /// starts at `division`, whose parts are these tokens if `is_found`.
    ///
    /// If the merges before it leave exactly two tokens, these are two that stay apart under those merges, because the
    /// encoding of the bytes is unique. In published vocabularies, 1.4 divisions are tried for a token.
    fn parts(
        &self,
        token: Token,
        mut division: Option<Division>,
        is_found: bool,
    ) -> Option<(TokenId, TokenId)> {
        while let Some(Division { middle, left, right }) = division {
            if is_found || self.are_made(left, right) && self.made.stays_apart(&self.merges, left, right) {
                return Some((left, right));
            }
            division = self.division(token, middle + 1);
        }
        let (text, _) = self.ranks.vocabulary.ends();
        self.ranks.parts(&text[token.start..token.end])
    }

    /// Whether merges make both tokens, or they are bytes.
    #[inline]
    fn are_made(&self, left: TokenId, right: TokenId) -> bool {
        [left, right].into_iter().all(|id| self.made.is_made(id) || self.ranks.vocabulary.len_of(id) == 1)
    }

    /// Where the longest right part of a token begins that is a token of a lower rank, and that token: it is the
    /// correct one for two of three tokens. `None` also if one of its bytes is no token.
    #[inline]
    fn first_right(&self, token: Token) -> Option<(usize, TokenId)> {
        let (text, _) = self.ranks.vocabulary.ends();
        let are_tokens =
            || text[token.start..token.end].iter().all(|&byte| self.bytes[byte as usize].is_some());
        are_tokens().then(|| self.right(token, token.start + 1)).flatten()
    }

    /// The same for the right parts that begin at `from` or behind it.
    #[inline]
    fn right(&self, token: Token, from: usize) -> Option<(usize, TokenId)> {
        let first = from.max(token.end.saturating_sub(self.longest));
        let last = (token.end - 1).min(token.start + self.longest);
        (first..=last).find_map(|middle| Some((middle, self.earlier(token.id, middle, token.end)?)))
    }

    /// The first division of a token at `from` or behind it.
    #[inline]
    fn division(&self, token: Token, from: usize) -> Option<Division> {
        self.right(token, from).and_then(|right| self.division_from(token, right))
    }

    /// The same from a right part on.
    #[inline]
    fn division_from(&self, token: Token, (mut middle, mut right): (usize, TokenId)) -> Option<Division> {
        loop {
            match self.earlier(token.id, token.start, middle) {
                Some(left) => return Some(Division { middle, left, right }),
                None => (middle, right) = self.right(token, middle + 1)?,
            }
        }
    }

    /// The token of a lower rank than `id` that is a part of the bytes of all.
    #[inline]
    fn earlier(&self, id: TokenId, from: usize, to: usize) -> Option<TokenId> {
        let (text, _) = self.ranks.vocabulary.ends();
        let part = match to - from {
            1 => self.bytes[text[from] as usize],
            _ => self.ranks.index.get_in(text, from, to),
        };
        part.filter(|&part| part < id)
    }
}
