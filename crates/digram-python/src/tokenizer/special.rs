//! The `special` argument.

use std::borrow::Cow;

use digram::OnSpecial;
use digram::special::SpecialTokens;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::Core;
use crate::errors;

/// The treatment of special tokens in a text.
pub(super) enum Special {
    Text,
    Parse,
    Fail,
    Allow(SpecialTokens),
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
        let mut allowed = Vec::new();
        for name in argument.try_iter()? {
            let name = name?;
            let name = name.cast::<PyString>().map_err(|_| {
                PyTypeError::new_err("special is \"text\", \"parse\", \"raise\" or a set of str")
            })?;
            let name = Cow::into_owned(name.to_string_lossy());
            if allowed.iter().all(|(allowed_name, _)| *allowed_name != name) {
                allowed.push((name.clone(), core.special_id(py, &name)?));
            }
        }
        SpecialTokens::new(allowed).map(Special::Allow).map_err(|error| errors::from_core(py, error, None))
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
        let tokens = self.tokenizer.special_tokens().tokens();
        tokens.iter().find(|(text, _)| text == name).map(|(_, id)| *id).ok_or_else(|| {
            let names: Vec<&str> = tokens.iter().map(|(text, _)| &text[..]).collect();
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
