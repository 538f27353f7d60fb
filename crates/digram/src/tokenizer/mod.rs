//! A tokenizer: an immutable value that encodes and decodes.

mod batch;
mod beginnings;
mod between;
mod borders;
mod chunks;
mod decode;
mod decoded_spans;
mod decoder;
mod decoding;
mod dropout;
mod fits;
mod given_words;
mod intervals;
mod joined;
mod lengths;
mod pretokens;
mod running;
mod segmentations;
mod segments;
#[cfg(test)]
mod simd_levels;
mod slots;
mod spans;
mod stream;
mod tail;
mod truncate;
mod word_forms;
mod working;

use std::ops::{Deref, Range};
use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::added_tokens::{AddedMatch, AddedToken, AddedTokens, OnSpecial};
use crate::encode::{
    Affixes, Algorithm, Encoder, GROUP, Group, IdCount, KernelKind, OnUnknown, Pooled, Scratch, ScratchPool,
    Sink, Unit, Unknown,
};
use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::{Interrupt, Never, Pacer};
use crate::memory;
use crate::merges::Merge;
use crate::model::Model;
use crate::normalize::Normalizer;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::text::{AsText, Text};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

use given_words::GivenCuts;
use slots::TokenSlots;
use word_forms::WordForms;
use working::Working;

pub use batch::{Documents, EncodedPart, ReceiveIds};
pub use beginnings::beginnings;
pub use chunks::Chunk;
pub use decode::{FlatBytes, OnInvalid};
pub use decoder::Decoder;
pub use decoding::{Decoding, DecodingStep};
pub use dropout::WithDropout;
pub use intervals::Intervals;
pub(crate) use pretokens::Pretokens;
pub use running::Running;
pub use spans::{EncodedTexts, OffsetUnit};
pub use stream::Stream;
pub use truncate::Side;

/// The definition of a tokenizer, as plain values.
#[derive(Debug)]
pub struct Definition {
    /// The bytes of each ordinary token; the index is the id. `None` is a hole or a special token.
    pub tokens: Vec<Option<Vec<u8>>>,
    /// The merges in rank order.
    pub merges: Vec<Merge>,
    /// What happens to text before it is encoded.
    pub pipeline: Pipeline,
    /// The units of text before any merge.
    pub unit: Unit,
    /// How pretokens become ids.
    pub algorithm: Algorithm,
}

/// What happens to text before it is encoded, and after it is decoded: some tokens are found in it as a whole, the
/// text between them is normalized, and the result is split into pretokens.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The tokens that are found in text as a whole.
    pub added_tokens: Vec<AddedToken>,
    /// What changes the text between them, if anything does.
    pub normalizer: Option<Arc<Normalizer>>,
    /// What splits it into pretokens.
    pub pretokenizer: Arc<Pretokenizer>,
    /// Whether decoded text is without the space that it starts with, if it does.
    pub strips_first_space: bool,
    /// Whether decoded text is without spaces before punctuation and some endings. Only for WordPiece and WordLevel, and
    /// only if the first space is left out.
    pub cleans_up: bool,
    /// How ids are decoded, if that is by steps; the two fields before do not apply then.
    pub decoding: Option<Decoding>,
}

/// A pipeline that only splits.
impl<P: Into<Arc<Pretokenizer>>> From<P> for Pipeline {
    fn from(pretokenizer: P) -> Pipeline {
        let pretokenizer = pretokenizer.into();
        Pipeline {
            added_tokens: Vec::new(),
            normalizer: None,
            pretokenizer,
            strips_first_space: false,
            cleans_up: false,
            decoding: None,
        }
    }
}

/// Encodes text to ids and decodes ids to text. Immutable, so any number of threads may share it.
pub struct Tokenizer {
    encoder: Encoder,
    normalizer: Option<Arc<Normalizer>>,
    pretokenizer: Arc<Pretokenizer>,
    added: AddedTokens,
    /// Those that are not special, which are found in all text.
    always: AddedTokens,
    strips_first_space: bool,
    /// Whether decoded text is without the space at the end of its last token, if that is not an added one.
    strips_last_space: bool,
    /// The tokens in decoded text, if they differ from those of `vocabulary`.
    word_forms: Option<Box<WordForms>>,
    /// How ids are decoded, if that is by steps.
    decoding: Option<Box<decoding::Compiled>>,
    /// Ordinary and added tokens together, for decoding.
    vocabulary: Vocabulary,
    /// An index of all tokens, built at first use.
    index: OnceBox<TokenIndex>,
    /// The tokens in slots for decoding, built at first use.
    slots: OnceBox<TokenSlots>,
    /// The maximum number of bytes of text per id.
    max_bytes: usize,
    ignore_merges: bool,
    /// Where given text is cut into words that are cached, if it can be.
    given_cuts: Option<Box<GivenCuts>>,
    /// Scratch memory for the next call.
    scratch_pool: ScratchPool,
}

/// Whether the first merges join each byte with a space behind it.
fn joins_spaces_first(model: &Model) -> bool {
    let mut joined = [false; 256];
    for merge in model.merges.in_order().iter().take(256) {
        let (left, right) = (model.vocabulary.get(merge.left), model.vocabulary.get(merge.right));
        if let (Some(&[byte]), Some(b" ")) = (left, right) {
            joined[usize::from(byte)] = true;
        }
    }
    joined.iter().all(|&is_joined| is_joined)
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokenizer of {} tokens", self.token_count())
    }
}

impl Tokenizer {
    /// Builds a tokenizer from a definition, which is validated.
    pub fn new(definition: Definition) -> Result<Tokenizer> {
        let Definition { tokens, merges, pipeline, unit, algorithm } = definition;
        let model = Model::new(Vocabulary::new(tokens)?, merges)?;
        Tokenizer::with_model(model, pipeline, unit, algorithm)
    }

    /// A tokenizer from validated tokens and merges; the other arguments are as in a [`Definition`].
    pub fn with_model(
        model: Model,
        pipeline: Pipeline,
        unit: Unit,
        algorithm: Algorithm,
    ) -> Result<Tokenizer> {
        let vocabulary = &model.vocabulary;
        let Pipeline { added_tokens, normalizer, pretokenizer, strips_first_space, cleans_up, decoding } =
            pipeline;
        let added = AddedTokens::new(with_normal_forms(added_tokens, normalizer.as_deref())?)?;
        let always = added.allowing(&[])?;
        let all_tokens = with_added_tokens(vocabulary, &added)?;
        let fallback: Vec<TokenId> = match &unit {
            Unit::Byte { ids } => {
                for (byte, &id) in ids.iter().enumerate() {
                    if vocabulary.get(id) != Some(&[byte as u8]) {
                        return Err(Error::Vocabulary {
                            reason: format!("byte 0x{byte:02x} has no token of its own."),
                        });
                    }
                }
                Vec::new()
            }
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } => {
                if let Some(byte) = (0..256).find(|&byte| vocabulary.get(ids[byte]) != Some(&[byte as u8])) {
                    return Err(Error::Vocabulary {
                        reason: format!("byte 0x{byte:02x} has no fallback token."),
                    });
                }
                ids.to_vec()
            }
            Unit::Char { on_unknown: OnUnknown::Token(id) } => {
                if all_tokens.get(*id).is_none() {
                    return Err(Error::Vocabulary {
                        reason: format!("the unknown token {id} is not in the vocabulary."),
                    });
                }
                Vec::new()
            }
            Unit::Char { on_unknown: OnUnknown::Fail } => Vec::new(),
        };
        let ordinary = |id| !fallback.contains(&id);
        let decoding = match decoding {
            Some(decoding) => Some(Box::new(decoding::Compiled::new(decoding, &all_tokens)?)),
            None => None,
        };
        let word_forms = match &algorithm {
            _ if decoding.is_some() => None,
            Algorithm::WordPiece(rules) if strips_first_space => {
                let is_added = |id| added.contains(id);
                Some(Box::new(WordForms::new(&all_tokens, is_added, &rules.prefix, cleans_up)?))
            }
            Algorithm::Ranked { affixes: Affixes { prefix: Some(prefix), suffix }, .. }
                if strips_first_space || suffix.is_some() =>
            {
                let is_added = |id| added.contains(id);
                Some(Box::new(match suffix.is_some() {
                    true => WordForms::named(&all_tokens, is_added, prefix)?,
                    false => WordForms::new(&all_tokens, is_added, prefix, cleans_up)?,
                }))
            }
            Algorithm::WordLevel { splits: false } if strips_first_space => {
                let is_added = |id| added.contains(id);
                Some(Box::new(WordForms::new(&all_tokens, is_added, "", cleans_up)?))
            }
            _ if cleans_up => {
                let reason =
                    "only WordPiece or WordLevel that leaves out the first space can clean up decoded text.";
                return Err(Error::Option { reason: reason.into() });
            }
            _ => None,
        };
        let ignore_merges = matches!(algorithm, Algorithm::Ranked { ignore_merges: true, .. });
        let affixes = match &algorithm {
            Algorithm::Ranked { affixes, .. } => affixes.clone(),
            _ => Affixes::NONE,
        };
        if let Unit::Byte { .. } = &unit
            && affixes != Affixes::NONE
            && (affixes.prefix.is_some() || !joins_spaces_first(&model))
        {
            let reason = "with bytes as units, words have no prefix, and the first 256 merges join each byte with the space that ends words.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        if affixes != Affixes::NONE && !fallback.is_empty() {
            let reason = "with affixes of words, unknown characters are not bytes.";
            return Err(Error::Option { reason: reason.into() });
        }
        let encoder = Encoder::new(model, unit, &pretokenizer, algorithm, ordinary)?;
        // An unknown character can become a single id too, and so can a pretoken of any length.
        let longest = all_tokens
            .iter()
            .map(|(_, token)| token.len())
            .fold(char::MAX.len_utf8() + affixes.spaces(), usize::max);
        let is_bounded = !matches!(encoder.unknown(), Unknown::Pretoken(_) | Unknown::Marked(_));
        let max_bytes = if is_bounded { longest } else { usize::MAX };
        let (index, slots, scratch_pool) = (OnceBox::new(), OnceBox::new(), ScratchPool::default());
        let normalizer = normalizer.filter(|normalizer| !normalizer.is_empty());
        let given_cuts = GivenCuts::of(normalizer.as_deref(), &pretokenizer);
        Ok(Tokenizer {
            encoder,
            normalizer,
            pretokenizer,
            added,
            always,
            strips_first_space,
            strips_last_space: affixes.ends() && decoding.is_none(),
            word_forms,
            decoding,
            vocabulary: all_tokens,
            index,
            slots,
            max_bytes,
            ignore_merges,
            given_cuts,
            scratch_pool,
        })
    }

    /// One more than the highest id.
    pub fn vocab_size(&self) -> usize {
        self.vocabulary.size()
    }

    /// The id of the empty token, if there is one.
    pub fn empty(&self) -> Option<TokenId> {
        self.vocabulary.empty()
    }

    /// The number of tokens, including special ones.
    pub fn token_count(&self) -> usize {
        self.vocabulary.token_count()
    }

    /// The bytes of a token; for a special token, its text.
    pub fn token(&self, id: TokenId) -> Option<&[u8]> {
        self.vocabulary.get(id)
    }

    /// The id of the token with these bytes. If a character and a fallback byte have the same bytes, the id
    /// of the character.
    pub fn token_to_id(&self, bytes: &[u8]) -> Option<TokenId> {
        if bytes.is_empty() {
            return self.vocabulary.empty();
        }
        let build_index = || TokenIndex::new(&self.vocabulary.iter().collect::<Vec<_>>());
        let whole = if self.encoder.has_names() { None } else { self.encoder.whole(bytes) };
        whole.or_else(|| self.index.get_or_init(|| Box::new(build_index())).get(bytes))
    }

    /// The token of a pretoken that is a single token.
    pub(crate) fn word(&self, pretoken: &[u8]) -> Option<TokenId> {
        self.encoder.whole(pretoken)
    }

    /// The ordinary tokens and the merges, for building other tokenizers.
    pub fn model(&self) -> Model {
        self.encoder.model()
    }

    /// The merges in rank order.
    pub fn merges(&self) -> &[Merge] {
        self.encoder.merges().in_order()
    }

    /// The units of text before any merge.
    pub fn unit(&self) -> &Unit {
        self.encoder.unit()
    }

    /// The kind of the kernel. It affects the speed, never the ids.
    pub fn kernel(&self) -> KernelKind {
        self.encoder.kernel()
    }

    /// Whether a pretoken that is a token becomes that token even if the merges give other ids.
    pub fn ignores_merges(&self) -> bool {
        self.ignore_merges
    }

    /// The tokens that are found in text as a whole.
    pub fn added_tokens(&self) -> &AddedTokens {
        &self.added
    }

    /// The normalizer, if the tokenizer has one.
    pub fn normalizer(&self) -> Option<&Arc<Normalizer>> {
        self.normalizer.as_ref()
    }

    /// The pretokenizer.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// The tokens that merging never makes from any text, in ascending order.
    pub fn unreachable(&self) -> &[TokenId] {
        self.encoder.unreachable()
    }

    /// Frees the caches of earlier calls, which [`limit_cache`](crate::encode::limit_cache) limits: by default
    /// to 37 MiB per thread that encoded concurrently, and for all tokenizers of the process together to 256
    /// MiB, or 16 MiB per processor if that is more. The least recently used memory is evicted first. Caches
    /// never change a result, and are rebuilt with use.
    pub fn forget(&self) {
        self.scratch_pool.clear();
    }

    /// Encodes `text` and appends the ids to `ids`. On an error `ids` is unchanged.
    ///
    /// Takes near-linear time for any text.
    pub fn encode(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (text, previous_len) = (text.as_text(), ids.len());
        let scratch = &mut self.scratch_for(text.len_hint(), 1);
        self.each_of(text, special, scratch, interrupt, ids)
            .map(|_| ())
            .inspect_err(|_| ids.truncate(previous_len))
    }

    /// The ids that [`Tokenizer::encode`] gives, in memory that a later call uses again.
    pub fn ids(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<TextIds<'_>> {
        let text = text.as_text();
        let mut scratch = self.scratch_for(text.len_hint(), 1);
        let mut ids = std::mem::take(&mut scratch.ids);
        ids.clear();
        self.each_of(text, special, &mut scratch, interrupt, &mut ids)?;
        scratch.ids = ids;
        Ok(TextIds(scratch))
    }

    /// The number of ids that [`Tokenizer::encode`] would give, without storing them.
    pub fn count(
        &self,
        text: impl AsText,
        special: OnSpecial<'_>,
        interrupt: &dyn Interrupt,
    ) -> Result<usize> {
        let (text, mut count) = (text.as_text(), IdCount(0));
        let scratch = &mut self.scratch_for(text.len_hint(), 1);
        self.each_of(text, special, scratch, interrupt, &mut count)?;
        Ok(count.0)
    }

    /// The memory of one of several threads, which encodes texts of this many bytes together.
    fn scratch_for(&self, bytes: usize, threads: usize) -> Pooled<'_> {
        let mut scratch = self.scratch_pool.take_for(threads);
        self.encoder.expect(bytes, &mut scratch);
        scratch
    }

    /// Emits the ids of a text, and returns its number of bytes in UTF-8.
    #[inline]
    fn each_of(
        &self,
        text: Text<'_>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        if let Text::Utf8(bytes) = text {
            return self.each_id(bytes, special, scratch, interrupt, sink).map(|()| bytes.len());
        }
        let mut converter = std::mem::take(&mut scratch.converter);
        let converted = converter.utf8(text, interrupt);
        let emitted = converted.and_then(|bytes| {
            self.each_id(bytes, special, scratch, interrupt, sink)?;
            Ok(bytes.len())
        });
        scratch.converter = converter;
        emitted
    }

    fn each_id(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(cuts) = self.given_cuts(special) {
            return self.each_of_given(cuts, text, special, scratch, interrupt, sink);
        }
        self.each_normalized(text, special, scratch, interrupt, sink)
    }

    /// Emits the ids of a text that is normalized as a whole.
    fn each_normalized(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let working = self.working(text, special, false, interrupt)?;
        let emitted = self.each_of_working(&working, special, scratch, interrupt, sink);
        emitted.map_err(|error| self.in_given(error, text, special, interrupt))
    }

    /// Emits the ids of a text that is normalized.
    #[inline]
    fn each_of_working(
        &self,
        working: &Working<'_>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (text, mut offset, mut pacer) = (working.text(), 0, Pacer::new(interrupt));
        for AddedMatch { range, token } in working.added_tokens() {
            pacer.after_text(range.end.saturating_sub(offset))?;
            if offset < range.start {
                self.each_of_part(working, offset..range.start, scratch, interrupt, sink)?;
            }
            push_added(special, token, range.start, sink)?;
            offset = range.end;
        }
        self.each_of_part(working, offset..text.len(), scratch, interrupt, sink)
    }

    /// Emits the ids of a part of a normalized text between added tokens.
    #[inline]
    fn each_of_part(
        &self,
        working: &Working<'_>,
        part: Range<usize>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(ends) = working.word_ends(&part) {
            return self.for_words(working.text(), part.start, ends, interrupt, |start, ends| {
                self.encoder.encode(Group::new(working.text(), start, ends), scratch, interrupt, sink)
            });
        }
        let encoded =
            self.each_ordinary(&working.text()[part.clone()], 0, GoesOn::No, scratch, interrupt, sink);
        encoded.map(|_| ()).map_err(|error| error.shifted(part.start))
    }

    /// Calls `visit` with the pretokens of words, up to [`GROUP`] at a time: the start of the first, and the ends of
    /// all.
    fn for_words(
        &self,
        text: &[u8],
        start: usize,
        word_ends: &[usize],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(usize, &[usize]) -> Result<()>,
    ) -> Result<()> {
        let (mut word_start, mut start, mut pacer) = (start, start, Pacer::new(interrupt));
        let mut visit_all = |ends: &[usize]| {
            for ends in ends.chunks(GROUP) {
                let first = std::mem::replace(&mut start, ends[ends.len() - 1]);
                visit(first, ends)?;
                pacer.after_text(start - first)?;
            }
            Ok(())
        };
        if self.pretokenizer.is_whole() {
            return visit_all(word_ends);
        }
        let mut ends = Vec::new();
        for &word_end in word_ends {
            let word = &text[word_start..word_end];
            if self.pretokenizer.cuts_at_spaces() && !word[1..].contains(&b' ') {
                word_start = word_end;
                memory::try_reserve(&mut ends, 1)?;
                ends.push(word_end);
                if ends.len() >= GROUP {
                    visit_all(&ends)?;
                    ends.clear();
                }
                continue;
            }
            self.pretokenizer.for_many(word, 0, GoesOn::No, interrupt, |_, word_pretokens| {
                memory::try_reserve(&mut ends, word_pretokens.len())?;
                ends.extend(word_pretokens.iter().map(|end| word_start + end));
                if ends.len() >= GROUP {
                    visit_all(&ends)?;
                    ends.clear();
                }
                Ok(())
            })?;
            word_start = word_end;
        }
        visit_all(&ends)
    }

    /// Encodes text without special tokens from `from` on. Returns the number of bytes encoded: all, unless
    /// the text may continue in a way that matters.
    fn each_ordinary(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        let rest = &text[from..];
        let encoded = self.pretokenizer.for_many(text, from, goes_on, interrupt, |mut start, ends| {
            ends.chunks(GROUP).try_for_each(|ends| {
                let start = std::mem::replace(&mut start, ends[ends.len() - 1]);
                self.encoder.encode(Group::new(rest, start, ends), scratch, interrupt, sink)
            })
        });
        encoded.map_err(|error| error.shifted(from))
    }
}

/// The ids of one text.
pub struct TextIds<'t>(Pooled<'t>);

impl Deref for TextIds<'_> {
    type Target = [TokenId];

    fn deref(&self) -> &[TokenId] {
        &self.0.ids
    }
}

/// Emits an added token found at byte `offset`.
fn push_added(special: OnSpecial<'_>, token: &AddedToken, offset: usize, sink: &mut impl Sink) -> Result<()> {
    if token.is_special && matches!(special, OnSpecial::Fail) {
        return Err(Error::SpecialToken { token: token.text.clone(), offset });
    }
    sink.reserve(1)?;
    sink.push_id(token.id);
    Ok(())
}

/// The tokens with the normal forms of those that are searched for in normalized text.
fn with_normal_forms(
    mut tokens: Vec<AddedToken>,
    normalizer: Option<&Normalizer>,
) -> Result<Vec<AddedToken>> {
    let Some(normalizer) = normalizer else { return Ok(tokens) };
    for token in tokens.iter_mut().filter(|token| token.matching.normalized) {
        token.normal_form = Some(normalizer.of_token(&token.text, &Never)?);
    }
    Ok(tokens)
}

/// Ordinary and added tokens in one table.
fn with_added_tokens(vocabulary: &Vocabulary, added: &AddedTokens) -> Result<Vocabulary> {
    let mut tokens: Vec<(TokenId, &[u8])> = Vec::new();
    for token in added.tokens() {
        let AddedToken { text, id, .. } = token;
        if *id as usize >= MAX_VOCAB_SIZE {
            let reason = format!("special token {text:?} has the id {id}; ids are below {MAX_VOCAB_SIZE}.");
            return Err(Error::Vocabulary { reason });
        }
        if vocabulary.get(*id).is_some() {
            // Text of its own can become it, too; it is decoded as the ordinary token.
            if !token.is_special {
                continue;
            }
            let reason = format!("special token {text:?} has the id {id}, which an ordinary token has too.");
            return Err(Error::Vocabulary { reason });
        }
        tokens.push((*id, token.pattern().as_bytes()));
    }
    tokens.sort_unstable();
    vocabulary.with(&tokens)
}
