//! Decoding by steps, as a list of Hugging Face's decoders does: each makes new tokens of the list of tokens, which are
//! joined at the end.
//!
//! If every step makes one token of each token, what each token becomes is computed once, for the first place and for
//! later ones. Otherwise the steps are applied to each list.

mod steps;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Never, Pacer};
use crate::memory;
use crate::vocabulary::{TokenId, Vocabulary};

use super::OnInvalid;
use steps::{Step, TokenList, append_letters};

/// The text of a list between two steps has at most this many bytes.
const MAX_BYTES: usize = 1 << 30;

/// The text of a single token between two steps has at most this many bytes.
const MAX_FORM: usize = 1 << 24;

/// What tokens become has at most this many bytes.
const MAX_FORMS: usize = 1 << 28;

/// The texts between steps together, with the cost of each, when what tokens become is computed.
const MAX_WORK: usize = 1 << 30;

/// The cost of a step of one token, in bytes of text.
const STEP_COST: usize = 32;

/// A step of a decoding; the fields are those of Hugging Face's decoders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodingStep {
    /// One token of the bytes whose letters the tokens are.
    ByteLevel,
    /// With a space before each token but the first, or without its prefix if it has that.
    WordPiece {
        /// The prefix of tokens inside words.
        prefix: String,
        /// Whether each token is without spaces before punctuation and some endings.
        cleans_up: bool,
    },
    /// With a space in place of a symbol.
    Metaspace {
        /// The symbol.
        symbol: char,
        /// Whether the first token is without it instead.
        strips_first: bool,
    },
    /// With a space in place of a suffix, and without it in the last token.
    BpeDecoder {
        /// The suffix of tokens that end words.
        suffix: String,
    },
    /// With characters in place of tokens of bytes, such as `<0x41>`.
    ByteFallback,
    /// All tokens as one.
    Fuse,
    /// Each token without some characters at its ends.
    StripEnds {
        /// The character.
        content: char,
        /// How often it is left out at the start.
        start: usize,
        /// How often it is left out at the end.
        stop: usize,
    },
    /// With one text in place of another in each token.
    Replace {
        /// What is replaced; an empty text is at both sides of each character.
        pattern: String,
        /// What is put in its place.
        content: String,
    },
    /// With a text in place of each match of a regex in each token.
    ReplaceMatches {
        /// The regex.
        regex: String,
        /// What is put in place of its matches.
        content: String,
    },
    /// Repeated tokens once, without the pad token.
    Ctc {
        /// The pad token.
        pad: String,
        /// What becomes a space if the text is cleaned up.
        word_delimiter: String,
        /// Whether each token is without spaces before punctuation and some endings.
        cleans_up: bool,
    },
    /// With a space before each token but the first.
    Spaced,
}

/// How ids are decoded: the names of tokens, and the steps that are applied to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoding {
    /// The name of each token of the vocabulary; those of added tokens are their texts.
    pub names: Vec<Option<String>>,
    /// The steps, in order.
    pub steps: Vec<DecodingStep>,
}

/// What tokens become, end to end. Holes are known from the vocabulary.
#[derive(Debug, Default)]
struct Forms {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Forms {
    fn push(&mut self, form: impl FnOnce(&mut Vec<u8>), len: usize) -> Result<()> {
        if self.bytes.len().saturating_add(len) > MAX_FORMS {
            let reason = format!("the decoded tokens together are longer than {MAX_FORMS} bytes.");
            return Err(Error::Limit { reason });
        }
        memory::try_reserve(&mut self.bytes, len)?;
        memory::try_reserve(&mut self.ends, 1)?;
        form(&mut self.bytes);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn get(&self, id: TokenId) -> &[u8] {
        let index = id as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

enum Kind {
    /// What each token becomes as the first one, and after others.
    Forms { first: Forms, later: Forms },
    /// Steps that are applied to each list, and the name of the first that needs all of it.
    Steps { names: Forms, steps: Vec<Step>, whole: &'static str },
}

/// A decoding, ready to be applied.
pub(super) struct Compiled(Kind);

impl Compiled {
    /// Fails for a regex that is not supported, and unless exactly the tokens of `vocabulary` have names.
    pub(super) fn new(decoding: Decoding, vocabulary: &Vocabulary) -> Result<Compiled> {
        let Decoding { names, steps } = decoding;
        let has_name = |id: usize| names.get(id).is_some_and(Option::is_some);
        let size = names.len().max(vocabulary.size());
        if let Some(id) = (0..size).find(|&id| has_name(id) != vocabulary.get(id as TokenId).is_some()) {
            let reason = format!("decoding needs a name of each token, which does not fit token {id}.");
            return Err(Error::Vocabulary { reason });
        }
        let mut steps: Vec<Step> = steps.into_iter().map(Step::new).collect::<Result<_>>()?;
        // The tokens are joined at the end anyway.
        while matches!(steps.last(), Some(Step::Fuse)) {
            steps.pop();
        }
        let in_letters = matches!(steps.last(), Some(Step::ByteLevel));
        let alone = &steps[..steps.len() - usize::from(in_letters)];
        if let Some(whole) = alone.iter().find_map(Step::needs_whole_list) {
            let mut found = Forms::default();
            for name in &names {
                let name = name.as_deref().unwrap_or_default();
                found.push(|bytes| bytes.extend_from_slice(name.as_bytes()), name.len())?;
            }
            return Ok(Compiled(Kind::Steps { names: found, steps, whole }));
        }
        let mut work = 0;
        let mut forms = |is_begun| {
            let mut found = Forms::default();
            for name in &names {
                let mut list = TokenList::new(MAX_FORM);
                if let Some(name) = name {
                    list.push(name)?;
                }
                for step in alone {
                    list = step.apply(&list, is_begun, &Never)?;
                    work += list.text().len() + STEP_COST;
                    if work > MAX_WORK {
                        let reason = "the steps of the decoding take too long for this vocabulary.".into();
                        return Err(Error::Limit { reason });
                    }
                }
                let form = list.text();
                let append = |bytes: &mut Vec<u8>| match in_letters {
                    true => append_letters(form, bytes),
                    false => bytes.extend_from_slice(form.as_bytes()),
                };
                found.push(append, form.len())?;
            }
            Ok(found)
        };
        Ok(Compiled(Kind::Forms { first: forms(false)?, later: forms(true)? }))
    }

    /// The name of a step that needs the whole list of tokens, so that single tokens have no text.
    pub(super) fn whole(&self) -> Option<&'static str> {
        match &self.0 {
            Kind::Forms { .. } => None,
            Kind::Steps { whole, .. } => Some(whole),
        }
    }

    /// Whether a step puts U+FFFD for bytes that are not UTF-8, so that it is not known later that there were any.
    pub(super) fn replaces_invalid(&self) -> bool {
        matches!(&self.0, Kind::Steps { steps, .. } if steps.iter().any(Step::replaces_invalid))
    }

    /// What a token becomes, as the first one or after others. The id has a token, and no step needs the whole list.
    pub(super) fn form(&self, id: TokenId, is_first: bool) -> &[u8] {
        match &self.0 {
            Kind::Forms { first, .. } if is_first => first.get(id),
            Kind::Forms { later, .. } => later.get(id),
            Kind::Steps { names, .. } => names.get(id),
        }
    }

    /// Appends the decoded text of tokens, which all have ids of `vocabulary`, to `bytes`. Only without steps that need
    /// the whole list they may come after others. Where a step replaces bytes that are not UTF-8, they may be an error.
    pub(super) fn append(
        &self,
        ids: &[TokenId],
        vocabulary: &Vocabulary,
        (are_first, on_invalid): (bool, OnInvalid),
        interrupt: &dyn Interrupt,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        let mut list = TokenList::new(MAX_BYTES);
        for (index, &id) in ids.iter().enumerate() {
            if vocabulary.get(id).is_none() {
                return Err(Error::TokenId { index, id, vocab_size: vocabulary.size() as u32 });
            }
            let form = self.form(id, are_first && index == 0);
            pacer.after_text(form.len())?;
            if self.whole().is_none() {
                memory::try_reserve(bytes, form.len())?;
                bytes.extend_from_slice(form);
            } else {
                list.push(std::str::from_utf8(form).map_err(|_| names_are_text())?)?;
            }
        }
        let Kind::Steps { steps, .. } = &self.0 else { return Ok(()) };
        for step in steps {
            if on_invalid == OnInvalid::Fail {
                step.check_invalid(&list, interrupt)?;
            }
            list = step.apply(&list, false, interrupt)?;
        }
        memory::try_reserve(bytes, list.text().len())?;
        bytes.extend_from_slice(list.text().as_bytes());
        Ok(())
    }
}

fn names_are_text() -> Error {
    Error::Internal { reason: "the name of a token is no text.".into() }
}
