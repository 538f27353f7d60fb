//! Decoding tokens that begin words or stand inside them, as Hugging Face's decoders do: words are separated by spaces,
//! or tokens inside words have their prefix.

use crate::error::Result;
use crate::vocabulary::{TokenId, Vocabulary};

/// What each token becomes in decoded text: as the first one, and after others.
pub(super) struct WordForms {
    pub(super) first: Vocabulary,
    pub(super) later: Vocabulary,
}

/// Spaces that are left out in cleaned text, and one contraction, in the order in which they are replaced.
pub(super) const CLEANED: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

impl WordForms {
    /// The forms of all tokens, of which `is_added` says whether they are added tokens. These are words too.
    pub(super) fn new(
        vocabulary: &Vocabulary,
        is_added: impl Fn(TokenId) -> bool,
        prefix: &str,
        cleans_up: bool,
    ) -> Result<WordForms> {
        let cleaned = |form: Vec<u8>| if cleans_up { cleaned(form) } else { form };
        let forms = |form: &dyn Fn(TokenId, &[u8]) -> Vec<u8>| {
            let tokens = (0..vocabulary.size() as TokenId).map(|id| {
                let token = vocabulary.get(id)?;
                Some(cleaned(form(id, token)))
            });
            Vocabulary::new(tokens)
        };
        let first = forms(&|id, token| match token.strip_prefix(b" ") {
            _ if is_added(id) => token.to_vec(),
            Some(word) => word.to_vec(),
            None => [prefix.as_bytes(), token].concat(),
        })?;
        let later = forms(&|id, token| if is_added(id) { [b" ", token].concat() } else { token.to_vec() })?;
        Ok(WordForms { first, later })
    }

    /// The names of all tokens, as files write them, with the spaces at their ends.
    pub(super) fn named(
        vocabulary: &Vocabulary,
        is_added: impl Fn(TokenId) -> bool,
        prefix: &str,
    ) -> Result<WordForms> {
        let names = || {
            let tokens = (0..vocabulary.size() as TokenId).map(|id| {
                let token = vocabulary.get(id)?;
                Some(match token.strip_prefix(b" ") {
                    _ if is_added(id) => token.to_vec(),
                    Some(word) => word.to_vec(),
                    None => [prefix.as_bytes(), token].concat(),
                })
            });
            Vocabulary::new(tokens)
        };
        Ok(WordForms { first: names()?, later: names()? })
    }
}

/// A token without the spaces that are left out before some marks and endings.
fn cleaned(form: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(form) {
        Ok(text) => CLEANED.iter().fold(text, |text, (from, to)| text.replace(from, to)).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}
