//! Text that remains as it is, 64 bytes at a time.
//!
//! A character remains if no entry of the map begins with it, and one that only begins longer entries remains if the
//! next one is in none of them as the second character.

use super::{Compiled, MAX_PLAIN, Plain};
use crate::cpu::SimdLevel;
use crate::normalize::sets::Sets;
#[cfg(target_arch = "x86_64")]
use crate::normalize::sets::{Ascii, Block, LastRow};
#[cfg(target_arch = "x86_64")]
use crate::utf8::is_inside;

/// The characters of each kind; see [`Compiled::find_sets`].
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct PlainSets(Sets<SETS>);

const SETS: usize = 3;

/// A block of a text that was read, a bit for each byte.
#[derive(Default)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) struct Seen {
    start: usize,
    end: usize,
    /// The first bytes of all characters.
    starts: u64,
    /// The first bytes of characters that do not remain.
    changed: u64,
    /// The first bytes of characters that may be in an entry with the one before them.
    joins: u64,
    /// With the blanks that become spaces.
    spaces: u64,
    /// The spaces behind a space.
    repeats: u64,
    /// The blanks that become spaces.
    blanks: u64,
    /// Whether the last character remains whatever follows, and whether it is a space.
    is_kept: bool,
    is_space: bool,
}

/// The sets are found for texts of this many bytes: that takes a millisecond.
const MANY: usize = if cfg!(test) { 1 } else { 1 << 8 };

impl Compiled {
    /// The characters from an offset of a text on that remain as they are, or are blanks that become spaces; `None` if
    /// that is not known. What precedes the offset is replaced, or does not change with what follows. `seen` is the block
    /// of the text that was read last, if any.
    #[inline]
    pub(super) fn plain_blocks(
        &self,
        text: &[u8],
        from: usize,
        is_after_space: bool,
        seen: &mut Seen,
    ) -> Option<Plain> {
        if self.simd == SimdLevel::Plain {
            return None;
        }
        let sets = match self.sets.get() {
            Some(sets) => sets,
            None if text.len() - from < MANY => return None,
            None => self.sets.get_or_init(|| Box::new(self.find_sets())),
        };
        let PlainSets(sets) = sets.as_ref()?;
        match self.simd {
            SimdLevel::Plain => None,
            // SAFETY: these levels are chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe { self.plain_by_avx2(sets, text, from, is_after_space, seen) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe { self.plain_by_avx512(sets, text, from, is_after_space, seen) },
        }
    }

    /// The characters that remain whatever follows; those that only begin longer entries; and the second ones of these.
    fn find_sets(&self) -> Option<PlainSets> {
        if !self.all_are_plain {
            return None;
        }
        let firsts = self.map.firsts()?;
        let begins_longer = |&(c, is_entry): &(char, bool)| (!is_entry).then_some(c);
        let seconds = self.map.seconds(firsts.iter().filter_map(begins_longer))?;
        // No ASCII character is in a set.
        if seconds.first().is_some_and(char::is_ascii) {
            return None;
        }
        // In the order of all characters.
        let (mut firsts, mut seconds) = (firsts.into_iter().peekable(), seconds.into_iter().peekable());
        let sets = |c| {
            while firsts.next_if(|(first, _)| *first < c).is_some() {}
            while seconds.next_if(|second| *second < c).is_some() {}
            let is_second = seconds.peek() == Some(&c);
            let is_entry = firsts.peek().filter(|(first, _)| *first == c).map(|(_, is_entry)| *is_entry);
            match (self.may_be_plain(c), is_entry) {
                (true, None) => [true, false, is_second],
                (true, Some(false)) => [false, true, is_second],
                _ => [false, false, is_second],
            }
        };
        Some(PlainSets(Sets::new(sets, |[is_kept, _, is_second]| is_kept && !is_second)))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn plain_by_avx2(
        &self,
        sets: &Sets<SETS>,
        text: &[u8],
        from: usize,
        is_after_space: bool,
        seen: &mut Seen,
    ) -> Option<Plain> {
        self.plain_by(text, from, is_after_space, seen, |at| {
            Some((sets.read(text, at, 0)?, Ascii::at(text, at)))
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn plain_by_avx512(
        &self,
        sets: &Sets<SETS>,
        text: &[u8],
        from: usize,
        is_after_space: bool,
        seen: &mut Seen,
    ) -> Option<Plain> {
        let mut last = LastRow::default();
        self.plain_by(text, from, is_after_space, seen, |at| {
            Some((sets.read_avx512(text, at, 0, &mut last)?, Ascii::at_avx512(text, at)))
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn plain_by(
        &self,
        text: &[u8],
        from: usize,
        is_after_space: bool,
        seen: &mut Seen,
        mut read: impl FnMut(usize) -> Option<(Block<SETS>, Ascii)>,
    ) -> Option<Plain> {
        // What precedes the offset makes no entry with what follows.
        let (mut at, mut is_space, mut is_kept, mut blanks) = (from, is_after_space, true, 0);
        while at < text.len() && at - from < MAX_PLAIN {
            if !seen.has(at) {
                // Bytes that are not UTF-8 are replaced.
                let Some((block, ascii)) = read(at) else { break };
                *seen = Seen::of(at, &block, &ascii, self.blanks_are_spaces);
            }
            let first = 1 << (at - seen.start);
            let joins = if is_kept { seen.joins & !first } else { seen.joins };
            let repeats = seen.repeats & !first | if is_space { seen.spaces & first } else { 0 };
            let repeats = if self.removes { repeats } else { 0 };
            let changes = (seen.changed | joins | repeats) & first.wrapping_neg();
            if changes != 0 {
                let place = changes.trailing_zeros();
                at = seen.start + place as usize;
                blanks |= seen.blanks & first.wrapping_neg() & ((1 << place) - 1);
                let end = if joins >> place & 1 != 0 { last_start(text, at) } else { at };
                return Some(Plain { end, has_blanks: blanks != 0 });
            }
            blanks |= seen.blanks & first.wrapping_neg();
            (at, is_space, is_kept) = (seen.end, seen.is_space, seen.is_kept);
        }
        // The last character may be in an entry with what is not read.
        let end = match at {
            _ if at == from && from < text.len() => return None,
            _ if at < text.len() && !is_kept => last_start(text, at),
            _ => at,
        };
        Some(Plain { end, has_blanks: blanks != 0 })
    }
}

#[cfg(target_arch = "x86_64")]
impl Seen {
    /// Whether a character of the block starts at an offset: what follows an invalid byte may be inside of one.
    #[inline(always)]
    fn has(&self, at: usize) -> bool {
        let place = at.wrapping_sub(self.start);
        place < 64 && self.starts >> place & 1 != 0
    }

    /// A block that starts at an offset.
    #[inline(always)]
    fn of(start: usize, block: &Block<SETS>, ascii: &Ascii, blanks_are_spaces: bool) -> Seen {
        let [kept, begins, seconds] = block.sets;
        let starts = u64::MAX >> (64 - block.len.min(64)) & !block.inside;
        let kept = block.leads & (!block.mixed | kept);
        let blanks = if blanks_are_spaces { ascii.blanks } else { 0 };
        let spaces = ascii.spaces | blanks;
        // Whether the first character joins is known where the one before it is.
        let (behind_kept, is_kept) = block.behind(kept, false);
        Seen {
            start,
            end: start + block.len,
            starts,
            changed: starts & (!(ascii.printable | blanks | kept | begins) | ascii.invalid),
            joins: starts & seconds & !behind_kept,
            spaces,
            repeats: spaces & spaces << 1,
            blanks,
            is_kept,
            is_space: block.len <= 64 && spaces >> (block.len - 1) & 1 != 0,
        }
    }
}

/// The start of the character that ends at an offset, which is not the first one.
#[cfg(target_arch = "x86_64")]
fn last_start(text: &[u8], end: usize) -> usize {
    (1..end).rev().find(|&at| !is_inside(text[at])).unwrap_or_default()
}
