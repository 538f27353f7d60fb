//! A pattern as a table: one look-up a character, whatever the pattern.
//!
//! The program of a pattern is turned into a deterministic automaton over character classes once,
//! so that the published patterns and one's own run at the same speed. A state is the ordered
//! list of places where a backtracking matcher could stand, most preferred first; a list ends at
//! the first place that has matched, since what comes after it is less preferred. This gives the
//! match that backtracking would give, without going back.
//!
//! Whether a match ends at a place may depend on the next character (`\s+(?!\S)`), so a
//! transition, not a state, carries the mark "matched before this character".

use std::ops::ControlFlow;

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};

use super::alphabet::{Alphabet, Class};
use super::pattern::{self, Condition, Inst, Program};
use super::{BETWEEN_PAUSES, GoesOn};

/// Where the text goes on with nothing that could still match.
pub(super) const DEAD: u16 = 0;

/// States are numbered in 15 bits; the published patterns need 10 to 60.
const MAX_STATES: usize = 10_000;

/// How far a match may look ahead before the places it passed in vain are noted down, in bytes.
/// Up to here the notes would cost more than looking again.
const UNNOTED: usize = 256;

/// The state to go to, and in the lowest bit whether the pattern has matched before the character.
type Step = u16;

/// A compiled pattern. Matching takes time linear in the text and no memory but for the notes of
/// [`Notes`].
pub(super) struct Automaton {
    alphabet: Alphabet,
    /// `ascii[state * 128 + byte]`
    ascii: Vec<Step>,
    /// `wide[state * alphabet.len() + class]`
    wide: Vec<Step>,
    /// Whether the pattern has matched if the text ends in this state.
    at_end: Vec<bool>,
    /// Where to start, by what stands before: an index made of the bits of [`Before`].
    starts: [u16; 8],
    behind: Option<Behind>,
}

/// What a pattern may ask about the character before a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Before {
    text_start: bool,
    newline: bool,
    word: bool,
}

impl Before {
    fn index(self) -> usize {
        usize::from(self.text_start) | usize::from(self.newline) << 1 | usize::from(self.word) << 2
    }

    fn all() -> impl Iterator<Item = Before> {
        (0..8).map(|bits| Before { text_start: bits & 1 > 0, newline: bits & 2 > 0, word: bits & 4 > 0 })
    }
}

/// The sets that decide [`Before`]; absent from patterns that never look behind, as the published
/// ones.
#[derive(Debug, Clone, Copy, Default)]
struct Behind {
    newline: Option<usize>,
    word: Option<usize>,
}

impl Behind {
    fn of(program: &Program) -> Option<Behind> {
        let mut behind = None;
        for inst in &program.insts {
            if let Inst::If { condition, .. } = inst {
                match *condition {
                    Condition::Start => _ = behind.get_or_insert_with(Behind::default),
                    Condition::LineStart { newline } => {
                        behind.get_or_insert_with(Behind::default).newline = Some(newline);
                    }
                    Condition::WordBorder { word, .. } => {
                        behind.get_or_insert_with(Behind::default).word = Some(word);
                    }
                    Condition::Next(_)
                    | Condition::NotNext(_)
                    | Condition::End
                    | Condition::LineEnd { .. } => {}
                }
            }
        }
        behind
    }

    fn after(self, class: usize, alphabet: &Alphabet) -> Before {
        let holds = |set: Option<usize>| set.is_some_and(|set| alphabet.holds(set, class));
        Before { text_start: false, newline: holds(self.newline), word: holds(self.word) }
    }
}

/// The places of one text from which looking further was in vain, so that no pattern looks at the
/// same text again and again. Only every 64th byte is noted.
#[derive(Default)]
pub(super) struct Notes {
    in_vain: HashSet<(u16, usize)>,
    trail: Vec<(u16, usize)>,
    /// Whether a match could have been another one if the text went on.
    pub(super) open: bool,
}

impl Automaton {
    /// Compiles `pattern`.
    pub(super) fn new(pattern: &str) -> Result<Automaton> {
        let program = pattern::compile(pattern)?;
        Builder::new(&program)
            .and_then(|builder| builder.build())
            .map_err(|reason| Error::Pattern { pattern: pattern.to_owned(), reason })
    }

    /// How characters are told apart.
    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// How many states there are, the dead one included.
    pub(super) fn state_count(&self) -> usize {
        self.at_end.len()
    }

    /// Whether the pattern asks what stands before a place.
    pub(super) fn looks_behind(&self) -> bool {
        self.behind.is_some()
    }

    /// The state at the start of a match, for a pattern that never looks behind.
    pub(super) fn start(&self) -> u16 {
        self.starts[Before::default().index()]
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

    /// Calls `ends` with the end of each match and of each gap between matches, in order, from
    /// `start` until one of them ends at `until` or beyond, and returns that end. A text that may
    /// go on is left at the first match or gap that depends on how. While none comes, `ends` is
    /// called with the last end again now and then, so that it may break.
    pub(super) fn split_from<B>(
        &self,
        text: &[u8],
        start: usize,
        until: usize,
        goes_on: GoesOn,
        notes: &mut Notes,
        mut ends: impl FnMut(usize) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let (mut last, mut at) = (start, start);
        let mut pause = start + BETWEEN_PAUSES;
        while at < text.len() && last < until {
            let end = self.longest(text, at, notes, &mut || ends(last))?;
            if goes_on == GoesOn::Maybe && notes.open {
                return ControlFlow::Continue(last);
            }
            if end == at {
                at += self.alphabet.first(&text[at..]).1;
                if at >= pause {
                    pause = at + BETWEEN_PAUSES;
                    ends(last)?;
                }
                continue;
            }
            if last < at {
                ends(at)?;
            }
            ends(end)?;
            (last, at) = (end, end);
        }
        if goes_on == GoesOn::Maybe && at == text.len() {
            return ControlFlow::Continue(last);
        }
        if last < at {
            ends(at)?;
        }
        ControlFlow::Continue(at)
    }

    /// Whether a match may begin with the first character of `text`.
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let (class, _) = self.alphabet.first(text);
        self.step(self.start_state(text, 0), class as usize).0 != DEAD
    }

    /// Where the match that starts at `start` ends; `start` itself if there is none. Where it is
    /// long, `pause` is called now and then, and may break.
    #[inline]
    pub(super) fn longest<B>(
        &self,
        text: &[u8],
        start: usize,
        notes: &mut Notes,
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let mut state = self.start_state(text, start);
        let (mut at, mut end) = (start, start);
        let near = text.len().min(start + UNNOTED);
        while at < near {
            let byte = text[at];
            let (step, width) = if byte < 128 {
                (self.ascii[state as usize * 128 + byte as usize], 1)
            } else {
                let (class, width) = self.alphabet.first(&text[at..]);
                (self.wide(state, class), width)
            };
            if step & 1 == 1 {
                end = at;
            }
            state = step >> 1;
            if state == DEAD {
                return ControlFlow::Continue(end);
            }
            at += width;
        }
        if at < text.len() {
            return self.longest_noted(text, state, at, end, notes, pause);
        }
        notes.open = true;
        ControlFlow::Continue(if self.at_end[state as usize] { at } else { end })
    }

    /// Goes on from `state` at `at` when the match found so far ends at `end`, noting the way.
    #[cold]
    fn longest_noted<B>(
        &self,
        text: &[u8],
        mut state: u16,
        mut at: usize,
        mut end: usize,
        notes: &mut Notes,
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        notes.trail.clear();
        let mut next_note = at.next_multiple_of(64);
        let mut far = at + BETWEEN_PAUSES;
        while at < text.len() {
            if at >= next_note {
                // A place is noted by where it is, not by how it was come to, so any later match
                // that passes here in the same state meets the note.
                next_note = (at + 1).next_multiple_of(64);
                if at >= far {
                    far = at + BETWEEN_PAUSES;
                    pause()?;
                }
                if notes.in_vain.contains(&(state, at)) {
                    break;
                }
                notes.trail.push((state, at));
            }
            let (class, width) = self.alphabet.first(&text[at..]);
            let step = self.wide(state, class);
            if step & 1 == 1 {
                end = at;
                notes.trail.clear();
            }
            state = step >> 1;
            if state == DEAD {
                break;
            }
            at += width;
        }
        if at == text.len() {
            notes.open = true;
            if self.at_end[state as usize] {
                return ControlFlow::Continue(at);
            }
        }
        notes.in_vain.extend(notes.trail.drain(..));
        ControlFlow::Continue(end)
    }

    fn wide(&self, state: u16, class: Class) -> Step {
        self.wide[state as usize * self.alphabet.len() + class as usize]
    }

    pub(super) fn start_state(&self, text: &[u8], at: usize) -> u16 {
        let before = match self.behind {
            None => Before::default(),
            Some(_) if at == 0 => Before { text_start: true, newline: true, word: false },
            Some(behind) => {
                let c = bstr::decode_last_utf8(&text[..at]).0.unwrap_or(char::REPLACEMENT_CHARACTER);
                behind.after(self.alphabet.class(c) as usize, &self.alphabet)
            }
        };
        self.starts[before.index()]
    }
}

/// Makes one state of those that do the same on every text, and gives the new number of each.
///
/// Two places where a matcher could stand may differ and yet lead to the same, and fewer states are
/// not only smaller: in a run the automaton then stays where it is. States that tell different
/// things are put apart, then those whose steps lead to states that were, until none are.
fn merge_equal(wide: &mut Vec<Step>, at_end: &mut Vec<bool>, classes: usize) -> Vec<u16> {
    let mut numbers: Vec<u16> = vec![0; at_end.len()];
    let mut count = 0;
    loop {
        let mut known: HashMap<(u16, bool, Vec<Step>), u16> = HashMap::new();
        let refined: Vec<u16> = (0..at_end.len())
            .map(|state| {
                let row = &wide[state * classes..][..classes];
                let row = row.iter().map(|&step| numbers[usize::from(step >> 1)] << 1 | step & 1).collect();
                let next = known.len() as u16;
                *known.entry((numbers[state], at_end[state], row)).or_insert(next)
            })
            .collect();
        numbers = refined;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    // Numbers rise with the first state of each kind, so the dead state stays the first.
    let mut kept = 0;
    for state in 0..at_end.len() {
        if usize::from(numbers[state]) < kept {
            continue;
        }
        for class in 0..classes {
            let step = wide[state * classes + class];
            wide[kept * classes + class] = numbers[usize::from(step >> 1)] << 1 | step & 1;
        }
        at_end[kept] = at_end[state];
        kept += 1;
    }
    wide.truncate(kept * classes);
    at_end.truncate(kept);
    numbers
}

/// A state before it has a number: where a matcher could stand, and what is behind it.
type Key = (Vec<usize>, Before);

struct Builder<'p> {
    program: &'p Program,
    alphabet: Alphabet,
    behind: Option<Behind>,
    numbers: HashMap<Key, u16>,
    keys: Vec<Key>,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program) -> std::result::Result<Builder<'p>, String> {
        let alphabet =
            Alphabet::new(&program.sets).ok_or("it tells more than 256 classes of characters apart.")?;
        let dead = (Vec::new(), Before::default());
        Ok(Builder {
            program,
            alphabet,
            behind: Behind::of(program),
            numbers: HashMap::from([(dead.clone(), DEAD)]),
            keys: vec![dead],
        })
    }

    fn build(mut self) -> std::result::Result<Automaton, String> {
        let mut starts = [DEAD; 8];
        for before in Before::all() {
            let before = if self.behind.is_some() { before } else { Before::default() };
            starts[before.index()] = self.number((vec![self.program.start], before))?;
        }
        let classes = self.alphabet.len();
        let (mut wide, mut at_end) = (Vec::new(), Vec::new());
        let mut state = 0;
        while state < self.keys.len() {
            let (places, before) = self.keys[state].clone();
            for class in 0..classes {
                let (takes, matched) = self.closure(&places, before, Some(class));
                let mut next: Vec<usize> = Vec::new();
                for place in takes {
                    if let Inst::Take { set, then } = self.program.insts[place]
                        && self.alphabet.holds(set, class)
                        && !next.contains(&then)
                    {
                        next.push(then);
                    }
                }
                let number = if next.is_empty() {
                    DEAD
                } else {
                    let behind = self.behind.map_or(Before::default(), |b| b.after(class, &self.alphabet));
                    self.number((next, behind))?
                };
                wide.push(number << 1 | Step::from(matched));
            }
            at_end.push(self.closure(&places, before, None).1);
            state += 1;
        }
        let numbers = merge_equal(&mut wide, &mut at_end, classes);
        starts = starts.map(|start| numbers[start as usize]);
        for &start in &starts {
            let row = &wide[start as usize * classes..][..classes];
            if at_end[start as usize] || row.iter().any(|step| step & 1 == 1) {
                return Err("it can match nothing, which cuts no text. Make one part required.".into());
            }
        }
        let ascii: Vec<Step> = (0..at_end.len())
            .flat_map(|state| (0..128u8).map(move |byte| (state, byte)))
            .map(|(state, byte)| wide[state * classes + self.alphabet.class(byte.into()) as usize])
            .collect();
        Ok(Automaton { alphabet: self.alphabet, ascii, wide, at_end, starts, behind: self.behind })
    }

    fn number(&mut self, key: Key) -> std::result::Result<u16, String> {
        if let Some(&number) = self.numbers.get(&key) {
            return Ok(number);
        }
        if self.keys.len() == MAX_STATES {
            return Err(format!(
                "its automaton has more than {MAX_STATES} states. Shorten its counted repetitions."
            ));
        }
        let number = self.keys.len() as u16;
        self.numbers.insert(key.clone(), number);
        self.keys.push(key);
        Ok(number)
    }

    /// The places that take a character, in order of preference, reached from `places` without
    /// taking one; and whether the pattern matches before less preferred ones come.
    fn closure(&self, places: &[usize], before: Before, next: Option<usize>) -> (Vec<usize>, bool) {
        let mut seen = vec![false; self.program.insts.len()];
        let mut takes = Vec::new();
        let mut stack: Vec<usize> = places.iter().rev().copied().collect();
        while let Some(place) = stack.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            match &self.program.insts[place] {
                Inst::Take { .. } => takes.push(place),
                Inst::Split(targets) => stack.extend(targets.iter().rev()),
                Inst::If { condition, then } => {
                    if self.holds(*condition, before, next) {
                        stack.push(*then);
                    }
                }
                Inst::Match => return (takes, true),
            }
        }
        (takes, false)
    }

    fn holds(&self, condition: Condition, before: Before, next: Option<usize>) -> bool {
        let in_set = |set: usize| next.is_some_and(|class| self.alphabet.holds(set, class));
        match condition {
            Condition::Next(set) => in_set(set),
            Condition::NotNext(set) => !in_set(set),
            Condition::Start => before.text_start,
            Condition::End => next.is_none(),
            Condition::LineStart { .. } => before.text_start || before.newline,
            Condition::LineEnd { newline } => next.is_none() || in_set(newline),
            Condition::WordBorder { word, negate } => (before.word != in_set(word)) != negate,
        }
    }
}
