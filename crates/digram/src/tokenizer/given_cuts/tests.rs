//! Cuts of blocks beside those that pairs of characters decide.

use super::*;
use crate::cpu::SimdLevel;
use crate::interrupt::Never;
use crate::normalize::{Form, Stage, WordRule, map_of};
use crate::pretokenize::Stage as Split;
use proptest::prelude::*;

fn normalizer(stages: Vec<Stage>, splits: &[&str]) -> Normalizer {
    let rule = WordRule {
        splits: splits.iter().map(|split| split.to_string()).collect(),
        removed: Some(r"\s".into()),
        prefix: " ".into(),
        ..WordRule::default()
    };
    Normalizer::new(stages).unwrap().with_words(rule).unwrap()
}

fn normalizers() -> Vec<Normalizer> {
    let bert = || {
        vec![
            Stage::Clean,
            Stage::SpaceIdeographs,
            Stage::Form(Form::Nfd),
            Stage::StripNonspacingMarks,
            Stage::Lowercase,
        ]
    };
    vec![
        normalizer(bert(), &[r"\s+", r"\p{P}"]),
        normalizer(bert(), &[r"\s+"]),
        normalizer(vec![Stage::Form(Form::Nfc)], &[r"\s+", "[-.]"]),
        normalizer(
            vec![Stage::Precompiled {
                charsmap: map_of(&[
                    ("e\u{301}", "é"),
                    ("\n", " "),
                    (".\u{301}", "!"),
                    ("。", "."),
                    ("か\u{3099}", "が"),
                ]),
            }],
            &[r"\s+"],
        ),
        normalizer(vec![Stage::Strip { left: false, right: false }, Stage::Lowercase], &[r"\s+"]),
    ]
}

/// Compares all cuts of texts, in turn, so that later ones find what is remembered of earlier ones.
fn compare(texts: &[Vec<u8>]) -> std::result::Result<(), TestCaseError> {
    let splitter = Pretokenizer::new(&[]).unwrap();
    let spaced = Pretokenizer::new(&[Split::Pattern(" ?[^ ]+| ".into())]).unwrap();
    for normalizer in &normalizers() {
        for pretokenizer in [&splitter, &spaced] {
            let decides = Decides { normalizer, pretokenizer };
            for simd in SimdLevel::available() {
                let Some(cuts) = simd.force(|| GivenCuts::of(Some(normalizer), pretokenizer)) else {
                    continue;
                };
                for text in texts {
                    let mut expected = Vec::new();
                    let (mut at, mut before) = (0, None);
                    while at < text.len() {
                        let (after, len) = decode(&text[at..]);
                        if let (Some(before), Some(after)) = (before, after)
                            && decides.is_cut(before, after)
                        {
                            expected.push(at);
                        }
                        (at, before) = (at + len, after);
                    }
                    expected.push(text.len());
                    let (mut found, mut ahead) = (vec![0], Ahead::default());
                    while found[found.len() - 1] < text.len() {
                        let from = found[found.len() - 1];
                        let next = cuts.next(decides, text, from, &mut ahead, &mut Pacer::new(&Never));
                        found.push(next.unwrap());
                    }
                    prop_assert_eq!(&found[1..], &expected, "{:?} {:?}", simd, String::from_utf8_lossy(text));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn blocks_are_cut_where_pairs_are(
        texts in prop::collection::vec("[ a.éE\u{301}\u{323}\n\r\t\u{0}語。日がか\u{3099}가각\u{94d}क।\u{200b}\u{3000}\u{600}\u{1f1e6}😀-]{1,150}", 1..4)
    ) {
        compare(&texts.into_iter().map(String::into_bytes).collect::<Vec<_>>())?;
    }

    #[test]
    fn so_are_bytes_that_are_not_utf8(
        text in prop::collection::vec(prop::sample::select(
            vec![b' ', b'a', b'.', 0x80, 0xa0, 0xc2, 0xe0, 0xe2, 0xed, 0xf0, 0xf5, 0xff]), 1..100)
    ) {
        compare(&[text])?;
    }
}
