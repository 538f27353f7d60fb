//! Text that arrives in chunks.
//!
//! A pretoken is encoded as soon as no further text can change it. So the ids are those of the whole text,
//! however it is divided into chunks, and only its end is held. The held text is examined again only after
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
    /// The held bytes, preceded by one character that patterns may look back at, if there is one and it is
    /// not a special token.
    bytes: Vec<u8>,
    /// The start of the held bytes.
    held: usize,
    /// The number of held bytes at which they are examined next.
    worth: usize,
    /// The maximum number of held bytes.
    limit: usize,
    /// The offset of `bytes` in the stream.
    offset: usize,
    scratch: Scratch,
}

/// Fewer bytes than this are not examined.
const MIN: usize = 64;

impl Stream {
    /// A stream that holds at most `limit` bytes.
    pub fn new(limit: usize) -> Stream {
        Stream { bytes: Vec::new(), held: 0, worth: MIN, limit, offset: 0, scratch: Scratch::new() }
    }

    /// The number of held bytes.
    fn holds(&self) -> usize {
        self.bytes.len() - self.held
    }

    /// Drops the bytes before `end`.
    fn forget(&mut self, end: usize) {
        self.bytes.drain(..end);
        self.held -= end;
        self.offset += end;
    }

    /// The start of the character before the held bytes.
    fn behind(&self) -> usize {
        let before = self.bytes[..self.held].iter().rev().take(4);
        let inside = before.take_while(|&&byte| is_inside(byte)).count();
        self.held.saturating_sub(inside + 1)
    }
}

impl Tokenizer {
    /// Adds the next chunk of a stream, and appends the ids that no further text can change.
    ///
    /// Fails with [`Error::Limit`] if more bytes must be held than the limit. After an error, text is lost
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
        if stream.holds() < stream.worth.min(stream.limit) {
            return Ok(());
        }
        self.advance(stream, GoesOn::Maybe, special, interrupt, ids)?;
        stream.worth = MIN.max(stream.holds() * 2);
        if stream.holds() <= stream.limit {
            return Ok(());
        }
        Err(Error::Limit {
            reason: format!(
                "the pretoken at byte {} of the stream is longer than the {} bytes that may be held. Raise the limit, or use a pretokenizer that cuts this text.",
                stream.offset + stream.held,
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
        // Every special token that begins before this place is complete, and so is any longer one with the
        // same prefix.
        let certain = match goes_on {
            GoesOn::No => stream.bytes.len(),
            GoesOn::Maybe => (stream.bytes.len() + 1).saturating_sub(self.longest_special(special).max(1)),
        };
        let Stream { bytes, held, scratch, .. } = stream;
        let mut passed = 0;
        let (mut flow, mut pacer) = (Ok(()), Pacer::new(interrupt));
        while let Some((start, end, found)) = self.find_special(bytes, *held, special)
            && start < certain
        {
            flow = pacer
                .after_text(&bytes[*held..end])
                .and_then(|()| {
                    let ordinary = &bytes[passed..start];
                    self.each_ordinary(ordinary, *held - passed, GoesOn::No, scratch, interrupt, ids)
                })
                .and_then(|_| self.one_special(special, found, start - passed, ids))
                .map_err(|error| error.shifted(passed));
            if flow.is_err() {
                break;
            }
            // Patterns do not look back beyond a special token.
            (*held, passed) = (end, end);
        }
        if flow.is_ok() {
            let known = &bytes[passed..certain.max(*held)];
            match self.each_ordinary(known, *held - passed, goes_on, scratch, interrupt, ids) {
                Ok(encoded) => *held += encoded,
                Err(error) => flow = Err(error.shifted(passed)),
            }
        }
        stream.scratch.trim();
        let offset = stream.offset;
        stream.forget(stream.behind().max(passed));
        flow.map_err(|error| error.shifted(offset))
    }
}
