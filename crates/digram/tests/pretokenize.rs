//! The automaton splits as the `regex` crate does.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use digram::pretokenize::{Pretokenizer, Stage};
use proptest::prelude::*;

const PIECES: [&str; 18] = [
    "a", "B", "é", "ſ", "K", " ", "\n", "\r", "\t", "\u{a0}", "\u{3000}", "1", "٣", "½", "'", "!", "語",
    "\u{301}",
];

/// Patterns of the syntax that both know, with alternatives, repeats of all kinds and anchors.
const PATTERNS: [&str; 16] = [
    r"\w+|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
    r"(?i:'s|'k)|\p{L}+?\p{M}|.",
    r"a*b|a",
    r"a+b",
    r"(?:ab|a)(?:c|bcd)?",
    r"\s+$|\s",
    r"^\S+|\d",
    r"\b\w+\b",
    r"\B.",
    r"(?m)^.+$",
    r"\p{Lu}?\p{Ll}{2,4}?|\p{N}",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?",
    r"[a-zé]+(?:'[a-z]+)*",
    r"(?s-m:.{3})",
    r"[[:alpha:]&&[^a]]+",
];

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// Compiling takes a thousand times as long as splitting a small text.
fn compiled(pattern: &str) -> Arc<(Pretokenizer, regex::Regex)> {
    type Compiled = HashMap<String, Arc<(Pretokenizer, regex::Regex)>>;
    static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
    let new = || {
        let pretokenizer = Pretokenizer::new(&[Stage::Pattern(pattern.into())]).unwrap();
        // Look-ahead is ours alone.
        (pretokenizer, regex::Regex::new(pattern).unwrap_or(regex::Regex::new("x").unwrap()))
    };
    COMPILED.lock().unwrap().entry(pattern.into()).or_insert_with(|| Arc::new(new())).clone()
}

fn split(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
    compiled(pattern).0.split(text).into_iter().map(<[u8]>::to_vec).collect()
}

/// The matches and what stands between them.
fn expected(pattern: &str, text: &str) -> Vec<Vec<u8>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for found in compiled(pattern).1.find_iter(text) {
        pieces.push(&text[at..found.start()]);
        pieces.push(found.as_str());
        at = found.end();
    }
    pieces.push(&text[at..]);
    pieces.into_iter().filter(|piece| !piece.is_empty()).map(|piece| piece.as_bytes().to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6_000))]

    #[test]
    fn matches_are_those_of_the_regex_crate(pattern in proptest::sample::select(&PATTERNS[..]), text in texts()) {
        prop_assert_eq!(split(pattern, text.as_bytes()), expected(pattern, &text), "{}", pattern);
    }

    #[test]
    fn runs_longer_than_what_is_matched_without_notes(
        pattern in proptest::sample::select(&PATTERNS[..]),
        runs in proptest::collection::vec((proptest::sample::select(&PIECES[..]), 1..400usize), 1..5),
    ) {
        let text: String = runs.into_iter().map(|(piece, times)| piece.repeat(times)).collect();
        prop_assert_eq!(split(pattern, text.as_bytes()), expected(pattern, &text), "{}", pattern);
    }

    #[test]
    fn bytes_that_are_no_utf8_split_as_the_replacement_character(
        pattern in proptest::sample::select(&PATTERNS[..]),
        parts in proptest::collection::vec(prop_oneof![texts().prop_map(String::into_bytes), any::<[u8; 2]>().prop_map(|b| b.to_vec())], 0..6),
    ) {
        let bytes = parts.concat();
        let pieces = split(pattern, &bytes);
        prop_assert_eq!(pieces.concat(), bytes.clone());
        let replaced: Vec<String> = pieces.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(replaced.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>(), expected(pattern, &whole));
    }
}

#[test]
fn one_character_of_look_ahead() {
    let text = b"a  b   \n  c  ";
    let pieces: Vec<String> = split(r"\s+(?!\S)|\s+|\S+", text)
        .into_iter()
        .map(|piece| String::from_utf8(piece).unwrap())
        .collect();
    assert_eq!(pieces, ["a", " ", " ", "b", "   \n ", " ", "c", "  "]);
    assert_eq!(split(r"a(?=b)|[ab]{2}", b"aab"), [b"aa".to_vec(), b"b".to_vec()]);
    assert_eq!(split(r"a(?=b)", b"aab"), [b"a".to_vec(), b"a".to_vec(), b"b".to_vec()]);
}

#[test]
fn what_is_not_supported_says_so() {
    for (pattern, says) in [
        (r"(?<=a)b", "look-around"),
        (r"(?!ab)c", "look-ahead can see one character"),
        (r"(a)\1", "backreferences"),
        (r"a*", "match nothing"),
        (r"(?!\S)", "match nothing"),
        (r"a|", "match nothing"),
        (r"a++", "gives nothing back"),
        (r"\p{N}{1,3}+", "gives nothing back"),
        (r" ?+a", "gives nothing back"),
        (r"\p{L}+[+*]+\++", ""),
        (r"[", "unclosed"),
        (r"(?!a", "not closed"),
        (r"[(?!a)]x", ""),
        (r"\w{1,30000}", "steps"),
        (r"(a|b)*a(a|b){15}", "states"),
    ] {
        match Pretokenizer::new(&[Stage::Pattern(pattern.into())]) {
            Ok(_) => assert_eq!(says, "", "{pattern}"),
            Err(error) => assert!(!says.is_empty() && error.to_string().contains(says), "{pattern}: {error}"),
        }
    }
}

#[test]
fn a_pattern_that_looks_far_ahead_in_vain_takes_linear_time() {
    // Counted in time, but far from the limit: quadratic work would be 2^36 steps here.
    let text = "a".repeat(1 << 18);
    assert_eq!(split(r"a+b", text.as_bytes()).len(), 1);
    assert_eq!(split(r"a*b|a", text.as_bytes()).len(), 1 << 18);
    let spaced = format!("{}x", "\n  ".repeat(1 << 16));
    assert_eq!(split(r"\s*[\r\n]+|\s+(?!\S)|\s+|x", spaced.as_bytes()).len(), 4);
}
