//! Normalizers as Python describes them.

use std::sync::Arc;

use digram::normalize::{AddedSpace, Form, Keep, Normalizer, SentencePiece, Stage, WordRule};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{RulesTuple, errors, rules_of};

/// The normalizer of some stages, each a name and its arguments; `None` if there are none. A rule for words may be
/// the last.
pub(crate) fn compiled(
    py: Python<'_>,
    described: &[Bound<'_, PyTuple>],
) -> PyResult<Option<Arc<Normalizer>>> {
    let Some((last, before)) = described.split_last() else { return Ok(None) };
    let rule = if name_of(last)? == "words" { Some(word_rule(last)?) } else { None };
    let mut stages = Vec::new();
    for one in if rule.is_some() { before } else { described } {
        stages.extend(stages_of(one)?);
    }
    let normalizer = py.detach(|| {
        let normalizer = Normalizer::new(stages)?;
        match rule {
            Some(rule) => normalizer.with_words(rule),
            None => Ok(normalizer),
        }
    });
    normalizer
        .map(|normalizer| Some(Arc::new(normalizer)))
        .map_err(|error| errors::from_core(py, error, None))
}

fn name_of(described: &Bound<'_, PyTuple>) -> PyResult<String> {
    described.get_item(0)?.extract()
}

fn word_rule(described: &Bound<'_, PyTuple>) -> PyResult<WordRule> {
    let item = |index| described.get_item(index);
    let (letters, keep, then) = match described.len() {
        7 => (false, None, None),
        _ => (item(7)?.extract()?, item(8)?.extract::<Option<String>>()?, item(9)?.extract()?),
    };
    let keep = match keep.as_deref() {
        None => None,
        Some("matches") => Some(Keep::Matches),
        Some("between") => Some(Keep::Between),
        Some(other) => return Err(PyTypeError::new_err(format!("words keep no {other}"))),
    };
    let then: Option<Bound<'_, PyTuple>> = then;
    Ok(WordRule {
        splits: item(1)?.extract()?,
        removed: item(2)?.extract()?,
        prefix: item(3)?.extract()?,
        suffix: item(4)?.extract()?,
        space_symbol: item(5)?.extract()?,
        first: item(6)?.extract()?,
        letters,
        keep,
        // Python limits the number of rules.
        then: then.map(|then| word_rule(&then).map(Box::new)).transpose()?,
    })
}

fn stages_of(described: &Bound<'_, PyTuple>) -> PyResult<Vec<Stage>> {
    let name = name_of(described)?;
    let text = |index| described.get_item(index)?.extract::<String>();
    let flag = |index| described.get_item(index)?.extract::<bool>();
    let stage = match &name[..] {
        "nfc" => Stage::Form(Form::Nfc),
        "nfd" => Stage::Form(Form::Nfd),
        "nfkc" => Stage::Form(Form::Nfkc),
        "nfkd" => Stage::Form(Form::Nfkd),
        "lowercase" => Stage::Lowercase,
        "strip_accents" => Stage::StripAccents,
        "nmt" => Stage::Nmt,
        "strip" => Stage::Strip { left: flag(1)?, right: flag(2)? },
        "prepend" => Stage::Prepend { content: text(1)? },
        "replace_matches" => Stage::ReplaceMatches { regex: text(1)?, content: text(2)? },
        "replace" => Stage::Replace { pattern: text(1)?, content: text(2)? },
        "bert" => {
            let lowercase = flag(4)?;
            let strip_accents = described.get_item(3)?.extract::<Option<bool>>()?.unwrap_or(lowercase);
            let stages = [
                (flag(1)?, Stage::Clean),
                (flag(2)?, Stage::SpaceIdeographs),
                (strip_accents, Stage::Form(Form::Nfd)),
                (strip_accents, Stage::StripNonspacingMarks),
                (lowercase, Stage::Lowercase),
            ];
            return Ok(stages.into_iter().filter_map(|(is_on, stage)| is_on.then_some(stage)).collect());
        }
        "precompiled" => Stage::Precompiled { charsmap: charsmap(described)? },
        "sentencepiece" => Stage::SentencePiece(SentencePiece {
            charsmap: charsmap(described)?,
            added_space: match described.get_item(2)?.extract::<Option<String>>()?.as_deref() {
                Some("before") => AddedSpace::Before,
                Some("behind") => AddedSpace::Behind,
                Some("before word") => AddedSpace::BeforeWord,
                _ => AddedSpace::No,
            },
            removes_spaces: described.get_item(3)?.extract()?,
            symbols: described.get_item(4)?.extract()?,
        }),
        "units" => {
            let (_, rules, spelled): (String, RulesTuple, Vec<(String, String)>) = described.extract()?;
            Stage::Units { rules: rules_of(rules), spelled }
        }
        other => return Err(PyTypeError::new_err(format!("there is no stage {other:?} of normalizers"))),
    };
    Ok(vec![stage])
}

/// The bytes of a character map, which are described by one character each.
fn charsmap(described: &Bound<'_, PyTuple>) -> PyResult<Vec<u8>> {
    let text: String = described.get_item(1)?.extract()?;
    let bytes =
        text.chars().map(|c| u8::try_from(c).map_err(|_| PyTypeError::new_err("a charsmap is bytes")));
    bytes.collect()
}
