//! How the table grows: when it is larger than its first sizes, it is filled with all tokens; at its maximum
//! size it is cleared.

use super::Table;
use super::entry::{Entry, Line};
use super::key::is_pretoken;
use crate::index::TokenIndex;
use crate::pages::{Pages, Zero};

/// The number of lines of a new table.
pub(super) const FEW_LINES: usize = 1 << 8;

/// A table that has outgrown this part of its maximum size is filled with all tokens. Filling takes as long as the
/// first pass over half a megabyte, so tables for less text get only the tokens that it contains.
pub(super) const SEEDED_PART: usize = 16;

/// The bytes of a text for which its table has a line at the start. The different words of a text of 100 KB are so
/// many that a table which grew with them would move all entries several times: with 8 bytes, first passes over such
/// texts in Latin letters were 1.25 to 1.9 times as fast. With 32, later ones were a fifth slower, because more
/// entries were in the second line of their keys.
const BYTES_FOR_LINE: usize = 8;

/// The bytes of a long text for which a table of parts of long pretokens has a line at the start. A table that started with
/// the tokens and doubled three times took a seventh of the first pass over 6 MB of many languages. With 64 bytes, later
/// passes were 5 % slower.
const BYTES_FOR_LINE_OF_PARTS: usize = 32;

impl Table {
    /// Whether there is space for another entry; if there is none, the table grows or is cleared.
    #[inline]
    pub(super) fn has_space(&mut self, tokens: Option<&TokenIndex>) -> bool {
        if self.is_full() { self.make_space(tokens) } else { true }
    }

    /// Whether another entry is added only after the table has grown.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        // Three of five entries are used at most, so that few keys are behind their second line.
        self.count * 5 >= self.lines.len() * 6
    }

    #[cold]
    fn make_space(&mut self, tokens: Option<&TokenIndex>) -> bool {
        let (mut lines, mut seeded) = (self.lines.len().max(FEW_LINES / 4) * 4, None);
        if self.lines.len() >= self.max_lines / SEEDED_PART {
            lines = self.lines.len() * 2;
            if let Some(tokens) = tokens.filter(|tokens| self.can_be_filled(tokens)) {
                lines = lines.max(tokens.key_count().next_power_of_two());
                seeded = Some(tokens);
            }
        }
        let lines = lines.min(self.max_lines);
        if lines > self.lines.len() {
            if let Some(larger) = self.larger(lines) {
                self.replace_by(larger, seeded);
                return true;
            }
            // Tokens may need more memory than there is.
            if let Some(larger) = self.larger(self.lines.len() * 2).filter(|_| seeded.is_some()) {
                self.replace_by(larger, None);
                return true;
            }
            // Without memory for more, the table keeps its size.
            self.max_lines = self.lines.len();
        }
        self.start_anew(tokens);
        !self.is_full()
    }

    /// Fills the table with all tokens, and leaves at least `space` times their space for words.
    pub(in crate::encode::lookup) fn start_with(&mut self, tokens: &TokenIndex, space: usize) {
        // A single line would have no free entry, at which a search ends.
        let least = (tokens.key_count().next_power_of_two() * space).max(FEW_LINES);
        // One that is filled now gets space for the tokens beside its words.
        let lines = least.max(self.lines.len() * if self.has_tokens { 1 } else { 2 }).min(self.max_lines);
        if self.can_be_filled(tokens) || self.has_tokens && lines > self.lines.len() {
            self.start_larger(lines, Some(tokens), Some(tokens));
        }
    }

    /// Makes space for the words of a text of this many bytes, for which filling it would take too long.
    pub(in crate::encode::lookup) fn start_for(&mut self, bytes: usize, tokens: Option<&TokenIndex>) {
        self.start_with_lines((bytes / BYTES_FOR_LINE).min(self.max_lines / SEEDED_PART), tokens);
    }

    /// Makes space for the parts of the long pretokens of a text of this many bytes. Parts are not looked up among the
    /// tokens, so the table is not filled with these. Returns whether it grew.
    pub(in crate::encode::lookup) fn start_for_parts(
        &mut self,
        bytes: usize,
        tokens: Option<&TokenIndex>,
    ) -> bool {
        let few = (bytes / BYTES_FOR_LINE).min(self.max_lines / SEEDED_PART);
        self.start_with_lines(few.max(bytes / BYTES_FOR_LINE_OF_PARTS).min(self.max_lines), tokens)
    }

    /// Grows to at least this many lines, before it has to. Returns whether it did.
    fn start_with_lines(&mut self, least: usize, tokens: Option<&TokenIndex>) -> bool {
        let (lines, before) = (least.next_power_of_two(), self.lines.len());
        if lines > before.max(FEW_LINES) && !self.has_tokens {
            self.start_larger(lines, tokens, None);
        }
        self.lines.len() > before
    }

    /// Grows to this many lines before it has to, with the seeds of `tokens` and filled with `filling`. Without memory,
    /// it grows when it has to.
    fn start_larger(&mut self, lines: usize, tokens: Option<&TokenIndex>, filling: Option<&TokenIndex>) {
        if self.lines.is_empty() {
            self.seed_by(tokens);
        }
        if let Some(larger) = self.larger(lines) {
            self.replace_by(larger, filling);
        }
    }

    /// Whether it can be filled with all tokens: at least half of its maximum size is left for words.
    fn can_be_filled(&self, tokens: &TokenIndex) -> bool {
        !self.has_tokens && tokens.key_count() <= self.max_lines / 2
    }

    /// Memory for more lines; `None` if there is none, or it would exceed the limits.
    fn larger(&mut self, lines: usize) -> Option<Pages<Line>> {
        let bytes = lines * size_of::<Line>();
        if !self.share.try_add(bytes, size_of_val(&*self.lines)) {
            return None;
        }
        Pages::zeroed(lines).inspect_err(|_| self.share.remove(bytes)).ok()
    }

    /// Moves all entries to other memory, which is filled with `tokens` first.
    fn replace_by(&mut self, larger: Pages<Line>, tokens: Option<&TokenIndex>) {
        let lines = std::mem::replace(&mut self.lines, larger);
        self.share.remove(size_of_val(&*lines));
        self.count = 0;
        if let Some(tokens) = tokens {
            self.fill(tokens);
        }
        for entry in lines.iter().flat_map(|line| line.0).filter(|entry| entry.key != 0) {
            // A pretoken of one id is a token, which has been added.
            let is_token = entry.count() == 1 && is_pretoken(entry.key);
            if tokens.is_none() || !is_token {
                self.insert(entry.key, |_| entry);
            }
        }
    }

    /// Fills the empty table with all tokens of up to 15 bytes.
    fn fill(&mut self, tokens: &TokenIndex) {
        debug_assert!(self.seeds.0 == tokens.seeds(), "keys stay the same as long as a table has lines");
        for (key, id) in tokens.keys() {
            self.insert(key.number(), |_| Entry::near(key.number(), &[id]));
        }
        self.has_tokens = true;
    }

    /// Removes all entries but the tokens.
    #[cold]
    pub(super) fn start_anew(&mut self, tokens: Option<&TokenIndex>) {
        self.lines.fill(Line::ZERO);
        self.arena.clear();
        self.seen.clear();
        self.count = 0;
        if let (Some(tokens), true) = (tokens, self.has_tokens) {
            self.fill(tokens);
        }
    }
}
