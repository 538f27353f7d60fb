//! Training for several languages gives what recounting everything at each step gives.

use digram::count::Counts;
use digram::train::{Fairness, Language, Options, Stop, Ties, Window, train_fair};
use digram::{Error, Never};
use proptest::prelude::*;

use crate::cases::cases;
use crate::naive;
use crate::patience::Patience;

type Words = Vec<(Vec<u8>, u64)>;

/// Few letters, so that counts tie, pairs overlap, and languages share words.
fn texts(letters: &'static [u8], words: std::ops::Range<usize>) -> impl Strategy<Value = Words> {
    let word = proptest::collection::vec(proptest::sample::select(letters), 1..16);
    proptest::collection::hash_map(word, 1..5u64, words).prop_map(|words| words.into_iter().collect())
}

fn languages() -> impl Strategy<Value = Vec<(Words, Words)>> {
    proptest::collection::vec((texts(b"aabcd", 0..14), texts(b"aabcd", 0..8)), 1..5)
}

fn counts(words: &Words) -> Counts {
    Counts::from_pieces(words.iter().map(|(word, count)| (word, *count))).unwrap()
}

fn symbols(words: &Words) -> Vec<naive::Word> {
    words.iter().map(|(word, count)| (word.iter().map(|&b| b.into()).collect(), *count)).collect()
}

fn base() -> Vec<Vec<u8>> {
    (0..=255).map(|byte| vec![byte]).collect()
}

fn check(
    texts: &[(Words, Words)],
    measured: bool,
    global_merges: usize,
    options: &Options,
) -> Result<(), TestCaseError> {
    let held: Vec<_> = texts.iter().map(|(words, dev)| (counts(words), counts(dev))).collect();
    let languages: Vec<_> =
        held.iter().map(|(counts, dev)| Language { counts, dev: measured.then_some(dev) }).collect();
    let fairness = Fairness { global_merges, ..Fairness::default() };
    let trained = train_fair(&languages, &fairness, options, &mut |_| Ok(()), &Never).unwrap();
    let found: Vec<_> =
        trained.merges.iter().map(|learned| (learned.merge, learned.count, learned.language)).collect();
    let words =
        texts.iter().map(|(words, dev)| (symbols(words), symbols(if measured { dev } else { words })));
    let maximum = options.max_merges.unwrap();
    let expected = naive::train_fair(
        words.collect(),
        base(),
        options.ties,
        global_merges,
        options.min_frequency,
        maximum,
    );
    prop_assert_eq!(trained.stop == Stop::MaxMerges, expected.len() == maximum);
    prop_assert_eq!(found, expected);
    Ok(())
}

proptest! {
    #![proptest_config(cases(3_000))]

    /// With so few pairs at a time that even these small corpora take several rounds.
    #[test]
    fn turns_are_what_is_defined(
        texts in languages(), measured: bool, ties in 0..3usize, merges in 0..40usize,
        global in 0..12usize, (min_frequency, round) in (1..4u64, 1..20usize),
    ) {
        let ties = [Ties::Ids, Ties::Lexicographic, Ties::Printable][ties];
        let options = Options { ties, min_frequency, round, ..Options::bytes(256 + merges) };
        check(&texts, measured, global.saturating_sub(6), &options)?;
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn larger_corpora_are_merged_as_defined(
        texts in proptest::collection::vec(
            (texts(b"aaabbcdefghij", 100..200), texts(b"aaabbcdefghij", 20..60)), 2..4,
        ),
        measured: bool,
        global in 0..40usize,
        round in 1..60usize,
    ) {
        check(&texts, measured, global.saturating_sub(20), &Options { round, ..Options::bytes(256 + 80) })?;
    }
}

fn with_two_languages(fairness: &Fairness, options: &Options) -> Result<usize, Error> {
    let held = [counts(&vec![(b"abab".to_vec(), 3)]), counts(&vec![(b"cdcdcd".to_vec(), 1)])];
    let languages = [0, 1].map(|one| Language { counts: &held[one], dev: None });
    let trained = train_fair(&languages, fairness, options, &mut |_| Ok(()), &Never)?;
    Ok(trained.merges.len())
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let sensible = Options::bytes(258);
    assert_eq!(with_two_languages(&Fairness::default(), &sensible), Ok(2));
    let window = |size, alpha| Fairness { window: Some(Window { size, alpha }), ..Fairness::default() };
    let ratios = |ratios: &[f64]| Fairness { ratios: Some(ratios.to_vec()), ..Fairness::default() };
    for fairness in [
        window(0, 1.0),
        window(9, 0.0),
        window(9, f64::NAN),
        ratios(&[1.0]),
        ratios(&[1.0, -1.0]),
        ratios(&[1.0, f64::INFINITY]),
    ] {
        let found = with_two_languages(&fairness, &sensible);
        assert!(matches!(found, Err(Error::Option { .. })), "{fairness:?}");
    }
    for options in [
        Options { ties: Ties::FirstSeen, ..sensible.clone() },
        Options { min_frequency: 0, ..sensible.clone() },
        Options { runners_up: 1, ..sensible.clone() },
    ] {
        let found = with_two_languages(&Fairness::default(), &options);
        assert!(matches!(found, Err(Error::Option { .. })), "{options:?}");
    }
    let none = train_fair(&[], &Fairness::default(), &sensible, &mut |_| Ok(()), &Never);
    assert!(matches!(none, Err(Error::Option { .. })));
}

#[test]
fn counts_that_do_not_fit_together_are_an_error_and_no_panic() {
    let half = counts(&vec![(b"ab".to_vec(), u64::MAX / 3)]);
    let languages = [Language { counts: &half, dev: None }; 2];
    let found = train_fair(&languages, &Fairness::default(), &Options::bytes(258), &mut |_| Ok(()), &Never);
    assert!(matches!(found, Err(Error::Limit { .. })), "{found:?}");
}

/// A turn that is lost merges nothing, and is watched all the same.
#[test]
fn lost_turns_are_watched() {
    let held = [counts(&vec![(b"a".to_vec(), 9)]), counts(&vec![(b"abcdefgh".to_vec(), 1)])];
    let languages = [0, 1].map(|one| Language { counts: &held[one], dev: None });
    let fairness = Fairness { window: Some(Window { size: 10_000, alpha: 1e-9 }), ..Fairness::default() };
    let patience = Patience::new(5_000);
    let found = train_fair(&languages, &fairness, &Options::bytes(262), &mut |_| Ok(()), &patience);
    assert_eq!(found.err(), Some(Error::Interrupted));
}
