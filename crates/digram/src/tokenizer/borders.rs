//! Where the tokens of a text end, read from one side of it as far as is needed.

use std::ops::Range;

use super::cuts::{Part, Parts};
use super::{Side, Tokenizer};
use crate::encode::Lent;
use crate::error::Result;
use crate::pretokenize::GoesOn;
use crate::room;
use crate::special::OnSpecial;
use crate::utf8::character_until;
use crate::vocabulary::TokenId;
use crate::watch::{Paced, Watch};

/// At least this many bytes are read at once.
const STEP: usize = 1 << 10;

/// A place where a token of the text ends, or the text begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Border {
    /// In bytes.
    pub(super) place: usize,
    /// The number of ids between it and the side that is read from.
    pub(super) count: usize,
    /// Whether the numbers of ids on both sides add up in every part of the text that holds both.
    is_cut: bool,
}

/// The borders of a text's tokens that stand between characters.
pub(super) struct Borders<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    side: Side,
    watch: &'a dyn Watch,
    scratch: Lent<'a>,
    unread: Unread<'a>,
    /// The part that is being read, and what is left of it.
    part: Range<usize>,
    rest: Range<usize>,
    /// In the order in which they are met.
    known: Vec<Border>,
    ids: Vec<TokenId>,
}

enum Unread<'a> {
    FromLeft(Parts<'a>),
    FromRight(Vec<Part>),
}

impl<'a> Borders<'a> {
    /// The borders of a text of which `side` is to be cut off: they are read from the other side.
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        text: &'a [u8],
        side: Side,
        special: OnSpecial<'a>,
        watch: &'a dyn Watch,
    ) -> Result<Borders<'a>> {
        let parts = tokenizer.parts(text, special);
        let (unread, place) = match side {
            Side::Right => (Unread::FromLeft(parts), 0),
            // Where special tokens stand is only known from the left.
            Side::Left => (Unread::FromRight(parts.collect::<Result<_>>()?), text.len()),
        };
        let known = vec![Border { place, count: 0, is_cut: true }];
        let scratch = tokenizer.kept.lend();
        Ok(Borders {
            tokenizer,
            text,
            side,
            watch,
            scratch,
            unread,
            part: 0..0,
            rest: 0..0,
            known,
            ids: Vec::new(),
        })
    }

    pub(super) fn get(&self, number: usize) -> Border {
        self.known[number]
    }

    /// The number of the farthest border that has at most `most` ids before it.
    pub(super) fn farthest(&mut self, most: usize) -> Result<usize> {
        while self.known[self.known.len() - 1].count <= most && self.read()? {}
        Ok(self.number_where(|border| border.count <= most))
    }

    /// The number of the last border of those known for which this is so: it is for the first, and
    /// for none after one for which it is not.
    pub(super) fn number_where(&self, is_so: impl Fn(&Border) -> bool) -> usize {
        self.known.partition_point(is_so).max(1) - 1
    }

    /// Forgets all borders before one of them.
    pub(super) fn forget_before(&mut self, number: usize) {
        // What is kept is moved, so it should not be more than what goes.
        if number > self.known.len() / 2 {
            self.known.drain(..number);
        }
    }

    /// The number of ids of the text up to a border from the side that is read, as a text of its own.
    pub(super) fn own_count(&mut self, number: usize) -> Result<usize> {
        let place = self.known[number].place;
        let cut = *self.known[..=number].iter().rev().find(|border| border.is_cut).expect("the first is");
        let between = match self.side {
            Side::Right => cut.place..place,
            Side::Left => place..cut.place,
        };
        Ok(cut.count + self.count(between)?)
    }

    /// The number of ids of a part of the text without special tokens, as a text of its own.
    pub(super) fn count(&mut self, part: Range<usize>) -> Result<usize> {
        self.watch.check()?;
        let text = &self.text[part.clone()];
        let counted = self.tokenizer.count_ordinary(text, &mut self.scratch, self.watch);
        counted.map_err(|error| error.shifted(part.start))
    }

    /// Reads on, up to the next place where every text is cut, and says whether there was anything.
    fn read(&mut self) -> Result<bool> {
        self.watch.check()?;
        if self.rest.is_empty() {
            let next = match &mut self.unread {
                Unread::FromLeft(parts) => parts.next().transpose()?,
                Unread::FromRight(parts) => parts.pop(),
            };
            match next {
                None => return Ok(false),
                Some(Part::Special(range)) => {
                    let place = if self.side == Side::Right { range.end } else { range.start };
                    self.put(place, 1, true)?;
                    return Ok(true);
                }
                Some(Part::Text(range)) => (self.part, self.rest) = (range.clone(), range),
            }
        }
        let text = &self.text[self.part.clone()];
        let rest = self.rest.start - self.part.start..self.rest.end - self.part.start;
        let stretch = match self.side {
            Side::Right => rest.start..self.tokenizer.cut_from(text, rest.start + STEP, self.watch)?,
            Side::Left => {
                self.tokenizer.cut_until(text, rest.end.saturating_sub(STEP), self.watch)?..rest.end
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

    /// Encodes a stretch between two cuts.
    fn read_stretch(&mut self, stretch: Range<usize>) -> Result<()> {
        let text = &self.text[stretch.clone()];
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        self.tokenizer
            .each_ordinary(text, 0, GoesOn::No, &mut self.scratch, self.watch, &mut ids)
            .map_err(|error| error.shifted(stretch.start))?;
        let before = self.known[self.known.len() - 1].count;
        room::reserve(&mut self.known, ids.len())?;
        let (first, mut at, mut paced) = (self.known.len(), 0, Paced::new(self.watch));
        for (number, &id) in ids.iter().enumerate() {
            paced.after(1)?;
            let start = at;
            at += self.tokenizer.encoder.len_in_text(id, &text[start..]);
            // Seen from the right a token ends where it starts.
            let (place, count) = match self.side {
                Side::Right => (at, number + 1),
                Side::Left => (start, ids.len() - number),
            };
            if character_until(text, place) == place {
                let (place, is_cut) = (stretch.start + place, count == ids.len());
                self.known.push(Border { place, count: before + count, is_cut });
            }
        }
        if self.side == Side::Left {
            self.known[first..].reverse();
        }
        self.ids = ids;
        Ok(())
    }

    fn put(&mut self, place: usize, ids: usize, is_cut: bool) -> Result<()> {
        let count = self.known[self.known.len() - 1].count + ids;
        room::reserve(&mut self.known, 1)?;
        self.known.push(Border { place, count, is_cut });
        Ok(())
    }
}

/// Tries how far to step back, for a part that has more ids of its own than its tokens are in the
/// whole: nothing, then 1, 3, 7, … borders, at last `most`. The distance at which it fits, if any.
pub(super) fn step_back(most: usize, mut fits: impl FnMut(usize) -> Result<bool>) -> Result<Option<usize>> {
    let mut distance = 0;
    loop {
        if fits(distance)? {
            return Ok(Some(distance));
        }
        if distance == most {
            return Ok(None);
        }
        distance = (2 * distance + 1).min(most);
    }
}
