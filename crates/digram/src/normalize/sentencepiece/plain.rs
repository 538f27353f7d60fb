//! Text that remains as it is, 64 bytes at a time.
//!
//! A character remains if no entry of the map begins with it, and one that only begins longer entries remains if the
//! next one is in none of them as the second character.

use super::{Compiled, MAX_PLAIN};
use crate::cpu::SimdLevel;
use crate::normalize::sets::Sets;
#[cfg(target_arch = "x86_64")]
use crate::normalize::sets::{Ascii, Block, LastRow};
#[cfg(target_arch = "x86_64")]
use crate::utf8::is_inside;

/// The characters of each kind; see [`Compiled::find_sets`].
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct PlainSets(Sets<SETS>);

const SETS: usize = 4;

/// The sets are found for texts of this many bytes: that takes a millisecond.
const MANY: usize = if cfg!(test) { 1 } else { 1 << 8 };

impl Compiled {
    /// The number of bytes at the start of a text whose characters remain as they are; `None` if that is not known.
    #[inline]
    pub(super) fn plain_blocks(&self, text: &[u8], is_after_space: bool) -> Option<usize> {
        if self.simd == SimdLevel::Plain {
            return None;
        }
        let sets = match self.sets.get() {
            Some(sets) => sets,
            None if text.len() < MANY => return None,
            None => self.sets.get_or_init(|| Box::new(self.find_sets())),
        };
        let PlainSets(sets) = sets.as_ref()?;
        match self.simd {
            SimdLevel::Plain => None,
            // SAFETY: these levels are chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.plain_by_avx2(sets, text, is_after_space) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.plain_by_avx512(sets, text, is_after_space) },
        }
    }

    /// The characters that remain whatever follows and are no second ones of entries, as most are; those that only begin
    /// longer entries; the second ones of these; and all that remain whatever follows.
    fn find_sets(&self) -> Option<PlainSets> {
        if !self.all_are_plain {
            return None;
        }
        let begins_longer = |c: &char| self.map.begins(*c) == (true, false);
        let seconds = self.map.seconds(('\0'..='\u{ffff}').filter(begins_longer))?;
        // No ASCII character is in a set.
        if seconds.first().is_some_and(char::is_ascii) {
            return None;
        }
        Some(PlainSets(Sets::new(|c| {
            let is_second = seconds.binary_search(&c).is_ok();
            match (self.may_be_plain(c), self.map.begins(c)) {
                (true, (false, _)) => [!is_second, false, is_second, true],
                (true, (true, false)) => [false, true, is_second, false],
                _ => [false, false, is_second, false],
            }
        })))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn plain_by_avx2(&self, sets: &Sets<SETS>, text: &[u8], is_after_space: bool) -> Option<usize> {
        self.plain_by(text, is_after_space, |at| Some((sets.read(text, at, 0)?, Ascii::at(text, at))))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn plain_by_avx512(&self, sets: &Sets<SETS>, text: &[u8], is_after_space: bool) -> Option<usize> {
        let mut last = LastRow::default();
        self.plain_by(text, is_after_space, |at| {
            Some((sets.read_avx512(text, at, 0, &mut last)?, Ascii::at_avx512(text, at)))
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn plain_by(
        &self,
        text: &[u8],
        is_after_space: bool,
        mut read: impl FnMut(usize) -> Option<(Block<SETS>, Ascii)>,
    ) -> Option<usize> {
        // What precedes the start is replaced already, and makes no entry with what follows.
        let (mut at, mut after_space, mut after_kept) = (0, u64::from(is_after_space), true);
        while at < text.len() && at < MAX_PLAIN {
            // Bytes that are not UTF-8 are replaced.
            let Some((block, ascii)) = read(at) else { break };
            let in_block = u64::MAX >> (64 - block.len.min(64));
            let [common, begins, seconds, kept] = block.sets;
            let starts = in_block & !block.inside;
            let kept = block.leads & (!block.mixed | common | kept);
            let (behind_kept, is_kept) = block.behind(kept, after_kept);
            // It may be in an entry with the one before it.
            let joins = seconds & !behind_kept;
            let repeats = if self.removes { ascii.spaces & (ascii.spaces << 1 | after_space) } else { 0 };
            let changes = starts & (!(ascii.printable | kept | begins) | joins | repeats | ascii.invalid);
            if changes != 0 {
                let place = changes.trailing_zeros() as usize;
                at += place;
                return Some(if joins >> place & 1 != 0 { last_start(text, at) } else { at });
            }
            after_space = ascii.spaces >> (block.len - 1).min(63) & u64::from(block.len <= 64);
            after_kept = is_kept;
            at += block.len;
        }
        // The last character may be in an entry with what is not read.
        match at {
            0 if !text.is_empty() => None,
            _ if at < text.len() && !after_kept => Some(last_start(text, at)),
            _ => Some(at),
        }
    }
}

/// The start of the character that ends at an offset, which is not the first one.
#[cfg(target_arch = "x86_64")]
fn last_start(text: &[u8], end: usize) -> usize {
    (1..end).rev().find(|&at| !is_inside(text[at])).unwrap_or_default()
}
