//! Text in chunks, and long text on several threads, give what the whole text gives.

mod cases;
mod merged;

use std::sync::LazyLock;

use digram::encode::Unit;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::special::SpecialTokens;
use digram::tokenizer::Stream;
use digram::{Definition, Error, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use cases::cases;

use merged::merged;

const AHEAD: &str =
    r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A special token begins another, and one stands inside another.
const SPECIAL: [&str; 4] = ["<a>", "<a>bc", "語<", "<<a>>"];

const PIECES: [&str; 16] =
    ["a", "b", "ab", "<a>", "<a>b", "<a>bc", "語<", "語", "<<a", ">>", " ", "  ", "\n", "1234", "'s", "!"];

/// Look-ahead, look-behind, stages one after the other, and no cuts at all.
static TOKENIZERS: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let pattern = |pattern: &str| Stage::Pattern(pattern.into());
    let stages = [
        vec![pattern(AHEAD)],
        vec![pattern(r"\b\w+\b|^\W|\W+")],
        vec![pattern(r"(?m)^.+$|\s")],
        vec![Stage::ThreesFromRight, pattern(AHEAD)],
        vec![],
    ];
    stages.iter().map(|stages| tokenizer(stages)).collect()
});

fn tokenizer(stages: &[Stage]) -> Tokenizer {
    let mut tokens: Vec<Option<Vec<u8>>> = (0..=255).map(|byte| Some(vec![byte])).collect();
    let merges = merged(
        &mut tokens,
        &[(97, 98), (256, 97), (32, 32), (32, 97), (49, 50), (0xe8, 0xaa), (261, 0x9e), (60, 97)],
    );
    Tokenizer::new(Definition {
        tokens,
        merges,
        special_tokens: SPECIAL.iter().zip(300..).map(|(text, id)| (text.to_string(), id)).collect(),
        unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        pretokenizer: Pretokenizer::new(stages).unwrap().into(),
        ignore_merges: false,
        scheme: None,
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

fn rules() -> [Option<SpecialTokens>; 3] {
    let some = SpecialTokens::new(vec![("<a>".into(), 300), ("語<".into(), 302)]).unwrap();
    [None, SpecialTokens::new(vec![]).ok(), Some(some)]
}

fn rule(rules: &[Option<SpecialTokens>; 3], number: usize) -> OnSpecial<'_> {
    match &rules[number] {
        None => OnSpecial::Text,
        Some(none) if none.tokens().is_empty() => OnSpecial::Parse,
        Some(some) => OnSpecial::Allow(some),
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
        number in 0..5usize, text in texts(40), lengths in proptest::collection::vec(0..70usize, 1..6), special in 0..3usize
    ) {
        let (tokenizer, rules) = (&TOKENIZERS[number], rules());
        let special = rule(&rules, special);
        let mut expected = Vec::new();
        tokenizer.encode(&text, special, &Never, &mut expected).unwrap();
        let (mut chunks, mut rest, mut lengths) = (Vec::new(), &text[..], lengths.iter().cycle());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.len().min(*lengths.next().unwrap() + chunks.len() % 2));
            chunks.push(chunk);
            rest = after;
        }
        prop_assert_eq!(stream(tokenizer, &chunks, special, usize::MAX).unwrap(), expected);
    }
}

proptest! {
    #![proptest_config(cases(25))]

    #[test]
    fn a_long_text_is_the_same_on_any_number_of_threads(
        number in 0..5usize, text in texts(40), threads in 2..5usize, special in 0..3usize
    ) {
        let (tokenizer, rules) = (&TOKENIZERS[number], rules());
        let special = rule(&rules, special);
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
