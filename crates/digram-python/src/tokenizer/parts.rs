//! Batches of texts of which some are given in parts.

use digram::encode::Dropout;
use digram::tokenizer::WithDropout;
use digram::{Error, OnSpecial};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::Core;
use super::encode::Part;
use super::special::Special;
use crate::convert::{Text, bytes_of, text};
use crate::errors;
use crate::objects::{Turns, reserve};
use crate::signals::Signals;

/// Whether an object is a text in parts.
fn is_in_parts(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

/// For each text, its parts, if it is given in parts.
pub(super) struct InParts(Vec<Option<Vec<Part>>>);

/// A text, a part of a text, or a special token.
enum Piece<'a> {
    Text(Text<'a>),
    Id(u32),
}

impl InParts {
    /// The pieces of all texts, in order, each with the index of its text.
    fn pieces<'a>(&'a self, objects: &'a [Bound<'_, PyAny>]) -> PyResult<Vec<(usize, Piece<'a>)>> {
        let mut pieces = Vec::new();
        let mut turns = Turns::new();
        for (index, (object, parts)) in objects.iter().zip(&self.0).enumerate() {
            turns.after(object.py(), 1)?;
            reserve(&mut pieces, parts.as_ref().map_or(1, Vec::len))?;
            match parts {
                None => pieces.push((index, Piece::Text(text(object, "texts", index)?))),
                Some(parts) => pieces.extend(parts.iter().map(|part| match part {
                    Part::Text(joined) => (index, Piece::Text(joined.text())),
                    Part::Id(id) => (index, Piece::Id(*id)),
                })),
            }
        }
        Ok(pieces)
    }
}

impl Core {
    /// The parts of texts; `None` if no text is given in parts.
    pub(super) fn in_parts(&self, objects: &[Bound<'_, PyAny>]) -> PyResult<Option<InParts>> {
        let Some(first) = objects.iter().position(is_in_parts) else { return Ok(None) };
        let mut found = Vec::new();
        reserve(&mut found, objects.len())?;
        found.extend((0..first).map(|_| None));
        for (index, object) in objects.iter().enumerate().skip(first) {
            found.push(match is_in_parts(object) {
                false => None,
                true => {
                    let placed = |error| errors::placed(object.py(), error, &format!("texts[{index}]"));
                    Some(self.parts(object).map_err(placed)?)
                }
            });
        }
        Ok(Some(InParts(found)))
    }

    /// Calls `work` with all text pieces together; an error names the text of the piece.
    fn with_pieces<R: Send>(
        &self,
        py: Python<'_>,
        pieces: &[(usize, Piece<'_>)],
        special: &Special,
        work: impl Fn(&[&[u8]], OnSpecial<'_>, &Signals) -> std::result::Result<R, (usize, Error)> + Sync,
    ) -> PyResult<R> {
        let (mut texts, mut of) = (Vec::new(), Vec::new());
        reserve(&mut texts, pieces.len())?;
        reserve(&mut of, pieces.len())?;
        for (index, piece) in pieces {
            if let Piece::Text(text) = piece {
                texts.push(*text);
                of.push(*index);
            }
        }
        let bytes = bytes_of(py, &texts)?;
        let signals = Signals::new();
        let worked = {
            let (work, bytes, rule, signals) = (&work, &bytes, special.rule(), &signals);
            py.detach(move || work(bytes, rule, signals))
        };
        worked.map_err(|(number, error)| {
            let index = of.get(number).copied().unwrap_or_default();
            errors::placed(py, signals.error(py, error, texts.get(number)), &format!("texts[{index}]"))
        })
    }

    /// The ids of several texts, and the offsets of the texts.
    pub(super) fn encode_in_parts(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: &InParts,
        special: &Special,
        threads: usize,
        dropout: Option<&Dropout>,
    ) -> PyResult<(Vec<u32>, Vec<u64>)> {
        let pieces = parts.pieces(objects)?;
        let (found, ends) = match dropout {
            None => self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
                self.tokenizer.encode_batch(texts, rule, threads, interrupt)
            })?,
            // The random choices of a text continue from one part to the next.
            Some(dropout) => self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
                let of: Vec<usize> = pieces
                    .iter()
                    .filter_map(|(index, piece)| matches!(piece, Piece::Text(_)).then_some(*index))
                    .collect();
                let (mut ids, mut ends, mut now) = (Vec::new(), vec![0], None);
                for (number, (text, index)) in texts.iter().zip(of).enumerate() {
                    let (_, choices) = match now.take() {
                        Some((last, choices)) if last == index => now.insert((last, choices)),
                        _ => now.insert((index, WithDropout::of(dropout, index))),
                    };
                    self.tokenizer
                        .encode_with_dropout(text, rule, choices, interrupt, &mut ids)
                        .map_err(|error| (number, error))?;
                    ends.push(ids.len() as u64);
                }
                Ok((ids, ends))
            })?,
        };
        let (mut ids, mut offsets) = (Vec::new(), Vec::new());
        reserve(&mut ids, found.len() + pieces.len())?;
        reserve(&mut offsets, objects.len() + 1)?;
        let mut texts = 0;
        for (index, piece) in &pieces {
            offsets.resize(index + 1, ids.len() as u64);
            match piece {
                Piece::Id(id) => ids.push(*id),
                Piece::Text(_) => {
                    ids.extend_from_slice(&found[ends[texts] as usize..ends[texts + 1] as usize]);
                    texts += 1;
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
        parts: &InParts,
        special: &Special,
        threads: usize,
    ) -> PyResult<Vec<u64>> {
        let pieces = parts.pieces(objects)?;
        let found = self.with_pieces(py, &pieces, special, |texts, rule, interrupt| {
            self.tokenizer.count_batch(texts, rule, threads, interrupt)
        })?;
        let mut counts = Vec::new();
        reserve(&mut counts, objects.len())?;
        counts.resize(objects.len(), 0);
        let mut found = found.into_iter();
        for (index, piece) in &pieces {
            counts[*index] += match piece {
                Piece::Id(_) => 1,
                Piece::Text(_) => found.next().unwrap_or(0),
            };
        }
        Ok(counts)
    }
}
