//! Encoding single pretokens, for training that continues from a tokenizer.

use hashbrown::HashSet;

use crate::encode::{Group, OnUnknown, Pooled, Unit};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::vocabulary::TokenId;

use super::Tokenizer;

/// Encodes pretokens one by one.
pub(crate) struct Pretokens<'a> {
    tokenizer: &'a Tokenizer,
    scratch: Pooled<'a>,
    /// The ids used for text without a token.
    unknown: HashSet<TokenId>,
}

impl Tokenizer {
    pub(crate) fn pretokens(&self) -> Pretokens<'_> {
        let unknown = match self.unit() {
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } => ids.iter().copied().collect(),
            Unit::Char { on_unknown: OnUnknown::Token(id) } => [*id].into(),
            Unit::Byte { .. } | Unit::Char { on_unknown: OnUnknown::Fail } => HashSet::new(),
        };
        Pretokens { tokenizer: self, scratch: self.scratch_pool.take(), unknown }
    }
}

impl Pretokens<'_> {
    /// Appends the ids of a pretoken, with `border` for text without a token.
    pub(crate) fn append(
        &mut self,
        pretoken: &[u8],
        border: TokenId,
        ids: &mut Vec<TokenId>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let start = ids.len();
        let encoder = &self.tokenizer.encoder;
        let end = [pretoken.len()];
        encoder.encode(Group::new(pretoken, 0, &end), &mut self.scratch, interrupt, ids)?;
        if !self.unknown.is_empty() {
            ids[start..].iter_mut().filter(|id| self.unknown.contains(*id)).for_each(|id| *id = border);
        }
        Ok(())
    }
}
