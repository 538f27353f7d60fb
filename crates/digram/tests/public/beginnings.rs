//! What is known from the beginning of a text is true of the whole text.

use std::sync::LazyLock;

use digram::added_tokens::{AddedToken, Matching};
use digram::encode::{Addition, Algorithm, OnUnknown, Scores, Unit};
use digram::normalize::{AddedSpace, Form, Normalizer, SentencePiece, Stage as Normal, WordRule};
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::{Pipeline, Side, beginnings};
use digram::{Definition, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use crate::cases::cases;
use crate::kinds::{TOKENIZERS, on_special, rule, texts};
use crate::merged::merged;

/// Tokenizers of characters: with merges, with scores of merges, and with scores of segmentations.
static OF_CHARACTERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let replace =
        |pattern: &str, content: &str| Normal::Replace { pattern: pattern.into(), content: content.into() };
    let llama = || vec![Normal::Prepend { content: " ".into() }, replace("\n", " ")];
    let strip = vec![Normal::Form(Form::Nfkc), Normal::Strip { left: true, right: true }];
    let mut found = Vec::new();
    for model in [Model::Ranked, Model::Scored, Model::Unigram, Model::UnigramWithoutBytes] {
        for stages in [
            llama(),
            sentencepiece(AddedSpace::Before, true),
            sentencepiece(AddedSpace::BeforeWord, false),
            sentencepiece(AddedSpace::BeforeWord, true),
            sentencepiece(AddedSpace::Behind, true),
            sentencepiece(AddedSpace::No, true),
            strip.clone(),
        ] {
            found.push(of_characters(model, Normalizer::new(stages).unwrap(), &[]));
        }
        let at_start = WordRule { prefix: " ".into(), first: true, ..WordRule::default() };
        let rules = [
            at_start.clone(),
            WordRule { first: false, ..at_start.clone() },
            WordRule { prefix: "ab".into(), ..WordRule::default() },
            WordRule { splits: vec![r"\s+".into()], removed: Some(r"\s".into()), ..at_start },
        ];
        for rule in rules {
            let normalizer = Normalizer::new(vec![]).unwrap().with_words(rule).unwrap();
            found.push(of_characters(model, normalizer, &[]));
        }
        let split = Stage::Pattern(r" ?\S+".into());
        found.push(of_characters(model, Normalizer::new(llama()).unwrap(), &[split]));
    }
    found
});

/// The stage of SentencePiece, in which some symbols remain as they are.
fn sentencepiece(added_space: AddedSpace, removes_spaces: bool) -> Vec<Normal> {
    let symbols = vec!["b!".into(), "a  ".into()];
    vec![Normal::SentencePiece(SentencePiece { charsmap: Vec::new(), added_space, removes_spaces, symbols })]
}

#[derive(Clone, Copy)]
enum Model {
    Ranked,
    Scored,
    Unigram,
    UnigramWithoutBytes,
}

/// "1" and "が" are unknown, and so is "A".
fn of_characters(model: Model, normalizer: Normalizer, stages: &[Stage]) -> Tokenizer {
    let has_bytes = !matches!(model, Model::UnigramWithoutBytes);
    let byte = |byte: u8| if has_bytes { Some(vec![byte]) } else { (byte == 0).then(|| b"?".to_vec()) };
    let mut tokens: Vec<Option<Vec<u8>>> = (0..=255).map(byte).collect();
    tokens.extend(["a", "b", " ", "語", "<", ">", "!", "é", "e"].map(|c| Some(c.as_bytes().to_vec())));
    let pairs =
        [(256, 257), (258, 256), (258, 258), (265, 256), (258, 259), (259, 256), (262, 262), (266, 264)];
    let merges = merged(&mut tokens, &pairs);
    let piece = |id: usize| (id >= 256).then(|| -((id * 7 % 5) as f64) - 0.25);
    let scores = |addition| {
        let pieces = (0..tokens.len()).map(piece).collect();
        Scores { pieces, unknown: -20.0, addition, spelled: Vec::new() }.into()
    };
    let algorithm = match model {
        Model::Ranked => Algorithm::RANKED,
        Model::Scored => Algorithm::Scored { scores: scores(Addition::Single), unused: Vec::new() },
        Model::Unigram => Algorithm::Unigram(scores(Addition::Single)),
        Model::UnigramWithoutBytes => Algorithm::Unigram(scores(Addition::Double)),
    };
    let has_merges = matches!(model, Model::Ranked);
    let on_unknown = match has_bytes {
        true => OnUnknown::Bytes { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        false => OnUnknown::Token(0),
    };
    let with = |text: &str, id, matching| AddedToken { matching, ..AddedToken::special(text, id) };
    let plain = Matching::default();
    Tokenizer::new(Definition {
        tokens,
        merges: if has_merges { merges } else { Vec::new() },
        pipeline: Pipeline {
            added_tokens: vec![
                with("<a>", 300, plain),
                with("<a>bc", 301, Matching { normalized: true, ..plain }),
                with("語<", 302, Matching { rstrip: true, ..plain }),
            ],
            normalizer: Some(normalizer.into()),
            ..Pretokenizer::new(stages).unwrap().into()
        },
        unit: Unit::Char { on_unknown },
        algorithm,
    })
    .unwrap()
}

/// Whether the beginning of a text of a length says what is true of it.
fn check(tokenizer: &Tokenizer, text: &[u8], len: usize, maximum: usize, special: OnSpecial<'_>) -> bool {
    let beginning = &text[..len];
    let count = tokenizer.count(text, special, &Never).unwrap();
    let exceeds = tokenizer.beginning_exceeds(beginning, maximum, special, &Never).unwrap();
    assert!(!exceeds || count > maximum, "{count} {maximum}");
    let end = tokenizer.truncate_beginning(beginning, maximum, special, &Never).unwrap();
    // What is shorter than two beginnings is read as a whole.
    if let Some(end) = end
        && beginnings(maximum, text.len()).next().is_none()
    {
        let kept = tokenizer.truncate(text, maximum, Side::Right, special, &Never).unwrap();
        assert_eq!(0..end, kept);
    }
    assert_eq!(exceeds, end.is_some());
    exceeds
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn a_beginning_says_what_is_true_of_the_text(
        number in 0..TOKENIZERS.len(), text in texts(40), part in 0.0..=1.0, maximum in 0..40usize, special in 0..3usize
    ) {
        let tokenizer = &TOKENIZERS[number];
        let allowed = rule(tokenizer, special);
        let len = (text.len() as f64 * part) as usize;
        check(tokenizer, &text, len, maximum, on_special(special, &allowed));
    }

    #[test]
    fn so_does_one_of_characters(
        number in 0..OF_CHARACTERS.len(), text in texts(40), part in 0.0..=1.0, maximum in 0..40usize, parses: bool
    ) {
        let text = String::from_utf8_lossy(&text).into_owned().into_bytes();
        let special = if parses { OnSpecial::Parse } else { OnSpecial::Text };
        let len = (text.len() as f64 * part) as usize;
        check(&OF_CHARACTERS[number], &text, len, maximum, special);
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn long_texts_are_truncated_like_shorter_ones(
        number in 0..TOKENIZERS.len() + OF_CHARACTERS.len(), text in texts(40), maximum in 0..200usize
    ) {
        let tokenizer = TOKENIZERS.iter().chain(OF_CHARACTERS.iter()).nth(number).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned() + "ab 語";
        let long = text.repeat(1 + 20_000 / text.len());
        let count = tokenizer.count(&long, OnSpecial::Parse, &Never).unwrap();
        for maximum in [maximum, count / 4, count.saturating_sub(1), count] {
            let fits = tokenizer.fits(long.as_bytes(), maximum, OnSpecial::Parse, &Never).unwrap();
            prop_assert_eq!(fits, count <= maximum);
            let kept = tokenizer.truncate(long.as_bytes(), maximum, Side::Right, OnSpecial::Parse, &Never).unwrap();
            prop_assert!(count > maximum || kept.len() == long.len());
            // A part that is read as a whole, unless the text has no place at which it can be cut.
            if maximum < 200 && kept.end < 4_000 {
                let shorter = &long.as_bytes()[..4_095];
                let shorter = &shorter[..4_095 - shorter.utf8_chunks().last().unwrap().invalid().len()];
                let same = tokenizer.truncate_beginning(shorter, maximum, OnSpecial::Parse, &Never).unwrap();
                prop_assert!(same.is_none_or(|end| end == kept.end));
            }
        }
    }
}

/// The end of a text need not be read, for the kinds in which a beginning can be cut.
#[test]
fn most_kinds_are_decided_by_a_beginning() {
    let text = "ab 語a, b! ".repeat(20);
    let decided = |tokenizer: &Tokenizer| check(tokenizer, text.as_bytes(), 100, 9, OnSpecial::Text);
    let found: String =
        TOKENIZERS.iter().map(|tokenizer| if decided(tokenizer) { '+' } else { '-' }).collect();
    assert_eq!(found, "+--+++++-++++++++++---+------");
    let found: String =
        OF_CHARACTERS.iter().map(|tokenizer| if decided(tokenizer) { '+' } else { '-' }).collect();
    assert_eq!(found, "++++-++++-++".repeat(4));
}

/// What remains as it is has the same places where something else changes, which the beginning need not say.
#[test]
fn a_symbol_has_the_places_of_its_characters() {
    let normalizer = Normalizer::new(sentencepiece(AddedSpace::No, true)).unwrap();
    let tokenizer = of_characters(Model::Scored, normalizer, &[]);
    for (text, maximum, kept) in [("b!a a", 1, 1), ("b!a  a", 1, 1), ("b!a  a", 2, 2), ("b!b!a  a", 3, 3)] {
        let truncated = tokenizer.truncate(text.as_bytes(), maximum, Side::Right, OnSpecial::Text, &Never);
        assert_eq!(truncated.unwrap(), 0..kept, "{text}");
        assert!(check(&tokenizer, text.as_bytes(), 4, 1, OnSpecial::Text), "{text}");
    }
    assert!(check(&tokenizer, "語<<<a>>\u{fffd}b!aab  <a>".as_bytes(), 15, 8, OnSpecial::Text));
}

/// A token of one byte of a character does not end at the end of the character, unless it is the last one.
#[test]
fn bytes_of_a_character_are_counted_before_its_end() {
    // "aba" is one token before "が", which has three, and three tokens of its own.
    let stages = [Stage::Pattern(r"aba(?=が)|\s|\S".into())];
    let normalizer = Normalizer::new(vec![Normal::Form(Form::Nfc)]).unwrap();
    let tokenizer = of_characters(Model::Ranked, normalizer, &stages);
    for text in ["<>!abaが語語", "<>!abaが語語e\u{301}"] {
        let truncated = tokenizer.truncate(text.as_bytes(), 5, Side::Right, OnSpecial::Text, &Never);
        assert_eq!(truncated.unwrap(), 0..3, "{text}");
        let truncated = tokenizer.truncate(text.as_bytes(), 7, Side::Right, OnSpecial::Text, &Never);
        assert_eq!(truncated.unwrap(), 0..9, "{text}");
    }
}
