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
use digram::pretokenize::{Pretokenizer, Stage};
use digram::ranks::merges_from_ranks;
use digram::{Definition, OnSpecial, Tokenizer, Unwatched};

const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn main() {
    let paths: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [vocabulary, texts @ ..] = &paths[..] else {
        println!("give a .tiktoken vocabulary and texts to measure");
        return;
    };
    let cl100k = || Pretokenizer::new(&[Stage::Pattern(CL100K.into())]).expect("a supported pattern");
    let tokens = tokens(&std::fs::read_to_string(vocabulary).expect("a readable vocabulary"));
    let started = Instant::now();
    let (merges, _) = merges_from_ranks(&tokens).expect("a vocabulary in rank order");
    let mut ids = Box::new([0; 256]);
    for (id, token) in tokens.iter().enumerate() {
        if let Some([byte]) = token.as_deref() {
            ids[*byte as usize] = id as u32;
        }
    }
    let unit = Unit::Byte { ids };
    let tokenizer = Tokenizer::new(Definition {
        tokens,
        merges,
        special_tokens: Vec::new(),
        unit,
        pretokenizer: cl100k().into(),
        ignore_merges: true,
    });
    let tokenizer = tokenizer.expect("a consistent vocabulary");
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

/// The tokens of a `.tiktoken` file: base64, a space and the rank on each line.
fn tokens(file: &str) -> Vec<Option<Vec<u8>>> {
    let mut tokens = Vec::new();
    for line in file.lines() {
        let (token, rank) = line.split_once(' ').expect("a token and a rank");
        let rank: usize = rank.parse().expect("a rank");
        if tokens.len() <= rank {
            tokens.resize(rank + 1, None);
        }
        tokens[rank] = Some(base64(token));
    }
    tokens
}

fn base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits =
            group.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(value(c))) << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
