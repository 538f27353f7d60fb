//! The possible states of an automaton, by the class it has read last.

use super::alphabet::Class;
use super::automaton::{Automaton, DEAD};

/// A class after which `reach` characters behave differently from elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Disturbing {
    pub(super) class: Class,
    /// The only character of the class, which is ASCII.
    pub(super) byte: u8,
    pub(super) reach: usize,
}

/// A set of classes, with one bit per class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClassBits([u128; 2]);

impl ClassBits {
    pub(super) const NONE: ClassBits = ClassBits([0; 2]);
    pub(super) const ALL: ClassBits = ClassBits([u128::MAX; 2]);

    pub(super) fn insert(&mut self, class: usize) {
        self.0[class / 128] |= 1 << (class % 128);
    }

    pub(super) fn has(self, class: usize) -> bool {
        self.0[class / 128] >> (class % 128) & 1 == 1
    }

    pub(super) fn and(self, other: ClassBits) -> ClassBits {
        ClassBits(std::array::from_fn(|half| self.0[half] & other.0[half]))
    }

    pub(super) fn or(self, other: ClassBits) -> ClassBits {
        ClassBits(std::array::from_fn(|half| self.0[half] | other.0[half]))
    }

    /// For each state, the set of classes for which `predicate` is true, given the state and its step: the
    /// next state, and whether the pattern has matched before the character.
    ///
    /// Sets make queries over many classes and states fast, since a pattern may have thousands of states.
    pub(super) fn of_states(
        automaton: &Automaton,
        predicate: impl Fn(u16, (u16, bool)) -> bool,
    ) -> Vec<ClassBits> {
        let classes_of = |state: u16| {
            let mut members = ClassBits::NONE;
            for class in 0..automaton.alphabet().len() {
                if predicate(state, automaton.step(state, class)) {
                    members.insert(class);
                }
            }
            members
        };
        (0..automaton.state_count() as u16).map(classes_of).collect()
    }
}

impl FromIterator<usize> for ClassBits {
    fn from_iter<I: IntoIterator<Item = usize>>(classes: I) -> ClassBits {
        let mut set = ClassBits::NONE;
        classes.into_iter().for_each(|class| set.insert(class));
        set
    }
}

/// For each class, the states that reading it can lead to, as character `index` of a match or a later one,
/// if `disturbing` is far enough back or before the match.
pub(super) fn states_after(
    automaton: &Automaton,
    disturbing: Option<Disturbing>,
    index: usize,
) -> Vec<Vec<u16>> {
    let classes = automaton.alphabet().len();
    let (class, reach) =
        disturbing.map_or((usize::MAX, 0), |disturbing| (disturbing.class as usize, disturbing.reach));
    let mut after = vec![Vec::new(); classes];
    // A match may start anywhere, however far back the disturbance is.
    let mut stack: Vec<(u16, usize, usize)> = (0..=reach).map(|age| (automaton.start(), age, 0)).collect();
    let levels = (reach + 1) * (index + 1);
    let slot = |state: u16, age: usize, read: usize| state as usize * levels + age * (index + 1) + read;
    let mut seen = vec![false; automaton.state_count() * levels];
    stack.iter().for_each(|&(state, age, read)| seen[slot(state, age, read)] = true);
    let mut listed = vec![ClassBits::NONE; automaton.state_count()];
    while let Some((state, age, read)) = stack.pop() {
        let read = index.min(read + 1);
        for (class_read, states) in after.iter_mut().enumerate() {
            let (next, _) = automaton.step(state, class_read);
            let age = if class_read == class { 0 } else { reach.min(age + 1) };
            if next == DEAD {
                continue;
            }
            if age == reach && read == index && !listed[next as usize].has(class_read) {
                listed[next as usize].insert(class_read);
                states.push(next);
            }
            if !std::mem::replace(&mut seen[slot(next, age, read)], true) {
                stack.push((next, age, read));
            }
        }
    }
    after
}
