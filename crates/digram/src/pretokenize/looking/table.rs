//! A program as a table, whose steps depend on facts about positions.
//!
//! In each state few facts can matter: those that the program asks from there before it reads the next character. A
//! row of the table has a part for each combination of these facts, and in it a step for each class of characters.

use std::rc::Rc;

use hashbrown::HashMap;

use super::facts::{Fact, FactList};
use crate::pretokenize::alphabet::Alphabet;
use crate::pretokenize::automaton::{DEAD, MAX_STATES, MAX_TABLE};
use crate::pretokenize::effort::{Effort, Stopped};
use crate::pretokenize::pattern::Inst;

/// The maximum number of facts that may matter in a state.
const MAX_DECIDING: usize = 10;

/// How a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As a pattern: from a position on, where the first of several ways is preferred.
    Match,
    /// As the body of a look-behind: forward, from every position before.
    Forward,
    /// As the body of a look-ahead: backward, from every position behind.
    Backward,
}

/// A program as a table.
pub(super) struct Table {
    /// Of each state: where its steps are, and its part of `deciding`.
    rows: Vec<(u32, u32, u32)>,
    /// The numbers of facts.
    deciding: Vec<u8>,
    /// The state to go to, and in the lowest bit whether the program has matched before the character.
    steps: Vec<u32>,
    /// The classes, and the end of the text.
    columns: usize,
}

impl Table {
    /// The table of a program. `room` is the number of steps that it may have, from which they are subtracted.
    pub(super) fn new(
        (insts, start): (&[Inst], u16),
        reading: Reading,
        facts: &FactList,
        alphabet: &Alphabet,
        room: &mut usize,
        effort: &mut Effort,
    ) -> Result<Table, Stopped> {
        let builder = Builder {
            insts,
            start,
            reading,
            facts,
            alphabet,
            numbers: HashMap::new(),
            states: Vec::new(),
            visits: vec![0; insts.len()],
            visit: 0,
        };
        builder.build(room, effort)
    }

    /// The first state.
    pub(super) fn start(&self) -> u16 {
        DEAD + 1
    }

    /// The state after a character, or at the end of the text, and whether the program has matched before it. `facts`
    /// has a bit for each fact about the position.
    #[inline]
    pub(super) fn step(&self, state: u16, facts: u32, column: usize) -> (u16, bool) {
        let (offset, first, last) = self.rows[usize::from(state)];
        let deciding = &self.deciding[first as usize..last as usize];
        let combination =
            deciding.iter().enumerate().fold(0, |bits, (index, &fact)| bits | (facts >> fact & 1) << index);
        let step = self.steps[offset as usize + combination as usize * self.columns + column];
        ((step >> 1) as u16, step & 1 == 1)
    }
}

struct Builder<'p> {
    insts: &'p [Inst],
    start: u16,
    reading: Reading,
    facts: &'p FactList,
    alphabet: &'p Alphabet,
    numbers: HashMap<Rc<[u16]>, u16>,
    states: Vec<Rc<[u16]>>,
    /// The last visit of each position.
    visits: Vec<u32>,
    visit: u32,
}

impl Builder<'_> {
    fn build(mut self, room: &mut usize, effort: &mut Effort) -> Result<Table, Stopped> {
        let columns = self.alphabet.len() + 1;
        let mut table = Table { rows: Vec::new(), deciding: Vec::new(), steps: Vec::new(), columns };
        self.number(Vec::new(), effort)?;
        self.number(vec![self.start], effort)?;
        let mut state = 0;
        while state < self.states.len() {
            let positions = self.states[state].clone();
            let deciding = self.deciding(&positions, effort)?;
            let combinations = 1usize << deciding.len();
            if combinations * columns > *room {
                return Err(format!(
                    "its automata have more than {MAX_TABLE} steps: more than {state} states, with {} classes of \
                     characters and up to {MAX_DECIDING} look-arounds and anchors to tell apart in each. Shorten its \
                     counted repetitions, or use fewer look-arounds.",
                    self.alphabet.len(),
                )
                .into());
            }
            *room -= combinations * columns;
            let first = table.deciding.len();
            table.deciding.extend(&deciding);
            table.rows.push((table.steps.len() as u32, first as u32, table.deciding.len() as u32));
            for combination in 0..combinations {
                let holds = |fact: u8| {
                    let index = deciding.iter().position(|&other| other == fact).expect("a deciding fact");
                    combination >> index & 1 == 1
                };
                let (takes, matched) = self.closure(&positions, holds, effort)?;
                for column in 0..columns {
                    effort.after(takes.len() + deciding.len() + 1)?;
                    let is_possible = deciding.iter().all(|&fact| {
                        self.decided(self.facts.get(fact), column)
                            .is_none_or(|decided| decided == holds(fact))
                    });
                    let next = match is_possible && column < columns - 1 {
                        true => self.next(&takes, column, effort)?,
                        false => DEAD,
                    };
                    table.steps.push(u32::from(next) << 1 | u32::from(is_possible && matched));
                }
            }
            state += 1;
        }
        effort.after(table.steps.len())?;
        Ok(table)
    }

    /// The state after a character of a class.
    fn next(&mut self, takes: &[u16], class: usize, effort: &mut Effort) -> Result<u16, Stopped> {
        self.visit += 1;
        let mut next = Vec::new();
        for &position in takes {
            if let Inst::Take { set, then } = self.insts[usize::from(position)]
                && self.alphabet.holds(set, class)
                && self.is_new(then)
            {
                next.push(then);
            }
        }
        if self.reading != Reading::Match {
            if self.is_new(self.start) {
                next.push(self.start);
            }
            next.sort_unstable();
        }
        self.number(next, effort)
    }

    /// What a fact is if the character read next is of this class, or there is none; `None` if that does not decide it.
    fn decided(&self, fact: Fact, column: usize) -> Option<bool> {
        let class = Some(column).filter(|&column| column < self.alphabet.len());
        let holds = |set| class.is_some_and(|class| self.alphabet.holds(set, class));
        match (fact, self.reading == Reading::Backward) {
            (Fact::Next(set), false) => Some(holds(set)),
            (Fact::End, false) | (Fact::Start, true) => Some(class.is_none()),
            (Fact::LineEnd(newline), false) | (Fact::LineStart(newline), true) => {
                Some(class.is_none() || holds(newline))
            }
            _ => None,
        }
    }

    fn number(&mut self, positions: Vec<u16>, effort: &mut Effort) -> Result<u16, Stopped> {
        effort.after(positions.len() + 1)?;
        if let Some(&number) = self.numbers.get(&positions[..]) {
            return Ok(number);
        }
        let number = self.states.len();
        if number == MAX_STATES {
            return Err(format!(
                "an automaton of it has more than {MAX_STATES} states. Shorten its counted repetitions."
            )
            .into());
        }
        let key: Rc<[u16]> = positions.into();
        self.numbers.insert(key.clone(), number as u16);
        self.states.push(key);
        Ok(number as u16)
    }

    fn is_new(&mut self, position: u16) -> bool {
        std::mem::replace(&mut self.visits[usize::from(position)], self.visit) != self.visit
    }

    /// The facts that matter before the next character is read.
    fn deciding(&mut self, positions: &[u16], effort: &mut Effort) -> Result<Vec<u8>, Stopped> {
        self.visit += 1;
        let (mut stack, mut deciding) = (positions.to_vec(), Vec::new());
        while let Some(position) = stack.pop() {
            if !self.is_new(position) {
                continue;
            }
            effort.after(1)?;
            match &self.insts[usize::from(position)] {
                Inst::Take { .. } | Inst::Match => {}
                Inst::Split(targets) => {
                    effort.after(targets.len())?;
                    stack.extend(targets);
                }
                Inst::If { condition, then } => {
                    let (fact, _) = self.facts.of(*condition);
                    if !deciding.contains(&fact) {
                        deciding.push(fact);
                    }
                    stack.push(*then);
                }
            }
        }
        if deciding.len() > MAX_DECIDING {
            return Err(format!(
                "more than {MAX_DECIDING} different look-arounds and anchors may decide at one position. Use fewer."
            )
            .into());
        }
        deciding.sort_unstable();
        Ok(deciding)
    }

    /// The positions that read a character, in order of preference, and whether the program matches before it.
    fn closure(
        &mut self,
        positions: &[u16],
        holds: impl Fn(u8) -> bool,
        effort: &mut Effort,
    ) -> Result<(Vec<u16>, bool), Stopped> {
        self.visit += 1;
        let (mut takes, mut matched) = (Vec::new(), false);
        let mut stack: Vec<u16> = positions.iter().rev().copied().collect();
        while let Some(position) = stack.pop() {
            if !self.is_new(position) {
                continue;
            }
            effort.after(1)?;
            match &self.insts[usize::from(position)] {
                Inst::Take { .. } => takes.push(position),
                Inst::Split(targets) => {
                    effort.after(targets.len())?;
                    stack.extend(targets.iter().rev());
                }
                Inst::If { condition, then } => {
                    let (fact, negate) = self.facts.of(*condition);
                    if holds(fact) != negate {
                        stack.push(*then);
                    }
                }
                Inst::Match => {
                    matched = true;
                    if self.reading == Reading::Match {
                        break;
                    }
                }
            }
        }
        Ok((takes, matched))
    }
}
