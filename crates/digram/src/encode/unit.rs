//! What tokens are made of, and what becomes of text that is made of something else.

use crate::vocabulary::TokenId;

/// What text is made of before anything is merged.
#[derive(Debug, Clone)]
pub enum Unit {
    /// Bytes: each has a token.
    Byte {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// Characters: each token of one character is a base token.
    Char {
        /// What becomes of characters that have none.
        on_unknown: OnUnknown,
    },
}

/// What becomes of a character that no token holds.
#[derive(Debug, Clone)]
pub enum OnUnknown {
    /// An error that names the character and its place.
    Fail,
    /// One token for each of its bytes.
    Bytes {
        /// The token of each byte.
        ids: Box<[TokenId; 256]>,
    },
    /// This token.
    Token(TokenId),
}
