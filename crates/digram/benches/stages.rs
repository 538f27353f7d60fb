//! Where encoding and decoding spend their time, stage by stage, on one thread.
//!
//!     cargo bench -p digram --bench stages -- VOCABULARY.tiktoken TEXT… [--pattern REGEX]
//!         [--only split,lookup,merge,…] [--runs 5] [--simd Avx2]
//!
//! Text is cut by the pattern of cl100k, or by the one that is given. `--simd` limits the instructions to those of
//! another level: `Avx512`, `Avx2` or `Plain`. Each figure is the median of
//! the runs, in MB of UTF-8 a second:
//!
//! - `split`: pretokens, and nothing done with them.
//! - `count`: their counts, as for training.
//! - `lookup`: the pretokens that are tokens, each of them as often as in the text.
//! - `merge`: the others, each of them once, with nothing remembered from run to run.
//! - `first`: the text, with nothing remembered. `encode`: the text again. `tally`: the number of its ids. `decode`: its
//!   ids back to bytes.
//! - `nfc`: each line, which the form NFC leaves as it is if the text is normal. Only if it is named.
//! - `fresh`: as `first`, by a tokenizer that has encoded one line before. Only if it is named.

use std::collections::HashSet;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use digram::count::Counter;
use digram::encode::{Algorithm, Unit};
use digram::model::Model;
use digram::normalize::{Form, Normalizer, Stage as Change};
use digram::pretokenize::{Pretokenizer, Stage};
use digram::ranks::Ranks;
use digram::{Never, OnSpecial, Tokenizer};

const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut paths, mut only, mut runs, mut pattern) = (Vec::new(), None, 5, CL100K.to_string());
    while let Some(argument) = arguments.next() {
        match &argument[..] {
            "--pattern" => pattern = arguments.next().expect("a regex"),
            "--simd" => digram::limit_simd(&arguments.next().expect("a level")).expect("a level"),
            "--only" => only = arguments.next(),
            "--runs" => runs = arguments.next().and_then(|runs| runs.parse().ok()).expect("a number of runs"),
            _ => paths.push(argument),
        }
    }
    let [vocabulary, texts @ ..] = &paths[..] else {
        println!("give a .tiktoken vocabulary and texts to measure");
        return;
    };
    let pretokenizer = || Pretokenizer::new(&[Stage::Pattern(pattern.clone())]).expect("a supported pattern");
    let data = std::fs::read(vocabulary).expect("a readable vocabulary");
    let started = Instant::now();
    let mut lap = started;
    let mut stage = |name: &str| {
        println!("{name} {:.1} ms", std::mem::replace(&mut lap, Instant::now()).elapsed().as_secs_f64() * 1e3)
    };
    let ranks = Ranks::read(&data).expect("a vocabulary as published");
    stage("read lines");
    let mut ids = Box::new([0; 256]);
    for (id, token) in ranks.vocabulary().iter() {
        if let [byte] = token {
            ids[*byte as usize] = id;
        }
    }
    let model = Model::from_ranks(&ranks, &Never).expect("tokens in rank order");
    stage("find merges");
    let new_tokenizer = |model| {
        let unit = Unit::Byte { ids: ids.clone() };
        let made = Tokenizer::with_model(model, pretokenizer().into(), unit, Algorithm::by_rank(true));
        made.expect("a consistent vocabulary")
    };
    let tokenizer = new_tokenizer(model);
    stage("make the tokenizer");
    let stored = tokenizer.model().to_bytes();
    stage("store");
    Model::from_bytes(&stored).expect("what was stored");
    stage("restore");
    println!("load {:.0} ms", started.elapsed().as_secs_f64() * 1e3);

    let splitter = pretokenizer();
    for path in texts {
        let text = std::fs::read(path).expect("a readable text");
        let text = &text[..text.len().min(12_000_000)];
        let is_named =
            |name: &str| only.as_ref().is_some_and(|only| only.split(',').any(|wanted| wanted == name));
        let is_wanted = |name: &str| only.is_none() || is_named(name);
        // Without these, a profile shows the other stages alone.
        let pretokens = match is_wanted("lookup") || is_wanted("merge") {
            true => splitter.split(text),
            false => Vec::new(),
        };
        let (known, others): (Vec<&[u8]>, Vec<&[u8]>) =
            pretokens.into_iter().partition(|pretoken| tokenizer.token_to_id(pretoken).is_some());
        let known = known.concat();
        let others = HashSet::<&[u8]>::from_iter(others);
        let merged: usize = others.iter().map(|pretoken| pretoken.len()).sum();
        let mut ids = Vec::with_capacity(text.len());
        let mut encode = |text: &[u8]| {
            ids.clear();
            tokenizer.encode(text, OnSpecial::Text, &Never, &mut ids).expect("encodable");
            black_box(ids.len());
        };
        encode(text);
        print!("{path}:");
        let measure = |name: &str, bytes: usize, run: &mut dyn FnMut()| {
            if is_wanted(name) {
                print!(" {name} {:.1}", rate(bytes, runs, || (), |()| run()));
            }
        };
        measure("split", text.len(), &mut || {
            let mut pieces = 0usize;
            let ControlFlow::Continue(()) = splitter.try_for_each(text, |piece| {
                pieces += black_box(piece).len() & 1;
                ControlFlow::<std::convert::Infallible>::Continue(())
            });
            black_box(pieces);
        });
        measure("count", text.len(), &mut || {
            let mut counter = Counter::new(pretokenizer());
            counter.add(&[text], 1, &Never).expect("countable");
            black_box(counter.finish(&Never).expect("a consistent count").len());
        });
        measure("lookup", known.len(), &mut || encode(&known));
        measure("merge", merged, &mut || {
            tokenizer.forget();
            others.iter().for_each(|pretoken| encode(pretoken));
        });
        measure("first", text.len(), &mut || {
            tokenizer.forget();
            encode(text);
        });
        if is_named("nfc") {
            let normalizer = Normalizer::new(vec![Change::Form(Form::Nfc)]).expect("a stage");
            measure("nfc", text.len(), &mut || {
                for line in text.split(|&byte| byte == b'\n') {
                    black_box(normalizer.normalize(line, &Never).expect("normal").len());
                }
            });
        }
        if is_named("fresh") {
            let make = || {
                let model = Model::from_bytes(&stored).expect("what was stored");
                let made = new_tokenizer(model);
                made.encode(b"Hello, world", OnSpecial::Text, &Never, &mut Vec::new()).expect("encodable");
                made
            };
            let encode = |new: Tokenizer| {
                let mut ids = Vec::new();
                new.encode(text, OnSpecial::Text, &Never, &mut ids).expect("encodable");
                (new, ids)
            };
            print!(" fresh {:.1}", rate(text.len(), runs, make, encode));
        }
        measure("encode", text.len(), &mut || encode(text));
        measure("tally", text.len(), &mut || {
            black_box(tokenizer.count(text, OnSpecial::Text, &Never).expect("encodable"));
        });
        let mut bytes = Vec::with_capacity(text.len());
        encode(text);
        measure("decode", text.len(), &mut || {
            bytes.clear();
            tokenizer.decode(&ids, &Never, &mut bytes).expect("its own ids");
            black_box(bytes.len());
        });
        println!(" MB/s");
    }
}

/// The speed of `run`, which takes what `prepare` makes before each run.
fn rate<T, R>(bytes: usize, runs: usize, mut prepare: impl FnMut() -> T, mut run: impl FnMut(T) -> R) -> f64 {
    let mut seconds: Vec<f64> = (0..runs)
        .map(|_| {
            let prepared = prepare();
            let started = Instant::now();
            let result = run(prepared);
            let seconds = started.elapsed().as_secs_f64();
            black_box(result);
            seconds
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    bytes as f64 / 1e6 / seconds[if std::env::var_os("BEST").is_some() { 0 } else { runs / 2 }]
}
