//! Checks whether a text of 16-bit characters, as Python stores most strings beyond Latin-1, is in normal form.
//!
//! All characters have the same width, so the one before each is found without reading its bytes. This takes about half
//! the time of the same check of the text in UTF-8.
//!
//! Most characters are *free*: they stay, whatever is before them. Text of one language has free characters of few
//! ranges. The others are *bound*. Where they are few, each is looked up alone, with the character before it. Where they
//! are many, as the vowel signs of Hindi are, all characters are looked up: text of one language has characters of few
//! *rows* of 128, and those of one row are looked up together, then those of the next row.

#[cfg(target_arch = "x86_64")]
mod avx2;

use std::array;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use unicode_normalization_alignments::char::canonical_combining_class;

use super::places::TONES;
use super::{FormTable, MAX_MARKS, UNCERTAIN};
use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::text::Text;

/// The number of characters of a row.
const ROW: usize = 128;

/// The number of rows.
const ROWS: usize = (1 << 16) / ROW;

/// The number of rows that are looked up in each block, and of ranges of free characters, that are kept from text to
/// text.
const KEPT: usize = 3;

/// The number of characters after which the check chooses again between single characters and rows.
pub(super) const PART: usize = 1 << 11;

/// The choice depends on the average over about this many blocks.
const AVERAGED: u16 = 8;

/// What a character needs before it to stay, and what it offers to the next one. A character stays if one bit of what it
/// needs is among the bits of the character before it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    needs: u8,
    is: u8,
}

/// The bits of a [`Kind`].
mod bit {
    /// An inert character: a mark stays behind it.
    pub(super) const INERT: u8 = 1;
    /// An inert one that joins with nothing and does not decompose.
    pub(super) const SOLID: u8 = 1 << 1;
    /// An inert one that no [tone](super::TONES) changes.
    pub(super) const EVEN: u8 = 1 << 2;
    /// Any character: an inert one stays behind it.
    pub(super) const ANY: u8 = 1 << 3;
    /// A mark: the second part of a vowel or of a Hangul syllable joins with nothing before it.
    pub(super) const MARK: u8 = 1 << 4;
    /// One whose class is at most the first of [`CLASSES`](super::CLASSES), and so on.
    pub(super) const OF_CLASS: u8 = 1 << 5;
}

/// A mark stays behind one of a lower or the same class. These are the classes of the vowels of Thai and Lao that their
/// tones follow.
const CLASSES: [u8; 2] = [103, 118];

/// The kinds of inert characters. They come first. Kind 0 assumes least about a character.
const INERT_KINDS: [Kind; 3] = [
    Kind { needs: bit::ANY, is: bit::ANY | bit::INERT },
    Kind { needs: bit::ANY, is: bit::ANY | bit::INERT | bit::EVEN },
    Kind { needs: bit::ANY, is: bit::ANY | bit::INERT | bit::EVEN | bit::SOLID },
];

/// The kinds of the characters of 16 bits.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct Units {
    /// The number of each row among the distinct ones.
    numbers: Box<[u16]>,
    rows: Vec<Row>,
    /// What characters of each kind need, and what they are.
    needs: [u8; 16],
    is: [u8; 16],
    /// The first character that is not inert.
    first: u16,
    /// The two longest ranges of inert characters behind it: the first and the last one of each.
    inert: [[u16; 2]; 2],
    /// The rows that texts had last.
    recent: [AtomicU16; KEPT],
    /// The ranges of free characters, in ascending order: the first and the last one of each.
    free: Vec<[u16; 2]>,
    /// The places in `free` of the ranges that texts had last.
    recent_free: [AtomicU16; KEPT],
    /// The number of free characters that [`Units::set_free`] found outside these ranges.
    not_in_recent: AtomicU32,
    /// The average number of bound characters of a block at the end of the last text, times [`AVERAGED`].
    bound: AtomicU16,
}

/// The numbers of the kinds of the characters of a row.
#[derive(PartialEq, Eq)]
#[repr(align(64))]
struct Row([u8; ROW]);

impl Units {
    pub(super) fn of(table: &FormTable) -> Units {
        let (mut rows, mut kinds) = (Vec::new(), INERT_KINDS.to_vec());
        let row = |number: usize| {
            // A surrogate is not a character; no text that has one is encoded.
            let row = array::from_fn(|place| {
                let c = char::from_u32((number * ROW + place) as u32);
                c.map_or(0, |c| index_of(&mut kinds, table.kind(c)) as u8)
            });
            index_of(&mut rows, Row(row)) as u16
        };
        let numbers = (0..ROWS).map(row).collect();
        assert!(kinds.len() <= 16, "{} kinds", kinds.len());
        let of_kinds = |of: fn(&Kind) -> u8| array::from_fn(|number| kinds.get(number).map_or(0, of));
        let is_inert = |code: &u16| char::from_u32((*code).into()).is_none_or(|c| table.is_inert(c));
        let first = (0..u16::MAX).find(|code| !is_inert(code)).unwrap_or(u16::MAX);
        let mut ranges = ranges_behind(first, is_inert);
        ranges.sort_by_key(|[first, last]| first.abs_diff(*last));
        let inert = array::from_fn(|_| ranges.pop().unwrap_or([u16::MAX; 2]));
        let is_free =
            |code: &u16| char::from_u32((*code).into()).is_none_or(|c| table.kind(c).needs == bit::ANY);
        let mut free = ranges_behind(first, is_free);
        // A form with fewer ranges repeats the last one.
        while free.len() < KEPT {
            free.push(free.last().copied().unwrap_or([u16::MAX; 2]));
        }
        Units {
            numbers,
            free,
            recent_free: array::from_fn(|place| AtomicU16::new(place as u16)),
            not_in_recent: AtomicU32::new(0),
            bound: AtomicU16::new(0),
            rows,
            needs: of_kinds(|kind| kind.needs),
            is: of_kinds(|kind| kind.is),
            first,
            inert,
            recent: Default::default(),
        }
    }

    fn recent(&self) -> [u16; KEPT] {
        self.recent.each_ref().map(|row| row.load(Ordering::Relaxed))
    }

    /// The ranges of free characters that texts had last.
    fn recent_free(&self) -> [[u16; 2]; KEPT] {
        self.recent_free.each_ref().map(|place| self.free[usize::from(place.load(Ordering::Relaxed))])
    }

    /// Counts a free character outside the recent ranges. Every sixteenth call replaces one of them with the range of
    /// that character: text of four ranges would otherwise replace one at almost every character.
    #[cold]
    #[inline(never)]
    fn set_free(&self, unit: u16, recent: &mut [[u16; 2]; KEPT]) {
        const ONCE_IN: u32 = 16;
        let number = self.not_in_recent.fetch_add(1, Ordering::Relaxed);
        if !number.is_multiple_of(ONCE_IN) {
            return;
        }
        let range = self.free.partition_point(|[_, last]| *last < unit);
        if self.free.get(range).is_none_or(|[first, _]| *first > unit) {
            return;
        }
        let place = (number / ONCE_IN) as usize % KEPT;
        self.recent_free[place].store(range as u16, Ordering::Relaxed);
        recent[place] = self.free[range];
    }

    #[cfg(test)]
    pub(super) fn set_bound(&self, bound: u16) {
        self.bound.store(bound, Ordering::Relaxed);
    }

    /// The number of the kind of a character.
    #[inline(always)]
    fn kind(&self, unit: u16) -> usize {
        let Row(row) = &self.rows[usize::from(self.numbers[usize::from(unit) / ROW])];
        // The mask proves to the compiler that no index is out of range.
        usize::from(row[usize::from(unit) % ROW] & 0xf)
    }

    /// What the character before an index is.
    #[inline(always)]
    fn before(&self, units: &[u16], index: usize) -> u8 {
        index.checked_sub(1).map_or(INERT_KINDS[0].is, |last| self.is[self.kind(units[last])])
    }

    /// Replaces one of the rows that are looked up with the row of a character.
    #[cold]
    #[inline(never)]
    fn set_recent(&self, place: usize, unit: u16, recent: &mut [u16; KEPT]) {
        let row = unit / ROW as u16;
        recent[place] = row;
        self.recent[place].store(row, Ordering::Relaxed);
    }
}

impl FormTable {
    /// Whether a text is in this form and each part of it is; false if that is not known without its bytes in UTF-8.
    pub(in crate::normalize) fn keeps(&self, text: Text<'_>, pacer: &mut Pacer<'_>) -> Result<bool> {
        match (text, self.simd) {
            (Text::Latin1(_), _) => Ok(self.units().first > u8::MAX.into()),
            // SAFETY: these levels are chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            (Text::Ucs2(units), SimdLevel::Avx2 | SimdLevel::Avx512) => unsafe {
                self.keeps_units(units, pacer)
            },
            _ => Ok(false),
        }
    }

    fn kind(&self, c: char) -> Kind {
        let (class, combining) = (self.class(c), canonical_combining_class(c));
        if class == 0 {
            let is_solid = self.is_solid(c);
            let is_even = is_solid || TONES.iter().all(|&tone| self.stays_apart(c, tone));
            return INERT_KINDS[usize::from(is_even) + usize::from(is_solid)];
        }
        let needs = match class {
            UNCERTAIN if !self.form.may_join_with_last(c) => 0,
            UNCERTAIN if TONES.contains(&c) => bit::EVEN,
            UNCERTAIN if combining == 0 => bit::SOLID | bit::MARK,
            UNCERTAIN => bit::SOLID,
            class => bit::INERT | marks(|other| other <= class),
        };
        let of_mark = if combining == 0 { 0 } else { bit::MARK | marks(|other| combining <= other) };
        Kind { needs, is: bit::ANY | of_mark }
    }

    /// Whether the character at an index stays as it is, where those before it do; false if that is not known.
    #[cold]
    #[inline(never)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    fn unit_stays(&self, units: &[u16], index: usize) -> bool {
        // With as many as may decide.
        let start = index.saturating_sub(MAX_MARKS + 1);
        let Ok(text) = String::from_utf16(&units[start..=index]) else { return false };
        let offset = text.char_indices().next_back().map_or(0, |(offset, _)| offset);
        self.stays(text.as_bytes(), offset)
    }
}

/// The bits of some of [`CLASSES`].
fn marks(are: impl Fn(u8) -> bool) -> u8 {
    (0..)
        .zip(CLASSES)
        .filter(|&(_, class)| are(class))
        .fold(0, |bits, (number, _)| bits | bit::OF_CLASS << number)
}

/// The ranges of characters behind `start`, each as long as possible, of which `are` is true: the first and the last one
/// of each.
fn ranges_behind(start: u16, are: impl Fn(&u16) -> bool) -> Vec<[u16; 2]> {
    let (mut ranges, mut before) = (Vec::new(), start);
    for code in start..=u16::MAX {
        if !are(&code) {
            before = code;
        } else if code == u16::MAX || !are(&(code + 1)) {
            ranges.push([before + 1, code]);
        }
    }
    ranges
}

/// The place of a value in a list, to which it is added if it is new.
fn index_of<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|other| *other == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
