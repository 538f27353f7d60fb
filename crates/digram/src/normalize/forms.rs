//! Unicode's normalization forms.
//!
//! Most text is in normal form, and most characters are *inert*: normalization never changes them, nor joins them
//! with a character before them. So a text is searched for the others, by a table, and only the short runs around
//! them are normalized. Their rules are those of the library that Hugging Face's tokenizers uses, which follows
//! Unicode 9: characters that are newer are inert.

use std::ops::{ControlFlow, Range};

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization,
    char::{canonical_combining_class, compose, decompose_canonical},
    is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::traced::{Rewriter, Traced};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::utf8::{character_until, decode, is_inside};

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

/// The number of bytes that are examined at once.
const PLAIN_BLOCK: usize = 32;

/// Whether a byte is never the first of a character that is not inert in NFC: it continues a character, or is of
/// a script whose letters have no marks of their own there.
#[inline]
fn is_plain(byte: u8) -> bool {
    // Up to U+02FF, Cyrillic up to U+047F, U+4000 to U+9FFF, and from U+B000 to U+DFFF.
    (byte < 0xcc) | (byte & 0xfe == 0xd0) | (0xe4..=0xe9).contains(&byte) | (0xeb..=0xed).contains(&byte)
}

/// Whether three bytes are a character, other than those that begin with a byte ED, of which some are none.
#[inline]
fn is_three_bytes(first: u8, second: u8, last: u8) -> bool {
    let are_inside = is_inside(second) & is_inside(last);
    are_inside & (0xe0..=0xef).contains(&first) & (first != 0xed) & ((first != 0xe0) | (second >= 0xa0))
}

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
}

/// A character of a new form: the character, and how many of the old ones it replaces beside one; 1 for none.
type Changed = (char, isize);

impl FormTable {
    pub(super) fn new(form: Form) -> FormTable {
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
        FormTable { form, blocks, classes, joining }
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

    #[inline]
    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        // Nearly all text of many languages ends here.
        let rest = &text[self.plain_len(text)..];
        if rest.len() < PLAIN_BLOCK && rest.iter().fold(true, |all, &byte| all & self.is_plain(byte)) {
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
        let (mut position, mut pacer) = (0, Pacer::new(interrupt));
        let mut changed = Vec::new();
        loop {
            let found = self.next_run(text, position);
            let run_end = found.as_ref().map_or(text.len(), |run| run.end);
            let mut check = || {
                pacer.after(run_end - position)?;
                let Some(run) = &found else { return Ok(false) };
                self.normal_run(&text[run.clone()], interrupt, &mut changed)
            };
            let is_changed = match check() {
                Ok(is_changed) => is_changed,
                Err(error) => return ControlFlow::Break(Err(error)),
            };
            let Some(run) = found else { return ControlFlow::Continue(()) };
            position = run.end;
            if is_changed {
                visit(run, &changed)?;
            }
        }
    }

    /// The next run that is not certain to be in normal form: characters that are not inert, and the one before
    /// them.
    #[inline]
    fn next_run(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        // The start of the last inert character, or the end of bytes that are not UTF-8, and the class of the last
        // mark after it.
        let (mut before, mut last) = (from, 0);
        let mut position = from;
        while position < text.len() {
            // Not every character is worth the look at a block.
            let end = text.len().min(position + PLAIN_BLOCK);
            while position < end {
                let (class, len) = self.class_at(&text[position..]);
                (before, last) = match class {
                    Some(0) => (position, 0),
                    Some(class) if class != UNCERTAIN && class >= last => (before, class),
                    Some(_) => return Some(before..self.end_of_run(text, position + len)),
                    None => (position + len, 0),
                };
                position += len;
            }
            let passed = self.plain_len(&text[position..]);
            if passed > 0 {
                position = character_until(text, position + passed);
                let (c, len) = bstr::decode_last_utf8(&text[..position]);
                (before, last) = (if c.is_some() { position - len } else { position }, 0);
            }
        }
        None
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

    /// The length of blocks at the start of a text in which each byte belongs to an inert character, whatever
    /// the others are.
    #[inline]
    fn plain_len(&self, text: &[u8]) -> usize {
        let blocks = text.chunks_exact(PLAIN_BLOCK);
        // Without branches, so that the compiler uses vectors.
        let passed = match self.form {
            Form::Nfc => {
                blocks.take_while(|block| block.iter().fold(true, |all, &byte| all & is_plain(byte))).count()
            }
            _ => blocks.take_while(|block| block.is_ascii()).count(),
        };
        PLAIN_BLOCK * passed
    }

    #[inline]
    fn is_plain(&self, byte: u8) -> bool {
        match self.form {
            Form::Nfc => is_plain(byte),
            _ => byte.is_ascii(),
        }
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

/// The characters that become another one with the next, in order: what all composed characters consist of.
fn joining() -> Vec<char> {
    let mut joining = Vec::new();
    for composed in (0..END as u32).filter_map(char::from_u32) {
        let mut whole = None;
        decompose_canonical(composed, |part| {
            whole = match whole {
                None => Some(part),
                Some(first) => {
                    joining.push(first);
                    compose(first, part)
                }
            };
        });
    }
    joining.sort_unstable();
    joining.dedup();
    joining
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
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use crate::normalize::tests::texts;
    use proptest::prelude::*;

    /// The new form of a whole text by the library.
    fn whole(form: Form, text: &str) -> Vec<Changed> {
        match form {
            Form::Nfc => text.nfc().collect(),
            Form::Nfd => text.nfd().collect(),
            Form::Nfkc => text.nfkc().collect(),
            Form::Nfkd => text.nfkd().collect(),
        }
    }

    /// The new form of a text, with the origin of each character by the rules for a whole text.
    fn expected(form: Form, text: &str) -> (String, Vec<[usize; 2]>) {
        let given = Traced::given(text.as_bytes(), 0, true).unwrap();
        let mut rewriter = Rewriter::new(&given).unwrap();
        for (c, change) in whole(form, text) {
            if change > 0 {
                rewriter.insert(c).unwrap();
            } else {
                rewriter.replace(c).unwrap();
                rewriter.skip_characters(change.unsigned_abs());
            }
        }
        let new = rewriter.finish().unwrap();
        (String::from_utf8(new.bytes).unwrap(), new.origins.unwrap())
    }

    const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

    #[test]
    fn each_character_beside_letters_and_marks() {
        for form in FORMS {
            let table = FormTable::new(form);
            for c in '\0'..=char::MAX {
                for text in
                    [format!("a{c}b"), format!("\u{1100}{c}\u{301}"), format!("e{c}\u{323}{c}\u{1161}")]
                {
                    let given = Traced::given(text.as_bytes(), 0, false).unwrap();
                    let new = table.applied(&given, &Never).unwrap().bytes;
                    let expected: String = whole(form, &text).iter().map(|&(c, _)| c).collect();
                    assert_eq!(String::from_utf8(new).unwrap(), expected, "{form:?} {text:?}");
                    assert_eq!(table.changes(text.as_bytes(), &Never), Ok(expected != text), "{text:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn runs_alone_give_what_the_whole_text_does(text in texts(), form in prop::sample::select(&FORMS[..])) {
            let given = Traced::given(text.as_bytes(), 0, true).unwrap();
            let new = FormTable::new(form).applied(&given, &Never).unwrap();
            let (bytes, origins) = expected(form, &text);
            prop_assert_eq!(String::from_utf8(new.bytes).unwrap(), bytes);
            prop_assert_eq!(new.origins.unwrap(), origins);
        }
    }

    #[test]
    fn what_may_join_is_known() {
        let table = FormTable::new(Form::Nfc);
        assert!(
            ['a', '=', '\u{1100}', '가', 'が', 'か', 'ộ'].map(|c| table.may_join(c))
                == [true, true, true, true, false, true, false]
        );
        assert!(!" \n.1語각".chars().any(|c| table.may_join(c)));
        assert!(!FormTable::new(Form::Nfd).may_join('a'));
    }

    #[test]
    fn plain_bytes_start_only_inert_characters() {
        let table = FormTable::new(Form::Nfc);
        for c in ('\0'..=char::MAX).filter(|&c| !table.is_inert(c)) {
            let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
            assert!(!is_plain(first) && first >= 0xc2, "{c:?}");
        }
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        for form in FORMS {
            let table = FormTable::new(form);
            for filling in ["a", "é", "д", "語", "가", "न", "ก", "\u{ff}", "😀"] {
                for length in 0..80 {
                    let text =
                        format!("{}e\u{301}\u{323}{}", filling.repeat(length), filling.repeat(length % 40));
                    let given = Traced::given(text.as_bytes(), 0, false).unwrap();
                    let new = table.applied(&given, &Never).unwrap().bytes;
                    let expected: String = whole(form, &text).iter().map(|&(c, _)| c).collect();
                    assert_eq!(String::from_utf8(new).unwrap(), expected);
                    assert_eq!(table.changes(text.as_bytes(), &Never), Ok(expected != text));
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_not_characters_remain_and_join_nothing() {
        let table = FormTable::new(Form::Nfc);
        let normal =
            |text: &[u8]| table.applied(&Traced::given(text, 0, false).unwrap(), &Never).unwrap().bytes;
        assert_eq!(normal(b"e\xff\xcc\x81e\xcc\x81\xff"), b"e\xff\xcc\x81\xc3\xa9\xff");
        assert_eq!(normal(b"\xcc"), b"\xcc");
        assert_eq!(
            normal(&[b"a".repeat(40), b"e\xcc\x81".repeat(20)].concat()),
            [b"a".repeat(40), "é".repeat(20).into_bytes()].concat()
        );
    }
}
