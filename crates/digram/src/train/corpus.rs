//! The corpus while it is merged: distinct pretokens as symbols, end to end.

use hashbrown::HashMap;

use crate::count::Counts;
use crate::error::{Error, Result};
use crate::vocabulary::TokenId;
use crate::watch::Watch;

use super::Base;

/// Stands between pretokens, at the start and at the end: nothing merges with it.
pub(super) const BORDER: TokenId = TokenId::MAX;

/// Marks a place inside a token.
const INSIDE: TokenId = TokenId::MAX - 1;

const BETWEEN_CHECKS: usize = 1 << 20;

/// Symbols in one run of memory, a place for each base symbol.
///
/// Of a token's places the first and the last hold its id and those between a mark. So both
/// neighbours of a token are found by the lengths of tokens, without links, and a merge touches
/// four places.
pub(super) struct Corpus {
    places: Vec<TokenId>,
    /// How many base symbols a token is made of, by id.
    lengths: Vec<u32>,
    weights: Weights,
}

/// How often the pretoken around a place occurs.
enum Weights {
    /// Each once, as in a text without pretokens.
    One,
    /// By the number of the pretoken at each place.
    Counted { pretoken: Vec<u32>, count: Vec<u64> },
}

impl Corpus {
    pub(super) fn new(counts: &Counts, base: &Base, watch: &dyn Watch) -> Result<Corpus> {
        let symbols = Symbols::new(base);
        let counted = counts.iter().any(|(_, count)| count != 1);
        let mut places = vec![BORDER];
        let (mut pretoken, mut count) = (vec![0], Vec::new());
        for (number, (piece, times)) in counts.iter().enumerate() {
            symbols.append(piece, &mut places)?;
            places.push(BORDER);
            if counted {
                pretoken.resize(places.len(), number as u32);
                count.push(times);
            }
            // A place is a 32-bit number in the postings.
            if places.len() > u32::MAX as usize {
                return Err(Error::Limit {
                    reason: format!(
                        "the distinct pretokens have more than 2^32 symbols together (after {number} of {}). Use a pretokenizer that cuts the text, or less text.",
                        counts.len()
                    ),
                });
            }
            if number % BETWEEN_CHECKS == 0 {
                watch.check()?;
            }
        }
        let weights = if counted { Weights::Counted { pretoken, count } } else { Weights::One };
        Ok(Corpus { places, lengths: vec![1; base.tokens().len()], weights })
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The pair of tokens that starts at `at`, if there is one. Only to be asked of places where a
    /// token starts, and before anything was merged.
    pub(super) fn base_pair(&self, at: usize) -> Option<(TokenId, TokenId)> {
        let (left, right) = (self.places[at], *self.places.get(at + 1)?);
        (left != BORDER && right != BORDER).then_some((left, right))
    }

    /// How often the pretoken around `at` occurs.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> u64 {
        match &self.weights {
            Weights::One => 1,
            Weights::Counted { pretoken, count } => count[pretoken[at] as usize],
        }
    }

    /// Whether the pair of `left` and `right` stands at `at`. Tokens only grow, so a pair that
    /// went from a place does not come back.
    #[inline]
    pub(super) fn has_pair(&self, at: usize, left: TokenId, right: TokenId) -> bool {
        self.places[at] == left && self.places[at + self.lengths[left as usize] as usize] == right
    }

    /// The token before the place where a token starts ([`BORDER`] if none), and its own start.
    #[inline]
    pub(super) fn before(&self, at: usize) -> (TokenId, usize) {
        let id = self.places[at - 1];
        (id, if id == BORDER { at - 1 } else { at - self.lengths[id as usize] as usize })
    }

    /// The token after the one that starts at `at`; [`BORDER`] if none.
    #[inline]
    pub(super) fn after(&self, at: usize) -> TokenId {
        self.places[at + self.lengths[self.places[at] as usize] as usize]
    }

    /// Makes room for token `id`, made of `left` and `right`.
    pub(super) fn add_token(&mut self, left: TokenId, right: TokenId) -> TokenId {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
        (self.lengths.len() - 1) as TokenId
    }

    /// Writes token `id` over the pair of `left` and `right` that stands at `at`.
    #[inline]
    pub(super) fn merge(&mut self, at: usize, left: TokenId, right: TokenId, id: TokenId) {
        let middle = at + self.lengths[left as usize] as usize;
        let end = middle + self.lengths[right as usize] as usize;
        // The marks come first: where a part has one place, that place is an end of the token.
        self.places[middle - 1] = INSIDE;
        self.places[middle] = INSIDE;
        self.places[at] = id;
        self.places[end - 1] = id;
    }
}

/// From text to base symbols.
enum Symbols {
    Bytes(Box<[TokenId; 256]>),
    Chars(HashMap<char, TokenId>),
}

impl Symbols {
    fn new(base: &Base) -> Symbols {
        let number = |chars: &[char], from: usize| {
            Symbols::Chars(chars.iter().enumerate().map(|(i, &c)| (c, (from + i) as TokenId)).collect())
        };
        match base {
            Base::Bytes(order) => {
                let mut ids = Box::new([0; 256]);
                order.iter().enumerate().for_each(|(id, &byte)| ids[byte as usize] = id as TokenId);
                Symbols::Bytes(ids)
            }
            Base::Chars(chars) => number(chars, 0),
            Base::CharsAndBytes(chars) => number(chars, 256),
        }
    }

    fn append(&self, piece: &[u8], places: &mut Vec<TokenId>) -> Result<()> {
        match self {
            Symbols::Bytes(ids) => places.extend(piece.iter().map(|&byte| ids[byte as usize])),
            // A character outside the alphabet is in no merge, as the border of a pretoken.
            Symbols::Chars(ids) => {
                places.extend(utf8(piece)?.chars().map(|c| ids.get(&c).copied().unwrap_or(BORDER)));
            }
        }
        Ok(())
    }
}

/// All characters of the counted text, sorted: the usual base of a character vocabulary.
pub fn characters(counts: &Counts) -> Result<Vec<char>> {
    let mut seen = hashbrown::HashSet::<char>::default();
    for (piece, _) in counts.iter() {
        seen.extend(utf8(piece)?.chars());
    }
    let mut characters: Vec<char> = seen.into_iter().collect();
    characters.sort_unstable();
    Ok(characters)
}

fn utf8(piece: &[u8]) -> Result<&str> {
    std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })
}
