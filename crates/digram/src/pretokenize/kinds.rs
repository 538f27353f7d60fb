//! Facts that two neighbouring characters determine about the position between them.
//!
//! In most text two neighbouring characters decide whether a pretoken ends between them: always between a
//! letter and a space, never between two letters. If they do not decide, it nearly always helps to know
//! whether the first of the two starts a pretoken: a comma that does includes the letter after it, one that
//! follows a space does not. All of this is derived from the automaton (see docs/algorithm.md, 13). Many
//! classes of characters share the same facts, so they are grouped into at most sixteen kinds, and the
//! tables fit into vector registers.
//!
//! Tried and rejected: distinguishing second characters of a pretoken from later ones, repeatedly as long
//! as that decides more positions, which finds every third digit. Prose and code were split a tenth more
//! slowly, and digits alone no faster than by steps of the automaton.

use super::after::{ClassBits, states_after};
use super::alphabet::Alphabet;
use super::automaton::{Automaton, DEAD};
use super::grouping::{Grouping, UnchangingClasses};

/// The maximum number of kinds: the size of a vector shuffle.
pub(super) const MAX_KINDS: usize = 16;

/// Facts about the position between two neighbours, one bit per fact, since facts are evaluated for 64
/// positions at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct PairFacts(u8);

impl PairFacts {
    /// A pretoken ends here in every context.
    pub(super) const BORDER: u8 = 0;
    /// No pretoken ends here in any context.
    pub(super) const INSIDE: u8 = 1;
    /// These facts if the first of the two starts a pretoken.
    pub(super) const BORDER_AFTER_FIRST: u8 = 2;
    pub(super) const INSIDE_AFTER_FIRST: u8 = 3;
    /// These facts if the first of the two does not start a pretoken.
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
    /// `facts[before * MAX_KINDS + after]`
    pub(super) facts: [PairFacts; MAX_KINDS * MAX_KINDS],
}

impl Kinds {
    pub(super) fn new(automaton: &Automaton, grouping: &Grouping) -> Kinds {
        let classes = automaton.alphabet().len();
        let states_after_class = states_after(automaton, grouping.disturbing, 1);
        let facts = facts(automaton, grouping, &states_after_class);
        // Two classes are of one kind if they have the same facts before and after every other class.
        let are_same_kind = |class_a: usize, class_b: usize| {
            (0..classes).all(|class| {
                facts[class_a * classes + class] == facts[class_b * classes + class]
                    && facts[class * classes + class_a] == facts[class * classes + class_b]
            })
        };
        let is_ascii =
            |class: usize| (0..128u8).any(|byte| automaton.alphabet().class(byte.into()) as usize == class);
        let mut order: Vec<usize> = (0..classes).collect();
        order.sort_by_key(|&class| !is_ascii(class));
        let (mut of_class, mut members) = (vec![0; classes], Vec::new());
        let mut has_rest = false;
        for class in order {
            let kind = members.iter().position(|&member| are_same_kind(member, class)).unwrap_or_else(|| {
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
        let known_kinds = members.len() - usize::from(has_rest);
        for before in 0..known_kinds {
            for after in 0..known_kinds {
                table[before * MAX_KINDS + after] = facts[members[before] * classes + members[after]];
            }
        }
        let unchanging = UnchangingClasses::new(automaton);
        for (kind, facts) in table.iter_mut().step_by(MAX_KINDS + 1).enumerate().take(known_kinds) {
            let classes: Vec<usize> =
                (0..classes).filter(|&class| usize::from(of_class[class]) == kind).collect();
            *facts = PairFacts(
                facts.0
                    | u8::from(settles(automaton, &unchanging, &states_after_class, &classes))
                        << PairFacts::SETTLES,
            );
        }
        Kinds { of_class, facts: table }
    }
}

/// The kinds of characters that are not ASCII, indexed by their bytes.
pub(super) struct KindsOfOthers {
    /// By character, for two-byte characters.
    two: Box<[u8; 1 << 11]>,
    /// By the first two bytes, for three-byte characters: the index of their block.
    three: Box<[u16; 1 << 10]>,
    /// By the last of three bytes. Equal blocks are stored once.
    blocks: Vec<[u8; 64]>,
    /// By character.
    all: Alphabet,
}

/// Not a character.
pub(super) const NONE: u8 = 0xff;

impl KindsOfOthers {
    /// `of_class` is the kind of each class of an alphabet.
    pub(super) fn new(alphabet: &Alphabet, of_class: &[u8]) -> KindsOfOthers {
        let kind_of = |code: u32| char::from_u32(code).map_or(NONE, |c| of_class[alphabet.class(c) as usize]);
        // Overlong forms are not characters.
        let two = |code: u32| if code < 0x80 { NONE } else { kind_of(code) };
        let three = |code: u32| if code < 0x800 { NONE } else { kind_of(code) };
        let mut blocks: Vec<[u8; 64]> = Vec::new();
        let mut block = |index: usize| {
            let kinds = std::array::from_fn(|last| three(index as u32 * 64 + last as u32));
            let existing = blocks.iter().position(|block| *block == kinds);
            existing.unwrap_or_else(|| {
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

    /// The kinds of the 64 characters with each first byte of two, from 0xc0 on; [`NONE`] for overlong forms.
    pub(super) fn of_two(&self) -> &[[u8; 64]] {
        self.two.as_chunks().0
    }

    /// The kinds of characters of three bytes, 64 with the same first two: different blocks of them, with [`NONE`] for
    /// surrogates and overlong forms; and the number of the block for each pair of first bytes.
    pub(super) fn of_three(&self) -> (&[[u8; 64]], &[u16; 1 << 10]) {
        (&self.blocks, &self.three)
    }

    /// The kind of the character at an offset of a text and its length in bytes; bytes that are not UTF-8
    /// count as U+FFFD.
    #[inline(always)]
    pub(super) fn first(&self, text: &[u8], offset: usize) -> (u8, usize) {
        if offset as isize <= text.len() as isize - 4 {
            // SAFETY: four bytes from `offset` on are in the text.
            let four = u32::from_le(unsafe { text.as_ptr().add(offset).cast::<u32>().read_unaligned() });
            let byte = |index: u32| (four >> (8 * index)) as usize;
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
        self.first_by_alphabet(text, offset)
    }

    #[cold]
    #[inline(never)]
    fn first_by_alphabet(&self, text: &[u8], offset: usize) -> (u8, usize) {
        self.all.first(&text[offset..])
    }
}

/// The facts of each pair of classes, `[before * classes + after]`.
fn facts(automaton: &Automaton, grouping: &Grouping, states_after_class: &[Vec<u16>]) -> Vec<PairFacts> {
    let classes = automaton.alphabet().len();
    let first: Vec<u16> = (0..classes).map(|class| automaton.step(automaton.start(), class).0).collect();
    let inner = states_after(automaton, grouping.disturbing, 2);
    let always_matches: Vec<bool> = (0..automaton.state_count() as u16)
        .map(|state| {
            automaton.matches_at_end(state) && (0..classes).all(|class| automaton.step(state, class).1)
        })
        .collect();
    // If every character is at least a match of its own, every position is in a match.
    let has_gaps = first.iter().any(|&state| state == DEAD || !always_matches[state as usize]);
    let mut facts = Vec::with_capacity(classes * classes);
    for before in 0..classes {
        for after in 0..classes {
            let groups = [grouping.groups[before], grouping.groups[after]];
            let step = groups[0] != groups[1] || Grouping::is_always_stepped(groups[0]);
            let mut bits = u8::from(step) << PairFacts::STEP;
            let tables = [
                (&states_after_class[before][..], PairFacts::BORDER, PairFacts::INSIDE),
                (&first[before..=before], PairFacts::BORDER_AFTER_FIRST, PairFacts::INSIDE_AFTER_FIRST),
                (&inner[before][..], PairFacts::BORDER_AFTER_INNER, PairFacts::INSIDE_AFTER_INNER),
            ];
            for (states, border, inside) in tables.into_iter().filter(|_| !has_gaps) {
                let mut ends =
                    states.iter().filter_map(|&state| ends(automaton, &always_matches, state, after));
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
fn settles(
    automaton: &Automaton,
    unchanging: &UnchangingClasses,
    after: &[Vec<u16>],
    classes: &[usize],
) -> bool {
    let after_two = classes.iter().flat_map(|&class| {
        let next =
            |state: &u16| classes.iter().map(|&class| automaton.step(*state, class).0).collect::<Vec<_>>();
        after[class].iter().flat_map(next)
    });
    let mut after_two: Vec<u16> = after_two.filter(|&state| state != DEAD).collect();
    after_two.sort_unstable();
    after_two.dedup();
    unchanging.hold_in(&after_two, ClassBits::from_iter(classes.iter().copied()))
}

/// Whether a match ends at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchEnd {
    Always,
    Never,
    /// It depends on the text after it.
    Maybe,
}

/// Whether a match in `state` ends before a character of class `class`, if it does not end earlier; `None`
/// if it ends earlier.
fn ends(automaton: &Automaton, always_matches: &[bool], state: u16, class: usize) -> Option<MatchEnd> {
    match automaton.step(state, class) {
        (DEAD, true) => Some(MatchEnd::Always),
        (DEAD, false) => None,
        (_, false) => Some(MatchEnd::Never),
        (next, true) if always_matches[next as usize] => Some(MatchEnd::Never),
        _ => Some(MatchEnd::Maybe),
    }
}
