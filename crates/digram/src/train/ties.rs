//! The tie-breaking rules for pairs of equal count.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::vocabulary::TokenId;

use super::Ties;

/// A tie-breaking rule as a sort key: of the pairs of equal count, the one with the greatest key is merged.
pub(super) trait TieRule {
    type SortKey: Ord + Clone;

    /// Whether keys can decrease during training, as first occurrences move right.
    const MOVES: bool;

    /// The key of a pair that first occurs at position `first`.
    fn key(&mut self, left: TokenId, right: TokenId, first: u64, tokens: &[Vec<u8>]) -> Self::SortKey;
}

/// The smallest pair of ids.
pub(super) struct SmallestIds;

impl TieRule for SmallestIds {
    type SortKey = Reverse<(TokenId, TokenId)>;
    const MOVES: bool = false;

    // Reversed: the queue gives the greatest key first, and the smallest pair must win.
    fn key(&mut self, left: TokenId, right: TokenId, _: u64, _: &[Vec<u8>]) -> Self::SortKey {
        Reverse((left, right))
    }
}

/// The pair that occurs first.
pub(super) struct FirstSeen;

impl TieRule for FirstSeen {
    type SortKey = Reverse<u64>;
    const MOVES: bool = true;

    fn key(&mut self, _: TokenId, _: TokenId, first: u64, _: &[Vec<u8>]) -> Self::SortKey {
        Reverse(first)
    }
}

/// The greatest pair of byte strings, in an order of bytes.
pub(super) struct Lexicographic {
    /// The token of each id, with its bytes mapped to their rank in the order; shared by all keys.
    shared: Vec<Arc<[u8]>>,
    ranks: [u8; 256],
}

impl Lexicographic {
    /// The rule of [`Ties::Lexicographic`] or [`Ties::Printable`].
    pub(super) fn of(ties: Ties) -> Lexicographic {
        match ties {
            Ties::Printable => Lexicographic::as_printed(),
            _ => Lexicographic::by_value(),
        }
    }

    /// In the order of the bytes' values.
    fn by_value() -> Lexicographic {
        Lexicographic { shared: Vec::new(), ranks: std::array::from_fn(|byte| byte as u8) }
    }

    /// In the order of the characters that GPT-2 prints for bytes: printable Latin-1 bytes are themselves,
    /// and the others are mapped to characters after Latin-1.
    fn as_printed() -> Lexicographic {
        let is_printable = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let (printed, others): (Vec<u8>, Vec<u8>) = (0..=255).partition(is_printable);
        let mut ranks = [0; 256];
        for (rank, &byte) in printed.iter().chain(&others).enumerate() {
            ranks[byte as usize] = rank as u8;
        }
        Lexicographic { shared: Vec::new(), ranks }
    }
}

impl TieRule for Lexicographic {
    type SortKey = (Arc<[u8]>, Arc<[u8]>);
    const MOVES: bool = false;

    fn key(&mut self, left: TokenId, right: TokenId, _: u64, tokens: &[Vec<u8>]) -> Self::SortKey {
        let len = self.shared.len();
        let ranks = &self.ranks;
        let to_ranks = |token: &Vec<u8>| token.iter().map(|&byte| ranks[byte as usize]).collect();
        self.shared.extend(tokens[len..].iter().map(to_ranks));
        (self.shared[left as usize].clone(), self.shared[right as usize].clone())
    }
}
