//! Cut pieces have the ids of whole ones.

use super::super::kernels::naive;
use super::*;
use crate::interrupt::Never;
use crate::vocabulary::TokenId;

/// The characters and other bytes of the texts: tokens span some of their borders, and end inside some.
const PIECES: [&[u8]; 15] = [
    "日".as_bytes(),
    "本".as_bytes(),
    "語".as_bytes(),
    "は".as_bytes(),
    "ก".as_bytes(),
    "“".as_bytes(),
    "é".as_bytes(),
    "🙂".as_bytes(),
    b"a",
    b" ",
    b"ab ba  abba b a",
    b"\xe6",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xff",
];

fn splits(next: &mut impl FnMut(usize) -> usize) -> SafeSplits {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    let mut merge = |tokens: &mut Vec<Vec<u8>>, left: usize, right: usize| {
        let id = tokens.len();
        tokens.push([&tokens[left][..], &tokens[right]].concat());
        merges.push(Merge { left: left as TokenId, right: right as TokenId, id: id as TokenId });
        id
    };
    let whole: Vec<usize> = PIECES[..8]
        .iter()
        .map(|bytes| {
            let mut ids = bytes.iter().map(|&byte| usize::from(byte));
            let first = ids.next().unwrap();
            ids.fold(first, |left, right| merge(&mut tokens, left, right))
        })
        .collect();
    for _ in 0..8 {
        let (left, right) = (whole[next(8)], whole[next(8)]);
        merge(&mut tokens, left, right);
    }
    for _ in 0..3 {
        let [left, right] = [(); 2].map(|()| usize::from(b"ab "[next(3)]));
        merge(&mut tokens, left, right);
    }
    // A token that ends inside a character.
    merge(&mut tokens, whole[next(8)], 0xe6);
    SafeSplits::new(&Vocabulary::new(tokens.iter().map(Some)).unwrap(), &merges, false)
}

/// Splits pretokens of three-byte characters, and keeps the ends of all pieces.
#[derive(Default)]
struct Found {
    ends: Vec<usize>,
    groups: usize,
    full: usize,
}

fn may_split(pretoken: &[u8]) -> bool {
    pretoken.iter().take(2).any(|&byte| byte >= 0xe0)
}

impl PieceVisitor for Found {
    fn may_split(&mut self, pretoken: TextSlice<'_>) -> bool {
        may_split(pretoken.bytes())
    }

    fn visit(&mut self, start: usize, ends: &[usize]) -> Result<()> {
        assert!(start == self.ends.last().copied().unwrap_or(0) && ends.len() <= GROUP);
        self.ends.extend_from_slice(ends);
        self.groups += 1;
        self.full += usize::from(ends.len() == GROUP);
        Ok(())
    }
}

#[test]
fn pieces_of_a_group_are_those_of_its_pretokens() {
    let mut next = naive::random();
    let (mut groups, mut full) = (0, 0);
    for round in 0..400 {
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        // Some are of many pieces, and most of valid characters.
        for _ in 0..1 + next([8, 60, 500][round % 3]) {
            let known = [5, 8, 11, 11, PIECES.len()][next(5)];
            let longest = [1, 4, 30][next(3)];
            for _ in 0..1 + next(longest) {
                text.extend(PIECES[next(known)]);
            }
            ends.push(text.len());
        }
        for simd in SimdLevel::available() {
            let splits = simd.force(|| splits(&mut next));
            if round % 2 == 0 {
                splits.expect_much();
            }
            let mut found = Found::default();
            splits.each_group(&text, 0, &ends, &mut found).unwrap();
            groups += found.groups;
            full += found.full;
            let found = found.ends;
            let mut start = 0;
            for &end in &ends {
                let pretoken = &text[start..end];
                let (mut alone, mut at) = (Vec::new(), start);
                let piece = |piece: &[u8], _: Option<char>| {
                    at += piece.len();
                    alone.push(at);
                    Ok(())
                };
                splits.split(pretoken, &Never, piece).unwrap();
                let first = found.partition_point(|&at| at <= start);
                let here = &found[first..found.partition_point(|&at| at <= end)];
                // A pretoken after another one may be split although it need not be.
                let is_whole = here == [end] && !may_split(pretoken);
                assert!(is_whole || here == alone, "{simd:?} {pretoken:02x?}: {here:?}, {alone:?}");
                start = end;
            }
            assert_eq!(found.last(), ends.last());
        }
    }
    assert!(full > groups / 20, "{full} full groups of {groups}");
}

/// The only places of a pretoken of one emoji are alike.
#[test]
fn few_valid_splits_are_missed() {
    let character = |number: u32| char::from_u32(0x1f300 + number).unwrap();
    let text = |left: u32, right: u32| String::from_iter([character(left), character(right)]);
    let pairs = (0..1000).flat_map(|left| (1..9).map(move |by| text(left, left + by).into_bytes()));
    // Tokens with parts of other characters, whose bytes have the bits of these.
    let parts =
        (0x80..=0xbf).flat_map(|last| [vec![last, 0xe0], [text(0, 0).as_bytes(), &[0xe0, last]].concat()]);
    let tokens: Vec<Vec<u8>> = pairs.chain(parts).collect();
    let splits = SafeSplits::of_tokens(tokens.iter().map(|token| &token[..]));
    let is_split = |left, right| splits.can_split_at(text(left, right).as_bytes(), 4);
    assert!(!(0..1000).any(|left| is_split(left, left + 1)));
    let valid = (0..1000).flat_map(|left| (0..1000).map(move |right| (left, right)));
    let valid = valid.filter(|&(left, right)| !(left + 1..left + 9).contains(&right));
    let missed = valid.filter(|&(left, right)| !is_split(left, right)).count();
    assert!(missed < 100_000, "{missed} of a million");
}

/// Where they did not, each piece of a long pretoken took a search of its whole beginning: a million spaces 50 s with
/// the vocabulary of GPT-2.
#[test]
fn the_last_split_and_the_first_piece_are_of_the_same_places() {
    let mut next = naive::random();
    let ascii = |next: &mut dyn FnMut(usize) -> usize| next(128) as u8;
    let characters: Vec<String> = ["é", "日", "🙂"].into_iter().map(String::from).collect();
    let tokens: Vec<Vec<u8>> = (0..2000)
        .map(|number| match number % 4 {
            0 => [characters[next(3)].as_bytes(), &[ascii(&mut next)]].concat(),
            1 => vec![ascii(&mut next), 0xe6],
            _ => vec![ascii(&mut next), ascii(&mut next)],
        })
        .collect();
    let splits = SafeSplits::of_tokens(tokens.iter().map(|token| &token[..]));
    let (mut joined, mut cut) = (0, 0);
    for left in 0..128u8 {
        for right in 0..128u8 {
            let text = [left, right];
            let can_split = splits.can_split_at(&text, 1);
            assert_eq!(splits.first_piece_len(&text, &Never).unwrap() == 1, can_split, "{text:?}");
            assert_eq!(splits.last_split(&text, 1).is_some(), can_split);
            assert!(!can_split || !tokens.iter().any(|token| token[..] == text));
            *if can_split { &mut cut } else { &mut joined } += 1;
        }
    }
    assert!(joined > 1000 && cut > 1000, "{joined} joined, {cut} cut");
}
