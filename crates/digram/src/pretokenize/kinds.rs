//! Facts that a character and the one before it determine about the place between them.
//!
//! In most text two neighbouring characters decide whether a pretoken ends between them: always between a
//! letter and a space, never between two letters. Where they do not decide, it nearly always helps to know
//! whether the first of the two starts a pretoken: a comma that does takes the letter after it, one that
//! follows a space does not. All of this is derived from the automaton (see docs/algorithm.md, 13). Many
//! classes of characters share the same facts, so they are folded into at most sixteen kinds, and the
//! tables fit into vector registers.
//!
//! Tried and rejected: distinguishing second characters of a pretoken from later ones, repeatedly as long
//! as that decides more places, which finds every third digit. Prose and code were split a tenth more
//! slowly, and digits alone no faster than by steps of the automaton.

use super::after::{Classes, states_after};
use super::alphabet::Alphabet;
use super::automaton::{Automaton, DEAD};
use super::grouping::{Alike, Grouping};

/// The maximum number of kinds: the size of a vector shuffle.
pub(super) const MAX_KINDS: usize = 16;

/// What is known about the place between two neighbours, a bit per fact, since facts are evaluated for 64
/// places at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct PairFacts(u8);

impl PairFacts {
    /// A pretoken ends here in every context.
    pub(super) const BORDER: u8 = 0;
    /// No pretoken ends here in any context.
    pub(super) const INSIDE: u8 = 1;
    /// The same if the first of the two starts a pretoken.
    pub(super) const BORDER_AFTER_FIRST: u8 = 2;
    pub(super) const INSIDE_AFTER_FIRST: u8 = 3;
    /// The same if the first of the two does not start a pretoken.
    pub(super) const BORDER_AFTER_INNER: u8 = 4;
    pub(super) const INSIDE_AFTER_INNER: u8 = 5;
    /// The automaton must step here: the second character may change its state.
    pub(super) const STEP: u8 = 6;
    /// Both are of one kind, and from the third character of that kind on, further ones do not change the
    /// state.
    pub(super) const SETTLES: u8 = 7;
    /// The number of facts.
    pub(super) const COUNT: usize = 8;

    /// Nothing is known.
    const NOTHING: PairFacts = PairFacts(1 << PairFacts::STEP);

    #[cfg(any(test, target_arch = "x86_64"))]
    pub(super) fn holds(self, fact: u8) -> bool {
        self.0 >> fact & 1 == 1
    }

    /// Facts from a bit mask.
    #[cfg(test)]
    pub(super) fn from_bits(bits: u8) -> PairFacts {
        PairFacts(bits)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }
}

/// The classes of an automaton, grouped into kinds with equal facts.
pub(super) struct Kinds {
    /// The kind of each class.
    pub(super) of_class: Vec<u8>,
    /// `facts[before * MAX_KINDS + here]`
    pub(super) facts: [PairFacts; MAX_KINDS * MAX_KINDS],
}

impl Kinds {
    pub(super) fn new(automaton: &Automaton, grouping: &Grouping) -> Kinds {
        let classes = automaton.alphabet().len();
        let any = states_after(automaton, grouping.disturbing, 1);
        let facts = facts(automaton, grouping, &any);
        // Two classes are of one kind if they have the same facts before and after every other class.
        let same = |one: usize, other: usize| {
            (0..classes).all(|class| {
                facts[one * classes + class] == facts[other * classes + class]
                    && facts[class * classes + one] == facts[class * classes + other]
            })
        };
        let is_ascii =
            |class: usize| (0..128u8).any(|byte| automaton.alphabet().class(byte.into()) as usize == class);
        let mut order: Vec<usize> = (0..classes).collect();
        order.sort_by_key(|&class| !is_ascii(class));
        let (mut of_class, mut members) = (vec![0; classes], Vec::new());
        let mut has_rest = false;
        for class in order {
            let kind = members.iter().position(|&member| same(member, class)).unwrap_or_else(|| {
                // Further classes share the last kind, about which nothing is known.
                has_rest |= members.len() == MAX_KINDS;
                if !has_rest {
                    members.push(class);
                }
                members.len() - 1
            });
            of_class[class] = kind as u8;
        }
        let mut table = [PairFacts::NOTHING; MAX_KINDS * MAX_KINDS];
        let known = members.len() - usize::from(has_rest);
        for before in 0..known {
            for here in 0..known {
                table[before * MAX_KINDS + here] = facts[members[before] * classes + members[here]];
            }
        }
        let alike = Alike::new(automaton);
        for (kind, facts) in table.iter_mut().step_by(MAX_KINDS + 1).enumerate().take(known) {
            let classes: Vec<usize> =
                (0..classes).filter(|&class| usize::from(of_class[class]) == kind).collect();
            *facts = PairFacts(
                facts.0 | u8::from(settles(automaton, &alike, &any, &classes)) << PairFacts::SETTLES,
            );
        }
        Kinds { of_class, facts: table }
    }
}

/// The kinds of characters that are not ASCII, indexed by their bytes.
pub(super) struct KindsOfOthers {
    /// By character, for two-byte characters.
    two: Box<[u8; 1 << 11]>,
    /// By the first two bytes, for three-byte characters: the number of their block.
    three: Box<[u16; 1 << 10]>,
    /// By the last of three bytes. Equal blocks are stored once.
    blocks: Vec<[u8; 64]>,
    /// By character.
    all: Alphabet,
}

/// Not a character.
const NONE: u8 = 0xff;

impl KindsOfOthers {
    /// `of_class` is the kind of each class of an alphabet.
    pub(super) fn new(alphabet: &Alphabet, of_class: &[u8]) -> KindsOfOthers {
        let of = |code: u32| char::from_u32(code).map_or(NONE, |c| of_class[alphabet.class(c) as usize]);
        // Overlong forms are not characters.
        let two = |code: u32| if code < 0x80 { NONE } else { of(code) };
        let three = |code: u32| if code < 0x800 { NONE } else { of(code) };
        let mut blocks: Vec<[u8; 64]> = Vec::new();
        let mut block = |number: usize| {
            let kinds = std::array::from_fn(|last| three(number as u32 * 64 + last as u32));
            let known = blocks.iter().position(|known| *known == kinds);
            known.unwrap_or_else(|| {
                blocks.push(kinds);
                blocks.len() - 1
            }) as u16
        };
        KindsOfOthers {
            two: Box::new(std::array::from_fn(|code| two(code as u32))),
            three: Box::new(std::array::from_fn(&mut block)),
            blocks,
            all: alphabet.renamed(of_class),
        }
    }

    /// The kind of the character at a place of a text and its length in bytes; bytes that are not UTF-8
    /// count as U+FFFD.
    #[inline(always)]
    pub(super) fn first(&self, text: &[u8], at: usize) -> (u8, usize) {
        if at as isize <= text.len() as isize - 4 {
            // SAFETY: four bytes from there on are in the text.
            let four = u32::from_le(unsafe { text.as_ptr().add(at).cast::<u32>().read_unaligned() });
            let byte = |number: u32| (four >> (8 * number)) as usize;
            if four & 0xc0_c0f0 == 0x80_80e0 {
                let block = self.three[(byte(0) & 0xf) << 6 | byte(1) & 0x3f];
                let kind = self.blocks[usize::from(block)][byte(2) & 0x3f];
                if kind != NONE {
                    return (kind, 3);
                }
            } else if four & 0xc0e0 == 0x80c0 {
                let kind = self.two[(byte(0) & 0x1f) << 6 | byte(1) & 0x3f];
                if kind != NONE {
                    return (kind, 2);
                }
            }
        }
        self.far_first(text, at)
    }

    #[cold]
    #[inline(never)]
    fn far_first(&self, text: &[u8], at: usize) -> (u8, usize) {
        self.all.first(&text[at..])
    }
}

/// `[before * classes + here]`
fn facts(automaton: &Automaton, grouping: &Grouping, any: &[Vec<u16>]) -> Vec<PairFacts> {
    let classes = automaton.alphabet().len();
    let first: Vec<u16> = (0..classes).map(|class| automaton.step(automaton.start(), class).0).collect();
    let inner = states_after(automaton, grouping.disturbing, 2);
    let sure: Vec<bool> = (0..automaton.state_count() as u16)
        .map(|state| {
            automaton.matches_at_end(state) && (0..classes).all(|class| automaton.step(state, class).1)
        })
        .collect();
    // If every character is at least a match of its own, every place is in a match.
    let has_gaps = first.iter().any(|&state| state == DEAD || !sure[state as usize]);
    let mut facts = Vec::with_capacity(classes * classes);
    for before in 0..classes {
        for here in 0..classes {
            let groups = [grouping.groups[before], grouping.groups[here]];
            let step = groups[0] != groups[1] || Grouping::is_always_stepped(groups[0]);
            let mut bits = u8::from(step) << PairFacts::STEP;
            let tables = [
                (&any[before][..], PairFacts::BORDER, PairFacts::INSIDE),
                (&first[before..=before], PairFacts::BORDER_AFTER_FIRST, PairFacts::INSIDE_AFTER_FIRST),
                (&inner[before][..], PairFacts::BORDER_AFTER_INNER, PairFacts::INSIDE_AFTER_INNER),
            ];
            for (states, border, inside) in tables.into_iter().filter(|_| !has_gaps) {
                let mut ends = states.iter().filter_map(|&state| ends(automaton, &sure, state, here));
                let Some(mask) = ends.next().filter(|&mask| ends.all(|other| other == mask)) else {
                    continue;
                };
                match mask {
                    MatchEnd::Always => bits |= 1 << border,
                    MatchEnd::Never => bits |= 1 << inside,
                    MatchEnd::Maybe => {}
                }
            }
            facts.push(PairFacts(bits));
        }
    }
    facts
}

/// Whether after two characters of these classes, in one match, further ones do not change the state.
fn settles(automaton: &Automaton, alike: &Alike, after: &[Vec<u16>], classes: &[usize]) -> bool {
    let after_two = classes.iter().flat_map(|&class| {
        let next =
            |state: &u16| classes.iter().map(|&class| automaton.step(*state, class).0).collect::<Vec<_>>();
        after[class].iter().flat_map(next)
    });
    let mut after_two: Vec<u16> = after_two.filter(|&state| state != DEAD).collect();
    after_two.sort_unstable();
    after_two.dedup();
    alike.are(&after_two, Classes::from_iter(classes.iter().copied()))
}

/// Whether a match ends at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchEnd {
    Always,
    Never,
    /// It depends on what follows.
    Maybe,
}

/// Whether a match in `state` ends before a character of class `here`, if it does not end earlier; `None`
/// if it ends earlier.
fn ends(automaton: &Automaton, sure: &[bool], state: u16, here: usize) -> Option<MatchEnd> {
    match automaton.step(state, here) {
        (DEAD, true) => Some(MatchEnd::Always),
        (DEAD, false) => None,
        (_, false) => Some(MatchEnd::Never),
        (next, true) if sure[next as usize] => Some(MatchEnd::Never),
        _ => Some(MatchEnd::Maybe),
    }
}
