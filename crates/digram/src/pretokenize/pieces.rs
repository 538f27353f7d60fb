//! The pieces into which a pattern splits a text, each with whether it is a match.
//!
//! Splitting itself does not tell matches from the text between them, and is much faster.

use std::ops::{ControlFlow, Range};

use super::automaton::Notes;
use super::{Compiled, PAUSE_INTERVAL, Pretokenizer};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::utf8::decode;

impl Pretokenizer {
    /// Calls `visit` with each piece of `text`, and whether it is a match. There is one pattern.
    pub(crate) fn for_pieces(
        &self,
        text: &[u8],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(Range<usize>, bool) -> Result<()>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        let mut visit = |piece: Range<usize>, is_match| {
            let length = piece.len();
            into_flow(visit(piece, is_match).and_then(|()| pacer.after(length)))
        };
        let mut pause = || into_flow(interrupt.check());
        let flow = match &self.stages[..] {
            [Compiled::Pattern(pattern)] => {
                let mut notes = Notes::default();
                let longest = |at, pause: &mut dyn FnMut() -> ControlFlow<Error>| {
                    pattern
                        .automaton
                        .longest(text, at, &mut notes, pause)
                        .map_continue(|end| (end > at).then_some(end))
                };
                pieces(text, longest, &mut pause, &mut visit)
            }
            [Compiled::Looking(looking)] => looking.pieces(text, &mut pause, &mut visit),
            _ => visit(0..text.len(), false),
        };
        match flow {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

fn into_flow(result: Result<()>) -> ControlFlow<Error> {
    result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
}

/// Calls `visit` with each piece, by the end of the match at a position, which is the position itself for an empty one.
pub(super) fn pieces<B>(
    text: &[u8],
    mut longest: impl FnMut(usize, &mut dyn FnMut() -> ControlFlow<B>) -> ControlFlow<B, Option<usize>>,
    pause: &mut dyn FnMut() -> ControlFlow<B>,
    visit: &mut dyn FnMut(Range<usize>, bool) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let (mut last_end, mut position) = (0, 0);
    let mut next_pause = PAUSE_INTERVAL;
    while position < text.len() {
        match longest(position, pause)? {
            Some(end) if end > position => {
                if last_end < position {
                    visit(last_end..position, false)?;
                }
                visit(position..end, true)?;
                (last_end, position) = (end, end);
            }
            found => {
                if found.is_some() && last_end < position {
                    visit(last_end..position, false)?;
                    last_end = position;
                }
                position += decode(&text[position..]).1;
            }
        }
        if position >= next_pause {
            next_pause = position + PAUSE_INTERVAL;
            pause()?;
        }
    }
    if last_end < text.len() { visit(last_end..text.len(), false) } else { ControlFlow::Continue(()) }
}

#[cfg(test)]
mod tests {
    use super::super::Stage;
    use super::*;
    use crate::interrupt::Never;

    fn pieces_of<'t>(pattern: &str, text: &'t str) -> Vec<(&'t str, bool)> {
        let splitter = Pretokenizer::new(&[Stage::Pattern(pattern.into())]).unwrap();
        let mut found = Vec::new();
        let collect = |piece: Range<usize>, is_match| {
            found.push((&text[piece], is_match));
            Ok(())
        };
        splitter.for_pieces(text.as_bytes(), &Never, collect).unwrap();
        assert_eq!(
            found.iter().map(|(piece, _)| piece.as_bytes()).collect::<Vec<_>>(),
            splitter.split(text.as_bytes())
        );
        found
    }

    #[test]
    fn matches_are_told_from_the_text_between() {
        assert_eq!(pieces_of("ab|é+", "abxéé"), [("ab", true), ("x", false), ("éé", true)]);
        assert_eq!(pieces_of("a+b", "aaca"), [("aaca", false)]);
        assert_eq!(pieces_of("ab(?!c)", "abcab"), [("abc", false), ("ab", true)]);
        assert_eq!(
            pieces_of("(?<=xy.*)a", "axya a"),
            [("axy", false), ("a", true), (" ", false), ("a", true)]
        );
        assert_eq!(
            pieces_of("(?<=a)(?=b)|c", "abcab"),
            [("a", false), ("b", false), ("c", true), ("a", false), ("b", false)]
        );
        assert_eq!(pieces_of("a", ""), []);
    }
}
