//! Cutting text into pretokens.
//!
//! ```
//! use digram::pretokenize::{Pretokenizer, Stage};
//!
//! let words = Pretokenizer::new(&[Stage::Pattern(r" ?\p{L}+|\s+(?!\S)|\s+".into())])?;
//! let pieces: Vec<&[u8]> = words.split(b"two  words");
//! assert_eq!(pieces, [&b"two"[..], b" ", b" words"]);
//! # Ok::<(), digram::Error>(())
//! ```

mod alphabet;
mod automaton;
mod digits;
mod pattern;

use std::convert::Infallible;
use std::ops::ControlFlow;

use automaton::Automaton;

use crate::error::Result;

/// One split; what stands between its matches becomes pieces too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Cut at each match of a regex.
    Pattern(String),
    /// Cut runs of digits (`\p{N}`) into groups of three, counted from the right.
    ThreesFromRight,
}

enum Compiled {
    Pattern(Box<Automaton>),
    ThreesFromRight(Box<Automaton>),
}

/// Cuts text into pretokens: its stages one after the other, each on every piece of the one before.
///
/// The pieces of a text always join to the text. Without stages a text is one piece; an empty text
/// has none.
pub struct Pretokenizer {
    stages: Vec<Compiled>,
}

impl std::fmt::Debug for Pretokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pretokenizer({} stages)", self.stages.len())
    }
}

impl Pretokenizer {
    /// Compiles the stages; [`crate::Error::Pattern`] says which pattern is not supported and why.
    pub fn new(stages: &[Stage]) -> Result<Pretokenizer> {
        let compile = |stage: &Stage| {
            Ok(match stage {
                Stage::Pattern(pattern) => Compiled::Pattern(Box::new(Automaton::new(pattern)?)),
                Stage::ThreesFromRight => Compiled::ThreesFromRight(Box::new(Automaton::new(r"\p{N}+")?)),
            })
        };
        Ok(Pretokenizer { stages: stages.iter().map(compile).collect::<Result<_>>()? })
    }

    /// Whether no text is ever cut.
    pub fn is_whole(&self) -> bool {
        self.stages.is_empty()
    }

    /// All pretokens of `text`, in order.
    pub fn split<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let mut pieces = Vec::new();
        let ControlFlow::Continue(()) = self.try_for_each(text, |piece| {
            pieces.push(piece);
            ControlFlow::<Infallible>::Continue(())
        });
        pieces
    }

    /// Calls `visit` with each pretoken of `text`, in order, until it breaks.
    ///
    /// Bytes that are not UTF-8 are cut as U+FFFD would be. Takes time linear in the text.
    #[inline]
    pub fn try_for_each<'t, B>(
        &self,
        text: &'t [u8],
        mut visit: impl FnMut(&'t [u8]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match &self.stages[..] {
            [] if text.is_empty() => ControlFlow::Continue(()),
            [] => visit(text),
            // By far the most frequent case, kept free of dynamic calls.
            [Compiled::Pattern(automaton)] => {
                flow(automaton.split(text, |start, end| result(visit(&text[start..end]))))
            }
            stages => flow(split_by(stages, text, &mut |piece| result(visit(piece)))),
        }
    }
}

type Visit<'v, 't, B> = &'v mut dyn FnMut(&'t [u8]) -> std::result::Result<(), B>;

fn split_by<'t, B>(
    stages: &[Compiled],
    text: &'t [u8],
    visit: Visit<'_, 't, B>,
) -> std::result::Result<(), B> {
    let Some((first, rest)) = stages.split_first() else {
        return visit(text);
    };
    match first {
        Compiled::Pattern(automaton) => {
            automaton.split(text, |start, end| split_by(rest, &text[start..end], visit))
        }
        Compiled::ThreesFromRight(runs) => runs.split(text, |start, end| {
            let run = &text[start..end];
            if runs.matches_at_start(run) {
                digits::threes_from_right(run).try_for_each(|group| split_by(rest, group, visit))
            } else {
                split_by(rest, run, visit)
            }
        }),
    }
}

fn flow<B>(result: std::result::Result<(), B>) -> ControlFlow<B> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(broken) => ControlFlow::Break(broken),
    }
}

fn result<B>(flow: ControlFlow<B>) -> std::result::Result<(), B> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(broken) => Err(broken),
    }
}
