//! What a character and the one before it tell about the place between them.
//!
//! In most text two neighbours say whether a pretoken ends between them: after a letter and before
//! a space always, between two letters never. Where they leave it open, it nearly always helps to
//! know whether the first of the two starts a pretoken: a comma that does takes the letter after
//! it, one that follows a space does not. All of this is found out from the automaton (see
//! docs/algorithm.md, 13), and as it is the same for many classes of characters, they are folded
//! into at most sixteen kinds, so that vectors can hold the tables.
//!
//! Tried and lost: to tell second characters of a pretoken from later ones, again and again while
//! that told more, which finds every third digit. Prose and code were cut a tenth more slowly, and
//! digits alone no faster than by steps.

use super::after::{Classes, states_after};
use super::alphabet::Alphabet;
use super::automaton::{Automaton, DEAD};
use super::grouping::{Alike, Grouping};

/// The most kinds: as many as a vector can look up at once.
pub(super) const MOST_KINDS: usize = 16;

/// What is known of the place between two neighbours. Questions of one bit each, since that is how
/// they are asked: for 64 places at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Told(u8);

impl Told {
    /// A pretoken ends here, whatever stands around the two.
    pub(super) const BORDER: u8 = 0;
    /// No pretoken ends here, whatever stands around the two.
    pub(super) const INSIDE: u8 = 1;
    /// The same where the first of the two starts a pretoken.
    pub(super) const BORDER_AFTER_FIRST: u8 = 2;
    pub(super) const INSIDE_AFTER_FIRST: u8 = 3;
    /// The same where the first of the two does not start a pretoken.
    pub(super) const BORDER_AFTER_INNER: u8 = 4;
    pub(super) const INSIDE_AFTER_INNER: u8 = 5;
    /// The automaton must step here: the second character may change its state.
    pub(super) const STEP: u8 = 6;
    /// Both are of a kind whose third character in a row changes nothing any more, nor any further
    /// one.
    pub(super) const SETTLES: u8 = 7;
    /// How many there are.
    pub(super) const QUESTIONS: usize = 8;

    /// Nothing is known.
    const NOTHING: Told = Told(1 << Told::STEP);

    #[cfg(any(test, target_arch = "x86_64"))]
    pub(super) fn holds(self, question: u8) -> bool {
        self.0 >> question & 1 == 1
    }

    /// What the lower bits say, one for each question.
    #[cfg(test)]
    pub(super) fn from_bits(bits: u8) -> Told {
        Told(bits)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }
}

/// The classes of an automaton by what neighbours of them tell.
pub(super) struct Kinds {
    /// The kind of each class.
    pub(super) of_class: Vec<u8>,
    /// `told[before * MOST_KINDS + here]`
    pub(super) told: [Told; MOST_KINDS * MOST_KINDS],
}

impl Kinds {
    pub(super) fn new(automaton: &Automaton, grouping: &Grouping) -> Kinds {
        let classes = automaton.alphabet().len();
        let any = states_after(automaton, grouping.disturbing, 1);
        let told = told(automaton, grouping, &any);
        // Two classes are of one kind if they tell the same before and after every other.
        let same = |one: usize, other: usize| {
            (0..classes).all(|class| {
                told[one * classes + class] == told[other * classes + class]
                    && told[class * classes + one] == told[class * classes + other]
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
                // What has no room shares the last kind, of which nothing is known.
                has_rest |= members.len() == MOST_KINDS;
                if !has_rest {
                    members.push(class);
                }
                members.len() - 1
            });
            of_class[class] = kind as u8;
        }
        let mut table = [Told::NOTHING; MOST_KINDS * MOST_KINDS];
        let known = members.len() - usize::from(has_rest);
        for before in 0..known {
            for here in 0..known {
                table[before * MOST_KINDS + here] = told[members[before] * classes + members[here]];
            }
        }
        let alike = Alike::new(automaton);
        for (kind, told) in table.iter_mut().step_by(MOST_KINDS + 1).enumerate().take(known) {
            let classes: Vec<usize> =
                (0..classes).filter(|&class| usize::from(of_class[class]) == kind).collect();
            *told = Told(told.0 | u8::from(settles(automaton, &alike, &any, &classes)) << Told::SETTLES);
        }
        Kinds { of_class, told: table }
    }
}

/// The kinds of the characters that are not ASCII, found by their bytes.
pub(super) struct KindsOfOthers {
    /// By character, for those of two bytes.
    two: Box<[u8; 1 << 11]>,
    /// By the first two bytes, for those of three: the number of their block.
    three: Box<[u16; 1 << 10]>,
    /// By the last of three bytes. Equal blocks are stored once.
    blocks: Vec<[u8; 64]>,
    /// By character.
    all: Alphabet,
}

/// What is not a character.
const NONE: u8 = 0xff;

impl KindsOfOthers {
    pub(super) fn new(automaton: &Automaton, kinds: &Kinds) -> KindsOfOthers {
        let alphabet = automaton.alphabet();
        let of =
            |code: u32| char::from_u32(code).map_or(NONE, |c| kinds.of_class[alphabet.class(c) as usize]);
        // Forms that are too long are none.
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
            all: alphabet.renamed(&kinds.of_class),
        }
    }

    /// The kind of the character that `text` starts with and its length in bytes; bytes that are no
    /// UTF-8 are U+FFFD.
    #[inline(always)]
    pub(super) fn first(&self, text: &[u8]) -> (u8, usize) {
        if let Some(&four) = text.first_chunk() {
            let four = u32::from_le_bytes(four);
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
        self.all.first(text)
    }
}

/// `[before * classes + here]`
fn told(automaton: &Automaton, grouping: &Grouping, any: &[Vec<u16>]) -> Vec<Told> {
    let classes = automaton.alphabet().len();
    let first: Vec<u16> = (0..classes).map(|class| automaton.step(automaton.start(), class).0).collect();
    let inner = states_after(automaton, grouping.disturbing, 2);
    let sure: Vec<bool> = (0..automaton.state_count() as u16)
        .map(|state| {
            automaton.matches_at_end(state) && (0..classes).all(|class| automaton.step(state, class).1)
        })
        .collect();
    // Where each character is at least a match of its own, every place is in a match.
    let has_gaps = first.iter().any(|&state| state == DEAD || !sure[state as usize]);
    let mut told = Vec::with_capacity(classes * classes);
    for before in 0..classes {
        for here in 0..classes {
            let groups = [grouping.groups[before], grouping.groups[here]];
            let step = groups[0] != groups[1] || Grouping::is_always_stepped(groups[0]);
            let mut bits = u8::from(step) << Told::STEP;
            let questions = [
                (&any[before][..], Told::BORDER, Told::INSIDE),
                (&first[before..=before], Told::BORDER_AFTER_FIRST, Told::INSIDE_AFTER_FIRST),
                (&inner[before][..], Told::BORDER_AFTER_INNER, Told::INSIDE_AFTER_INNER),
            ];
            for (states, border, inside) in questions.into_iter().filter(|_| !has_gaps) {
                let mut ends = states.iter().filter_map(|&state| ends(automaton, &sure, state, here));
                let Some(answer) = ends.next().filter(|&answer| ends.all(|other| other == answer)) else {
                    continue;
                };
                match answer {
                    Ends::Always => bits |= 1 << border,
                    Ends::Never => bits |= 1 << inside,
                    Ends::Maybe => {}
                }
            }
            told.push(Told(bits));
        }
    }
    told
}

/// Whether after two characters of these classes, in one match, further ones change nothing.
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
enum Ends {
    Always,
    Never,
    /// It depends on what follows.
    Maybe,
}

/// Whether a match that has come to `state` ends before a character of class `here`, provided that
/// it does not end earlier; `None` if it does.
fn ends(automaton: &Automaton, sure: &[bool], state: u16, here: usize) -> Option<Ends> {
    match automaton.step(state, here) {
        (DEAD, true) => Some(Ends::Always),
        (DEAD, false) => None,
        (_, false) => Some(Ends::Never),
        (next, true) if sure[next as usize] => Some(Ends::Never),
        _ => Some(Ends::Maybe),
    }
}
