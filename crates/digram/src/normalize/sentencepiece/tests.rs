//! The stage at each level of instructions, compared with itself a character at a time.

use super::super::charsmap::tests::of_entries;
use super::*;
use crate::interrupt::Never;
use proptest::prelude::*;

/// Characters that are entries, that begin others, and that are second ones of entries.
const ENTRIES: [(&str, &str); 15] = [
    ("\n", " "),
    ("\t", " "),
    ("\r", " "),
    ("\u{3000}", " "),
    ("e\u{301}", "é"),
    ("e\u{301}\u{323}", "ẹ́"),
    ("é\u{323}", "ẹ́"),
    ("и\u{306}", "й"),
    ("か\u{3099}", "が"),
    ("ग\u{93c}", "ग़"),
    ("한語", "x"),
    ("ﬁ", "fi"),
    ("Å", "Å"),
    ("\u{327}", ""),
    ("語\u{200d}", "語"),
];

const PARTS: [&str; 32] = [
    "a", "e", "e", " ", " ", "  ", "\n", "\n", "\t", "\r", "\u{3000}", "\u{301}", "\u{323}", "é", "и",
    "\u{306}", "ж", "か", "\u{3099}", "ग", "\u{93c}", "क", "한", "語", "\u{200d}", "ﬁ", "Å", "\u{327}", "▁",
    "“", "😀", "<s>",
];

/// The text after the stage, each part of which is found on its own.
fn defined(rules: &Compiled, text: &[u8]) -> Vec<u8> {
    let (mut new, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let Part { new: part, len } = rules.part(&text[at..]);
        new.extend(String::from_utf8_lossy(part).replace(SPACE, " ").bytes());
        at += len;
    }
    new
}

/// With these entries too.
fn rules(removes_spaces: bool, symbols: &[&str], others: &[(&str, &str)]) -> SentencePiece {
    let entries = [&ENTRIES[..], others].concat();
    let symbols = symbols.iter().map(|symbol| (*symbol).to_string()).collect();
    SentencePiece { charsmap: of_entries(&entries), added_space: AddedSpace::No, removes_spaces, symbols }
}

proptest! {
    #[test]
    fn levels_agree(
        parts in prop::collection::vec(
            prop_oneof![
                30 => prop::sample::select(&PARTS[..]).prop_map(|part| part.as_bytes().to_vec()),
                10 => (prop::sample::select(vec!["word ", "語", "слово ", "क"]), 1..30usize)
                    .prop_map(|(part, count)| part.repeat(count).into_bytes()),
                1 => prop::collection::vec(any::<u8>(), 1..3),
            ],
            0..60,
        ),
        removes_spaces in any::<bool>(),
        symbols in prop::sample::select(vec![&[][..], &["<s>"], &["語क"], &["\n"]]),
        others in prop::sample::select(
            vec![&[][..], &[], &[("éa", "æ")], &[("\r\n", " ")], &[("\n\u{301}", "x")]]
        ),
        added in prop::sample::select(vec![AddedSpace::No, AddedSpace::BeforeWord]),
    ) {
        let text = parts.concat();
        let rules = SentencePiece { added_space: added, ..rules(removes_spaces, symbols, others) };
        let given = Traced::given(&text, 0, true).unwrap();
        let mut found = Vec::new();
        for simd in SimdLevel::available() {
            let compiled = simd.force(|| Compiled::new(&rules)).unwrap();
            let new = compiled.applied(Old::of(&given), &Never).unwrap();
            let changes = compiled.changes(&text, &Never).unwrap();
            prop_assert_eq!(changes, new.bytes != text || added != AddedSpace::No && !text.is_empty());
            if !removes_spaces && added == AddedSpace::No {
                prop_assert_eq!(&new.bytes, &defined(&compiled, &text));
            }
            found.push((new.bytes, new.origins));
        }
        prop_assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn bytes_that_are_no_character_are_replaced_at_each_level() {
    let rules = rules(false, &[], &[]);
    for simd in SimdLevel::available() {
        let compiled = simd.force(|| Compiled::new(&rules)).unwrap();
        // Overlong forms, surrogates, and parts of characters.
        for bytes in [
            &b"\xc0\x80"[..],
            b"\xc1\xbf",
            b"\xe0\x80\x80",
            b"\xe0\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xe0\xa4",
            b"\x80",
        ] {
            for len in [0, 1, 60, 61, 62, 63, 64, 130] {
                let text = [&b"a".repeat(len)[..], bytes, "क".repeat(30).as_bytes()].concat();
                let given = Traced::given(&text, 0, false).unwrap();
                let new = compiled.applied(Old::of(&given), &Never).unwrap().bytes;
                let new = String::from_utf8(new).unwrap();
                assert_eq!(new, String::from_utf8(defined(&compiled, &text)).unwrap(), "{simd:?}");
                assert_eq!(new.matches('\u{fffd}').count(), bytes.len());
            }
        }
    }
}

#[test]
fn an_entry_is_found_wherever_it_stands() {
    let rules = rules(false, &[], &[]);
    for simd in SimdLevel::available() {
        let compiled = simd.force(|| Compiled::new(&rules)).unwrap();
        for filling in ["a", "é", "語", "क", "ab é "] {
            for len in 0..70 {
                let text = format!("{}e\u{301}{}語\u{200d}", filling.repeat(len), filling.repeat(70 - len));
                let expected = format!("{}é{}語", filling.repeat(len), filling.repeat(70 - len));
                let given = Traced::given(text.as_bytes(), 0, false).unwrap();
                let new = compiled.applied(Old::of(&given), &Never).unwrap().bytes;
                assert_eq!(String::from_utf8(new).unwrap(), expected, "{simd:?}");
            }
        }
    }
}

#[test]
fn blocks_end_between_characters_of_no_entry() {
    // More than is examined at once, of characters that begin an entry with the one at each end.
    let compiled = Compiled::new(&rules(false, &[], &[])).unwrap();
    for shift in 0..3 {
        let text =
            "x".repeat(shift) + &"e".repeat(MAX_PLAIN + 1 - shift) + "\u{301}e" + &"а".repeat(MAX_PLAIN);
        let given = Traced::given(text.as_bytes(), 0, false).unwrap();
        let new = String::from_utf8(compiled.applied(Old::of(&given), &Never).unwrap().bytes).unwrap();
        assert_eq!(new, text.replace("e\u{301}", "é"));
    }
}
