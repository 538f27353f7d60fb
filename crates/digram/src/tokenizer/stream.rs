//! Text that arrives in chunks.
//!
//! A pretoken is encoded as soon as no further text can change it. So the ids are those of the whole text,
//! however it is divided into chunks, and only its end is stored. The stored text is examined again only after
//! it has doubled, so a long pretoken in small chunks takes linear time.

use super::Tokenizer;
use crate::encode::Scratch;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::special::OnSpecial;
use crate::utf8::is_inside;
use crate::vocabulary::TokenId;

/// The part of a stream that is not encoded yet.
pub struct Stream {
    /// The pending bytes, preceded by one character for look-behind, if there is one and it is
    /// not a special token.
    bytes: Vec<u8>,
    /// The start of the pending bytes.
    pending: usize,
    /// The number of pending bytes at which they are examined next.
    threshold: usize,
    /// The maximum number of pending bytes.
    limit: usize,
    /// The offset of `bytes` in the stream.
    offset: usize,
    scratch: Scratch,
}

/// The minimum number of pending bytes that are examined.
const MIN_PENDING: usize = 64;

impl Stream {
    /// A stream that stores at most `limit` bytes.
    pub fn new(limit: usize) -> Stream {
        Stream {
            bytes: Vec::new(),
            pending: 0,
            threshold: MIN_PENDING,
            limit,
            offset: 0,
            scratch: Scratch::new(),
        }
    }

    /// The number of pending bytes.
    fn pending_len(&self) -> usize {
        self.bytes.len() - self.pending
    }

    /// Drops the bytes before `end`.
    fn forget(&mut self, end: usize) {
        self.bytes.drain(..end);
        self.pending -= end;
        self.offset += end;
    }

    /// The start of the character before the pending bytes.
    fn context_start(&self) -> usize {
        let preceding = self.bytes[..self.pending].iter().rev().take(4);
        let continuation = preceding.take_while(|&&byte| is_inside(byte)).count();
        self.pending.saturating_sub(continuation + 1)
    }
}

impl Tokenizer {
    /// Adds the next chunk of a stream, and appends the ids that no further text can change.
    ///
    /// Fails with [`Error::Limit`] if more bytes must be stored than the limit. After an error, text is lost
    /// and the stream must be dropped.
    pub fn push(
        &self,
        stream: &mut Stream,
        chunk: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        memory::try_reserve(&mut stream.bytes, chunk.len())?;
        stream.bytes.extend_from_slice(chunk);
        if stream.pending_len() < stream.threshold.min(stream.limit) {
            return Ok(());
        }
        self.advance(stream, GoesOn::Maybe, special, interrupt, ids)?;
        stream.threshold = MIN_PENDING.max(stream.pending_len() * 2);
        if stream.pending_len() <= stream.limit {
            return Ok(());
        }
        Err(Error::Limit {
            reason: format!(
                "the pretoken at byte {} of the stream is longer than the {} bytes that may be held. Raise the limit, or use a pretokenizer that cuts this text.",
                stream.offset + stream.pending,
                stream.limit,
            ),
        })
    }

    /// Appends the last ids of a stream.
    pub fn finish(
        &self,
        mut stream: Stream,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.advance(&mut stream, GoesOn::No, special, interrupt, ids)
    }

    fn advance(
        &self,
        stream: &mut Stream,
        goes_on: GoesOn,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        // Every special token that begins before this offset is complete, and so is any longer one with the
        // same prefix.
        let certain = match goes_on {
            GoesOn::No => stream.bytes.len(),
            GoesOn::Maybe => (stream.bytes.len() + 1).saturating_sub(self.longest_special(special).max(1)),
        };
        let Stream { bytes, pending, scratch, .. } = stream;
        let mut segment_start = 0;
        let (mut result, mut pacer) = (Ok(()), Pacer::new(interrupt));
        while let Some((start, end, token)) = self.find_special(bytes, *pending, special)
            && start < certain
        {
            result = pacer
                .after_text(end - *pending)
                .and_then(|()| {
                    let ordinary = &bytes[segment_start..start];
                    self.each_ordinary(
                        ordinary,
                        *pending - segment_start,
                        GoesOn::No,
                        scratch,
                        interrupt,
                        ids,
                    )
                })
                .and_then(|_| self.push_special(special, token, start - segment_start, ids))
                .map_err(|error| error.shifted(segment_start));
            if result.is_err() {
                break;
            }
            // Patterns do not look back beyond a special token.
            (*pending, segment_start) = (end, end);
        }
        if result.is_ok() {
            let certain_text = &bytes[segment_start..certain.max(*pending)];
            match self.each_ordinary(certain_text, *pending - segment_start, goes_on, scratch, interrupt, ids)
            {
                Ok(encoded) => *pending += encoded,
                Err(error) => result = Err(error.shifted(segment_start)),
            }
        }
        stream.scratch.trim();
        let offset = stream.offset;
        stream.forget(stream.context_start().max(segment_start));
        result.map_err(|error| error.shifted(offset))
    }
}
