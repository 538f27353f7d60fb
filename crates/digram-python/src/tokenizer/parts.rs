//! Texts in parts: lists of text and special tokens.

use digram::encode::Dropout;
use digram::text::Text as StoredText;
use digram::tokenizer::WithDropout;
use digram::{Error, OnSpecial};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::Core;
use super::encode::detached;
use super::special::Special;
use crate::convert::{Text, text};
use crate::errors;
use crate::objects::{SignalChecks, reserve};
use crate::signals::Signals;

/// Whether an object is a text in parts.
pub(super) fn is_in_parts(object: &Bound<'_, PyAny>) -> bool {
    !object.is_exact_instance_of::<PyString>()
        && (object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>())
}

/// A part of a text that is given in parts.
enum InputPart {
    /// Text, joined from neighbouring parts.
    Text(JoinedText),
    /// A special token.
    Id(u32),
}

/// Text parts end to end. It is a `str` as long as all parts were.
struct JoinedText {
    bytes: Vec<u8>,
    is_str: bool,
}

impl JoinedText {
    fn text(&self) -> Text<'_> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if self.is_str => Text::Str(text),
            _ => Text::Bytes(&self.bytes),
        }
    }
}

impl InputPart {
    fn piece(&self) -> InputPiece<'_> {
        match self {
            InputPart::Text(joined) => InputPiece::Text(joined.text()),
            InputPart::Id(id) => InputPiece::Id(*id),
        }
    }
}

/// For each text, its parts, if it is given in parts.
pub(super) struct TextsInParts(Vec<Option<Vec<InputPart>>>);

/// A text, a part of a text, or a special token.
pub(super) enum InputPiece<'a> {
    Text(Text<'a>),
    Id(u32),
}

impl TextsInParts {
    /// The pieces of all texts, in order, each with the index of its text.
    fn pieces<'a>(&'a self, objects: &'a [Bound<'_, PyAny>]) -> PyResult<Vec<(usize, InputPiece<'a>)>> {
        let mut pieces = Vec::new();
        let mut checks = SignalChecks::new();
        for (index, (object, parts)) in objects.iter().zip(&self.0).enumerate() {
            checks.after(object.py(), 1)?;
            reserve(&mut pieces, parts.as_ref().map_or(1, Vec::len))?;
            match parts {
                None => pieces.push((index, InputPiece::Text(text(object, "texts", index)?))),
                Some(parts) => pieces.extend(parts.iter().map(|part| (index, part.piece()))),
            }
        }
        Ok(pieces)
    }
}

impl Core {
    /// The parts of a text: neighbouring plain parts joined, special tokens as ids.
    fn parts(&self, parts: &Bound<'_, PyAny>) -> PyResult<Vec<InputPart>> {
        let class = parts.py().import("digram.vocab.special_tokens")?.getattr("SpecialToken")?;
        let mut joined_parts: Vec<InputPart> = Vec::new();
        let mut checks = SignalChecks::new();
        for (index, part) in parts.try_iter()?.enumerate() {
            let part = part?;
            checks.after(parts.py(), 1)?;
            reserve(&mut joined_parts, 1)?;
            if part.is_instance(&class)? {
                let name: String = part.getattr("text")?.extract()?;
                joined_parts.push(InputPart::Id(self.special_id(parts.py(), &name)?));
                continue;
            }
            let text = text(&part, "text", index)?;
            let is_str = matches!(text, Text::Str(_));
            match joined_parts.last_mut() {
                Some(InputPart::Text(previous)) => {
                    reserve(&mut previous.bytes, text.bytes().len())?;
                    previous.bytes.extend_from_slice(text.bytes());
                    previous.is_str &= is_str;
                }
                _ => {
                    let mut bytes = Vec::new();
                    reserve(&mut bytes, text.bytes().len())?;
                    bytes.extend_from_slice(text.bytes());
                    joined_parts.push(InputPart::Text(JoinedText { bytes, is_str }));
                }
            }
        }
        Ok(joined_parts)
    }

    /// Calls `work` with the parts of a text, or with the text if it is not given in parts.
    pub(super) fn for_pieces(
        &self,
        text: &Bound<'_, PyAny>,
        mut work: impl FnMut(InputPiece<'_>) -> PyResult<()>,
    ) -> PyResult<()> {
        match is_in_parts(text) {
            true => self.parts(text)?.iter().try_for_each(|part| work(part.piece())),
            false => work(InputPiece::Text(Text::new(text)?)),
        }
    }

    /// The ids of a text as a list; `encode` appends those of a part that is text.
    pub(super) fn list_of_pieces<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        mut encode: impl FnMut(&Text<'_>, &mut Vec<u32>) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut ids = Vec::new();
        self.for_pieces(text, |piece| match piece {
            InputPiece::Id(id) => {
                reserve(&mut ids, 1)?;
                ids.push(id);
                Ok(())
            }
            InputPiece::Text(text) => encode(&text, &mut ids),
        })?;
        self.list(py, &ids)
    }

    /// The parts of texts; `None` if no text is given in parts.
    pub(super) fn in_parts(&self, objects: &[Bound<'_, PyAny>]) -> PyResult<Option<TextsInParts>> {
        let Some(first) = objects.iter().position(is_in_parts) else { return Ok(None) };
        let mut parts = Vec::new();
        reserve(&mut parts, objects.len())?;
        parts.extend((0..first).map(|_| None));
        for (index, object) in objects.iter().enumerate().skip(first) {
            parts.push(match is_in_parts(object) {
                false => None,
                true => {
                    let with_place =
                        |error| errors::with_place(object.py(), error, &format!("texts[{index}]"));
                    Some(self.parts(object).map_err(with_place)?)
                }
            });
        }
        Ok(Some(TextsInParts(parts)))
    }

    /// Calls `work` with all text pieces together; an error names the text of the piece.
    fn with_pieces<R: Send>(
        &self,
        py: Python<'_>,
        pieces: &[(usize, InputPiece<'_>)],
        special: &Special,
        work: impl Fn(&[StoredText<'_>], OnSpecial<'_>, &Signals) -> std::result::Result<R, (usize, Error)> + Sync,
    ) -> PyResult<R> {
        let (mut texts, mut inputs) = (Vec::new(), Vec::new());
        reserve(&mut texts, pieces.len())?;
        reserve(&mut inputs, pieces.len())?;
        for (index, piece) in pieces {
            if let InputPiece::Text(text) = piece {
                texts.push(StoredText::Utf8(text.bytes()));
                inputs.push((*index, *text));
            }
        }
        let index_of = |number: usize| inputs.get(number).map(|input| input.0).unwrap_or_default();
        detached(py, &texts, special, index_of, |number| Ok(inputs[number].1), work)
    }

    /// The ids of several texts, and the offsets of the texts.
    pub(super) fn encode_in_parts(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: &TextsInParts,
        special: &Special,
        threads: usize,
        dropout: Option<&Dropout>,
    ) -> PyResult<(Vec<u32>, Vec<u64>)> {
        let pieces = parts.pieces(objects)?;
        let (piece_ids, ends) = match dropout {
            None => self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
                self.tokenizer.encode_batch(texts, rule, threads, interrupt)
            })?,
            // The random choices of a text continue from one part to the next.
            Some(dropout) => self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
                let text_indices: Vec<usize> = pieces
                    .iter()
                    .filter_map(|(index, piece)| matches!(piece, InputPiece::Text(_)).then_some(*index))
                    .collect();
                let (mut ids, mut ends, mut current) = (Vec::new(), vec![0], None);
                for (piece_index, (text, index)) in texts.iter().zip(text_indices).enumerate() {
                    let StoredText::Utf8(text) = text else { continue };
                    let (_, choices) = match current.take() {
                        Some((previous, choices)) if previous == index => current.insert((previous, choices)),
                        _ => current.insert((index, WithDropout::of(dropout, index))),
                    };
                    self.tokenizer
                        .encode_with_dropout(text, rule, choices, interrupt, &mut ids)
                        .map_err(|error| (piece_index, error))?;
                    ends.push(ids.len() as u64);
                }
                Ok((ids, ends))
            })?,
        };
        let (mut ids, mut offsets) = (Vec::new(), Vec::new());
        reserve(&mut ids, piece_ids.len() + pieces.len())?;
        reserve(&mut offsets, objects.len() + 1)?;
        let mut next_text = 0;
        for (index, piece) in &pieces {
            offsets.resize(index + 1, ids.len() as u64);
            match piece {
                InputPiece::Id(id) => ids.push(*id),
                InputPiece::Text(_) => {
                    ids.extend_from_slice(&piece_ids[ends[next_text] as usize..ends[next_text + 1] as usize]);
                    next_text += 1;
                }
            }
        }
        offsets.resize(objects.len() + 1, ids.len() as u64);
        Ok((ids, offsets))
    }

    /// The number of ids of each text.
    pub(super) fn count_in_parts(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: &TextsInParts,
        special: &Special,
        threads: usize,
    ) -> PyResult<Vec<u64>> {
        let pieces = parts.pieces(objects)?;
        let piece_counts = self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
            self.tokenizer.count_batch(texts, rule, threads, interrupt)
        })?;
        let mut counts = Vec::new();
        reserve(&mut counts, objects.len())?;
        counts.resize(objects.len(), 0);
        let mut piece_counts = piece_counts.into_iter();
        for (index, piece) in &pieces {
            counts[*index] += match piece {
                InputPiece::Id(_) => 1,
                InputPiece::Text(_) => piece_counts.next().unwrap_or(0),
            };
        }
        Ok(counts)
    }
}
