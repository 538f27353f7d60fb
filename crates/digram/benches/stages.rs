//! Where encoding spends its time: splitting alone, counting, encoding, on one thread.
//!
//!     cargo bench -p digram -- VOCABULARY.tiktoken TEXT…
//!
//! Each figure is the median of five runs, in MB of UTF-8 a second.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use digram::count::Counter;
use digram::encode::Unit;
use digram::model::Model;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::ranks::Ranks;
use digram::{OnSpecial, Tokenizer, Unwatched};

const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn main() {
    let paths: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [vocabulary, texts @ ..] = &paths[..] else {
        println!("give a .tiktoken vocabulary and texts to measure");
        return;
    };
    let cl100k = || Pretokenizer::new(&[Stage::Pattern(CL100K.into())]).expect("a supported pattern");
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
    let model = Model::from_ranks(&ranks, &Unwatched).expect("tokens in rank order");
    stage("find merges");
    let unit = Unit::Byte { ids };
    let tokenizer = Tokenizer::with_model(model, Vec::new(), unit, cl100k().into(), true)
        .expect("a consistent vocabulary");
    stage("make the tokenizer");
    let stored = tokenizer.model().to_bytes();
    stage("store");
    Model::from_bytes(&stored).expect("what was stored");
    stage("restore");
    println!("load {:.0} ms", started.elapsed().as_secs_f64() * 1e3);

    for path in texts {
        let text = std::fs::read(path).expect("a readable text");
        let text = &text[..text.len().min(12_000_000)];
        let splitter = cl100k();
        let split = rate(text.len(), || {
            let mut pieces = 0usize;
            let ControlFlow::Continue(()) = splitter.try_for_each(text, |piece| {
                pieces += black_box(piece).len() & 1;
                ControlFlow::<std::convert::Infallible>::Continue(())
            });
            black_box(pieces);
        });
        let count = rate(text.len(), || {
            let mut counter = Counter::new(cl100k());
            counter.add(&[text], 1, &Unwatched).expect("countable");
            black_box(counter.finish().expect("a consistent count").len());
        });
        let encode = rate(text.len(), || {
            let mut ids = Vec::with_capacity(text.len() / 3);
            tokenizer.encode(text, OnSpecial::Text, &Unwatched, &mut ids).expect("encodable");
            black_box(ids.len());
        });
        println!("{path}: split {split:.0}, count pretokens {count:.0}, encode {encode:.0} MB/s");
    }
}

fn rate(bytes: usize, mut run: impl FnMut()) -> f64 {
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    bytes as f64 / 1e6 / seconds[2]
}
