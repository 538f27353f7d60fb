//! Stages of given texts: white space at the ends, a text before, one text in place of another.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::traced::{Rewriter, Traced};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::{white_space_at_start, without_white_space_at_end};

/// What is left of a text without white space at its start, at its end, or both.
pub(super) fn stripped(text: &[u8], left: bool, right: bool) -> Range<usize> {
    let start = if left { white_space_at_start(text) } else { 0 };
    let end = if right { without_white_space_at_end(&text[start..]) + start } else { text.len() };
    start..end
}

pub(super) fn strip(text: &Traced, left: bool, right: bool) -> Result<Traced> {
    let range = stripped(&text.bytes, left, right);
    let mut rewriter = Rewriter::new(text)?;
    rewriter.skip_until(range.start);
    rewriter.keep_until(range.end)?;
    rewriter.skip_until(text.bytes.len());
    rewriter.finish()
}

/// The text that is put before comes from the first character.
pub(super) fn prepend(text: &Traced, content: &str) -> Result<Traced> {
    let mut before = Traced { bytes: content.as_bytes().to_vec(), ..Traced::default() };
    if let Some(origins) = &text.origins {
        before.origins = Some(vec![origins[0]; content.len()]);
    }
    before.push(text)?;
    Ok(before)
}

/// Puts one text in place of another.
pub(super) struct Replacer {
    pattern: String,
    content: String,
    finder: AhoCorasick,
}

impl Replacer {
    pub(super) fn new(pattern: String, content: String) -> Result<Replacer> {
        if pattern.is_empty() {
            return Err(Error::Option { reason: "the text to replace is empty.".into() });
        }
        let finder = AhoCorasick::new([&pattern])
            .map_err(|error| Error::Limit { reason: format!("the text to replace is too long: {error}.") })?;
        Ok(Replacer { pattern, content, finder })
    }

    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.pattern != self.content && self.finder.is_match(text)
    }

    /// Each character of the new text comes from the last one of the old.
    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let (mut rewriter, mut pacer) = (Rewriter::new(text)?, Pacer::new(interrupt));
        for found in self.finder.find_iter(&text.bytes) {
            pacer.after(found.end() - rewriter.position())?;
            rewriter.keep_until(found.start())?;
            rewriter.skip_until(found.end());
            self.content.chars().try_for_each(|c| rewriter.insert(c))?;
        }
        rewriter.finish()
    }

    /// What a character becomes at a side where it is not changed by its neighbour; `None` if that is not known.
    pub(super) fn at_side(&self, c: char, is_last: bool) -> Option<char> {
        match self.pattern.strip_prefix(c) {
            Some("") if is_last => self.content.chars().last(),
            Some("") => self.content.chars().next(),
            // It may be part of what is replaced.
            _ => (!self.pattern.contains(c)).then_some(c),
        }
    }
}
