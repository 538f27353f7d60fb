//! The token boundaries of a text, read from one side as far as needed.

use std::ops::Range;

use super::segments::{Segment, Segments};
use super::{Side, Tokenizer};
use crate::added_tokens::OnSpecial;
use crate::encode::Pooled;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::utf8::character_until;
use crate::vocabulary::TokenId;

/// The minimum number of bytes read at once.
const STEP: usize = 1 << 10;

/// A token boundary, or the side that the text is read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenBorder {
    /// The offset in bytes.
    pub(super) offset: usize,
    /// The number of ids between this offset and the side that is read from.
    pub(super) count: usize,
    /// Whether the text can be split here: the numbers of ids on both sides add up.
    is_split: bool,
}

/// The token boundaries of a text that are between characters.
pub(super) struct TokenBorders<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    side: Side,
    special: OnSpecial<'a>,
    interrupt: &'a dyn Interrupt,
    scratch: Pooled<'a>,
    unread: UnreadSegments<'a>,
    /// The segment that is being read, and the unread part of it.
    segment: Range<usize>,
    rest: Range<usize>,
    /// In reading order.
    borders: Vec<TokenBorder>,
    ids: Vec<TokenId>,
}

enum UnreadSegments<'a> {
    FromLeft(Segments<'a>),
    FromRight(Vec<Segment>),
    /// The whole text, which has no segments that can be read alone.
    Whole,
    Nothing,
}

impl<'a> TokenBorders<'a> {
    /// The boundaries of a text of which `side` is to be cut off; it is read from the other side.
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        text: &'a [u8],
        side: Side,
        special: OnSpecial<'a>,
        interrupt: &'a dyn Interrupt,
    ) -> Result<TokenBorders<'a>> {
        let segments = tokenizer.segments(text, special);
        let offset = if side == Side::Right { 0 } else { text.len() };
        let unread = match side {
            _ if !tokenizer.has_segments(text, special, interrupt)? => UnreadSegments::Whole,
            Side::Right => UnreadSegments::FromLeft(segments),
            // Added tokens can only be found from the left.
            Side::Left => UnreadSegments::FromRight(segments.collect::<Result<_>>()?),
        };
        let borders = vec![TokenBorder { offset, count: 0, is_split: true }];
        let scratch = tokenizer.scratch_pool.take();
        Ok(TokenBorders {
            tokenizer,
            text,
            side,
            special,
            interrupt,
            scratch,
            unread,
            segment: 0..0,
            rest: 0..0,
            borders,
            ids: Vec::new(),
        })
    }

    pub(super) fn get(&self, index: usize) -> TokenBorder {
        self.borders[index]
    }

    /// The index of the farthest boundary with at most `maximum` ids before it.
    pub(super) fn farthest(&mut self, maximum: usize) -> Result<usize> {
        while self.borders[self.borders.len() - 1].count <= maximum && self.read()? {}
        Ok(self.last_index_where(|border| border.count <= maximum))
    }

    /// Whether a known boundary has more than `maximum` ids before it.
    pub(super) fn exceed(&self, maximum: usize) -> bool {
        self.borders[self.borders.len() - 1].count > maximum
    }

    /// The index of the last known boundary for which `predicate` returns true. It must be true for the first
    /// one, and for none after one for which it is false.
    pub(super) fn last_index_where(&self, predicate: impl Fn(&TokenBorder) -> bool) -> usize {
        self.borders.partition_point(predicate).max(1) - 1
    }

    /// Drops all boundaries before one of them.
    pub(super) fn forget_before(&mut self, index: usize) {
        // The remaining ones are moved, so they should be fewer than the dropped ones.
        if index > self.borders.len() / 2 {
            self.borders.drain(..index);
        }
    }

    /// The number of ids of the text from the side that is read up to a boundary, encoded on its own.
    pub(super) fn own_count(&mut self, index: usize) -> Result<usize> {
        let offset = self.borders[index].offset;
        let split =
            *self.borders[..=index].iter().rev().find(|border| border.is_split).expect("the first is");
        let between = match self.side {
            Side::Right => split.offset..offset,
            Side::Left => offset..split.offset,
        };
        Ok(split.count + self.count(between)?)
    }

    /// The number of ids of a part of the text, encoded on its own.
    pub(super) fn count(&mut self, range: Range<usize>) -> Result<usize> {
        self.interrupt.check()?;
        let text = &self.text[range.clone()];
        let count = self.tokenizer.count_with(text, self.special, &mut self.scratch, self.interrupt);
        count.map_err(|error| error.shifted(range.start))
    }

    /// Reads on up to the next split; returns false at the end of the text.
    fn read(&mut self) -> Result<bool> {
        self.interrupt.check()?;
        if self.rest.is_empty() {
            let next = match &mut self.unread {
                UnreadSegments::FromLeft(parts) => parts.next().transpose()?,
                UnreadSegments::FromRight(parts) => parts.pop(),
                UnreadSegments::Whole => {
                    self.unread = UnreadSegments::Nothing;
                    return self.read_whole().map(|()| true);
                }
                UnreadSegments::Nothing => None,
            };
            match next {
                None => return Ok(false),
                Some(Segment::Added(range)) => {
                    let offset = if self.side == Side::Right { range.end } else { range.start };
                    self.push(offset, 1, true)?;
                    return Ok(true);
                }
                Some(Segment::Text(range)) => (self.segment, self.rest) = (range.clone(), range),
            }
        }
        let text = &self.text[self.segment.clone()];
        let rest = self.rest.start - self.segment.start..self.rest.end - self.segment.start;
        let range = match self.side {
            Side::Right => rest.start..self.tokenizer.next_split(text, rest.start + STEP, self.interrupt)?,
            Side::Left => {
                self.tokenizer.last_split_until(text, rest.end.saturating_sub(STEP), self.interrupt)?
                    ..rest.end
            }
        };
        let range = self.segment.start + range.start..self.segment.start + range.end;
        self.read_range(range.clone())?;
        match self.side {
            Side::Right => self.rest.start = range.end,
            Side::Left => self.rest.end = range.start,
        }
        Ok(true)
    }

    /// Encodes the text between two splits.
    fn read_range(&mut self, range: Range<usize>) -> Result<()> {
        let text = &self.text[range.clone()];
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.tokenizer
            .each_ordinary(text, 0, GoesOn::No, &mut self.scratch, self.interrupt, &mut ids)
            .map_err(|error| error.shifted(range.start))?;
        let before = self.borders[self.borders.len() - 1].count;
        memory::try_reserve(&mut self.borders, ids.len())?;
        let mut lengths = self.tokenizer.ordinary_lengths(text, &ids, self.interrupt)?;
        let (first, mut end, mut pacer) = (self.borders.len(), 0, Pacer::new(self.interrupt));
        for (index, &id) in ids.iter().enumerate() {
            pacer.after(1)?;
            let start = end;
            end += lengths.at(text, start, id);
            // Read from the right, a token ends at its start.
            let (offset, count) = match self.side {
                Side::Right => (end, index + 1),
                Side::Left => (start, ids.len() - index),
            };
            if character_until(text, offset) == offset {
                let (offset, is_split) = (range.start + offset, count == ids.len());
                self.borders.push(TokenBorder { offset, count: before + count, is_split });
            }
        }
        if self.side == Side::Left {
            self.borders[first..].reverse();
        }
        self.ids = ids;
        Ok(())
    }

    /// Encodes a text that has no segments, and takes as borders the places between tokens that have no character of
    /// the given text in common.
    fn read_whole(&mut self) -> Result<()> {
        let (tokenizer, text) = (self.tokenizer, self.text);
        let mut ids = Vec::new();
        let scratch = &mut self.scratch;
        tokenizer.each_id(text, self.special, scratch, self.interrupt, &mut ids)?;
        let working = tokenizer.working(text, self.special, true, self.interrupt)?;
        let mut spans = Vec::new();
        memory::try_reserve(&mut spans, ids.len())?;
        tokenizer.each_span(&working, &ids, self.interrupt, |span, _| spans.push(working.given(span)))?;
        memory::try_reserve(&mut self.borders, ids.len() + 1)?;
        let mut last = self.borders[0].offset;
        for count in 1..ids.len() {
            let next = if self.side == Side::Right { count } else { ids.len() - count };
            let (before, after) = (spans[next - 1].end, spans[next].start);
            let (offset, is_beyond) = match self.side {
                Side::Right => (before, before > last),
                Side::Left => (after, after < last),
            };
            // Each of the tokens that share a character covers all of it.
            let is_between = before <= after && character_until(text, offset) == offset;
            if is_beyond && is_between {
                self.borders.push(TokenBorder { offset, count, is_split: false });
                last = offset;
            }
        }
        // The last token may come from less than the rest, and there may be none.
        let end = text.len() - self.borders[0].offset;
        self.borders.push(TokenBorder { offset: end, count: ids.len(), is_split: true });
        Ok(())
    }

    fn push(&mut self, offset: usize, ids: usize, is_split: bool) -> Result<()> {
        let count = self.borders[self.borders.len() - 1].count + ids;
        memory::try_reserve(&mut self.borders, 1)?;
        self.borders.push(TokenBorder { offset, count, is_split });
        Ok(())
    }
}

/// Finds how many boundaries to step back until a part fits, which may have more ids on its own than within the
/// text. Tries 0, 1, 3, 7, … and finally `maximum`. Returns the distance, if any fits.
pub(super) fn step_back(
    maximum: usize,
    mut fits: impl FnMut(usize) -> Result<bool>,
) -> Result<Option<usize>> {
    let mut distance = 0;
    loop {
        if fits(distance)? {
            return Ok(Some(distance));
        }
        if distance == maximum {
            return Ok(None);
        }
        distance = (2 * distance + 1).min(maximum);
    }
}
