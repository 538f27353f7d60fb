//! Special tokens: finding their text, only if the caller requests it.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// What to do with text that spells a special token.
#[derive(Debug, Clone, Copy)]
pub enum OnSpecial<'a> {
    /// It is encoded as plain text.
    Text,
    /// It becomes the special token.
    Parse,
    /// It is an error.
    Fail,
    /// It becomes the special token if it is one of these, and is plain text otherwise.
    Allow(&'a SpecialTokens),
}

/// A set of special tokens with an automaton that finds them.
#[derive(Debug, Clone)]
pub struct SpecialTokens {
    tokens: Vec<(String, TokenId)>,
    /// The indices of the tokens in the order of their texts.
    by_text: Vec<usize>,
    /// In ascending order.
    ids: Vec<TokenId>,
    finder: Option<AhoCorasick>,
}

impl SpecialTokens {
    /// A set of special tokens; fails if one is empty, or if a text or an id occurs twice.
    pub fn new(tokens: Vec<(String, TokenId)>) -> Result<SpecialTokens> {
        let fail = |reason: String| Err(Error::Vocabulary { reason });
        let text = |index: usize| &tokens[index].0;
        let mut by_text: Vec<usize> = (0..tokens.len()).collect();
        let mut ids: Vec<TokenId> = tokens.iter().map(|(_, id)| *id).collect();
        by_text.sort_unstable_by_key(|&index| text(index));
        ids.sort_unstable();
        if by_text.first().is_some_and(|&index| text(index).is_empty()) {
            return fail("a special token is empty.".into());
        }
        if let Some(duplicates) = by_text.windows(2).find(|pair| text(pair[0]) == text(pair[1])) {
            return fail(format!("the special token {:?} is there twice.", text(duplicates[0])));
        }
        if let Some(duplicates) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return fail(format!("two special tokens have the id {}.", duplicates[0]));
        }
        let finder = (!tokens.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .build(tokens.iter().map(|(text, _)| text))
                    .map_err(|error| Error::Limit {
                        reason: format!("the special tokens are too many: {error}."),
                    })
            })
            .transpose()?;
        Ok(SpecialTokens { tokens, by_text, ids, finder })
    }

    /// The special tokens with their ids, in the order given.
    pub fn tokens(&self) -> &[(String, TokenId)] {
        &self.tokens
    }

    /// The ids of all special tokens, in ascending order.
    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// The id of the special token with a text.
    pub fn id(&self, text: &str) -> Option<TokenId> {
        let found = self.by_text.binary_search_by_key(&text, |&index| &self.tokens[index].0);
        found.ok().map(|at| self.tokens[self.by_text[at]].1)
    }

    /// Those of the special tokens that have one of these ids, which are in ascending order.
    pub fn with_ids(&self, ids: &[TokenId]) -> Result<SpecialTokens> {
        let has_id = |(_, id): &&(String, TokenId)| ids.binary_search(id).is_ok();
        SpecialTokens::new(self.tokens.iter().filter(has_id).cloned().collect())
    }

    /// Whether an id is that of a special token.
    #[inline]
    pub fn has(&self, id: TokenId) -> bool {
        // Their ids are usually above all others, so the first comparison decides most calls.
        self.ids.first().is_some_and(|&first| id >= first) && self.ids.binary_search(&id).is_ok()
    }

    /// The length of the longest text, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.tokens.iter().map(|(text, _)| text.len()).max().unwrap_or(0)
    }

    /// The first special token at or after `from`, the longest of those that start there: its start
    /// and end in bytes, and the token.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize, &(String, TokenId))> {
        let input = aho_corasick::Input::new(text).range(from..);
        let special_match = self.finder.as_ref()?.find(input)?;
        Some((special_match.start(), special_match.end(), &self.tokens[special_match.pattern().as_usize()]))
    }
}
