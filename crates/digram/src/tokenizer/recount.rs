//! The number of ids of the beginnings and ends of a long pretoken that is not merged by rank alone.
//!
//! Where tokens come and go, or words join, what is left of a pretoken need not have a slice of its
//! ids. But mostly it does up to a little before the cut, and this can be seen: only the text around
//! the cut is encoded, from a place on that nothing ever spanned in the whole; if there is one more
//! such place in both, then what is before it is what it was (`docs/algorithm.md`).

use std::ops::{ControlFlow, Range};

use super::Tokenizer;
use super::stretch::is_first_split;
use super::truncate::Search;
use crate::encode::Seam;
use crate::error::Result;
use crate::pretokenize::{GoesOn, Pretokenizer, Suffixes};
use crate::utf8::decode;
use crate::watch::Paced;

/// So many seams before a cut, or after it, its surroundings begin or end; twice as many where these
/// are too few, and so on.
const NEAR: usize = 4;

/// What stands behind the end of a word decides it within so many bytes, or it is not looked at
/// further.
const BEHIND: usize = 64;

/// A place that is certain is looked for no farther back than this, in bytes.
const CERTAIN: usize = 1 << 10;

/// Of words up to so many bytes all is encoded anew.
const SHORT_WORD: usize = 64;

/// A pretoken of which parts are counted.
pub(super) struct Recount<'t> {
    text: &'t [u8],
    /// All but the one at the beginning.
    seams: Vec<Seam>,
    /// The numbers of the seams at which surroundings may begin and end.
    joints: Vec<usize>,
    words: Option<Words<'t>>,
}

/// How such a pretoken is cut into words that join.
struct Words<'t> {
    pretokenizer: &'t Pretokenizer,
    ends: Vec<usize>,
    /// Those of the ends that the first of several splits made, each with the length of a beginning
    /// from which on it has them too, and all before.
    certain: Vec<(usize, usize)>,
    suffixes: Suffixes<'t>,
    /// A long word by its end, and at which of its places it would be one if the text ended there.
    whole: (usize, Vec<bool>),
}

impl<'t> Recount<'t> {
    /// Encodes the pretoken `text`, which is what `search` has at `range`.
    pub(super) fn new(search: &mut Search<'t>, range: Range<usize>) -> Result<Recount<'t>> {
        let (tokenizer, whole): (&'t Tokenizer, &'t [u8]) = (search.tokenizer, search.text);
        let text = &whole[range];
        let words = tokenizer.encoder.words().map(|words| Words::new(words, text, search)).transpose()?;
        let ends = words.as_ref().map_or(&[][..], |words| &words.ends);
        let seams = tokenizer.encoder.seams(text, ends, &mut search.scratch, search.watch)?;
        let is_joint = |seam: &Seam| match &words {
            Some(words) => words.ends.binary_search(&seam.place).is_ok(),
            None => true,
        };
        let joints = (0..seams.len()).filter(|&number| is_joint(&seams[number])).collect();
        Ok(Recount { text, seams, joints, words })
    }

    /// The number of ids before a place, if it is a seam.
    fn count_at(&self, place: usize) -> Option<usize> {
        let found = self.seams.binary_search_by_key(&place, |seam| seam.place);
        found.ok().map(|number| self.seams[number].count).or((place == 0).then_some(0))
    }

    fn total(&self) -> usize {
        self.seams.last().map_or(0, |seam| seam.count)
    }

    /// How many seams stand behind `start`, up to `end`.
    fn seams_in(&self, start: usize, end: usize) -> usize {
        let before = |place| self.seams.partition_point(|seam| seam.place <= place);
        before(end) - before(start)
    }

    /// The number of ids of the text up to `end`, as a text of its own that is one pretoken.
    pub(super) fn beginning(&mut self, search: &mut Search<'t>, end: usize) -> Result<usize> {
        // Up to `agreed` it has the words of the whole, and behind that `own`.
        let (agreed, own) = match &mut self.words {
            None => (end, Vec::new()),
            Some(words) => {
                let agreed = words.agreed_until(end);
                if end - agreed > SHORT_WORD && words.is_whole_word(self.text, agreed, end, search)? {
                    // A word of several tokens joins nothing.
                    if let Some(count) = self.count_at(end).filter(|_| self.seams_in(agreed, end) > 1) {
                        return Ok(count);
                    }
                    (agreed, vec![end])
                } else {
                    words.of_beginning(self.text, agreed, end, search)?
                }
            }
        };
        if agreed == end
            && let Some(count) = self.count_at(end)
        {
            return Ok(count);
        }
        let before = self.joints.partition_point(|&number| {
            let place = self.seams[number].place;
            place <= agreed && place < end
        });
        let mut near = NEAR;
        loop {
            search.watch.check()?;
            let first = before.checked_sub(near).map(|joint| self.seams[self.joints[joint]]);
            let Seam { place: from, count } = first.unwrap_or(Seam { place: 0, count: 0 });
            let found = self.encode(search, from..end, from..agreed, &own)?;
            let shares = || {
                let places = found.iter().map(|seam| from + seam.place).take_while(|&place| place <= agreed);
                places.filter(|&place| place < end).any(|place| self.count_at(place).is_some())
            };
            if from == 0 || shares() {
                return Ok(count + found.last().map_or(0, |seam| seam.count));
            }
            near *= 2;
        }
    }

    /// The number of ids of the text from `start` on, as a text of its own that is one pretoken.
    pub(super) fn ending(&mut self, search: &mut Search<'t>, start: usize) -> Result<usize> {
        // From `agreed` on it has the words of the whole, and before that `own`.
        let (agreed, own) = match &self.words {
            None => (start, Vec::new()),
            Some(words) => {
                let end = words.end_after(start);
                if words.suffixes.is_regular(self.text, start) {
                    if end - start > SHORT_WORD
                        && self.seams_in(start, end) > 1
                        && let Some(count) = self.count_at(start)
                    {
                        return Ok(self.total() - count);
                    }
                    let is_begin = start == 0 || words.ends.binary_search(&start).is_ok();
                    if is_begin { (start, Vec::new()) } else { (end, vec![end]) }
                } else {
                    words.of_ending(self.text, start, search)?
                }
            }
        };
        if agreed == start
            && let Some(count) = self.count_at(start)
        {
            return Ok(self.total() - count);
        }
        let after = self.joints.partition_point(|&number| self.seams[number].place <= agreed.max(start));
        let mut near = NEAR;
        loop {
            search.watch.check()?;
            let last = self.joints.get(after + near).map_or(self.seams.len() - 1, |&number| number);
            let Seam { place: to, count } = self.seams[last];
            let found = self.encode_ending(search, start..to, &own, agreed..to)?;
            let shares = || {
                let places = found.iter().map(|seam| start + seam.place).skip_while(|&place| place < agreed);
                places.take_while(|&place| place < to).any(|place| self.count_at(place).is_some())
            };
            if to == self.text.len() || shares() {
                return Ok(found.last().map_or(0, |seam| seam.count) + self.total() - count);
            }
            near *= 2;
        }
    }

    /// The seams of a part, with the words of the whole in `agreed` and behind that `own`.
    fn encode(
        &self,
        search: &mut Search<'t>,
        range: Range<usize>,
        agreed: Range<usize>,
        own: &[usize],
    ) -> Result<Vec<Seam>> {
        let mut words = self.words_in(agreed);
        words.extend_from_slice(own);
        words.iter_mut().for_each(|end| *end -= range.start);
        let text = &self.text[range];
        search.tokenizer.encoder.seams(text, &words, &mut search.scratch, search.watch)
    }

    /// The seams of a part, with words of its own and behind these those of the whole in `agreed`.
    fn encode_ending(
        &self,
        search: &mut Search<'t>,
        range: Range<usize>,
        own: &[usize],
        agreed: Range<usize>,
    ) -> Result<Vec<Seam>> {
        let mut words = own.to_vec();
        words.extend(self.words_in(agreed));
        words.iter_mut().for_each(|end| *end -= range.start);
        let text = &self.text[range];
        search.tokenizer.encoder.seams(text, &words, &mut search.scratch, search.watch)
    }

    /// Where the words of the whole end behind the start of a range, up to its end.
    fn words_in(&self, range: Range<usize>) -> Vec<usize> {
        let Some(words) = &self.words else { return Vec::new() };
        let number = |place| words.ends.partition_point(|&end| end <= place);
        words.ends[number(range.start)..number(range.end)].to_vec()
    }
}

impl<'t> Words<'t> {
    fn new(pretokenizer: &'t Pretokenizer, text: &[u8], search: &Search<'t>) -> Result<Words<'t>> {
        let ends = pretokenizer.ends(text, search.watch)?;
        let (mut certain, mut last, mut needed) = (Vec::new(), 0, 0);
        let mut paced = Paced::new(search.watch);
        for &end in &ends[..ends.len().saturating_sub(1)] {
            paced.after(end - last)?;
            let mut seen = end + decode(&text[end..]).1;
            loop {
                seen = seen.max(needed).min(text.len());
                if pretokenizer.ends_for_certain(&text[..seen], last, end, search.watch)? {
                    certain.push((end, seen));
                    (last, needed) = (end, seen);
                    break;
                }
                if seen - end > BEHIND || seen == text.len() {
                    break;
                }
                seen = end + 2 * (seen - end);
            }
            if end - last > CERTAIN {
                break;
            }
        }
        let suffixes = pretokenizer.suffixes(text, search.watch)?;
        Ok(Words { pretokenizer, ends, certain, suffixes, whole: (0, Vec::new()) })
    }

    /// Where the word of a place ends, which is behind it.
    fn end_after(&self, place: usize) -> usize {
        self.ends[self.ends.partition_point(|&end| end <= place)]
    }

    /// The last place up to which the text up to `end` is known to have the words of the whole.
    fn agreed_until(&self, end: usize) -> usize {
        let known = self.certain.partition_point(|&(place, needs)| needs <= end && place <= end);
        known.checked_sub(1).map_or(0, |number| self.certain[number].0)
    }

    /// Whether the text from the beginning of a word, which is certain, to `end` is one word if it
    /// ends there.
    fn is_whole_word(&mut self, text: &[u8], start: usize, end: usize, search: &Search<'t>) -> Result<bool> {
        let word_end = self.end_after(start);
        if word_end < end {
            return Ok(false);
        }
        if self.whole.0 != word_end {
            let whole = self.pretokenizer.whole_prefixes(&text[..word_end], start, search.watch)?;
            self.whole = (word_end, whole);
        }
        Ok(self.whole.1[end - start])
    }

    /// The words of the text up to `end`: the place up to which they are those of the whole, and where
    /// those behind it end.
    fn of_beginning(
        &self,
        text: &[u8],
        mut agreed: usize,
        end: usize,
        search: &Search<'t>,
    ) -> Result<(usize, Vec<usize>)> {
        if self.pretokenizer.looks_behind() && !self.pretokenizer.is_one_split() {
            agreed = 0;
        }
        let mut own = Vec::new();
        self.pretokenizer.for_many(&text[..end], agreed, GoesOn::No, search.watch, |_, ends| {
            own.extend(ends.iter().map(|place| agreed + place));
            Ok(())
        })?;
        Ok((agreed, own))
    }

    /// The words of the text from `start` on: the place from which on they are those of the whole, and
    /// where those before it end.
    fn of_ending(&self, text: &[u8], start: usize, search: &Search<'t>) -> Result<(usize, Vec<usize>)> {
        let rest = &text[start..];
        let mut own = Vec::new();
        // Where the first of several splits cut last.
        let mut last = 0;
        let flow = self.pretokenizer.try_for_many(rest, 0, GoesOn::No, |_, ends| {
            let mut visit = || {
                search.watch.check()?;
                for &end in ends {
                    own.push(start + end);
                    let is_known = match self.pretokenizer.is_one_split() {
                        true => self.ends.binary_search(&(start + end)).is_ok(),
                        false => {
                            let is_first = is_first_split(self.pretokenizer, rest, last, end, search.watch)?;
                            if is_first {
                                last = end;
                            }
                            is_first
                                && self.certain.binary_search_by_key(&(start + end), |found| found.0).is_ok()
                        }
                    };
                    if is_known {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            match visit() {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        flow.break_value().transpose()?;
        Ok((own.last().copied().unwrap_or(text.len()), own))
    }
}
