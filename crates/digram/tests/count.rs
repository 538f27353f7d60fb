//! Counting gives what going through the pretokens one by one gives.

use std::collections::HashMap;

use digram::Unwatched;
use digram::count::{Counter, Counts, Piece, Pieces};
use digram::pretokenize::{Pretokenizer, Stage};
use proptest::prelude::*;

/// A pretoken with its count and where it first stands.
type Row = (Vec<u8>, u64, u64);

fn pretokenizer(number: usize) -> Pretokenizer {
    let stages: &[Stage] = &match number {
        0 => vec![Stage::Pattern(r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+".into())],
        1 => vec![Stage::Pattern(r"\s+".into()), Stage::Pattern(r"a+|b".into())],
        _ => vec![],
    };
    Pretokenizer::new(stages).unwrap()
}

fn one_by_one(batches: &[Vec<Vec<u8>>], pretokenizer: &Pretokenizer) -> Vec<Row> {
    let (mut rows, mut places, mut start) = (Vec::<Row>::new(), HashMap::new(), 0);
    for pretoken in batches.iter().flatten().flat_map(|text| pretokenizer.split(text)) {
        let place = *places.entry(pretoken).or_insert(rows.len());
        match rows.get_mut(place) {
            Some(row) => row.1 += 1,
            None => rows.push((pretoken.to_vec(), 1, start)),
        }
        start += pretoken.len() as u64;
    }
    rows
}

fn rows(pieces: &impl Pieces) -> Vec<Row> {
    let mut rows = Vec::new();
    pieces
        .for_each(&mut |Piece { bytes, count, first }| {
            rows.push((bytes.to_vec(), count, first));
            Ok(())
        })
        .unwrap();
    assert_eq!(rows.len() as u64, pieces.distinct());
    rows
}

fn counted(batches: &[Vec<Vec<u8>>], pretokenizer: Pretokenizer, threads: usize) -> Counts {
    let mut counter = Counter::new(pretokenizer);
    batches.iter().for_each(|batch| counter.add(batch, threads, &Unwatched).unwrap());
    counter.finish(&Unwatched).unwrap()
}

/// Texts of words about as long as the longest that lie in a table, some many times over.
fn batches() -> impl Strategy<Value = Vec<Vec<Vec<u8>>>> {
    let word = prop_oneof![
        "[ab]{1,3}",
        "[ab\u{0}]{13,18}",
        " ?[a-z]{2,4}",
        "[0-9]{1,3}",
        "\\s{1,20}",
        "[是的不]{3,9}",
        "a{30,40}",
    ];
    let text = (proptest::collection::vec(word, 0..30), prop_oneof![9 => 1..4usize, 1 => 2000..4000usize])
        .prop_map(|(words, times)| words.concat().repeat(times).into_bytes());
    let any = proptest::collection::vec(any::<u8>(), 0..60);
    proptest::collection::vec(proptest::collection::vec(prop_oneof![8 => text, 1 => any], 0..5), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn counts_are_those_of_going_through_one_by_one(
        batches in batches(),
        number in 0..3usize,
        threads in 1..5usize,
    ) {
        let expected = one_by_one(&batches, &pretokenizer(number));
        let counts = counted(&batches, pretokenizer(number), threads);
        prop_assert_eq!(counts.totals().documents, batches.iter().flatten().count() as u64);
        prop_assert_eq!(counts.totals().bytes, batches.iter().flatten().flatten().count() as u64);
        prop_assert_eq!(counts.totals().pretokens, expected.iter().map(|row| row.1).sum::<u64>());
        prop_assert_eq!(rows(&counts), expected);
    }
}

/// Enough different words for tables that grow and are joined in parts.
fn many_words() -> Vec<Vec<u8>> {
    let mut state = 1u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut text = |words: usize| -> Vec<u8> {
        let word = |_| {
            let number = next(1 << 40) >> next(40);
            let long =
                if number % 7 == 0 { "的是不了在人有我他这个们中来上大为和" } else { "" };
            format!(" {}{long}{}", "x".repeat((number % 5) as usize), number.to_string().replace('1', "q"))
        };
        (0..words).map(word).collect::<String>().into_bytes()
    };
    (0..40).map(|number| text(number * 500)).collect()
}

#[test]
fn many_words_on_any_number_of_threads() {
    let texts = many_words();
    let batches: Vec<Vec<Vec<u8>>> = texts.chunks(7).map(<[_]>::to_vec).collect();
    let expected = one_by_one(&batches, &pretokenizer(0));
    assert!(expected.len() > 100_000);
    for threads in [1, 2, 3, 7, 16] {
        assert!(rows(&counted(&batches, pretokenizer(0), threads)) == expected, "{threads} threads");
    }
    let joined = vec![vec![texts.concat()]];
    let expected = one_by_one(&joined, &pretokenizer(0));
    assert!(rows(&counted(&joined, pretokenizer(0), 3)) == expected, "one long text");
}
