//! A tokenizer: an immutable value that encodes and decodes.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use crate::encode::{AT_ONCE, Encoder, OnUnknown, Scratch, Sink, Tally, Unit};
use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::merges::{Merge, Merges};
use crate::pretokenize::Pretokenizer;
use crate::special::{OnSpecial, SpecialTokens};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId, Vocabulary};
use crate::watch::{Watch, in_parallel};

/// Everything that decides what a tokenizer does, as plain values.
#[derive(Debug)]
pub struct Definition {
    /// The bytes of each ordinary token; the index is the id. `None` is a hole or a special token.
    pub tokens: Vec<Option<Vec<u8>>>,
    /// The merges in rank order.
    pub merges: Vec<Merge>,
    /// Special tokens with their ids.
    pub special_tokens: Vec<(String, TokenId)>,
    /// What text is made of before anything is merged.
    pub unit: Unit,
    /// How text is cut before merging.
    pub pretokenizer: Arc<Pretokenizer>,
    /// Whether a whole pretoken that is a token becomes it even where the merges say otherwise.
    pub ignore_merges: bool,
}

/// Encodes text to ids and decodes ids to text. Immutable, so any number of threads may share it.
pub struct Tokenizer {
    encoder: Encoder,
    pretokenizer: Arc<Pretokenizer>,
    special: SpecialTokens,
    /// Ordinary and special tokens together, for decoding.
    all: Vocabulary,
    /// From bytes to id for all of them, made at the first question.
    index: OnceLock<TokenIndex>,
}

/// How decoded bytes that are no UTF-8 become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// U+FFFD stands for them.
    Replace,
    /// An error.
    Fail,
}

/// Text encoded between two questions to the watch, in bytes.
const BETWEEN_CHECKS: usize = 1 << 16;

/// A task of a batch holds about this much text: enough to outweigh handing it out.
const TASK_BYTES: usize = 1 << 16;

/// Below this much text a batch stays on the calling thread: starting others takes longer.
const ALONE_BYTES: usize = 1 << 17;

impl Tokenizer {
    /// Checks a definition and makes a tokenizer of it.
    pub fn new(definition: Definition) -> Result<Tokenizer> {
        let Definition { tokens, merges, special_tokens, unit, pretokenizer, ignore_merges } = definition;
        let special = SpecialTokens::new(special_tokens)?;
        let all = with_special_tokens(&tokens, &special)?;
        let vocabulary = Vocabulary::new(tokens)?;
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
                if all.get(*id).is_none() {
                    return Err(Error::Vocabulary {
                        reason: format!("the unknown token {id} is not in the vocabulary."),
                    });
                }
                Vec::new()
            }
            Unit::Char { on_unknown: OnUnknown::Fail } => Vec::new(),
        };
        let merges = Merges::new(merges, &vocabulary)?;
        let encoder = Encoder::new(vocabulary, merges, unit, ignore_merges, |id| !fallback.contains(&id))?;
        Ok(Tokenizer { encoder, pretokenizer, special, all, index: OnceLock::new() })
    }

    /// One more than the highest id.
    pub fn vocab_size(&self) -> usize {
        self.all.size()
    }

    /// How many tokens there are, special ones included.
    pub fn token_count(&self) -> usize {
        self.all.token_count()
    }

    /// The bytes of a token; a special token's are its text.
    pub fn token(&self, id: TokenId) -> Option<&[u8]> {
        self.all.get(id)
    }

    /// The id of the token with these bytes. Of a character and a fallback byte that look alike it
    /// is the character's.
    pub fn id_of(&self, bytes: &[u8]) -> Option<TokenId> {
        let all = || TokenIndex::new(&self.all.iter().collect::<Vec<_>>());
        self.encoder.whole(bytes).or_else(|| self.index.get_or_init(all).get(bytes))
    }

    /// The merges in rank order.
    pub fn merges(&self) -> &[Merge] {
        self.encoder.merges().in_order()
    }

    /// The special tokens with their ids.
    pub fn special_tokens(&self) -> &SpecialTokens {
        &self.special
    }

    /// How text is cut.
    pub fn pretokenizer(&self) -> &Pretokenizer {
        &self.pretokenizer
    }

    /// The tokens that no text becomes by merging, in rising order.
    pub fn unreachable(&self) -> &[TokenId] {
        self.encoder.unreachable()
    }

    /// Encodes `text` and appends the ids to `ids`; on an error `ids` is as it was.
    ///
    /// Takes time near-linear in the text for any text.
    pub fn encode(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        watch: &dyn Watch,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let before = ids.len();
        self.each_id(text, special, &mut Scratch::new(text.len()), watch, ids)
            .inspect_err(|_| ids.truncate(before))
    }

    /// The number of ids that [`Tokenizer::encode`] would give, without storing them.
    pub fn count(&self, text: &[u8], special: OnSpecial<'_>, watch: &dyn Watch) -> Result<usize> {
        let mut tally = Tally(0);
        self.each_id(text, special, &mut Scratch::new(text.len()), watch, &mut tally)?;
        Ok(tally.0)
    }

    /// Encodes several texts, on up to `threads` threads: all ids in one run, and where each text
    /// ends in it, with a zero before the first.
    ///
    /// An error names the text by its index.
    pub fn encode_batch<T: AsRef<[u8]> + Sync>(
        &self,
        texts: &[T],
        special: OnSpecial<'_>,
        threads: usize,
        watch: &dyn Watch,
    ) -> std::result::Result<(Vec<TokenId>, Vec<u64>), (usize, Error)> {
        let (tasks, bytes) = tasks(texts);
        let threads = if bytes < ALONE_BYTES { 1 } else { threads };
        let failed = std::sync::Mutex::new(None);
        let parts = in_parallel(
            threads,
            tasks.len(),
            watch,
            || Scratch::new(bytes),
            |scratch, task, watch| {
                let mut ids: Vec<TokenId> = Vec::new();
                let mut ends = Vec::with_capacity(tasks[task].len());
                for index in tasks[task].clone() {
                    let text = texts[index].as_ref();
                    if let Err(error) = self.each_id(text, special, scratch, watch, &mut ids) {
                        let mut failed = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        if failed.is_none_or(|other| index < other) {
                            *failed = Some(index);
                        }
                        return Err(error);
                    }
                    ends.push(ids.len() as u64);
                }
                Ok((ids, ends))
            },
        );
        let mut parts = match parts {
            Ok(parts) => parts,
            Err(error) => {
                let index = failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
                return Err((index.unwrap_or(0), error));
            }
        };
        let mut offsets = Vec::with_capacity(texts.len() + 1);
        offsets.push(0);
        if parts.len() == 1 {
            let (ids, ends) = parts.pop().expect("one part");
            offsets.extend(ends);
            return Ok((ids, offsets));
        }
        let mut ids = Vec::with_capacity(parts.iter().map(|(ids, _)| ids.len()).sum());
        for (part, ends) in parts {
            let start = ids.len() as u64;
            offsets.extend(ends.into_iter().map(|end| start + end));
            ids.extend(part);
        }
        Ok((ids, offsets))
    }

    fn each_id(
        &self,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let find = |from| match special {
            OnSpecial::Text => None,
            OnSpecial::Parse | OnSpecial::Fail => self.special.find(text, from),
            OnSpecial::Allow(allowed) => allowed.find(text, from),
        };
        let mut at = 0;
        while let Some((start, end, (token, id))) = find(at) {
            if let OnSpecial::Fail = special {
                return Err(Error::SpecialToken { token: token.clone(), offset: start });
            }
            self.each_ordinary(&text[at..start], at, scratch, watch, sink)?;
            sink.one(*id);
            at = end;
        }
        self.each_ordinary(&text[at..], at, scratch, watch, sink)
    }

    /// Encodes text without special tokens that starts at `offset` of the caller's text.
    fn each_ordinary(
        &self,
        text: &[u8],
        offset: usize,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut check = BETWEEN_CHECKS;
        let flow = self.pretokenizer.try_for_many(text, |mut start, ends| {
            let encode = |ends: &[usize]| {
                let start = std::mem::replace(&mut start, ends[ends.len() - 1]);
                self.encoder.encode(text, start, ends, scratch, watch, sink)?;
                if start < check {
                    return Ok(());
                }
                check = start + BETWEEN_CHECKS;
                watch.check()
            };
            match ends.chunks(AT_ONCE).try_for_each(encode) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error.shifted(offset)),
            }
        });
        match flow {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    /// Appends the bytes of `ids` to `bytes`; on an error `bytes` is as it was.
    pub fn decode(&self, ids: &[TokenId], bytes: &mut Vec<u8>) -> Result<()> {
        let before = bytes.len();
        for (index, &id) in ids.iter().enumerate() {
            match self.all.get(id) {
                Some(token) => bytes.extend_from_slice(token),
                None => {
                    bytes.truncate(before);
                    return Err(Error::TokenId { index, id, vocab_size: self.all.size() as u32 });
                }
            }
        }
        Ok(())
    }

    /// The text of `ids`.
    pub fn decode_text(&self, ids: &[TokenId], on_invalid: OnInvalid) -> Result<String> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        self.decode(ids, &mut bytes)?;
        String::from_utf8(bytes).or_else(|error| match on_invalid {
            OnInvalid::Replace => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            OnInvalid::Fail => Err(Error::DecodedInvalidUtf8 { offset: error.utf8_error().valid_up_to() }),
        })
    }
}

impl Tokenizer {
    /// The texts of several sequences of ids, on up to `threads` threads.
    ///
    /// An error names the sequence by its index.
    pub fn decode_batch<T: AsRef<[TokenId]> + Sync>(
        &self,
        batch: &[T],
        on_invalid: OnInvalid,
        threads: usize,
        watch: &dyn Watch,
    ) -> std::result::Result<Vec<String>, (usize, Error)> {
        let ids: usize = batch.iter().map(|ids| ids.as_ref().len()).sum();
        let threads = if ids < ALONE_BYTES / 4 { 1 } else { threads };
        let size = batch.len().div_ceil(threads * 8).max(1);
        let texts = in_parallel(
            threads,
            batch.len().div_ceil(size),
            watch,
            || (),
            |(), task, _| {
                let range = task * size..batch.len().min((task + 1) * size);
                Ok(range
                    .map(|index| self.decode_text(batch[index].as_ref(), on_invalid).map_err(|e| (index, e)))
                    .collect())
            },
        );
        let texts: Vec<std::result::Result<Vec<String>, (usize, Error)>> =
            texts.map_err(|error| (0, error))?;
        Ok(texts.into_iter().collect::<std::result::Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

/// Ordinary and special tokens in one table.
fn with_special_tokens(tokens: &[Option<Vec<u8>>], special: &SpecialTokens) -> Result<Vocabulary> {
    let mut named: HashMap<usize, &str> = HashMap::new();
    for (text, id) in special.tokens() {
        let id = *id as usize;
        if id >= MAX_VOCAB_SIZE {
            let reason = format!("special token {text:?} has the id {id}; ids are below {MAX_VOCAB_SIZE}.");
            return Err(Error::Vocabulary { reason });
        }
        if tokens.get(id).is_some_and(|token| token.is_some()) {
            let reason = format!("special token {text:?} has the id {id}, which an ordinary token has too.");
            return Err(Error::Vocabulary { reason });
        }
        named.insert(id, text);
    }
    let size = named.keys().max().map_or(0, |highest| highest + 1).max(tokens.len());
    Vocabulary::new((0..size).map(|id| match named.get(&id) {
        Some(text) => Some(text.as_bytes()),
        None => tokens.get(id)?.as_deref(),
    }))
}

/// Ranges of texts of about [`TASK_BYTES`] each, and the bytes of all.
fn tasks<T: AsRef<[u8]>>(texts: &[T]) -> (Vec<std::ops::Range<usize>>, usize) {
    let mut tasks = Vec::new();
    let (mut start, mut bytes, mut total) = (0, 0, 0);
    for (index, text) in texts.iter().enumerate() {
        bytes += text.as_ref().len();
        if bytes >= TASK_BYTES {
            tasks.push(start..index + 1);
            (start, total, bytes) = (index + 1, total + bytes, 0);
        }
    }
    if start < texts.len() {
        tasks.push(start..texts.len());
    }
    (tasks, total + bytes)
}
