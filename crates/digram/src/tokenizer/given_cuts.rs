//! Where a given text is cut into words before it is normalized.
//!
//! Two neighbouring characters decide. Which do is found when a text has them, and remembered: for kinds of characters,
//! on which the cuts depend in the same way, or for pairs. Most kinds are in one of three classes that decide without
//! looking at the kinds, for 64 bytes at once.

use std::sync::atomic::{AtomicU64, Ordering};

use kinds::{Class, Kinds};

use crate::error::Result;
use crate::interrupt::Pacer;
use crate::masks;
use crate::normalize::Normalizer;
use crate::pretokenize::Pretokenizer;
use crate::utf8::{decode, is_inside};

mod kinds;

/// The number of pairs of characters that are remembered.
const PAIRS: usize = 1 << 12;

/// The number of bytes after which the interrupt is checked where a text is not cut.
const PAUSE: usize = 1 << 16;

/// The bits of a character in a pair.
const CHARACTER: u32 = 21;

/// The bits of a pair that say that it is known, and that a text is cut there.
const KNOWN: u64 = 1 << (2 * CHARACTER);
const CUT: u64 = KNOWN << 1;

/// What decides where a text is cut.
#[derive(Clone, Copy)]
pub(super) struct Decides<'a> {
    pub(super) normalizer: &'a Normalizer,
    pub(super) pretokenizer: &'a Pretokenizer,
}

impl Decides<'_> {
    /// Whether every text is cut between two characters. Not behind a space, so that words begin with theirs.
    #[cold]
    #[inline(never)]
    fn is_cut(self, before: char, after: char) -> bool {
        before != ' ' && self.normalizer.cuts_words(before, after, self.pretokenizer)
    }

    /// What the cuts beside a character depend on.
    #[cold]
    #[inline(never)]
    fn side_number(self, c: char) -> Option<u64> {
        // A text is never cut behind a space.
        Some(self.normalizer.side_number(c)? << 1 | u64::from(c == ' '))
    }
}

/// Of 64 characters or kinds those for which it is known whether a text is cut before them behind another one, and those
/// for which it is.
struct Behind([AtomicU64; 2]);

impl Behind {
    const fn unknown() -> Behind {
        Behind([const { AtomicU64::new(0) }; 2])
    }

    #[inline]
    fn of(&self, after: u8, decide: impl FnOnce() -> bool) -> bool {
        let Behind([known, cut]) = self;
        if known.load(Ordering::Acquire) >> after & 1 != 0 {
            return cut.load(Ordering::Relaxed) >> after & 1 != 0;
        }
        let is_cut = decide();
        cut.fetch_or(u64::from(is_cut) << after, Ordering::Relaxed);
        // Whoever sees that it is known sees the result.
        known.fetch_or(1 << after, Ordering::Release);
        is_cut
    }
}

/// Where a given text is cut.
pub(super) struct GivenCuts {
    /// The ASCII characters behind each of them, unless kinds decide.
    ascii: Box<[Behind; 128 * 2]>,
    /// The kinds of characters of up to three bytes, if kinds decide.
    kinds: Option<Kinds>,
    /// Other pairs of characters, found when a text has them.
    pairs: Box<[AtomicU64]>,
    /// Whether a text is cut only beside ASCII characters.
    only_beside_ascii: bool,
}

/// The places of a text that were decided ahead.
#[derive(Default)]
pub(super) struct Ahead {
    /// Where the last block starts, and its cuts that were not given yet, a bit each.
    start: usize,
    cuts: u64,
    /// The end of the last block.
    end: usize,
    /// The start of the last character before the end, and its class.
    last: usize,
    class: Class,
}

impl GivenCuts {
    /// Those of a normalizer that cuts text into words.
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &Pretokenizer) -> Option<Box<GivenCuts>> {
        let normalizer = normalizer.filter(|normalizer| {
            normalizer.has_words() && normalizer.has_seams() && !normalizer.depends_on_start()
        })?;
        let decides = Decides { normalizer, pretokenizer };
        let any = [' ', '\n', '.', '語'].into_iter().any(|after| decides.is_cut('a', after));
        any.then(|| {
            Box::new(GivenCuts {
                ascii: Box::new([const { Behind::unknown() }; 128 * 2]),
                kinds: normalizer.side_number('a').map(|_| Kinds::new(decides)),
                pairs: (0..PAIRS).map(|_| AtomicU64::new(0)).collect(),
                only_beside_ascii: normalizer.cuts_beside_ascii(),
            })
        })
    }

    /// The first place after an offset at which a text is cut; the end of the text if there is none. `ahead` has the
    /// places that were decided when the one at the offset was given.
    #[inline]
    pub(super) fn next(
        &self,
        decides: Decides<'_>,
        text: &[u8],
        from: usize,
        ahead: &mut Ahead,
        pacer: &mut Pacer<'_>,
    ) -> Result<usize> {
        let Some(kinds) = &self.kinds else { return self.next_one_by_one(decides, text, from, pacer) };
        let mut pause = from + PAUSE;
        while ahead.cuts == 0 {
            if ahead.end == text.len() {
                return Ok(text.len());
            }
            self.decide_block(decides, kinds, text, ahead);
            if ahead.end > pause {
                pacer.after(PAUSE)?;
                pause += PAUSE;
            }
        }
        let at = ahead.start + ahead.cuts.trailing_zeros() as usize;
        ahead.cuts &= ahead.cuts - 1;
        Ok(at)
    }

    /// The same where pairs of characters decide.
    #[inline]
    fn next_one_by_one(
        &self,
        decides: Decides<'_>,
        text: &[u8],
        from: usize,
        pacer: &mut Pacer<'_>,
    ) -> Result<usize> {
        let (mut before, len) = decode(&text[from..]);
        let (mut at, mut pause) = (from + len, from + PAUSE);
        if self.only_beside_ascii && !text[from].is_ascii() {
            (before, at) = last_before_ascii(text, from);
        }
        while at < text.len() {
            let (after, len) = decode(&text[at..]);
            if let (Some(before), Some(after)) = (before, after)
                && self.between(before, after, || decides.is_cut(before, after))
            {
                return Ok(at);
            }
            (before, at) = match after {
                Some(c) if self.only_beside_ascii && !c.is_ascii() => last_before_ascii(text, at),
                _ => (after, at + len),
            };
            if at > pause {
                pacer.after(PAUSE)?;
                pause += PAUSE;
            }
        }
        Ok(at)
    }

    /// Decides the places of the next characters of a text.
    fn decide_block(&self, decides: Decides<'_>, kinds: &Kinds, text: &[u8], ahead: &mut Ahead) {
        let start = ahead.end;
        let Some(block) = masks::look_up(kinds.simd, text, start, |row| kinds.classes.of_row(row)) else {
            return self.decide_each(decides, kinds, text, ahead);
        };
        let [low, high] = block.with;
        let space = block.spaces;
        let [low_behind, high_behind, space_behind] = [low, high, space].map(|firsts| block.behind(firsts));
        let is_last = |firsts: u64| u64::from(block.has_last(firsts));
        let class = Class { low: is_last(low), high: is_last(high), space: is_last(space) };
        let before = std::mem::replace(&mut ahead.class, class);
        let first = block.starts & 1;
        let (low_behind, high_behind) = (low_behind | before.low & first, high_behind | before.high & first);
        // No text is cut at its start.
        let space_behind = space_behind | (before.space | u64::from(start == 0)) & first;
        let are_known = (low | high | space) & (low_behind | high_behind);
        // A mark beside what stands apart.
        let is_mixed = low & !high & !low_behind | low_behind & !high_behind & high & !low;
        let places = block.starts & !space_behind;
        let mut undecided = places & (!are_known | is_mixed);
        let mut cuts = places & !undecided & !(low & low_behind);
        while undecided != 0 {
            let bit = undecided & undecided.wrapping_neg();
            let earlier = block.starts & (bit - 1);
            let last = if earlier == 0 { ahead.last } else { start + earlier.ilog2() as usize };
            let at = start + bit.trailing_zeros() as usize;
            let [before, after] = [last, at].map(|at| decode(&text[at..]).0);
            cuts |= if self.is_cut(decides, kinds, before, after) { bit } else { 0 };
            undecided &= undecided - 1;
        }
        (ahead.start, ahead.cuts, ahead.end) = (start, cuts, start + block.len);
        ahead.last = start + block.starts.ilog2() as usize;
    }

    /// The same one by one.
    fn decide_each(&self, decides: Decides<'_>, kinds: &Kinds, text: &[u8], ahead: &mut Ahead) {
        let (start, mut at, mut cuts) = (ahead.end, ahead.end, 0);
        let mut before = if start == 0 { None } else { decode(&text[ahead.last..]).0 };
        while at < text.len() && at < start + masks::BLOCK {
            let (after, len) = decode(&text[at..]);
            cuts |= u64::from(self.is_cut(decides, kinds, before, after)) << (at - start);
            before = after;
            ahead.last = at;
            at += len;
        }
        let class = before.map_or(Class::default(), |c| kinds.classes.of(c));
        (ahead.start, ahead.cuts, ahead.end, ahead.class) = (start, cuts, at, class);
    }

    /// Whether a text is cut between two characters, or bytes that are none.
    #[inline]
    fn is_cut(&self, decides: Decides<'_>, kinds: &Kinds, before: Option<char>, after: Option<char>) -> bool {
        let (Some(before), Some(after)) = (before, after) else { return false };
        kinds
            .between(before, after, decides)
            .unwrap_or_else(|| self.between_others(before, after, || decides.is_cut(before, after)))
    }

    /// Whether a text is cut between two characters; `decide` is called if that is not known.
    #[inline]
    fn between(&self, before: char, after: char, decide: impl FnOnce() -> bool) -> bool {
        if before.is_ascii() && after.is_ascii() {
            let (before, after) = (before as usize, after as u8);
            return self.ascii[2 * before + usize::from(after / 64)].of(after % 64, decide);
        }
        self.between_others(before, after, decide)
    }

    #[inline]
    fn between_others(&self, before: char, after: char, decide: impl FnOnce() -> bool) -> bool {
        let pair = u64::from(u32::from(before)) << CHARACTER | u64::from(u32::from(after)) | KNOWN;
        let place = &self.pairs[(pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % PAIRS];
        let known = place.load(Ordering::Relaxed);
        if known & !CUT == pair {
            return known & CUT != 0;
        }
        let is_cut = decide();
        place.store(pair | if is_cut { CUT } else { 0 }, Ordering::Relaxed);
        is_cut
    }
}

/// The place of the first ASCII character behind an offset, and the character before it.
#[inline]
fn last_before_ascii(text: &[u8], from: usize) -> (Option<char>, usize) {
    let until = text.len().min(from + PAUSE);
    let other = text[from..until].iter().position(u8::is_ascii);
    let at = other.map_or(until, |len| from + len);
    // It has up to four bytes, the first of which is no inner one.
    let start = (from..at).rev().take(4).find(|&start| !is_inside(text[start])).unwrap_or(from);
    match decode(&text[start..at]) {
        (c, len) if start + len == at => (c, at),
        _ => (None, at),
    }
}

#[cfg(test)]
mod tests;
