//! Which characters of a run need no step of the automaton.
//!
//! Inside a word, a number or white space the automaton stays in one state, so it is enough to
//! step where a run begins. What a run is, is found out from the automaton: two classes are in one
//! group if in every state that reading the one can lead to, the other changes nothing.
//!
//! A few characters spoil this. After an apostrophe the published patterns look for `'ll` and its
//! kind, so there letters are told apart which are alike everywhere else. So one class may be named
//! disturbing: for some characters after it every character is stepped, and the groups are those
//! that hold everywhere else.

use super::after::{Disturbing, states_after};
use super::alphabet::Class;
use super::automaton::Automaton;

/// For each class the group it is in; [`ALWAYS`] marks one that is stepped wherever it stands.
pub(super) struct Grouping {
    pub(super) groups: Vec<u8>,
    pub(super) disturbing: Option<Disturbing>,
}

/// The bit of a group whose characters are all stepped.
const ALWAYS: u8 = 0x80;

/// The longest disturbance: `'ll` reaches three characters far.
const MAX_REACH: usize = 4;

/// Larger automata are not looked into, to bound the time of loading.
const MAX_STEPS: usize = 1 << 14;

impl Grouping {
    /// The groups of an automaton that lets the most pairs of ASCII characters go unstepped; `None`
    /// if it is too large to tell.
    pub(super) fn new(automaton: &Automaton) -> Option<Grouping> {
        let classes = automaton.alphabet().len();
        if automaton.state_count() * classes > MAX_STEPS || classes > usize::from(ALWAYS) {
            return None;
        }
        let of_class = |class: usize| {
            (0..128u8).filter(move |&byte| automaton.alphabet().class(byte.into()) as usize == class)
        };
        let sizes: Vec<usize> = (0..classes).map(|class| of_class(class).count()).collect();
        let mut best = Grouping { groups: groups(automaton, None), disturbing: None };
        let mut most = best.pairs_alike(&sizes);
        // A class of one character, since a frequent disturbance helps nobody.
        for class in (0..classes).filter(|&class| sizes[class] == 1) {
            for (byte, reach) in
                of_class(class).flat_map(|byte| (1..=MAX_REACH).map(move |reach| (byte, reach)))
            {
                let disturbing = Some(Disturbing { class: class as Class, byte, reach });
                let found = Grouping { groups: groups(automaton, disturbing), disturbing };
                let alike = found.pairs_alike(&sizes);
                if alike > most {
                    (best, most) = (found, alike);
                }
            }
        }
        Some(best)
    }

    /// Whether characters of a group are stepped wherever they stand.
    pub(super) fn is_always_stepped(group: u8) -> bool {
        group & ALWAYS != 0
    }

    /// How many pairs of ASCII characters are in one group.
    fn pairs_alike(&self, sizes: &[usize]) -> usize {
        let mut in_group = [0usize; 256];
        for (&group, size) in self.groups.iter().zip(sizes).filter(|(group, _)| **group & ALWAYS == 0) {
            in_group[group as usize] += size;
        }
        in_group.iter().map(|size| size * size).sum()
    }
}

/// The groups where no character of `disturbing` stands shortly before.
fn groups(automaton: &Automaton, disturbing: Option<Disturbing>) -> Vec<u8> {
    let classes = automaton.alphabet().len();
    let after = states_after(automaton, disturbing, 1);
    let is_disturbing = |class: usize| disturbing.is_some_and(|other| class == other.class as usize);
    let mut groups = Vec::with_capacity(classes);
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut always = 0;
    for class in 0..classes {
        let alone = [class];
        let alike = |classes: &[usize]| {
            are_alike(automaton, classes.iter().flat_map(|&class| &after[class]), classes)
        };
        if is_disturbing(class) || !alike(&alone) {
            groups.push(ALWAYS | always);
            always = (always + 1) % ALWAYS;
            continue;
        }
        let joins = |group: &Vec<usize>| {
            let joined: Vec<usize> = group.iter().copied().chain(alone).collect();
            alike(&joined)
        };
        match members.iter().position(joins) {
            Some(group) => {
                members[group].push(class);
                groups.push(group as u8);
            }
            None => {
                groups.push(members.len() as u8);
                members.push(alone.to_vec());
            }
        }
    }
    groups
}

/// Whether in these states any of these classes changes nothing: the automaton stays in its state,
/// and it depends on the state alone whether it has matched before the character.
pub(super) fn are_alike<'a>(
    automaton: &Automaton,
    states: impl IntoIterator<Item = &'a u16>,
    classes: &[usize],
) -> bool {
    states.into_iter().all(|&state| {
        let (_, matched) = automaton.step(state, classes[0]);
        classes.iter().all(|&class| automaton.step(state, class) == (state, matched))
    })
}
