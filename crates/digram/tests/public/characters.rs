//! Words of characters, by ranks and by scores, compared with merging as it is defined.

use digram::encode::{Addition, Algorithm, OnUnknown, Scores, Unit};
use digram::merges::Merge;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::{Definition, Tokenizer};
use digram::{Never, OnSpecial};
use proptest::prelude::*;

use crate::cases::cases;
use crate::naive;

/// The first ids are those of the bytes of unknown characters.
const FIRST: u32 = 256;

/// Of one to four bytes, with tokens.
const KNOWN: [char; 8] = ['a', 'b', 'c', ' ', 'é', 'ж', '語', '😀'];

/// Without tokens: some of them share bytes with those above.
const UNKNOWN: [char; 4] = ['\u{1}', 'z', 'è', '誟'];

/// The tokens of bytes and characters, and those that choices of two tokens make.
fn vocabulary(choices: &[(usize, usize)]) -> (Vec<Vec<u8>>, Vec<Merge>) {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend(KNOWN.map(|c| c.to_string().into_bytes()));
    let mut merges: Vec<Merge> = Vec::new();
    for &(left, right) in choices {
        let part = |choice: usize| FIRST + (choice % (tokens.len() - FIRST as usize)) as u32;
        let (left, right) = (part(left), part(right));
        let made = [&tokens[left as usize][..], &tokens[right as usize]].concat();
        if made.len() < 100 && !tokens.contains(&made) {
            merges.push(Merge { left, right, id: tokens.len() as u32 });
            tokens.push(made);
        }
    }
    (tokens, merges)
}

/// The symbols of a word.
fn symbols(word: &str, tokens: &[Vec<u8>]) -> Vec<u32> {
    let symbol = |c: char| match KNOWN.contains(&c) {
        true => {
            let known = tokens[FIRST as usize..].iter().position(|token| *token == c.to_string().as_bytes());
            vec![FIRST + known.unwrap() as u32]
        }
        false => c.to_string().bytes().map(u32::from).collect(),
    };
    word.chars().flat_map(symbol).collect()
}

/// Of two neighbours that are a token, those with the highest score, of equal scores the leftmost, until there are none.
fn merged_by_scores(mut ids: Vec<u32>, tokens: &[Vec<u8>], scores: &[Option<f64>]) -> Vec<u32> {
    let token = |pair: &[u32]| {
        let made = [&tokens[pair[0] as usize][..], &tokens[pair[1] as usize]].concat();
        let id = tokens[FIRST as usize..].iter().position(|token| *token == made)? as u32 + FIRST;
        (pair[0].min(pair[1]) >= FIRST).then_some(id)
    };
    loop {
        let pairs = ids.windows(2).enumerate().filter_map(|(at, pair)| Some((at, token(pair)?)));
        let score = |id: u32| scores[id as usize].unwrap();
        let best = pairs.reduce(|best, other| if score(other.1) > score(best.1) { other } else { best });
        let Some((at, id)) = best else { return ids };
        ids.splice(at..at + 2, [id]);
    }
}

fn made(tokens: &[Vec<u8>], merges: &[Merge], algorithm: Algorithm, pattern: Option<&str>) -> Tokenizer {
    let stages: Vec<Stage> = pattern.map(|pattern| Stage::Pattern(pattern.into())).into_iter().collect();
    let ids = Box::new(std::array::from_fn(|byte| byte as u32));
    Tokenizer::new(Definition {
        tokens: tokens.iter().cloned().map(Some).collect(),
        merges: merges.to_vec(),
        unit: Unit::Char { on_unknown: OnUnknown::Bytes { ids } },
        pipeline: Pretokenizer::new(&stages).unwrap().into(),
        algorithm,
    })
    .unwrap()
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text.as_bytes(), OnSpecial::Text, &Never, &mut ids).unwrap();
    ids
}

fn words() -> impl Strategy<Value = Vec<String>> {
    let letter = prop_oneof![
        12 => proptest::sample::select(&KNOWN[..3]),
        6 => proptest::sample::select(&KNOWN[3..]),
        1 => proptest::sample::select(&UNKNOWN[..])
    ];
    let ascii = proptest::sample::select(&KNOWN[..3]);
    let word = |letter: BoxedStrategy<char>| {
        let len = prop_oneof![4 => 1..12usize, 1 => 12..70usize];
        len.prop_flat_map(move |len| proptest::collection::vec(letter.clone(), len))
    };
    let word = prop_oneof![word(letter.boxed()), word(ascii.boxed())];
    proptest::collection::vec(word.prop_map(|word| word.into_iter().collect()), 1..40)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn characters_are_merged_by_rank_as_defined(
        choices in proptest::collection::vec((0usize..60, 0usize..60), 0..60),
        words in words(),
    ) {
        let (tokens, merges) = vocabulary(&choices);
        let alone = made(&tokens, &merges, Algorithm::RANKED, None);
        for word in &words {
            prop_assert_eq!(encode(&alone, word), naive::encode(symbols(word, &tokens), &merges), "{}", word);
        }
        let split = made(&tokens, &merges, Algorithm::RANKED, Some("\n|[^\n]+"));
        let expected: Vec<u32> = words
            .iter()
            .flat_map(|word| [naive::encode(symbols(word, &tokens), &merges), vec![u32::from(b'\n')]].concat())
            .collect();
        let text = words.join("\n") + "\n";
        prop_assert_eq!(encode(&split, &text), expected);
    }

    #[test]
    fn characters_are_merged_by_scores_as_defined(
        choices in proptest::collection::vec((0usize..60, 0usize..60), 0..60),
        // With two tokens of one score, and without any.
        numbers in prop_oneof![
            2 => Just((0..70).collect::<Vec<i32>>()).prop_shuffle(),
            1 => Just((0..70).collect::<Vec<i32>>()),
            1 => proptest::collection::vec(0..70i32, 70)
        ],
        words in words(),
    ) {
        let (tokens, _) = vocabulary(&choices);
        let score = |id: usize| id.checked_sub(FIRST as usize).map(|number| -f64::from(numbers[number]));
        let pieces: Vec<Option<f64>> = (0..tokens.len()).map(score).collect();
        let scores = Scores { pieces: pieces.clone(), unknown: 0.0, addition: Addition::Single, spelled: Vec::new() };
        let algorithm = Algorithm::Scored { scores: scores.into(), unused: Vec::new() };
        let expected = |word: &str| merged_by_scores(symbols(word, &tokens), &tokens, &pieces);
        let alone = made(&tokens, &[], algorithm.clone(), None);
        for word in &words {
            prop_assert_eq!(encode(&alone, word), expected(word), "{}", word);
        }
        // One after the other, where they may join, and as words.
        let text: String = words.iter().take(8).map(String::as_str).collect();
        prop_assert_eq!(encode(&alone, &text), expected(&text), "{}", text);
        let split = made(&tokens, &[], algorithm, Some("\n|[^\n]+"));
        let all: Vec<u32> = words.iter().flat_map(|word| [expected(word), vec![u32::from(b'\n')]].concat()).collect();
        let text = words.join("\n") + "\n";
        prop_assert_eq!(encode(&split, &text), all);
    }
}
