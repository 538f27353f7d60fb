//! Normalization: what changes a text before it is split into pretokens.
//!
//! A normalizer is a list of stages, which do what those of Hugging Face's tokenizers do, so that files of other
//! programs give the same ids. A text that no stage changes is checked and not copied. Otherwise the result can have origins: for each of its bytes, the range of the given text from which
//! it came, by the rules of that library.
//!
//! ```
//! use digram::normalize::{Form, Normalizer, Stage};
//!
//! let normalizer = Normalizer::new(vec![Stage::Form(Form::Nfc), Stage::Lowercase])?;
//! assert_eq!(normalizer.normalize("E\u{301}t".as_bytes(), &digram::Never)?.as_ref(), "ét".as_bytes());
//! # Ok::<(), digram::Error>(())
//! ```

mod characters;
mod charsmap;
mod forms;
mod literals;
mod precompiled;
mod sentencepiece;
mod spaced;
mod traced;

use std::borrow::Cow;

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::utf8::decode;

use characters::{Change, Characters};
use forms::FormTable;

pub use forms::Form;
pub use sentencepiece::{AddedSpace, SentencePiece};
pub(crate) use traced::Traced;

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
        /// Only if it does not start with that text already.
        once: bool,
        /// Only before the start of the whole text, not after added tokens.
        first: bool,
    },
    /// With one text in place of another.
    Replace {
        /// What is replaced; not empty.
        pattern: String,
        /// What is put in its place.
        content: String,
    },
    /// A character map of SentencePiece, as Hugging Face's `Precompiled` applies it.
    Precompiled {
        /// The map.
        charsmap: Vec<u8>,
    },
    /// What SentencePiece does with a text.
    SentencePiece(SentencePiece),
    /// Without white space, and with a space before each word. A symbol that stands for a space becomes one; a word
    /// that begins with it gets no other.
    SpacedWords {
        /// The symbol.
        symbol: char,
    },
}

/// A list of stages, compiled.
pub struct Normalizer {
    stages: Vec<Compiled>,
}

enum Compiled {
    Form(FormTable),
    Characters(Characters),
    Strip { left: bool, right: bool },
    Prepend { content: String, once: bool, first: bool },
    Replace(literals::Replacer),
    Precompiled(Box<precompiled::Precompiled>),
    SentencePiece(Box<sentencepiece::Compiled>),
    SpacedWords(spaced::SpacedWords),
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
                Stage::Form(form) => Compiled::Form(FormTable::new(form)),
                Stage::Lowercase => Compiled::Characters(Characters::lowercase()),
                Stage::StripAccents => Compiled::Characters(Characters::without_marks()),
                Stage::Nmt => Compiled::Characters(Characters::nmt()),
                Stage::Strip { left, right } => Compiled::Strip { left, right },
                Stage::Prepend { content, once, first } => Compiled::Prepend { content, once, first },
                Stage::Replace { pattern, content } => {
                    Compiled::Replace(literals::Replacer::new(pattern, content)?)
                }
                Stage::Precompiled { charsmap } => {
                    Compiled::Precompiled(Box::new(precompiled::Precompiled::new(&charsmap)?))
                }
                Stage::SentencePiece(rules) => {
                    Compiled::SentencePiece(Box::new(sentencepiece::Compiled::new(&rules)?))
                }
                Stage::SpacedWords { symbol } => Compiled::SpacedWords(spaced::SpacedWords::new(symbol)),
            })
        });
        Ok(Normalizer { stages: compiled.collect::<Result<_>>()? })
    }

    /// Whether it changes no text.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// The normalized text, which is the text itself if nothing changes. Bytes that are not UTF-8 remain.
    pub fn normalize<'t>(&self, text: &'t [u8], interrupt: &dyn Interrupt) -> Result<Cow<'t, [u8]>> {
        if self.is_normal(text, interrupt)? {
            return Ok(Cow::Borrowed(text));
        }
        Ok(Cow::Owned(self.traced(Traced::given(text, 0, false)?, true, interrupt)?.bytes))
    }

    /// The normal form of the text of an added token. SentencePiece leaves it as it is.
    pub(crate) fn of_token(&self, text: &str, interrupt: &dyn Interrupt) -> Result<String> {
        let stages = self.stages.iter().filter(|stage| !matches!(stage, Compiled::SentencePiece(_)));
        let given = Traced::given(text.as_bytes(), 0, false)?;
        let normal = applied(stages, given, true, interrupt)?;
        Ok(String::from_utf8_lossy(&normal.bytes).into_owned())
    }

    /// Whether the start of a text is normalized in another way than what stands after an added token.
    pub(crate) fn depends_on_start(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Compiled::Prepend { first: true, .. }))
    }

    /// Whether no stage changes the text.
    pub(crate) fn is_normal(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        for stage in &self.stages {
            if stage.changes(text, true, interrupt)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this also holds for each part of the text; false if that is not known.
    pub(crate) fn keeps_all_parts(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<bool> {
        let may_be_cut = |stage: &Compiled| match stage {
            Compiled::Strip { .. } | Compiled::Prepend { .. } | Compiled::SpacedWords(_) => true,
            Compiled::SentencePiece(rules) => rules.may_be_cut(),
            _ => false,
        };
        Ok(text.is_empty() || !self.stages.iter().any(may_be_cut) && self.is_normal(text, interrupt)?)
    }

    /// The normalized text, with origins if the given one has them. `is_first` says whether it is the start of the
    /// whole text.
    pub(crate) fn traced(&self, text: Traced, is_first: bool, interrupt: &dyn Interrupt) -> Result<Traced> {
        applied(self.stages.iter(), text, is_first, interrupt)
    }

    /// Whether [`keeps_apart`](Normalizer::keeps_apart) holds for the characters around an offset inside a text.
    pub fn keeps_apart_at(&self, text: &[u8], offset: usize) -> bool {
        let (before, after) = (bstr::decode_last_utf8(&text[..offset]).0, decode(&text[offset..]).0);
        matches!((before, after), (Some(before), Some(after)) if self.keeps_apart(before, after))
    }

    /// Whether the normal form of any text with these two characters next to each other is that of its part up to
    /// the first and that of its part from the second on, one after the other, and has these two characters
    /// there too.
    pub fn keeps_apart(&self, before: char, after: char) -> bool {
        self.stages.iter().all(|stage| stage.keeps_apart(before, after))
    }
}

/// A text after some stages.
fn applied<'s>(
    mut stages: impl Iterator<Item = &'s Compiled>,
    text: Traced,
    is_first: bool,
    interrupt: &dyn Interrupt,
) -> Result<Traced> {
    stages.try_fold(text, |text, stage| match stage.changes(&text.bytes, is_first, interrupt)? {
        true => stage.applied(&text, interrupt),
        false => Ok(text),
    })
}

impl Compiled {
    fn changes(&self, text: &[u8], is_first: bool, interrupt: &dyn Interrupt) -> Result<bool> {
        match self {
            Compiled::Form(table) => table.changes(text, interrupt),
            Compiled::Characters(characters) => characters.changes(text, interrupt),
            Compiled::Strip { left, right } => Ok(literals::stripped(text, *left, *right) != (0..text.len())),
            Compiled::Prepend { content, once, first } => {
                let is_there = *once && text.starts_with(content.as_bytes());
                Ok(!text.is_empty() && !content.is_empty() && !is_there && (is_first || !first))
            }
            Compiled::Replace(replacer) => Ok(replacer.is_in(text)),
            Compiled::Precompiled(precompiled) => precompiled.changes(text, interrupt),
            Compiled::SentencePiece(rules) => rules.changes(text, interrupt),
            Compiled::SpacedWords(words) => Ok(words.changes(text)),
        }
    }

    fn applied(&self, text: &Traced, interrupt: &dyn Interrupt) -> Result<Traced> {
        match self {
            Compiled::Form(table) => table.applied(text, interrupt),
            Compiled::Characters(characters) => characters.applied(text, interrupt),
            Compiled::Strip { left, right } => literals::strip(text, *left, *right),
            Compiled::Prepend { content, .. } => literals::prepend(text, content),
            Compiled::Replace(replacer) => replacer.applied(text, interrupt),
            Compiled::Precompiled(precompiled) => precompiled.applied(text, interrupt),
            Compiled::SentencePiece(rules) => rules.applied(text, interrupt),
            Compiled::SpacedWords(words) => words.applied(text, interrupt),
        }
    }

    fn keeps_apart(&self, before: char, after: char) -> bool {
        match self {
            Compiled::Form(table) => {
                table.is_inert(before) && table.is_inert(after) && !table.may_join(after)
            }
            Compiled::Characters(characters) => {
                let is_kept = |c| matches!(characters.change(c), Change::Keep);
                is_kept(before) && is_kept(after)
            }
            Compiled::Strip { .. } => !before.is_whitespace() && !after.is_whitespace(),
            // Each part would get the text.
            Compiled::Prepend { content, .. } => content.is_empty(),
            Compiled::Replace(replacer) => replacer.keeps_apart(before, after),
            Compiled::Precompiled(precompiled) => precompiled.keeps_apart(before, after),
            Compiled::SentencePiece(rules) => rules.keeps_apart(before, after),
            // The right part would get a space.
            Compiled::SpacedWords(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use proptest::prelude::*;

    /// Characters that stages change or that join with others, and some that they leave.
    pub(super) fn texts() -> impl Strategy<Value = String> {
        let characters = prop::sample::select(
            "aeEAnx 12\t\n-_é\u{301}\u{323}\u{307}\u{345}\u{1100}\u{1161}\u{11a8}가각ﬁÅ\u{212b}①ÇİßΣς語が\u{3099}か\u{9c7}\u{9be}\u{94d}\u{93c}क\u{958}\u{f73}\u{f71}\u{344}\u{1e9b}\u{2581}\u{feff}\u{200b}\u{3000}𝅗𝅥\u{1d15f}😀"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(characters, 0..24).prop_map(|characters| characters.into_iter().collect())
    }

    pub(super) fn stages() -> impl Strategy<Value = Vec<Stage>> {
        let stage = prop_oneof![
            prop::sample::select(vec![Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd]).prop_map(Stage::Form),
            Just(Stage::Lowercase),
            Just(Stage::StripAccents),
            Just(Stage::Nmt),
            (any::<bool>(), any::<bool>()).prop_map(|(left, right)| Stage::Strip { left, right }),
            (any::<bool>(), any::<bool>()).prop_map(|(once, first)| Stage::Prepend {
                content: "▁e".into(),
                once,
                first
            }),
            Just(Stage::SpacedWords { symbol: '▁' }),
            (0usize..3, any::<bool>(), any::<bool>()).prop_map(|(added, removes_spaces, has_symbols)| {
                let added_space = [AddedSpace::No, AddedSpace::Before, AddedSpace::Behind][added];
                let symbols = if has_symbols { vec!["ae".into(), "▁▁".into()] } else { Vec::new() };
                Stage::SentencePiece(SentencePiece {
                    added_space,
                    removes_spaces,
                    symbols,
                    ..Default::default()
                })
            }),
            Just(Stage::Replace { pattern: " ".into(), content: "▁".into() }),
            Just(Stage::Replace { pattern: "ae".into(), content: "".into() }),
            Just(Stage::Replace { pattern: "aa".into(), content: "é\u{301}".into() }),
        ];
        prop::collection::vec(stage, 0..4)
    }

    proptest! {
        #[test]
        fn parts_that_are_kept_apart_are_normalized_alone(text in texts(), stages in stages()) {
            let normalizer = Normalizer::new(stages).unwrap();
            let normal = |part: &str| normalizer.normalize(part.as_bytes(), &Never).unwrap().into_owned();
            let whole = normal(&text);
            for (offset, after) in text.char_indices().skip(1) {
                let before = text[..offset].chars().next_back().unwrap();
                if normalizer.keeps_apart(before, after) {
                    let (left, right) = (normal(&text[..offset]), normal(&text[offset..]));
                    prop_assert!(String::from_utf8_lossy(&left).ends_with(before));
                    prop_assert!(String::from_utf8_lossy(&right).starts_with(after));
                    prop_assert_eq!([left, right].concat(), whole.clone());
                }
            }
        }

        #[test]
        fn origins_do_not_change_the_text(text in texts(), stages in stages()) {
            let normalizer = Normalizer::new(stages).unwrap();
            let plain = normalizer.normalize(text.as_bytes(), &Never).unwrap();
            let traced = normalizer.traced(Traced::given(text.as_bytes(), 0, true).unwrap(), true, &Never).unwrap();
            prop_assert_eq!(plain.as_ref(), &traced.bytes[..]);
            let is_normal = normalizer.is_normal(text.as_bytes(), &Never).unwrap();
            prop_assert!(!is_normal || plain.as_ref() == text.as_bytes());
            for [start, end] in traced.origins.unwrap() {
                prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end) && start <= end);
            }
        }
    }
}
