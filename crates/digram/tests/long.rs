//! Text in chunks, and long text on several threads, give what the whole text gives.

mod cases;
mod merged;

use std::sync::LazyLock;

use digram::added_tokens::{AddedToken, AddedTokens, Matching};
use digram::encode::{Algorithm, Unit};
use digram::normalize::{Form, Normalizer, Stage as Normal, WordRule};
use digram::pretokenize::{Pretokenizer, Stage};
use digram::tokenizer::{Pipeline, Running, Side, Stream};
use digram::{Definition, Error, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use cases::cases;

use merged::merged;

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

const PLAIN: Matching = Matching { lstrip: false, rstrip: false, single_word: false, normalized: false };

/// Look-ahead, look-behind, stages one after the other, and no cuts at all. Then normalizers, without and with added
/// tokens.
static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
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

fn texts(maximum: usize) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => (proptest::sample::select(&PIECES[..]), 1..60usize).prop_map(|(p, n)| p.repeat(n).into_bytes()),
        1 => any::<[u8; 2]>().prop_map(|bytes| bytes.to_vec()),
    ];
    proptest::collection::vec(part, 0..maximum).prop_map(|parts| parts.concat())
}

fn rule(tokenizer: &Tokenizer, number: usize) -> Option<AddedTokens> {
    (number == 2).then(|| tokenizer.added_tokens().allowing(&[300, 302]).unwrap())
}

fn on_special(number: usize, allowed: &Option<AddedTokens>) -> OnSpecial<'_> {
    match (number, allowed) {
        (0, _) => OnSpecial::Text,
        (_, Some(allowed)) => OnSpecial::Allow(allowed),
        (_, None) => OnSpecial::Parse,
    }
}

fn stream(
    tokenizer: &Tokenizer,
    chunks: &[&[u8]],
    special: OnSpecial<'_>,
    limit: usize,
) -> digram::Result<Vec<u32>> {
    let (mut stream, mut ids) = (Stream::new(limit), Vec::new());
    for chunk in chunks {
        tokenizer.push(&mut stream, chunk, special, &Never, &mut ids)?;
    }
    tokenizer.finish(stream, special, &Never, &mut ids)?;
    Ok(ids)
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn chunks_give_what_the_whole_text_gives(
        number in prop_oneof![0..13usize, 18..TOKENIZERS.len()], text in texts(40), lengths in proptest::collection::vec(0..70usize, 1..6), special in 0..3usize
    ) {
        let tokenizer = &TOKENIZERS[number];
        let allowed = rule(tokenizer, special);
        let special = on_special(special, &allowed);
        let mut expected = Vec::new();
        tokenizer.encode(&text, special, &Never, &mut expected).unwrap();
        let (mut chunks, mut rest, mut lengths) = (Vec::new(), &text[..], lengths.iter().cycle());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.len().min(*lengths.next().unwrap() + chunks.len() % 2));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(stream(tokenizer, &chunks, special, usize::MAX).unwrap(), expected.clone());
        // What is counted without encoding the whole text.
        let (whole, count) = (expected.len(), tokenizer.count(&text, OnSpecial::Text, &Never).unwrap());
        for maximum in [whole.saturating_sub(1), whole, whole / 2] {
            let fits = tokenizer.fits(&text, maximum, special, &Never).unwrap();
            prop_assert_eq!(fits, whole <= maximum);
            for side in [Side::Left, Side::Right] {
                let kept = tokenizer.truncate(&text, maximum, side, special, &Never).unwrap();
                prop_assert!(tokenizer.count(&text[kept.clone()], special, &Never).unwrap() <= maximum);
                prop_assert!(whole > maximum || kept == (0..text.len()));
            }
        }
        let mut running = Running::default();
        for (index, chunk) in chunks.iter().enumerate() {
            running.append(tokenizer, chunk, &Never).unwrap();
            if index % 3 == 0 {
                running.count(tokenizer, &Never).unwrap();
            }
        }
        prop_assert_eq!(running.count(tokenizer, &Never).unwrap(), count);
        let mut running = Running::default();
        for chunk in chunks.iter().rev() {
            running.prepend(tokenizer, chunk, &Never).unwrap();
        }
        prop_assert_eq!(running.count(tokenizer, &Never).unwrap(), count);
        let intervals = tokenizer.intervals(&text, &Never).unwrap();
        prop_assert_eq!(intervals.total(), count);
        let mut covered = 0;
        for chunk in tokenizer.chunks(&text, 18, 3, &Never).unwrap() {
            prop_assert!(chunk.range.start <= covered && chunk.range.end > covered && chunk.count <= 18);
            prop_assert_eq!(tokenizer.count(&text[chunk.range.clone()], OnSpecial::Text, &Never).unwrap(), chunk.count);
            covered = chunk.range.end;
        }
        prop_assert_eq!(covered, text.len());
    }
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn a_long_text_is_the_same_on_any_number_of_threads(
        number in prop_oneof![0..13usize, 18..TOKENIZERS.len()], text in texts(40), threads in 2..5usize, special in 0..3usize
    ) {
        let tokenizer = &TOKENIZERS[number];
        let allowed = rule(tokenizer, special);
        let special = on_special(special, &allowed);
        let long = text.repeat(1 + 300_000 / text.len().max(1));
        let texts = [&b"ab"[..], &long, &text, &long[1.min(long.len())..]];
        let (ids, offsets) = tokenizer.encode_batch(&texts, special, threads, &Never).unwrap();
        for (text, ends) in texts.iter().zip(offsets.windows(2)) {
            let mut expected = Vec::new();
            tokenizer.encode(text, special, &Never, &mut expected).unwrap();
            prop_assert!(ids[ends[0] as usize..ends[1] as usize] == expected);
        }
        let counts: Vec<u64> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
        prop_assert_eq!(tokenizer.count_batch(&texts, special, threads, &Never).unwrap(), counts);
    }
}

#[test]
fn a_stream_holds_no_more_than_the_pretoken_at_its_end() {
    // 400 pretokens of at most 7 bytes, none of which is held for long.
    let text = "abababa 123!\n".repeat(100);
    let chunks: Vec<&[u8]> = text.as_bytes().chunks(5).collect();
    assert!(stream(&TOKENIZERS[0], &chunks, OnSpecial::Text, 80).is_ok());
    let unbroken = "ab".repeat(100);
    let chunks = [&text.as_bytes()[..13], unbroken.as_bytes()];
    let failed = stream(&TOKENIZERS[0], &chunks, OnSpecial::Text, 80);
    let Err(Error::Limit { reason }) = failed else { panic!("{failed:?}") };
    assert!(
        reason.starts_with("the pretoken at byte 13 of the stream is longer than the 80 bytes"),
        "{reason}"
    );
}

#[test]
fn errors_name_the_place_in_the_whole() {
    let long = "ab 12\n".repeat(40_000) + "<a>" + &"ab ".repeat(1000);
    let expected = Err((1, Error::SpecialToken { token: "<a>".into(), offset: 240_000 }));
    let texts = ["ab", &long, "<a>"];
    for threads in 1..4 {
        let found = TOKENIZERS[0].encode_batch(&texts, OnSpecial::Fail, threads, &Never);
        assert_eq!(found.map(|_| ()), expected);
    }
    let chunks: Vec<&[u8]> = long.as_bytes().chunks(1000).collect();
    let found = stream(&TOKENIZERS[0], &chunks, OnSpecial::Fail, usize::MAX);
    assert_eq!(found, Err(Error::SpecialToken { token: "<a>".into(), offset: 240_000 }));
}
