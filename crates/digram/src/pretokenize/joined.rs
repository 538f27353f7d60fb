//! Stages that can be one: a text is then read once.
//!
//! Splitting at runs of white space, and then at each punctuation character, gives what one pattern gives that matches
//! either: no match of one is near a match of the other, since no character is of both kinds.

use super::Stage;
use super::effort::Effort;
use super::node::{Node, Sets};
use super::set::Set;
use super::syntax;

/// The stages, with those joined that follow one another and match disjoint sets of characters.
pub(super) fn joined(stages: &[Stage], effort: &mut Effort) -> Vec<Stage> {
    if stages.len() < 2 {
        return stages.to_vec();
    }
    let mut joined: Vec<Stage> = Vec::with_capacity(stages.len());
    // The characters of the last of them, if it may be joined with the next.
    let mut last: Option<Set> = None;
    for stage in stages {
        let set = match stage {
            Stage::Pattern(pattern) => characters(pattern, effort),
            _ => None,
        };
        match (joined.last_mut(), stage, &last, &set) {
            (Some(Stage::Pattern(before)), Stage::Pattern(pattern), Some(others), Some(set))
                if others.intersection(set).is_empty() =>
            {
                *before = format!("{before}|{pattern}");
                last = Some(others.union(set));
            }
            _ => {
                joined.push(stage.clone());
                last = set;
            }
        }
    }
    joined
}

/// The characters of a pattern that matches single characters, or runs, of one set, and whose text stays the same
/// pattern beside others.
fn characters(pattern: &str, effort: &mut Effort) -> Option<Set> {
    // Flags, among them that by which white space and comments have no effect, would reach the other pattern.
    if pattern.contains("(?") {
        return None;
    }
    let mut sets = Sets::default();
    let of = |node: &Node, sets: &Sets| match node {
        Node::Set(number) => Some(sets.get(*number).clone()),
        Node::Literal(text) if text.len() == 1 => Some(Set::one(text[0])),
        _ => None,
    };
    // What the parser does not read is compiled, or refused, as a stage of its own.
    match syntax::read(pattern, &mut sets, effort).ok()? {
        Node::Repeat { part, min: 1, max: None, greedy: true } => of(&part, &sets),
        node => of(&node, &sets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;
    use crate::pretokenize::Pretokenizer;
    use proptest::prelude::*;

    const PATTERNS: [&str; 8] =
        [r"\s+", r"[,.!]", r"\p{Han}", "a", "[a-c]+", r"\p{L}+", r"(?i)a", r"\s+(?!\S)|x"];

    fn stages(numbers: &[usize]) -> Vec<Stage> {
        numbers.iter().map(|&number| Stage::Pattern(PATTERNS[number].into())).collect()
    }

    #[test]
    fn disjoint_sets_are_joined() {
        let joined = |numbers: &[usize]| joined(&stages(numbers), &mut Effort::new(&Never)).len();
        assert_eq!([joined(&[0, 1]), joined(&[0, 1, 2]), joined(&[3, 0, 1])], [1, 1, 1]);
        assert_eq!([joined(&[3, 4]), joined(&[0, 6]), joined(&[0, 7]), joined(&[2, 5])], [2, 2, 2, 2]);
    }

    proptest! {
        #[test]
        fn joined_stages_split_as_one_after_the_other(
            numbers in prop::collection::vec(0..PATTERNS.len(), 1..4),
            // Pieces of fewer and of more bytes than are read at once.
            text in prop::collection::vec(
                (prop::sample::select(vec!["a", "b", "c", "x", " ", ",", ".", "!", "\n", "語", "é", "1"]), 1..9usize),
                0..20,
            ),
        ) {
            let text: String = text.into_iter().map(|(c, times)| c.repeat(if times == 8 { 70 } else { 1 })).collect();
            let stages = stages(&numbers);
            let mut pieces = vec![text.as_bytes()];
            for stage in &stages {
                let one = Pretokenizer::new(std::slice::from_ref(stage)).unwrap();
                pieces = pieces.into_iter().flat_map(|piece| one.split(piece)).collect();
            }
            pieces.retain(|piece| !piece.is_empty());
            let all = Pretokenizer::new(&stages).unwrap();
            prop_assert_eq!(all.split(text.as_bytes()), pieces);
        }
    }
}
