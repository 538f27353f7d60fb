//! Encoding and counting.

use std::sync::{Mutex, PoisonError};

use digram::encode::Dropout;
use digram::text::Text;
use digram::tokenizer::Documents;
use digram::{Error, OnSpecial, memory};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::dropout::with_dropout;
use super::parts::{InputPiece, TextsInParts, is_in_parts};
use super::special::Special;
use super::{Core, KEEP_GIL_BYTES};
use crate::arrays::array;
use crate::arrow::ArrowIds;
use crate::convert::{Text as InputText, stored_text, stored_texts, text};
use crate::errors;
use crate::id_lists::{IdLists, IdObjects, list_of_ids};
use crate::objects::{Objects, SignalChecks, list};
use crate::signals::Signals;
use crate::threads::threads as threads_of;

/// Texts of this size and more are split among threads.
const PARALLEL_BYTES: usize = 1 << 18;

/// The maximum number of characters of a `str` that threads are given as it is stored. Texts in which special
/// tokens are searched for are split among threads only in UTF-8, so longer ones are converted before.
fn longest_stored(special: &Special) -> usize {
    match special.on_special() {
        OnSpecial::Text => usize::MAX,
        _ => 1 << 16,
    }
}

/// A single text that is not in parts.
#[derive(Clone, Copy)]
enum Single<'a, 'py> {
    /// The argument.
    Object(&'a Bound<'py, PyAny>),
    /// A part of the argument.
    Part(InputText<'a>),
}

impl<'a> Single<'a, '_> {
    /// The text, for a call that reads it once.
    fn text(self, special: &Special) -> PyResult<Text<'a>> {
        match self {
            Single::Object(object) => stored_text(object, longest_stored(special), || self.utf8()),
            Single::Part(text) => Ok(Text::Utf8(text.bytes())),
        }
    }

    /// The text in UTF-8, in which a surrogate is an error.
    fn utf8(self) -> PyResult<InputText<'a>> {
        match self {
            Single::Object(object) => InputText::new(object),
            Single::Part(text) => Ok(text),
        }
    }
}

/// The text that an error refers to, made by `input`; `None` if it refers to none.
fn input_for<'a>(
    error: &Error,
    input: impl FnOnce() -> PyResult<InputText<'a>>,
) -> PyResult<Option<InputText<'a>>> {
    match error {
        Error::Surrogate { .. }
        | Error::UnknownCharacter { .. }
        | Error::UnknownWord { .. }
        | Error::SpecialToken { .. } => input().map(Some),
        _ => Ok(None),
    }
}

/// Ids and offsets as arrays.
type FlatArrays<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Ids of any type and the ends of documents, as arrays.
type GatheredArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl Core {
    /// Encode a text: the list of its token ids.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.encode("lower")
    /// [257, 101, 114]
    /// >>> tok.decode([257, 101, 114])
    /// 'lower'
    ///
    /// `text` is a `str`; or `bytes`, which need not be UTF-8; or the parts of one text in a list, in
    /// which a `digram.SpecialToken` is the id of that special token. `special` says what becomes of special
    /// tokens that are spelled out in the text: "text" (the default) encodes them as plain text,
    /// "parse" as their ids, "raise" raises `SpecialTokenError`; a set of them parses these and leaves
    /// all others text.
    ///
    /// >>> chat = tok.with_special_tokens(["<|end|>"])
    /// >>> chat.encode("low<|end|>"), chat.encode("low<|end|>", special="parse")
    /// ([257, 60, 124, 101, 110, 100, 124, 62], [257, 258])
    /// >>> chat.encode(["low", digram.SpecialToken("<|end|>")])
    /// [257, 258]
    ///
    /// `dropout` is the probability, from 0 to 1, with which each merge is left out (BPE-dropout, for
    /// training models); the same `seed` gives the same ids.
    ///
    /// Raises `InvalidTextError` for a lone surrogate in a `str`, and for a character that a vocabulary
    /// of characters lacks; `SpecialTokenError` for a special token that is unknown. Takes time linear
    /// in the text. From 16 KiB of text on it runs without the GIL, and from 256 KiB on it uses all
    /// cores. A list is one text in parts; `encode_batch` encodes many texts at once, and gives arrays.
    #[pyo3(
        signature = (text, *, special=None, dropout=None, seed=None),
        text_signature = "($self, text, *, special='text', dropout=0.0, seed=None)"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
        dropout: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let special = Special::new(self, special)?;
        if let Some(dropout) = with_dropout(dropout, seed)? {
            return self.encode_with_dropout(py, text, &special, &dropout);
        }
        if is_in_parts(text) {
            let append = |text: &InputText<'_>, ids: &mut Vec<u32>| self.append_ids(py, *text, &special, ids);
            return self.list_of_pieces(py, text, append);
        }
        self.list_of_text(py, Single::Object(text), &special)
    }

    /// The ids of several texts, as lists: see `encode_batch`.
    #[pyo3(signature = (texts, special=None, threads=None, dropout=None, seed=None))]
    fn _encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Objects<'py>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        dropout: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let dropout = with_dropout(dropout, seed)?;
        let parts = self.in_parts(&texts)?;
        if dropout.is_none() && parts.is_none() {
            let objects = self.id_objects(py)?;
            let lists =
                self.with_texts(py, &texts, special, threads, |texts, special, threads, signals| {
                    let mut lists = IdLists::new(objects, signals, texts.len());
                    self.tokenizer.encode_batch_to(texts, special, threads, signals, &mut lists)?;
                    Ok(lists.finished())
                })?;
            return lists.all(py);
        }
        let (ids, offsets) = self.encode_texts(py, &texts, parts, special, threads, dropout)?;
        let mut checks = SignalChecks::new();
        let lists = offsets
            .windows(2)
            .map(|ends| self.list_with_checks(py, &ids[ends[0] as usize..ends[1] as usize], &mut checks));
        list(py, lists, &mut SignalChecks::new())
    }

    /// The ids of several texts, as one array and an array of offsets.
    #[pyo3(signature = (texts, special=None, threads=None, dropout=None, seed=None))]
    fn _encode_batch_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: Objects<'py>,
        special: Option<&Bound<'py, PyAny>>,
        threads: Option<usize>,
        dropout: Option<&Bound<'py, PyAny>>,
        seed: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<FlatArrays<'py>> {
        let (dropout, parts) = (with_dropout(dropout, seed)?, self.in_parts(&texts)?);
        let (ids, offsets) = self.encode_texts(py, &texts, parts, special, threads, dropout)?;
        Ok((array(py, ids)?, array(py, offsets)?))
    }

    /// The ids of several texts, as an Arrow array of lists.
    #[pyo3(signature = (texts, special=None, threads=None, dropout=None, seed=None))]
    fn _encode_batch_arrow(
        &self,
        py: Python<'_>,
        texts: Objects<'_>,
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        dropout: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ArrowIds> {
        let (dropout, parts) = (with_dropout(dropout, seed)?, self.in_parts(&texts)?);
        let (ids, offsets) = self.encode_texts(py, &texts, parts, special, threads, dropout)?;
        Ok(ArrowIds::new(ids, offsets))
    }

    /// Encodes documents for training files. The documents of the texts at `unfinished` continue in the next text.
    #[pyo3(signature = (texts, unfinished, special=None, threads=None))]
    fn _encode_documents(
        &self,
        py: Python<'_>,
        texts: Objects<'_>,
        unfinished: Vec<usize>,
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<EncodedDocuments> {
        let encoded =
            self.with_texts(py, &texts, special, threads, |texts, special, threads, interrupt| {
                self.tokenizer.encode_documents(texts, unfinished.clone(), special, threads, interrupt)
            })?;
        Ok(EncodedDocuments(Mutex::new(Some(encoded))))
    }

    /// Count the tokens of a text: `len(tok.encode(text))`, without making the list.
    ///
    /// >>> import digram
    /// >>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
    /// >>> tok.count("lower"), tok.count("")
    /// (3, 0)
    ///
    /// `text` and `special` are those of `encode`:
    ///
    /// >>> chat = tok.with_special_tokens(["<|end|>"])
    /// >>> chat.count("low<|end|>"), chat.count("low<|end|>", special="parse")
    /// (8, 2)
    ///
    /// Raises what `encode` raises. Takes time linear in the text, on all cores from 256 KiB on, and
    /// stores no ids. A list is one text in parts; `count_batch` counts many texts. `fits` stops as soon
    /// as it knows whether a text has at most n tokens; `intervals` counts parts of a text, `counter` one
    /// that grows.
    #[pyo3(signature = (text, *, special=None), text_signature = "($self, text, *, special='text')")]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<usize> {
        let special = Special::new(self, special)?;
        if !is_in_parts(text) {
            return self.count_text(py, Single::Object(text), &special);
        }
        let mut count = 0;
        self.for_pieces(text, |piece| {
            count += match piece {
                InputPiece::Id(_) => 1,
                InputPiece::Text(text) => self.count_text(py, Single::Part(text), &special)?,
            };
            Ok(())
        })?;
        Ok(count)
    }
}

/// Encoded documents, in the parts that the threads encoded.
#[pyclass(frozen, module = "digram._core")]
pub(crate) struct EncodedDocuments(Mutex<Option<Documents>>);

#[pymethods]
impl EncodedDocuments {
    /// The ids of all documents as `dtype`, with the id `end` after each document, and the end of each
    /// document. Can be called once.
    fn gather<'py>(&self, py: Python<'py>, end: Option<u32>, dtype: &str) -> PyResult<GatheredArrays<'py>> {
        let documents = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(documents) = documents else {
            return Err(errors::raise(py, "InternalError", "the ids have already been gathered."));
        };
        match dtype {
            "uint16" => gather_as(py, documents, end, |id| id as u16),
            "uint32" => gather_as(py, documents, end, |id| id),
            "int32" => gather_as(py, documents, end, |id| id as i32),
            "int64" => gather_as(py, documents, end, i64::from),
            _ => Err(errors::raise(py, "OptionError", format!("ids cannot be of dtype={dtype:?}."))),
        }
    }
}

fn gather_as<'py, I: Element + Send>(
    py: Python<'py>,
    documents: Documents,
    end: Option<u32>,
    narrow: impl Fn(u32) -> I + Send,
) -> PyResult<GatheredArrays<'py>> {
    let result = py.detach(|| documents.gather(end, narrow));
    let (ids, ends) = result.map_err(|error| errors::from_core(py, error, None))?;
    Ok((array(py, ids)?.into_any(), array(py, ends)?))
}

impl Core {
    /// Ids as a list of integers.
    pub(super) fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        self.list_with_checks(py, ids, &mut SignalChecks::new())
    }

    fn list_with_checks<'py>(
        &self,
        py: Python<'py>,
        ids: &[u32],
        checks: &mut SignalChecks,
    ) -> PyResult<Bound<'py, PyList>> {
        list_of_ids(py, ids, self.id_objects(py)?, checks)
    }

    fn id_objects(&self, py: Python<'_>) -> PyResult<&IdObjects> {
        self.id_objects.get_or_try_init(py, || IdObjects::new(self.tokenizer.vocab_size()))
    }

    /// The ids of a text as a list. Those of a long text become a list while threads encode the rest.
    fn list_of_text<'py>(
        &self,
        py: Python<'py>,
        single: Single<'_, 'py>,
        special: &Special,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = single.text(special)?;
        if text.len_hint() < PARALLEL_BYTES {
            let encode =
                |special: OnSpecial<'_>, signals: &Signals| self.tokenizer.ids(text, special, signals);
            return self.list(py, &with_text(py, single, text, special, encode)?);
        }
        let (threads, objects) = (threads_of(py, None)?, self.id_objects(py)?);
        let encode = |special: OnSpecial<'_>, signals: &Signals| {
            let mut lists = IdLists::new(objects, signals, 1);
            let encoded = self.tokenizer.encode_batch_to(&[text], special, threads, signals, &mut lists);
            encoded.map(|()| lists.finished()).map_err(|(_, error)| error)
        };
        with_text(py, single, text, special, encode)?.only(py)
    }

    /// Appends the ids of a part of a text.
    fn append_ids(
        &self,
        py: Python<'_>,
        part: InputText<'_>,
        special: &Special,
        ids: &mut Vec<u32>,
    ) -> PyResult<()> {
        let (single, bytes) = (Single::Part(part), part.bytes());
        let text = Text::Utf8(bytes);
        if bytes.len() < PARALLEL_BYTES {
            return with_text(py, single, text, special, |special, signals| {
                self.tokenizer.encode(bytes, special, signals, ids)
            });
        }
        let threads = threads_of(py, None)?;
        with_text(py, single, text, special, |special, signals| {
            let encoded = self.tokenizer.encode_batch(&[bytes], special, threads, signals);
            encoded.map_err(|(_, error)| error).and_then(|(batch_ids, _)| append(ids, batch_ids))
        })
    }

    fn count_text(&self, py: Python<'_>, single: Single<'_, '_>, special: &Special) -> PyResult<usize> {
        let text = single.text(special)?;
        if text.len_hint() < PARALLEL_BYTES {
            let count =
                |special: OnSpecial<'_>, signals: &Signals| self.tokenizer.count(text, special, signals);
            return with_text(py, single, text, special, count);
        }
        let threads = threads_of(py, None)?;
        with_text(py, single, text, special, |special, signals| {
            let counts = self.tokenizer.count_batch(&[text], special, threads, signals);
            counts.map(|counts| counts.iter().sum::<u64>() as usize).map_err(|(_, error)| error)
        })
    }

    fn encode_texts(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: Option<TextsInParts>,
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        dropout: Option<Dropout>,
    ) -> PyResult<(Vec<u32>, Vec<u64>)> {
        if let Some(parts) = parts {
            let (special, threads) = (Special::new(self, special)?, threads_of(py, threads)?);
            return self.encode_in_parts(py, objects, &parts, &special, threads, dropout.as_ref());
        }
        self.with_texts(py, objects, special, threads, |texts, special, threads, interrupt| match &dropout {
            None => self.tokenizer.encode_batch(texts, special, threads, interrupt),
            Some(dropout) => {
                self.tokenizer.encode_batch_with_dropout(texts, special, dropout, threads, interrupt)
            }
        })
    }

    /// Calls `work` with several texts, without the GIL; an error names the text.
    pub(super) fn with_texts<R: Send>(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        special: Option<&Bound<'_, PyAny>>,
        threads: Option<usize>,
        work: impl Fn(&[Text<'_>], OnSpecial<'_>, usize, &Signals) -> std::result::Result<R, (usize, Error)>
        + Sync,
    ) -> PyResult<R> {
        let special = Special::new(self, special)?;
        let threads = threads_of(py, threads)?;
        let longest = if threads == 1 { usize::MAX } else { longest_stored(&special) };
        let texts = stored_texts(objects, "texts", longest)?;
        let work = |texts: &[Text<'_>], special: OnSpecial<'_>, signals: &Signals| {
            work(texts, special, threads, signals)
        };
        let input = |index: usize| text(&objects[index], "texts", index);
        detached(py, &texts, &special, |index| index, input, work)
    }
}

/// Calls `work`, which encodes a text, without the GIL if the text is long.
fn with_text<R: Send>(
    py: Python<'_>,
    single: Single<'_, '_>,
    text: Text<'_>,
    special: &Special,
    work: impl FnOnce(OnSpecial<'_>, &Signals) -> digram::Result<R> + Send,
) -> PyResult<R> {
    let signals = Signals::new();
    let result = if text.len_hint() < KEEP_GIL_BYTES {
        work(special.on_special(), &signals)
    } else {
        let (special, signals) = (special.on_special(), &signals);
        py.detach(move || work(special, signals))
    };
    result.map_err(|error| match input_for(&error, || single.utf8()) {
        Ok(text) => signals.error(py, error, text.as_ref()),
        Err(error) => error,
    })
}

/// Calls `work` with texts, without the GIL. For an error, `index_of` returns the index in the argument of a text
/// by its number, and `input` the text in UTF-8, in which a surrogate is an error.
pub(super) fn detached<'a, R: Send>(
    py: Python<'_>,
    texts: &[Text<'_>],
    special: &Special,
    index_of: impl Fn(usize) -> usize,
    input: impl Fn(usize) -> PyResult<InputText<'a>>,
    work: impl Fn(&[Text<'_>], OnSpecial<'_>, &Signals) -> std::result::Result<R, (usize, Error)> + Sync,
) -> PyResult<R> {
    let signals = Signals::new();
    let result = {
        let (work, special, signals) = (&work, special.on_special(), &signals);
        py.detach(move || work(texts, special, signals))
    };
    result.map_err(|(number, error)| {
        let text = match input_for(&error, || input(number)) {
            Ok(text) => text,
            Err(error) => return error,
        };
        let error = signals.error(py, error, text.as_ref());
        errors::with_place(py, error, &format!("texts[{}]", index_of(number)))
    })
}

/// Appends ids to a list, without copying them if the list is empty.
fn append(ids: &mut Vec<u32>, new_ids: Vec<u32>) -> digram::Result<()> {
    if ids.is_empty() {
        *ids = new_ids;
    } else {
        memory::try_reserve(ids, new_ids.len())?;
        ids.extend(new_ids);
    }
    Ok(())
}
