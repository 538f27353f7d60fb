//! Reads tokens and merges as strings from parsed JSON, in one pass.
//!
//! Anything unusual gives `None`: then Python, which can name the fault and its place,
//! reads them again. So this may reject valid input, but must not accept invalid input.

use std::collections::HashSet;

use digram::model::Model;
use digram::ranks::Ranks;
use digram::vocabulary::{MAX_VOCAB_SIZE, Vocabulary};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

/// The characters of bytes are below this code point.
const LETTERS: usize = 0x200;

/// Marks characters that represent no byte.
const NONE: u16 = u16::MAX;

/// The model of a vocabulary of names by id, and of merges that are two names each: a list of
/// both, or both in one string with a space between. A name has a letter for each byte. Those of
/// special tokens are omitted.
pub(super) fn read(
    vocab: &Bound<'_, PyDict>,
    special_tokens: Vec<String>,
    merges: &Bound<'_, PyList>,
    letters: &str,
) -> Option<Model> {
    let mut bytes_of = [NONE; LETTERS];
    for (byte, letter) in letters.chars().enumerate() {
        *bytes_of.get_mut(letter as usize)? = byte as u16;
    }
    let append_bytes = |name: &str, token: &mut Vec<u8>| {
        name.chars().try_for_each(|letter| {
            let byte = *bytes_of.get(letter as usize)?;
            (byte != NONE).then(|| token.push(byte as u8))
        })
    };

    let special_tokens: HashSet<String> = special_tokens.into_iter().collect();
    // The range of each name's bytes, by id; it is empty for a special token.
    let mut ranges: Vec<Option<(u32, u32)>> = Vec::with_capacity(vocab.len());
    let mut text = Vec::with_capacity(8 * vocab.len());
    for (name, id) in vocab.iter() {
        let id: usize = id.cast_exact::<PyInt>().ok()?.extract().ok()?;
        let name = name.cast_exact::<PyString>().ok()?.to_str().ok()?;
        if id >= MAX_VOCAB_SIZE || ranges.get(id).is_some_and(|range| range.is_some()) {
            return None;
        }
        let start = text.len();
        if !special_tokens.contains(name) {
            append_bytes(name, &mut text)?;
            if text.len() == start {
                return None;
            }
        }
        if ranges.len() <= id {
            ranges.resize(id + 1, None);
        }
        ranges[id] = Some((u32::try_from(start).ok()?, u32::try_from(text.len()).ok()?));
    }
    let mut tokens: Vec<Option<&[u8]>> = ranges
        .iter()
        .map(|range| range.map(|(start, end)| &text[start as usize..end as usize]))
        .map(|token| token.filter(|token| !token.is_empty()))
        .collect();
    while tokens.pop_if(|last| last.is_none()).is_some() {}

    let ranks = Ranks::new(Vocabulary::new(tokens).ok()?).ok()?;
    let (mut ends, mut parts) = (Vec::with_capacity(merges.len()), Vec::with_capacity(text.len() + 16));
    let is_one_string = merges.iter().next().is_some_and(|first| first.is_exact_instance_of::<PyString>());
    for pair in merges.iter() {
        let (first, second);
        let (left, right) = if is_one_string {
            first = pair.cast_into_exact::<PyString>().ok()?;
            first.to_str().ok()?.split_once(' ')?
        } else {
            let pair = pair.cast_exact::<PyList>().ok().filter(|pair| pair.len() == 2)?;
            first = pair.get_item(0).ok()?.cast_into_exact::<PyString>().ok()?;
            second = pair.get_item(1).ok()?.cast_into_exact::<PyString>().ok()?;
            (first.to_str().ok()?, second.to_str().ok()?)
        };
        append_bytes(left, &mut parts)?;
        let middle = parts.len();
        append_bytes(right, &mut parts)?;
        ends.push((u32::try_from(middle).ok()?, u32::try_from(parts.len()).ok()?));
    }
    let merges = ranks.merges_in(parts, &ends)?;
    Model::new(ranks.vocabulary().clone(), merges).ok()
}
