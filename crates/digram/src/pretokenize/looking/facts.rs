//! What is true at each position of a text: the look-arounds and anchors of a pattern.
//!
//! A look-behind is read forward over the text, a look-ahead backward; each is then known at every position after one
//! pass. Passes alternate in direction only if bodies contain look-arounds of the other direction. A long text is read
//! in windows: a pass stores the states of the automata at the borders of windows, and the facts of a window are
//! computed again from these when it is matched. So little is stored for each byte of a text.

use std::ops::ControlFlow;

use super::table::{Reading, Table};
use crate::pretokenize::alphabet::Alphabet;
use crate::pretokenize::effort::{Effort, Stopped};
use crate::pretokenize::pattern::{Condition, Inst, Program};

/// The bytes of a window. Tests use small ones.
pub(super) const WINDOW: usize = if cfg!(test) { 7 } else { 1 << 16 };

/// The number of windows whose facts are stored at a time. Where a match reads less than a window beyond its end, none
/// is computed repeatedly.
const STORED: usize = 3;

/// Stands for a byte inside a character.
const INSIDE: u16 = u16::MAX;

/// What may be true at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    Start,
    End,
    LineStart(usize),
    LineEnd(usize),
    WordBorder(usize),
    /// The next character is in a set.
    Next(usize),
    /// A look-around is true.
    Scan(usize),
}

/// The facts that a pattern asks for.
pub(super) struct FactList(Vec<Fact>);

impl FactList {
    /// The maximum number, one for each bit.
    const MAX: usize = 32;

    fn new(program: &Program, effort: &mut Effort) -> Result<FactList, Stopped> {
        let mut facts: Vec<Fact> = (0..program.scans.len()).map(Fact::Scan).collect();
        let insts = program.insts.iter().chain(program.scans.iter().flat_map(|scan| &scan.insts));
        for inst in insts {
            effort.after(1)?;
            let Inst::If { condition, .. } = inst else { continue };
            let (fact, _) = fact(*condition);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        if facts.len() > FactList::MAX {
            let reason =
                format!("it has more than {} different look-arounds and anchors. Use fewer.", FactList::MAX);
            return Err(reason.into());
        }
        Ok(FactList(facts))
    }

    /// The number of the fact that a condition is about, and whether it must be false.
    pub(super) fn of(&self, condition: Condition) -> (u8, bool) {
        let (fact, negate) = fact(condition);
        let number = self.0.iter().position(|&other| other == fact).expect("a fact of the pattern");
        (number as u8, negate)
    }

    pub(super) fn get(&self, number: u8) -> Fact {
        self.0[usize::from(number)]
    }
}

fn fact(condition: Condition) -> (Fact, bool) {
    match condition {
        Condition::Next(set) => (Fact::Next(set), false),
        Condition::NotNext(set) => (Fact::Next(set), true),
        Condition::Start => (Fact::Start, false),
        Condition::End => (Fact::End, false),
        Condition::LineStart { newline } => (Fact::LineStart(newline), false),
        Condition::LineEnd { newline } => (Fact::LineEnd(newline), false),
        Condition::WordBorder { word, negate } => (Fact::WordBorder(word), negate),
        Condition::Scan { index, negate } => (Fact::Scan(index), negate),
    }
}

/// A look-around.
struct Scanner {
    ahead: bool,
    table: Table,
    /// The number of the pass that computes it: even ones read forward, odd ones backward.
    pass: usize,
}

/// The facts of a pattern, and how they are computed.
pub(super) struct Finder {
    pub(super) list: FactList,
    /// For each class of the next character, and for the end of the text: bits of facts.
    next: Vec<u32>,
    /// The same for the character before, and for the start of the text. A fact is true if one of both bits is set.
    before: Vec<u32>,
    /// Each behind those on which it depends. Their facts are the first ones.
    scanners: Vec<Scanner>,
}

impl Finder {
    pub(super) fn new(
        program: &Program,
        alphabet: &Alphabet,
        room: &mut usize,
        effort: &mut Effort,
    ) -> Result<Finder, Stopped> {
        let list = FactList::new(program, effort)?;
        effort.after(list.0.len() * (alphabet.len() + 1))?;
        let bits = |holds: &dyn Fn(Fact, Option<usize>) -> bool| {
            let of_class = |class: usize| {
                let class = Some(class).filter(|&class| class < alphabet.len());
                let facts = list.0.iter().enumerate();
                facts.fold(0, |bits, (number, &fact)| bits | u32::from(holds(fact, class)) << number)
            };
            (0..=alphabet.len()).map(of_class).collect::<Vec<u32>>()
        };
        let in_set = |class: Option<usize>, set| class.is_some_and(|class| alphabet.holds(set, class));
        let next = bits(&|fact, class| match fact {
            Fact::End => class.is_none(),
            Fact::LineEnd(newline) => class.is_none() || in_set(class, newline),
            Fact::WordBorder(set) | Fact::Next(set) => in_set(class, set),
            Fact::Start | Fact::LineStart(_) | Fact::Scan(_) => false,
        });
        let before = bits(&|fact, class| match fact {
            Fact::Start => class.is_none(),
            Fact::LineStart(newline) => class.is_none() || in_set(class, newline),
            Fact::WordBorder(word) => in_set(class, word),
            Fact::End | Fact::LineEnd(_) | Fact::Next(_) | Fact::Scan(_) => false,
        });
        let mut scanners: Vec<Scanner> = Vec::with_capacity(program.scans.len());
        for scan in &program.scans {
            let reading = if scan.ahead { Reading::Backward } else { Reading::Forward };
            let table = Table::new((&scan.insts, scan.start), reading, &list, alphabet, room, effort)?;
            let mut pass = usize::from(scan.ahead);
            for inst in &scan.insts {
                if let Inst::If { condition: Condition::Scan { index, .. }, .. } = inst {
                    let other = &scanners[*index];
                    pass = pass.max(other.pass + usize::from(other.ahead != scan.ahead));
                }
            }
            scanners.push(Scanner { ahead: scan.ahead, table, pass });
        }
        Ok(Finder { list, next, before, scanners })
    }
}

/// The facts of one text.
pub(super) struct Facts<'a> {
    finder: &'a Finder,
    alphabet: &'a Alphabet,
    text: &'a [u8],
    /// The start of each window, and the column of the character before it.
    windows: Vec<(usize, usize)>,
    /// The state of each look-around at the first position of each window that it reads.
    states: Vec<Vec<u16>>,
    /// The last windows that were computed, with their numbers.
    stored: [Option<(usize, Window)>; STORED],
    last_stored: usize,
}

/// The facts of a part of a text.
#[derive(Default)]
struct Window {
    start: usize,
    /// The end of the positions, which the end of the text is one of.
    end: usize,
    /// A bit for each fact, for each position.
    facts: Vec<u32>,
    /// The column of the character that starts at a position, or [`INSIDE`].
    columns: Vec<u16>,
}

impl<'a> Facts<'a> {
    /// Reads a text. Meanwhile `pause` is called for each window, and may break.
    pub(super) fn new<B>(
        finder: &'a Finder,
        alphabet: &'a Alphabet,
        text: &'a [u8],
        pause: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Facts<'a>> {
        let mut windows = vec![(0, alphabet.len())];
        let (mut position, mut column) = (0, alphabet.len());
        while text.len() > WINDOW && position < text.len() {
            if position >= windows.last().map_or(0, |window| window.0) + WINDOW {
                windows.push((position, column));
                pause()?;
            }
            let (class, width) = alphabet.first(&text[position..]);
            (position, column) = (position + width, usize::from(class));
        }
        let starts = finder.scanners.iter().map(|scanner| vec![scanner.table.start(); windows.len()]);
        let states = starts.collect();
        let stored = std::array::from_fn(|_| None);
        let mut facts = Facts { finder, alphabet, text, windows, states, stored, last_stored: 0 };
        let passes = finder.scanners.iter().map(|scanner| scanner.pass + 1).max().unwrap_or(0);
        let count = facts.windows.len();
        for pass in 0..if count > 1 { passes } else { 0 } {
            for index in 0..count {
                let number = if pass % 2 == 0 { index } else { count - 1 - index };
                facts.window(number, pass);
                pause()?;
            }
        }
        ControlFlow::Continue(facts)
    }

    /// The facts about a position, where a character begins or the text ends: a bit for each.
    #[inline]
    pub(super) fn at(&mut self, position: usize) -> u32 {
        if let Some((_, window)) = &self.stored[self.last_stored]
            && (window.start..window.end).contains(&position)
        {
            return window.facts[position - window.start];
        }
        self.find(position)
    }

    #[cold]
    fn find(&mut self, position: usize) -> u32 {
        let number = self.windows.partition_point(|&(start, _)| start <= position) - 1;
        let slot = number % STORED;
        if !matches!(&self.stored[slot], Some((stored, _)) if *stored == number) {
            let last_pass = self.finder.scanners.iter().map(|scanner| scanner.pass).max().unwrap_or(0);
            self.stored[slot] = Some((number, self.window(number, last_pass)));
        }
        self.last_stored = slot;
        let (_, window) = self.stored[slot].as_ref().expect("just stored");
        window.facts[position - window.start]
    }

    /// Computes the facts of a window by all look-arounds up to those of a pass. The states of these are stored for the
    /// next window of the pass.
    fn window(&mut self, number: usize, pass: usize) -> Window {
        let (start, column_before) = self.windows[number];
        let next_start = self.windows.get(number + 1).map(|window| window.0);
        let end = next_start.unwrap_or(self.text.len() + 1);
        let mut window =
            Window { start, end, facts: vec![0; end - start], columns: vec![INSIDE; end - start] };
        let (mut position, mut column) = (start, column_before);
        while position < end {
            let facts = self.finder.before[column];
            let mut width = 1;
            column = self.alphabet.len();
            if position < self.text.len() {
                let class;
                (class, width) = self.alphabet.first(&self.text[position..]);
                column = usize::from(class);
            }
            window.facts[position - start] = facts ^ self.finder.next[column];
            window.columns[position - start] = column as u16;
            position += width;
        }
        for (index, scanner) in self.finder.scanners.iter().enumerate() {
            if scanner.pass > pass {
                continue;
            }
            let state = self.states[index][number];
            let states = &mut self.states[index];
            if scanner.ahead {
                let state = window.read_backward(index, &scanner.table, state, column_before);
                if scanner.pass == pass && number > 0 {
                    states[number - 1] = state;
                }
            } else {
                let state = window.read_forward(index, &scanner.table, state);
                if scanner.pass == pass && number + 1 < states.len() {
                    states[number + 1] = state;
                }
            }
        }
        window
    }
}

impl Window {
    fn read_forward(&mut self, index: usize, table: &Table, mut state: u16) -> u16 {
        let mut matched;
        for (facts, &column) in self.facts.iter_mut().zip(&self.columns) {
            if column != INSIDE {
                (state, matched) = table.step(state, *facts, usize::from(column));
                *facts |= u32::from(matched) << index;
            }
        }
        state
    }

    fn read_backward(&mut self, index: usize, table: &Table, mut state: u16, column_before: usize) -> u16 {
        let (mut position, mut matched) = (self.facts.len(), false);
        let mut pending: Option<usize> = None;
        while position > 0 {
            position -= 1;
            if self.columns[position] == INSIDE {
                continue;
            }
            // The character at this position is the one before the position behind it.
            if let Some(behind) = pending.replace(position) {
                (state, matched) = table.step(state, self.facts[behind], usize::from(self.columns[position]));
                self.facts[behind] |= u32::from(matched) << index;
            }
        }
        if let Some(first) = pending {
            (state, matched) = table.step(state, self.facts[first], column_before);
            self.facts[first] |= u32::from(matched) << index;
        }
        _ = matched;
        state
    }
}
