//! Unicode's normalization forms.
//!
//! Most text is in normal form, and most characters are *inert*: normalization never changes them, nor joins them
//! with a character before them. So a text is searched for the others, by a table, and only the short runs around
//! them are normalized. Their rules are those of the library that Hugging Face's tokenizers uses, which follows
//! Unicode 9: characters that are newer are inert.

mod places;
mod units;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::race::OnceBox;
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization,
    char::{canonical_combining_class, compose, decompose_canonical},
    is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::sets::Sets;
use super::traced::{Rewriter, Traced};
use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::utf8::{decode, is_inside, is_three_bytes};
use places::Places;
use units::Units;

/// A normalization form of Unicode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Characters with their marks are one character where there is one.
    Nfc,
    /// Characters are taken apart into letters and marks.
    Nfd,
    /// As NFC, and variants of characters (ligatures, full-width letters, numbers in circles) become plain.
    Nfkc,
    /// As NFD, and variants of characters become plain.
    Nfkd,
}

/// The number of characters that a byte may become: those of U+FDFA are 18.
const MAX_CHARACTERS: usize = 6;

/// Memory for runs of this many bytes is small.
const MAX_UNCHECKED: usize = 1 << 10;

/// No character from here on is changed, or is a mark.
const END: usize = 0x3_0000;

/// The number of characters of a block of the table.
const BLOCK: usize = 64;

/// The class of characters that a form changes, or that may join with the one before.
const UNCERTAIN: u8 = u8::MAX;

/// The rules of a form.
pub(super) struct FormTable {
    form: Form,
    /// The number of each block of characters among the distinct ones.
    blocks: Box<[u8]>,
    /// Of each distinct block the classes: 0 for an inert character, [`UNCERTAIN`], and for a mark that remains
    /// its combining class.
    classes: Vec<[u8; BLOCK]>,
    /// The characters that a mark or a part after them may change, in order.
    joining: Vec<char>,
    /// The characters that are looked up in blocks of text.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    sets: Sets<SETS>,
    /// The table for texts of 16-bit characters, made for the first such text.
    units: OnceBox<Units>,
    /// Characters that are not inert with the bytes before each, as [keys](key_of), and a number of [`Stays`] for each.
    pairs: [AtomicU64; PAIRS],
    simd: SimdLevel,
}

/// A letter is looked for behind fewer marks than this.
const MAX_MARKS: usize = 4;

/// The number of pairs of characters that are kept.
const PAIRS: usize = 1 << 10;

/// The number of bytes before a character that its key has: those of one character of three bytes, or of more.
const BEFORE: usize = 3;

/// The number of sets of characters.
const SETS: usize = 6;

/// The number of bytes that are examined at once without vectors.
const PLAIN_BLOCK: usize = 32;

/// A character of a new form: the character, and how many of the old ones it replaces beside one; 1 for none.
type Changed = (char, isize);

/// Whether a character stays as it is behind another one.
#[derive(Clone, Copy)]
enum Stays {
    Always = 1,
    NotAlways,
    /// What is before them decides.
    Perhaps,
}

/// The table of each form, made at first use.
static TABLES: [OnceBox<FormTable>; 4] = [const { OnceBox::new() }; 4];

impl FormTable {
    /// The table of a form.
    pub(super) fn of(form: Form) -> &'static FormTable {
        TABLES[form as usize].get_or_init(|| Box::new(FormTable::new(form)))
    }

    fn new(form: Form) -> FormTable {
        let mut classes: Vec<[u8; BLOCK]> = vec![[0; BLOCK]];
        let block = |number: usize| {
            let mut block = [0; BLOCK];
            for (index, class) in block.iter_mut().enumerate() {
                *class = char::from_u32((number * BLOCK + index) as u32).map_or(0, |c| class_of(form, c));
            }
            let index = classes.iter().position(|known| *known == block).unwrap_or_else(|| {
                classes.push(block);
                classes.len() - 1
            });
            u8::try_from(index).expect("at most 256 distinct blocks")
        };
        let blocks = (0..END / BLOCK).map(block).collect();
        let joining = match form {
            Form::Nfc | Form::Nfkc => joining(),
            Form::Nfd | Form::Nfkd => Vec::new(),
        };
        let simd = SimdLevel::best();
        let pairs = [const { AtomicU64::new(0) }; PAIRS];
        let mut table = FormTable {
            form,
            blocks,
            classes,
            joining,
            sets: Sets::new(|_| [false; SETS], |_| false),
            units: OnceBox::new(),
            pairs,
            simd,
        };
        table.sets = Sets::new(|c| table.sets_of(c), |[is_inert, ..]| is_inert);
        table
    }

    #[inline]
    fn units(&self) -> &Units {
        self.units.get_or_init(|| Box::new(Units::of(self)))
    }

    #[inline]
    fn class(&self, c: char) -> u8 {
        match self.blocks.get(c as usize / BLOCK) {
            Some(&block) => self.classes[usize::from(block)][c as usize % BLOCK],
            None => 0,
        }
    }

    /// Whether a character never changes, nor joins with one before it.
    pub(super) fn is_inert(&self, c: char) -> bool {
        self.class(c) == 0
    }

    /// Whether a character may become another one with what follows it.
    pub(super) fn may_join(&self, c: char) -> bool {
        self.joining.binary_search(&c).is_ok()
    }

    /// Whether a character stays as it is whatever marks follow it. "é" does not: with a dot below behind it, its
    /// accent becomes a mark of its own, since the dot is nearer to the letter.
    pub(super) fn is_solid(&self, c: char) -> bool {
        self.is_inert(c) && !self.may_join(c) && !decomposes(c)
    }

    /// Whether what a character becomes joins with nothing before it, and no mark passes over it.
    pub(super) fn begins_apart(&self, c: char) -> bool {
        let first = match self.form {
            Form::Nfc | Form::Nfkc => None,
            Form::Nfd => [c].into_iter().nfd().next(),
            Form::Nfkd => [c].into_iter().nfkd().next(),
        };
        self.is_inert(c) || first.is_some_and(|(first, _)| canonical_combining_class(first) == 0)
    }

    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        // Many short texts are ASCII, and this check is faster than preparing the search.
        if text.len() <= MAX_UNCHECKED && text.is_ascii() {
            return Ok(false);
        }
        let flow = self.each_change(text, interrupt, |_, _| ControlFlow::Break(Ok(true)));
        flow.break_value().unwrap_or(Ok(false))
    }

    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let mut rewriter = Rewriter::new(text)?;
        let mut rewrite = |run: Range<usize>, changed: &[Changed]| -> Result<()> {
            rewriter.keep_until(run.start)?;
            for &(c, change) in changed {
                if change > 0 {
                    rewriter.insert(c)?;
                } else {
                    rewriter.replace(c)?;
                    rewriter.skip_characters(change.unsigned_abs());
                }
            }
            rewriter.skip_until(run.end);
            Ok(())
        };
        let flow = self.each_change(&text.bytes, interrupt, |run, changed| match rewrite(run, changed) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Err(error)),
        });
        flow.break_value().unwrap_or(Ok(()))?;
        rewriter.finish()
    }

    /// Calls `visit` with each run of characters that changes, and what it becomes.
    fn each_change<T>(
        &self,
        text: &[u8],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(Range<usize>, &[Changed]) -> ControlFlow<Result<T>>,
    ) -> ControlFlow<Result<T>> {
        let (mut from, mut places) = (0, Places::from(0));
        let (mut pacer, mut changed) = (Pacer::new(interrupt), Vec::new());
        while places.advance(self, text) {
            if let Err(error) = pacer.after(places.end - from.max(places.start)) {
                return ControlFlow::Break(Err(error));
            }
            while places.places != 0 {
                let offset = places.start + places.places.trailing_zeros() as usize;
                places.places &= places.places - 1;
                if self.stays(text, offset) {
                    continue;
                }
                let run = self.run_at(text, from, offset);
                let is_changed = pacer
                    .after(run.len())
                    .and_then(|()| self.normal_run(&text[run.clone()], interrupt, &mut changed));
                match is_changed {
                    Ok(true) => visit(run.clone(), &changed)?,
                    Ok(false) => (),
                    Err(error) => return ControlFlow::Break(Err(error)),
                }
                from = run.end;
                places = Places::from(from);
            }
        }
        match pacer.after(text.len() - from) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    /// Whether a character that is not inert stays as it is, where the text before it does; false if that is not known.
    #[inline]
    fn stays(&self, text: &[u8], offset: usize) -> bool {
        let around = offset.checked_sub(BEFORE).and_then(|start| text.get(start..)?.first_chunk());
        let stays = match around.and_then(|bytes| key_of(u64::from_le_bytes(*bytes))) {
            Some(key) => self.known(key, || self.stays_at(text, offset)),
            None => self.stays_at(text, offset),
        };
        match stays {
            Stays::Always => true,
            Stays::NotAlways => false,
            Stays::Perhaps => self.stays_behind_marks(text, offset),
        }
    }

    /// The same without what is known; bytes that are no character stay.
    #[cold]
    fn stays_at(&self, text: &[u8], offset: usize) -> Stays {
        match decode(&text[offset..]).0 {
            Some(c) => self.stays_behind(last_character(&text[..offset]), c),
            None => Stays::Always,
        }
    }

    /// What is known by a key, whose lowest two bits are zero; of several keys with one place it is that of the last.
    #[inline(always)]
    fn known(&self, key: u64, decide: impl FnOnce() -> Stays) -> Stays {
        let place =
            &self.pairs[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PAIRS.ilog2())) as usize];
        let known = place.load(Ordering::Relaxed);
        match known ^ key {
            1 => return Stays::Always,
            2 => return Stays::NotAlways,
            3 => return Stays::Perhaps,
            _ => (),
        }
        let stays = decide();
        place.store(key | stays as u64, Ordering::Relaxed);
        stays
    }

    /// Whether a character that is not inert stays as it is behind another one, or the start of the text.
    fn stays_behind(&self, before: Option<char>, c: char) -> Stays {
        let (last, class) = (before.map_or(0, canonical_combining_class), canonical_combining_class(c));
        let stays = match self.class(c) {
            UNCERTAIN if !self.form.may_join_with_last(c) => false,
            UNCERTAIN if last == 0 => before.is_some_and(|first| self.stays_apart(first, c)),
            // A mark between them of the same or a higher class keeps it from joining, but must not be higher.
            UNCERTAIN if class > last => return Stays::Perhaps,
            UNCERTAIN => class == 0 || class == last,
            class => class == 0 || class >= last,
        };
        if stays { Stays::Always } else { Stays::NotAlways }
    }

    /// Whether a character that may join with a letter before marks of lower classes does not.
    #[cold]
    fn stays_behind_marks(&self, text: &[u8], offset: usize) -> bool {
        let (mut text, rest) = text.split_at(offset);
        let Some(c) = decode(rest).0 else { return true };
        for _ in 0..MAX_MARKS {
            let Some(first) = last_character(text) else { return false };
            if canonical_combining_class(first) == 0 {
                return self.stays_apart(first, c);
            }
            text = &text[..text.len() - first.len_utf8()];
        }
        false
    }

    /// Whether a character does not join with one before it, with which it may.
    fn stays_apart(&self, first: char, c: char) -> bool {
        // It would come before a mark of a higher class in the one before it.
        let (class, mut last_inside) = (canonical_combining_class(c), 0);
        decompose_canonical(first, |part| last_inside = canonical_combining_class(part));
        compose(first, c).is_none() && (class == 0 || last_inside <= class)
    }

    /// The run of characters around a place that are not inert, with the inert one before them.
    #[cold]
    fn run_at(&self, text: &[u8], from: usize, offset: usize) -> Range<usize> {
        let mut start = offset;
        while start > from {
            let (c, len) = bstr::decode_last_utf8(&text[from..start]);
            let Some(class) = c.map(|c| self.class(c)) else { break };
            start -= len;
            if class == 0 {
                break;
            }
        }
        start..self.end_of_run(text, offset)
    }

    /// The end of the characters from an offset on that are not inert.
    #[cold]
    fn end_of_run(&self, text: &[u8], mut end: usize) -> usize {
        while let (Some(class), len) = self.class_at(&text[end..])
            && class != 0
        {
            end += len;
        }
        end
    }

    /// The class of the first character of a text and its length; no class for bytes that are not UTF-8.
    #[inline]
    fn class_at(&self, text: &[u8]) -> (Option<u8>, usize) {
        let (block, last, len) = match *text {
            [0..=0x7f, ..] => return (Some(0), 1),
            [first @ 0xc2..=0xdf, last, ..] if is_inside(last) => (usize::from(first & 0x1f), last, 2),
            [first, second, last, ..] if is_three_bytes(first, second, last) => {
                (usize::from(first & 0x0f) << 6 | usize::from(second & 0x3f), last, 3)
            }
            _ => {
                let (c, len) = decode(text);
                return (c.map(|c| self.class(c)), len);
            }
        };
        (Some(self.classes[usize::from(self.blocks[block])][usize::from(last & 0x3f)]), len)
    }

    /// Whether a run changes; then `changed` is what it becomes.
    fn normal_run(&self, run: &[u8], interrupt: &dyn Interrupt, changed: &mut Vec<Changed>) -> Result<bool> {
        // The library sorts the marks of a letter in memory that it does not reserve.
        if run.len() > MAX_UNCHECKED {
            memory::try_reserve(&mut Vec::<(u8, Changed)>::new(), MAX_CHARACTERS * run.len())?;
        }
        changed.clear();
        memory::try_reserve(changed, MAX_CHARACTERS * run.len())?;
        let text = String::from_utf8_lossy(run);
        let (mut pacer, mut stopped) = (Pacer::new(interrupt), Ok(()));
        let characters = text.chars().map_while(|c| {
            stopped = pacer.after(1);
            stopped.is_ok().then_some(c)
        });
        match self.form {
            Form::Nfc => changed.extend(characters.nfc()),
            Form::Nfd => changed.extend(characters.nfd()),
            Form::Nfkc => changed.extend(characters.nfkc()),
            Form::Nfkd => changed.extend(characters.nfkd()),
        }
        stopped?;
        Ok(!changed.iter().map(|&(c, _)| c).eq(text.chars()))
    }
}

/// A key of a character and the [`BEFORE`] bytes before it, which determine the character before it, of eight bytes of
/// text; `None` if one of the two has four bytes.
#[inline(always)]
fn key_of(around: u64) -> Option<u64> {
    const LEAD: u32 = 8 * BEFORE as u32;
    const INSIDE: [u64; 2] = [0xc0_c0c0, 0x80_8080];
    let lead = (around >> LEAD) as u8;
    let bits = if lead < 0xe0 { LEAD + 16 } else { LEAD + 24 };
    let is_longer = lead >= 0xf0 || around & INSIDE[0] == INSIDE[1];
    (!is_longer).then_some((around & ((1 << bits) - 1)) << 2)
}

/// The characters that become another one with the next, in order.
fn joining() -> Vec<char> {
    let mut joining = Vec::new();
    for composed in (0..END as u32).filter_map(char::from_u32) {
        let mut whole = None;
        decompose_canonical(composed, |part| {
            whole = match whole {
                None => Some(part),
                // What is taken apart and never composed stays.
                Some(first) => compose(first, part).inspect(|_| joining.push(first)),
            };
        });
    }
    joining.sort_unstable();
    joining.dedup();
    joining
}

impl Form {
    /// Whether a character in this form may join with one before it, and otherwise stays.
    fn may_join_with_last(self, c: char) -> bool {
        self == Form::Nfc && is_nfc_quick([c].into_iter()) == IsNormalized::Maybe
    }
}

/// The character that a text ends with, unless its last bytes are none.
#[inline]
fn last_character(text: &[u8]) -> Option<char> {
    for len in 1..=3 {
        let start = text.len().checked_sub(len)?;
        if !is_inside(text[start]) {
            let (c, width) = decode(&text[start..]);
            return c.filter(|_| width == len);
        }
    }
    bstr::decode_last_utf8(text).0
}

/// Whether a character is several ones, or another one, in the form in which all characters are taken apart.
fn decomposes(c: char) -> bool {
    let mut is_whole = true;
    decompose_canonical(c, |part| is_whole &= part == c);
    !is_whole
}

/// The class of a character in the table of a form.
fn class_of(form: Form, c: char) -> u8 {
    let is_allowed = match form {
        Form::Nfc => is_nfc_quick([c].into_iter()),
        Form::Nfd => is_nfd_quick([c].into_iter()),
        Form::Nfkc => is_nfkc_quick([c].into_iter()),
        Form::Nfkd => is_nfkd_quick([c].into_iter()),
    };
    if is_allowed == IsNormalized::Yes { canonical_combining_class(c) } else { UNCERTAIN }
}

#[cfg(test)]
mod tests;
