//! A stage that puts a text in place of the matches of a regex.

use super::traced::{Rewriter, Traced};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::pretokenize::{GoesOn, Pretokenizer, Stage};

/// Finds the matches of a regex. Of a match it must be known soon that it is one, so that the time is linear: the regex
/// must not look around farther than at the next character, nor match nothing.
pub(crate) fn finder(regex: String) -> Result<Pretokenizer> {
    let finder = Pretokenizer::new(&[Stage::Pattern(regex.clone())])?;
    if finder.looks_around() {
        return Err(Error::Pattern {
            pattern: regex,
            reason: "where matches are replaced, a pattern must not match nothing, and look-around is supported only at \
                     the next character, as in (?!\\S). Use a pattern without it."
                .into(),
        });
    }
    Ok(finder)
}

/// Puts a text in place of the matches of a regex.
pub(super) struct MatchReplacer {
    finder: Pretokenizer,
    content: String,
}

impl MatchReplacer {
    pub(super) fn new(regex: String, content: String) -> Result<MatchReplacer> {
        Ok(MatchReplacer { finder: finder(regex)?, content })
    }

    pub(super) fn is_in(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let mut is_found = false;
        self.finder.for_many(text, 0, GoesOn::No, interrupt, |mut start, ends| {
            for &end in ends {
                is_found |= self.finder.is_match(text, std::mem::replace(&mut start, end)..end);
            }
            Ok(())
        })?;
        Ok(is_found)
    }

    /// Each character of the new text comes from the last one of the old.
    pub(super) fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        let mut rewriter = Rewriter::new(text)?;
        self.finder.for_many(&text.bytes, 0, GoesOn::No, interrupt, |mut start, ends| {
            for &end in ends {
                let piece = std::mem::replace(&mut start, end)..end;
                if self.finder.is_match(&text.bytes, piece) {
                    rewriter.skip_until(end);
                    self.content.chars().try_for_each(|c| rewriter.insert(c))?;
                } else {
                    rewriter.keep_until(end)?;
                }
            }
            Ok(())
        })?;
        rewriter.finish()
    }

    /// Whether neither character may be part of a match, so that what is between them is not either.
    pub(super) fn keeps_apart(&self, before: char, after: char) -> bool {
        self.finder.is_gap(before, after)
    }
}
