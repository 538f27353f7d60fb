//! The algorithm by which pretokens become ids, which depends on the kind of model.

use std::sync::Arc;

use crate::events::Event;
use crate::merges::Rank;
use crate::pretokenize::Pretokenizer;
use crate::vocabulary::TokenId;

/// The algorithm by which pretokens become ids.
#[derive(Debug, Clone)]
pub enum Algorithm {
    /// BPE: the merge of the lowest rank is always applied first.
    Ranked {
        /// Whether a pretoken that is a token becomes that token even if the merges give other ids. With affixes it
        /// is a word that is the name of a token in files.
        ignore_merges: bool,
        /// Whether consecutive unknown characters of a pretoken are one unknown token.
        fuses_unknown: bool,
        /// How tokens at the ends of words differ from others, if they do.
        affixes: Affixes,
    },
    /// BPE whose pretokens are split into words. Each word is merged separately first; then words that became a
    /// single token join their neighbours (Schmidt et al., "Boundless Byte Pair Encoding", COLM 2025).
    Superwords {
        /// Splits a pretoken into words.
        words: Arc<Pretokenizer>,
        /// The ranks of the merges that join words, in rising order.
        ranks: Vec<Rank>,
    },
    /// Tokens are merged and split again by these events, in this order; there are no other merges. Tokens
    /// are numbered: first the bytes by value, or the characters of the vocabulary by code point, then each
    /// token in the order in which it is first made.
    Events(Arc<[Event]>),
    /// Unigram: the segmentation into tokens with the highest sum of scores (Kudo, "Subword Regularization", ACL
    /// 2018). The units are characters; consecutive unknown ones are one unknown token.
    Unigram(Arc<Scores>),
    /// BPE by scores, as in SentencePiece: of the tokens that two neighbours make, that of the highest score comes
    /// first, and of equal scores the leftmost. The units are characters; consecutive unknown ones are one unknown
    /// token.
    Scored {
        /// The scores.
        scores: Arc<Scores>,
        /// The tokens that are made like others, and split again at the end.
        unused: Vec<TokenId>,
    },
    /// The longest token at the start of a pretoken, then the longest one after it, and so on.
    WordPiece(WordPieceRules),
    /// A pretoken that is a token is that token, any other one the unknown token.
    WordLevel {
        /// Whether a pretoken is split into words before each space, as in SentencePiece; consecutive unknown words are
        /// then one unknown token.
        splits: bool,
    },
    /// The longest token of bytes at each place, from the left. The units are bytes.
    Greedy,
    /// The fewest tokens, whatever the merges are; of equal numbers, those with the longest first token, and so on.
    Fewest,
}

/// The scores of tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// By id; `None` for a token that no text becomes.
    pub pieces: Vec<Option<f64>>,
    /// The score of a character that is no token. BPE has none.
    pub unknown: f64,
    /// The addition of scores.
    pub addition: Addition,
    /// Names of special tokens and of fallback bytes that text becomes too. With them, all bytes of a run of unknown
    /// characters cover the whole run.
    pub spelled: Vec<Spelled>,
}

/// The name of a token, in which text becomes it although it is special, or stands for a byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Spelled {
    /// The name.
    pub text: Vec<u8>,
    /// The id of the token.
    pub id: TokenId,
    /// The score of the name.
    pub score: f64,
}

/// The precision of the sums of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addition {
    /// 64 bits, as in Hugging Face's tokenizers.
    Double,
    /// 32 bits, as in SentencePiece. A sum beyond 100,000 is set to zero where it occurs, and those after it are
    /// counted from there.
    Single,
}

/// What tells tokens at the start and at the end of a word from others.
///
/// A word is a pretoken. If its units are characters, the space at its start or at its end is not a character of its
/// own but belongs to the one beside it: such tokens begin or end a word. If the units are bytes, merges join the
/// spaces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Affixes {
    /// If words begin with a space: the prefix with which files write tokens without it.
    pub prefix: Option<String>,
    /// If words end with a space: the suffix with which files write tokens that have it.
    pub suffix: Option<String>,
}

impl Affixes {
    /// No difference.
    pub const NONE: Affixes = Affixes { prefix: None, suffix: None };

    /// Whether words end with a space.
    pub fn ends(&self) -> bool {
        self.suffix.is_some()
    }

    /// The pretoken whose word is the name of a token in files.
    pub(crate) fn named(&self, token: &[u8]) -> Vec<u8> {
        let (prefix, suffix) = (self.prefix.as_deref(), self.suffix.as_deref());
        let begun = token.strip_prefix(b" ").filter(|rest| prefix.is_some() && !rest.is_empty());
        let body = begun.unwrap_or(token);
        let ended = body.strip_suffix(b" ").filter(|rest| suffix.is_some() && !rest.is_empty());
        let (space_before, space_behind) = (prefix.map_or("", |_| " "), suffix.map_or("", |_| " "));
        let before = prefix.filter(|_| begun.is_none()).unwrap_or_default();
        let behind = suffix.filter(|_| ended.is_some()).unwrap_or_default();
        [
            space_before.as_bytes(),
            before.as_bytes(),
            ended.unwrap_or(body),
            behind.as_bytes(),
            space_behind.as_bytes(),
        ]
        .concat()
    }

    /// The maximum number of spaces that belong to a character.
    pub(crate) fn spaces(&self) -> usize {
        usize::from(self.prefix.is_some()) + usize::from(self.ends())
    }
}

/// The rules of WordPiece. A pretoken begins with a space, which is part of the first token.
///
/// Where no token matches, the whole pretoken is the unknown token, which the vocabulary must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPieceRules {
    /// A pretoken of more characters, the first space not counted, is the unknown token.
    pub max_word_chars: usize,
    /// The prefix that marks tokens without a space in files. A pretoken that begins with it, after the space, may
    /// begin with such a token.
    pub prefix: String,
}

impl Algorithm {
    /// BPE by rank alone.
    pub const RANKED: Algorithm = Algorithm::by_rank(false);

    /// BPE by rank alone, with an unknown token for each unknown character, without affixes.
    pub const fn by_rank(ignore_merges: bool) -> Algorithm {
        Algorithm::Ranked { ignore_merges, fuses_unknown: false, affixes: Affixes::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_names_of_tokens() {
        let named = |prefix: Option<&str>, suffix: Option<&str>, token: &str| {
            let affixes = Affixes { prefix: prefix.map(Into::into), suffix: suffix.map(Into::into) };
            String::from_utf8(affixes.named(token.as_bytes())).unwrap()
        };
        for (token, word) in [("low", "low "), ("low ", "low</w> "), (" ", "  "), ("é ", "é</w> ")] {
            assert_eq!(named(None, Some("</w>"), token), word);
        }
        for (token, word) in [(" low", " low"), ("low", " ##low"), (" ", " ## ")] {
            assert_eq!(named(Some("##"), None, token), word);
        }
        for (token, word) in [(" a ", " a</w> "), ("a", " ##a "), (" a", " a "), ("a ", " ##a</w> ")] {
            assert_eq!(named(Some("##"), Some("</w>"), token), word);
        }
    }
}
