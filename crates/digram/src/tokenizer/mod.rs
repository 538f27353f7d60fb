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
mod encoding;
mod fits;
mod given_cuts;
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

use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::added_tokens::{AddedToken, AddedTokens};
use crate::encode::{Affixes, Algorithm, Encoder, KernelKind, OnUnknown, ScratchPool, Unit, Unknown};
use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::Never;
use crate::merges::Merge;
use crate::model::Model;
use crate::normalize::Normalizer;
use crate::pretokenize::Pretokenizer;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};

use given_cuts::GivenCuts;
use slots::TokenSlots;
use word_forms::WordForms;

pub use batch::{Documents, EncodedPart, ReceiveIds};
pub use beginnings::beginnings;
pub use chunks::Chunk;
pub use decode::{FlatBytes, OnInvalid};
pub use decoder::Decoder;
pub use decoding::{Decoding, DecodingStep};
pub use dropout::WithDropout;
pub use encoding::TextIds;
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
