//! Places of a text at which it can be cut into words before it is normalized, decided by two neighbouring characters.
//!
//! Some stages change a character in a way that its neighbours do not decide alone: it is then not known what is
//! beside the place. Where white space is left out that is not needed, since words never reach over it.

use super::traced::Traced;
use super::{Compiled, Normalizer, Seam};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::pretokenize::Pretokenizer;

/// More than the number of classes of all characters.
const CLASSES: u64 = 1 << 25;

/// The characters on both sides of a place, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) before: Option<char>,
    pub(super) after: Option<char>,
}

impl Sides {
    fn seam(self) -> Option<Seam> {
        Some(Seam { before: self.before?, after: self.after? })
    }
}

impl From<Seam> for Sides {
    fn from(Seam { before, after }: Seam) -> Sides {
        Sides { before: Some(before), after: Some(after) }
    }
}

impl Normalizer {
    /// Whether every text with these two characters next to each other has the pretokens of its part up to the first,
    /// and then those of its part from the second on; false if it is not cut into words.
    pub(crate) fn cuts_words(&self, before: char, after: char, pretokenizer: &Pretokenizer) -> bool {
        let Some(words) = self.words.as_ref().filter(|words| words.are_cut_once()) else { return false };
        let sides = Sides::from(Seam { before, after });
        let Some(sides) = self.stages.iter().try_fold(sides, |sides, stage| stage.sides(sides)) else {
            return false;
        };
        if words.separates(sides.before) || words.separates(sides.after) {
            return true;
        }
        sides.seam().is_some_and(|seam| match self.divides(seam) {
            Some(divides) => divides,
            None => !pretokenizer.is_whole() && seam.is_border(pretokenizer),
        })
    }
}

impl Normalizer {
    /// What [`cuts_words`](Normalizer::cuts_words) depends on in a character: two pairs of characters with equal numbers
    /// have the same result. `None` if neighbours decide in another way.
    pub(crate) fn side_number(&self, c: char) -> Option<u64> {
        let words = self.words.as_ref()?;
        let (stages, bits, before, after) = match &self.stages[..] {
            [Compiled::Precompiled(first), rest @ ..] => {
                (rest, first.side_bits(c), first.side_before(c), first.side_after(c))
            }
            all => (all, 0, Some(c), Some(c)),
        };
        let before = stages.iter().try_fold(before, |c, stage| match stage {
            Compiled::Form(table) => Some(c.filter(|&c| table.is_inert(c))),
            Compiled::Characters(characters) => Some(c.and_then(|c| characters.at_side(c, true))),
            _ => None,
        })?;
        let sides = Sides { before: None, after };
        let sides = stages.iter().try_fold(sides, |sides, stage| stage.sides(sides));
        let after = sides.and_then(|sides| sides.after);
        let classes = |c: Option<char>| c.map_or(Some(0), |c| Some(1 + words.classes(c)?));
        let flags = [sides.is_some(), words.separates(before), words.separates(after)];
        let flags = flags.into_iter().fold(0, |bits, flag| bits << 1 | u64::from(flag));
        Some(((bits * CLASSES + classes(before)?) * CLASSES + classes(after)?) << 3 | flags)
    }

    /// Whether texts with white space between them are the words of each.
    pub(crate) fn joins_texts(&self) -> bool {
        self.words.as_ref().is_some_and(|words| words.are_cut_once() && words.are_beside_white_space())
    }

    /// Appends the words of several texts to `prepared`, and to `counts` the number of words up to the end of each.
    /// The texts are normalized one by one and cut together, so the normalizer must [join](Normalizer::joins_texts)
    /// them.
    pub(crate) fn push_texts<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]>,
        joined: &mut JoinedTexts,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let JoinedTexts { normal, words, word_ends, counts } = joined;
        let Some(rule) = &self.words else { return Ok(()) };
        normal.bytes.clear();
        normal.marks.clear();
        // White space keeps the texts apart in these stages.
        let together =
            self.stages.iter().all(|stage| matches!(stage, Compiled::Form(_) | Compiled::Characters(_)));
        for (number, text) in texts.enumerate() {
            let changed = if together { None } else { self.changed(text, interrupt)? };
            let new = changed.as_ref().map_or(text, |changed| &changed.bytes);
            if number > 0 {
                // A space at the start keeps it apart from the text before it.
                if !new.starts_with(b" ") {
                    normal.push_given(b"\n", 0)?;
                }
                memory::try_reserve(&mut normal.marks, 1)?;
                normal.marks.push(normal.bytes.len());
            }
            normal.push_given(new, 0)?;
        }
        memory::try_reserve(&mut normal.marks, 1)?;
        normal.marks.push(normal.bytes.len());
        if together {
            *normal = self.traced(std::mem::take(normal), interrupt)?;
        }
        let ends = &normal.marks;
        word_ends.clear();
        counts.clear();
        memory::try_reserve(counts, ends.len())?;
        *words = rule.cut(normal, &[], interrupt, &mut |start, end| {
            while ends.get(counts.len()).is_some_and(|&end| end <= start) {
                counts.push(word_ends.len());
            }
            memory::try_reserve(word_ends, 1)?;
            word_ends.push(end);
            Ok(())
        })?;
        counts.resize(ends.len(), word_ends.len());
        Ok(())
    }
}

/// The words of several texts.
#[derive(Debug, Default)]
pub(crate) struct JoinedTexts {
    /// The normal forms of the texts, with white space between them, and a mark at the end of each.
    normal: Traced,
    /// All words.
    words: Traced,
    word_ends: Vec<usize>,
    /// The number of words up to the end of each text.
    counts: Vec<usize>,
}

impl JoinedTexts {
    /// The words.
    pub(crate) fn words(&self) -> &[u8] {
        &self.words.bytes
    }

    /// The end of each word.
    pub(crate) fn word_ends(&self) -> &[usize] {
        &self.word_ends
    }

    /// The end of the last word of each text.
    pub(crate) fn ends(&self) -> impl Iterator<Item = usize> {
        self.counts.iter().map(|&count| count.checked_sub(1).map_or(0, |last| self.word_ends[last]))
    }

    /// For each text where its first word starts, and the ends of all.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &[usize])> {
        let (mut first, mut start) = (0, 0);
        self.counts.iter().map(move |&count| {
            let ends = &self.word_ends[std::mem::replace(&mut first, count)..count];
            let end = ends.last().copied().unwrap_or(start);
            (std::mem::replace(&mut start, end), ends)
        })
    }
}

impl Compiled {
    /// If the new text of any text with these characters around a place is that of its part before the place, and then
    /// that of its part behind it: what is beside the place then.
    fn sides(&self, sides: Sides) -> Option<Sides> {
        let Sides { before, after } = sides;
        match self {
            Compiled::Form(table) => {
                let after = after.filter(|&after| table.begins_apart(after))?;
                let before = before.filter(|&before| table.is_inert(before));
                Some(Sides { before, after: Some(after).filter(|&after| table.is_solid(after)) })
            }
            Compiled::Characters(characters) => Some(Sides {
                before: before.and_then(|before| characters.at_side(before, true)),
                after: after.and_then(|after| characters.at_side(after, false)),
            }),
            Compiled::Precompiled(precompiled) => precompiled.sides(Seam { before: before?, after: after? }),
            _ => self.seam(sides.seam()?).map(Sides::from),
        }
    }
}

#[cfg(test)]
mod tests;
