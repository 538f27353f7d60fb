//! Forms beside the library's, on whole texts.

use super::units::PART;
use super::*;
use crate::interrupt::Never;
use crate::normalize::tests::texts;
use crate::text::Text;
use proptest::prelude::*;

/// The new form of a whole text by the library.
fn whole(form: Form, text: &str) -> Vec<Changed> {
    match form {
        Form::Nfc => text.nfc().collect(),
        Form::Nfd => text.nfd().collect(),
        Form::Nfkc => text.nfkc().collect(),
        Form::Nfkd => text.nfkd().collect(),
    }
}

/// The new form of a text, with the origin of each character by the rules for a whole text.
fn expected(form: Form, text: &str) -> (String, Vec<[usize; 2]>) {
    let given = Traced::given(text.as_bytes(), 0, true).unwrap();
    let mut rewriter = Rewriter::new(&given).unwrap();
    for (c, change) in whole(form, text) {
        if change > 0 {
            rewriter.insert(c).unwrap();
        } else {
            rewriter.replace(c).unwrap();
            rewriter.skip_characters(change.unsigned_abs());
        }
    }
    let new = rewriter.finish().unwrap();
    (String::from_utf8(new.bytes).unwrap(), new.origins.unwrap())
}

/// What [`FormTable::keeps`] returns when it starts with single characters, and when it starts with rows.
fn kept(table: &FormTable, text: Text<'_>) -> [bool; 2] {
    [0, u16::MAX].map(|bound| {
        table.units().set_bound(bound);
        table.keeps(text, &mut Pacer::new(&Never)).unwrap()
    })
}

/// Checks what is known of a text by its characters of a fixed width.
fn check_kept(table: &FormTable, text: &str, is_changed: bool) {
    let codes = || text.chars().map(u32::from);
    let latin1: Option<Vec<u8>> = codes().map(|code| code.try_into().ok()).collect();
    let units: Option<Vec<u16>> = codes().map(|code| code.try_into().ok()).collect();
    let forms = [latin1.as_deref().map(Text::Latin1), units.as_deref().map(Text::Ucs2)];
    for form in forms.into_iter().flatten() {
        let is_kept = kept(table, form).contains(&true);
        assert!(!(is_kept && is_changed), "{:?} {text:?}", table.simd);
    }
}

const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

#[test]
fn each_character_beside_letters_and_marks() {
    // Of the planes that have no characters, or such as nobody has assigned, some of each row of the table.
    let has_characters = |plane| matches!(plane, 0..4 | 14);
    for form in FORMS {
        let table = FormTable::of(form);
        for c in
            ('\0'..=char::MAX).filter(|&c| has_characters(c as u32 >> 16) || (c as u32).is_multiple_of(61))
        {
            for text in [format!("a{c}b"), format!("\u{1100}{c}\u{301}"), format!("e{c}\u{323}{c}\u{1161}")] {
                let given = Traced::given(text.as_bytes(), 0, false).unwrap();
                let new = table.applied(&given, &Never).unwrap().bytes;
                let expected: String = whole(form, &text).iter().map(|&(c, _)| c).collect();
                assert_eq!(String::from_utf8(new).unwrap(), expected, "{form:?} {text:?}");
                assert_eq!(table.changes(text.as_bytes(), &Never), Ok(expected != text), "{text:?}");
                check_kept(table, &text, expected != text);
            }
        }
    }
}

proptest! {
    #[test]
    fn runs_alone_give_what_the_whole_text_does(text in texts(), form in prop::sample::select(&FORMS[..])) {
        let given = Traced::given(text.as_bytes(), 0, true).unwrap();
        let new = FormTable::of(form).applied(&given, &Never).unwrap();
        let (bytes, origins) = expected(form, &text);
        check_kept(FormTable::of(form), &text, bytes != text);
        prop_assert_eq!(String::from_utf8(new.bytes).unwrap(), bytes);
        prop_assert_eq!(new.origins.unwrap(), origins);
    }
}

#[test]
fn what_may_join_is_known() {
    let table = FormTable::of(Form::Nfc);
    assert!(
        ['a', '=', '\u{1100}', '가', 'が', 'か', 'ộ'].map(|c| table.may_join(c))
            == [true, true, true, true, false, true, false]
    );
    assert!(!" \n.1語각".chars().any(|c| table.may_join(c)));
    assert!(!FormTable::of(Form::Nfd).may_join('a'));
}

#[test]
fn a_run_is_found_wherever_it_stands() {
    for form in FORMS {
        let table = FormTable::of(form);
        for filling in ["a", "é", "д", "語", "가", "न", "ก", "\u{ff}", "😀"] {
            for length in 0..80 {
                let text =
                    format!("{}e\u{301}\u{323}{}", filling.repeat(length), filling.repeat(length % 40));
                let given = Traced::given(text.as_bytes(), 0, false).unwrap();
                let new = table.applied(&given, &Never).unwrap().bytes;
                let expected: String = whole(form, &text).iter().map(|&(c, _)| c).collect();
                assert_eq!(String::from_utf8(new).unwrap(), expected);
                assert_eq!(table.changes(text.as_bytes(), &Never), Ok(expected != text));
                check_kept(table, &text, expected != text);
            }
        }
    }
}

#[test]
fn normal_text_is_kept_without_a_look_at_its_bytes() {
    let texts = [
        "Le cœur a ses raisons que la raison ne connaît point",
        "Ẹ̀kọ́ jẹ́ ọ̀nà",
        "Tất cả mọi người sinh ra đều được tự do",
        "Все люди рождаются свободными",
        "يولد جميع الناس أحراراً",
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में",
        "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা",
        "มนุษย์ทั้งหลายเกิดมามีอิสระ ผู้รู้",
        "ມະນຸດທຸກຄົນເກີດມາ ຜູ້ຮູ້",
        "모든 인간은 태어날 때부터 자유로우며",
        "すべての人間は、生まれながらにして自由であり、ガ",
        "人人生而自由,在尊严和权利上一律平等。",
    ];
    for simd in SimdLevel::available() {
        let table = simd.force(|| FormTable::new(Form::Nfc));
        for text in texts {
            // One that ends at each place of a block.
            for skipped in 0..text.chars().count() {
                let text: String = text.chars().skip(skipped).chain(text.repeat(3).chars()).collect();
                if text.starts_with(|c| !table.is_inert(c)) {
                    continue;
                }
                let units: Vec<u16> = text.encode_utf16().collect();
                let is_kept = kept(&table, Text::Ucs2(&units));
                assert_eq!(is_kept, [simd != SimdLevel::Plain; 2], "{simd:?} {text}");
            }
        }
    }
}

#[test]
fn a_mark_at_the_start_of_a_part_stands_behind_the_part_before() {
    let table = FormTable::of(Form::Nfc);
    for length in PART - 2..PART + 2 {
        for (end, is_changed) in
            [("न\u{94d}", false), ("e\u{301}", true), ("न\u{93c}", true), ("\u{301}", false)]
        {
            for filling in ["д", "क\u{94d}"] {
                let text: String = filling.chars().cycle().take(length).chain(end.chars()).collect();
                check_kept(table, &text, is_changed);
                let units: Vec<u16> = text.encode_utf16().collect();
                let is_known = !is_changed && table.simd != SimdLevel::Plain;
                assert_eq!(kept(table, Text::Ucs2(&units)), [is_known; 2], "{length} {text:?}");
            }
        }
    }
}

#[test]
fn marks_of_each_class_behind_each_other() {
    let table = FormTable::of(Form::Nfc);
    let mut marks: Vec<char> = ('\0'..'\u{ffff}').filter(|&c| canonical_combining_class(c) != 0).collect();
    marks.sort_by_key(|&c| (canonical_combining_class(c), c));
    marks.dedup_by_key(|c| canonical_combining_class(*c));
    for first in &marks {
        for second in &marks {
            for before in ["", "aक", "語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語"]
            {
                let text = format!("{before}{first}{second}語");
                let is_changed = whole(Form::Nfc, &text).iter().map(|&(c, _)| c).ne(text.chars());
                check_kept(table, &text, is_changed);
            }
        }
    }
}

#[test]
fn bytes_that_are_not_characters_remain_and_join_nothing() {
    let table = FormTable::of(Form::Nfc);
    let normal = |text: &[u8]| table.applied(&Traced::given(text, 0, false).unwrap(), &Never).unwrap().bytes;
    assert_eq!(normal(b"e\xff\xcc\x81e\xcc\x81\xff"), b"e\xff\xcc\x81\xc3\xa9\xff");
    assert_eq!(normal(b"\xcc"), b"\xcc");
    assert_eq!(
        normal(&[b"a".repeat(40), b"e\xcc\x81".repeat(20)].concat()),
        [b"a".repeat(40), "é".repeat(20).into_bytes()].concat()
    );
}

#[test]
fn each_mark_behind_letters_and_marks_at_each_level() {
    let marks: Vec<char> =
        ('\0'..=char::MAX).filter(|&c| is_nfc_quick([c].into_iter()) == IsNormalized::Maybe).collect();
    // One mark of each class, and all letters that decompose or join, a part of them with each mark.
    let mut between: Vec<char> = ('\0'..'\u{3100}').filter(|&c| canonical_combining_class(c) != 0).collect();
    between.sort_by_key(|&c| canonical_combining_class(c));
    between.dedup_by_key(|c| canonical_combining_class(*c));
    for simd in SimdLevel::available() {
        let table = simd.force(|| FormTable::new(Form::Nfc));
        let is_letter = |c: &char| decomposes(*c) || table.may_join(*c) || "1 ক語".contains(*c);
        let mut changed = 0;
        for (index, letter) in ('\0'..'\u{1_2000}').filter(is_letter).enumerate().step_by(5) {
            for (&c, number) in marks.iter().zip(index..) {
                let other = between[number % between.len()];
                let text = format!("{letter}{c}.{letter}{other}{c}");
                let is_changed = whole(Form::Nfc, &text).iter().map(|&(c, _)| c).ne(text.chars());
                assert_eq!(table.changes(text.as_bytes(), &Never), Ok(is_changed), "{simd:?} {text:?}");
                changed += usize::from(is_changed);
            }
        }
        assert!(changed > 1000, "{changed}");
    }
}

/// Letters and marks that join, characters of all widths, and bytes that are no characters.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let letters = "aeé क\u{93c}\u{94d}ক\u{9be}\u{9c7}\u{301}\u{323}ẹで가\u{11a8}😀𝅗𝅥";
    let part = prop_oneof![
        20 => prop::sample::select(letters.chars().collect::<Vec<_>>()).prop_map(|c| c.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 1..5),
        1 => prop::sample::select(vec![&b"\xc0\x81"[..], b"\xe0\x82\xa6", b"\xed\xa0\x80", b"\xe0\xa6"])
            .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(part, 1..150).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn what_is_kept_of_a_pair_is_what_the_text_says(
        text in any_bytes(),
    ) {
        let table = FormTable::of(Form::Nfc);
        for _ in 0..2 {
            for offset in (0..text.len()).filter(|&offset| table.class_at(&text[offset..]).0 != Some(0)) {
                let alone = match table.stays_at(&text, offset) {
                    Stays::Always => true,
                    Stays::NotAlways => false,
                    Stays::Perhaps => table.stays_behind_marks(&text, offset),
                };
                prop_assert_eq!(table.stays(&text, offset), alone, "{} of {:x?}", offset, text);
            }
        }
    }
}

/// The tables of a form, for each level.
fn at_each_level(form: Form) -> &'static [FormTable] {
    static TABLES: [OnceBox<Vec<FormTable>>; 4] = [const { OnceBox::new() }; 4];
    let made =
        || SimdLevel::available().into_iter().map(|simd| simd.force(|| FormTable::new(form))).collect();
    TABLES[form as usize].get_or_init(|| Box::new(made()))
}

proptest! {
    #[test]
    fn levels_agree_on_any_bytes(
        text in any_bytes(),
        form in prop::sample::select(&FORMS[..]),
    ) {
        let given = Traced::given(&text, 0, false).unwrap();
        let mut all = at_each_level(form).iter().map(|table| {
            (table.changes(&text, &Never).unwrap(), table.applied(&given, &Never).unwrap().bytes)
        });
        // The last one is the plain form.
        let expected = all.next_back().unwrap();
        prop_assert_eq!(expected.0, expected.1 != text);
        prop_assert!(all.all(|found| found == expected));
    }
}
