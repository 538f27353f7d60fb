//! Cutting text with one step of the automaton a run, not one a character.
//!
//! Text is read in blocks of 64 bytes. First the class of each character is looked up and a mask
//! made of the places where a run of one group begins (see [`Grouping`]); then the automaton steps
//! from place to place. A step tells whether a pretoken ends before its character, and where that
//! is all, which is nearly everywhere, nothing is decided by a branch.
//!
//! Where the automaton went further than the match reaches (`\s+(?!\S)` before a word), it starts
//! again where the match ended; where it went far, the slower way goes on that notes what was
//! looked at in vain, so that the time stays linear.

use std::ops::ControlFlow;

use super::GoesOn;
use super::ascii::{Ascii, BLOCK, changes, equal};
use super::automaton::{Automaton, DEAD, Notes};
use super::grouping::{Disturbing, Grouping};

/// Ends handed on at once, at least, where there are more to come.
const MANY: usize = 64;

/// A start from an earlier place beyond this many bytes is left to the slower way.
const FAR: usize = 256;

/// The pretoken ends before the character.
const ENDS: u32 = 1;
/// A match ends before the character, and a longer one may come.
const MATCHED: u32 = 2;
/// What comes next is not in the table.
const STOPS: u32 = 4;
const FLAGS: u32 = 3; // bits

/// A pattern prepared for cutting by runs.
pub(super) struct Runs {
    /// `steps[row + class]`: flags, and the row of the next state above them.
    steps: Vec<u32>,
    start: usize,
    /// How many there are: the length of a row.
    classes: usize,
    ascii: Ascii,
    /// The group of each class.
    groups: Vec<u8>,
    disturbing: Option<Disturbing>,
}

/// The classes of the characters of a block and the places where runs begin.
struct Block {
    start: usize,
    /// Of each place where a character begins.
    classes: [u8; BLOCK],
    places: u64,
    /// Where the next block begins: where a character does.
    next: usize,
    /// How many characters of the next block are stepped whatever they are.
    disturbed: usize,
}

/// Ends of pretokens on their way to the caller.
struct Ends<V> {
    start: usize,
    ends: [usize; MANY + BLOCK + 2],
    count: usize,
    visit: V,
}

impl<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>> Ends<V> {
    /// Where the last pretoken ends.
    fn last(&self) -> usize {
        if self.count == 0 { self.start } else { self.ends[self.count - 1] }
    }

    fn push(&mut self, end: usize) -> ControlFlow<B> {
        self.ends[self.count] = end;
        self.count += 1;
        self.flush(MANY)
    }

    /// Hands the ends on if there are as many as `enough`.
    #[inline]
    fn flush(&mut self, enough: usize) -> ControlFlow<B> {
        if self.count < enough.max(1) {
            return ControlFlow::Continue(());
        }
        let start = std::mem::replace(&mut self.start, self.ends[self.count - 1]);
        let count = std::mem::take(&mut self.count);
        (self.visit)(start, &self.ends[..count])
    }
}

impl Runs {
    /// Prepares an automaton; `None` if it looks behind or is too large, for which there is the
    /// slower way.
    pub(super) fn new(automaton: &Automaton) -> Option<Runs> {
        if automaton.looks_behind() {
            return None;
        }
        let grouping = Grouping::new(automaton)?;
        let classes = automaton.alphabet().len();
        let row = |state: u16| u32::from(state) * classes as u32;
        let mut steps = Vec::with_capacity(automaton.state_count() * classes);
        for state in 0..automaton.state_count() as u16 {
            for class in 0..classes {
                let restarted = automaton.step(automaton.start(), class).0;
                steps.push(match automaton.step(state, class) {
                    (DEAD, true) if restarted != DEAD => row(restarted) << FLAGS | ENDS,
                    (DEAD, _) => STOPS,
                    (next, matched) => row(next) << FLAGS | if matched { MATCHED } else { 0 },
                });
            }
        }
        let alphabet = automaton.alphabet();
        let entry = |c: char| {
            let class = alphabet.class(c);
            (class, grouping.groups[class as usize])
        };
        Some(Runs {
            steps,
            start: row(automaton.start()) as usize,
            classes,
            ascii: Ascii::new(entry),
            groups: grouping.groups,
            disturbing: grouping.disturbing,
        })
    }

    /// Calls `visit` with where some pretokens begin and where each of them ends, in order, until
    /// it breaks, and returns where the last one ends; `automaton` is the one this was made from.
    /// Of a text that may go on the pretokens are left out that depend on how.
    pub(super) fn split<B>(
        &self,
        automaton: &Automaton,
        text: &[u8],
        goes_on: GoesOn,
        visit: impl FnMut(usize, &[usize]) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        if text.is_empty() {
            return ControlFlow::Continue(0);
        }
        let mut ends = Ends { start: 0, ends: [0; MANY + BLOCK + 2], count: 0, visit };
        let mut notes = Notes::default();
        let mut block = Block { start: 0, classes: [0; BLOCK], places: 0, next: 0, disturbed: 0 };
        // The row of the state, the place where it was entered, and where the match found so far
        // ends: where the pretoken starts, if there is none.
        let (mut row, mut entered, mut matched) = (self.start, 0, 0);
        self.read(automaton, text, 0, &mut block);
        let mut places = block.places;
        loop {
            let mut at = text.len();
            // Kept by itself: in the memory of `ends` each step would wait for the one before.
            let mut count = ends.count;
            while places != 0 {
                let offset = places.trailing_zeros() as usize;
                let place = block.start + offset;
                let step = self.steps[row + block.classes[offset] as usize];
                if step & STOPS != 0 {
                    at = place;
                    break;
                }
                places &= places - 1;
                ends.ends[count] = place;
                count += (step & ENDS) as usize;
                matched = if step & (ENDS | MATCHED) != 0 { place } else { matched };
                (row, entered) = ((step >> FLAGS) as usize, place);
            }
            ends.count = count;
            ends.flush(MANY)?;
            if places == 0 && block.next < text.len() {
                self.read(automaton, text, block.next, &mut block);
                places = block.places;
                continue;
            }
            // The automaton can't go on, or there is no more text.
            let start = ends.last();
            if start == text.len() || at == text.len() && goes_on == GoesOn::Maybe {
                ends.flush(1)?;
                return ControlFlow::Continue(start);
            }
            let end = self.match_end(automaton, text, row, entered, at, matched);
            let mut again = end;
            if end > start && at - end <= FAR {
                ends.push(end)?;
            } else {
                let until = at.max(start + 1);
                let push = |end| ends.push(end);
                again = automaton.split_from(text, start, until, goes_on, &mut notes, push)?;
                if goes_on == GoesOn::Maybe && again < until {
                    ends.flush(1)?;
                    return ControlFlow::Continue(again);
                }
            }
            (row, entered, matched) = (self.start, again, again);
            if (block.start..block.next).contains(&again) {
                // All places from here on, and this one whether or not a run begins here.
                places = (block.places | 1 << (again - block.start)) & u64::MAX << (again - block.start);
            } else if again < text.len() {
                block.disturbed = 0;
                self.read(automaton, text, again, &mut block);
                places = block.places;
            } else {
                places = 0;
                block.next = text.len();
            }
        }
    }

    /// Where the match ends when the automaton stands at `at`, unable to go on, in the state of
    /// `row`, which it entered with the character at `entered`.
    #[cold]
    fn match_end(
        &self,
        automaton: &Automaton,
        text: &[u8],
        row: usize,
        entered: usize,
        at: usize,
        matched: usize,
    ) -> usize {
        let class = |at: usize| automaton.alphabet().first(&text[at..]).0 as usize;
        let state = (row / self.classes) as u16;
        let matches = match at < text.len() {
            true => automaton.step(state, class(at)).1,
            false => automaton.matches_at_end(state),
        };
        if matches {
            return at;
        }
        // Of the steps of a run only the first was made. If the others match before each
        // character, the last of them did so before the last character.
        let before = at - bstr::decode_last_utf8(&text[entered..at]).1;
        if entered < before && automaton.step(state, class(entered)) == (state, true) {
            return before;
        }
        matched
    }

    /// Reads the block that begins at `start`, where a character does.
    fn read(&self, automaton: &Automaton, text: &[u8], start: usize, block: &mut Block) {
        block.start = start;
        match text[start..].first_chunk::<BLOCK>() {
            Some(bytes) => self.read_whole(automaton, text, bytes, block),
            None => {
                let mut bytes = [0; BLOCK];
                let rest = &text[start..];
                bytes[..rest.len()].copy_from_slice(rest);
                self.read_whole(automaton, text, &bytes, block);
                block.next = block.next.min(text.len());
                block.places &= (1 << rest.len()) - 1;
            }
        }
        // The first place is stepped at any rate, which spares to keep what stands before it.
        block.places |= 1;
    }

    #[inline]
    fn read_whole(&self, automaton: &Automaton, text: &[u8], bytes: &[u8; BLOCK], block: &mut Block) {
        // The last character may reach beyond the block.
        let mut groups = [0; 2 * BLOCK];
        let (here, _) = groups.split_first_chunk_mut().expect("twice as many");
        self.ascii.read(bytes, &mut block.classes, here);
        let mut starts = u64::MAX;
        block.next = block.start + BLOCK;
        if !bytes.is_ascii() {
            starts = self.read_others(automaton, text, bytes, &mut groups, block);
        }
        block.places = changes(groups.first_chunk().expect("twice as many")) & starts;
        let disturbed = std::mem::take(&mut block.disturbed);
        if disturbed > 0 {
            block.disturb(starts, disturbed);
        }
        if let Some(Disturbing { class, byte, reach }) = self.disturbing {
            let mut disturbing = match starts {
                u64::MAX => equal(bytes, byte),
                _ => equal(&block.classes, class) & starts,
            };
            while disturbing != 0 {
                let after = u64::MAX << 1 << disturbing.trailing_zeros();
                block.disturb(starts & after, reach);
                disturbing &= disturbing - 1;
            }
        }
    }

    /// Puts the characters that are not ASCII in their places; gives a word with a bit for each
    /// place where a character begins.
    fn read_others(
        &self,
        automaton: &Automaton,
        text: &[u8],
        bytes: &[u8; BLOCK],
        groups: &mut [u8; 2 * BLOCK],
        block: &mut Block,
    ) -> u64 {
        let others = !equal(&bytes.map(|byte| byte & 0x80), 0);
        let (mut left, mut inside, mut last) = (others, 0, 0);
        while left != 0 {
            let offset = left.trailing_zeros() as usize;
            let (class, width) = automaton.alphabet().first(&text[block.start + offset..]);
            block.classes[offset] = class;
            // A character is of one group in all its bytes, so that it changes at its start only.
            let group = self.groups[class as usize];
            for at in [0, 1, 2, 3].into_iter().take(width) {
                groups[(offset + at) % (2 * BLOCK)] = group;
            }
            let bits = ((1 << width) - 2) << offset;
            inside |= bits;
            left &= !(bits | 1 << offset);
            last = offset + width;
        }
        block.next = block.start + last.max(BLOCK);
        !inside
    }
}

impl Block {
    /// Has the first `count` of these characters stepped, and those of the next block if they are
    /// fewer.
    fn disturb(&mut self, mut starts: u64, count: usize) {
        let mut left = count;
        while left > 0 && starts != 0 {
            self.places |= starts & starts.wrapping_neg();
            starts &= starts - 1;
            left -= 1;
        }
        self.disturbed = self.disturbed.max(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The look-ahead and the contractions of the published patterns, which make runs hard.
    const PATTERNS: [&str; 5] = [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'ll)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'ll)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        // Gaps, matches that give far back, and a disturbance that is no apostrophe.
        r"a+b|\p{L}(?:-x+)?|\s{2,}(?!\S)",
        r"#(?:ab|c)|[a-z]+|\d{2}",
    ];

    const PIECES: [&str; 24] = [
        "a", "b", "x", "s", "S", "ll", "L", "é", "ſ", " ", "  ", "\n", "\r\n", "\t", "\u{a0}", "\u{3000}",
        "1", "٣", "'", "!", "-", "#", "語", "\u{301}",
    ];

    #[test]
    fn runs_cut_as_single_steps_do() {
        let mut random = 1u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for pattern in PATTERNS {
            let automaton = Automaton::new(pattern).unwrap();
            let runs = Runs::new(&automaton).unwrap();
            for round in 0..8_000 {
                let mut text = Vec::new();
                for _ in 0..next(40) {
                    // Some runs are longer than a block, and some longer than what is looked back.
                    let longest = [1, 1, 1, 4, 70, 300][next(if round % 8 == 0 { 6 } else { 4 })];
                    let piece = PIECES[next(PIECES.len())].repeat(1 + next(longest));
                    text.extend_from_slice(piece.as_bytes());
                    if next(200) == 0 {
                        text.push(0x80 | next(128) as u8);
                    }
                }
                let mut expected = Vec::new();
                let step = |end| {
                    expected.push(end);
                    ControlFlow::<()>::Continue(())
                };
                _ = automaton.split_from(&text, 0, text.len(), GoesOn::No, &mut Notes::default(), step);
                let mut found = Vec::new();
                _ = runs.split(&automaton, &text, GoesOn::No, |start, ends| {
                    assert_eq!(start, found.last().copied().unwrap_or(0));
                    found.extend_from_slice(ends);
                    ControlFlow::<()>::Continue(())
                });
                assert_eq!(found, expected, "{pattern} {:?}", String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn the_published_patterns_need_few_steps() {
        let text = b"The quick brown foxes weren't amused, 'twas said; 1,234 of them.\n".repeat(40);
        for pattern in &PATTERNS[..3] {
            let automaton = Automaton::new(pattern).unwrap();
            let runs = Runs::new(&automaton).unwrap();
            let mut block = Block { start: 0, classes: [0; BLOCK], places: 0, next: 0, disturbed: 0 };
            let mut places = 0;
            while block.next < text.len() {
                runs.read(&automaton, &text, block.next, &mut block);
                places += block.places.count_ones() as usize;
            }
            assert!(places * 5 < text.len() * 3, "{places} steps for {} bytes", text.len());
        }
    }
}
