//! A text as it is split into pretokens: its added tokens, and the normalized text between them.

use std::borrow::Cow;
use std::ops::Range;

use super::Tokenizer;
use crate::added_tokens::{AddedMatch, AddedTokens, Matches, OnSpecial};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::normalize::{Normalizer, Prepared, Traced};

/// The given text if normalization leaves it as it is, and otherwise a new one.
pub(super) struct Working<'a> {
    text: Cow<'a, [u8]>,
    found: Found<'a>,
    /// The end of each word between added tokens, if the text is cut into words.
    word_ends: Option<Vec<usize>>,
    /// The range of the given text from which each byte comes, if they were requested and it is not the same.
    origins: Option<Vec<[usize; 2]>>,
}

enum Found<'a> {
    /// The added tokens are searched for.
    Later(Option<&'a AddedTokens>),
    Now(Vec<AddedMatch<'a>>),
}

/// The added tokens of a text, from the left.
pub(super) enum FoundTokens<'w> {
    None,
    Searched(Matches<'w>),
    Listed(std::slice::Iter<'w, AddedMatch<'w>>),
}

impl<'w> Iterator for FoundTokens<'w> {
    type Item = AddedMatch<'w>;

    #[inline]
    fn next(&mut self) -> Option<AddedMatch<'w>> {
        match self {
            FoundTokens::None => None,
            FoundTokens::Searched(matches) => matches.next(),
            FoundTokens::Listed(matches) => matches.next().cloned(),
        }
    }
}

impl<'w> Working<'w> {
    /// A text that normalization leaves as it is.
    #[inline]
    pub(super) fn of_kept(text: &'w [u8], set: Option<&'w AddedTokens>) -> Working<'w> {
        Working { text: Cow::Borrowed(text), found: Found::Later(set), word_ends: None, origins: None }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text, as a copy only if normalization changed it.
    pub(super) fn into_text(self) -> Cow<'w, [u8]> {
        self.text
    }

    /// The added tokens in the text.
    #[inline]
    pub(super) fn added_tokens(&self) -> FoundTokens<'_> {
        match &self.found {
            Found::Later(None) => FoundTokens::None,
            Found::Later(Some(set)) => FoundTokens::Searched(set.matches(&self.text, 0)),
            Found::Now(listed) => FoundTokens::Listed(listed.iter()),
        }
    }

    /// The ends of the words of a part between added tokens, if the text is cut into words.
    #[inline]
    pub(super) fn word_ends(&self, part: &Range<usize>) -> Option<&[usize]> {
        let ends = self.word_ends.as_ref()?;
        let index_after = |offset| ends.partition_point(|&end| end <= offset);
        Some(&ends[index_after(part.start)..index_after(part.end)])
    }

    /// The range of the given text from which a range comes. The origins must have been requested.
    #[inline]
    pub(super) fn given(&self, range: Range<usize>) -> Range<usize> {
        match &self.origins {
            None => range,
            Some(_) if range.is_empty() => range,
            Some(origins) => origins[range.start][0]..origins[range.end - 1][1],
        }
    }
}

impl Tokenizer {
    /// The added tokens that are found in text.
    #[inline]
    pub(super) fn recognized<'a>(&'a self, special: OnSpecial<'a>) -> Option<&'a AddedTokens> {
        let set = match special {
            OnSpecial::Text => &self.always,
            OnSpecial::Parse | OnSpecial::Fail => &self.added,
            OnSpecial::Allow(allowed) => allowed,
        };
        (!set.is_empty()).then_some(set)
    }

    /// The normalizer, if it may change some part of a text.
    #[inline]
    pub(super) fn changing(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Option<&Normalizer>> {
        match &self.normalizer {
            Some(normalizer) if !normalizer.keeps_all_parts(text, interrupt)? => Ok(Some(normalizer)),
            _ => Ok(None),
        }
    }

    /// The text to split, with origins if `is_traced`.
    #[inline]
    pub(super) fn working<'a>(
        &'a self,
        text: &'a [u8],
        special: OnSpecial<'a>,
        is_traced: bool,
        interrupt: &dyn Interrupt,
    ) -> Result<Working<'a>> {
        let set = self.recognized(special);
        match self.changing(text, interrupt)? {
            None => Ok(Working::of_kept(text, set)),
            Some(normalizer) => normalized(normalizer, text, set, is_traced, interrupt),
        }
    }

    /// An error about the text to split, as one about the given text.
    #[cold]
    pub(super) fn in_given(
        &self,
        error: Error,
        text: &[u8],
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Error {
        if !error.has_offset() {
            return error;
        }
        match self.working(text, special, true, interrupt) {
            Ok(working) => error.moved(|offset| working.given(offset..offset + 1).start),
            Err(other) => other,
        }
    }
}

/// The text to split where normalization may change the given one.
#[cold]
fn normalized<'a>(
    normalizer: &Normalizer,
    text: &'a [u8],
    set: Option<&'a AddedTokens>,
    is_traced: bool,
    interrupt: &dyn Interrupt,
) -> Result<Working<'a>> {
    let mut working = Prepared::new(is_traced, normalizer.has_words());
    let mut listed: Vec<AddedMatch<'a>> = Vec::new();
    let mut list = |range: Range<usize>, token| {
        memory::try_reserve(&mut listed, 1)?;
        listed.push(AddedMatch { range, token });
        Ok::<_, Error>(())
    };
    let (mut position, mut pacer) = (0, Pacer::new(interrupt));
    let mut first_pass = set.map(|set| set.matches_of_pass(false, text)).into_iter().flatten();
    loop {
        let found = first_pass.next();
        let piece = position..found.as_ref().map_or(text.len(), |found| found.range.start);
        pacer.after_text(piece.len())?;
        if !piece.is_empty() {
            let given = || Traced::given(&text[piece.clone()], piece.start, is_traced);
            let normal = match is_traced {
                true => normalizer.traced(given()?, interrupt)?,
                false => normalizer.changed(&text[piece.clone()], interrupt)?.map_or_else(given, Ok)?,
            };
            let starts = if piece.start == 0 {
                normalizer.starts(&text[piece.clone()], interrupt)?
            } else {
                Cow::Borrowed(&[][..])
            };
            let starts_at = |offset| starts.get(offset..).unwrap_or_default();
            let mut read = 0;
            for AddedMatch { range, token } in
                set.iter().flat_map(|set| set.matches_of_pass(true, &normal.bytes))
            {
                if read < range.start {
                    let part = normal.part(read..range.start)?;
                    normalizer.push_prepared(part, starts_at(read), &mut working, interrupt)?;
                }
                // A token may begin inside the one before it; that text is then there twice.
                let start = working.text.bytes.len();
                working.text.push_part(&normal, range.clone())?;
                list(start..working.text.bytes.len(), token)?;
                read = range.end;
                pacer.after(1)?;
            }
            if read == 0 {
                normalizer.push_prepared(normal, starts_at(0), &mut working, interrupt)?;
            } else {
                let part = normal.part(read..normal.bytes.len())?;
                normalizer.push_prepared(part, starts_at(read), &mut working, interrupt)?;
            }
        }
        let Some(AddedMatch { range, token }) = found else { break };
        let start = working.text.bytes.len();
        working.text.push_given(&text[range.clone()], range.start)?;
        list(start..working.text.bytes.len(), token)?;
        position = range.end;
    }
    let Prepared { text: Traced { bytes, origins, .. }, word_ends } = working;
    Ok(Working { text: Cow::Owned(bytes), found: Found::Now(listed), word_ends, origins })
}
