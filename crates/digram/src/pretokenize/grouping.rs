//! Groups of characters whose runs need no steps of the automaton.
//!
//! Inside a word, a number or white space the automaton stays in one state, so it is enough to step
//! where a run begins. Runs are derived from the automaton: two classes are in one group if, in
//! every state that reading one of them can lead to, the other changes nothing. A few characters
//! prevent this. After an apostrophe the published patterns look for contractions such as `'ll`, so
//! they distinguish letters there that are equivalent everywhere else. So one class may be called
//! disturbing: for some characters after it every character is stepped, and the groups are those of
//! all other positions.

use super::after::{ClassBits, Disturbing, states_after};
use super::alphabet::Class;
use super::automaton::Automaton;

/// The group of each class; [`ALWAYS`] marks a class that is stepped everywhere.
pub(super) struct Grouping {
    pub(super) groups: Vec<u8>,
    pub(super) disturbing: Option<Disturbing>,
}

/// The bit of a group whose characters are all stepped.
const ALWAYS: u8 = 0x80;

/// The longest disturbance: `'ll` reaches three characters far.
const MAX_REACH: usize = 4;

/// Larger automata are not analysed, to bound the time of loading.
const MAX_STEPS: usize = 1 << 14;

/// After this number of steps no further class is tried, for the same reason.
const MAX_STEPS_OF_ALL: usize = 1 << 24;

impl Grouping {
    /// The grouping of an automaton with the most pairs of ASCII characters that need no step;
    /// `None` if the automaton is too large to analyse.
    pub(super) fn new(automaton: &Automaton) -> Option<Grouping> {
        let classes = automaton.alphabet().len();
        if automaton.state_count() * classes > MAX_STEPS || classes > usize::from(ALWAYS) {
            return None;
        }
        let of_class = |class: usize| {
            (0..128u8).filter(move |&byte| automaton.alphabet().class(byte.into()) as usize == class)
        };
        let sizes: Vec<usize> = (0..classes).map(|class| of_class(class).count()).collect();
        let (unchanging, mut steps) = (UnchangingClasses::new(automaton), 0);
        let mut groups = |disturbing| groups(automaton, &unchanging, disturbing, &mut steps);
        let mut best = Grouping { groups: groups(None).0, disturbing: None };
        let mut maximum = best.pairs_in_same_group(&sizes);
        // Only classes of one character are tried, since a frequent disturbing class saves no
        // steps.
        for class in (0..classes).filter(|&class| sizes[class] == 1) {
            for (byte, reach) in
                of_class(class).flat_map(|byte| (1..=MAX_REACH).map(move |reach| (byte, reach)))
            {
                let disturbing = Some(Disturbing { class: class as Class, byte, reach });
                let (class_groups, steps) = groups(disturbing);
                if steps > MAX_STEPS_OF_ALL {
                    return Some(best);
                }
                let candidate = Grouping { groups: class_groups, disturbing };
                let pairs = candidate.pairs_in_same_group(&sizes);
                if pairs > maximum {
                    (best, maximum) = (candidate, pairs);
                }
            }
        }
        Some(best)
    }

    /// Whether characters of a group are stepped everywhere.
    pub(super) fn is_always_stepped(group: u8) -> bool {
        group & ALWAYS != 0
    }

    /// The number of pairs of ASCII characters that are in the same group.
    fn pairs_in_same_group(&self, sizes: &[usize]) -> usize {
        let mut in_group = [0usize; 256];
        for (&group, size) in self.groups.iter().zip(sizes).filter(|(group, _)| **group & ALWAYS == 0) {
            in_group[group as usize] += size;
        }
        in_group.iter().map(|size| size * size).sum()
    }
}

/// The groups for positions without a character of `disturbing` shortly before, and the number of
/// steps made in total.
fn groups(
    automaton: &Automaton,
    unchanging: &UnchangingClasses,
    disturbing: Option<Disturbing>,
    steps: &mut usize,
) -> (Vec<u8>, usize) {
    let classes = automaton.alphabet().len();
    let after = states_after(automaton, disturbing, 1);
    *steps += automaton.state_count() * classes * (disturbing.map_or(0, |disturbing| disturbing.reach) + 1);
    let is_disturbing = |class: usize| disturbing.is_some_and(|other| class == other.class as usize);
    let mut groups = Vec::with_capacity(classes);
    // For each group its classes, and the states that reading one of them can lead to.
    let mut members: Vec<(ClassBits, Vec<u16>)> = Vec::new();
    let mut always = 0;
    for (class, states) in after.iter().enumerate() {
        let singleton = ClassBits::from_iter([class]);
        if is_disturbing(class) || !unchanging.hold_in(states, singleton) {
            groups.push(ALWAYS | always);
            always = (always + 1) % ALWAYS;
            continue;
        }
        let joins = |(classes, group_states): &(ClassBits, Vec<u16>)| {
            *steps += group_states.len() + states.len();
            let joined = classes.or(singleton);
            unchanging.hold_in(group_states, joined) && unchanging.hold_in(states, joined)
        };
        match members.iter().position(joins) {
            Some(group) => {
                let (classes, group_states) = &mut members[group];
                classes.insert(class);
                group_states.extend(states);
                group_states.sort_unstable();
                group_states.dedup();
                groups.push(group as u8);
            }
            None => {
                groups.push(members.len() as u8);
                members.push((singleton, states.clone()));
            }
        }
    }
    (groups, *steps)
}

/// For each state of an automaton, the classes on which it stays in that state: those before which
/// the pattern has matched, and those before which it has not.
pub(super) struct UnchangingClasses {
    matched: Vec<ClassBits>,
    unmatched: Vec<ClassBits>,
}

impl UnchangingClasses {
    pub(super) fn new(automaton: &Automaton) -> UnchangingClasses {
        let stays = |matched| ClassBits::of_states(automaton, move |state, step| step == (state, matched));
        UnchangingClasses { matched: stays(true), unmatched: stays(false) }
    }

    /// Whether none of these classes has an effect in these states: the automaton stays in its
    /// state, and only the state determines whether it has matched before the character.
    pub(super) fn hold_in<'a>(&self, states: impl IntoIterator<Item = &'a u16>, classes: ClassBits) -> bool {
        states.into_iter().all(|&state| {
            let is_in = |unchanging: ClassBits| unchanging.and(classes) == classes;
            is_in(self.matched[state as usize]) || is_in(self.unmatched[state as usize])
        })
    }
}
