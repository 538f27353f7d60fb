//! A pattern as a table, with one look-up per character. The program of a pattern
//! is compiled once to a deterministic automaton over character classes, so that published patterns
//! and a user's own run at the same speed. A state is the ordered list of program positions that a
//! backtracking matcher could be at, most preferred first; a list ends at the first position that
//! has matched, since later ones are less preferred. This gives the match that backtracking would
//! give, without backtracking. Whether a match ends at a position may depend on the next character
//! (`\s+(?!\S)`), so the flag "matched before this character" belongs to a transition, not to a
//! state.

use std::ops::ControlFlow;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use crate::error::Result;

use super::alphabet::{Alphabet, Class};
use super::effort::{Effort, Stopped};
use super::partition::Partition;
use super::pattern::{self, Condition, Inst, Program};
use super::{GoesOn, PAUSE_INTERVAL};

/// The state from which no match is possible.
pub(super) const DEAD: u16 = 0;

/// States are numbered in 15 bits; the published patterns need 10 to 60.
pub(super) const MAX_STATES: usize = 10_000;

/// The maximum number of steps in a table, one for each state and class of characters: 2 MiB.
pub(super) const MAX_TABLE: usize = 1 << 20;

/// The number of bytes that a match may read before failed positions are recorded. For shorter
/// distances, recording would cost more than searching again.
pub(super) const UNRECORDED: usize = 256;

/// The state to go to, and in the lowest bit whether the pattern has matched before the character.
type Transition = u16;

/// A compiled pattern. Matching takes time linear in the text and no memory except for [`Notes`].
pub(super) struct Automaton {
    alphabet: Alphabet,
    /// `ascii[state * 128 + byte]`
    ascii: Vec<Transition>,
    /// `wide[state * alphabet.len() + class]`
    wide: Vec<Transition>,
    /// Whether the pattern has matched if the text ends in this state.
    at_end: Vec<bool>,
    /// The start state for each preceding context, indexed by the bits of [`LookBehind`].
    starts: [u16; 8],
    behind: Option<LookBehindSets>,
}

/// The facts about the character before a position on which a pattern may depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct LookBehind {
    text_start: bool,
    newline: bool,
    word: bool,
}

impl LookBehind {
    fn index(self) -> usize {
        usize::from(self.text_start) | usize::from(self.newline) << 1 | usize::from(self.word) << 2
    }

    fn all() -> impl Iterator<Item = LookBehind> {
        (0..8).map(|bits| LookBehind { text_start: bits & 1 > 0, newline: bits & 2 > 0, word: bits & 4 > 0 })
    }
}

/// The sets that determine [`LookBehind`]; patterns that never look behind, such as the published
/// ones, have none.
#[derive(Debug, Clone, Copy, Default)]
struct LookBehindSets {
    newline: Option<usize>,
    word: Option<usize>,
}

impl LookBehindSets {
    fn of(program: &Program) -> Option<LookBehindSets> {
        let mut behind = None;
        for inst in &program.insts {
            if let Inst::If { condition, .. } = inst {
                match *condition {
                    Condition::Start => _ = behind.get_or_insert_with(LookBehindSets::default),
                    Condition::LineStart { newline } => {
                        behind.get_or_insert_with(LookBehindSets::default).newline = Some(newline);
                    }
                    Condition::WordBorder { word, .. } => {
                        behind.get_or_insert_with(LookBehindSets::default).word = Some(word);
                    }
                    Condition::Next(_)
                    | Condition::NotNext(_)
                    | Condition::End
                    | Condition::LineEnd { .. }
                    | Condition::Scan { .. } => {}
                }
            }
        }
        behind
    }

    fn after(self, class: usize, alphabet: &Alphabet) -> LookBehind {
        let holds = |set: Option<usize>| set.is_some_and(|set| alphabet.holds(set, class));
        LookBehind { text_start: false, newline: holds(self.newline), word: holds(self.word) }
    }
}

/// The positions of one text from which searching further failed, so that no pattern searches the
/// same text repeatedly. Only every 64th byte is recorded.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) failed: HashSet<(u16, usize)>,
    pub(super) trail: Vec<(u16, usize)>,
    /// Whether a match could have been different if the text continued.
    pub(super) open: bool,
}

impl Automaton {
    /// Compiles `pattern` within the limits of `effort`.
    pub(super) fn new(pattern: &str, effort: &mut Effort) -> Result<Automaton> {
        let mut build = || {
            let program = pattern::compile(pattern, effort)?;
            if program.scans.is_empty() {
                return Automaton::of_program(&program, effort);
            }
            Err("look-around over more than the next character is supported only in patterns that split texts, \
                 not here."
                .into())
        };
        build().map_err(|stopped: Stopped| stopped.at(pattern))
    }

    /// The automaton of a program without look-arounds.
    pub(super) fn of_program(
        program: &Program,
        effort: &mut Effort,
    ) -> std::result::Result<Automaton, Stopped> {
        AutomatonBuilder::new(program, effort)?.build()
    }

    /// The same pattern for text in which every byte counts as its [letter](super::letters).
    pub(super) fn of_letters(self) -> Automaton {
        let alphabet = self.alphabet.of_letters();
        Automaton { ascii: ascii_steps(&self.wide, &alphabet), alphabet, ..self }
    }

    /// Like `new`, without limits, for tests.
    #[cfg(test)]
    pub(super) fn of(pattern: &str) -> Automaton {
        Automaton::new(pattern, &mut Effort::new(&crate::interrupt::Never)).unwrap()
    }

    /// The classes of characters.
    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The number of states, including the dead one.
    pub(super) fn state_count(&self) -> usize {
        self.at_end.len()
    }

    /// Whether the pattern depends on the text before a position.
    pub(super) fn looks_behind(&self) -> bool {
        self.behind.is_some()
    }

    /// The state at the start of a match, for a pattern that never looks behind.
    pub(super) fn start(&self) -> u16 {
        self.starts[LookBehind::default().index()]
    }

    /// The state after a character of `class`, and whether the pattern has matched before it.
    pub(super) fn step(&self, state: u16, class: usize) -> (u16, bool) {
        let step = self.wide(state, class as Class);
        (step >> 1, step & 1 == 1)
    }

    /// Whether the pattern has matched if the text ends in this state.
    pub(super) fn matches_at_end(&self, state: u16) -> bool {
        self.at_end[state as usize]
    }

    /// Calls `visit` with the end of each match and of each gap between matches, in order, from
    /// `start` until one of them ends at `until` or later, and returns that end. For a text that
    /// may continue, stops at the first match or gap that depends on the continuation. During a
    /// long search, `visit` is called again with the last end from time to time, so that it can
    /// break.
    pub(super) fn split_from<B>(
        &self,
        text: &[u8],
        start: usize,
        until: usize,
        goes_on: GoesOn,
        notes: &mut Notes,
        mut visit: impl FnMut(usize) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let (mut last_end, mut position) = (start, start);
        let mut pause = start + PAUSE_INTERVAL;
        while position < text.len() && last_end < until {
            let end = self.longest(text, position, notes, &mut || visit(last_end))?;
            if goes_on == GoesOn::Maybe && notes.open {
                return ControlFlow::Continue(last_end);
            }
            if end == position {
                position += match text[position] {
                    0..128 => 1,
                    _ => self.alphabet.first(&text[position..]).1,
                };
                if position >= pause {
                    pause = position + PAUSE_INTERVAL;
                    visit(last_end)?;
                }
                continue;
            }
            if last_end < position {
                visit(position)?;
            }
            visit(end)?;
            (last_end, position) = (end, end);
        }
        if goes_on == GoesOn::Maybe && position == text.len() {
            return ControlFlow::Continue(last_end);
        }
        if last_end < position {
            visit(position)?;
        }
        ControlFlow::Continue(position)
    }

    /// Whether a match may begin with the first character of `text`.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let (class, _) = self.alphabet.first(text);
        self.step(self.start_state(text, 0), class as usize).0 != DEAD
    }

    /// The end of the match that starts at `start`; `start` itself if there is none. During a long
    /// match, `pause` is called from time to time, and may break.
    #[inline]
    pub(super) fn longest<B>(
        &self,
        text: &[u8],
        start: usize,
        notes: &mut Notes,
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let mut state = self.start_state(text, start);
        let (mut position, mut end) = (start, start);
        let unrecorded_end = text.len().min(start + UNRECORDED);
        while position < unrecorded_end {
            let byte = text[position];
            let (step, width) = if byte < 128 {
                (self.ascii[state as usize * 128 + byte as usize], 1)
            } else {
                let (class, width) = self.alphabet.first(&text[position..]);
                (self.wide(state, class), width)
            };
            if step & 1 == 1 {
                end = position;
            }
            state = step >> 1;
            if state == DEAD {
                return ControlFlow::Continue(end);
            }
            position += width;
        }
        if position < text.len() {
            return self.longest_recorded(text, state, position, end, notes, pause);
        }
        notes.open = true;
        ControlFlow::Continue(if self.at_end[state as usize] { position } else { end })
    }

    /// Continues from `state` at `position`, where the match found so far ends at `end`, and records the
    /// positions passed.
    #[cold]
    fn longest_recorded<B>(
        &self,
        text: &[u8],
        mut state: u16,
        mut position: usize,
        mut end: usize,
        notes: &mut Notes,
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        notes.trail.clear();
        let mut next_recorded = position.next_multiple_of(64);
        let mut next_pause = position + PAUSE_INTERVAL;
        while position < text.len() {
            if position >= next_recorded {
                // The key is the position and the state, not the start of the match, so any later
                // match that passes here in the same state finds it.
                next_recorded = (position + 1).next_multiple_of(64);
                if position >= next_pause {
                    next_pause = position + PAUSE_INTERVAL;
                    pause()?;
                }
                if notes.failed.contains(&(state, position)) {
                    break;
                }
                notes.trail.push((state, position));
            }
            let (class, width) = self.alphabet.first(&text[position..]);
            let step = self.wide(state, class);
            if step & 1 == 1 {
                end = position;
                notes.trail.clear();
            }
            state = step >> 1;
            if state == DEAD {
                break;
            }
            position += width;
        }
        if position == text.len() {
            notes.open = true;
            if self.at_end[state as usize] {
                return ControlFlow::Continue(position);
            }
        }
        notes.failed.extend(notes.trail.drain(..));
        ControlFlow::Continue(end)
    }

    fn wide(&self, state: u16, class: Class) -> Transition {
        self.wide[state as usize * self.alphabet.len() + class as usize]
    }

    #[inline]
    pub(super) fn start_state(&self, text: &[u8], position: usize) -> u16 {
        let before = match self.behind {
            None => LookBehind::default(),
            Some(_) if position == 0 => LookBehind { text_start: true, newline: true, word: false },
            Some(behind) => behind.after(self.alphabet.last(&text[..position]) as usize, &self.alphabet),
        };
        self.starts[before.index()]
    }
}

/// The steps of each state by the bytes below 128.
fn ascii_steps(wide: &[Transition], alphabet: &Alphabet) -> Vec<Transition> {
    let of_state = |steps: &[Transition]| {
        let step = |byte| steps[alphabet.class_of_ascii(byte) as usize];
        (0..128u8).map(step).collect::<Vec<_>>()
    };
    wide.chunks_exact(alphabet.len()).flat_map(of_state).collect()
}

/// Merges equivalent states, and returns the new number of each. Different lists of program
/// positions may be equivalent. With fewer states the table is smaller, and the automaton stays in
/// one state inside a run. States with different outputs are separated first, then those whose
/// steps lead to separated states, until nothing changes.
fn merge_equal(
    wide: &mut Vec<Transition>,
    at_end: &mut Vec<bool>,
    classes: usize,
    effort: &mut Effort,
) -> std::result::Result<Vec<u16>, Stopped> {
    let outputs = |state: usize| {
        let matched = wide[state * classes..][..classes].iter().map(|step| step & 1 == 1);
        (at_end[state], matched.collect::<Vec<bool>>())
    };
    let mut partition = Partition::new((0..at_end.len()).map(outputs));
    let next: Vec<u16> = wide.iter().map(|step| step >> 1).collect();
    partition.refine(&next, classes, effort)?;
    let numbers = partition.numbers();
    // Numbers rise with the first state of each kind, so the dead state stays the first.
    let mut count = 0;
    for state in 0..at_end.len() {
        if usize::from(numbers[state]) < count {
            continue;
        }
        for class in 0..classes {
            let step = wide[state * classes + class];
            wide[count * classes + class] = numbers[usize::from(step >> 1)] << 1 | step & 1;
        }
        at_end[count] = at_end[state];
        count += 1;
    }
    wide.truncate(count * classes);
    at_end.truncate(count);
    Ok(numbers)
}

/// A state before it has a number: the program positions, and the context before them.
type StateKey = (Rc<[u16]>, LookBehind);

struct AutomatonBuilder<'p, 'e, 'w> {
    program: &'p Program,
    alphabet: Alphabet,
    behind: Option<LookBehindSets>,
    numbers: HashMap<StateKey, u16>,
    keys: Vec<StateKey>,
    visited: VisitedPositions,
    effort: &'e mut Effort<'w>,
}

/// The positions of a program that were visited since the last call of `begin`.
struct VisitedPositions {
    last_visits: Vec<u32>,
    round: u32,
}

impl VisitedPositions {
    fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.last_visits.fill(0);
            self.round = 1;
        }
    }

    /// Marks a position as visited; returns whether it was not before.
    fn is_new(&mut self, position: u16) -> bool {
        std::mem::replace(&mut self.last_visits[usize::from(position)], self.round) != self.round
    }
}

/// The positions that a matcher reaches without reading a character.
struct Closure {
    /// The positions that read one, in order of preference.
    takes: Vec<u16>,
    /// Whether the pattern matches here, which discards less preferred positions.
    matched: bool,
    /// Whether this depends on the next character.
    depends_on_next: bool,
}

impl<'p, 'e, 'w> AutomatonBuilder<'p, 'e, 'w> {
    fn new(
        program: &'p Program,
        effort: &'e mut Effort<'w>,
    ) -> std::result::Result<AutomatonBuilder<'p, 'e, 'w>, Stopped> {
        effort.after(Alphabet::steps(&program.sets))?;
        let alphabet =
            Alphabet::new(&program.sets).ok_or("it tells more than 256 classes of characters apart.")?;
        let dead = (Rc::from([]), LookBehind::default());
        Ok(AutomatonBuilder {
            program,
            alphabet,
            behind: LookBehindSets::of(program),
            numbers: HashMap::from([(dead.clone(), DEAD)]),
            keys: vec![dead],
            visited: VisitedPositions { last_visits: vec![0; program.insts.len()], round: 0 },
            effort,
        })
    }

    fn build(mut self) -> std::result::Result<Automaton, Stopped> {
        let mut starts = [DEAD; 8];
        for before in LookBehind::all() {
            let before = if self.behind.is_some() { before } else { LookBehind::default() };
            starts[before.index()] = self.number(&[self.program.start], before)?;
        }
        let classes = self.alphabet.len();
        let (mut wide, mut at_end) = (Vec::new(), Vec::new());
        let (mut state, mut next) = (0, Vec::new());
        while state < self.keys.len() {
            let (positions, before) = self.keys[state].clone();
            let at_text_end = self.closure(&positions, before, None)?;
            for class in 0..classes {
                let mut own_closure = None;
                if at_text_end.depends_on_next {
                    own_closure = Some(self.closure(&positions, before, Some(class))?);
                }
                let Closure { takes, matched, .. } = own_closure.as_ref().unwrap_or(&at_text_end);
                self.effort.after(takes.len() + 1)?;
                self.visited.begin();
                next.clear();
                for &position in takes {
                    if let Inst::Take { set, then } = self.program.insts[usize::from(position)]
                        && self.alphabet.holds(set, class)
                        && self.visited.is_new(then)
                    {
                        next.push(then);
                    }
                }
                let number = if next.is_empty() {
                    DEAD
                } else {
                    let behind =
                        self.behind.map_or(LookBehind::default(), |b| b.after(class, &self.alphabet));
                    self.number(&next, behind)?
                };
                wide.push(number << 1 | Transition::from(*matched));
            }
            at_end.push(at_text_end.matched);
            state += 1;
        }
        let numbers = merge_equal(&mut wide, &mut at_end, classes, self.effort)?;
        starts = starts.map(|start| numbers[start as usize]);
        for &start in &starts {
            let row = &wide[start as usize * classes..][..classes];
            if at_end[start as usize] || row.iter().any(|step| step & 1 == 1) {
                return Err(Stopped::MatchesNothing);
            }
        }
        // The later analyses of the automaton read it several times.
        self.effort.after(8 * wide.len() + 128 * at_end.len())?;
        let ascii = ascii_steps(&wide, &self.alphabet);
        Ok(Automaton { alphabet: self.alphabet, ascii, wide, at_end, starts, behind: self.behind })
    }

    /// The number of the state of these positions; a new number if there is none yet.
    fn number(&mut self, positions: &[u16], before: LookBehind) -> std::result::Result<u16, Stopped> {
        self.effort.after(positions.len())?;
        let key = (Rc::from(positions), before);
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        let (states, classes) = (self.keys.len(), self.alphabet.len());
        if states == MAX_STATES || (states + 1) * classes > MAX_TABLE {
            return Err(format!(
                "its automaton has more than {states} states, with {classes} classes of characters to \
                 tell apart in each. Shorten its counted repetitions."
            )
            .into());
        }
        self.numbers.insert(key.clone(), states as u16);
        self.keys.push(key);
        Ok(states as u16)
    }

    /// The positions that a matcher reaches from `positions`, before a character of the class `next`,
    /// or at the end of the text.
    fn closure(
        &mut self,
        positions: &[u16],
        before: LookBehind,
        next: Option<usize>,
    ) -> std::result::Result<Closure, Stopped> {
        let mut closure = Closure { takes: Vec::new(), matched: false, depends_on_next: false };
        self.visited.begin();
        let mut stack: Vec<u16> = positions.iter().rev().copied().collect();
        while let Some(position) = stack.pop() {
            if !self.visited.is_new(position) {
                continue;
            }
            self.effort.after(1)?;
            match &self.program.insts[usize::from(position)] {
                Inst::Take { .. } => closure.takes.push(position),
                Inst::Split(targets) => {
                    self.effort.after(targets.len())?;
                    stack.extend(targets.iter().rev());
                }
                Inst::If { condition, then } => {
                    closure.depends_on_next |=
                        !matches!(condition, Condition::Start | Condition::LineStart { .. });
                    if self.holds(*condition, before, next) {
                        stack.push(*then);
                    }
                }
                Inst::Match => {
                    closure.matched = true;
                    break;
                }
            }
        }
        Ok(closure)
    }

    fn holds(&self, condition: Condition, before: LookBehind, next: Option<usize>) -> bool {
        let in_set = |set: usize| next.is_some_and(|class| self.alphabet.holds(set, class));
        match condition {
            Condition::Next(set) => in_set(set),
            Condition::NotNext(set) => !in_set(set),
            Condition::Start => before.text_start,
            Condition::End => next.is_none(),
            Condition::LineStart { .. } => before.text_start || before.newline,
            Condition::LineEnd { newline } => next.is_none() || in_set(newline),
            Condition::WordBorder { word, negate } => (before.word != in_set(word)) != negate,
            Condition::Scan { .. } => unreachable!("of programs without look-arounds only"),
        }
    }
}
