//! Places at which a text can be divided, and origins, for lists of stages.

use super::*;
use crate::interrupt::Never;
use proptest::prelude::*;

/// Characters that stages change or that join with others, and some that they leave.
pub(super) fn texts() -> impl Strategy<Value = String> {
    let characters = prop::sample::select(
        "aeEAnx 12\t\n-_é\u{301}\u{323}\u{307}\u{345}\u{1100}\u{1161}\u{11a8}가각ﬁÅ\u{212b}①ÇİßΣς語が\u{3099}か\u{9c7}\u{9be}\u{94d}\u{93c}क\u{958}\u{f73}\u{f71}\u{344}\u{1e9b}\u{2581}\u{feff}\u{200b}\u{3000}𝅗𝅥\u{1d15f}😀"
            .chars()
            .collect::<Vec<_>>(),
    );
    // What stages change or keep as one.
    let several = prop::sample::select(vec!["ae", "n  1", "x1", "xn", "  ", "e\u{301}"]);
    let part = prop_oneof![4 => characters.prop_map(String::from), 1 => several.prop_map(String::from)];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

pub(super) fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let stage = prop_oneof![
        prop::sample::select(vec![Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd]).prop_map(Stage::Form),
        Just(Stage::Lowercase),
        Just(Stage::StripAccents),
        Just(Stage::Nmt),
        Just(Stage::Clean),
        Just(Stage::SpaceIdeographs),
        Just(Stage::StripNonspacingMarks),
        (any::<bool>(), any::<bool>()).prop_map(|(left, right)| Stage::Strip { left, right }),
        Just(Stage::Prepend { content: "▁e".into() }),
        Just(Stage::ReplaceMatches { regex: r"\s+".into(), content: "_".into() }),
        Just(Stage::ReplaceMatches { regex: r"a[^x]|e(?=n)".into(), content: "".into() }),
        (0usize..4, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
            |(added, removes_spaces, has_symbols, has_map)| {
                let spaces = [AddedSpace::No, AddedSpace::Before, AddedSpace::Behind, AddedSpace::BeforeWord];
                let symbols =
                    if has_symbols { vec!["ae".into(), "▁▁".into(), "n  1".into()] } else { Vec::new() };
                let entries = [
                    ("e\u{301}", "é"),
                    ("ﬁ", "fi"),
                    ("\n", " "),
                    ("xn", "A"),
                    ("n 1", "n"),
                    ("E", ""),
                    ("x1", "x1"),
                ];
                let charsmap = if has_map { charsmap::tests::of_entries(&entries) } else { Vec::new() };
                Stage::SentencePiece(SentencePiece {
                    charsmap,
                    added_space: spaces[added],
                    removes_spaces,
                    symbols,
                })
            }
        ),
        Just(Stage::Replace { pattern: " ".into(), content: "▁".into() }),
        Just(Stage::Replace { pattern: "ae".into(), content: "".into() }),
        Just(Stage::Replace { pattern: "aa".into(), content: "é\u{301}".into() }),
    ];
    prop::collection::vec(stage, 0..4)
}

#[test]
fn there_is_no_seam_before_a_character_that_marks_change() {
    let normalizer = Normalizer::new(vec![Stage::Form(Form::Nfc)]).unwrap();
    assert_eq!(normalizer.normalize("aé\u{323}".as_bytes(), &Never).unwrap(), "aẹ\u{301}".as_bytes());
    assert_eq!(normalizer.seam('a', 'é'), None);
    assert_eq!(normalizer.seam('é', '語'), Some(Seam { before: 'é', after: '語' }));
}

proptest! {
    #[test]
    fn parts_on_both_sides_of_a_seam_are_normalized_alone(text in texts(), stages in stages()) {
        let normalizer = Normalizer::new(stages).unwrap();
        let normal = |part: &str| normalizer.normalize(part.as_bytes(), &Never).unwrap().into_owned();
        let whole = normal(&text);
        for (offset, after) in text.char_indices().skip(1) {
            let before = text[..offset].chars().next_back().unwrap();
            if let Some(seam) = normalizer.seam(before, after) {
                let (left, right) = (normal(&text[..offset]), normal(&text[offset..]));
                prop_assert!(String::from_utf8_lossy(&left).ends_with(seam.before));
                prop_assert!(String::from_utf8_lossy(&right).starts_with(seam.after));
                prop_assert_eq!([left, right].concat(), whole.clone());
            }
        }
    }

    #[test]
    fn a_beginning_is_normalized_alone(text in texts(), stages in stages()) {
        let normalizer = Normalizer::new(stages).unwrap();
        let normal = |part: &str| {
            let given = Traced::given(part.as_bytes(), 0, true).unwrap();
            normalizer.traced(given, &Never).unwrap()
        };
        let whole = normal(&text);
        for offset in text.char_indices().skip(1).map(|(offset, _)| offset) {
            if let Some(seam) = normalizer.end_of_beginning(text.as_bytes(), offset) {
                prop_assert!(normalizer.has_beginnings());
                let left = normal(&text[..offset]);
                prop_assert!(String::from_utf8_lossy(&left.bytes).ends_with(seam.before));
                let rest = whole.bytes.strip_prefix(&left.bytes[..]).expect("it begins with it");
                prop_assert!(rest.is_empty() || String::from_utf8_lossy(rest).starts_with(seam.after));
                let (origins, all) = (left.origins.unwrap(), whole.origins.as_ref().unwrap());
                let starts = |origins: &[[usize; 2]]| {
                    origins[..left.bytes.len()].iter().map(|origin| origin[0]).collect::<Vec<_>>()
                };
                prop_assert_eq!(starts(&origins), starts(all));
                // What follows may be a part of the last character.
                let kept = left.bytes.len() - seam.before.len_utf8();
                prop_assert_eq!(&origins[..kept], &all[..kept]);
            }
        }
    }

    #[test]
    fn origins_do_not_change_the_text(text in texts(), stages in stages()) {
        let normalizer = Normalizer::new(stages).unwrap();
        let plain = normalizer.normalize(text.as_bytes(), &Never).unwrap();
        let traced = normalizer.traced(Traced::given(text.as_bytes(), 0, true).unwrap(), &Never).unwrap();
        prop_assert_eq!(plain.as_ref(), &traced.bytes[..]);
        let is_normal = normalizer.is_normal(text.as_bytes(), &Never).unwrap();
        prop_assert!(!is_normal || plain.as_ref() == text.as_bytes());
        for [start, end] in traced.origins.unwrap() {
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end) && start <= end);
        }
    }
}
