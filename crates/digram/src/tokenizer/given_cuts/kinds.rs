//! Kinds of characters, on which cuts depend in the same way, and their classes.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::{Behind, Decides};
use crate::cpu::SimdLevel;
use crate::masks::{ROW, ROWS};

/// The number of kinds of characters.
const KINDS: usize = 64;

/// The number of kinds that may have a class: the members of three classes are the bits of a word.
const MEMBERS: usize = 21;

/// Kinds of characters between which a text is cut, or not, found when a text has them.
pub(super) struct Kinds {
    pub(super) simd: SimdLevel,
    /// One more than the number of a kind for each character of up to three bytes; 0 if that is not known.
    of: Box<[AtomicU8]>,
    /// What each kind depends on, and one more; 0 for none.
    numbers: [AtomicU64; KINDS],
    /// The kinds behind each.
    behind: [Behind; KINDS],
    /// For each kind in a class, one character of it.
    examples: [AtomicU32; MEMBERS],
    /// The kinds of each class.
    members: AtomicU64,
    /// For each kind its class, and one more; 0 if that is not known.
    class_of: [AtomicU8; KINDS],
    pub(super) classes: Classes,
}

/// The class of a character, in two bits, and whether it is a space.
#[derive(Default, Clone, Copy)]
pub(super) struct Class {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) space: u64,
}

/// The classes: 0 for characters whose kinds decide.
///
/// No text is cut between two letters or marks, and behind a space. Every text is cut before a space behind another
/// character of a class, and between a character that stands apart and another one, or a letter. Beside a mark it may be.
const MARK: u8 = 1;
const APART: u8 = 2;
const LETTER: u8 = 3;

/// The classes of characters that a text had, a bit of each in both masks of its row.
pub(super) struct Classes(Box<[[AtomicU64; 2]]>);

impl Classes {
    fn new() -> Classes {
        Classes((0..ROWS).map(|_| [const { AtomicU64::new(0) }; 2]).collect())
    }

    /// The lower and the upper bits of the characters of a row.
    // A letter of which only the lower bit is seen is taken for a mark, beside which the kinds decide.
    #[inline(always)]
    pub(super) fn of_row(&self, row: usize) -> [u64; 2] {
        let [low, high] = &self.0[row];
        let high = high.load(Ordering::Acquire);
        [low.load(Ordering::Relaxed), high]
    }

    pub(super) fn of(&self, c: char) -> Class {
        let (row, place) = (c as usize / ROW, c as usize % ROW);
        let [low, high] = if row < ROWS { self.of_row(row) } else { [0; 2] };
        Class { low: low >> place & 1, high: high >> place & 1, space: u64::from(c == ' ') }
    }

    fn set(&self, c: char, class: u8) {
        let Some([low, high]) = self.0.get(c as usize / ROW) else { return };
        let place = c as usize % ROW;
        low.fetch_or(u64::from(class & 1) << place, Ordering::Relaxed);
        // Whoever sees the upper bit sees the lower one.
        high.fetch_or(u64::from(class >> 1) << place, Ordering::Release);
    }
}

/// The kinds that are members of each class.
#[derive(Clone, Copy)]
struct Members(u64);

impl Members {
    fn of(self, class: u8) -> impl Iterator<Item = u8> {
        let bits = self.0 >> ((class - 1) as usize * MEMBERS);
        (0..MEMBERS as u8).filter(move |kind| bits >> kind & 1 != 0)
    }

    fn with(self, kind: u8, class: u8) -> Members {
        Members(self.0 | 1 << (usize::from(class - 1) * MEMBERS + usize::from(kind)))
    }

    fn class_of(self, kind: u8) -> Option<u8> {
        (MARK..=LETTER).find(|&class| self.of(class).any(|other| other == kind))
    }
}

impl Kinds {
    pub(super) fn new(decides: Decides<'_>) -> Kinds {
        let kinds = Kinds {
            simd: SimdLevel::best(),
            of: (0..1 << 16).map(|_| AtomicU8::new(0)).collect(),
            numbers: [const { AtomicU64::new(0) }; KINDS],
            behind: [const { Behind::unknown() }; KINDS],
            examples: [const { AtomicU32::new(0) }; MEMBERS],
            members: AtomicU64::new(0),
            class_of: [const { AtomicU8::new(0) }; KINDS],
            classes: Classes::new(),
        };
        // So that letters that what stands apart may join are marks.
        ['.', '語', 'a'].into_iter().for_each(|c| {
            kinds.between(c, c, decides);
        });
        kinds
    }

    /// Whether a text is cut between two characters, if their kinds decide.
    #[inline]
    pub(super) fn between(&self, before: char, after: char, decides: Decides<'_>) -> Option<bool> {
        let [b, a] = [self.find(before, decides)?, self.find(after, decides)?];
        Some(self.behind[usize::from(b)].of(a, || decides.is_cut(before, after)))
    }

    /// The kind of a character, if it has one. Then its class is known too.
    #[inline]
    fn find(&self, c: char, decides: Decides<'_>) -> Option<u8> {
        let known = self.of.get(c as usize)?;
        match known.load(Ordering::Relaxed) {
            0 => self.find_new(c, known, decides),
            kind => Some(kind - 1),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_new(&self, c: char, known: &AtomicU8, decides: Decides<'_>) -> Option<u8> {
        let number = decides.side_number(c)?;
        let is_it = |place: &AtomicU64| {
            let taken = place.compare_exchange(0, number + 1, Ordering::Relaxed, Ordering::Relaxed);
            taken.map_or_else(|other| other == number + 1, |_| true)
        };
        let kind = self.numbers.iter().position(is_it)? as u8;
        if let Some(class) = self.class(kind, c, decides) {
            self.classes.set(c, class);
        }
        known.store(kind + 1, Ordering::Relaxed);
        Some(kind)
    }

    /// The class of a kind that a character is of, if it has one.
    fn class(&self, kind: u8, c: char, decides: Decides<'_>) -> Option<u8> {
        match self.class_of[usize::from(kind)].load(Ordering::Relaxed) {
            0 => {
                let class = self.find_class(kind, c, decides);
                self.class_of[usize::from(kind)].store(class.unwrap_or(0) + 1, Ordering::Relaxed);
                class
            }
            known => Some(known - 1).filter(|&class| class > 0),
        }
    }

    #[cold]
    fn find_class(&self, kind: u8, c: char, decides: Decides<'_>) -> Option<u8> {
        let example = self.examples.get(usize::from(kind))?;
        let mut members = self.members.load(Ordering::Acquire);
        loop {
            // Another thread may have found it.
            if let Some(class) = Members(members).class_of(kind) {
                return Some(class);
            }
            let class = self.fitting(Members(members), c, decides)?;
            example.store(u32::from(c), Ordering::Relaxed);
            let with = Members(members).with(kind, class).0;
            // Whoever sees the member sees its example.
            match self.members.compare_exchange(members, with, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(class),
                Err(others) => members = others,
            }
        }
    }

    /// The class in which a kind fits to the members of all.
    fn fitting(&self, members: Members, c: char, decides: Decides<'_>) -> Option<u8> {
        let example = |other: u8| char::from_u32(self.examples[usize::from(other)].load(Ordering::Relaxed));
        // In both orders.
        let beside = |class: u8| {
            members
                .of(class)
                .filter_map(example)
                .flat_map(|other| [decides.is_cut(c, other), decides.is_cut(other, c)])
        };
        let joins = |class: u8| !beside(class).any(|is_cut| is_cut);
        let parts = |class: u8| beside(class).all(|is_cut| is_cut);
        if !decides.is_cut(c, ' ') {
            return None;
        }
        match decides.is_cut(c, c) {
            true => (parts(APART) && parts(LETTER)).then_some(APART),
            false if !joins(LETTER) || !joins(MARK) => None,
            false => Some(if parts(APART) { LETTER } else { MARK }),
        }
    }
}
