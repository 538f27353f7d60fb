//! The `special` argument.

use std::sync::{Arc, Mutex};

use digram::OnSpecial;
use digram::added_tokens::AddedTokens;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::Core;
use crate::errors::{self, ITERABLE};
use crate::objects::{SignalChecks, reserve};

/// What the argument must be.
const EXPECTED: &str = "special is \"text\", \"parse\", \"raise\" or a set of str";

/// The number of sets that a tokenizer keeps.
const KEPT_SETS: usize = 16;

/// The sets of special tokens that the last calls named, the latest first. Finding a set here takes a hundredth of
/// the time of building the automaton that searches for its tokens.
#[derive(Default)]
pub(super) struct KeptSets(Mutex<Vec<Arc<AddedTokens>>>);

impl KeptSets {
    /// The set of these of all special tokens; `ids` are in ascending order.
    fn get(&self, ids: &[u32], all: &AddedTokens) -> digram::Result<Arc<AddedTokens>> {
        // Never waits: after a fork, the thread that holds the lock may not exist.
        if let Ok(mut sets) = self.0.try_lock()
            && let Some(index) = sets.iter().position(|set| set.special_ids() == ids)
        {
            sets[..=index].rotate_right(1);
            return Ok(sets[0].clone());
        }
        let set = Arc::new(all.allowing(ids)?);
        if let Ok(mut sets) = self.0.try_lock() {
            sets.truncate(KEPT_SETS - 1);
            sets.insert(0, set.clone());
        }
        Ok(set)
    }
}

/// The treatment of special tokens in a text.
pub(super) enum Special {
    Text,
    Parse,
    Fail,
    Allow(Arc<AddedTokens>),
}

impl Special {
    pub(super) fn new(core: &Core, argument: Option<&Bound<'_, PyAny>>) -> PyResult<Special> {
        let Some(argument) = argument else { return Ok(Special::Text) };
        let py = argument.py();
        if let Ok(name) = argument.cast::<PyString>() {
            return match &*name.to_string_lossy() {
                "text" => Ok(Special::Text),
                "parse" => Ok(Special::Parse),
                "raise" => Ok(Special::Fail),
                other => Err(errors::raise(
                    py,
                    "OptionError",
                    format!(
                        "special={other:?} is not known. Pass \"text\", \"parse\", \"raise\", or a set of special tokens."
                    ),
                )),
            };
        }
        let all = core.tokenizer.added_tokens();
        let (mut ids, mut checks) = (Vec::new(), SignalChecks::new());
        let names = argument.try_iter();
        for name in names.map_err(|error| errors::unless_has(&ITERABLE, argument, EXPECTED, error))? {
            let name = name?;
            let name = name.cast::<PyString>().map_err(|_| PyTypeError::new_err(EXPECTED))?;
            reserve(&mut ids, 1)?;
            ids.push(core.special_id(py, &name.to_string_lossy())?);
            checks.after(py, 1)?;
            // An iterable may repeat names, and an endless one for ever.
            if ids.len() > 2 * all.tokens().len() {
                ids.sort_unstable();
                ids.dedup();
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|&id| all.has_special(id)); // the others are always found
        let set = core.kept_sets.get(&ids, all);
        set.map(Special::Allow).map_err(|error| errors::from_core(py, error, None))
    }

    pub(super) fn on_special(&self) -> OnSpecial<'_> {
        match self {
            Special::Text => OnSpecial::Text,
            Special::Parse => OnSpecial::Parse,
            Special::Fail => OnSpecial::Fail,
            Special::Allow(allowed) => OnSpecial::Allow(allowed),
        }
    }
}

impl Core {
    pub(super) fn special_id(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        let all = self.tokenizer.added_tokens();
        all.id(name).ok_or_else(|| {
            let names: Vec<&str> = all.tokens().iter().map(|token| &token.text[..]).collect();
            let hint = match &names[..] {
                [] => "This tokenizer has none; with_special_tokens adds them.".to_owned(),
                [first @ .., _] if names.len() > 8 => {
                    format!("Some of those it has: {}.", first[..8].join(", "))
                }
                names => format!("It has {}.", names.join(", ")),
            };
            errors::build(
                py,
                "SpecialTokenError",
                format!("there is no special token {name:?}."),
                |attributes| {
                    attributes.set_item("value", name)?;
                    attributes.set_item("hint", hint)
                },
            )
        })
    }
}
