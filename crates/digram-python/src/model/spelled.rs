//! Tokens and merges as strings, taken out of Python's JSON in one pass.
//!
//! Whatever is odd about them gives `None`: then Python, which can say what is wrong and where,
//! reads them again. So this may refuse too much, and never too little.

use std::collections::HashSet;

use digram::merges::Merge;
use digram::model::Model;
use digram::ranks::Ranks;
use digram::vocabulary::{MAX_VOCAB_SIZE, Vocabulary};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};

/// The bytes that characters below `LETTERS` stand for.
const LETTERS: usize = 0x200;

/// Stands for no byte.
const NONE: u16 = u16::MAX;

/// The model of a vocabulary of names by id, and of merges that are two names each: a list of
/// both, or both in one string with a space between. A name has a letter for each byte. Those of
/// special tokens are left out.
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
    let spelled = |name: &str, token: &mut Vec<u8>| {
        name.chars().try_for_each(|letter| {
            let byte = *bytes_of.get(letter as usize)?;
            (byte != NONE).then(|| token.push(byte as u8))
        })
    };

    let special_tokens: HashSet<String> = special_tokens.into_iter().collect();
    // Where each name's bytes stand, by id; a special token has none.
    let mut places: Vec<Option<(u32, u32)>> = Vec::with_capacity(vocab.len());
    let mut text = Vec::with_capacity(8 * vocab.len());
    for (name, id) in vocab.iter() {
        let id: usize = id.cast_exact::<PyInt>().ok()?.extract().ok()?;
        let name = name.cast_exact::<PyString>().ok()?.to_str().ok()?;
        if id >= MAX_VOCAB_SIZE || places.get(id).is_some_and(|place| place.is_some()) {
            return None;
        }
        let start = text.len();
        if !special_tokens.contains(name) {
            spelled(name, &mut text)?;
            if text.len() == start {
                return None;
            }
        }
        if places.len() <= id {
            places.resize(id + 1, None);
        }
        places[id] = Some((u32::try_from(start).ok()?, u32::try_from(text.len()).ok()?));
    }
    let mut tokens: Vec<Option<&[u8]>> = places
        .iter()
        .map(|place| place.map(|(start, end)| &text[start as usize..end as usize]))
        .map(|token| token.filter(|token| !token.is_empty()))
        .collect();
    while tokens.pop_if(|last| last.is_none()).is_some() {}

    let ranks = Ranks::new(Vocabulary::new(tokens).ok()?).ok()?;
    let (mut list, mut whole) = (Vec::with_capacity(merges.len()), Vec::new());
    let in_one = merges.iter().next().is_some_and(|first| first.is_exact_instance_of::<PyString>());
    for pair in merges.iter() {
        let (first, second);
        let (left, right) = if in_one {
            first = pair.cast_into_exact::<PyString>().ok()?;
            first.to_str().ok()?.split_once(' ')?
        } else {
            let pair = pair.cast_exact::<PyList>().ok().filter(|pair| pair.len() == 2)?;
            first = pair.get_item(0).ok()?.cast_into_exact::<PyString>().ok()?;
            second = pair.get_item(1).ok()?.cast_into_exact::<PyString>().ok()?;
            (first.to_str().ok()?, second.to_str().ok()?)
        };
        whole.clear();
        spelled(left, &mut whole)?;
        let middle = whole.len();
        spelled(right, &mut whole)?;
        let (left, right) = (ranks.token_to_id(&whole[..middle])?, ranks.token_to_id(&whole[middle..])?);
        list.push(Merge { left, right, id: ranks.token_to_id(&whole)? });
    }
    Model::new(ranks.vocabulary().clone(), list).ok()
}
