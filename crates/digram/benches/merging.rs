//! How long the merge loop takes, apart from counting.
//!
//!     cargo bench -p digram --bench merging -- TEXT… [--pattern gpt2|cl100k|none] [--sizes 8000,32000]
//!         [--ties ids|first_seen|lexicographic] [--threads 1] [--runs 3] [--memory BYTES]
//!
//! Documents are told apart by `<|endoftext|>`. For each size the seconds of the best run, those of
//! counting, and a number that is equal where the merges are.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use digram::Never;
use digram::count::Counter;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::train::{MemoryLimit, Options, Ties, train, train_bounded};

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut paths, mut memory, mut stages, mut sizes, mut threads, mut runs, mut ties) =
        (Vec::new(), None, vec![Stage::Pattern(GPT2.into())], vec![32_000], 1, 3, Ties::Ids);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value after the option");
        match &argument[..] {
            "--pattern" => {
                stages = match &value()[..] {
                    "gpt2" => vec![Stage::Pattern(GPT2.into())],
                    "cl100k" => vec![Stage::Pattern(CL100K.into())],
                    _ => vec![],
                }
            }
            "--ties" => {
                ties = match &value()[..] {
                    "ids" => Ties::Ids,
                    "first_seen" => Ties::FirstSeen,
                    _ => Ties::Lexicographic,
                }
            }
            "--sizes" => sizes = value().split(',').map(|size| size.parse().expect("a size")).collect(),
            "--memory" => memory = Some(value().parse().expect("a number of bytes")),
            "--threads" => threads = value().parse().expect("a number of threads"),
            "--runs" => runs = value().parse().expect("a number of runs"),
            _ => paths.push(argument),
        }
    }
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable text");
        let documents: Vec<&str> = text.split("<|endoftext|>").collect();
        let pretokenizer = std::sync::Arc::new(Pretokenizer::new(&stages).expect("a supported pattern"));
        let started = Instant::now();
        let mut counter = Counter::new(pretokenizer);
        counter.add(&documents, threads, &Never).expect("countable");
        let counts = counter.finish(&Never).expect("consistent");
        println!(
            "{path}: {} pretokens, {} distinct, counted in {:.3} s",
            counts.totals().pretokens,
            counts.len(),
            started.elapsed().as_secs_f64()
        );
        for &size in &sizes {
            let options = Options { ties, ..Options::bytes(size) };
            let (mut best, mut digest, mut last) = (f64::MAX, 0, 0);
            for _ in 0..runs {
                let started = Instant::now();
                let trained = match memory {
                    None => train(&counts, &options, &[], &mut |_| Ok(()), &Never),
                    Some(bytes) => {
                        let folder = std::env::temp_dir();
                        let limit = MemoryLimit { bytes, folder: &folder };
                        train_bounded(&counts, limit, &options, &[], &mut |_| Ok(()), &Never)
                    }
                };
                let trained = trained.expect("trainable");
                best = best.min(started.elapsed().as_secs_f64());
                let mut hasher = DefaultHasher::new();
                for learned in &trained.merges {
                    (learned.merge.left, learned.merge.right, learned.count).hash(&mut hasher);
                }
                digest = hasher.finish();
                last = trained.merges.last().map_or(0, |learned| learned.count);
            }
            println!("{size} tokens {best:.3} s, last count {last}, merges {digest:016x}");
        }
    }
}
