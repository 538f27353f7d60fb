//! Words of a text as it was given, whose ids are cached.
//!
//! A normalizer that cuts text into words changes each of them on its own: a text can be cut before it is normalized
//! where two characters decide that its words are those of its two parts. So words that were encoded before, as most
//! of a text are, need not be normalized and split again.

use super::Tokenizer;
use super::encoding::push_added;
use super::given_cuts::{Ahead, Decides, GivenCuts};
use crate::added_tokens::{AddedMatch, AddedTokens, OnSpecial};
use crate::encode::{EncodeWords, Encoder, GROUP, Group, Scratch, Sink};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::normalize::{JoinedTexts, Normalizer};
use crate::vocabulary::TokenId;

/// Computes the ids of words of a text.
struct NewWords<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    special: OnSpecial<'a>,
    interrupt: &'a dyn Interrupt,
}

impl EncodeWords for NewWords<'_> {
    fn encode(
        &mut self,
        words: &[[usize; 2]],
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let normalizer = self.tokenizer.normalizer.as_deref();
        if let Some(normalizer) = normalizer.filter(|normalizer| normalizer.joins_texts()) {
            let mut joined = std::mem::take(&mut scratch.joined);
            // They are nearly the same as the words that are cached.
            scratch.keeps_pretokens = false;
            let encoded = self.encode_joined(normalizer, words, &mut joined, scratch, ids, ends);
            scratch.keeps_pretokens = true;
            scratch.joined = joined;
            if encoded.is_ok() {
                return Ok(());
            }
            // The first error is found again, with its place.
            ids.clear();
            ends.clear();
        }
        for &[start, end] in words {
            let word = &self.text[start..end];
            let encoded = self.tokenizer.each_normalized(word, self.special, scratch, self.interrupt, ids);
            encoded.map_err(|error| error.shifted(start))?;
            ends.push(ids.len());
        }
        Ok(())
    }
}

impl NewWords<'_> {
    /// The same for words that are cut together once each is normalized.
    fn encode_joined(
        &self,
        normalizer: &Normalizer,
        words: &[[usize; 2]],
        joined: &mut JoinedTexts,
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let NewWords { tokenizer, text, interrupt, .. } = *self;
        let texts = words.iter().map(|&[start, end]| &text[start..end]);
        normalizer.push_texts(texts, joined, interrupt)?;
        let words = joined.words();
        if tokenizer.encoder.encodes_new_alone() {
            let bounds: Vec<usize> = joined.ends().collect();
            let rest = &mut &bounds[..];
            tokenizer.for_words(words, 0, joined.word_ends(), interrupt, |start, pretoken_ends| {
                let group = Group::new(words, start, pretoken_ends);
                tokenizer.encoder.encode_alone_each(group, rest, scratch, interrupt, ids, ends)
            })?;
            ends.extend(rest.iter().map(|_| ids.len()));
            return Ok(());
        }
        for (start, word_ends) in joined.each() {
            tokenizer.for_words(words, start, word_ends, interrupt, |start, ends| {
                tokenizer.encoder.encode(Group::new(words, start, ends), scratch, interrupt, ids)
            })?;
            ends.push(ids.len());
        }
        Ok(())
    }
}

impl Tokenizer {
    /// Where given text is cut, if words of it can be encoded one by one.
    #[inline]
    pub(super) fn given_cuts(&self, special: OnSpecial<'_>) -> Option<&GivenCuts> {
        // Tokens that are found in normalized text may reach over several words.
        let is_late = || self.recognized(special).is_some_and(|set| set.has_pass(true));
        self.given_cuts.as_deref().filter(|_| !is_late())
    }

    /// Emits the ids of a text that is cut into words before it is normalized.
    pub(super) fn each_of_given(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let found = self.recognized(special).map(|set: &AddedTokens| set.matches_of_pass(false, text));
        // Whether a token stands between others depends on the whole text, so that words are not searched again.
        let none = AddedTokens::new(Vec::new())?;
        let plain = OnSpecial::Allow(&none);
        let mut position = 0;
        for AddedMatch { range, token } in found.into_iter().flatten() {
            if position < range.start {
                self.each_given_word(cuts, text, position..range.start, plain, scratch, interrupt, sink)?;
            }
            push_added(special, token, range.start, sink)?;
            position = range.end;
        }
        self.each_given_word(cuts, text, position..text.len(), plain, scratch, interrupt, sink)
    }

    /// Emits the ids of a part of a text between added tokens.
    #[allow(clippy::too_many_arguments)]
    fn each_given_word(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        part: std::ops::Range<usize>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (start, part) = (part.start, &text[part]);
        let mut ends = std::mem::take(&mut scratch.given_ends);
        let encoded = self.each_word_of(cuts, part, &mut ends, special, scratch, interrupt, sink);
        scratch.given_ends = ends;
        encoded.map_err(|error| error.shifted(start))
    }

    #[allow(clippy::too_many_arguments)]
    fn each_word_of(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        ends: &mut Vec<usize>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (mut start, mut pacer) = (0, Pacer::new(interrupt));
        let mut new = NewWords { tokenizer: self, text, special, interrupt };
        ends.clear();
        let Some(normalizer) = self.normalizer.as_deref() else { return Ok(()) };
        let decides = Decides { normalizer, pretokenizer: &self.pretokenizer };
        let (mut word, mut at, mut ahead) = (0, 0, Ahead::default());
        while word < text.len() {
            at = cuts.next(decides, text, at, &mut ahead, &mut pacer)?;
            let is_long = at - word > Encoder::LONGEST_GIVEN;
            if !is_long {
                ends.push(at);
            }
            if ends.len() == GROUP || !ends.is_empty() && (is_long || at == text.len()) {
                let last = ends[ends.len() - 1];
                pacer.after_text(last - start)?;
                let group = Group::new(text, start, ends);
                self.encoder.encode_given(group, scratch, interrupt, sink, &mut new)?;
                ends.clear();
                start = last;
            }
            if is_long {
                pacer.after_text(at - word)?;
                let encoded = self.each_normalized(&text[word..at], special, scratch, interrupt, sink);
                encoded.map_err(|error| error.shifted(word))?;
                start = at;
            }
            word = at;
        }
        Ok(())
    }
}
