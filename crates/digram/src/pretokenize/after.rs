//! In which states an automaton can be, by what it has read last.

use hashbrown::HashSet;

use super::alphabet::Class;
use super::automaton::{Automaton, DEAD};

/// A class that makes so many characters after it unlike themselves elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Disturbing {
    pub(super) class: Class,
    /// The one ASCII character of the class.
    pub(super) byte: u8,
    pub(super) reach: usize,
}

/// For each class the states that reading it can lead to, as the character of that number of a
/// match or a later one, when `disturbing` stands far enough back or before the match.
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
    let mut seen: HashSet<(u16, usize, usize)> = waiting.iter().copied().collect();
    while let Some((state, age, read)) = waiting.pop() {
        let read = number.min(read + 1);
        for (class_read, states) in after.iter_mut().enumerate() {
            let (next, _) = automaton.step(state, class_read);
            let age = if class_read == class { 0 } else { reach.min(age + 1) };
            if next == DEAD {
                continue;
            }
            if age == reach && read == number && !states.contains(&next) {
                states.push(next);
            }
            if seen.insert((next, age, read)) {
                waiting.push((next, age, read));
            }
        }
    }
    after
}
