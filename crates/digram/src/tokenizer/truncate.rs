//! The longest beginning or end of a text that has at most so many ids of its own.
//!
//! A text is cut at a border of its tokens, but what is left need not have the ids it had: cut
//! inside the white space before a word, or inside a number, the rest is split otherwise. So each
//! place is asked for the ids of its own. That few are asked rests on three things. Between places
//! where every text is cut the numbers add up, so the search stays between two of them. Where all is
//! one long pretoken, what is left is nearly always a pretoken too, whose ids are a slice of the ids,
//! and slices of valid encodings are valid. And texts that begin at different places mostly come to
//! the same pretokens soon; their number from there on is remembered. Digits that are grouped from the
//! right are a case of their own: cut on the right, all groups of a run are others.

use std::ops::{ControlFlow, Range};

use super::Tokenizer;
use super::cuts::Part;
use super::recount::Recount;
use super::stretch::{Begins, Counted, Stretch, is_first_split};
use crate::encode::{Lent, Tally};
use crate::error::Result;
use crate::pretokenize::GoesOn;
use crate::special::OnSpecial;
use crate::utf8::{character_until, decode};
use crate::watch::{Paced, Watch};

/// Which side of a text is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The beginning.
    Left,
    /// The end.
    Right,
}

/// Text that is counted before the place is looked for closely, in bytes.
const STEP: usize = 1 << 10;

/// Up to this many bytes between two cuts, every place is tried.
const SHORT: usize = 64;

/// What is known of a border: the number of ids of the text up to there.
enum Known {
    /// All of it.
    All(usize),
    /// What is before a place; from there on they are to be counted.
    From(usize, usize),
    /// What is before the pretoken with the border, of which the part before that is one too.
    Part(Range<usize>, usize),
}

/// The search in one text.
pub(super) struct Search<'a> {
    pub(super) tokenizer: &'a Tokenizer,
    pub(super) text: &'a [u8],
    pub(super) scratch: Lent<'a>,
    pub(super) watch: &'a dyn Watch,
}

impl Tokenizer {
    /// The longest part of a text that has at most `most` ids of its own: one that begins where the
    /// text does, or for [`Side::Left`] ends there; and that ends, or begins, where a token of the
    /// text does, and not inside a character.
    ///
    /// For [`Side::Right`] no more of the text is looked at than has `most` ids, and what stands
    /// with them up to the next cut.
    pub fn truncate(
        &self,
        text: &[u8],
        most: usize,
        side: Side,
        special: OnSpecial<'_>,
        watch: &dyn Watch,
    ) -> Result<Range<usize>> {
        match side {
            Side::Right => self.beginning(text, most, special, watch).map(|end| 0..end),
            Side::Left => self.end(text, most, special, watch).map(|start| start..text.len()),
        }
    }

    fn beginning(
        &self,
        text: &[u8],
        most: usize,
        special: OnSpecial<'_>,
        watch: &dyn Watch,
    ) -> Result<usize> {
        let mut left = most;
        for part in self.parts(text, special) {
            match part? {
                Part::Special(range) if left == 0 => return Ok(range.start),
                Part::Special(_) => left -= 1,
                Part::Text(range) => {
                    let (end, rest) = Search::new(self, &text[range.clone()], watch)
                        .beginning(left)
                        .map_err(|error| error.shifted(range.start))?;
                    if end < range.len() {
                        return Ok(range.start + end);
                    }
                    left = rest;
                }
            }
        }
        Ok(text.len())
    }

    fn end(&self, text: &[u8], most: usize, special: OnSpecial<'_>, watch: &dyn Watch) -> Result<usize> {
        let mut left = most;
        // Where special tokens stand is only known from the left.
        let parts = self.parts(text, special).collect::<Result<Vec<Part>>>()?;
        for part in parts.into_iter().rev() {
            match part {
                Part::Special(range) if left == 0 => return Ok(range.end),
                Part::Special(_) => left -= 1,
                Part::Text(range) => {
                    let (start, rest) = Search::new(self, &text[range.clone()], watch)
                        .end(left)
                        .map_err(|error| error.shifted(range.start))?;
                    if start > 0 {
                        return Ok(range.start + start);
                    }
                    left = rest;
                }
            }
        }
        Ok(0)
    }
}

impl<'a> Search<'a> {
    fn new(tokenizer: &'a Tokenizer, text: &'a [u8], watch: &'a dyn Watch) -> Search<'a> {
        Search { tokenizer, text, scratch: tokenizer.kept.lend(), watch }
    }

    pub(super) fn count(&mut self, range: Range<usize>) -> Result<usize> {
        let counted = self.tokenizer.count_ordinary(&self.text[range.clone()], &mut self.scratch, self.watch);
        counted.map_err(|error| error.shifted(range.start))
    }

    /// Where the longest beginning ends, and how many ids may still follow it.
    fn beginning(&mut self, most: usize) -> Result<(usize, usize)> {
        let (mut at, mut left) = (0, most);
        for step in [STEP, 1] {
            while at < self.text.len() {
                self.watch.check()?;
                let end = self.tokenizer.cut_from(self.text, at + step, self.watch)?;
                let count = self.count(at..end)?;
                if count > left {
                    if step == 1 {
                        return Ok((self.beginning_of(at..end, left)?, 0));
                    }
                    break;
                }
                (at, left) = (end, left - count);
            }
        }
        Ok((at, left))
    }

    /// Where the longest end begins, and how many ids may still come before it.
    fn end(&mut self, most: usize) -> Result<(usize, usize)> {
        let (mut at, mut left) = (self.text.len(), most);
        for step in [STEP, 1] {
            while at > 0 {
                self.watch.check()?;
                let start = self.tokenizer.cut_until(self.text, at.saturating_sub(step), self.watch)?;
                let count = self.count(start..at)?;
                if count > left {
                    if step == 1 {
                        return Ok((self.end_of(start..at, left)?, 0));
                    }
                    break;
                }
                (at, left) = (start, left - count);
            }
        }
        Ok((at, left))
    }

    /// Where the longest beginning ends of a stretch without cuts that has more than `most` ids.
    pub(super) fn beginning_of(&mut self, stretch: Range<usize>, most: usize) -> Result<usize> {
        if most == 0 {
            return Ok(stretch.start);
        }
        let text = &self.text[stretch.clone()];
        if let Some(idle) = self.tokenizer.where_rules_are_idle(text) {
            return Search::new(idle, self.text, self.watch).beginning_of(stretch, most);
        }
        match self.digits(text) {
            0 => {}
            len => return self.beginning_of_digits(stretch, len, most),
        }
        let found = Stretch::new(self, stretch.clone())?;
        if stretch.len() <= SHORT {
            for &end in found.borders[..found.borders.len() - 1].iter().rev() {
                if !is_inside(text, end) && self.count(stretch.start..stretch.start + end)? <= most {
                    return Ok(stretch.start + end);
                }
            }
            return Ok(stretch.start);
        }
        let mut known: Vec<Known> = Vec::new();
        let (mut start, mut certain, mut paced) = (0, true, Paced::new(self.watch));
        let mut counted = (0, 0);
        let looks_behind = self.tokenizer.pretokenizer.looks_behind();
        for &end in &found.pretokens {
            self.watch.check()?;
            let first = known.len();
            if certain && first > 0 {
                let seen = start + decode(&text[start..]).1;
                let pretokenizer = &self.tokenizer.pretokenizer;
                certain = pretokenizer.ends_for_certain(&text[..seen], counted.0, start, self.watch)?;
                // What begins at a later place and looks behind it is counted otherwise.
                if certain && !looks_behind {
                    counted = (start, first);
                }
            }
            let whole = match certain {
                true => self.tokenizer.pretokenizer.whole_prefixes(&text[..end], start, self.watch)?,
                false => Vec::new(),
            };
            for &border in found.borders[first..].iter().take_while(|border| **border <= end) {
                paced.after(1)?;
                let is_whole = whole.get(border - start).is_some_and(|whole| *whole);
                known.push(match is_whole {
                    false => Known::From(counted.0, counted.1),
                    true if !self.tokenizer.encoder.is_by_rank() => Known::Part(start..end, first),
                    true => Known::All(first + self.of_slice(&text[start..border], known.len() + 1 - first)),
                });
            }
            start = end;
            if certain && counted.1 > most {
                break;
            }
        }
        let mut recount: Option<(usize, Recount<'_>)> = None;
        for (number, known) in known.iter().enumerate().rev() {
            let end = found.borders[number];
            if end == stretch.len() || is_inside(text, end) {
                continue;
            }
            let fits = match known {
                Known::All(count) => *count <= most,
                Known::From(_, before) | Known::Part(_, before) if *before > most => false,
                Known::From(from, before) if end - from > self.longest(most - before) => false,
                Known::From(from, before) => {
                    self.watch.check()?;
                    self.count(stretch.start + from..stretch.start + end)? <= most - before
                }
                Known::Part(pretoken, before) if end - pretoken.start > self.longest(most - before) => false,
                Known::Part(pretoken, before) => {
                    let range = stretch.start + pretoken.start..stretch.start + pretoken.end;
                    let recount = self.recount_of(&mut recount, range)?;
                    recount.beginning(self, end - pretoken.start)? <= most - before
                }
            };
            if fits {
                return Ok(stretch.start + end);
            }
        }
        Ok(stretch.start)
    }

    /// Where the longest end begins of a stretch without cuts that has more than `most` ids.
    pub(super) fn end_of(&mut self, stretch: Range<usize>, most: usize) -> Result<usize> {
        if most == 0 {
            return Ok(stretch.end);
        }
        let text = &self.text[stretch.clone()];
        if let Some(idle) = self.tokenizer.where_rules_are_idle(text) {
            return Search::new(idle, self.text, self.watch).end_of(stretch, most);
        }
        match self.digits(text) {
            0 => {}
            len => return self.end_of_digits(stretch, len, most),
        }
        let found = Stretch::new(self, stretch.clone())?;
        let suffixes = match stretch.len() {
            ..=SHORT => None,
            _ => Some(self.tokenizer.pretokenizer.suffixes(text, self.watch)?),
        };
        let all = found.borders.len();
        let mut ends = found.pretokens.iter().copied();
        // Where the pretoken of a border begins and ends, and how many ids there are up to there.
        let (mut begin, mut end, mut until) = (0, 0, 0);
        let mut recount: Option<(usize, Recount<'_>)> = None;
        let (mut counted, mut paced) = (Counted::new(self.tokenizer, &found), Paced::new(self.watch));
        for (number, &start) in found.borders[..all - 1].iter().enumerate() {
            while end <= start {
                begin = end;
                end = ends.next().expect("the last pretoken ends with the stretch");
                until += found.borders[until..].partition_point(|&border| border <= end);
            }
            paced.after(1)?;
            if text.len() - start > self.longest(most) || is_inside(text, start) {
                continue;
            }
            let fits = match &suffixes {
                Some(suffixes)
                    if suffixes.is_regular(text, start) && !self.tokenizer.encoder.is_by_rank() =>
                {
                    let range = stretch.start + begin..stretch.start + end;
                    let recount = self.recount_of(&mut recount, range)?;
                    all - until + recount.ending(self, start - begin)? <= most
                }
                Some(suffixes) if suffixes.is_regular(text, start) => {
                    all - until + self.of_slice(&text[start..end], until - number - 1) <= most
                }
                _ => self.count_to_known(&stretch, start, &mut counted)? <= most,
            };
            if fits {
                return Ok(stretch.start + start);
            }
        }
        Ok(stretch.end)
    }

    /// What counts parts of the pretoken at `range`; the one for another is given up.
    fn recount_of<'r>(
        &mut self,
        kept: &'r mut Option<(usize, Recount<'a>)>,
        range: Range<usize>,
    ) -> Result<&'r mut Recount<'a>> {
        if kept.as_ref().is_none_or(|(start, _)| *start != range.start) {
            *kept = Some((range.start, Recount::new(self, range)?));
        }
        Ok(&mut kept.as_mut().expect("made before").1)
    }

    /// How many bytes of digits that are grouped from the right a stretch begins with, if it is long.
    fn digits(&self, stretch: &[u8]) -> usize {
        if stretch.len() > SHORT { self.tokenizer.pretokenizer.grouped_from_right(stretch) } else { 0 }
    }

    /// More bytes have more ids than so many, whatever they are.
    fn longest(&self, ids: usize) -> usize {
        ids.saturating_mul(self.tokenizer.most_bytes)
    }

    /// The number of ids of a part of a pretoken that is a pretoken of its own, where so many of the
    /// ids of the whole stand for it.
    fn of_slice(&self, part: &[u8], ids: usize) -> usize {
        let encoder = &self.tokenizer.encoder;
        // It may be a token against its merges.
        let is_token = ids > 1
            && !encoder.slices_are_valid()
            && part.len() <= self.tokenizer.most_bytes
            && encoder.whole(part).is_some();
        if is_token { 1 } else { ids }
    }

    /// The number of ids of a stretch from `start` on, pretoken by pretoken up to a place whose
    /// number is known; where it came by is known then.
    fn count_to_known(
        &mut self,
        stretch: &Range<usize>,
        start: usize,
        counted: &mut Counted,
    ) -> Result<usize> {
        self.watch.check()?;
        if counted.begins == Begins::Unknown {
            return self.count(stretch.start + start..stretch.end);
        }
        let text = &self.text[stretch.start + start..stretch.end];
        let (tokenizer, scratch, watch) = (self.tokenizer, &mut *self.scratch, self.watch);
        // Places with the number of ids up to them.
        let (mut passed, mut count, mut last) = (Vec::new(), 0, 0);
        let mut paced = Paced::new(watch);
        let flow = tokenizer.pretokenizer.try_for_many(text, 0, GoesOn::No, |mut from, ends| {
            let asked = match ends.last() {
                Some(&end) => paced.after(end - from),
                None => watch.check(),
            };
            if let Err(error) = asked {
                return ControlFlow::Break(Err(error));
            }
            for &end in ends {
                let mut tally = Tally::default();
                match tokenizer.encoder.encode(text, from, &[end], scratch, watch, &mut tally) {
                    Ok(()) => count += tally.0,
                    Err(error) => return ControlFlow::Break(Err(error)),
                }
                from = end;
                if counted.begins == Begins::AtFirstSplit {
                    match is_first_split(&tokenizer.pretokenizer, text, last, end, watch) {
                        Ok(true) => {}
                        Ok(false) => continue,
                        Err(error) => return ControlFlow::Break(Err(error)),
                    }
                }
                last = end;
                if let Some(rest) = counted.known.get(&(start + end)) {
                    return ControlFlow::Break(Ok(count + rest));
                }
                passed.push((start + end, count));
            }
            ControlFlow::Continue(())
        });
        let all = match flow {
            ControlFlow::Continue(_) => count,
            ControlFlow::Break(found) => found.map_err(|error| error.shifted(stretch.start + start))?,
        };
        counted.known.insert(start, all);
        counted.known.extend(passed.into_iter().map(|(place, before)| (place, all - before)));
        Ok(all)
    }
}

/// Whether a place is inside a character, or inside bytes that one U+FFFD stands for.
fn is_inside(text: &[u8], at: usize) -> bool {
    character_until(text, at) < at
}
