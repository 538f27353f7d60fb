//! Characters with the spaces that belong to them, compared with merging as it is defined.

use digram::encode::{Affixes, Algorithm, OnUnknown, Unit};
use digram::merges::Merge;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::{Definition, Tokenizer};
use digram::{Never, OnSpecial};
use proptest::prelude::*;

use crate::naive;

const UNKNOWN: u32 = 0;
/// Of one, two and three bytes; the last one has no tokens.
const LETTERS: [char; 5] = ['a', 'b', 'é', '日', 'x'];

/// The tokens of letters at all places of a word, and merges of those that can be neighbours.
fn vocabulary(prefix: bool, ends: bool, choices: &[(usize, usize)]) -> (Vec<String>, Vec<Merge>) {
    let mut tokens = vec!["?".to_string()];
    for letter in &LETTERS[..4] {
        for before in [false, true] {
            for behind in [false, true] {
                if (prefix || !before) && (ends || !behind) {
                    tokens.push(format!(
                        "{}{letter}{}",
                        ["", " "][usize::from(before)],
                        ["", " "][usize::from(behind)]
                    ));
                }
            }
        }
    }
    let mut merges: Vec<Merge> = Vec::new();
    for &(left, right) in choices {
        let (left, right) = (1 + left % (tokens.len() - 1), 1 + right % (tokens.len() - 1));
        let made = format!("{}{}", tokens[left], tokens[right]);
        let is_inside = !tokens[left].ends_with(' ') && !tokens[right].starts_with(' ');
        if is_inside && made.len() < 40 && !tokens.contains(&made) {
            merges.push(Merge { left: left as u32, right: right as u32, id: tokens.len() as u32 });
            tokens.push(made);
        }
    }
    (tokens, merges)
}

/// The ids of letters by their text with spaces.
fn letters(word: &str, tokens: &[String], prefix: bool, ends: bool) -> Vec<u32> {
    let last = word.chars().count() - 1;
    let letter = |(place, c): (usize, char)| {
        let before = if prefix && place == 0 { " " } else { "" };
        let behind = if ends && place == last { " " } else { "" };
        let text = format!("{before}{c}{behind}");
        tokens.iter().position(|token| *token == text).map_or(UNKNOWN, |id| id as u32)
    };
    word.chars().enumerate().map(letter).collect()
}

proptest! {
    #[test]
    fn words_are_merged_as_defined(
        (prefix, ends) in prop_oneof![Just((false, true)), Just((true, false)), Just((true, true))],
        choices in proptest::collection::vec((0usize..60, 0usize..60), 0..40),
        words in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(proptest::sample::select(&LETTERS[..]), 1..9),
                proptest::collection::vec(proptest::sample::select(&LETTERS[..4]), 20..90),
            ],
            1..6,
        ),
    ) {
        let (tokens, merges) = vocabulary(prefix, ends, &choices);
        let words: Vec<String> = words.into_iter().map(|word| word.into_iter().collect()).collect();
        let expected: Vec<u32> =
            words.iter().flat_map(|word| naive::encode(letters(word, &tokens, prefix, ends), &merges)).collect();
        // A word and the spaces that belong to it.
        let pattern = format!("{}[^ ]+{}", ["", " ?"][usize::from(prefix)], ["", " ?"][usize::from(ends)]);
        let definition = Definition {
            tokens: tokens.iter().map(|token| Some(token.clone().into_bytes())).collect(),
            merges,
            pipeline: Pretokenizer::new(&[Stage::Pattern(pattern)]).unwrap().into(),
            unit: Unit::Char { on_unknown: OnUnknown::Token(UNKNOWN) },
            algorithm: Algorithm::Ranked {
                ignore_merges: false,
                fuses_unknown: false,
                affixes: Affixes { prefix: prefix.then(|| "##".into()), suffix: ends.then(|| "</w>".into()) },
            },
        };
        let tokenizer = Tokenizer::new(definition).unwrap();
        let (before, behind) = (["", " "][usize::from(prefix)], ["", " "][usize::from(ends)]);
        let text: String = words.iter().map(|word| format!("{before}{word}{behind}")).collect();
        let mut ids = Vec::new();
        tokenizer.encode(text.as_bytes(), OnSpecial::Text, &Never, &mut ids).unwrap();
        prop_assert_eq!(ids, expected);
    }
}
