//! Words with a space before each, as Hugging Face's `WhitespaceSplit` and `Metaspace` make them.

use super::traced::{Rewriter, Traced};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::decode;

/// White space is removed, and each word gets a space before it, unless it begins with the symbol of a space. The
/// symbol becomes a space.
pub(super) struct SpacedWords {
    symbol: char,
}

impl SpacedWords {
    pub(super) fn new(symbol: char) -> SpacedWords {
        SpacedWords { symbol }
    }

    /// A text that has all spaces is changed too: they come from the words then.
    pub(super) fn changes(&self, text: &[u8]) -> bool {
        !text.is_empty()
    }

    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let (mut rewriter, mut pacer) = (Rewriter::new(text)?, Pacer::new(interrupt));
        let (mut at, mut begins) = (0, true);
        while at < text.bytes.len() {
            let (c, len) = decode(&text.bytes[at..]);
            if c.is_some_and(char::is_whitespace) {
                rewriter.keep_until(at)?;
                rewriter.skip_until(at + len);
                begins = true;
            } else if c == Some(self.symbol) {
                rewriter.keep_until(at)?;
                rewriter.replace(' ')?;
                begins = false;
            } else if begins {
                rewriter.keep_until(at)?;
                rewriter.insert_before(' ')?;
                begins = false;
            }
            at += len;
            pacer.after(len)?;
        }
        rewriter.finish()
    }
}
