//! Words on both sides of a cut, and those of several texts.

use super::super::tests::{stages, texts};
use super::super::{Stage, WordRule, charsmap};
use super::*;
use crate::interrupt::Never;
use crate::pretokenize::Stage as Split;
use proptest::prelude::*;

fn rules() -> impl Strategy<Value = WordRule> {
    let white = || Some(r"\s".to_string());
    let rule = |splits: &[&str], removed| WordRule {
        splits: splits.iter().map(|split| split.to_string()).collect(),
        removed,
        prefix: " ".into(),
        ..WordRule::default()
    };
    prop::sample::select(vec![
        rule(&[r"\s+"], white()),
        rule(&[r"\s+", "[-_x]"], white()),
        WordRule { space_symbol: Some('▁'), ..rule(&[r"\s+"], white()) },
        WordRule { suffix: "</w>".into(), ..rule(&[r"\s+"], white()) },
        rule(&["[a-z]+|[^a-z]+"], None),
        rule(&[r"▁?[^▁]+"], None),
        rule(&[], None),
    ])
}

/// Stages, among them one for a character map.
fn all_stages() -> impl Strategy<Value = Vec<Stage>> {
    let entries = [("e\u{301}", "é"), ("ﬁ", "fi"), ("\n", " "), ("n", "N"), ("か\u{3099}", "が"), ("é", "e")];
    let map = Stage::Precompiled { charsmap: charsmap::tests::of_entries(&entries) };
    (stages(), any::<bool>(), any::<bool>()).prop_map(move |(mut stages, has_map, is_first)| {
        if has_map {
            stages.insert(if is_first { 0 } else { stages.len() }, map.clone());
        }
        stages
    })
}

fn words_of(normalizer: &Normalizer, splitter: &Pretokenizer, text: &str) -> Vec<String> {
    let (text, ends) = super::super::pretokens(Some(normalizer), splitter, text.as_bytes(), &Never).unwrap();
    let mut start = 0;
    let mut word =
        |&end: &usize| String::from_utf8(text[std::mem::replace(&mut start, end)..end].to_vec()).unwrap();
    ends.iter().map(&mut word).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_text_has_the_pretokens_of_its_parts(
        text in texts(), stages in all_stages(), rule in rules(), is_split in any::<bool>()
    ) {
        let normalizer = Normalizer::new(stages).unwrap().with_words(rule).unwrap();
        let split = Split::Pattern(" ?[^ ]+| ".into());
        let splitter = Pretokenizer::new(if is_split { std::slice::from_ref(&split) } else { &[] }).unwrap();
        let words = |text: &str| words_of(&normalizer, &splitter, text);
        let whole = words(&text);
        for (offset, after) in text.char_indices().skip(1) {
            let before = text[..offset].chars().next_back().unwrap();
            if normalizer.cuts_words(before, after, &splitter) {
                let parts = [words(&text[..offset]), words(&text[offset..])].concat();
                prop_assert_eq!(&parts, &whole, "between {:?} and {:?}", before, after);
            }
        }
    }

    #[test]
    fn several_texts_have_the_words_of_each(
        all in prop::collection::vec(texts(), 1..6), stages in all_stages(), rule in rules()
    ) {
        let normalizer = Normalizer::new(stages).unwrap().with_words(rule).unwrap();
        if normalizer.joins_texts() {
            let splitter = Pretokenizer::new(&[]).unwrap();
            let mut joined = JoinedTexts::default();
            normalizer.push_texts(all.iter().map(String::as_bytes), &mut joined, &Never).unwrap();
            let found: Vec<Vec<String>> = joined
                .each()
                .map(|(mut start, ends)| {
                    let mut word = |&end: &usize| {
                        let word = &joined.words()[std::mem::replace(&mut start, end)..end];
                        String::from_utf8(word.to_vec()).unwrap()
                    };
                    ends.iter().map(&mut word).collect()
                })
                .collect();
            let expected: Vec<_> = all.iter().map(|text| words_of(&normalizer, &splitter, text)).collect();
            prop_assert_eq!(found, expected);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn numbers_of_sides_decide(text in texts(), stages in all_stages(), rule in rules()) {
        let normalizer = Normalizer::new(stages).unwrap().with_words(rule).unwrap();
        let splitter = Pretokenizer::new(&[]).unwrap();
        let numbered: Vec<_> =
            text.chars().filter_map(|c| Some((normalizer.side_number(c)?, c))).take(8).collect();
        let alike = |number: u64| numbered.iter().filter(move |(other, _)| *other == number);
        for &(before, b) in &numbered {
            for &(after, a) in &numbered {
                let is_cut = normalizer.cuts_words(b, a, &splitter);
                for (_, b) in alike(before) {
                    for (_, a) in alike(after) {
                        prop_assert_eq!(normalizer.cuts_words(*b, *a, &splitter), is_cut);
                    }
                }
            }
        }
    }
}

#[test]
fn bert_cuts_beside_ideographs_and_white_space() {
    let stages = vec![
        Stage::Clean,
        Stage::SpaceIdeographs,
        Stage::Form(super::super::Form::Nfd),
        Stage::StripNonspacingMarks,
        Stage::Lowercase,
    ];
    let rule = WordRule {
        splits: vec![r"\s+".into(), "[-.]".into()],
        removed: Some(r"\s".into()),
        prefix: " ".into(),
        ..WordRule::default()
    };
    let normalizer = Normalizer::new(stages).unwrap().with_words(rule).unwrap();
    let splitter = Pretokenizer::new(&[]).unwrap();
    let cuts = |before, after| normalizer.cuts_words(before, after, &splitter);
    assert!(
        cuts('語', '日') && cuts('が', '語') && cuts('語', 'が') && cuts('x', ' ') && cuts('\u{301}', '\n')
    );
    assert!(cuts('.', 'A') && cuts('e', '.'));
    assert!(!cuts('a', 'B') && !cuts('か', 'が') && !cuts('語', '\u{301}') && !cuts('a', '\u{301}'));
}
