//! Training gives what recounting everything at each step gives.

use std::borrow::Cow;
use std::cell::Cell;

use digram::count::{Counts, Piece, Pieces, Totals};
use digram::interrupt::Interrupt;
use digram::train::{Learned, MIN_MEMORY, MemoryLimit, Options, Stop, Ties, train, train_within};
use digram::{Never, Result};
use proptest::prelude::*;

use crate::cases::cases;
use crate::naive;

/// Few letters, so that counts tie and pairs overlap all the time.
fn corpora() -> impl Strategy<Value = Vec<(Vec<u8>, u64)>> {
    let letter = proptest::sample::select(&b"aabc"[..]);
    let word = proptest::collection::vec(letter, 1..24);
    proptest::collection::hash_map(word, 1..5u64, 0..12).prop_map(|words| words.into_iter().collect())
}

fn options(ties: Ties, merges: usize) -> Options {
    Options { ties, ..Options::bytes(256 + merges) }
}

fn counts(words: &[(Vec<u8>, u64)]) -> Counts {
    Counts::from_pieces(words.iter().map(|(word, count)| (word, *count))).unwrap()
}

proptest! {
    #![proptest_config(cases(6_000))]

    #[test]
    fn training_is_what_is_defined(words in corpora(), merges in 0..40usize, ties in 0..3usize, round in 1..40usize) {
        let ties = [Ties::Ids, Ties::FirstSeen, Ties::Lexicographic][ties];
        // Few pairs at a time, so that even these small corpora take several rounds.
        let options = Options { round: round.div_ceil(4), ..options(ties, merges) };
        let trained = train(&counts(&words), &options, &[], &mut |_| Ok(()), &Never).unwrap();
        let found: Vec<_> = trained.merges.iter().map(|learned| (learned.merge, learned.count)).collect();
        let symbols = words.iter().map(|(word, count)| (word.iter().map(|&b| b.into()).collect(), *count));
        let base = (0..=255).map(|byte| vec![byte]).collect();
        let expected = naive::train(symbols.collect(), base, ties, merges);
        // Broken off anywhere, it goes on to the same end.
        let known = &trained.merges[..trained.merges.len() * (round % 5) / 4];
        let again = train(&counts(&words), &options, known, &mut |_| Ok(()), &Never).unwrap();
        prop_assert_eq!(again.merges, &trained.merges[..]);
        prop_assert_eq!(trained.stop, if expected.len() < merges { Stop::NoPairs } else { Stop::MaxMerges });
        prop_assert_eq!(found, expected);
    }

    /// What comes next may be too rare for a round to know it.
    #[test]
    fn runners_up_do_not_depend_on_rounds(
        words in corpora(), merges in 0..40usize, ties in 0..3usize, round in 1..10usize,
        runners_up in 1..5usize, min_frequency in 1..4u64,
    ) {
        let ties = [Ties::Ids, Ties::FirstSeen, Ties::Lexicographic][ties];
        let learn = |round| {
            let options = Options { round, runners_up, min_frequency, ..options(ties, merges) };
            train(&counts(&words), &options, &[], &mut |_| Ok(()), &Never).unwrap().merges
        };
        let found = learn(round);
        for learned in &found {
            let mut last = learned.count;
            for next in &learned.runners_up {
                prop_assert!(min_frequency <= next.count && next.count <= last);
                last = next.count;
            }
        }
        prop_assert_eq!(&found, &learn(1 << 20));
        // A journal does not hold them, and a run that goes on gives them all the same.
        let known: Vec<_> = found[..found.len() / 2]
            .iter()
            .map(|learned| Learned { runners_up: Box::default(), ..learned.clone() })
            .collect();
        let options = Options { round, runners_up, min_frequency, ..options(ties, merges) };
        let mut told = Vec::new();
        let mut tell = |learned: &Learned| {
            told.push(learned.clone());
            Ok(())
        };
        let again = train(&counts(&words), &options, &known, &mut tell, &Never).unwrap();
        prop_assert_eq!(&again.merges, &found);
        prop_assert_eq!(told, found);
    }

    #[test]
    fn order_and_shards_do_not_matter(words in corpora(), merges in 0..40usize, shift in 0..12usize) {
        let mut turned = words.clone();
        turned.rotate_left(shift.min(words.len()));
        for ties in [Ties::Ids, Ties::Lexicographic] {
            let learn = |words: &[_]| {
                train(&counts(words), &options(ties, merges), &[], &mut |_| Ok(()), &Never).unwrap().merges
            };
            prop_assert_eq!(learn(&words), learn(&turned));
        }
    }
}

proptest! {
    #![proptest_config(cases(12))]

    /// So many places that the first pairs are counted in a table.
    #[test]
    fn larger_corpora_are_merged_as_defined(
        words in proptest::collection::hash_map(
            proptest::collection::vec(proptest::sample::select(&b"aaabbcdefghij"[..]), 2..24), 1..9u64, 400..600,
        ),
        ties in 0..3usize,
        round in 1..60usize,
    ) {
        let ties = [Ties::Ids, Ties::FirstSeen, Ties::Lexicographic][ties];
        let words: Vec<_> = words.into_iter().collect();
        let options = Options { round, ..options(ties, 80) };
        let trained = train(&counts(&words), &options, &[], &mut |_| Ok(()), &Never).unwrap();
        let found: Vec<_> = trained.merges.iter().map(|learned| (learned.merge, learned.count)).collect();
        let symbols = words.iter().map(|(word, count)| (word.iter().map(|&b| b.into()).collect(), *count));
        let base = (0..=255).map(|byte| vec![byte]).collect();
        prop_assert_eq!(found, naive::train(symbols.collect(), base, ties, 80));
    }
}

#[test]
fn counts_beyond_32_and_53_bits_are_exact() {
    for many in [1u64 << 33, (1 << 53) + 1, (1 << 60) + 1] {
        let words = [(b"ab".to_vec(), many), (b"cd".to_vec(), many - 1), (b"cd.".to_vec(), 2)];
        let trained = train(&counts(&words), &options(Ties::Ids, 2), &[], &mut |_| Ok(()), &Never).unwrap();
        let found: Vec<_> = trained.merges.iter().map(|learned| learned.count).collect();
        assert_eq!(found, [many + 1, many]);
    }
}

/// Counts that lie elsewhere, and how often they were taken into memory.
struct Elsewhere<'c> {
    counts: &'c Counts,
    taken: Cell<usize>,
}

impl Pieces for Elsewhere<'_> {
    fn totals(&self) -> Totals {
        self.counts.totals()
    }

    fn distinct(&self) -> u64 {
        self.counts.distinct()
    }

    fn distinct_bytes(&self) -> u64 {
        self.counts.distinct_bytes()
    }

    fn memory_in_use(&self) -> u64 {
        0
    }

    fn to_memory(&self, _watch: &dyn Interrupt) -> Result<Cow<'_, Counts>> {
        self.taken.set(self.taken.get() + 1);
        Ok(Cow::Borrowed(self.counts))
    }

    fn for_each(&self, visit: &mut dyn FnMut(Piece<'_>) -> Result<()>) -> Result<()> {
        self.counts.for_each(visit)
    }
}

#[test]
fn only_what_stays_in_memory_is_taken_there() {
    // Some 15 MB of places, beyond what the least memory leaves for them.
    let many: Vec<_> = (0..20_000u64).map(|n| (format!("{:040x}", n * n).into_bytes(), 1 + n % 7)).collect();
    let few = &many[..10];
    let folder = std::env::temp_dir();
    for (words, bytes, taken) in [
        (&many[..], None, 1),
        (&many, Some(1 << 30), 1),
        (&many, Some(MIN_MEMORY), 0),
        (few, None, 1),
        (few, Some(MIN_MEMORY), 1),
    ] {
        let counts = counts(words);
        let elsewhere = Elsewhere { counts: &counts, taken: Cell::new(0) };
        let limit = bytes.map(|bytes| MemoryLimit { bytes, folder: &folder });
        let learn = |counts: &dyn Pieces| {
            train_within(counts, limit, &options(Ties::Ids, 20), &[], &mut |_| Ok(()), &Never)
        };
        let expected = train(&counts, &options(Ties::Ids, 20), &[], &mut |_| Ok(()), &Never).unwrap();
        assert_eq!(learn(&elsewhere).unwrap().merges, expected.merges);
        assert_eq!(elsewhere.taken.get(), taken, "{} pretokens, {bytes:?}", words.len());
        assert_eq!(learn(&counts).unwrap().merges, expected.merges);
    }
}

#[test]
fn counts_that_do_not_fit_are_an_error_and_no_panic() {
    let words = [(b"ab".to_vec(), u64::MAX / 2), (b"abc".to_vec(), u64::MAX / 2), (b"abd".to_vec(), 7)];
    // The totals do not fit either; `from_pieces` is the first to say so.
    assert!(Counts::from_pieces(words.iter().map(|(word, count)| (word, *count))).is_err());
}

#[test]
fn merges_of_another_corpus_are_refused() {
    for runners_up in [0, 2] {
        let of = |words: &[(Vec<u8>, u64)], known: &[_]| {
            let options = Options { runners_up, ..options(Ties::Ids, 3) };
            train(&counts(words), &options, known, &mut |_| Ok(()), &Never)
        };
        let known = of(&[(b"abcabc".to_vec(), 5)], &[]).unwrap().merges;
        for other in [&b"abcabd"[..], b"xyz", b"abcabcabc", b"abc", b""] {
            let found = of(&[(other.to_vec(), 5)], &known);
            assert!(matches!(found, Err(digram::Error::Checkpoint { .. })), "{other:?}");
        }
        assert!(matches!(of(&[(b"abcabc".to_vec(), 6)], &known), Err(digram::Error::Checkpoint { .. })));
    }
}
