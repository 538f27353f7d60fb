//! Splits are those of backtracking, also over the borders of windows, which are few bytes apart here.

use std::convert::Infallible;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::Looking;
use crate::interrupt::Never;
use crate::pretokenize::GoesOn;
use crate::pretokenize::effort::Effort;
use crate::pretokenize::looking::Source;
use crate::pretokenize::node::{Around, Look, Node, Sets};
use crate::pretokenize::pattern::compile;
use crate::pretokenize::syntax::read_source;
use crate::pretokenize::unicode;

const PARTS: [&str; 14] =
    ["a", "b", "é", "[ab]", "[^a]", ".", r"\s", r"\w", r"\b", r"\B", "^", "$", "(?m:^)", "(?m:$)"];

fn patterns() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(&PARTS[..]).prop_map(str::to_owned);
    const GROUPS: [&str; 7] = ["(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?>"];
    const REPEATS: [&str; 10] = ["", "", "", "?", "+", "*", "{2}", "{1,2}", "??", "+?"];
    part.prop_recursive(4, 16, 4, move |inner| {
        let several = proptest::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several.clone().prop_map(|parts| parts.concat()),
            several.prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (
                proptest::sample::select(&GROUPS[..]).prop_map(str::to_owned),
                inner,
                proptest::sample::select(&REPEATS[..]).prop_map(str::to_owned)
            )
                .prop_map(|(group, inner, repeat)| format!("{group}{inner}){repeat}")),
        ]
    })
}

/// Matching by backtracking: what a pattern means.
struct Backtracking<'a> {
    text: &'a [char],
    sets: &'a Sets,
}

impl Backtracking<'_> {
    /// Calls `then` with the end of each way to match, most preferred first, until it is true.
    fn matches(&self, node: &Node, at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
        match node {
            Node::Empty => then(at),
            Node::Literal(literal) => self.text[at..].starts_with(literal) && then(at + literal.len()),
            Node::Set(set) => {
                self.text.get(at).is_some_and(|&c| self.sets.get(*set).holds(c)) && then(at + 1)
            }
            Node::Look(look) => self.holds(*look, at) && then(at),
            Node::Around(Around { ahead, negate }, body) => {
                let found = match ahead {
                    true => self.matches(body, at, &mut |_| true),
                    false => (0..=at).any(|start| self.matches(body, start, &mut |end| end == at)),
                };
                found != *negate && then(at)
            }
            Node::Repeat { part, min, max, greedy } => self.repeat(part, (*min, *max, *greedy), at, then),
            Node::Group(_, part) => self.matches(part, at, then),
            Node::Atomic(part) => {
                let mut first = None;
                self.matches(part, at, &mut |end| {
                    first = Some(end);
                    true
                });
                first.is_some_and(then)
            }
            Node::Concat(parts) => match parts.split_first() {
                None => then(at),
                Some((first, rest)) => {
                    let rest = Node::Concat(rest.to_vec());
                    self.matches(first, at, &mut |at| self.matches(&rest, at, then))
                }
            },
            Node::Alternation(parts) => parts.iter().any(|part| self.matches(part, at, then)),
        }
    }

    fn repeat(
        &self,
        part: &Node,
        (min, max, greedy): (u32, Option<u32>, bool),
        at: usize,
        then: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        if min == 0 && !greedy && then(at) {
            return true;
        }
        let fewer = (min.saturating_sub(1), max.map(|max| max.saturating_sub(1)), greedy);
        let again = max != Some(0) && self.matches(part, at, &mut |end| self.repeat(part, fewer, end, then));
        again || min == 0 && greedy && then(at)
    }

    fn holds(&self, look: Look, at: usize) -> bool {
        let before = at.checked_sub(1).map(|at| self.text[at]);
        let next = self.text.get(at).copied();
        let is_word = |c: Option<char>| c.is_some_and(|c| unicode::word().holds(c));
        match look {
            Look::Start => before.is_none(),
            Look::End => next.is_none(),
            Look::LineStart => before.is_none_or(|c| c == '\n'),
            Look::LineEnd => next.is_none_or(|c| c == '\n'),
            Look::WordBorder => is_word(before) != is_word(next),
            Look::NotWordBorder => is_word(before) == is_word(next),
            Look::Other => unreachable!("not in these patterns"),
        }
    }

    fn ends(&self, node: &Node) -> Vec<usize> {
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < self.text.len() {
            let mut found = None;
            self.matches(node, at, &mut |end| {
                found = Some(end);
                true
            });
            ends.extend(found.map(|_| at));
            ends.extend(found);
            at = found.unwrap_or(at).max(at + usize::from(found.is_none_or(|end| end == at)));
        }
        ends.push(self.text.len());
        ends.retain(|&end| end > 0);
        ends.sort_unstable();
        ends.dedup();
        ends
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splits_are_those_of_backtracking(
        pattern in patterns(),
        texts in proptest::collection::vec(proptest::collection::vec(proptest::sample::select(&['a', 'b', 'é', 'A', ' ', '\n', '語'][..]), 0..24), 6),
    ) {
        let effort = &mut Effort::new(&Never);
        let Ok(program) = compile(&pattern, effort) else { return Ok(()) };
        let Ok(looking) = Looking::new(&program, effort) else { return Ok(()) };
        let mut sets = Sets::default();
        let node = read_source(&Source::new(&pattern).unwrap(), &mut sets, effort).unwrap();
        for text in texts {
            let bytes = text.iter().collect::<String>();
            let mut found = Vec::new();
            let ControlFlow::Continue(end) = looking.split(bytes.as_bytes(), 0, GoesOn::No, |end| {
                // The last end again is a pause.
                if end > found.last().copied().unwrap_or(0) {
                    found.push(end);
                }
                ControlFlow::<Infallible>::Continue(())
            });
            prop_assert_eq!(end, bytes.len());
            let offsets: Vec<usize> = bytes.char_indices().map(|(offset, _)| offset).chain([bytes.len()]).collect();
            let expected = Backtracking { text: &text, sets: &sets }.ends(&node);
            let expected: Vec<usize> = expected.into_iter().map(|end| offsets[end]).collect();
            prop_assert_eq!(&found, &expected, "{} {:?}", pattern, bytes);
        }
    }
}
