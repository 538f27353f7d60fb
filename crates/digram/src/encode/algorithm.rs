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
        /// Whether a pretoken that is a token becomes that token even if the merges give other ids.
        ignore_merges: bool,
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
    pub const RANKED: Algorithm = Algorithm::Ranked { ignore_merges: false };
}
