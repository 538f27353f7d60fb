//! Text that arrives in chunks.
//!
//! A pretoken is encoded as soon as no further text can change it; if text is normalized first, or added tokens
//! depend on what is beside them, text is encoded up to the last place where it can be split. So the ids are those
//! of the whole text, however it is divided into chunks, and only its end is stored. The stored text is examined
//! again only after it has doubled, so a long pretoken in small chunks takes linear time.

use super::Tokenizer;
use super::encoding::push_added;
use crate::added_tokens::{AddedMatch, AddedTokens, OnSpecial};
use crate::encode::Scratch;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::utf8::{complete, is_inside};
use crate::vocabulary::TokenId;

/// The part of a stream that is not encoded yet.
pub struct Stream {
    /// The pending bytes, preceded by the characters that look-behind may need, usually one, if there are some and
    /// none is in a special token.
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

    /// The start of the last `characters` characters before the pending bytes.
    fn context_start(&self, characters: usize) -> usize {
        (0..characters).fold(self.pending, |end, _| {
            let preceding = self.bytes[..end].iter().rev().take(4);
            let continuation = preceding.take_while(|&&byte| is_inside(byte)).count();
            end.saturating_sub(continuation + 1)
        })
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
        // The context is read again, too.
        stream.threshold = MIN_PENDING.max(stream.pending_len() * 2).max(stream.pending);
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
        let result = match self.recognized(special) {
            _ if self.normalizer.is_some() => self.advance_to_split(stream, goes_on, special, interrupt, ids),
            Some(set) if set.has_pass(true) || set.depends_on_neighbours() => {
                self.advance_to_split(stream, goes_on, special, interrupt, ids)
            }
            set => self.advance_to_pretoken(stream, goes_on, set, special, interrupt, ids),
        };
        stream.scratch.trim();
        let offset = stream.offset;
        let start = *result.as_ref().unwrap_or(&0);
        // If it is any number of characters, no pretoken is certain before the text ends.
        let context = self.pretokenizer.reach_before().unwrap_or(1);
        stream.forget(stream.context_start(context).max(start));
        result.map(|_| ()).map_err(|error| error.shifted(offset))
    }

    /// Encodes the pending bytes up to the last pretoken that no further text can change. Returns the end of the
    /// last added token.
    fn advance_to_pretoken(
        &self,
        stream: &mut Stream,
        goes_on: GoesOn,
        set: Option<&AddedTokens>,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<usize> {
        let certain = certain_end(stream, goes_on, set);
        let Stream { bytes, pending, scratch, .. } = stream;
        let (mut segment_start, mut pacer, from) = (0, Pacer::new(interrupt), *pending);
        for AddedMatch { range, token } in set.iter().flat_map(|set| set.matches(bytes, from)) {
            if range.start >= certain {
                break;
            }
            pacer.after_text(range.end - *pending)?;
            let ordinary = &bytes[segment_start..range.start];
            self.each_ordinary(ordinary, *pending - segment_start, GoesOn::No, scratch, interrupt, ids)
                .and_then(|_| push_added(special, token, range.start - segment_start, ids))
                .map_err(|error| error.shifted(segment_start))?;
            // Patterns do not look back beyond an added token.
            (*pending, segment_start) = (range.end, range.end);
        }
        let certain_text = &bytes[segment_start..certain.max(*pending)];
        *pending += self
            .each_ordinary(certain_text, *pending - segment_start, goes_on, scratch, interrupt, ids)
            .map_err(|error| error.shifted(segment_start))?;
        Ok(segment_start)
    }

    /// Encodes the pending bytes up to the last place where the text can be split. Returns it, since the text
    /// before it does not matter.
    fn advance_to_split(
        &self,
        stream: &mut Stream,
        goes_on: GoesOn,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<usize> {
        let set = self.recognized(special);
        let end = match goes_on {
            GoesOn::No => stream.bytes.len(),
            GoesOn::Maybe => {
                let certain = certain_end(stream, goes_on, set);
                let pending = &stream.bytes[stream.pending..];
                stream.pending + self.last_split_of_pending(pending, certain, special, interrupt)?
            }
        };
        let Stream { bytes, pending, scratch, .. } = stream;
        self.each_id(&bytes[*pending..end], special, scratch, interrupt, ids)
            .map_err(|error| error.shifted(*pending))?;
        *pending = end;
        Ok(end)
    }

    /// The last place where a text can be split however it goes on; 0 if there is none. Tokens that start before
    /// `certain` are complete.
    fn last_split_of_pending(
        &self,
        text: &[u8],
        certain: usize,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        // The character after a split must be complete.
        let until = certain.min(complete(text).saturating_sub(1));
        let find = |offsets| self.last_split_in(text, offsets, interrupt);
        Ok(self.last_outside_added(text, 1..until + 1, certain, special, interrupt, find)?.unwrap_or(0))
    }
}

/// The offset in the bytes of a stream before which every added token that starts is complete, and so is any
/// longer one with the same prefix.
fn certain_end(stream: &Stream, goes_on: GoesOn, set: Option<&AddedTokens>) -> usize {
    match goes_on {
        GoesOn::No => stream.bytes.len(),
        GoesOn::Maybe => (stream.bytes.len() + 1).saturating_sub(set.map_or(0, AddedTokens::longest).max(1)),
    }
}
