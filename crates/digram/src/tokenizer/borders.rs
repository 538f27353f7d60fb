//! The ends of the tokens of a text, read from one side as far as needed.

use std::ops::Range;

use super::segments::{Segment, Segments};
use super::{Side, Tokenizer};
use crate::encode::Pooled;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::GoesOn;
use crate::special::OnSpecial;
use crate::utf8::character_until;
use crate::vocabulary::TokenId;

/// The minimum number of bytes read at once.
const STEP: usize = 1 << 10;

/// A place where a token ends, or the text begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenBorder {
    /// In bytes.
    pub(super) place: usize,
    /// The number of ids between this place and the side that is read from.
    pub(super) count: usize,
    /// Whether the text can be split here: the numbers of ids on both sides add up.
    is_split: bool,
}

/// The token boundaries of a text that are between characters.
pub(super) struct TokenBorders<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    side: Side,
    interrupt: &'a dyn Interrupt,
    scratch: Pooled<'a>,
    unread: UnreadSegments<'a>,
    /// The segment that is being read, and its unread rest.
    part: Range<usize>,
    rest: Range<usize>,
    /// In reading order.
    known: Vec<TokenBorder>,
    ids: Vec<TokenId>,
}

enum UnreadSegments<'a> {
    FromLeft(Segments<'a>),
    FromRight(Vec<Segment>),
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
        let parts = tokenizer.parts(text, special);
        let (unread, place) = match side {
            Side::Right => (UnreadSegments::FromLeft(parts), 0),
            // Special tokens can only be found from the left.
            Side::Left => (UnreadSegments::FromRight(parts.collect::<Result<_>>()?), text.len()),
        };
        let known = vec![TokenBorder { place, count: 0, is_split: true }];
        let scratch = tokenizer.scratch_pool.take();
        Ok(TokenBorders {
            tokenizer,
            text,
            side,
            interrupt,
            scratch,
            unread,
            part: 0..0,
            rest: 0..0,
            known,
            ids: Vec::new(),
        })
    }

    pub(super) fn get(&self, number: usize) -> TokenBorder {
        self.known[number]
    }

    /// The index of the farthest boundary with at most `maximum` ids before it.
    pub(super) fn farthest(&mut self, maximum: usize) -> Result<usize> {
        while self.known[self.known.len() - 1].count <= maximum && self.read()? {}
        Ok(self.number_where(|border| border.count <= maximum))
    }

    /// The index of the last known boundary for which `is_so` returns true. It must be true for the first
    /// one, and for none after one for which it is false.
    pub(super) fn number_where(&self, is_so: impl Fn(&TokenBorder) -> bool) -> usize {
        self.known.partition_point(is_so).max(1) - 1
    }

    /// Drops all boundaries before one of them.
    pub(super) fn forget_before(&mut self, number: usize) {
        // The kept ones are moved, so they should be fewer than the dropped ones.
        if number > self.known.len() / 2 {
            self.known.drain(..number);
        }
    }

    /// The number of ids of the text from the side that is read up to a boundary, encoded on its own.
    pub(super) fn own_count(&mut self, number: usize) -> Result<usize> {
        let place = self.known[number].place;
        let cut = *self.known[..=number].iter().rev().find(|border| border.is_split).expect("the first is");
        let between = match self.side {
            Side::Right => cut.place..place,
            Side::Left => place..cut.place,
        };
        Ok(cut.count + self.count(between)?)
    }

    /// The number of ids of a part of the text without special tokens, encoded on its own.
    pub(super) fn count(&mut self, part: Range<usize>) -> Result<usize> {
        self.interrupt.check()?;
        let text = &self.text[part.clone()];
        let counted = self.tokenizer.count_ordinary(text, &mut self.scratch, self.interrupt);
        counted.map_err(|error| error.shifted(part.start))
    }

    /// Reads on up to the next split; returns false at the end of the text.
    fn read(&mut self) -> Result<bool> {
        self.interrupt.check()?;
        if self.rest.is_empty() {
            let next = match &mut self.unread {
                UnreadSegments::FromLeft(parts) => parts.next().transpose()?,
                UnreadSegments::FromRight(parts) => parts.pop(),
            };
            match next {
                None => return Ok(false),
                Some(Segment::Special(range)) => {
                    let place = if self.side == Side::Right { range.end } else { range.start };
                    self.put(place, 1, true)?;
                    return Ok(true);
                }
                Some(Segment::Text(range)) => (self.part, self.rest) = (range.clone(), range),
            }
        }
        let text = &self.text[self.part.clone()];
        let rest = self.rest.start - self.part.start..self.rest.end - self.part.start;
        let stretch = match self.side {
            Side::Right => rest.start..self.tokenizer.next_split(text, rest.start + STEP, self.interrupt)?,
            Side::Left => {
                self.tokenizer.last_split_until(text, rest.end.saturating_sub(STEP), self.interrupt)?
                    ..rest.end
            }
        };
        let stretch = self.part.start + stretch.start..self.part.start + stretch.end;
        self.read_stretch(stretch.clone())?;
        match self.side {
            Side::Right => self.rest.start = stretch.end,
            Side::Left => self.rest.end = stretch.start,
        }
        Ok(true)
    }

    /// Encodes the text between two splits.
    fn read_stretch(&mut self, stretch: Range<usize>) -> Result<()> {
        let text = &self.text[stretch.clone()];
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.tokenizer
            .each_ordinary(text, 0, GoesOn::No, &mut self.scratch, self.interrupt, &mut ids)
            .map_err(|error| error.shifted(stretch.start))?;
        let before = self.known[self.known.len() - 1].count;
        memory::try_reserve(&mut self.known, ids.len())?;
        let (first, mut at, mut pacer) = (self.known.len(), 0, Pacer::new(self.interrupt));
        for (number, &id) in ids.iter().enumerate() {
            pacer.after(1)?;
            let start = at;
            at += self.tokenizer.encoder.len_in_text(id, &text[start..]);
            // Read from the right, a token ends at its start.
            let (place, count) = match self.side {
                Side::Right => (at, number + 1),
                Side::Left => (start, ids.len() - number),
            };
            if character_until(text, place) == place {
                let (place, is_split) = (stretch.start + place, count == ids.len());
                self.known.push(TokenBorder { place, count: before + count, is_split });
            }
        }
        if self.side == Side::Left {
            self.known[first..].reverse();
        }
        self.ids = ids;
        Ok(())
    }

    fn put(&mut self, place: usize, ids: usize, is_split: bool) -> Result<()> {
        let count = self.known[self.known.len() - 1].count + ids;
        memory::try_reserve(&mut self.known, 1)?;
        self.known.push(TokenBorder { place, count, is_split });
        Ok(())
    }
}

/// Tries how many boundaries to step back until a part fits that has more ids on its own than within the
/// text: 0, 1, 3, 7, … and at last `maximum`. Returns the distance, if any fits.
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
