//! The possible states of an automaton, by the class it has read last.

use super::alphabet::Class;
use super::automaton::{Automaton, DEAD};

/// A class after which `reach` characters behave differently from elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Disturbing {
    pub(super) class: Class,
    /// The one ASCII character of the class.
    pub(super) byte: u8,
    pub(super) reach: usize,
}

/// A set of classes, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Classes([u128; 2]);

impl Classes {
    pub(super) const NONE: Classes = Classes([0; 2]);
    pub(super) const ALL: Classes = Classes([u128::MAX; 2]);

    pub(super) fn insert(&mut self, class: usize) {
        self.0[class / 128] |= 1 << (class % 128);
    }

    pub(super) fn has(self, class: usize) -> bool {
        self.0[class / 128] >> (class % 128) & 1 == 1
    }

    pub(super) fn and(self, other: Classes) -> Classes {
        Classes(std::array::from_fn(|half| self.0[half] & other.0[half]))
    }

    pub(super) fn or(self, other: Classes) -> Classes {
        Classes(std::array::from_fn(|half| self.0[half] | other.0[half]))
    }

    /// For each state, the set of classes for which `is` returns true, given the state and its step: the
    /// next state, and whether the pattern has matched before the character.
    ///
    /// Sets make queries over many classes and states fast, since a pattern may have thousands of states.
    pub(super) fn of_states(automaton: &Automaton, is: impl Fn(u16, (u16, bool)) -> bool) -> Vec<Classes> {
        let of_state = |state: u16| {
            let mut held = Classes::NONE;
            for class in 0..automaton.alphabet().len() {
                if is(state, automaton.step(state, class)) {
                    held.insert(class);
                }
            }
            held
        };
        (0..automaton.state_count() as u16).map(of_state).collect()
    }
}

impl FromIterator<usize> for Classes {
    fn from_iter<I: IntoIterator<Item = usize>>(classes: I) -> Classes {
        let mut all = Classes::NONE;
        classes.into_iter().for_each(|class| all.insert(class));
        all
    }
}

/// For each class, the states that reading it can lead to, as character `number` of a match or a later one,
/// if `disturbing` is far enough back or before the match.
pub(super) fn states_after(
    automaton: &Automaton,
    disturbing: Option<Disturbing>,
    number: usize,
) -> Vec<Vec<u16>> {
    let classes = automaton.alphabet().len();
    let (class, reach) = disturbing.map_or((usize::MAX, 0), |found| (found.class as usize, found.reach));
    let mut after = vec![Vec::new(); classes];
    // A match may start anywhere, however far back the disturbance is.
    let mut waiting: Vec<(u16, usize, usize)> = (0..=reach).map(|age| (automaton.start(), age, 0)).collect();
    let levels = (reach + 1) * (number + 1);
    let place = |state: u16, age: usize, read: usize| state as usize * levels + age * (number + 1) + read;
    let mut seen = vec![false; automaton.state_count() * levels];
    waiting.iter().for_each(|&(state, age, read)| seen[place(state, age, read)] = true);
    let mut listed = vec![Classes::NONE; automaton.state_count()];
    while let Some((state, age, read)) = waiting.pop() {
        let read = number.min(read + 1);
        for (class_read, states) in after.iter_mut().enumerate() {
            let (next, _) = automaton.step(state, class_read);
            let age = if class_read == class { 0 } else { reach.min(age + 1) };
            if next == DEAD {
                continue;
            }
            if age == reach && read == number && !listed[next as usize].has(class_read) {
                listed[next as usize].insert(class_read);
                states.push(next);
            }
            if !std::mem::replace(&mut seen[place(next, age, read)], true) {
                waiting.push((next, age, read));
            }
        }
    }
    after
}
