//! Splitting text by masks if neighbouring characters decide, and otherwise by steps of the automaton.
//!
//! Text is read in blocks of 64 bytes. The facts about neighbouring characters (see [`super::kinds`]) give
//! two masks per block: the positions where a pretoken certainly ends, and the undecided ones. The ends before
//! the first undecided position are passed on. From the last of them the automaton steps until it has found
//! the end of the pretoken that contains the undecided position, and there the masks take over again. It steps
//! where a run of one group begins (see [`Grouping`]), not at each character.
//!
//! If the automaton read beyond the end of the match (`\s+(?!\S)` before a word), the next pretoken starts
//! at the end of the match. If it read far beyond, the slower method continues, which records failed
//! look-ahead, so that the time stays linear.

use std::ops::ControlFlow;

use super::automaton::{Automaton, DEAD, Notes};
use super::blocks::{Block, Blocks, next_of};
use super::boundary_buffer::BoundaryBuffer;
use super::family::{BLOCK, FamilyMember, Starts};
use super::grouping::Grouping;
use super::{GoesOn, PAUSE_INTERVAL};

/// If the automaton read further than this beyond the end of a match, the slower method continues.
const MAX_LOOKAHEAD: usize = 256;

/// The pretoken ends before the character.
const ENDS: u32 = 1;
/// A match ends before the character, and a longer one may come.
const MATCHED: u32 = 2;
/// The table has no next state.
const STOPS: u32 = 4;
/// The number of flags.
const FLAG_BITS: u32 = 3;

/// A pattern prepared for splitting by masks.
pub(super) struct MaskSplitter {
    /// `steps[row + character]`: flags, and the row of the next state above them. Characters are
    /// numbered by their byte if they are ASCII, and otherwise by their class.
    steps: Vec<u32>,
    start: usize,
    /// The length of a row.
    width: usize,
    blocks: Blocks,
    /// The member of the published family, whose blocks are split without steps while they decide.
    family: Option<FamilyMember>,
}

impl MaskSplitter {
    /// Prepares an automaton; `None` if it looks behind or is too large, which the slower method handles.
    pub(super) fn new(automaton: &Automaton) -> Option<MaskSplitter> {
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
                    (DEAD, true) if restarted != DEAD => row(restarted) << FLAG_BITS | ENDS,
                    (DEAD, matched) => STOPS | if matched { MATCHED } else { 0 },
                    (next, matched) => row(next) << FLAG_BITS | if matched { MATCHED } else { 0 },
                });
            }
        }
        Some(MaskSplitter {
            steps,
            start: row(automaton.start()) as usize,
            width: characters.len(),
            blocks: Blocks::new(automaton, &grouping),
            family: FamilyMember::of(automaton),
        })
    }

    /// Whether the pattern is of the published family.
    pub(super) fn has_family(&self) -> bool {
        self.family.is_some()
    }

    /// Calls `visit` with batches of pretokens, as the start of the first and the ends of all, in order,
    /// until it breaks. Returns the end of the last one. `automaton` is the one that this was made from. If
    /// the text may continue, pretokens that depend on the continuation are left out. `visit` is sometimes
    /// called without ends, so that it can break inside a long pretoken.
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
        let mut ends = BoundaryBuffer::new(visit);
        let mut notes = Notes::default();
        let (mut block, mut is_read) = (Block::new(), false);
        // The start of the next pretoken; the pretokens before it are in `ends`.
        let mut start = 0;
        let mut pause = PAUSE_INTERVAL;
        let mut family_splitting = self.family.as_ref().map(FamilySplitting::new);
        while start < text.len() {
            if let Some(family_splitting) = &mut family_splitting
                && start >= family_splitting.next
            {
                let previous_start = start;
                start = self.split_by_family(family_splitting, text, start, goes_on, &mut ends)?;
                if start == text.len() {
                    break;
                }
                if start != previous_start {
                    block.restart(start);
                    is_read = false;
                }
            }
            if !std::mem::replace(&mut is_read, true) {
                self.blocks.read(text, &mut block);
            }
            // The pretoken may have begun before the block.
            let after_start =
                if start < block.start { u64::MAX } else { u64::MAX << 1 << (start - block.start) };
            let open = block.open & after_start;
            let before_open = (open & open.wrapping_neg()).wrapping_sub(1);
            let certain = block.borders & after_start & before_open;
            if certain != 0 {
                ends.extend(block.start, certain)?;
                start = block.start + certain.ilog2() as usize;
            }
            if open == 0 && block.next < text.len() {
                if block.next >= pause {
                    pause = block.next + PAUSE_INTERVAL;
                    ends.pause()?;
                }
                self.blocks.read(text, &mut block);
                continue;
            }
            if start < block.start {
                block.restart(start);
                self.blocks.read(text, &mut block);
            }
            let Stepped { end, position } = self.step(automaton, text, start, &mut block, || ends.pause())?;
            if position == text.len() && goes_on == GoesOn::Maybe {
                break;
            }
            if end > start && position - end <= MAX_LOOKAHEAD {
                ends.push(end)?;
                start = end;
            } else {
                let until = position.max(start + 1);
                let push = |end| ends.push_or_pause(end);
                let end = automaton.split_from(text, start, until, goes_on, &mut notes, push)?;
                if goes_on == GoesOn::Maybe && end < until {
                    break;
                }
                start = end;
            }
            if !(block.start..block.next).contains(&start) && start < text.len() {
                block.restart(start);
                self.blocks.read(text, &mut block);
            }
        }
        let last = ends.last();
        ends.finish()?;
        ControlFlow::Continue(last)
    }

    /// Adds the ends of pretokens from `start` on as long as blocks decide them, and returns the last one.
    #[inline(always)]
    fn split_by_family<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>>(
        &self,
        family_splitting: &mut FamilySplitting<'_>,
        text: &[u8],
        mut start: usize,
        goes_on: GoesOn,
        ends: &mut BoundaryBuffer<V>,
    ) -> ControlFlow<B, usize> {
        let first_start = start;
        start = family_splitting.split_successively(text, start, ends)?;
        let (mut break_value, mut pause) = (None, start + PAUSE_INTERVAL);
        start = family_splitting.family.each_block(text, start, goes_on, |start, starts| {
            let mut step = || {
                ends.extend(start, starts)?;
                if start >= pause {
                    pause = start + PAUSE_INTERVAL;
                    ends.pause()?;
                }
                ControlFlow::Continue(())
            };
            break_value = step().break_value();
            break_value.is_none()
        });
        if let Some(value) = break_value {
            return ControlFlow::Break(value);
        }
        family_splitting.record_attempt(first_start, start);
        ControlFlow::Continue(start)
    }

    /// Steps from the start of a pretoken in `block` until its end is known, reading further blocks; if
    /// these are many, until `pause` breaks.
    #[inline]
    fn step<B>(
        &self,
        automaton: &Automaton,
        text: &[u8],
        start: usize,
        block: &mut Block,
        mut pause: impl FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Stepped> {
        let first = 1 << (start - block.start);
        // From the third character on, a further character may be known to change nothing.
        let mut positions = (block.steps | first | next_of(first, block.starts)) & first.wrapping_neg();
        let (mut row, mut entered, mut character, mut matched) = (self.start, start, 0, start);
        let mut next_pause = start + PAUSE_INTERVAL;
        loop {
            while positions != 0 {
                let offset = positions.trailing_zeros() as usize;
                let position = block.start + offset;
                let next = match text[position] {
                    byte @ 0..128 => usize::from(byte),
                    _ => 128 + usize::from(automaton.alphabet().first(&text[position..]).0),
                };
                let step = self.steps[row + next];
                if step & (ENDS | STOPS) != 0 {
                    let end = match step & (ENDS | MATCHED) {
                        0 => self.end_before_last(text, row, character, entered, position).unwrap_or(matched),
                        _ => position,
                    };
                    return ControlFlow::Continue(Stepped { end, position });
                }
                positions &= positions - 1;
                if step & MATCHED != 0 {
                    matched = position;
                } else if position - entered > 1 {
                    // The run that is left may have matched behind its first step.
                    matched =
                        self.end_before_last(text, row, character, entered, position).unwrap_or(matched);
                }
                (row, entered, character) = ((step >> FLAG_BITS) as usize, position, next);
            }
            if block.next >= text.len() {
                let position = text.len();
                let end = match automaton.matches_at_end((row / self.width) as u16) {
                    true => position,
                    false => self.end_before_last(text, row, character, entered, position).unwrap_or(matched),
                };
                return ControlFlow::Continue(Stepped { end, position });
            }
            if block.next >= next_pause {
                next_pause = block.next + PAUSE_INTERVAL;
                pause()?;
            }
            self.blocks.read(text, block);
            positions = block.steps | 1;
        }
    }

    /// The end of the match when the automaton cannot continue at `position` from the state of `row`, which it
    /// entered with `character` at `entered`, if the match ends after that one.
    ///
    /// The automaton made only the first step of a run. If the others match before each character, the last
    /// of them matched before the last character.
    #[inline]
    fn end_before_last(
        &self,
        text: &[u8],
        row: usize,
        character: usize,
        entered: usize,
        position: usize,
    ) -> Option<usize> {
        if entered == position || self.steps[row + character] != (row as u32) << FLAG_BITS | MATCHED {
            return None;
        }
        let before = match text[position - 1] {
            0..128 => position - 1,
            _ => position - bstr::decode_last_utf8(&text[entered..position]).1,
        };
        (entered < before).then_some(before)
    }
}

/// Decides where blocks are split by the family. In text where that makes no progress, such as text with
/// many hard characters, attempts are rarer.
struct FamilySplitting<'a> {
    family: &'a FamilyMember,
    /// The offset of the next attempt.
    next: usize,
    /// The number of bytes to skip after an attempt without progress.
    pause: usize,
    starts: Starts,
}

impl<'a> FamilySplitting<'a> {
    fn new(family: &'a FamilyMember) -> FamilySplitting<'a> {
        FamilySplitting { family, next: 0, pause: 1, starts: Starts::default() }
    }

    /// Adds the ends of pretokens from `start` on as long as successive blocks have some, and returns the last one.
    #[inline]
    fn split_successively<B, V: FnMut(usize, &[usize]) -> ControlFlow<B>>(
        &mut self,
        text: &[u8],
        mut start: usize,
        ends: &mut BoundaryBuffer<V>,
    ) -> ControlFlow<B, usize> {
        while let starts = self.family.successive_starts(text, start, &mut self.starts)
            && let [.., last] = *starts
        {
            ends.pass_on_all(starts)?;
            start = last;
        }
        ControlFlow::Continue(start)
    }

    /// Records an attempt at `from` that split the text up to `to`.
    fn record_attempt(&mut self, from: usize, to: usize) {
        self.pause = if to - from > 2 * BLOCK { 1 } else { (2 * self.pause).min(64 * BLOCK) };
        self.next = to + self.pause;
    }
}

/// The result of stepping: the end of the match, and the position of the automaton. An end at the start of
/// the match means no match.
struct Stepped {
    end: usize,
    position: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::SimdLevel;

    /// The look-ahead and the contractions of the published patterns, which make runs hard.
    const PATTERNS: [&str; 6] = [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'ll)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'ll)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        // Gaps, matches that give far back, and a disturbance that is not an apostrophe.
        r"a+b|\p{L}(?:-x+)?|\s{2,}(?!\S)",
        r"#(?:ab|c)|[a-z]+|\d{2}",
        // More kinds of characters than there is room for.
        r"ab|bc|cd|de|ef|fg|gh|hi|ij|jk|kl|lm|mn|no|op|pq|qr|rs|st|tu|[a-z]|\s+|[^a-z\s]+",
    ];

    const PIECES: [&str; 29] = [
        "bc", "def", "ghij", "klmn", "opqrstu", "a", "b", "x", "s", "S", "ll", "L", "é", "ſ", " ", "  ",
        "\n", "\r\n", "\t", "\u{a0}", "\u{3000}", "1", "٣", "'", "!", "-", "#", "語", "\u{301}",
    ];

    #[test]
    fn mask_splitting_equals_single_steps_at_all_simd_levels() {
        let mut random = 1u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for pattern in PATTERNS {
            let automaton = Automaton::of(pattern);
            let with_level = |simd: SimdLevel| (simd, simd.force(|| MaskSplitter::new(&automaton).unwrap()));
            let levels: Vec<(SimdLevel, MaskSplitter)> =
                SimdLevel::available().into_iter().map(with_level).collect();
            for round in 0..8_000 {
                let mut text = Vec::new();
                for _ in 0..next(40) {
                    // Some runs are longer than a block, and some longer than `MAX_LOOKAHEAD`.
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
                for (simd, splitter) in &levels {
                    let mut result = Vec::new();
                    _ = splitter.split(&automaton, &text, GoesOn::No, |start, ends| {
                        assert_eq!(start, result.last().copied().unwrap_or(0));
                        result.extend_from_slice(ends);
                        ControlFlow::<()>::Continue(())
                    });
                    assert_eq!(result, expected, "{simd:?} {pattern} {:?}", String::from_utf8_lossy(&text));
                }
            }
        }
    }

    #[test]
    fn the_published_patterns_leave_few_positions_undecided() {
        let text = b"The quick brown foxes weren't amused, 'twas said; 1,234 of them.\n".repeat(40);
        for pattern in &PATTERNS[..3] {
            let automaton = Automaton::of(pattern);
            let splitter = MaskSplitter::new(&automaton).unwrap();
            let mut block = Block::new();
            let mut open = 0;
            while block.next < text.len() {
                splitter.blocks.read(&text, &mut block);
                open += block.open.count_ones() as usize;
            }
            assert!(open * 8 < text.len(), "{open} undecided positions in {} bytes", text.len());
        }
    }
}
