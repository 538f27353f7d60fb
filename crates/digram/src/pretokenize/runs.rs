//! Cutting text where neighbours tell, and by steps of the automaton where they do not.
//!
//! Text is read in blocks of 64 bytes. What neighbouring characters tell (see [`Kinds`]) is asked
//! for all places of a block at once and gives two masks: of the places where a pretoken surely
//! ends, and of those that are open. The ends before the first open place are handed on as they
//! are. From the last of them the automaton steps until it has come to the end of the pretoken that
//! the open place is in, and there the masks take over again. It steps where a run of one group
//! begins (see [`Grouping`]), not at each character.
//!
//! Where the automaton went further than the match reaches (`\s+(?!\S)` before a word), the next
//! pretoken starts where the match ended; where it went far, the slower way goes on that notes what
//! was looked at in vain, so that the time stays linear.

use std::ops::ControlFlow;

use super::GoesOn;
use super::automaton::{Automaton, DEAD, Notes};
use super::blocks::{Answers, BLOCK, Blocks, equal};
use super::grouping::{Disturbing, Grouping};
use super::kinds::{Kinds, KindsOfOthers, Told};
use crate::memory::prefetch;

/// The most ends handed on at once: as many as a block may have.
const MANY: usize = 64;

/// So many bytes before it is read, text is asked for: processors do so too, but stop at each page.
const AHEAD: usize = 1024;

/// Ends are written so many at a time, whether or not there are as many.
const STRIDE: usize = 8;

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
    /// `steps[row + character]`: flags, and the row of the next state above them. Characters are
    /// told apart as bytes if they are ASCII, and otherwise by their class.
    steps: Vec<u32>,
    start: usize,
    /// The length of a row.
    width: usize,
    blocks: Blocks,
    kinds: KindsOfOthers,
    /// The kind after which so many characters are stepped, or some kind and none.
    disturbing: u8,
    reach: usize,
}

/// What is known of a block: a bit for each place.
struct Block {
    start: usize,
    /// Where a character begins.
    starts: u64,
    /// Where the automaton must step.
    steps: u64,
    /// Where a pretoken ends.
    borders: u64,
    /// Where one may end or not.
    open: u64,
    /// Where the next block begins: where a character does.
    next: usize,
    /// What is known of the last character, for the next block; `None` if a pretoken starts there.
    last: Option<Last>,
    /// How many characters of the next block are stepped whatever they are.
    disturbed: usize,
}

/// What is known of the character before a block.
#[derive(Clone, Copy)]
struct Last {
    kind: u8,
    /// Whether a pretoken surely starts with it.
    first: bool,
    /// Whether one surely does not.
    inner: bool,
}

/// Ends of pretokens on their way to the caller.
struct Ends<V> {
    start: usize,
    ends: [usize; MANY + BLOCK + STRIDE],
    count: usize,
    visit: V,
}

impl<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>> Ends<V> {
    fn new(visit: V) -> Ends<V> {
        Ends { start: 0, ends: [0; MANY + BLOCK + STRIDE], count: 0, visit }
    }

    /// Where the last pretoken ends.
    fn last(&self) -> usize {
        if self.count == 0 { self.start } else { self.ends[self.count - 1] }
    }

    fn push(&mut self, end: usize) -> ControlFlow<B> {
        self.make_room(1)?;
        self.ends[self.count] = end;
        self.count += 1;
        ControlFlow::Continue(())
    }

    /// Adds the places of a block that begins at `start`.
    #[inline(always)]
    fn extend(&mut self, start: usize, mut places: u64) -> ControlFlow<B> {
        let count = places.count_ones() as usize;
        self.make_room(count)?;
        let room = &mut self.ends[self.count..][..BLOCK + STRIDE];
        self.count += count;
        // A loop that ends after each of them would end where the processor does not expect it.
        for ends in room.chunks_exact_mut(STRIDE) {
            for end in ends {
                *end = start + places.trailing_zeros() as usize;
                places &= places.wrapping_sub(1);
            }
            if places == 0 {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands on all ends if not so many more can be handed on with them.
    #[inline(always)]
    fn make_room(&mut self, more: usize) -> ControlFlow<B> {
        if self.count + more <= MANY { ControlFlow::Continue(()) } else { self.finish() }
    }

    /// Hands on all ends.
    fn finish(&mut self) -> ControlFlow<B> {
        match std::mem::take(&mut self.count) {
            0 => ControlFlow::Continue(()),
            count => {
                let start = std::mem::replace(&mut self.start, self.ends[count - 1]);
                (self.visit)(start, &self.ends[..count])
            }
        }
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
        let alphabet = automaton.alphabet();
        let ascii = (0..128u8).map(|byte| usize::from(alphabet.class(byte.into())));
        let characters: Vec<usize> = ascii.chain(0..alphabet.len()).collect();
        let row = |state: u16| u32::from(state) * characters.len() as u32;
        let mut steps = Vec::with_capacity(automaton.state_count() * characters.len());
        for state in 0..automaton.state_count() as u16 {
            for &class in &characters {
                let restarted = automaton.step(automaton.start(), class).0;
                steps.push(match automaton.step(state, class) {
                    (DEAD, true) if restarted != DEAD => row(restarted) << FLAGS | ENDS,
                    (DEAD, matched) => STOPS | if matched { MATCHED } else { 0 },
                    (next, matched) => row(next) << FLAGS | if matched { MATCHED } else { 0 },
                });
            }
        }
        let kinds = Kinds::new(automaton, &grouping);
        let kind = |c: char| kinds.of_class[alphabet.class(c) as usize];
        let nothing = Disturbing { class: 0, byte: 0, reach: 0 };
        let Disturbing { class, byte, reach } = grouping.disturbing.unwrap_or(nothing);
        Some(Runs {
            steps,
            start: row(automaton.start()) as usize,
            width: characters.len(),
            blocks: Blocks::new(std::array::from_fn(|byte| kind(byte as u8 as char)), kinds.told, byte),
            kinds: KindsOfOthers::new(automaton, &kinds),
            disturbing: kinds.of_class[class as usize],
            reach,
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
        let mut ends = Ends::new(visit);
        let mut notes = Notes::default();
        let mut block = Block::new();
        // Where a pretoken begins; all before it are in `ends`.
        let mut start = 0;
        self.read(text, &mut block);
        while start < text.len() {
            // The pretoken may have begun before the block.
            let later = if start < block.start { u64::MAX } else { u64::MAX << 1 << (start - block.start) };
            let open = block.open & later;
            let before_open = (open & open.wrapping_neg()).wrapping_sub(1);
            let sure = block.borders & later & before_open;
            if sure != 0 {
                ends.extend(block.start, sure)?;
                start = block.start + sure.ilog2() as usize;
            }
            if open == 0 && block.next < text.len() {
                self.read(text, &mut block);
                continue;
            }
            if start < block.start {
                block.restart(start);
                self.read(text, &mut block);
            }
            let Stepped { end, at } = self.step(automaton, text, start, &mut block);
            if at == text.len() && goes_on == GoesOn::Maybe {
                break;
            }
            if end > start && at - end <= FAR {
                ends.push(end)?;
                start = end;
            } else {
                let until = at.max(start + 1);
                let push = |end| ends.push(end);
                let end = automaton.split_from(text, start, until, goes_on, &mut notes, push)?;
                if goes_on == GoesOn::Maybe && end < until {
                    break;
                }
                start = end;
            }
            if !(block.start..block.next).contains(&start) && start < text.len() {
                block.restart(start);
                self.read(text, &mut block);
            }
        }
        let last = ends.last();
        ends.finish()?;
        ControlFlow::Continue(last)
    }

    /// Steps from the start of a pretoken in `block` until it is known where it ends, reading further
    /// blocks.
    #[inline]
    fn step(&self, automaton: &Automaton, text: &[u8], start: usize, block: &mut Block) -> Stepped {
        let first = 1 << (start - block.start);
        // Whether a further character changes nothing is known of the third at the earliest.
        let mut places = (block.steps | first | next_of(first, block.starts)) & first.wrapping_neg();
        let (mut row, mut entered, mut character, mut matched) = (self.start, start, 0, start);
        loop {
            while places != 0 {
                let offset = places.trailing_zeros() as usize;
                let at = block.start + offset;
                let next = match text[at] {
                    byte @ 0..128 => usize::from(byte),
                    _ => 128 + usize::from(automaton.alphabet().first(&text[at..]).0),
                };
                let step = self.steps[row + next];
                if step & (ENDS | STOPS) != 0 {
                    let end = match step & (ENDS | MATCHED) {
                        0 => self.given_back(text, row, character, entered, at).unwrap_or(matched),
                        _ => at,
                    };
                    return Stepped { end, at };
                }
                places &= places - 1;
                matched = if step & MATCHED != 0 { at } else { matched };
                (row, entered, character) = ((step >> FLAGS) as usize, at, next);
            }
            if block.next >= text.len() {
                let at = text.len();
                let end = match automaton.matches_at_end((row / self.width) as u16) {
                    true => at,
                    false => self.given_back(text, row, character, entered, at).unwrap_or(matched),
                };
                return Stepped { end, at };
            }
            self.read(text, block);
            places = block.steps | 1;
        }
    }

    /// Where the match ends when the automaton can't go on at `at` from the state of `row`, which
    /// it entered with `character` at `entered`, if it ends behind that one.
    ///
    /// Of the steps of a run only the first was made. If the others match before each character,
    /// the last of them did so before the last character.
    #[inline]
    fn given_back(
        &self,
        text: &[u8],
        row: usize,
        character: usize,
        entered: usize,
        at: usize,
    ) -> Option<usize> {
        if entered == at || self.steps[row + character] != (row as u32) << FLAGS | MATCHED {
            return None;
        }
        let before = match text[at - 1] {
            0..128 => at - 1,
            _ => at - bstr::decode_last_utf8(&text[entered..at]).1,
        };
        (entered < before).then_some(before)
    }

    /// Reads the next block.
    fn read(&self, text: &[u8], block: &mut Block) {
        block.start = block.next;
        let rest = &text[block.start..];
        if let Some(ahead) = rest.get(AHEAD) {
            prefetch(ahead);
        }
        match rest.first_chunk::<BLOCK>() {
            Some(bytes) => self.read_whole(text, bytes, block),
            None => {
                let mut bytes = [0; BLOCK];
                bytes[..rest.len()].copy_from_slice(rest);
                self.read_whole(text, &bytes, block);
                block.next = block.next.min(text.len());
                let there = (1 << rest.len()) - 1;
                block.starts &= there;
                block.steps &= there;
                block.borders &= there;
                block.open &= there;
            }
        }
    }

    #[inline]
    fn read_whole(&self, text: &[u8], bytes: &[u8; BLOCK], block: &mut Block) {
        // The last character may reach beyond the block.
        let mut kinds = [0; BLOCK + 4];
        let (here, _) = kinds.split_first_chunk_mut().expect("longer");
        let seen = self.blocks.read(bytes, here);
        let (mut starts, mut disturbing) = (u64::MAX, seen.marked);
        block.next = block.start + BLOCK;
        if seen.others != 0 {
            starts = self.read_others(text, seen.others, &mut kinds, block);
            disturbing = equal(kinds.first_chunk().expect("longer"), self.disturbing) & starts;
        }
        let before = block.last.map_or(0, |last| last.kind);
        let answers = self.blocks.ask(before, kinds.first_chunk().expect("longer"));
        let mut disturbed = first_of(starts, std::mem::take(&mut block.disturbed));
        while disturbing != 0 {
            let after = starts & u64::MAX << 1 << disturbing.trailing_zeros();
            disturbed |= first_of(after, self.reach);
            block.disturbed = block.disturbed.max(self.reach.saturating_sub(after.count_ones() as usize));
            disturbing &= disturbing - 1;
        }
        let settles = answers[usize::from(Told::SETTLES)] & starts & !disturbed;
        let steps = answers[usize::from(Told::STEP)] & !(settles & next_of(settles, starts));
        block.steps = steps & starts | disturbed;
        block.starts = starts;
        block.tell(&answers, starts, disturbed, kinds[BLOCK - 1]);
    }

    /// Puts the characters that are not ASCII in their places; gives a word with a bit for each
    /// place where a character begins.
    fn read_others(&self, text: &[u8], others: u64, kinds: &mut [u8; BLOCK + 4], block: &mut Block) -> u64 {
        let (mut left, mut inside, mut last) = (others, 0, 0);
        while left != 0 {
            let offset = left.trailing_zeros() as usize;
            let (kind, width) = self.kinds.first(&text[block.start + offset..]);
            // A character is of one kind in all its bytes, so that the next has it before it.
            let four = kinds[offset..].first_chunk_mut().expect("four more than places");
            let (old, new) = (u32::from_le_bytes(*four), u32::from(kind) * 0x0101_0101);
            let keep = (u64::MAX << (8 * width)) as u32;
            *four = (old & keep | new & !keep).to_le_bytes();
            let bits = ((1 << width) - 2) << offset;
            inside |= bits;
            left &= !(bits | 1 << offset);
            last = offset + width;
        }
        block.next = block.start + last.max(BLOCK);
        !inside
    }
}

/// How stepping ended: where the match ends, and where the automaton stood then. An end where the
/// match began means that there is none.
struct Stepped {
    end: usize,
    at: usize,
}

impl Block {
    /// A block of no text.
    fn new() -> Block {
        Block { start: 0, starts: 0, steps: 0, borders: 0, open: 0, next: 0, last: None, disturbed: 0 }
    }

    /// Has the block read next that begins at `start`, where a pretoken does.
    fn restart(&mut self, start: usize) {
        self.next = start;
        (self.last, self.disturbed) = (None, 0);
    }

    /// Finds out the borders and what is open; the last character is of the kind `last`.
    #[inline(always)]
    fn tell(&mut self, answers: &Answers, starts: u64, disturbed: u64, last: u8) {
        // Nothing is asked about a place where a pretoken is known to start.
        let (asked, begins, after_first, after_inner) = match self.last {
            None => (starts & !1, 1, 0, 0),
            Some(last) => (starts, 0, u64::from(last.first), u64::from(last.inner)),
        };
        let answer = |question: u8| answers[usize::from(question)] & asked;
        let undisturbed = |question: u8| answer(question) & !disturbed;
        let (mut borders, mut inside) = (undisturbed(Told::BORDER), undisturbed(Told::INSIDE));
        let after_first = after_first | next_of(borders | begins, starts);
        let after_inner = after_inner | next_of(inside, starts);
        borders |= after_first & answer(Told::BORDER_AFTER_FIRST);
        borders |= after_inner & undisturbed(Told::BORDER_AFTER_INNER);
        inside |= after_first & answer(Told::INSIDE_AFTER_FIRST);
        inside |= after_inner & undisturbed(Told::INSIDE_AFTER_INNER);
        self.borders = borders;
        self.open = asked & !(borders | inside);
        let of_last = |places: u64| places.leading_zeros() == starts.leading_zeros();
        self.last = Some(Last { kind: last, first: of_last(borders), inner: of_last(inside) });
    }
}

/// The places where the characters begin that follow those that begin at `places`.
#[inline(always)]
fn next_of(places: u64, starts: u64) -> u64 {
    // Added to the places inside a character, the first of them carries to the one behind them.
    let (after, inside) = (places << 1, !starts);
    (after | (after & inside).wrapping_add(inside)) & starts
}

/// The first `count` of these places.
#[inline(always)]
fn first_of(mut places: u64, count: usize) -> u64 {
    let all = places;
    (0..count).for_each(|_| places &= places.wrapping_sub(1));
    all & !places
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
    fn the_published_patterns_leave_few_places_open() {
        let text = b"The quick brown foxes weren't amused, 'twas said; 1,234 of them.\n".repeat(40);
        for pattern in &PATTERNS[..3] {
            let automaton = Automaton::new(pattern).unwrap();
            let runs = Runs::new(&automaton).unwrap();
            let mut block = Block::new();
            let mut open = 0;
            while block.next < text.len() {
                runs.read(&text, &mut block);
                open += block.open.count_ones() as usize;
            }
            assert!(open * 8 < text.len(), "{open} open places in {} bytes", text.len());
        }
    }
}
