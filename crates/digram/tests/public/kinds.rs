//! Tokenizers of all kinds, and texts for them.

use std::sync::LazyLock;

use digram::added_tokens::{AddedToken, AddedTokens, Matching};
use digram::encode::{Algorithm, Unit};
use digram::normalize::{Form, Keep, Normalizer, Stage as Normal, WordRule};
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::Pipeline;
use digram::{Definition, OnSpecial, Tokenizer};
use proptest::prelude::*;

use crate::merged::merged;

const AHEAD: &str =
    r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A special token begins another, and one stands inside another.
const SPECIAL: [&str; 4] = ["<a>", "<a>bc", "語<", "<<a>>"];

const PIECES: [&str; 22] = [
    "a", "b", "ab", "<a>", "<a>b", "<a>bc", "語<", "語", "<<a", ">>", " ", "  ", "\n", "1234", "'s", "!",
    "A", "e", "\u{301}", "\u{323}", "é", "が",
];

/// Tokens that are found in all text.
const ADDED: [(&str, Matching); 6] = [
    ("  ", Matching { normalized: true, ..PLAIN }),
    ("b!", Matching { lstrip: true, ..PLAIN }),
    ("1", Matching { single_word: true, ..PLAIN }),
    ("'s", Matching { rstrip: true, normalized: true, ..PLAIN }),
    ("語a", PLAIN),
    ("A!", Matching { normalized: true, ..PLAIN }),
];

const PLAIN: Matching =
    Matching { lstrip: false, rstrip: false, single_word: false, normalized: false, keeps_spaces: false };

/// Look-ahead, look-behind, stages one after the other, and no cuts at all. Then normalizers, without and with added
/// tokens.
pub static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let pattern = |pattern: &str| Stage::Pattern(pattern.into());
    let stages = [
        vec![pattern(AHEAD)],
        vec![pattern(r"\b\w+\b|^\W|\W+")],
        vec![pattern(r"(?m)^.+$|\s")],
        vec![Stage::ThreesFromRight, pattern(AHEAD)],
        vec![],
    ];
    let split_alone = stages.iter().map(|stages| tokenizer(stages, Vec::new(), &[]));
    let nfc = || vec![Normal::Form(Form::Nfc)];
    let several = || vec![Normal::Lowercase, Normal::Replace { pattern: " ".into(), content: "é".into() }];
    let others = [
        tokenizer(&stages[0], nfc(), &[]),
        tokenizer(&stages[4], nfc(), &ADDED[..1]),
        tokenizer(&stages[0], several(), &ADDED),
        tokenizer(&stages[2], vec![], &ADDED),
        tokenizer(&stages[0], vec![], &ADDED[4..]),
        tokenizer(&stages[4], vec![prefix()], &ADDED[4..]),
        tokenizer(
            &stages[3],
            vec![Normal::Form(Form::Nfkd), Normal::Strip { left: true, right: true }],
            &ADDED[..3],
        ),
    ];
    let bert = WordRule {
        splits: vec![r"\s+".into(), r"\p{P}".into()],
        removed: Some(r"\s".into()),
        prefix: " ".into(),
        ..WordRule::default()
    };
    let suffixed =
        WordRule { prefix: String::new(), suffix: "a".into(), space_symbol: Some('語'), ..bert.clone() };
    let prefixed = WordRule { prefix: " ".into(), ..WordRule::default() };
    let lettered = WordRule { letters: true, suffix: "a".into(), ..bert.clone() };
    let cut_again = WordRule { splits: vec![r" ?\w+".into()], removed: None, ..lettered.clone() };
    let matches = WordRule {
        splits: vec![r"(?<=a)b|\w+?[x1]".into()],
        keep: Some(Keep::Matches),
        then: Some(Box::new(bert.clone())),
        ..WordRule::default()
    };
    let between = WordRule { keep: Some(Keep::Between), then: None, ..matches.clone() };
    let twice = WordRule { then: Some(Box::new(cut_again)), ..prefixed.clone() };
    let in_words = |stages: &[Stage], stage: Normal, rule: &WordRule, added: &[(&str, Matching)]| {
        let normalizer = Normalizer::new(vec![stage]).unwrap().with_words(rule.clone());
        with_normalizer(stages, normalizer.unwrap(), added)
    };
    let of_words = [
        in_words(&stages[4], Normal::Clean, &bert, &ADDED),
        in_words(&stages[3], Normal::Lowercase, &suffixed, &ADDED[..3]),
        in_words(&stages[0], Normal::Form(Form::Nfc), &prefixed, &[]),
        in_words(&stages[4], spaces(), &WordRule { first: true, ..prefixed.clone() }, &ADDED),
        in_words(&stages[4], Normal::Form(Form::Nfc), &prefixed, &ADDED[..2]),
        in_words(&stages[4], Normal::SpaceIdeographs, &bert, &[]),
        in_words(&stages[0], Normal::Lowercase, &lettered, &ADDED),
        in_words(&stages[4], Normal::Lowercase, &matches, &ADDED[..2]),
        in_words(&stages[0], Normal::Form(Form::Nfc), &between, &[]),
        in_words(&stages[0], Normal::Form(Form::Nfc), &twice, &ADDED[..3]),
        in_words(&stages[4], Normal::Lowercase, &WordRule { then: None, ..twice.clone() }, &[]),
    ];
    let looking = [
        vec![pattern(r"(?<=[a-z]{2}|^)\p{L}(?=b*[\s'])|(?<!a)b+|\s+(?!\S|$)|[^a ]")],
        vec![pattern(r"(?<=\p{L})(?=\p{N}|\s{2})|\w+(?=\w{2}!?)|(?<=<a?)>")],
        vec![Stage::ThreesFromRight, pattern(r"(?<=12.*)\w+|(?![ab]+<).")],
        vec![
            Stage::Pattern(r"(?<=[ab]{2})\w{2}|(?=1)".into()),
            Stage::LetterPattern(r"(?<!Ã)[\p{L}]+".into()),
        ],
    ];
    let looking = looking.iter().map(|stages| tokenizer(stages, Vec::new(), &[]));
    let looking_before = [
        tokenizer(&[pattern(r"(?<=[ab!])(?=\w)|\s+(?=\w{2})")], nfc(), &ADDED),
        in_words(
            &stages[0],
            Normal::Lowercase,
            &WordRule { splits: vec![r"(?<=b)(?=a)|\s+".into()], ..bert.clone() },
            &ADDED,
        ),
    ];
    split_alone.chain(others).chain(of_words).chain(looking).chain(looking_before).collect()
});

fn spaces() -> Normal {
    Normal::ReplaceMatches { regex: r"\s+".into(), content: " ".into() }
}

fn prefix() -> Normal {
    Normal::Prepend { content: "ab".into() }
}

fn tokenizer(stages: &[Stage], normalizer: Vec<Normal>, added: &[(&str, Matching)]) -> Tokenizer {
    with_normalizer(stages, Normalizer::new(normalizer).unwrap(), added)
}

fn with_normalizer(stages: &[Stage], normalizer: Normalizer, added: &[(&str, Matching)]) -> Tokenizer {
    let mut tokens: Vec<Option<Vec<u8>>> = (0..=255).map(|byte| Some(vec![byte])).collect();
    let merges = merged(
        &mut tokens,
        &[(97, 98), (256, 97), (32, 32), (32, 97), (49, 50), (0xe8, 0xaa), (261, 0x9e), (60, 97)],
    );
    let special_tokens = SPECIAL.iter().zip(300..).map(|(text, id)| AddedToken::special(text, id));
    let added_tokens = added.iter().zip(310..).map(|(&(text, matching), id)| AddedToken {
        text: text.into(),
        id,
        is_special: false,
        matching,
        normal_form: None,
    });
    Tokenizer::new(Definition {
        tokens,
        merges,
        pipeline: Pipeline {
            added_tokens: special_tokens.chain(added_tokens).collect(),
            normalizer: Some(normalizer.into()),
            ..Pretokenizer::new(stages).unwrap().into()
        },
        unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        algorithm: Algorithm::RANKED,
    })
    .unwrap()
}

pub fn texts(maximum: usize) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => (proptest::sample::select(&PIECES[..]), 1..60usize).prop_map(|(p, n)| p.repeat(n).into_bytes()),
        1 => any::<[u8; 2]>().prop_map(|bytes| bytes.to_vec()),
    ];
    proptest::collection::vec(part, 0..maximum).prop_map(|parts| parts.concat())
}

pub fn rule(tokenizer: &Tokenizer, number: usize) -> Option<AddedTokens> {
    (number == 2).then(|| tokenizer.added_tokens().allowing(&[300, 302]).unwrap())
}

pub fn on_special(number: usize, allowed: &Option<AddedTokens>) -> OnSpecial<'_> {
    match (number, allowed) {
        (0, _) => OnSpecial::Text,
        (_, Some(allowed)) => OnSpecial::Allow(allowed),
        (_, None) => OnSpecial::Parse,
    }
}
