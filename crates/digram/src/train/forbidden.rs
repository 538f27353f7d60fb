//! Forbidden merges and tokens.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::pretokenize::WholeMatch;

/// Pairs of tokens that must not be merged, and tokens that must not be made.
#[derive(Default)]
pub struct Forbidden {
    /// The right tokens of pairs, by their left token.
    pairs: HashMap<Vec<u8>, HashSet<Vec<u8>>>,
    tokens: HashSet<Vec<u8>>,
    patterns: Vec<WholeMatch>,
}

impl std::fmt::Debug for Forbidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Forbidden { pairs, tokens, patterns } = self;
        write!(f, "Forbidden({} pairs, {} tokens, {} patterns)", pairs.len(), tokens.len(), patterns.len())
    }
}

impl Forbidden {
    /// Pairs of tokens, the bytes of tokens, and regexes that match whole tokens.
    pub fn new(
        pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
        tokens: impl IntoIterator<Item = Vec<u8>>,
        patterns: &[String],
        interrupt: &dyn Interrupt,
    ) -> Result<Forbidden> {
        let mut forbidden = Forbidden { tokens: tokens.into_iter().collect(), ..Forbidden::default() };
        for (left, right) in pairs {
            forbidden.pairs.entry(left).or_default().insert(right);
        }
        forbidden.patterns = WholeMatch::all(patterns, interrupt)?;
        Ok(forbidden)
    }

    /// Whether there are no constraints.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.tokens.is_empty() && self.patterns.is_empty()
    }

    /// Whether these two tokens may not be merged.
    pub fn holds(&self, left: &[u8], right: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        self.pairs.get(left).is_some_and(|rights| rights.contains(right))
            || self.forbids_token(&[left, right].concat())
    }

    /// Whether this token must not be made.
    fn forbids_token(&self, token: &[u8]) -> bool {
        self.tokens.contains(token) || self.patterns.iter().any(|pattern| pattern.is_match(token))
    }
}
