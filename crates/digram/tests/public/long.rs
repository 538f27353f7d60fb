//! Text in chunks, and long text on several threads, give what the whole text gives.

use digram::tokenizer::{Running, Side, Stream};
use digram::{Error, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use crate::cases::cases;
use crate::kinds::{TOKENIZERS, on_special, rule, texts};

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
    #![proptest_config(cases(4_000))]

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
