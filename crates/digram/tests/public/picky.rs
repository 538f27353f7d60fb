//! PickyBPE: what is merged and dropped is what recounting everything gives, and texts are encoded by
//! the same events.

use digram::count::Counts;
use digram::encode::{Algorithm, Unit};
use digram::events::Event;
use digram::pretokenize::Pretokenizer;
use digram::train::{Options, Picked, Picky, PickyStop, Stop, Ties, train_picky};
use digram::{Definition, Error, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use crate::cases::cases;
use crate::naive;
use crate::patience::Patience;

type Word = (Vec<u32>, u64);

/// The definition: all is counted anew at each step.
struct Naive {
    words: Vec<Word>,
    tokens: Vec<Vec<u8>>,
    of: Vec<(u32, u32)>,
    live: Vec<bool>,
    events: Vec<(Event, u64)>,
}

impl Naive {
    fn train(words: Vec<Word>, ties: Ties, threshold: f64, merges: usize) -> Naive {
        let tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut naive =
            Naive { words, of: vec![(0, 0); 256], live: vec![true; 256], tokens, events: Vec::new() };
        for _ in 0..merges {
            let Some((pair, count)) = naive.best(ties) else { break };
            naive.step(pair, count, threshold);
        }
        naive
    }

    fn best(&self, ties: Ties) -> Option<((u32, u32), u64)> {
        let mut counts: Vec<((u32, u32), u64)> = Vec::new();
        for (word, weight) in &self.words {
            for pair in word.windows(2).map(|pair| (pair[0], pair[1])) {
                match counts.iter_mut().find(|(known, _)| *known == pair) {
                    Some((_, count)) => *count += weight,
                    None => counts.push((pair, *weight)),
                }
            }
        }
        let highest = counts.iter().map(|(_, count)| *count).max()?;
        let best = counts.into_iter().filter(|(_, count)| *count == highest);
        let bytes = |(left, right): (u32, u32)| {
            (self.tokens[left as usize].clone(), self.tokens[right as usize].clone())
        };
        match ties {
            Ties::Ids => best.min_by_key(|(pair, _)| *pair),
            Ties::FirstSeen => { best }.next(),
            Ties::Lexicographic => best.max_by_key(|(pair, _)| bytes(*pair)),
            Ties::Printable => best.max_by_key(|(pair, _)| {
                let (left, right) = bytes(*pair);
                (naive::printed(&left), naive::printed(&right))
            }),
        }
    }

    fn step(&mut self, (left, right): (u32, u32), count: u64, threshold: f64) {
        let token = [&self.tokens[left as usize][..], &self.tokens[right as usize]].concat();
        let known = self.tokens.iter().skip(256).position(|known| *known == token);
        let id = known.map_or(self.tokens.len(), |number| number + 256);
        if known.is_none() {
            self.tokens.push(token);
            self.of.push((left, right));
            self.live.push(true);
        }
        self.live[id] = true;
        self.events.push((Event::Merge(left, right), count));
        let before: u64 = self.words.iter().map(|(word, weight)| word.len() as u64 * weight).sum();
        self.words.iter_mut().for_each(|(word, _)| *word = merged(word, left, right, id as u32));
        let after: u64 = self.words.iter().map(|(word, weight)| word.len() as u64 * weight).sum();
        let parts = if left == right { vec![left] } else { vec![left, right] };
        for part in parts.into_iter().filter(|part| *part >= 256) {
            let of_word = |word: &[u32]| word.iter().filter(|token| **token == part).count() as u64;
            let rest: u64 = self.words.iter().map(|(word, weight)| of_word(word) * weight).sum();
            let taken = before - after;
            if taken as f64 / (taken + rest) as f64 >= threshold {
                self.live[part as usize] = false;
                self.events.push((Event::Drop(part), rest));
                let into = self.parts(part);
                self.words.iter_mut().for_each(|(word, _)| *word = split(word, part, &into));
            }
        }
    }

    fn parts(&self, token: u32) -> Vec<u32> {
        if self.live[token as usize] {
            return vec![token];
        }
        let (left, right) = self.of[token as usize];
        [self.parts(left), self.parts(right)].concat()
    }
}

fn merged(word: &[u32], left: u32, right: u32, id: u32) -> Vec<u32> {
    let (mut merged, mut at) = (Vec::new(), 0);
    while at < word.len() {
        let found = word[at] == left && word.get(at + 1) == Some(&right);
        merged.push(if found { id } else { word[at] });
        at += 1 + usize::from(found);
    }
    merged
}

fn split(word: &[u32], token: u32, parts: &[u32]) -> Vec<u32> {
    word.iter().flat_map(|&one| if one == token { parts.to_vec() } else { vec![one] }).collect()
}

fn learn(words: &[(Vec<u8>, u64)], options: &Options, picky: &Picky) -> Picked {
    let counts = Counts::from_pieces(words.iter().map(|(word, count)| (word, *count))).unwrap();
    train_picky(&counts, options, picky, &mut |_, _| Ok(()), &Never).unwrap()
}

fn tokenizer(picked: &Picked) -> Tokenizer {
    let live = picked.live.iter().map(|&number| Some(picked.tokens[number as usize].clone()));
    Tokenizer::new(Definition {
        tokens: live.collect(),
        merges: Vec::new(),
        unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        pipeline: Pretokenizer::new(&[]).unwrap().into(),
        algorithm: Algorithm::Events(picked.events.iter().map(|(event, _)| *event).collect()),
    })
    .unwrap()
}

fn options(ties: Ties, merges: usize) -> Options {
    Options { ties, ..Options::bytes(256 + merges) }
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn training_and_encoding_are_what_is_defined(
        words in proptest::collection::hash_map(
            proptest::collection::vec(proptest::sample::select(&b"aaabc"[..]), 1..24), 1..5u64, 0..12,
        ),
        text in proptest::collection::vec(proptest::sample::select(&b"aaabcd"[..]), 0..300),
        merges in 0..40usize,
        ties in proptest::sample::select(&[Ties::Ids, Ties::FirstSeen, Ties::Lexicographic][..]),
        threshold in proptest::sample::select(&[0.05, 0.3, 0.5, 0.75, 1.0][..]),
    ) {
        let words: Vec<_> = words.into_iter().collect();
        let symbols = words.iter().map(|(word, count)| (word.iter().map(|&b| b.into()).collect(), *count));
        let expected = Naive::train(symbols.collect(), ties, threshold, merges);
        let picky = Picky { threshold, max_tokens: None };
        let picked = learn(&words, &options(ties, merges), &picky);
        prop_assert_eq!(&picked.events, &expected.events);
        prop_assert_eq!(&picked.tokens, &expected.tokens);
        let live = (0..).zip(&expected.live).filter(|(_, live)| **live).map(|(number, _)| number);
        prop_assert_eq!(&picked.live, &live.collect::<Vec<u32>>());

        let tokenizer = tokenizer(&picked);
        let encode = |text: &[u8]| {
            let mut ids = Vec::new();
            tokenizer.encode(text, OnSpecial::Text, &Never, &mut ids).unwrap();
            ids
        };
        let ids = |word: &[u32]| -> Vec<u32> {
            word.iter().map(|number| picked.live.binary_search(number).unwrap() as u32).collect()
        };
        // The words of the corpus become what training made of them, and others what the events do.
        for ((text, _), (word, _)) in words.iter().zip(&expected.words) {
            prop_assert_eq!(encode(text), ids(word));
        }
        let mut word: Vec<u32> = text.iter().map(|&byte| byte.into()).collect();
        let mut made = Naive::train(Vec::new(), ties, threshold, 0);
        for &(event, _) in &expected.events {
            word = match event {
                Event::Merge(left, right) => {
                    made.step((left, right), 0, 2.0);
                    let token = [&made.tokens[left as usize][..], &made.tokens[right as usize]].concat();
                    let id = 256 + made.tokens[256..].iter().position(|known| *known == token).unwrap();
                    merged(&word, left, right, id as u32)
                }
                Event::Drop(token) => {
                    made.live[token as usize] = false;
                    split(&word, token, &made.parts(token))
                }
            };
        }
        prop_assert_eq!(encode(&text), ids(&word));
    }

    #[test]
    fn the_size_counts_the_tokens_that_are_left(
        words in proptest::collection::hash_map(
            proptest::collection::vec(proptest::sample::select(&b"aabc"[..]), 1..16), 1..5u64, 0..12,
        ),
        room in 0..20usize,
    ) {
        let words: Vec<_> = words.into_iter().collect();
        let picky = Picky { threshold: 0.5, max_tokens: Some(room) };
        let picked = learn(&words, &Options { max_merges: None, ..options(Ties::Ids, 0) }, &picky);
        let made = picked.live.len() - 256;
        prop_assert_eq!(picked.stop == PickyStop::Full, made == room);
        prop_assert!(made == room || (made < room && picked.stop == PickyStop::As(Stop::NoPairs)));
    }
}

#[test]
fn long_work_can_be_stopped() {
    let words = [(b"ab".repeat(1 << 18), 3)];
    let picky = Picky { threshold: 0.3, max_tokens: None };
    let counts = Counts::from_pieces(words.iter().map(|(word, count)| (word, *count))).unwrap();
    for asked in [1, 5, 15] {
        let patience = Patience::new(asked);
        let found = train_picky(&counts, &options(Ties::Ids, 30), &picky, &mut |_, _| Ok(()), &patience);
        assert_eq!(found.map(drop), Err(Error::Interrupted));
        assert_eq!(patience.asked.get(), asked);
    }
    let tokenizer = tokenizer(&learn(&[(b"ab".repeat(1 << 9), 3)], &options(Ties::Ids, 30), &picky));
    let patience = Patience::new(5);
    let stopped = tokenizer.encode(&words[0].0, OnSpecial::Text, &patience, &mut Vec::new());
    assert_eq!((stopped, patience.asked.get()), (Err(Error::Interrupted), 5));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let counts = Counts::from_pieces([("ab", 1)]).unwrap();
    let refused = |options: &Options, threshold| {
        let picky = Picky { threshold, max_tokens: None };
        train_picky(&counts, options, &picky, &mut |_, _| Ok(()), &Never).unwrap_err().to_string()
    };
    let some = options(Ties::Ids, 3);
    for threshold in [0.0, -1.0, 1.1, f64::NAN] {
        assert!(refused(&some, threshold).contains("picky must be greater than 0"));
    }
    assert!(refused(&Options { min_frequency: 0, ..some }, 0.5).contains("min_frequency"));
}
