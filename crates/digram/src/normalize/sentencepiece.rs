//! The normalization of SentencePiece.
//!
//! From left to right, the longest entry of the character map is replaced; the symbols of the user remain as they
//! are. Spaces may then be reduced: none at the ends, and one between words; and a space may be put before the text,
//! or behind it. Tokens have real spaces, so the symbol "▁", which SentencePiece does not tell from a space, becomes
//! one.

mod plain;

use std::ops::ControlFlow;

use once_cell::race::OnceBox;

use super::Seam;
use super::charsmap::Charsmap;
use super::traced::Traced;
use super::unchanged::Unchanged;
use crate::cpu::SimdLevel;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::trie::Trie;
use crate::utf8::decode;

/// What SentencePiece does with a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentencePiece {
    /// The character map; empty for none.
    pub charsmap: Vec<u8>,
    /// Whether a space is put before a text, or behind it.
    pub added_space: AddedSpace,
    /// Whether spaces at the ends and repeated spaces are removed.
    pub removes_spaces: bool,
    /// Texts that remain as they are.
    pub symbols: Vec<String>,
}

/// A space that is added to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AddedSpace {
    /// None.
    #[default]
    No,
    /// One before the text.
    Before,
    /// One behind the text.
    Behind,
    /// One before the first character that is no space, as in llama.cpp. A text of spaces has none, and a symbol "▁" at
    /// the end of a text is never removed.
    BeforeWord,
}

/// The symbol that stands for a space.
const SPACE: char = '▁';

const SPACE_BYTES: &[u8] = "▁".as_bytes();

/// The stage, compiled.
pub(super) struct Compiled {
    map: Charsmap,
    added: AddedSpace,
    removes: bool,
    symbols: Trie,
    /// The characters that are next to each other in a symbol, in ascending order.
    symbol_pairs: Vec<(char, char)>,
    /// See [`inside`](Compiled::inside); found at first use.
    inside: OnceBox<Option<Vec<char>>>,
    /// The ASCII characters that remain as they are if another one follows.
    plain: [bool; 128],
    /// Those of them with which no entry begins.
    begins_none: [bool; 128],
    /// The other characters that remain as they are, whatever follows.
    kept: Unchanged,
    /// Whether this holds for all but control characters, as it mostly does.
    all_are_plain: bool,
    /// Whether each [blank](is_blank) becomes a space, whatever follows.
    blanks_are_spaces: bool,
    /// The sets by which blocks of text are examined; found at first use.
    sets: OnceBox<Option<plain::PlainSets>>,
    simd: SimdLevel,
}

/// The number of bytes that are examined at once.
const BLOCK: usize = 32;

/// The number of bytes that are copied at once.
const AT_ONCE: usize = 64;

/// The largest number of bytes that are emitted at once.
const MAX_PLAIN: usize = 1 << 16;

/// Where bytes of the new text come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Each one is the byte at its place.
    Same,
    /// Each one is the byte at its place, or a space if that is a blank.
    Blanks,
    /// A space, from the symbol of a space.
    Symbol,
    /// Something else.
    Other,
}

/// The ASCII characters other than a space that most maps make one.
const BLANKS: [u8; 3] = *b"\t\n\r";

#[inline(always)]
fn is_blank(byte: &u8) -> bool {
    // The compiler uses vectors.
    (*byte == b'\t') | (*byte == b'\n') | (*byte == b'\r')
}

/// A text whose characters remain as they are.
struct Plain {
    end: usize,
    /// Whether some may be blanks, which become spaces.
    has_blanks: bool,
}

/// A text, and where each of its bytes came from if that is asked for.
#[derive(Clone, Copy)]
pub(super) struct Old<'t> {
    pub(super) text: &'t [u8],
    pub(super) origins: Option<&'t [[usize; 2]]>,
}

impl<'t> Old<'t> {
    pub(super) fn of(text: &'t Traced) -> Old<'t> {
        Old { text: &text.bytes, origins: text.origins.as_deref() }
    }
}

/// A part of the given text, and what becomes of it.
struct Part<'t> {
    new: &'t [u8],
    len: usize,
}

impl Compiled {
    pub(super) fn new(rules: &SentencePiece) -> Result<Compiled> {
        if rules.symbols.iter().any(String::is_empty) {
            return Err(Error::Option { reason: "a text that remains as it is is empty.".into() });
        }
        let map = Charsmap::new(&rules.charsmap)?;
        let begins_symbol = |byte: u8| rules.symbols.iter().any(|symbol| symbol.as_bytes()[0] == byte);
        let is_plain = |byte: u8| {
            !begins_symbol(byte)
                && map.longest(&[byte]).is_none()
                && !(0..128).any(|next| map.has_entry_from(&[byte, next]))
        };
        let plain: [bool; 128] = std::array::from_fn(|byte| is_plain(byte as u8));
        let begins_none = std::array::from_fn(|byte| plain[byte] && !map.has_entry_from(&[byte as u8]));
        let blanks_are_spaces = BLANKS.iter().all(|&blank| {
            !begins_symbol(blank)
                && map.longest(&[blank]) == Some((1, " "))
                && !(1..=u8::MAX).any(|next| map.has_entry_from(&[blank, next]))
        });
        let pairs_of = |symbol: &String| symbol.chars().zip(symbol.chars().skip(1)).collect::<Vec<_>>();
        let mut symbol_pairs: Vec<_> = rules.symbols.iter().flat_map(pairs_of).collect();
        symbol_pairs.sort_unstable();
        Ok(Compiled {
            map,
            plain,
            begins_none,
            kept: Unchanged::default(),
            all_are_plain: (b' '..=b'~').all(|byte| plain[usize::from(byte)]),
            blanks_are_spaces,
            added: rules.added_space,
            removes: rules.removes_spaces,
            symbol_pairs,
            inside: OnceBox::new(),
            sets: OnceBox::new(),
            simd: SimdLevel::best(),
            symbols: Trie::new(rules.symbols.iter().map(String::as_str)),
        })
    }

    /// Whether something is added to a text or removed at its ends.
    pub(super) fn may_be_cut(&self) -> bool {
        self.removes || self.added != AddedSpace::No
    }

    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        let is_kept = |c: char| c != SPACE;
        self.has_seams() && is_kept(before) && is_kept(after)
    }

    /// Whether some characters are kept apart.
    pub(super) fn has_seams(&self) -> bool {
        !self.may_be_cut() && self.map.is_empty()
    }

    /// Whether the new text of any text with these two characters next to each other begins with that of its part up
    /// to the first, and then has the second, if anything.
    pub(super) fn ends_beginning(&self, before: char, after: char) -> bool {
        if !self.has_beginnings() || before == ' ' || [before, after].contains(&SPACE) {
            return false;
        }
        if self.symbol_pairs.binary_search(&(before, after)).is_ok() {
            return false;
        }
        if self.map.is_empty() {
            return true;
        }
        Seam { before, after }.within(|both, middle| {
            let (before_bytes, after_bytes) = both.split_at(middle);
            // An entry that begins earlier may reach to the first, and one that begins with the second may go on.
            self.map.longest(before_bytes).is_none()
                && !self.map.has_entry_from(both)
                && !self.map.has_entry_from(after_bytes)
                && self.inside().is_some_and(|inside| inside.binary_search(&before).is_err())
        })
    }

    /// Whether some text has such a place.
    pub(super) fn has_beginnings(&self) -> bool {
        self.added != AddedSpace::Behind
    }

    /// The characters that an entry of the map has behind its first, in ascending order, if they are known.
    fn inside(&self) -> Option<&[char]> {
        self.inside.get_or_init(|| Box::new(self.map.inside())).as_deref()
    }

    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        if self.added != AddedSpace::No {
            return Ok(!text.is_empty());
        }
        if self.first_kept(text) > 0 {
            return Ok(true);
        }
        let (mut at, mut pacer) = (0, Pacer::new(interrupt));
        let flow = self.each(text, |new, origin, source| {
            let has_blanks = source == Source::Blanks && new.iter().any(is_blank);
            let is_kept = origin[0] == at && text[at..].starts_with(new) && !has_blanks;
            at = origin[1];
            if !is_kept || new.len() != origin[1] - origin[0] {
                return ControlFlow::Break(Ok(true));
            }
            pacer.after(new.len()).map_or_else(|error| ControlFlow::Break(Err(error)), ControlFlow::Continue)
        });
        match flow {
            ControlFlow::Break(found) => found,
            // What is removed at the end is not emitted, or it is spaces.
            ControlFlow::Continue(_) => Ok(at != text.len() || self.removes && text.ends_with(b" ")),
        }
    }

    /// The new text, with origins if there are those of the bytes of the old one.
    pub(super) fn applied(&self, old: Old<'_>, interrupt: &dyn Interrupt) -> Result<Traced> {
        let Old { text, origins } = old;
        let (mut new, mut pacer) = (Traced::new(origins.is_some()), Pacer::new(interrupt));
        memory::try_reserve(&mut new.bytes, text.len() + 1 + AT_ONCE)?;
        let first = self.first_kept(text);
        let mut kept = 0;
        if first < text.len() && matches!(self.added, AddedSpace::Before | AddedSpace::BeforeWord) {
            push(&mut new, b" ", [first, first], old)?;
        }
        let flow = self.each(text, |bytes, origin, source| {
            extend_last(&mut new, origin[0], old);
            let before = new.bytes.len();
            let pushed = match source {
                Source::Same | Source::Blanks => push_same(&mut new, origin, old),
                Source::Symbol | Source::Other => push(&mut new, bytes, origin, old),
            };
            if let Err(error) = pushed.and_then(|()| pacer.after(bytes.len())) {
                return ControlFlow::Break(error);
            }
            let pushed = &mut new.bytes[before..];
            if source == Source::Blanks {
                pushed.iter_mut().for_each(|byte| *byte = if is_blank(byte) { b' ' } else { *byte });
            }
            if let Some(last) = pushed.iter().rposition(|&byte| source == Source::Symbol || byte != b' ') {
                kept = before + last + 1;
            }
            ControlFlow::Continue(())
        });
        let end = match flow {
            ControlFlow::Break(error) => return Err(error),
            ControlFlow::Continue(end) => end,
        };
        extend_last(&mut new, end, old);
        let mut place = origins.map_or(0, |origins| place_before(origins, end));
        if self.added == AddedSpace::BeforeWord {
            if self.removes {
                new = new.part(0..kept)?;
            } else if kept == 0 && !new.bytes.is_empty() {
                new = new.part(1..new.bytes.len())?;
            }
        } else if self.removes {
            let len = new.bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
            new.bytes.truncate(len);
            if let Some(origins) = &mut new.origins {
                place = origins.get(len).map_or(place, |origin| origin[0]);
                origins.truncate(len);
            }
        }
        if first < text.len() && self.added == AddedSpace::Behind {
            memory::try_reserve(&mut new.bytes, 1)?;
            new.bytes.push(b' ');
            new.origins.iter_mut().for_each(|origins| origins.push([place; 2]));
        }
        Ok(new)
    }

    /// The end of the spaces at the start that are removed.
    fn first_kept(&self, text: &[u8]) -> usize {
        let mut at = 0;
        while self.removes && at < text.len() {
            let Part { new, len } = self.part(&text[at..]);
            if new != b" " {
                break;
            }
            at += len;
        }
        at
    }

    /// Calls `emit` with the bytes of the new text, the range of the old one that they come from, and how; without the
    /// added space, and with the spaces at the end. Returns the end of the text.
    fn each<B>(
        &self,
        text: &[u8],
        mut emit: impl FnMut(&[u8], [usize; 2], Source) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let (mut at, mut is_after_space) = (self.first_kept(text), self.removes);
        let mut seen = plain::Seen::default();
        while at < text.len() {
            let Plain { end, has_blanks } = self.plain(text, at, is_after_space, &mut seen);
            if let Some(last) = text[at..end].last() {
                is_after_space = self.removes && (*last == b' ' || has_blanks && is_blank(last));
                let source = if has_blanks { Source::Blanks } else { Source::Same };
                emit(&text[at..end], [at, end], source)?;
                at = end;
                if at == text.len() {
                    break;
                }
            }
            let Part { mut new, len } = self.part(&text[at..]);
            let is_kept = *new == text[at..at + len] && find_space(new).is_none();
            while let (true, [b' ', rest @ ..]) = (is_after_space, new) {
                new = rest;
            }
            if let Some(last) = new.last() {
                is_after_space = self.removes && *last == b' ';
            }
            // Each character of what is kept comes from its own place, as in a text that does not change at all.
            let (origin, source) = match is_kept {
                true => ([at + len - new.len(), at + len], Source::Same),
                false => ([at, at + len], Source::Other),
            };
            while let Some(place) = find_space(new) {
                emit(&new[..place], origin, source)?;
                emit(b" ", origin, Source::Symbol)?;
                new = &new[place + SPACE_BYTES.len()..];
            }
            if !new.is_empty() {
                emit(new, origin, source)?;
            }
            at += len;
        }
        ControlFlow::Continue(at)
    }

    /// The characters from an offset of a text on that remain as they are, or are blanks that become spaces.
    #[inline]
    fn plain(&self, text: &[u8], from: usize, is_after_space: bool, seen: &mut plain::Seen) -> Plain {
        self.plain_blocks(text, from, is_after_space, seen).unwrap_or_else(|| Plain {
            end: from + self.plain_len(text, from, is_after_space),
            has_blanks: false,
        })
    }

    /// The number of bytes from an offset of a text on whose characters remain as they are.
    #[inline]
    fn plain_len(&self, text: &[u8], from: usize, is_after_space: bool) -> usize {
        let text = &text[from..];
        let mut len = self.kept_len(text);
        loop {
            let is_after_space =
                if len == 0 { is_after_space } else { self.removes && text[len - 1] == b' ' };
            let ascii = self.ascii_len(&text[len..], is_after_space);
            let others = self.kept_len(&text[len + ascii..]);
            len += ascii + others;
            if others == 0 || len > MAX_PLAIN {
                return len;
            }
        }
    }

    /// The number of bytes of the characters at the start of a text that are not ASCII and remain as they are, whatever
    /// follows.
    #[inline]
    fn kept_len(&self, text: &[u8]) -> usize {
        let is_kept = |c: char| self.may_be_plain(c) && !self.map.begins(c).0;
        let mut len = 0;
        while let Some(0xc2..=0xef) = text.get(len)
            && len < MAX_PLAIN
        {
            // Bytes that are not UTF-8 are replaced.
            let (Some(_), _) = decode(&text[len..]) else { break };
            match self.kept.first(&text[len..], is_kept) {
                (true, width) => len += width,
                _ => break,
            }
        }
        len
    }

    /// Whether a character is no symbol, nor the start of one.
    fn may_be_plain(&self, c: char) -> bool {
        let begins_symbol = || self.symbols.has_prefix(c.encode_utf8(&mut [0; 4]).as_bytes());
        c != SPACE && (self.symbols.is_empty() || !begins_symbol())
    }

    /// The number of ASCII characters at the start of a text that remain as they are.
    #[inline]
    fn ascii_len(&self, all: &[u8], is_after_space: bool) -> usize {
        let text = &all[..all.len().min(MAX_PLAIN)];
        let repeats = |byte: u8, next: u8| self.removes & (byte == b' ') & (next == b' ');
        let mut len = 0;
        if self.all_are_plain && !(is_after_space && text.starts_with(b" ")) {
            while let Some(block) = text[len..].first_chunk::<{ BLOCK + 1 }>() {
                // Without branches, so that the compiler uses vectors.
                let pairs = block[..BLOCK].iter().zip(&block[1..]);
                let is_plain = |byte: u8, next: u8| {
                    (b' '..=b'~').contains(&byte) & next.is_ascii() & !repeats(byte, next)
                };
                if !pairs.fold(true, |all, (&byte, &next)| all & is_plain(byte, next)) {
                    break;
                }
                len += BLOCK;
            }
        }
        let mut before = if len == 0 && is_after_space { b' ' } else { 0 };
        if len > 0 {
            before = text[len - 1];
        }
        while let Some(&byte) = text.get(len)
            && byte.is_ascii()
            && self.plain[usize::from(byte)]
            && !repeats(before, byte)
        {
            before = byte;
            len += 1;
        }
        // What follows may make an entry with the last one.
        let begins_entry = |byte: u8| !self.begins_none[usize::from(byte)];
        let is_open = all.get(len).is_some_and(|byte| !byte.is_ascii()) && len > 0;
        if is_open && begins_entry(text[len - 1]) { len - 1 } else { len }
    }

    /// What becomes of the start of a text, which is not empty.
    #[inline]
    fn part<'t>(&'t self, text: &'t [u8]) -> Part<'t> {
        if let Some(len) = self.symbols.longest(text, 0, |_| true) {
            return Part { new: &text[..len], len };
        }
        if let Some((len, new)) = self.map.longest(text) {
            return Part { new: new.as_bytes(), len };
        }
        match decode(text) {
            (Some(_), len) => Part { new: &text[..len], len },
            (None, _) => Part { new: "\u{fffd}".as_bytes(), len: 1 },
        }
    }
}

/// The first symbol of a space.
#[inline]
fn find_space(bytes: &[u8]) -> Option<usize> {
    match bytes.len() {
        ..3 => None,
        _ => bytes.windows(SPACE_BYTES.len()).position(|window| window == SPACE_BYTES),
    }
}

/// Appends a range of an older text.
#[inline]
fn push_same(new: &mut Traced, [start, end]: [usize; 2], old: Old<'_>) -> Result<()> {
    let (before, len) = (new.bytes.len(), end - start);
    memory::try_reserve(&mut new.bytes, len.max(AT_ONCE))?;
    // A call to copy a few bytes takes longer than to copy some more.
    match old.text[start..].first_chunk::<AT_ONCE>() {
        Some(bytes) if len <= AT_ONCE => {
            new.bytes.extend_from_slice(bytes);
            new.bytes.truncate(before + len);
        }
        _ => new.bytes.extend_from_slice(&old.text[start..end]),
    }
    if let (Some(new), Some(old)) = (&mut new.origins, old.origins) {
        memory::try_reserve(new, len)?;
        new.extend_from_slice(&old[start..end]);
    }
    Ok(())
}

/// Appends bytes that come from a range of an older text.
#[inline]
fn push(new: &mut Traced, bytes: &[u8], [start, end]: [usize; 2], old: Old<'_>) -> Result<()> {
    memory::try_reserve(&mut new.bytes, bytes.len())?;
    match bytes {
        [byte] => new.bytes.push(*byte),
        _ => new.bytes.extend_from_slice(bytes),
    }
    if let (Some(new), Some(old)) = (&mut new.origins, old.origins) {
        memory::try_reserve(new, bytes.len())?;
        let origin =
            if start < end { [old[start][0], old[end - 1][1]] } else { [place_before(old, start); 2] };
        new.extend(std::iter::repeat_n(origin, bytes.len()));
    }
    Ok(())
}

/// What was removed before a byte of the old text belongs to the byte before.
#[inline]
fn extend_last(new: &mut Traced, start: usize, old: Old<'_>) {
    let (Some(new), Some(old)) = (&mut new.origins, old.origins) else { return };
    if let (Some([first, end]), Some(before)) = (new.last_mut(), start.checked_sub(1))
        && first < end
    {
        *end = old[before][1].max(*end);
    }
}

/// The place in the given text before a byte of the old one.
fn place_before(origins: &[[usize; 2]], byte: usize) -> usize {
    origins.get(byte).map(|origin| origin[0]).or(origins.last().map(|origin| origin[1])).unwrap_or(0)
}

#[cfg(test)]
mod tests;
