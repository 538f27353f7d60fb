//! The rules of the family: where pretokens start in a block, from the masks of its classes.

use super::super::blocks::next_of;
use super::classes::{BLOCK, BlockClasses};
use super::{Family, FamilyKind};

/// What the rules need to know of the text before a block. Each word is 0 or 1: what the last byte is, or belongs
/// to. The default is the start of a pretoken, before which nothing matters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    pub(super) letter: u64,
    lower: u64,
    caseless: u64,
    blank: u64,
    other: u64,
    /// A character that begins a pretoken and includes the letters after it.
    prefix: u64,
    /// White space that does not belong to the characters before it.
    space: u64,
    inner: u64,
    newline: u64,
    /// The newlines and slashes after other characters, which belong to them.
    trailing: u64,
    /// The number of digits of the last pretoken, if it has room for more or is full; otherwise 0.
    digits: u32,
    /// The number of bytes up to the end of the last contraction.
    contraction: Option<u32>,
}

/// What the rules need to know of the text after a block. Each word is 0 or 1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct After {
    /// The next character is, or may be, a letter.
    pub(super) letter: u64,
    /// The next character is white space.
    pub(super) space: u64,
    /// The next character that is not white space within a line is a newline.
    pub(super) newline: u64,
}

impl Family {
    /// The starts of pretokens in a block that is not empty: a bit for each byte, that of the first one included.
    /// `bytes` are those of the block, and those after it as far as they are known. The second mask has a bit for
    /// each start that does not depend on bytes that are unknown. `before` becomes what the next block needs.
    #[inline(always)]
    pub(super) fn starts<const CASED: bool>(
        self,
        classes: &BlockClasses,
        bytes: &[u8],
        before: &mut Before,
        after: After,
    ) -> (u64, u64) {
        let &BlockClasses {
            len,
            begins,
            letters,
            upper,
            caseless,
            digits,
            spaces,
            newlines,
            blanks,
            apostrophes,
            slashes,
        } = classes;
        let was = *before;
        // Without a branch for blocks without bytes, whose masks are 0.
        let last = len.wrapping_sub(1) % BLOCK as u32;
        let is_last = |mask: u64| mask >> last & 1;
        let valid = classes.valid();
        let others = valid & !(letters | digits | spaces);
        let after_blank = blanks << 1 | was.blank;
        let after_other = others << 1 | was.other;
        let after_letter = letters << 1 | was.letter;
        // White space before a character that is none.
        let mut last_spaces = spaces & !(spaces >> 1 | after.space << last);
        // From the last byte of a character to its first one.
        while last_spaces & !begins != 0 {
            last_spaces = last_spaces & begins | (last_spaces & !begins) >> 1;
        }
        let mut certain = u64::MAX;
        let mut starts;
        match self.kind {
            FamilyKind::Gpt2 => {
                starts = others & !after_other & !after_blank;
                let first_digits = digits & !(digits << 1 | u64::from(was.digits != 0));
                starts |= (letters & !after_letter | first_digits) & !after_blank;
                // The last character of white space belongs to the text after it.
                starts |= spaces & !(spaces << 1 | was.space) | last_spaces;
                before.digits = is_last(digits) as u32;
                before.space = is_last(spaces);
            }
            FamilyKind::Cl100k | FamilyKind::O200k => {
                let inner = spaces & !newlines;
                let trailing = trailing::<CASED>(newlines, slashes, after_other, was.trailing);
                let after_trailing = trailing << 1 | was.trailing;
                starts = match CASED {
                    true => others & !trailing & !(after_other & !after_trailing) & !after_blank,
                    false => others & !after_other & !after_blank,
                };
                // A character that begins a run of others includes the letters after it; if another one follows
                // it, there is no letter.
                let after_prefix = next_of(starts, begins) | was.prefix;
                before.prefix = starts >> (begins & valid).checked_ilog2().unwrap_or(0) & 1;
                starts |= letters & !(after_letter | inner << 1 | was.inner | after_prefix);
                starts |= self.digit_starts(digits, was.digits, last, &mut before.digits);
                let runs = spaces & !trailing;
                starts |= runs & !(runs << 1 | was.space);
                starts |= inner & last_spaces;
                // The part of a run of white space after its last newline.
                let mut after_newline = inner & ((newlines & runs) << 1 | was.newline);
                let before_newline = inner & (newlines >> 1 | after.newline << last);
                if before_newline != 0 {
                    // An addition carries through each run that ends so.
                    let carried = inner.reverse_bits().wrapping_add(before_newline.reverse_bits());
                    after_newline &= !(inner & !carried.reverse_bits());
                }
                starts |= after_newline;
                before.space = is_last(runs);
                before.inner = is_last(inner);
                before.newline = is_last(newlines & runs);
                before.trailing = is_last(trailing);
            }
        }
        before.letter = is_last(letters);
        before.blank = is_last(blanks);
        before.other = is_last(others);
        if CASED {
            let lower = letters & !(upper | caseless);
            starts |= upper & begins & (lower << 1 | was.lower);
            // Whether a word begins at an upper-case letter after one without case depends on those around.
            let unclear = upper & begins & (caseless << 1 | was.caseless);
            certain = (unclear & unclear.wrapping_neg()).wrapping_sub(1);
            before.lower = is_last(lower);
            before.caseless = is_last(caseless);
        }
        let mut contraction = was.contraction;
        if let Some(end) = contraction {
            (starts, contraction) = after_contraction(starts, 0, end, len);
        }
        let before_letter = letters >> 1 | after.letter << last;
        // Contractions are part of the word before them if case is distinguished, and otherwise pretokens. Before a
        // letter, an apostrophe begins a pretoken where no other character and no blank is before it.
        let mut found = apostrophes
            & before_letter
            & match CASED {
                true => after_letter,
                false => !after_other & !after_blank,
            };
        let mut end = was.contraction.unwrap_or(u32::MAX);
        while found != 0 {
            let offset = found.trailing_zeros();
            found &= found - 1;
            // Directly after a contraction, another one is not part of the same word.
            if CASED && offset == end {
                continue;
            }
            match self.contraction(&bytes[offset as usize + 1..]) {
                Some(0) => {}
                Some(letters) => {
                    end = offset + 1 + letters;
                    let first = if CASED { offset } else { offset + 1 };
                    (starts, contraction) = after_contraction(starts, first, end, len);
                }
                None => {
                    let is_start = u64::from(!CASED) << offset;
                    certain &= is_start | ((1 << offset) - 1);
                    break;
                }
            }
        }
        before.contraction = contraction;
        (starts & valid, certain)
    }

    /// The starts of groups of digits, of which the first group has had `before` digits in the block before, and
    /// how many the last one has had when the block ends with a digit at `last`.
    #[inline(always)]
    fn digit_starts(self, digits: u64, before: u32, last: u32, had: &mut u32) -> u64 {
        let mut starts = digits & !(digits << 1);
        if digits & 1 != 0 && before != 0 {
            // The first group goes on.
            let left = if self.digits == 0 { u64::BITS } else { self.digits - before };
            starts &= !1;
            starts |= if (!digits).trailing_zeros() > left { 1 << left } else { 0 };
        }
        if self.digits > 0 {
            // Digits after this many digits.
            let mut full = digits;
            for _ in 0..self.digits {
                full &= full << 1;
            }
            let mut step = self.digits;
            while full != 0 && step < u64::BITS {
                starts |= (starts << step) & full;
                full &= full << step;
                step *= 2;
            }
        }
        *had = 0;
        if digits >> last & 1 != 0 {
            let first = (!(digits << (u64::BITS - 1 - last))).leading_zeros();
            *had = match (self.digits, starts.checked_ilog2()) {
                (0, _) => 1,
                // A group that starts in the block.
                (_, Some(start)) if last - start < first => last - start + 1,
                _ => before + last + 1,
            };
        }
        starts
    }

    /// The number of letters of the contraction at the start of these bytes; 0 if there is none, `None` if
    /// it depends on the bytes after them.
    #[inline(always)]
    fn contraction(self, bytes: &[u8]) -> Option<u32> {
        let fold_case = |byte: u8| if self.kind == FamilyKind::Gpt2 { byte } else { byte | 0x20 };
        match bytes.first().map(|&byte| fold_case(byte)) {
            Some(b's' | b't' | b'm' | b'd') => Some(1),
            Some(first @ (b'l' | b'v' | b'r')) => {
                let expected = if first == b'l' { b'l' } else { b'e' };
                bytes.get(1).map(|&second| if fold_case(second) == expected { 2 } else { 0 })
            }
            Some(_) => Some(0),
            None => None,
        }
    }
}

/// The newlines, and if `SLASHES` the slashes, that belong to the other characters before them: of each run of
/// both, those from the first newline after such a character on.
#[inline(always)]
fn trailing<const SLASHES: bool>(newlines: u64, slashes: u64, after_other: u64, was_trailing: u64) -> u64 {
    let all = newlines | slashes;
    let mut firsts = newlines & after_other | all & was_trailing;
    if SLASHES {
        // Slashes are other characters themselves. An addition at the start of a run carries to the first of these.
        let run_starts = all & !(all << 1);
        firsts &= (all & !firsts).wrapping_add(run_starts);
    }
    // An addition carries through the rest of the run.
    all & !all.wrapping_add(firsts)
}

/// The starts of pretokens where a contraction from `first` to `end` is none or one of them, which ends there; and
/// the end in the next block, if it is not in this one of `len` bytes.
#[inline(always)]
fn after_contraction(starts: u64, first: u32, end: u32, len: u32) -> (u64, Option<u32>) {
    let from = |place: u32| u64::MAX.checked_shl(place).unwrap_or(0);
    let starts = starts & !(from(first) ^ from(end)) | 1u64.checked_shl(end).unwrap_or(0);
    (starts, end.checked_sub(len))
}
