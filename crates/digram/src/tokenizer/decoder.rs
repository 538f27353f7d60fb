//! Decoding a stream of ids.

use std::borrow::Cow;

use super::{OnInvalid, Tokenizer};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::vocabulary::TokenId;

/// The maximum length of an incomplete character.
const MAX_PENDING: usize = 3;

/// A decoder for a stream of ids. It stores an incomplete character and the offset before it. The texts it
/// returns join to the text that [`Tokenizer::decode`] gives for all ids.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    on_invalid: OnInvalid,
    /// The bytes of an incomplete character.
    pending: [u8; MAX_PENDING],
    pending_len: usize,
    /// The number of bytes of text returned so far.
    bytes: usize,
    /// Whether a space, behind the incomplete character, is left out if no other token follows.
    holds_space: bool,
    /// Whether there were ids that decide whether a space at the start of the next bytes is left out.
    is_begun: bool,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(on_invalid: OnInvalid) -> Decoder {
        Decoder {
            on_invalid,
            pending: [0; MAX_PENDING],
            pending_len: 0,
            bytes: 0,
            holds_space: false,
            is_begun: false,
        }
    }

    /// Adds ids, and returns the text that is certain.
    ///
    /// Errors name an id by its index in `ids`, and invalid bytes by their offset in the whole stream. A
    /// failed call leaves the decoder unchanged.
    pub fn push(
        &mut self,
        tokenizer: &Tokenizer,
        ids: &[TokenId],
        interrupt: &dyn Interrupt,
    ) -> Result<String> {
        if ids.is_empty() {
            return Ok(String::new());
        }
        tokenizer.check_single_tokens("a stream of ids cannot be decoded")?;
        let mut bytes = self.pending[..self.pending_len].to_vec();
        bytes.extend(self.holds_space.then_some(b' '));
        tokenizer.append_bytes(ids, 0..ids.len(), !self.is_begun, interrupt, &mut bytes)?;
        let holds_space = tokenizer.ends_word(ids);
        if holds_space {
            bytes.pop();
        }
        let is_begun = self.is_begun || tokenizer.is_begun_by(ids);
        let pending = incomplete_len(&bytes);
        let text = self.text(&bytes[..bytes.len() - pending])?.into_owned();
        (self.is_begun, self.holds_space) = (is_begun, holds_space);
        self.bytes += bytes.len() - pending;
        self.pending[..pending].copy_from_slice(&bytes[bytes.len() - pending..]);
        self.pending_len = pending;
        Ok(text)
    }

    /// Ends the stream, and returns the text of the pending bytes. The decoder can then start a new
    /// stream.
    pub fn finish(&mut self) -> Result<String> {
        let text = self.text(&self.pending[..self.pending_len])?.into_owned();
        *self = Decoder::new(self.on_invalid);
        Ok(text)
    }

    /// The bytes of an incomplete character.
    pub fn pending(&self) -> &[u8] {
        &self.pending[..self.pending_len]
    }

    fn text<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, str>> {
        match (std::str::from_utf8(bytes), self.on_invalid) {
            (Ok(text), _) => Ok(Cow::Borrowed(text)),
            (Err(_), OnInvalid::Replace) => Ok(String::from_utf8_lossy(bytes)),
            (Err(error), OnInvalid::Fail) => {
                Err(Error::DecodedInvalidUtf8 { offset: self.bytes + error.valid_up_to() })
            }
        }
    }
}

/// The number of bytes at the end of `bytes` that may still become a character.
fn incomplete_len(bytes: &[u8]) -> usize {
    // An incomplete character extends to the end, and its first byte is not a continuation byte.
    (1..=MAX_PENDING.min(bytes.len()))
        .find(|&len| bytes[bytes.len() - len] >= 0xc0)
        .filter(|&len| {
            let suffix = std::str::from_utf8(&bytes[bytes.len() - len..]);
            suffix.is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_characters_at_the_end_are_counted() {
        let cases: [(&[u8], usize); 12] = [
            (b"", 0),
            (b"a", 0),
            (b"\xc3", 1),
            (b"\xc3\xa9", 0),
            (b"a\xe2\x82", 2),
            (b"\xe2\x82\xac", 0),
            (b"\xf0\x9f\x99", 3),
            (b"\xe0\x80", 0),
            (b"\xed\xa0", 0),
            (b"\xf4\x90", 0),
            (b"\x80\x80\x80", 0),
            (b"\xff", 0),
        ];
        for (bytes, len) in cases {
            assert_eq!(incomplete_len(bytes), len, "{bytes:x?}");
        }
    }
}
