//! The places of a text where it may change: characters that are neither inert nor certain to stay.
//!
//! A mark stays behind an inert character. A character that could join with the one before it stays behind a *solid*
//! one: an inert one that joins with nothing and does not decompose; some frequent marks stay behind more of them. All others are looked at one by one.

use super::{FormTable, PLAIN_BLOCK, UNCERTAIN};
use crate::cpu::SimdLevel;
use crate::normalize::sets::BLOCK;
#[cfg(target_arch = "x86_64")]
use crate::normalize::sets::{Block, LastRow};

/// Marks that are frequent behind letters with which they are no character, as in Yoruba behind "ẹ" and "ọ".
pub(super) const TONES: [char; 3] = ['\u{300}', '\u{301}', '\u{304}'];

/// A search for places, from an inert character on or the start of the text.
pub(super) struct Places {
    /// Where the block of these places starts.
    pub(super) start: usize,
    /// The places in it that are not visited yet.
    pub(super) places: u64,
    /// The end of the block.
    pub(super) end: usize,
    /// The bytes behind the block that belong to its last character.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    inside: u64,
    /// What the character before its end is certain to be.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    is_after: After,
    #[cfg(target_arch = "x86_64")]
    last_row: LastRow,
}

#[derive(Clone, Copy, Default)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct After {
    solid: bool,
    inert: bool,
    /// Whether no [tone](TONES) changes it.
    even: bool,
}

impl Places {
    pub(super) fn from(start: usize) -> Places {
        Places {
            start,
            places: 0,
            end: start,
            inside: 0,
            is_after: After::default(),
            #[cfg(target_arch = "x86_64")]
            last_row: LastRow::default(),
        }
    }

    /// Goes on to the next block that has places. False if there is none.
    #[inline]
    pub(super) fn advance(&mut self, table: &FormTable, text: &[u8]) -> bool {
        match table.simd {
            SimdLevel::Plain => self.advance_plain(table, text),
            // SAFETY: these levels are chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.advance_avx2(table, text) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.advance_avx512(table, text) },
        }
        self.places != 0
    }

    fn advance_plain(&mut self, table: &FormTable, text: &[u8]) {
        while self.places == 0 && self.end < text.len() {
            let blocks = text[self.end..].chunks_exact(PLAIN_BLOCK);
            self.end += PLAIN_BLOCK * blocks.take_while(|block| block.is_ascii()).count();
            self.each_character(table, text);
        }
    }

    /// Takes the characters from the end on, up to as many as a block has, one by one.
    fn each_character(&mut self, table: &FormTable, text: &[u8]) {
        self.start = self.end;
        while self.end < text.len().min(self.start + BLOCK) {
            let (class, len) = table.class_at(&text[self.end..]);
            self.places |= u64::from(class.is_some_and(|class| class != 0)) << (self.end - self.start);
            self.end += len;
        }
        (self.inside, self.is_after) = (0, After::default());
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn advance_avx2(&mut self, table: &FormTable, text: &[u8]) {
        while self.places == 0 && self.end < text.len() {
            self.take(table.sets.read(text, self.end, self.inside), table, text);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn advance_avx512(&mut self, table: &FormTable, text: &[u8]) {
        while self.places == 0 && self.end < text.len() {
            let block = table.sets.read_avx512(text, self.end, self.inside, &mut self.last_row);
            self.take(block, table, text);
        }
    }

    /// Goes on to a block.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn take(&mut self, block: Option<Block<{ super::SETS }>>, table: &FormTable, text: &[u8]) {
        match block {
            Some(block) => {
                self.start = self.end;
                self.places = self.uncertain(&block);
                // Where the next block starts does not depend on the characters, so that the processor need not wait
                // for them: it may be inside one.
                self.inside = block.beyond;
                self.end = text.len().min(self.end + BLOCK);
            }
            None => self.each_character(table, text),
        }
    }

    /// The places of a block.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn uncertain(&mut self, block: &Block<{ super::SETS }>) -> u64 {
        let [inert, marks, joining, solid, tones, even] = block.sets;
        let others = block.mixed & !inert;
        if others == 0 {
            let [solid, even] = [solid, even].map(|firsts| block.behind(firsts, false).1);
            self.is_after = After { inert: true, solid, even };
            return 0;
        }
        let after = self.is_after;
        let (behind_others, is_other) = block.behind(others, !after.inert);
        let (behind_solid, is_solid) = block.behind(solid, after.solid);
        let (behind_even, is_even) = block.behind(even, after.even);
        self.is_after = After { inert: !is_other, solid: is_solid, even: is_even };
        let stay = marks & !behind_others | joining & behind_solid | tones & behind_even;
        others & !stay
    }
}

impl FormTable {
    /// Of which sets a character is one: inert, a mark that remains, one that may join, solid, a tone, and an inert one
    /// that no tone changes.
    pub(super) fn sets_of(&self, c: char) -> [bool; super::SETS] {
        let class = self.class(c);
        let is_inert = class == 0;
        let (may_join, is_solid) = (self.form.may_join_with_last(c), self.is_solid(c));
        let is_even = is_solid || is_inert && TONES.iter().all(|&tone| self.stays_apart(c, tone));
        [
            is_inert,
            !is_inert && class != UNCERTAIN,
            may_join,
            is_solid,
            may_join && TONES.contains(&c),
            is_even,
        ]
    }
}
