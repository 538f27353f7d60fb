//! Where the tokens of ids stand in the decoded text.

use super::Tokenizer;
use super::spans::{OffsetConverter, OffsetUnit};
use crate::error::Result;
use crate::interrupt::{CHECK_INTERVAL, Interrupt};
use crate::memory;
use crate::vocabulary::TokenId;

impl Tokenizer {
    /// The start and end of each id in the decoded text, in `unit`; without `special`, special tokens are left out of
    /// it, and have an empty span.
    ///
    /// The ids need not be those of any text. A token covers every character of which it has a byte. Takes linear
    /// time.
    pub fn decoded_spans(
        &self,
        ids: &[TokenId],
        unit: OffsetUnit,
        special: bool,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<[usize; 2]>> {
        self.check_single_tokens("tokens have no offsets in decoded text")?;
        let left_out = |id| !special && self.added.may_leave_out(id);
        let ordinary = if special { None } else { Some(self.without_special(ids, interrupt)?) };
        let mut bytes = Vec::new();
        self.decode(ordinary.as_deref().unwrap_or(ids), interrupt, &mut bytes)?;
        let mut offsets = OffsetConverter::new(&bytes, unit);
        let mut spans = Vec::new();
        memory::try_reserve(&mut spans, ids.len())?;
        let (mut position, mut is_begun) = (0, false);
        for (index, &id) in ids.iter().enumerate() {
            if index % CHECK_INTERVAL == CHECK_INTERVAL - 1 {
                interrupt.check()?;
            }
            if left_out(id) {
                spans.push(offsets.convert(position..position));
                continue;
            }
            let len = self.decoded_len(id, !is_begun);
            is_begun |= self.is_begun_by(&[id]);
            spans.push(offsets.convert(position..position + len));
            position += len;
        }
        debug_assert_eq!(position, bytes.len());
        Ok(spans)
    }

    /// The number of bytes that a token adds to decoded text, as the first one or after others. The id has a token.
    fn decoded_len(&self, id: TokenId, is_first: bool) -> usize {
        if let Some(decoding) = &self.decoding {
            return decoding.form(id, is_first).len();
        }
        match &self.word_forms {
            Some(forms) if is_first => forms.first.len_of(id),
            Some(forms) => forms.later.len_of(id),
            None => {
                let is_stripped = self.strips_first_space
                    && is_first
                    && self.token(id).is_some_and(|token| token.first() == Some(&b' '));
                self.vocabulary.len_of(id) - usize::from(is_stripped)
            }
        }
    }
}
