//! Tests of the table.

use super::super::group::Group;
use super::super::misses::Misses;
use super::growth::SEEDED_PART;
use super::*;
use crate::bits::seeds_of;
use crate::pages::Zero;
use crate::vocabulary::MAX_VOCAB_SIZE;

/// Consecutive words, some of which are equal, and their ends.
fn words(from: u32, count: u32) -> (Vec<u8>, Vec<usize>) {
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for number in from..from + count {
        let number = number.wrapping_mul(2_654_435_761) >> 8;
        let len = 1 + number as usize % 60;
        // Zeros at the end must not make words alike.
        text.extend((0..len).map(|at| if at > 4 { 0 } else { (number >> (at * 5)) as u8 & 0x7f }));
        ends.push(text.len());
    }
    (text, ends)
}

/// The ids of a word, which depend on its bytes alone.
fn ids_of(word: &[u8]) -> Vec<TokenId> {
    let sum: u32 = word.iter().map(|&byte| u32::from(byte)).sum();
    (0..1 + sum % 11).map(|id| (id * 1_000_003 + sum) % MAX_VOCAB_SIZE as u32).take(word.len()).collect()
}

fn put(table: &mut Table, word: TextSlice<'_>, ids: &[TokenId], tokens: Option<&TokenIndex>) {
    table.put(table.key(Owner::Pretoken, word), word, ids, tokens);
}

/// The ids of the words of a group that the table contains, and the other words.
fn get_group(table: &mut Table, group: Group<'_>, tokens: Option<&TokenIndex>) -> (Vec<TokenId>, Misses) {
    let mut ids: Vec<TokenId> = vec![0; group.len() + BEYOND];
    let (mut keys, mut misses) = (Keys::new(), Misses::new());
    let (owner, place) = (Owner::Pretoken, ids.as_mut_ptr());
    // SAFETY: there is memory for an id for each byte, and some more.
    let count = unsafe {
        let (keys, misses) = (&mut keys, &mut misses);
        table.get_group::<false>(GroupQuery {
            owner,
            group,
            number: 0,
            found: 0,
            keys,
            tokens,
            misses,
            ids: place,
        })
    };
    ids.truncate(count);
    (ids, misses)
}

#[test]
fn entries_are_found() {
    let tokens: Vec<Vec<u8>> = (0..7_000u32).map(|id| format!("t{id}").into_bytes()).collect();
    let index: Vec<(TokenId, &[u8])> = (0..).zip(tokens.iter().map(|token| &token[..])).collect();
    let index = TokenIndex::new(&index);
    let mut table = Table { max_lines: 1 << 14, ..Table::new() };
    table.prepare(Some(&index)).unwrap();
    let (mut found, mut cleared, mut before, mut lines) = (0, 0, 0, Vec::new());
    for round in 0..900u32 {
        // Every second round repeats the one before it.
        let (text, ends) = words(round / 2 * 100, AHEAD as u32);
        let group = Group::new(&text, 0, &ends);
        let (ids, misses) = get_group(&mut table, group, None);
        let missing: Vec<usize> = (0..misses.len()).map(|miss| misses.number(miss)).collect();
        let mut expected = Vec::new();
        for (number, word) in group.pretokens().enumerate() {
            if let Ok(at) = missing.binary_search(&number) {
                assert_eq!(misses.ids_before()[at] as usize, expected.len());
                if table.get(Owner::Pretoken, word).is_none() {
                    put(&mut table, word, &ids_of(word.bytes()), Some(&index));
                }
                let ids = table.get(Owner::Pretoken, word).unwrap();
                assert_eq!(ids.as_slice(), ids_of(word.bytes()));
            } else {
                expected.extend(ids_of(word.bytes()));
                found += 1;
            }
            assert!(table.get(Owner::Piece, word).is_none());
        }
        assert!(ids == expected);
        cleared += usize::from(table.count < before);
        before = table.count;
        lines.push(table.lines.len());
    }
    lines.dedup();
    assert!(found > 20_000 && cleared > 0, "{found} found, {cleared} times cleared");
    assert_eq!(lines, [1 << 8, 1 << 10, 1 << 13, 1 << 14]);
    let token = TextSlice::all(b"t6999");
    assert_eq!(table.get(Owner::Pretoken, token).unwrap().as_slice(), [6_999]);
}

#[test]
fn a_table_for_a_text_has_lines_for_it_and_keeps_its_entries() {
    let tokens: Vec<Vec<u8>> = (0..7_000u32).map(|id| format!("t{id}").into_bytes()).collect();
    let index: Vec<(TokenId, &[u8])> = (0..).zip(tokens.iter().map(|token| &token[..])).collect();
    let index = TokenIndex::new(&index);
    let mut table = Table::new();
    table.start_for(1_000, Some(&index));
    assert_eq!(table.lines.len(), 0, "a short text needs no table of its size");
    table.start_for(30_000, Some(&index));
    assert_eq!(table.lines.len(), 1 << 12);
    let word = TextSlice::all(b"a word");
    put(&mut table, word, &[1, 2], Some(&index));
    for (bytes, lines) in [(5_000, 1 << 12), (200_000, 1 << 15), (usize::MAX, MAX_LINES / SEEDED_PART)] {
        table.start_for(bytes, Some(&index));
        assert_eq!(table.lines.len(), lines);
        assert_eq!(table.get(Owner::Pretoken, word).unwrap().as_slice(), [1, 2]);
    }
    assert!(!table.has_tokens());
    for (bytes, lines) in [(200_000, MAX_LINES / SEEDED_PART), (6_000_000, 1 << 18), (usize::MAX, MAX_LINES)]
    {
        table.start_for_parts(bytes, Some(&index));
        assert_eq!((table.lines.len(), table.has_tokens()), (lines, false));
        assert_eq!(table.get(Owner::Pretoken, word).unwrap().as_slice(), [1, 2]);
    }
    let mut parts = Table::new();
    parts.start_for_parts(200_000, Some(&index));
    assert_eq!(parts.lines.len(), 1 << 15, "as for words");
    // One that is filled grows by its own rule.
    table.start_with(&index, 1);
    let lines = table.lines.len();
    table.start_for(usize::MAX, Some(&index));
    assert_eq!((table.lines.len(), table.has_tokens()), (lines, true));
}

#[test]
fn a_table_that_is_filled_with_few_tokens_has_free_entries() {
    for count in 0..3 {
        let tokens = [(0, &b"a"[..]), (1, b"b")];
        let index = TokenIndex::new(&tokens[..count.min(tokens.len())]);
        let mut table = Table::new();
        table.start_with(&index, 1);
        for word in [&b"first"[..], b"second", b"third", b"fourth"] {
            assert!(table.get(Owner::Pretoken, TextSlice::all(word)).is_none());
            put(&mut table, TextSlice::all(word), &[1, 2], Some(&index));
        }
        assert_eq!(table.get(Owner::Pretoken, TextSlice::all(b"third")).unwrap().as_slice(), [1, 2]);
    }
}

#[test]
fn tokens_are_added_until_the_table_is_full() {
    let (text, ends) = words(0, 6_000);
    let all: Vec<TextSlice<'_>> = Group::new(&text, 0, &ends).pretokens().collect();
    let is_token = |word: TextSlice<'_>| word.bytes()[0] & 1 == 0;
    let tokens: Vec<(TokenId, &[u8])> =
        (7..).zip(all.iter().filter(|word| is_token(**word)).map(|word| word.bytes())).collect();
    let index = TokenIndex::new(&tokens);
    let mut table = Table { max_lines: FEW_LINES, ..Table::new() };
    table.prepare(Some(&index)).unwrap();
    let (mut found, mut is_full) = (0, false);
    for group in Group::new(&text, 0, &ends).parts(AHEAD) {
        let (ids, misses) = get_group(&mut table, group, Some(&index));
        let missing: Vec<usize> = (0..misses.len()).map(|miss| misses.number(miss)).collect();
        let mut expected = Vec::new();
        is_full |= table.is_full();
        for (number, word) in group.pretokens().enumerate() {
            if missing.binary_search(&number).is_err() {
                expected.push(index.get(word.bytes()).unwrap());
                let added = table.get(Owner::Pretoken, word).map(|ids| ids.as_slice().to_vec());
                assert_eq!(added, expected.last().map(|&id| vec![id]));
                found += 1;
            } else if is_token(word) && word.len() <= TokenKey::MAX && !is_full {
                let key = table.key(Owner::Pretoken, word);
                let has_space = |line: usize| table.lines[line].0.iter().any(|entry| entry.key == 0);
                assert!(!has_space(table.line(key, 0)) && !has_space(table.line(key, 1)));
            }
        }
        assert_eq!(ids, expected);
    }
    assert!(found > 200 && is_full, "{found} found");
}

#[test]
fn entries_that_are_used_are_moved_to_the_line_that_is_read_first() {
    // With given seeds, the same number of entries is moved each time.
    let seeds = Seeds(seeds_of(|number| 0x9e37_79b9_7f4a_7c15 >> number));
    let mut table = Table { max_lines: FEW_LINES, seeds, ..Table::new() };
    table.prepare(None).unwrap();
    let (text, ends) = words(0, FEW_LINES as u32 * 6 / 5);
    let mut words: Vec<TextSlice<'_>> = Group::new(&text, 0, &ends).pretokens().collect();
    words.sort_by_key(|word| word.bytes());
    words.dedup_by_key(|word| word.bytes());
    for word in &words {
        put(&mut table, *word, &ids_of(word.bytes()), None);
    }
    // The number of words whose entry is not in the line of its key.
    let further = |table: &Table, words: &[TextSlice<'_>]| {
        words
            .iter()
            .filter(|word| table.find(table.key(Owner::Pretoken, **word), **word).unwrap().1 > 0)
            .count()
    };
    // A text that uses every second word.
    let used: Vec<TextSlice<'_>> = words.iter().copied().step_by(2).collect();
    let before = further(&table, &used);
    for _ in 0..8 {
        for &word in &used {
            let group = Group::new(word.text, word.start, std::slice::from_ref(&word.end));
            if get_group(&mut table, group, None).0 != ids_of(word.bytes()) {
                let ids = table
                    .get_missed(table.key(Owner::Pretoken, word), word)
                    .map(|ids| ids.as_slice().to_vec());
                assert_eq!(ids, Some(ids_of(word.bytes())));
            }
        }
    }
    let after = further(&table, &used);
    assert!(before >= 10 && after * 2 < before, "{before} before, {after} after");
    for word in words {
        assert_eq!(table.get(Owner::Pretoken, word).unwrap().as_slice(), ids_of(word.bytes()));
    }
}

#[test]
fn long_words_with_the_same_key_are_distinguished() {
    let mut table = Table::new();
    table.prepare(None).unwrap();
    let one = TextSlice::all(b"a word of twenty-one.");
    let other = TextSlice::all(b"another, which is as.");
    put(&mut table, one, &[1, 2], None);
    let lines = table.lines.iter_mut().flat_map(|line| &mut line.0);
    let entry = lines.into_iter().find(|entry| entry.key != 0).unwrap();
    entry.key = table.seeds.key(Owner::Pretoken, other.text, other.start, other.end);
    let entry = *entry;
    table.lines.fill(Line::ZERO);
    table.insert(entry.key, |_| entry);
    assert!(table.get(Owner::Pretoken, other).is_none());
    let (ids, misses) = get_group(&mut table, Group::new(other.text, 0, &[other.end]), None);
    assert_eq!((ids.len(), misses.ids_before()), (0, &[0][..]));
}

#[test]
fn words_of_long_letters_are_kept_as_long_as_others() {
    let mut table = Table::new();
    table.prepare(None).unwrap();
    // Six letters of three bytes: more than a key has, with more ids than an entry has.
    let word = |number: u32| -> String {
        (0..6).filter_map(|at| char::from_u32(0x900 + (number >> (3 * at) & 7) * 8 + at)).collect()
    };
    let count = 200_000;
    for number in 0..count {
        let word = word(number);
        put(&mut table, TextSlice::all(word.as_bytes()), &[number, 1, 2, 3, 4, 5], None);
    }
    let is_kept =
        |&number: &u32| table.get(Owner::Pretoken, TextSlice::all(word(number).as_bytes())).is_some();
    assert_eq!((0..count).filter(is_kept).count(), count as usize);
}

#[test]
fn a_word_is_stored_once() {
    let mut table = Table::new();
    table.prepare(None).unwrap();
    // Its ids are in the entry, or in the arena, or the key is a hash.
    let words =
        [(&b"a word"[..], &[1, 2][..]), (b"another", &[1, 2, 3, 4, 5]), (b"a word of twenty-one.", &[6])];
    for (number, (word, ids)) in words.into_iter().enumerate() {
        let word = TextSlice::all(word);
        put(&mut table, word, ids, None);
        let len = table.arena.len();
        put(&mut table, word, ids, None);
        assert_eq!((table.count, table.arena.len()), (number + 1, len));
        assert_eq!(table.get(Owner::Pretoken, word).unwrap().as_slice(), ids);
    }
}

#[test]
fn words_that_begin_alike_are_distinguished() {
    let mut table = Table::new();
    table.prepare(None).unwrap();
    // Words with the same first eight bytes, and so half a key, that belong to one line.
    let words: Vec<String> = (1_000..4_000).map(|number| format!("the same{number}")).collect();
    let line = |word: &String| table.line(table.key(Owner::Pretoken, TextSlice::all(word.as_bytes())), 0);
    let two: Vec<&String> = words.iter().filter(|word| line(word) == line(&words[0])).take(2).collect();
    let text = [two[0].as_str(), two[1].as_str()].concat();
    let ends = [two[0].len(), text.len()];
    for (word, ids) in two.iter().zip([&[1, 2][..], &[3]]) {
        put(&mut table, TextSlice::all(word.as_bytes()), ids, None);
    }
    let (ids, misses) = get_group(&mut table, Group::new(text.as_bytes(), 0, &ends), None);
    assert_eq!((&ids[..], misses.len()), (&[1, 2, 3][..], 0));
    // A third one is neither.
    let third = TextSlice::all(b"the same....");
    let (ids, misses) = get_group(&mut table, Group::new(third.text, 0, &[third.end]), None);
    assert_eq!((ids.len(), misses.len()), (0, 1));
}
