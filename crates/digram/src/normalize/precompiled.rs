//! Hugging Face's stage for the character maps of SentencePiece.
//!
//! A grapheme cluster of fewer than six bytes becomes the replacement of the shortest entry that it begins with, so
//! marks behind it are lost. In other clusters each character is replaced on its own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU8, Ordering};

use unicode_segmentation::UnicodeSegmentation;

use super::Seam;
use super::charsmap::Charsmap;
use super::cuts::Sides;
use super::traced::{Rewriter, Traced};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::utf8::decode;

/// The stage.
pub(super) struct Precompiled {
    map: Charsmap,
    /// The ASCII characters that it changes.
    ascii: [bool; 128],
    /// What is known of characters, found when a text has them; 0 if nothing is.
    kinds: Box<[AtomicU8]>,
}

/// What is known of a character.
#[derive(Clone, Copy)]
struct Kind(u8);

impl Kind {
    const KNOWN: u8 = 1;
    const PLAIN: u8 = 2;
    const JOINED: u8 = 4;
    const MAPPED: u8 = 8;

    fn new(c: char, is_mapped: bool) -> Kind {
        let stands = if is_cluster(c) {
            Kind::PLAIN
        } else if c != '\r' && are_two_clusters(c, 'a') {
            Kind::JOINED
        } else {
            0
        };
        Kind(Kind::KNOWN | stands | if is_mapped { Kind::MAPPED } else { 0 })
    }

    /// How it stands in a run, if it may be in one.
    #[inline]
    fn stands(self) -> Option<Stands> {
        match self.0 & (Kind::PLAIN | Kind::JOINED) {
            0 => None,
            Kind::PLAIN => Some(Stands::Plain),
            _ => Some(Stands::Joined),
        }
    }

    /// Whether it is replaced where it is looked up alone.
    #[inline]
    fn is_mapped(self) -> bool {
        self.0 & Kind::MAPPED != 0
    }
}

/// How a character stands in a run of which each is looked up alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// A cluster of its own, if the one beside it is such a character too.
    Plain,
    /// It may be in the cluster of a neighbour.
    Joined,
}

/// A run of characters, each of which is looked up alone.
struct Run {
    /// The length in bytes.
    len: usize,
    /// Whether one of them is replaced.
    is_changed: bool,
    /// How far the text was read: none of the characters after the run and before this place begins another one.
    read: usize,
}

/// The kinds of characters from here on, which few texts have, are not remembered.
const KINDS: usize = 0x2_0000;

/// The number of bytes from which on a cluster is not looked up whole.
const LONG_CLUSTER: usize = 6;

/// A character of the new text, and how it comes from the old one: 1 if it is inserted; otherwise it replaces a
/// character, and as many more as the number is below zero.
type Changed = (char, isize);

impl Precompiled {
    pub(super) fn new(charsmap: &[u8]) -> Result<Precompiled> {
        let map = Charsmap::new(charsmap)?;
        let ascii = std::array::from_fn(|byte| map.shortest(&[byte as u8]).is_some());
        let kinds = (0..KINDS).map(|_| AtomicU8::new(0)).collect();
        Ok(Precompiled { map, ascii, kinds })
    }

    pub(super) fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let mut pacer = Pacer::new(interrupt);
        let flow = self.each(text, |old, new| {
            if new.is_some() {
                return ControlFlow::Break(Ok(true));
            }
            pacer.after(old.len()).map_or_else(|error| ControlFlow::Break(Err(error)), ControlFlow::Continue)
        });
        flow.break_value().unwrap_or(Ok(false))
    }

    /// The new text, if it is another one.
    pub(super) fn changed(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Option<Vec<u8>>> {
        let (mut new, mut kept, mut at) = (None, 0, 0);
        let mut pacer = Pacer::new(interrupt);
        let flow = self.each(text, |old, with| {
            let mut written = pacer.after(old.len());
            if let Some(with) = with {
                let new = new.get_or_insert_with(Vec::new);
                let size = if new.is_empty() { text.len() } else { at - kept + with.len() };
                written = written.and_then(|()| memory::try_reserve(new, size.max(at - kept + with.len())));
                if written.is_ok() {
                    new.extend_from_slice(&text[kept..at]);
                    new.extend_from_slice(with.as_bytes());
                }
                kept = at + old.len();
            }
            at += old.len();
            written.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        if let Some(error) = flow.break_value() {
            return Err(error);
        }
        if let Some(new) = &mut new {
            memory::try_reserve(new, text.len() - kept)?;
            new.extend_from_slice(&text[kept..]);
        }
        Ok(new)
    }

    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let mut writer = Writer { rewriter: Rewriter::new(text)?, last: None, is_shifted: false };
        let mut pacer = Pacer::new(interrupt);
        let flow = self.each(&text.bytes, |old, new| {
            let written = match new {
                None => writer.keep(old),
                Some(new) => writer.replace(old, new),
            };
            match written.and_then(|()| pacer.after(old.len())) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            }
        });
        match flow.break_value() {
            Some(error) => Err(error),
            None => writer.finish(text.bytes.len()),
        }
    }

    /// Whether both characters are unchanged, whatever is beside them, and in different clusters.
    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        let seam = Seam { before, after };
        self.sides(seam).is_some_and(|sides| sides == Sides::from(seam))
    }

    /// If two characters next to each other are always in different clusters, what these begin and end with then.
    pub(super) fn sides(&self, Seam { before, after }: Seam) -> Option<Sides> {
        // Beside an ASCII character, no other neighbour has a part in that.
        let is_decided = (before.is_ascii() || after.is_ascii()) && (before, after) != ('\r', '\n');
        if !is_decided || !are_two_clusters(before, after) {
            return None;
        }
        Some(Sides { before: self.side_before(before), after: self.side_after(after) })
    }

    /// What [`sides`](Precompiled::sides) depends on in a character, in five bits: two pairs of characters with equal bits
    /// are both in different clusters, or neither is.
    pub(super) fn side_bits(&self, c: char) -> u64 {
        // Of ASCII characters only these differ in what they are joined with.
        let ascii = match c {
            '\r' => 1,
            '\n' => 2,
            c if c.is_ascii_control() => 3,
            c if c.is_ascii() => 4,
            _ => 0,
        };
        let flags = [('a', c), (c, 'a')].map(|(before, after)| are_two_clusters(before, after));
        flags.into_iter().fold(ascii, |bits, flag| bits << 1 | u64::from(flag))
    }

    /// A character before a place between two clusters, if it is known what it becomes.
    pub(super) fn side_before(&self, c: char) -> Option<char> {
        Some(c).filter(|c| c.is_ascii() && !self.ascii[*c as usize])
    }

    /// The same for one behind it.
    pub(super) fn side_after(&self, c: char) -> Option<char> {
        // An entry may begin with it and go on with marks.
        let begins_entry = |c: &char| self.map.has_entry_from(c.encode_utf8(&mut [0; 4]).as_bytes());
        self.side_before(c).filter(|after| !begins_entry(after))
    }

    /// Calls `visit` with the parts of a text in order, and what is put in place of those that change.
    fn each<B>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(&[u8], Option<&str>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (rest, _) = self.each_of_runs(text, &mut visit)?;
        // Most texts are read to their end. This is faster than a search for what is not UTF-8.
        if let Ok(rest) = std::str::from_utf8(rest) {
            return self.each_of(rest, &mut visit);
        }
        for chunk in rest.utf8_chunks() {
            self.each_of(chunk.valid(), &mut visit)?;
            if !chunk.invalid().is_empty() {
                visit(chunk.invalid(), None)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The same for the characters at the start that are looked up one by one. Gives the rest of the text, and the number
    /// of its bytes in which no other such run begins.
    #[inline]
    fn each_of_runs<'t, B>(
        &self,
        mut text: &'t [u8],
        visit: &mut impl FnMut(&[u8], Option<&str>) -> ControlFlow<B>,
    ) -> ControlFlow<B, (&'t [u8], usize)> {
        loop {
            let Run { len, is_changed, read } = self.run(text);
            let (run, rest) = text.split_at(len);
            match is_changed {
                true => self.each_alone(run, visit)?,
                false if len > 0 => visit(run, None)?,
                false => return ControlFlow::Continue((text, read)),
            }
            text = rest;
        }
    }

    fn each_of<B>(
        &self,
        text: &str,
        visit: &mut impl FnMut(&[u8], Option<&str>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        // Those bytes are not read again for each cluster, which would take quadratic time.
        let (mut rest, mut without_run) = (text, 0);
        loop {
            if without_run == 0 {
                let (left, read) = self.each_of_runs(rest.as_bytes(), visit)?;
                (rest, without_run) = (&rest[rest.len() - left.len()..], read);
            }
            let Some(cluster) = rest.graphemes(true).next() else { return ControlFlow::Continue(()) };
            rest = &rest[cluster.len()..];
            without_run = without_run.saturating_sub(cluster.len());
            let whole = (cluster.len() < LONG_CLUSTER).then(|| self.map.shortest(cluster.as_bytes()));
            match whole {
                Some(Some(new)) => visit(cluster.as_bytes(), Some(new))?,
                _ => self.each_alone(cluster.as_bytes(), visit)?,
            }
        }
    }

    /// The same for a text whose characters are looked up one by one.
    fn each_alone<B>(
        &self,
        text: &[u8],
        visit: &mut impl FnMut(&[u8], Option<&str>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (mut start, mut at) = (0, 0);
        while at < text.len() {
            let (kind, len) = self.kind(&text[at..]);
            let end = at + len;
            if kind.is_mapped() {
                if start < at {
                    visit(&text[start..at], None)?;
                }
                visit(&text[at..end], self.map.shortest(&text[at..end]))?;
                start = end;
            }
            at = end;
        }
        if start < at { visit(&text[start..], None) } else { ControlFlow::Continue(()) }
    }

    /// The characters at the start, up to an end of a cluster, that are looked up one by one: each is a cluster of its
    /// own, or in one that is too long to be looked up whole.
    fn run(&self, text: &[u8]) -> Run {
        // Up to the last place known to be between two clusters; what is before the one after that, and whether a
        // character before that one is replaced.
        let mut run = Run { len: 0, is_changed: false, read: 0 };
        let (mut at, mut is_changed) = (0, false);
        let mut last: Option<(Stands, usize)> = None;
        while at < text.len() {
            if is_single(text[at]) {
                while let Some(&byte) = text.get(at)
                    && is_single(byte)
                {
                    run = Run { len: at, is_changed, read: at };
                    is_changed |= self.ascii[usize::from(byte)];
                    at += 1;
                }
                last = Some((Stands::Plain, 1));
                continue;
            }
            let (kind, len) = self.kind(&text[at..]);
            let Some(stands) = kind.stands() else { return Run { read: at, ..run } };
            let is_end = match last {
                None => true,
                Some((before, _)) if (before, stands) == (Stands::Plain, Stands::Plain) => true,
                Some((_, len_before)) if len.min(len_before) < LONG_CLUSTER / 2 => {
                    return Run { read: at, ..run };
                }
                _ => false,
            };
            if is_end {
                run = Run { len: at, is_changed, read: at };
            }
            is_changed |= kind.is_mapped();
            (at, last) = (at + len, Some((stands, len)));
        }
        Run { len: at, is_changed, read: at }
    }

    /// What is known of the first character of a text, and its length.
    #[inline]
    fn kind(&self, text: &[u8]) -> (Kind, usize) {
        let (c, len) = decode(text);
        let Some(c) = c else { return (Kind(Kind::KNOWN), len) };
        match self.kinds.get(c as usize).map(|kind| kind.load(Ordering::Relaxed)) {
            Some(kind) if kind != 0 => (Kind(kind), len),
            _ => (self.find_kind(c), len),
        }
    }

    #[cold]
    fn find_kind(&self, c: char) -> Kind {
        let kind = Kind::new(c, self.map.shortest(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some());
        if let Some(place) = self.kinds.get(c as usize) {
            place.store(kind.0, Ordering::Relaxed);
        }
        kind
    }
}

/// Whether a byte is a character that ends every cluster before it.
#[inline]
fn is_single(byte: u8) -> bool {
    byte.is_ascii() && byte != b'\r'
}

/// Whether a character is a cluster of its own beside others for which that is so.
fn is_cluster(c: char) -> bool {
    // Most characters of a text in these scripts are new.
    if matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}') {
        return true;
    }
    // Marks join with what is before them, parts of Hangul syllables with others, as flags do, and some characters
    // with what is behind them.
    let pairs = [('a', c), (c, 'a'), (c, '\u{ac00}'), ('\u{ac00}', c), (c, c)];
    c != '\r' && pairs.into_iter().all(|(before, after)| are_two_clusters(before, after))
}

/// Whether two characters are clusters of their own.
fn are_two_clusters(before: char, after: char) -> bool {
    let mut both = [0; 8];
    let len = before.encode_utf8(&mut both).len();
    let len = len + after.encode_utf8(&mut both[len..]).len();
    std::str::from_utf8(&both[..len]).is_ok_and(|both| both.graphemes(true).nth(1).is_some())
}

/// Writes the new text. How its last character comes from the old text may still change.
struct Writer<'a> {
    rewriter: Rewriter<'a>,
    last: Option<Changed>,
    /// Whether something was removed at the start, which that library does not count: all characters come from
    /// places before their own.
    is_shifted: bool,
}

impl Writer<'_> {
    fn put(&mut self, next: Option<Changed>) -> Result<()> {
        match std::mem::replace(&mut self.last, next) {
            None => Ok(()),
            Some((c, change)) if change > 0 => self.rewriter.insert(c),
            Some((c, change)) => {
                self.rewriter.replace(c)?;
                self.rewriter.skip_characters(change.unsigned_abs());
                Ok(())
            }
        }
    }

    fn keep(&mut self, old: &[u8]) -> Result<()> {
        if self.is_shifted {
            return String::from_utf8_lossy(old).chars().try_for_each(|c| self.put(Some((c, 0))));
        }
        self.put(None)?;
        let (rest, last) = match old.utf8_chunks().next() {
            // All but the last character are kept; what is removed behind it counts as a part of it.
            Some(chunk) if chunk.invalid().is_empty() => match chunk.valid().char_indices().next_back() {
                Some((start, c)) => (start, Some((c, 0))),
                None => (0, None),
            },
            _ => (old.len(), None),
        };
        let end = self.rewriter.position() + rest;
        self.rewriter.keep_until(end)?;
        self.last = last;
        Ok(())
    }

    /// Puts a text in place of another. Characters beyond the number of the old ones are inserted; if there are
    /// fewer, the last one comes from the rest too.
    fn replace(&mut self, old: &[u8], new: &str) -> Result<()> {
        let count = String::from_utf8_lossy(old).chars().count() as isize;
        let mut new_count = 0;
        for c in new.chars() {
            new_count += 1;
            self.put(Some((c, isize::from(new_count > count))))?;
        }
        match &mut self.last {
            Some((_, change)) if new_count < count => *change += new_count - count,
            None if new_count < count => self.is_shifted = true,
            _ => {}
        }
        Ok(())
    }

    /// The new text.
    fn finish(mut self, old_len: usize) -> Result<Traced> {
        self.put(None)?;
        self.rewriter.skip_until(old_len);
        self.rewriter.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::charsmap::tests::of_entries;
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    /// What becomes of a text, cluster by cluster.
    fn defined(map: &Charsmap, text: &str) -> String {
        let mut new = String::new();
        for cluster in text.graphemes(true) {
            if cluster.len() < LONG_CLUSTER
                && let Some(whole) = map.shortest(cluster.as_bytes())
            {
                new.push_str(whole);
                continue;
            }
            for c in cluster.chars() {
                let mut buffer = [0; 4];
                let one: &str = c.encode_utf8(&mut buffer);
                new.push_str(map.shortest(one.as_bytes()).unwrap_or(one));
            }
        }
        new
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn runs_that_are_kept_end_between_clusters(
            parts in prop::collection::vec(prop::sample::select(
                "ae n\r\n\té\u{301}\u{323}\u{5b0}שक\u{93f}\u{94d}ष\u{200d}😀👩\u{1f3fd}🇫🇷\u{600}\u{70f}\u{1100}\u{1161}\u{11a8}가각語か\u{3099}ﬁ\u{e31}ก\u{ad}"
                    .chars().collect::<Vec<_>>()
            ), 0..20),
            chosen in prop::collection::vec(0usize..10, 0..8),
        ) {
            let all = [
                ("e\u{301}", "é"), ("ﬁ", "fi"), ("\n", " "), ("か\u{3099}", "が"), ("\u{301}", ""), ("ש", "s"),
                ("\u{93f}", "i"), ("\r\n", "x"), ("é", "e"), ("\u{1161}", "a"),
            ];
            let mut entries: Vec<_> = chosen.into_iter().map(|number| all[number]).collect();
            entries.sort_unstable();
            entries.dedup();
            let bytes = if entries.is_empty() { Vec::new() } else { of_entries(&entries) };
            let text = String::from_iter(parts);
            let stage = Precompiled::new(&bytes).unwrap();
            let new = stage.applied(&Traced::given(text.as_bytes(), 0, false).unwrap(), &Never).unwrap();
            let expected = defined(&Charsmap::new(&bytes).unwrap(), &text);
            prop_assert_eq!(std::str::from_utf8(&new.bytes).unwrap(), &expected);
            prop_assert!(stage.changes(text.as_bytes(), &Never).unwrap() || new.bytes == text.as_bytes());
            let changed = stage.changed(text.as_bytes(), &Never).unwrap();
            prop_assert_eq!(changed.is_some(), stage.changes(text.as_bytes(), &Never).unwrap());
            prop_assert_eq!(changed.unwrap_or(text.into()), new.bytes);
        }
    }

    #[test]
    fn every_character_that_may_join_with_another_is_known() {
        // In runs, two neighbours of which both are clusters of their own are never one.
        let pairs = |c| [('a', c), (c, 'a'), (c, '\u{ac00}'), ('\u{ac00}', c), (c, c)];
        for c in ('\u{3400}'..='\u{4dbf}').chain('\u{4e00}'..='\u{9fff}').chain('\u{ac00}'..='\u{d7a3}') {
            assert!(pairs(c).into_iter().all(|(before, after)| are_two_clusters(before, after)), "{c:?}");
        }
        let characters: Vec<char> = ('\0'..'\u{20000}').filter(|&c| is_cluster(c)).collect();
        let mut classes: Vec<char> = Vec::new();
        for &c in characters.iter().step_by(97) {
            classes.push(c);
        }
        for (&before, &after) in classes.iter().zip(classes.iter().skip(1)) {
            assert!(
                are_two_clusters(before, after) && are_two_clusters(after, before),
                "{before:?} {after:?}"
            );
        }
    }
}
