//! Tests that splitting, counting and encoding give the same results at every SIMD level, which is forced.
//!
//! All corpora in full, from the folder that `DIGRAM_DATA` names:
//!
//!     cargo test --release -p digram --lib -- simd_levels --ignored

#[path = "../../tests/public/cases.rs"]
mod cases;

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use crate::added_tokens::OnSpecial;
use crate::count::Counter;
use crate::cpu::SimdLevel;
use crate::encode::{Algorithm, Unit, naive};
use crate::interrupt::Never;
use crate::merges::Merge;
use crate::model::Model;
use crate::pretokenize::{GoesOn, Pretokenizer, Stage};
use crate::ranks::Ranks;
use crate::vocabulary::{TokenId, Vocabulary};

use super::Tokenizer;
use cases::cases;

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The SIMD levels of this processor. They are printed past the test runner, which captures output; with a
/// single level nothing is compared.
static LEVELS: LazyLock<Vec<SimdLevel>> = LazyLock::new(|| {
    let levels = SimdLevel::available();
    _ = writeln!(std::io::stderr(), "SIMD levels of this processor, all tested: {levels:?}");
    levels
});

/// Published and similar patterns, several stages, a pattern that looks behind, and no pattern, each at all
/// levels.
static PRETOKENIZERS: LazyLock<Vec<Vec<Arc<Pretokenizer>>>> = LazyLock::new(|| {
    let pattern = |pattern: &str| Stage::Pattern(pattern.into());
    let all = [
        vec![pattern(CL100K)],
        vec![pattern(O200K)],
        vec![pattern(GPT2)],
        vec![pattern(r"\p{Lu}?\p{Ll}+|\p{Nd}{1,2}|[^\s\p{L}]|\s+")],
        vec![Stage::ThreesFromRight, pattern(CL100K)],
        vec![pattern(r"(?m)^.+$|\s")],
        vec![],
    ];
    let make =
        |stages: &[Stage], simd: SimdLevel| Arc::new(simd.force(|| Pretokenizer::new(stages)).unwrap());
    all.iter().map(|stages| LEVELS.iter().map(|&simd| make(stages, simd)).collect()).collect()
});

const PIECES: [&str; 24] = [
    "a",
    "b",
    "B",
    "ab",
    " a",
    " ab",
    "é",
    "ſ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{3000}",
    "1",
    "12",
    "٣",
    "'s",
    "'LL",
    "!",
    "語",
    "ภาษา",
    "🙂",
    "\u{301}",
];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = || proptest::sample::select(&PIECES[..]);
    let part = prop_oneof![
        20 => piece().prop_map(|piece| piece.as_bytes().to_vec()),
        // Longer than a block, and too long for merging by scanning.
        2 => (piece(), 1..90usize).prop_map(|(piece, times)| piece.repeat(times).into_bytes()),
        1 => any::<[u8; 2]>().prop_map(|bytes| bytes.to_vec()),
    ];
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

/// Tokens of up to 30 bytes, so that some pretokens have no key, each with one merge.
fn vocabularies() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<Merge>)> {
    let bytes = PIECES.concat().into_bytes();
    let pairs = proptest::collection::vec((any::<usize>(), any::<usize>()), 0..80);
    pairs.prop_map(move |pairs| {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut merges = Vec::new();
        for (left, right) in pairs {
            let symbol_count = bytes.len() + tokens.len() - 256;
            let id = |index: usize| match bytes.get(index % symbol_count) {
                Some(&byte) => TokenId::from(byte),
                None => (256 + index % symbol_count - bytes.len()) as TokenId,
            };
            let (left, right) = (id(left), id(right));
            let token = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            if token.len() <= 30 && !tokens.contains(&token) {
                merges.push(Merge { left, right, id: tokens.len() as TokenId });
                tokens.push(token);
            }
        }
        (tokens, merges)
    })
}

fn tokenizer(model: Model, pretokenizer: &Arc<Pretokenizer>, ignore_merges: bool) -> Tokenizer {
    let mut ids = Box::new([0; 256]);
    for (id, token) in model.vocabulary().iter() {
        if let [byte] = token {
            ids[*byte as usize] = id;
        }
    }
    let unit = Unit::Byte { ids };
    Tokenizer::with_model(model, pretokenizer.clone().into(), unit, Algorithm::by_rank(ignore_merges))
        .unwrap()
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Vec<TokenId> {
    let mut ids = Vec::new();
    tokenizer.encode(text, OnSpecial::Text, &Never, &mut ids).unwrap();
    ids
}

/// The distinct pretokens of a text, in the order of first occurrence, with their counts. Counted on this
/// thread, for which the level is forced.
fn count_pretokens(pretokenizer: &Arc<Pretokenizer>, text: &[u8], simd: SimdLevel) -> Vec<(Vec<u8>, u64)> {
    simd.force(|| {
        let mut counter = Counter::new(pretokenizer.clone());
        counter.add(&[text], 1, &Never).unwrap();
        let counts = counter.finish(&Never).unwrap();
        counts.iter().map(|(piece, count)| (piece.to_vec(), count)).collect()
    })
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn all_simd_levels_split_count_and_encode_as_defined(
        (tokens, merges) in vocabularies(),
        text in texts(),
        pretokenizer in 0..PRETOKENIZERS.len(),
        ignore_merges in any::<bool>(),
    ) {
        let pretokenizers = &PRETOKENIZERS[pretokenizer];
        // Other tests compare the plain level with the automaton, and the automaton with other engines.
        let pretokens = pretokenizers[LEVELS.len() - 1].split(&text);
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        let mut expected = Vec::new();
        for pretoken in &pretokens {
            *counts.entry(pretoken).or_default() += 1;
            match tokens.iter().position(|token| ignore_merges && token == pretoken) {
                Some(id) => expected.push(id as TokenId),
                None => expected.extend(naive::merge(pretoken.iter().map(|&byte| byte.into()).collect(), &merges)),
            }
        }
        for (&simd, pretokenizer) in LEVELS.iter().zip(pretokenizers) {
            prop_assert_eq!(&pretokenizer.split(&text), &pretokens, "{:?}", simd);
            let counted = count_pretokens(pretokenizer, &text, simd);
            prop_assert_eq!(counted.len(), counts.len(), "{:?}", simd);
            for (piece, count) in counted {
                prop_assert_eq!(Some(&count), counts.get(&piece[..]), "{:?} {:?}", simd, piece);
            }
            let tokenizer = simd.force(|| {
                let vocabulary = Vocabulary::new(tokens.iter().cloned().map(Some)).unwrap();
                tokenizer(Model::new(vocabulary, merges.clone()).unwrap(), pretokenizer, ignore_merges)
            });
            // In the second pass many ids come from the cache.
            for _ in 0..2 {
                prop_assert_eq!(&encode(&tokenizer, &text), &expected, "{:?}", simd);
            }
            let count = tokenizer.count(&text, OnSpecial::Text, &Never).unwrap();
            prop_assert_eq!(count, expected.len(), "{:?}", simd);
        }
    }
}

/// The folder of published vocabularies and corpora, as for the tests in Python.
fn data() -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DIGRAM_DATA").map_or_else(default, PathBuf::from);
    if !folder.join("corpora").is_dir() {
        _ = writeln!(std::io::stderr(), "skipped: no corpora in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Compares all levels on the first bytes of each corpus. Tests in Python compare the ids of the best level
/// with tiktoken's.
fn corpora(encoding: &str, pattern: &str, maximum: u64) {
    let Some(folder) = data() else { return };
    let ranks = std::fs::read(folder.join(format!("vocabs/{encoding}.tiktoken"))).unwrap();
    let tokenizers: Vec<(SimdLevel, Tokenizer)> = LEVELS
        .iter()
        .map(|&simd| {
            let make = || {
                let ranks = Ranks::read(&ranks).unwrap();
                let pretokenizer = Pretokenizer::new(&[Stage::Pattern(pattern.into())]).unwrap();
                tokenizer(Model::from_ranks(&ranks, &Never).unwrap(), &pretokenizer.into(), true)
            };
            (simd, simd.force(make))
        })
        .collect();
    for corpus in ["en", "code", "multi", "med"] {
        let file = std::fs::File::open(folder.join(format!("corpora/{corpus}.txt"))).unwrap();
        let mut text = Vec::new();
        file.take(maximum).read_to_end(&mut text).unwrap();
        let results = |(simd, tokenizer): &(SimdLevel, Tokenizer)| {
            let mut ends = Vec::new();
            let split = tokenizer.pretokenizer.try_for_many(&text, 0, GoesOn::No, |_, new_ends| {
                ends.extend_from_slice(new_ends);
                ControlFlow::<Infallible>::Continue(())
            });
            assert!(split == ControlFlow::Continue(text.len()));
            let counts = count_pretokens(&tokenizer.pretokenizer, &text, *simd);
            let ids = encode(tokenizer, &text);
            let (batch, _) = tokenizer.encode_batch(&[&text], OnSpecial::Text, 2, &Never).unwrap();
            assert!(batch == ids, "{encoding}, {corpus}, {simd:?}: two threads encode differently");
            (ends, counts, ids)
        };
        let expected = results(&tokenizers[0]);
        assert!(expected.2.len() > text.len() / 20);
        for other in &tokenizers[1..] {
            let (ends, counts, ids) = results(other);
            assert!(ends == expected.0, "{encoding}, {corpus}: {:?} splits differently", other.0);
            assert!(counts == expected.1, "{encoding}, {corpus}: {:?} counts differently", other.0);
            assert!(ids == expected.2, "{encoding}, {corpus}: {:?} encodes differently", other.0);
        }
    }
}

/// Bytes of each corpus: a part, or with DIGRAM_CORPORA=whole all 129 MB, which take minutes.
fn corpus_bytes() -> u64 {
    let whole = std::env::var_os("DIGRAM_CORPORA").is_some_and(|share| share == "whole");
    if whole { u64::MAX } else { 250_000 }
}

#[test]
fn the_corpora_under_r50k() {
    corpora("r50k_base", GPT2, corpus_bytes());
}

#[test]
fn the_corpora_under_cl100k() {
    corpora("cl100k_base", CL100K, corpus_bytes());
}

#[test]
fn the_corpora_under_o200k() {
    corpora("o200k_base", O200K, corpus_bytes());
}
