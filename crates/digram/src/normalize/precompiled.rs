//! Hugging Face's stage for the character maps of SentencePiece.
//!
//! A grapheme cluster of fewer than six bytes becomes the replacement of the shortest entry that it begins with, so
//! marks behind it are lost. In other clusters each character is replaced on its own.

use std::ops::ControlFlow;

use unicode_segmentation::UnicodeSegmentation;

use super::Seam;
use super::charsmap::Charsmap;
use super::cuts::Sides;
use super::traced::{Rewriter, Traced};
use super::unchanged::Unchanged;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};

/// The stage.
pub(super) struct Precompiled {
    map: Charsmap,
    /// The ASCII characters that it changes.
    ascii: [bool; 128],
    /// The characters that remain as they are if they are clusters of their own, as they are beside each other.
    plain: Unchanged,
    /// The others that remain by themselves, of which the neighbours may be in their cluster, but no ASCII character
    /// behind them.
    kept: Unchanged,
}

/// A character of a run that remains as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// A cluster of its own, if the one beside it is such a character too.
    Plain,
    /// It may be in the cluster of a neighbour.
    Joined,
}

/// The number of bytes from which on a cluster is not looked up whole.
const LONG_CLUSTER: usize = 6;

/// A character of the new text, and how it comes from the old one: 1 if it is inserted; otherwise it replaces a
/// character, and as many more as the number is below zero.
type Changed = (char, isize);

impl Precompiled {
    pub(super) fn new(charsmap: &[u8]) -> Result<Precompiled> {
        let map = Charsmap::new(charsmap)?;
        let ascii = std::array::from_fn(|byte| map.shortest(&[byte as u8]).is_some());
        Ok(Precompiled { map, ascii, plain: Unchanged::default(), kept: Unchanged::default() })
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
        let is_kept = |c: &char| c.is_ascii() && !self.ascii[*c as usize];
        // An entry may begin with it and go on with marks.
        let begins_entry = |c: &char| self.map.has_entry_from(c.encode_utf8(&mut [0; 4]).as_bytes());
        Some(Sides {
            before: Some(before).filter(is_kept),
            after: Some(after).filter(is_kept).filter(|after| !begins_entry(after)),
        })
    }

    /// Calls `visit` with the parts of a text in order, and what is put in place of those that change.
    fn each<B>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(&[u8], Option<&str>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for chunk in text.utf8_chunks() {
            let mut rest = chunk.valid();
            while !rest.is_empty() {
                let plain = self.plain_len(rest.as_bytes());
                if plain > 0 {
                    visit(&rest.as_bytes()[..plain], None)?;
                    rest = &rest[plain..];
                    continue;
                }
                let Some(cluster) = rest.graphemes(true).next() else { break };
                rest = &rest[cluster.len()..];
                let whole = (cluster.len() < LONG_CLUSTER).then(|| self.map.shortest(cluster.as_bytes()));
                if let Some(Some(new)) = whole {
                    visit(cluster.as_bytes(), Some(new))?;
                    continue;
                }
                for c in cluster.chars() {
                    let mut buffer = [0; 4];
                    let old = c.encode_utf8(&mut buffer).as_bytes();
                    visit(old, self.map.shortest(old))?;
                }
            }
            if !chunk.invalid().is_empty() {
                visit(chunk.invalid(), None)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The number of bytes at the start, up to an end of a cluster, that remain as they are. A cluster of several
    /// characters counts only if it is too long to be looked up whole.
    fn plain_len(&self, text: &[u8]) -> usize {
        let is_ascii = |byte: u8| byte.is_ascii() && byte != b'\r' && !self.ascii[usize::from(byte)];
        // The last place known to be between two clusters, and what is before the one after that.
        let (mut end, mut at) = (0, 0);
        let mut last: Option<(Kept, usize)> = None;
        while at < text.len() {
            let ascii = text[at..].iter().take_while(|&&byte| is_ascii(byte)).count();
            let (kept, len) = match ascii {
                0 => self.kept(&text[at..]),
                _ => (Some(Kept::Plain), 1),
            };
            let is_end = match (last, kept) {
                (_, None) => return end,
                (None, _) => true,
                (Some((Kept::Plain, _)), Some(Kept::Plain)) => true,
                (Some(_), Some(Kept::Plain)) if ascii > 0 => true,
                (Some((_, len_before)), _) if len.min(len_before) < LONG_CLUSTER / 2 => return end,
                _ => false,
            };
            if is_end {
                end = at;
            }
            if ascii > 1 {
                end = at + ascii - 1;
            }
            (at, last) = (at + len.max(ascii), kept.map(|kept| (kept, len)));
        }
        at
    }

    /// How the first character of a text is kept, if it is, and its length.
    #[inline]
    fn kept(&self, text: &[u8]) -> (Option<Kept>, usize) {
        let is_unmapped = |c: char| self.map.shortest(c.encode_utf8(&mut [0; 4]).as_bytes()).is_none();
        let (is_plain, len) = self.plain.first(text, |c| is_unmapped(c) && is_cluster(c));
        let is_kept =
            is_plain || self.kept.first(text, |c| is_unmapped(c) && c != '\r' && are_two_clusters(c, 'a')).0;
        match (is_plain, is_kept) {
            (true, _) => (Some(Kept::Plain), len),
            (_, true) => (Some(Kept::Joined), len),
            _ => (None, len),
        }
    }
}

/// Whether a character is a cluster of its own beside others for which that is so.
fn is_cluster(c: char) -> bool {
    // Marks join with what is before them, parts of Hangul syllables with others, as flags do, and some characters
    // with what is behind them.
    let pairs = [('a', c), (c, 'a'), (c, '\u{ac00}'), ('\u{ac00}', c), (c, c)];
    c != '\r' && pairs.into_iter().all(|(before, after)| are_two_clusters(before, after))
}

/// Whether two characters are clusters of their own.
fn are_two_clusters(before: char, after: char) -> bool {
    String::from_iter([before, after]).graphemes(true).nth(1).is_some()
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
        }
    }

    #[test]
    fn every_character_that_may_join_with_another_is_known() {
        // In runs, two neighbours of which both are clusters of their own are never one.
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
