//! How fast models of scores and WordPiece encode texts, on one thread.
//!
//!     cargo bench -p digram --bench scores -- sentencepiece|words|bert VOCABULARY MAP TEXT
//!         [--runs 5] [--passes 4] [--megabytes 6] [--simd Avx2]
//!
//! A line of the vocabulary is a token in hexadecimal digits, or `-`, and its score, or `-`; its number is the id. The
//! map is a character map of SentencePiece, and for `bert` the regexes by which words are cut, one a line. The text is
//! documents joined by `<|endoftext|>`. The normalizers are those of SentencePiece, of XLM-R and T5, or of BERT.
//! Printed are the median of the runs for the first pass and for the last one, in MB of UTF-8 a second, and a number
//! that depends on all ids. `--passes 1` leaves out the others, `--simd` limits the
//! instructions to those of another level.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use digram::encode::{Addition, Algorithm, OnUnknown, Scores, Unit, WordPieceRules};
use digram::normalize::{AddedSpace, Normalizer, SentencePiece, Stage, WordRule};
use digram::pretokenize::{Pretokenizer, Stage as Split};
use digram::tokenizer::Pipeline;
use digram::{Definition, Never, OnSpecial, Tokenizer};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut paths, mut runs, mut passes, mut megabytes) = (Vec::new(), 5, 4, 6.0);
    while let Some(argument) = arguments.next() {
        if argument == "--simd" {
            digram::limit_simd(&arguments.next().expect("a level")).expect("a level");
            continue;
        }
        let mut number = || arguments.next().and_then(|value| value.parse::<f64>().ok()).expect("a number");
        match &argument[..] {
            "--runs" => runs = number() as usize,
            "--passes" => passes = number() as usize,
            "--megabytes" => megabytes = number(),
            _ => paths.push(argument),
        }
    }
    let [kind, vocabulary, map, text] = &paths[..] else {
        println!("give a kind, a vocabulary, a map and a text");
        return;
    };
    let text = std::fs::read_to_string(text).expect("a readable text");
    let mut texts = Vec::new();
    let mut size = 0;
    for document in text.split("<|endoftext|>") {
        if size as f64 + document.len() as f64 > megabytes * 1e6 {
            break;
        }
        size += document.len();
        texts.push(document);
    }
    let tokenizer = || tokenizer(kind, vocabulary, map);
    let started = Instant::now();
    drop(tokenizer());
    println!("load {:.1} ms, {size} bytes", started.elapsed().as_secs_f64() * 1e3);
    let (mut first, mut last, mut digest) = (Vec::new(), Vec::new(), 0);
    for _ in 0..runs {
        let tokenizer = tokenizer();
        tokenizer.encode_batch(&["hello world, 123", "a b"], OnSpecial::Text, 1, &Never).expect("ids");
        for pass in 0..passes {
            let started = Instant::now();
            let found = tokenizer.encode_batch(&texts, OnSpecial::Text, 1, &Never).expect("ids");
            let speed = size as f64 / started.elapsed().as_secs_f64() / 1e6;
            if pass == 0 {
                first.push(speed);
            }
            if pass == passes - 1 {
                last.push(speed);
                let mut hasher = DefaultHasher::new();
                found.hash(&mut hasher);
                digest = hasher.finish();
            }
        }
    }
    println!("{:.1} / {:.1} MB/s, {digest:016x}", median(&mut first), median(&mut last));
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn tokenizer(kind: &str, vocabulary: &str, map: &str) -> Tokenizer {
    let (mut tokens, mut scores) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(vocabulary).expect("a readable vocabulary").lines() {
        let (token, score) = line.split_once(' ').expect("a token and a score");
        let byte = |place: usize| u8::from_str_radix(&token[place..place + 2], 16).expect("digits");
        tokens.push((token != "-").then(|| (0..token.len()).step_by(2).map(byte).collect::<Vec<u8>>()));
        scores.push((score != "-").then(|| score.parse::<f64>().expect("a number")));
    }
    let (map, unknown) = (std::fs::read(map).expect("a readable map"), tokens.len() as u32);
    let lowest = scores.iter().flatten().copied().fold(0.0, f64::min);
    let scores = |addition| {
        Algorithm::Unigram(Arc::new(Scores {
            pieces: scores.clone(),
            unknown: lowest - 10.0,
            addition,
            spelled: Vec::new(),
        }))
    };
    let rule = |splits: Vec<String>, space_symbol| WordRule {
        splits,
        removed: Some(r"\s".into()),
        prefix: " ".into(),
        suffix: String::new(),
        space_symbol,
        first: false,
        letters: false,
        keep: None,
        then: None,
    };
    let whole = Vec::new();
    let (stages, words, splits, algorithm) = match kind {
        "sentencepiece" => {
            let stage = SentencePiece {
                charsmap: map,
                added_space: AddedSpace::Before,
                removes_spaces: true,
                symbols: Vec::new(),
            };
            (vec![Stage::SentencePiece(stage)], None, whole, scores(Addition::Single))
        }
        "words" => {
            let rule = rule(vec![r"\s+".into()], Some('▁'));
            let splits = vec![Split::Pattern(" ?[^ ]+| ".into())];
            (vec![Stage::Precompiled { charsmap: map }], Some(rule), splits, scores(Addition::Double))
        }
        _ => {
            let splits = String::from_utf8(map).expect("regexes").lines().map(String::from).collect();
            let stages = vec![
                Stage::Clean,
                Stage::SpaceIdeographs,
                Stage::Form(digram::normalize::Form::Nfd),
                Stage::StripNonspacingMarks,
                Stage::Lowercase,
            ];
            let rules = WordPieceRules { max_word_chars: 1 << 30, prefix: "##".into() };
            (stages, Some(rule(splits, None)), whole, Algorithm::WordPiece(rules))
        }
    };
    let normalizer = Normalizer::new(stages).expect("a map");
    let normalizer = match words {
        Some(rule) => normalizer.with_words(rule).expect("a rule"),
        None => normalizer,
    };
    let pretokenizer = Pretokenizer::new(&splits).expect("supported patterns");
    let pipeline = Pipeline { normalizer: Some(Arc::new(normalizer)), ..Pipeline::from(pretokenizer) };
    let unknown = if kind == "bert" { 100 } else { unknown };
    if kind != "bert" {
        tokens.push(Some("<unknown>".into()));
    } else {
        tokens[unknown as usize] = Some("<unknown>".into());
    }
    let unit = Unit::Char { on_unknown: OnUnknown::Token(unknown) };
    Tokenizer::new(Definition { tokens, merges: Vec::new(), pipeline, unit, algorithm }).expect("a tokenizer")
}
