//! Counting gives what going through the pretokens one by one gives.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use digram::count::{
    Checkpoint, Counted, Counter, Counts, Joiner, MIN_MEMORY, Piece, Pieces, Weight, digest,
};
use digram::pretokenize::{Pretokenizer, Stage};
use digram::{Error, Never};
use proptest::prelude::*;

use crate::cases::cases;

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
    batches.iter().for_each(|batch| counter.add(batch, threads, &Never).unwrap());
    counter.finish(&Never).unwrap()
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

/// A folder of the system's, deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("digram-test-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn files(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// As they lie on disk.
fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(cases(150))]

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

    #[test]
    fn checkpoints_anywhere_change_nothing(
        batches in batches(),
        number in 0..3usize,
        threads in 1..4usize,
        stops in proptest::collection::vec(0..3usize, 4),
    ) {
        let expected = one_by_one(&batches, &pretokenizer(number));
        let folder = Folder::new();
        let resumed = |checkpoint: &Checkpoint| {
            Counter::resumed(pretokenizer(number), None, &folder.0, checkpoint).unwrap()
        };
        let mut checkpoint = Checkpoint::default();
        let mut counter = resumed(&checkpoint);
        for (batch, stop) in batches.iter().zip(stops) {
            counter.add(batch, threads, &Never).unwrap();
            if stop > 0 {
                checkpoint = counter.checkpoint(&Never).unwrap();
            }
            if stop > 1 {
                // What comes after a checkpoint is lost with the counter.
                counter.add(&batches[0], threads, &Never).unwrap();
                counter.finish_bounded(&Never).unwrap();
                counter = resumed(&checkpoint);
            }
        }
        match counter.finish_bounded(&Never).unwrap() {
            Counted::Memory(counts) => prop_assert_eq!(rows(&counts), expected),
            Counted::Disk(counts) => {
                prop_assert_eq!(rows(&counts), sorted(expected.clone()));
                let checkpoint = counts.checkpoint().unwrap();
                drop(counts);
                prop_assert_eq!(rows(&resumed(&checkpoint).finish(&Never).unwrap()), expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn joined_on_disk_as_in_memory(
        corpora in proptest::collection::vec((batches(), 1..5u64, 1..4u64, any::<bool>()), 0..4),
        ordered: bool,
    ) {
        let folder = Folder::new();
        let mut joiner = Joiner::new(MIN_MEMORY, &folder.0, ordered).unwrap();
        let mut weighted = Vec::new();
        for (batches, numerator, denominator, from_disk) in &corpora {
            let weight = Weight::new(*numerator, *denominator).unwrap();
            let mut counts = counted(batches, pretokenizer(0), 1);
            if !ordered {
                counts = counts.without_first(&Never).unwrap();
            }
            weighted.push(counts.scale(weight, &Never).unwrap());
            if *from_disk {
                let mut disk = Joiner::new(MIN_MEMORY, &folder.0, ordered).unwrap();
                disk.add(&counts, Weight::new(1, 1).unwrap(), &Never).unwrap();
                let disk = disk.finish(&Never).unwrap();
                prop_assert_eq!(digest(&disk, &Never).unwrap(), digest(&counts, &Never).unwrap());
                joiner.add_from_disk(&disk, weight, &Never).unwrap();
            } else {
                joiner.add(&counts, weight, &Never).unwrap();
            }
        }
        let joined = joiner.finish(&Never).unwrap();
        let parts: Vec<&Counts> = weighted.iter().collect();
        let expected = Counts::merge(&parts, &Never).unwrap();
        let found = joined.to_memory(&Never).unwrap();
        if ordered || !parts.is_empty() {
            prop_assert_eq!(&*found, &expected);
        }
        // What they hold in memory is known before they are there.
        prop_assert_eq!((joined.memory_in_use(), joined.in_memory()), (0, found.memory_in_use()));
        prop_assert_eq!(
            (joined.distinct(), joined.distinct_bytes()), (found.distinct(), found.distinct_bytes())
        );
        drop(found);
        drop(joined);
        prop_assert_eq!(folder.files(), 0);
    }

    #[test]
    fn a_text_in_parts_is_one_text(batch in batches(), number in 0..3usize, block in 1..300usize) {
        let cutter = pretokenizer(number);
        let text = batch.concat().concat();
        let mut parts = Vec::new();
        let (mut start, mut known) = (0, 0);
        while known < text.len() {
            let searched = known;
            known = (known + block).min(text.len());
            // Four bytes before a place tell the character before it.
            let from = searched.saturating_sub(8).max(start);
            let minimum = if from == start { 0 } else { 4 };
            if let Some(cut) = cutter.last_border_so_far(&text[from..known], minimum) {
                parts.push(&text[start..from + cut]);
                start = from + cut;
            }
        }
        parts.push(&text[start..]);
        let mut counter = Counter::new(pretokenizer(number));
        counter.add_parts(&parts, 1, 2, &Never).unwrap();
        let counts = counter.finish(&Never).unwrap();
        prop_assert_eq!(counts, counted(&[vec![text.clone()]], pretokenizer(number), 1));
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

#[test]
fn counts_beyond_the_limit_are_on_disk_and_the_same() {
    let texts = many_words();
    let batches: Vec<Vec<Vec<u8>>> = texts.chunks(7).map(<[_]>::to_vec).collect();
    let mut expected = one_by_one(&batches, &pretokenizer(0));
    for threads in [1, 3, 16] {
        let folder = Folder::new();
        let mut counter = Counter::bounded(pretokenizer(0), MIN_MEMORY, &folder.0).unwrap();
        batches.iter().for_each(|batch| counter.add(batch, threads, &Never).unwrap());
        let Counted::Disk(counts) = counter.finish_bounded(&Never).unwrap() else { panic!("it fits") };
        assert!(rows(&*counts.to_memory(&Never).unwrap()) == expected, "{threads} threads");
        expected.sort();
        // Again and again.
        assert!((0..2).all(|_| rows(&counts) == expected), "{threads} threads");
        assert_eq!(folder.files(), 1);
        drop(counts);
        assert_eq!(folder.files(), 0);
        expected.sort_by_key(|row| row.2);
    }
}

#[test]
fn more_runs_than_are_merged_at_once_and_pretokens_too_long_for_a_table() {
    let folder = Folder::new();
    let mut state = Checkpoint::default();
    let mut counter = Counter::resumed(pretokenizer(2), Some(MIN_MEMORY), &folder.0, &state).unwrap();
    let long = |number: usize| vec![b'a' + number as u8; 500_000];
    let batches: Vec<Vec<Vec<u8>>> = (0..150usize)
        .map(|number| vec![number.to_string().into_bytes(), long(number % 3), b"x".to_vec()])
        .collect();
    // A batch makes up to three runs, one of each thread and one of the long pretoken. Those not
    // merged yet, those that were merged once, and those that a checkpoint named before.
    let (maximum, old) = (63 + 450 / 64, 2 * 64);
    for batch in &batches {
        counter.add(batch, 2, &Never).unwrap();
        state = counter.checkpoint(&Never).unwrap();
        assert!(state.runs.len() <= maximum, "{} runs", state.runs.len());
        assert!(folder.files() <= maximum + old, "{} files", folder.files());
    }
    assert_eq!(state.totals, counter.totals());
    let again = Counter::resumed(pretokenizer(2), None, &folder.0, &state).unwrap();
    assert_eq!(folder.files(), state.runs.len());
    assert_eq!(rows(&again.finish(&Never).unwrap()), one_by_one(&batches, &pretokenizer(2)));
}

#[test]
fn a_counter_that_is_given_up_leaves_nothing() {
    let folder = Folder::new();
    let mut counter = Counter::bounded(pretokenizer(0), MIN_MEMORY, &folder.0).unwrap();
    counter.add(&many_words(), 2, &Never).unwrap();
    assert_eq!(folder.files(), 1);
    drop(counter);
    assert_eq!(folder.files(), 0);
}

#[test]
fn what_cannot_be_is_an_error() {
    let folder = Folder::new();
    let nowhere = folder.0.join("nowhere");
    let error = Counter::bounded(pretokenizer(0), MIN_MEMORY, &nowhere).err().unwrap();
    assert!(matches!(error, Error::Io { ref path, errno: Some(_), .. } if *path == nowhere), "{error:?}");
    let error = Counter::bounded(pretokenizer(0), MIN_MEMORY - 1, &folder.0).err().unwrap();
    assert!(matches!(error, Error::Option { .. }), "{error:?}");
    assert!(matches!(Counter::new(pretokenizer(0)).checkpoint(&Never), Err(Error::Option { .. })));

    let mut counter = Counter::resumed(pretokenizer(0), None, &folder.0, &Checkpoint::default()).unwrap();
    counter.add(&["some text"], 1, &Never).unwrap();
    let state = counter.checkpoint(&Never).unwrap();
    let path = folder.0.join(&state.runs[0]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let resume = || Counter::resumed(pretokenizer(0), None, &folder.0, &state);
    assert!(matches!(resume().err(), Some(Error::Corrupt { .. })));
    // What its end does not tell shows when it is read.
    std::fs::write(&path, [&whole[..30], b"!", &whole[31..]].concat()).unwrap();
    assert!(matches!(resume().unwrap().finish(&Never), Err(Error::Corrupt { .. })));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(resume().err(), Some(Error::Io { errno: Some(2), .. })));
}
