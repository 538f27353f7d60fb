//! Normalization: what changes a text before it is split into pretokens.
//!
//! A normalizer is a list of stages, which do what those of Hugging Face's tokenizers do, so that files of other
//! programs give the same ids. A text that no stage changes is checked and not copied. Otherwise the result can
//! have origins: for each of its bytes, the range of the given text from which it came, by the rules of that
//! library. After the stages a text can be cut into words, some of which are left out.
//!
//! ```
//! use digram::normalize::{Form, Normalizer, Stage};
//!
//! let normalizer = Normalizer::new(vec![Stage::Form(Form::Nfc), Stage::Lowercase])?;
//! assert_eq!(normalizer.normalize("E\u{301}t".as_bytes(), &digram::Never)?.as_ref(), "ét".as_bytes());
//! # Ok::<(), digram::Error>(())
//! ```

mod borders;
mod characters;
mod charsmap;
mod cuts;
mod forms;
mod literals;
mod matches;
mod precompiled;
mod sentencepiece;
mod sets;
mod traced;
mod unchanged;
mod units;
mod white_space;
mod words;

use std::borrow::Cow;

use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer, find_first};
use crate::pretokenize::{Pretokenizer, Rules};
use crate::text::Text;
use crate::utf8::decode;

use characters::Characters;
use forms::FormTable;

pub use borders::last_border_so_far;
pub(crate) use borders::{first_border, is_border};
#[cfg(test)]
pub(crate) use charsmap::tests::of_entries as map_of;
pub(crate) use cuts::JoinedTexts;
pub use forms::Form;
pub(crate) use matches::finder;
pub use sentencepiece::{AddedSpace, SentencePiece};
pub(crate) use traced::Traced;
pub(crate) use words::Prepared;
use words::Words;
pub use words::{Keep, WordRule};

/// A stage of normalization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// One of Unicode's normalization forms, of Unicode 9.
    Form(Form),
    /// Each character in lower case.
    Lowercase,
    /// Without the characters of the category M (marks), of Unicode 9. Characters are not decomposed.
    StripAccents,
    /// Without control characters; line ends, tabs and some special spaces become a space.
    Nmt,
    /// Without control and format characters (of Unicode 9) and private ones; other white space becomes a space.
    Clean,
    /// With a space on each side of every ideograph (but not of kana).
    SpaceIdeographs,
    /// Without nonspacing marks (Mn), of Unicode 8. Characters are not decomposed.
    StripNonspacingMarks,
    /// Without white space at the ends.
    Strip {
        /// At the start.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// With a text before it, unless it is empty.
    Prepend {
        /// The text before it.
        content: String,
    },
    /// With one text in place of another.
    Replace {
        /// What is replaced; not empty.
        pattern: String,
        /// What is put in its place.
        content: String,
    },
    /// With a text in place of each match of a regex.
    ReplaceMatches {
        /// The regex.
        regex: String,
        /// What is put in place of its matches.
        content: String,
    },
    /// A character map of SentencePiece, as Hugging Face's `Precompiled` applies it.
    Precompiled {
        /// The map.
        charsmap: Vec<u8>,
    },
    /// What SentencePiece does with a text.
    SentencePiece(SentencePiece),
    /// With each unit that rules find written in one way, and one space between it and its number.
    Units {
        /// The rules; their units and terms are all ways to write a unit.
        rules: Rules,
        /// Each way to write a unit, with the one that is put in its place, of as many characters.
        spelled: Vec<(String, String)>,
    },
}

/// The characters on both sides of a place where two texts meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seam {
    /// The last character of the left text.
    pub before: char,
    /// The first character of the right text.
    pub after: char,
}

impl Seam {
    /// The characters around an offset of a text.
    pub fn at(text: &[u8], offset: usize) -> Option<Seam> {
        if offset == 0 || offset >= text.len() {
            return None;
        }
        let (before, after) = (bstr::decode_last_utf8(&text[..offset]).0, decode(&text[offset..]).0);
        Some(Seam { before: before?, after: after? })
    }

    /// Whether a pretokenizer splits every text with these characters between them.
    pub fn is_border(self, pretokenizer: &Pretokenizer) -> bool {
        self.within(|both, middle| pretokenizer.is_border_anywhere(both, middle))
    }

    /// Whether a predicate is true for the text of the two characters and the offset between them.
    pub(crate) fn within(self, predicate: impl FnOnce(&[u8], usize) -> bool) -> bool {
        let Seam { before, after } = self;
        let mut both = [0; 2 * char::MAX.len_utf8()];
        let middle = before.encode_utf8(&mut both).len();
        let end = middle + after.encode_utf8(&mut both[middle..]).len();
        predicate(&both[..end], middle)
    }
}

/// A list of stages and a rule for words, compiled.
pub struct Normalizer {
    stages: Vec<Compiled>,
    words: Option<Words>,
}

enum Compiled {
    Form(&'static FormTable),
    Characters(Characters),
    Strip { left: bool, right: bool },
    Prepend(String),
    Replace(literals::Replacer),
    ReplaceMatches(matches::MatchReplacer),
    Precompiled(Box<precompiled::Precompiled>),
    SentencePiece(Box<sentencepiece::Compiled>),
    Units(Box<units::UnitSpeller>),
}

impl std::fmt::Debug for Normalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Normalizer({} stages)", self.stages.len())
    }
}

impl Normalizer {
    /// Compiles the stages.
    pub fn new(stages: Vec<Stage>) -> Result<Normalizer> {
        let compiled = stages.into_iter().map(|stage| {
            Ok(match stage {
                Stage::Form(form) => Compiled::Form(FormTable::of(form)),
                Stage::Lowercase => Compiled::Characters(Characters::lowercase()),
                Stage::StripAccents => Compiled::Characters(Characters::without_marks()),
                Stage::Nmt => Compiled::Characters(Characters::nmt()),
                Stage::Clean => Compiled::Characters(Characters::clean()),
                Stage::SpaceIdeographs => Compiled::Characters(Characters::spaced_ideographs()),
                Stage::StripNonspacingMarks => Compiled::Characters(Characters::without_nonspacing_marks()),
                Stage::Strip { left, right } => Compiled::Strip { left, right },
                Stage::Prepend { content } => Compiled::Prepend(content),
                Stage::Replace { pattern, content } => {
                    Compiled::Replace(literals::Replacer::new(pattern, content)?)
                }
                Stage::ReplaceMatches { regex, content } => {
                    Compiled::ReplaceMatches(matches::MatchReplacer::new(regex, content)?)
                }
                Stage::Precompiled { charsmap } => {
                    Compiled::Precompiled(Box::new(precompiled::Precompiled::new(&charsmap)?))
                }
                Stage::SentencePiece(rules) => {
                    Compiled::SentencePiece(Box::new(sentencepiece::Compiled::new(&rules)?))
                }
                Stage::Units { rules, spelled } => {
                    Compiled::Units(Box::new(units::UnitSpeller::new(rules, spelled)?))
                }
            })
        });
        Ok(Normalizer { stages: compiled.collect::<Result<_>>()?, words: None })
    }

    /// Cuts the text into words after the stages.
    pub fn with_words(self, rule: WordRule) -> Result<Normalizer> {
        Ok(Normalizer { words: Some(Words::new(rule)?), ..self })
    }

    /// Whether it changes no text.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty() && self.words.is_none()
    }

    /// Whether it cuts text into words. They are pretokens, or split into them one by one.
    pub fn has_words(&self) -> bool {
        self.words.is_some()
    }

    /// The text after the stages, which is the text itself if nothing changes. Bytes that are not UTF-8 remain.
    pub fn normalize<'t>(&self, text: &'t [u8], interrupt: &dyn Interrupt) -> Result<Cow<'t, [u8]>> {
        Ok(match self.changed(text, interrupt)? {
            Some(new) => Cow::Owned(new.bytes),
            None => Cow::Borrowed(text),
        })
    }

    /// The text after the stages, without origins, if some stage changes it.
    pub(crate) fn changed(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Option<Traced>> {
        for (number, stage) in self.stages.iter().enumerate() {
            if let Some(new) = stage.changed(text, interrupt)? {
                return applied(self.stages[number + 1..].iter(), new, interrupt).map(Some);
            }
        }
        Ok(None)
    }

    /// Whether text may be cut into words only beside ASCII characters.
    pub(crate) fn cuts_beside_ascii(&self) -> bool {
        // See `Precompiled::sides`.
        matches!(self.stages.first(), Some(Compiled::Precompiled(_)))
    }

    /// The text after the stages, cut into words if there is a rule for them.
    pub(crate) fn prepared<'t>(
        &self,
        text: &'t [u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Prepared<Cow<'t, [u8]>>> {
        let normal = self.normalize(text, interrupt)?;
        if !self.has_words() {
            return Ok(Prepared { text: normal, word_ends: None });
        }
        let mut prepared = Prepared::new(false, true);
        let normal = Traced { bytes: normal.into_owned(), ..Traced::default() };
        let starts = self.starts(text, interrupt)?;
        self.push_prepared(normal, &starts, &mut prepared, interrupt)?;
        Ok(Prepared { text: Cow::Owned(prepared.text.bytes), word_ends: prepared.word_ends })
    }

    /// Appends a normalized text, cut into words if there is a rule for them. `starts` has the origins of the bytes
    /// at its start, and is empty if they are not at the [start](Normalizer::starts) of the whole text.
    pub(crate) fn push_prepared(
        &self,
        normal: Traced,
        starts: &[[usize; 2]],
        prepared: &mut Prepared<Traced>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        prepared.push(normal, starts, self.words.as_ref(), interrupt)
    }

    /// The origins of the bytes with which the normal form of a whole text begins; all that follows them comes from
    /// later than the first character. Empty if nothing depends on them.
    pub(crate) fn starts(
        &self,
        text: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Cow<'static, [[usize; 2]]>> {
        if !self.depends_on_start() {
            return Ok(Cow::Borrowed(&[]));
        }
        if self.stages.is_empty() {
            return Ok(Cow::Borrowed(&[[0, 1]]));
        }
        let seam = find_first(1..text.len(), interrupt, |offset| self.seam_at(text, offset).is_some())?;
        let given = Traced::given(&text[..seam.unwrap_or(text.len())], 0, true)?;
        Ok(Cow::Owned(self.traced(given, interrupt)?.origins.unwrap_or_default()))
    }

    /// The normal form of the text of an added token. SentencePiece leaves it as it is.
    pub(crate) fn of_token(&self, text: &str, interrupt: &dyn Interrupt) -> Result<String> {
        let stages = self.stages.iter().filter(|stage| !matches!(stage, Compiled::SentencePiece(_)));
        let given = Traced::given(text.as_bytes(), 0, false)?;
        let normal = applied(stages, given, interrupt)?;
        Ok(String::from_utf8_lossy(&normal.bytes).into_owned())
    }

    /// Whether the start of a text is prepared in another way than what stands after an added token.
    pub(crate) fn depends_on_start(&self) -> bool {
        self.words.as_ref().is_some_and(Words::depend_on_start)
    }

    /// Whether no stage changes the text.
    pub(crate) fn is_normal(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        for stage in &self.stages {
            if stage.changes(text, interrupt)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no stage changes a text that is not in UTF-8 yet, or a part of it, and the text is not cut into words.
    /// False if that is not known.
    pub(crate) fn keeps(&self, text: Text<'_>, interrupt: &dyn Interrupt) -> Result<bool> {
        if self.has_words() {
            return Ok(false);
        }
        let mut pacer = Pacer::new(interrupt);
        for stage in &self.stages {
            match stage {
                Compiled::Form(table) if table.keeps(text, &mut pacer)? => (),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether this also holds for each part of the text, and it is not cut into words; false if that is not known.
    pub(crate) fn keeps_all_parts(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let may_be_cut = |stage: &Compiled| match stage {
            Compiled::Strip { .. } | Compiled::Prepend(_) | Compiled::Units(_) => true,
            Compiled::SentencePiece(rules) => rules.may_be_cut(),
            _ => false,
        };
        let may_change = self.has_words() || self.stages.iter().any(may_be_cut);
        Ok(text.is_empty() || !may_change && self.is_normal(text, interrupt)?)
    }

    /// The text after the stages, with origins if the given one has them.
    pub(crate) fn traced(&self, text: Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        applied(self.stages.iter(), text, interrupt)
    }

    /// The [`seam`](Normalizer::seam) of the characters around an offset of a text.
    pub fn seam_at(&self, text: &[u8], offset: usize) -> Option<Seam> {
        Seam::at(text, offset).and_then(|Seam { before, after }| self.seam(before, after))
    }

    /// Whether some two characters have a [`seam`](Normalizer::seam).
    pub(crate) fn has_seams(&self) -> bool {
        self.stages.iter().all(Compiled::has_seams)
    }

    /// If the normal form of any text with these two characters around `offset` begins with that of its part before
    /// them: the last character of that, and the one that comes next if any does, before the text is cut into words.
    /// What follows need not be changed as a text of its own is.
    pub(crate) fn end_of_beginning(&self, text: &[u8], offset: usize) -> Option<Seam> {
        let seam = Seam::at(text, offset)?;
        self.stages.iter().try_fold(seam, |seam, stage| stage.end_of_beginning(seam))
    }

    /// Whether some text has such a place.
    pub(crate) fn has_beginnings(&self) -> bool {
        self.stages.iter().all(Compiled::has_beginnings)
    }

    /// Whether the words of a text with this [end of a beginning](Normalizer::end_of_beginning) begin with those of
    /// its part before it; `None` if it is one word, whose pretokens decide.
    pub(crate) fn divides_beginning(&self, seam: Seam) -> Option<bool> {
        let words = self.words.as_ref()?;
        if words.only_change_start(seam) { None } else { Some(words.keeps_apart(seam)) }
    }

    /// If the normal form of any text with these two characters next to each other is that of its part up to
    /// the first and that of its part from the second on, one after the other: the last character of the one and
    /// the first of the other, before the text is cut into words.
    pub fn seam(&self, before: char, after: char) -> Option<Seam> {
        self.stages.iter().try_fold(Seam { before, after }, |seam, stage| stage.seam(seam))
    }

    /// Whether a text with this seam has the words of its two parts; `None` if it is one word, whose pretokens
    /// decide.
    pub fn divides(&self, seam: Seam) -> Option<bool> {
        let words = self.words.as_ref()?;
        if words.only_mark_start(seam) { None } else { Some(words.keeps_apart(seam)) }
    }
}

/// A normalized text, and the end of each of its pretokens.
pub fn pretokens<'t>(
    normalizer: Option<&Normalizer>,
    pretokenizer: &Pretokenizer,
    text: &'t [u8],
    interrupt: &dyn Interrupt,
) -> Result<(Cow<'t, [u8]>, Vec<usize>)> {
    let prepared = match normalizer {
        Some(normalizer) => normalizer.prepared(text, interrupt)?,
        None => Prepared { text: Cow::Borrowed(text), word_ends: None },
    };
    let Prepared { text, word_ends } = prepared;
    let Some(word_ends) = word_ends else {
        let ends = pretokenizer.ends(&text, interrupt)?;
        return Ok((text, ends));
    };
    let (mut start, mut ends) = (0, Vec::new());
    for end in word_ends {
        let inside = pretokenizer.ends(&text[start..end], interrupt)?;
        ends.extend(inside.iter().map(|end| start + end));
        start = end;
    }
    Ok((text, ends))
}

/// A text after some stages.
fn applied<'s>(
    mut stages: impl Iterator<Item = &'s Compiled>,
    text: Traced,
    interrupt: &dyn Interrupt,
) -> Result<Traced> {
    stages.try_fold(text, |text, stage| match stage.changes(&text.bytes, interrupt)? {
        true => stage.applied(&text, interrupt),
        false => Ok(text),
    })
}

impl Compiled {
    fn changes(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        match self {
            Compiled::Form(table) => table.changes(text, interrupt),
            Compiled::Characters(characters) => characters.changes(text, interrupt),
            Compiled::Strip { left, right } => Ok(literals::stripped(text, *left, *right) != (0..text.len())),
            Compiled::Prepend(content) => Ok(!text.is_empty() && !content.is_empty()),
            Compiled::Replace(replacer) => Ok(replacer.is_in(text)),
            Compiled::ReplaceMatches(replacer) => replacer.is_in(text, interrupt),
            Compiled::Precompiled(precompiled) => precompiled.changes(text, interrupt),
            Compiled::SentencePiece(rules) => rules.changes(text, interrupt),
            Compiled::Units(speller) => speller.is_in(text, interrupt),
        }
    }

    /// The new text, without origins, if it is another one.
    fn changed(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Option<Traced>> {
        if let Compiled::Precompiled(precompiled) = self {
            let new = precompiled.changed(text, interrupt)?;
            return Ok(new.map(|bytes| Traced { bytes, ..Traced::default() }));
        }
        match (self.changes(text, interrupt)?, self) {
            (false, _) => Ok(None),
            (true, Compiled::SentencePiece(rules)) => {
                rules.applied(sentencepiece::Old { text, origins: None }, interrupt).map(Some)
            }
            (true, _) => self.applied(&Traced::given(text, 0, false)?, interrupt).map(Some),
        }
    }

    fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        match self {
            Compiled::Form(table) => table.applied(text, interrupt),
            Compiled::Characters(characters) => characters.applied(text, interrupt),
            Compiled::Strip { left, right } => literals::strip(text, *left, *right),
            Compiled::Prepend(content) => literals::prepend(text, content),
            Compiled::Replace(replacer) => replacer.applied(text, interrupt),
            Compiled::ReplaceMatches(replacer) => replacer.applied(text, interrupt),
            Compiled::Precompiled(precompiled) => precompiled.applied(text, interrupt),
            Compiled::SentencePiece(rules) => rules.applied(sentencepiece::Old::of(text), interrupt),
            Compiled::Units(speller) => speller.applied(text, interrupt),
        }
    }

    /// See [`Normalizer::seam`].
    fn seam(&self, seam: Seam) -> Option<Seam> {
        let Seam { before, after } = seam;
        let is_kept = match self {
            Compiled::Form(table) => table.is_inert(before) && table.is_solid(after),
            Compiled::Characters(characters) => {
                let (before, after) = (characters.at_side(before, true)?, characters.at_side(after, false)?);
                return Some(Seam { before, after });
            }
            Compiled::Strip { .. } => !before.is_whitespace() && !after.is_whitespace(),
            // Each part would get the text.
            Compiled::Prepend(content) => content.is_empty(),
            Compiled::Replace(replacer) => {
                let (before, after) = (replacer.at_side(before, true)?, replacer.at_side(after, false)?);
                return Some(Seam { before, after });
            }
            Compiled::ReplaceMatches(replacer) => replacer.keeps_apart(before, after),
            Compiled::Precompiled(precompiled) => precompiled.keeps_apart(before, after),
            Compiled::SentencePiece(rules) => rules.keeps_apart(before, after),
            Compiled::Units(speller) => speller.keeps_apart(before, after),
        };
        is_kept.then_some(seam)
    }

    /// Whether some two characters have a seam.
    fn has_seams(&self) -> bool {
        match self {
            Compiled::Prepend(content) => content.is_empty(),
            Compiled::SentencePiece(rules) => rules.has_seams(),
            _ => true,
        }
    }

    /// See [`Normalizer::end_of_beginning`].
    fn end_of_beginning(&self, seam: Seam) -> Option<Seam> {
        match self {
            // It is before the beginning, too.
            Compiled::Prepend(_) => Some(seam),
            Compiled::SentencePiece(rules) => rules.ends_beginning(seam.before, seam.after).then_some(seam),
            _ => self.seam(seam),
        }
    }

    fn has_beginnings(&self) -> bool {
        match self {
            Compiled::SentencePiece(rules) => rules.has_beginnings(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
