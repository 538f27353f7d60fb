//! The pretokens of a text that is cut inside a pretoken. Usually the remaining part is a pretoken
//! again: a word without its end is a word. One pass decides this for all positions of a text: at
//! each position the automaton reports whether it would match if the text ended there, and two
//! matches that are in the same state at the same position have the same end.

use std::ops::ControlFlow;

use super::automaton::{Automaton, DEAD, Notes};
use super::{Compiled, GoesOn, Pattern, Pretokenizer};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::complete;

/// The maximum number of characters for which a match with another start is followed. In words,
/// numbers and white space it reaches the same state after one to three.
const MAX_FOLLOWED: usize = 8;

impl Pretokenizer {
    /// For each position of `text[from..]`, where a pretoken starts at `from`: whether
    /// `text[from..position]` is known to be one pretoken if the text ends there. `false` means
    /// unknown.
    pub(crate) fn whole_prefixes(
        &self,
        text: &[u8],
        from: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<bool>> {
        // The matches of rules, and of patterns with look-around, are not analysed here.
        let is_analysed = !self.has_rules() && !self.looks_around();
        let mut whole = vec![is_analysed; text.len() - from + 1];
        whole[0] = false;
        for (index, stage) in self.stages.iter().enumerate().filter(|_| is_analysed) {
            let Some(pattern) = stage.pattern() else { continue };
            let state = match index {
                0 => pattern.automaton.start_state(text, from),
                // Later stages do not see the text before the piece that they split.
                _ => pattern.automaton.start_state(&text[from..], 0),
            };
            let grouped = matches!(stage, Compiled::ThreesFromRight(_));
            keep_whole_prefixes(&pattern.automaton, grouped, &text[from..], state, &mut whole, interrupt)?;
        }
        Ok(whole)
    }

    /// Whether there are rules.
    pub(super) fn has_rules(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Compiled::Rules(_)))
    }

    /// Whether a pattern looks around farther than at the next character and, with an anchor, at the one before.
    pub(crate) fn looks_around(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Compiled::Looking(_)))
    }

    /// The number of characters before a pretoken that must be known to find it; `None` if it is any number.
    pub(crate) fn reach_before(&self) -> Option<usize> {
        match &self.stages[..] {
            [Compiled::Looking(looking)] => looking.reach_before(),
            _ => Some(1),
        }
    }

    /// Whether a pretoken is a term or unit of rules, which is a token and never split.
    pub(crate) fn protects(&self, pretoken: &[u8]) -> bool {
        matches!(self.stages.first(), Some(Compiled::Rules(rules)) if rules.contains(pretoken))
    }

    /// Whether a split depends on the text before a position.
    pub(crate) fn looks_behind(&self) -> bool {
        self.has_rules()
            || self.looks_around()
            || self
                .stages
                .iter()
                .filter_map(Compiled::pattern)
                .any(|pattern| pattern.automaton.looks_behind())
    }

    /// Whether a text from the start of any pretoken on has the same pretokens as before.
    pub(crate) fn may_begin_at_pretokens(&self) -> bool {
        self.stages.len() == 1 && !self.looks_behind()
    }

    /// Whether a pretoken that starts at `from` ends at `end`, however `text` continues.
    pub(crate) fn ends_for_certain(
        &self,
        text: &[u8],
        from: usize,
        end: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<bool> {
        let Some(stage) = self.stages.first() else { return Ok(false) };
        let text = &text[..complete(text).max(from)];
        let Some(pattern) = stage.pattern() else { return Ok(self.is_border(text, end)) };
        // Later splits never join pieces of the first one.
        let flow =
            pattern.split(text, from, GoesOn::Maybe, |_, ends| match check_if_empty(ends, interrupt) {
                Err(error) => ControlFlow::Break(Err(error)),
                Ok(()) if ends.contains(&(end - from)) => ControlFlow::Break(Ok(true)),
                Ok(()) => ControlFlow::Continue(()),
            });
        flow.break_value().unwrap_or(Ok(false))
    }

    /// Finds the positions from which the rest of a text has the same pretoken ends.
    pub(crate) fn suffixes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Suffixes<'_>> {
        let mut pieces = vec![text.len()];
        let mut stages = Vec::new();
        if self.looks_behind() {
            return Ok(Suffixes { stages, are_known: false });
        }
        for stage in &self.stages {
            let Some(Pattern { automaton, .. }) = stage.pattern() else { continue };
            let mut run = StageRun { automaton, after: vec![DEAD; text.len() + 1], ends: Vec::new() };
            let mut groups = Vec::new();
            let mut start = 0;
            for &end in &pieces {
                let piece = &text[start..end];
                let first_end = run.ends.len();
                run.split(piece, start, interrupt)?;
                // Groups of digits counted from the right do not depend on the text to their left.
                if let Compiled::ThreesFromRight(_) = stage {
                    let mut group_end = start;
                    let flow = super::split_by(std::slice::from_ref(stage), piece, &mut |group| {
                        if group.is_empty() {
                            return interrupt.check().map_or_else(ControlFlow::Break, ControlFlow::Continue);
                        }
                        group_end += group.len();
                        groups.push(group_end);
                        ControlFlow::Continue(())
                    });
                    flow.break_value().map_or(Ok(()), Err)?;
                } else {
                    groups.extend_from_slice(&run.ends[first_end..]);
                }
                start = end;
            }
            pieces = groups;
            stages.push(run);
        }
        Ok(Suffixes { stages, are_known: true })
    }
}

/// Checks the interrupt when a long search calls back without new ends.
fn check_if_empty(ends: &[usize], interrupt: &dyn Interrupt) -> Result<()> {
    if ends.is_empty() { interrupt.check() } else { Ok(()) }
}

/// Keeps the positions up to which the text is one match from `state` on, or a gap. A `grouped`
/// match has at most three characters.
fn keep_whole_prefixes(
    automaton: &Automaton,
    grouped: bool,
    text: &[u8],
    mut state: u16,
    whole: &mut [bool],
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let mut gap = !automaton.looks_behind();
    let (mut position, mut characters, mut pacer) = (0, 0, Pacer::new(interrupt));
    while position < text.len() {
        let (class, width) = automaton.alphabet().first(&text[position..]);
        gap &= automaton.step(automaton.start(), class as usize).0 == DEAD;
        state = automaton.step(state, class as usize).0;
        whole[position + 1..position + width].fill(false);
        position += width;
        characters += 1;
        pacer.after(1)?;
        let matches = automaton.matches_at_end(state) && (!grouped || characters <= 3);
        whole[position] &= gap || matches;
    }
    Ok(())
}

/// See [`Pretokenizer::suffixes`].
pub(crate) struct Suffixes<'p> {
    stages: Vec<StageRun<'p>>,
    /// False if a split looks behind.
    are_known: bool,
}

/// The split of a text by one stage: the state after each character of a match, and the ends of the pieces.
struct StageRun<'p> {
    automaton: &'p Automaton,
    /// [`DEAD`] in gaps between matches.
    after: Vec<u16>,
    ends: Vec<usize>,
}

impl Suffixes<'_> {
    /// Whether the pretokens of `text[at..]` are known to be those of `text` that end after `position`,
    /// the first of them without the part before `position`.
    pub(crate) fn is_regular(&self, text: &[u8], position: usize) -> bool {
        self.are_known && self.stages.iter().all(|stage| stage.is_regular(text, position))
    }
}

impl StageRun<'_> {
    fn split(&mut self, piece: &[u8], offset: usize, interrupt: &dyn Interrupt) -> Result<()> {
        let first_end = self.ends.len();
        let (mut last_end, mut pacer) = (0, Pacer::new(interrupt));
        let flow =
            self.automaton.split_from(piece, 0, piece.len(), GoesOn::No, &mut Notes::default(), |end| {
                let result = if end > last_end {
                    self.ends.push(offset + end);
                    pacer.after(end - std::mem::replace(&mut last_end, end))
                } else {
                    interrupt.check()
                };
                result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
        flow.break_value().map_or(Ok(()), Err)?;
        let (mut start, mut pacer) = (0, Pacer::new(interrupt));
        for index in first_end..self.ends.len() {
            let end = self.ends[index] - offset;
            let mut state = self.automaton.start();
            let mut position = start;
            while position < end && state != DEAD {
                let (class, width) = self.automaton.alphabet().first(&piece[position..]);
                state = self.automaton.step(state, class as usize).0;
                position += width;
                self.after[offset + position] = state;
                pacer.after(width)?;
            }
            if state == DEAD {
                // A gap: no match starts in it, and none would if the text began later.
                self.after[offset + start + 1..=offset + end].fill(DEAD);
            }
            start = end;
        }
        Ok(())
    }

    fn is_regular(&self, text: &[u8], position: usize) -> bool {
        let piece = self.ends.partition_point(|&end| end <= position);
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends.get(piece).copied().unwrap_or(text.len());
        if position == start || self.after[end] == DEAD {
            return true;
        }
        let (mut state, mut next) = (self.automaton.start(), position);
        for _ in 0..MAX_FOLLOWED {
            if next >= end {
                return false;
            }
            let (class, width) = self.automaton.alphabet().first(&text[next..]);
            state = self.automaton.step(state, class as usize).0;
            next += width;
            if state == DEAD || next > end {
                return false;
            }
            if state == self.after[next] {
                return true;
            }
        }
        false
    }
}
