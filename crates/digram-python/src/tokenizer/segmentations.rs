//! Other segmentations of a text than the best one.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Core;
use super::dropout::seed_of;
use super::special::Special;
use crate::convert::Text;
use crate::errors;
use crate::signals::Signals;

#[pymethods]
impl Core {
    /// The segmentations of a text with the highest sums of scores, the best one first, for a Unigram model.
    ///
    /// >>> import digram
    /// >>> model = digram.UnigramModel([-1.0, -1.5, -2.0], unknown=-12.0)
    /// >>> tok = digram.Tokenizer(digram.Definition(
    /// ...     tokens=[b"a", b"b", b"ab"], model=model, unit="char",
    /// ...     pretokenizer=digram.Pretokenizer(None)))
    /// >>> tok.encode_best("ab", 3)
    /// [([2], -2.0), ([0, 1], -2.5)]
    ///
    /// Each is a list of ids and the sum of their scores. `count` is from 1 to 10,000; there may be fewer.
    /// Sums have double precision here, so the first segmentation may differ from `encode(text)` for a model
    /// that adds in single precision. `special` is as in `encode`.
    ///
    /// Raises `OptionError` for a model of another kind, and the errors of `encode`. Takes time linear in
    /// the text times `count`, and 16 bytes for each of both.
    #[pyo3(signature = (text, count, *, special=None), text_signature = "($self, text, count, *, special='text')")]
    fn encode_best<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        count: &Bound<'py, PyAny>,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<(Bound<'py, PyList>, f64)>> {
        let (text, special, signals) = (Text::new(text)?, Special::new(self, special)?, Signals::new());
        let (bytes, rule, count) = (text.bytes(), special.on_special(), number("count", &WHOLE, count)?);
        let found = py
            .detach(|| self.tokenizer.best_segmentations(bytes, count, rule, &signals))
            .map_err(|error| signals.error(py, error, Some(&text)))?;
        found.into_iter().map(|(ids, sum)| Ok((self.list(py, &ids)?, sum))).collect()
    }

    /// A random segmentation of a text, for training with a Unigram model (subword regularization).
    ///
    /// >>> import digram
    /// >>> model = digram.UnigramModel([-1.0, -1.5, -2.0], unknown=-12.0)
    /// >>> tok = digram.Tokenizer(digram.Definition(
    /// ...     tokens=[b"a", b"b", b"ab"], model=model, unit="char",
    /// ...     pretokenizer=digram.Pretokenizer(None)))
    /// >>> [tok.encode_sample("ab", alpha=0.5, seed=seed) for seed in range(4)]
    /// [[0, 1], [0, 1], [0, 1], [2]]
    ///
    /// The probability of a segmentation is proportional to `exp(alpha * sum)` of its sum of scores: with 0 all
    /// are equally probable, and a large `alpha` gives the best one. With `count`, one of that many best
    /// segmentations is taken. The same `seed` gives the same ids. `special` is as in `encode`.
    ///
    /// Raises `OptionError` for a model of another kind and for values out of range, and the errors of
    /// `encode`. Takes time linear in the text.
    #[pyo3(
        signature = (text, *, alpha, seed, count=None, special=None),
        text_signature = "($self, text, *, alpha, seed, count=None, special='text')"
    )]
    fn encode_sample<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        alpha: &Bound<'py, PyAny>,
        seed: &Bound<'py, PyAny>,
        count: Option<&Bound<'py, PyAny>>,
        special: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (text, special, signals) = (Text::new(text)?, Special::new(self, special)?, Signals::new());
        let (seed, alpha) = (seed_of(Some(seed))?.unwrap_or_default(), number("alpha", &REAL, alpha)?);
        let count = count.map(|count| number("count", &WHOLE, count)).transpose()?;
        let (bytes, rule) = (text.bytes(), special.on_special());
        let ids = py
            .detach(|| self.tokenizer.sample_segmentation(bytes, alpha, seed, count, rule, &signals))
            .map_err(|error| signals.error(py, error, Some(&text)))?;
        self.list(py, &ids)
    }
}

/// The name of a kind of number, and the method that converts an object to it.
const WHOLE: [&str; 2] = ["a whole number", "__index__"];
const REAL: [&str; 2] = ["a number", "__float__"];

/// A number that an argument is. One that is too large, or below 0, is an `OptionError`.
fn number<'py, T>(name: &str, [kind, method]: &[&str; 2], value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => match errors::shown_repr(value) {
            Ok(shown) => errors::raise(value.py(), "OptionError", format!("{name}={shown} is out of range.")),
            Err(error) => error,
        },
        false => errors::unless_has(&[method], value, &format!("{name} is {kind}"), error),
    })
}
