//! Every way to encode gives what the definition gives.

mod naive;

use digram::encode::Unit;
use digram::merges::Merge;
use digram::pretokenize::Pretokenizer;
use digram::{Definition, OnSpecial, Tokenizer, Unwatched};
use proptest::prelude::*;

/// Characters that share bytes, so that tokens begin and end inside them.
const CHARACTERS: [&str; 7] = ["a", "b", " ", "é", "è", "ア", "ィ"];

fn bytes_and(merges: &[(u32, u32)]) -> (Vec<Vec<u8>>, Vec<Merge>) {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut list: Vec<Merge> = Vec::new();
    for &(left, right) in merges {
        let token = [&tokens[left as usize][..], &tokens[right as usize]].concat();
        // The same token made in two ways stays one token, as in some published lists; this is
        // also what makes a list that is not rising.
        let id = tokens.iter().position(|known| *known == token).unwrap_or(tokens.len()) as u32;
        let twice = list.iter().any(|known| (known.left, known.right) == (left, right));
        if !twice && token.len() < 40 {
            if id as usize == tokens.len() {
                tokens.push(token);
            }
            list.push(Merge { left, right, id });
        }
    }
    (tokens, list)
}

/// Merges of ids that are known by then, many of them of the bytes that the texts are made of.
fn vocabularies() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<Merge>)> {
    let bytes: Vec<u32> = CHARACTERS.concat().bytes().map(u32::from).collect();
    let part = prop_oneof![proptest::sample::select(bytes), 256..290u32];
    proptest::collection::vec((part.clone(), part), 0..40).prop_map(|pairs| {
        let mut next = 256;
        let known = pairs.into_iter().filter(|&(left, right)| {
            let fits = left.max(right) < next;
            next += u32::from(fits);
            fits
        });
        // Ids may be fewer than merges, where two make the same token; the highest are dropped then.
        let pairs: Vec<_> = known.collect();
        let mut good = Vec::new();
        for pair in pairs {
            if pair.0.max(pair.1) < bytes_and(&good).0.len() as u32 {
                good.push(pair);
            }
        }
        bytes_and(&good)
    })
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let run =
        (proptest::sample::select(&CHARACTERS[..]), 1..9usize).prop_map(|(c, n)| c.repeat(n).into_bytes());
    let character = proptest::sample::select(&CHARACTERS[..]).prop_map(|c| c.as_bytes().to_vec());
    let raw = any::<u8>().prop_map(|byte| vec![byte]);
    let piece = prop_oneof![4 => character, 2 => run, 1 => raw];
    // Short ones are merged by scanning, longer ones by rank: both must occur often.
    prop_oneof![proptest::collection::vec(piece.clone(), 0..12), proptest::collection::vec(piece, 20..60)]
        .prop_map(|pieces| pieces.concat())
}

fn tokenizer(tokens: &[Vec<u8>], merges: &[Merge], ignore_merges: bool) -> Option<Tokenizer> {
    let definition = Definition {
        tokens: tokens.iter().cloned().map(Some).collect(),
        merges: merges.to_vec(),
        special_tokens: Vec::new(),
        unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        pretokenizer: Pretokenizer::new(&[]).unwrap().into(),
        ignore_merges,
    };
    Tokenizer::new(definition).ok()
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, OnSpecial::Text, &Unwatched, &mut ids).unwrap();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn encoding_is_what_is_defined((tokens, merges) in vocabularies(), text in texts()) {
        // A list in which a part is made only later is refused, and says so.
        let Some(tokenizer) = tokenizer(&tokens, &merges, false) else { return Err(TestCaseError::reject("refused")) };
        let expected = naive::encode(text.iter().map(|&byte| byte.into()).collect(), &merges);
        prop_assert_eq!(encode(&tokenizer, &text), expected.clone());
        prop_assert_eq!(tokenizer.count(&text, OnSpecial::Text, &Unwatched).unwrap(), expected.len());
        let mut decoded = Vec::new();
        tokenizer.decode(&expected, &mut decoded).unwrap();
        prop_assert_eq!(decoded, text);
    }

    #[test]
    fn a_whole_pretoken_that_is_a_token_is_that_token_if_merges_are_ignored(
        (tokens, merges) in vocabularies(), text in texts(), number in 0..400usize
    ) {
        let Some(tokenizer) = tokenizer(&tokens, &merges, true) else { return Err(TestCaseError::reject("refused")) };
        let number = number % tokens.len();
        prop_assert_eq!(encode(&tokenizer, &tokens[number]), vec![number as u32]);
        if !tokens.contains(&text) {
            let expected = naive::encode(text.iter().map(|&byte| byte.into()).collect(), &merges);
            prop_assert_eq!(encode(&tokenizer, &text), expected);
        }
    }

    #[test]
    fn unreachable_tokens_are_those_that_their_bytes_do_not_become((tokens, merges) in vocabularies()) {
        let Some(tokenizer) = tokenizer(&tokens, &merges, false) else { return Err(TestCaseError::reject("refused")) };
        let expected: Vec<u32> = (0..tokens.len() as u32)
            .filter(|&id| naive::encode(tokens[id as usize].iter().map(|&b| b.into()).collect(), &merges) != [id])
            .collect();
        prop_assert_eq!(tokenizer.unreachable(), expected);
    }

    #[test]
    fn a_batch_is_its_texts_one_by_one(
        (tokens, merges) in vocabularies(), texts in proptest::collection::vec(texts(), 0..9), threads in 1..4usize
    ) {
        let Some(tokenizer) = tokenizer(&tokens, &merges, false) else { return Err(TestCaseError::reject("refused")) };
        let (ids, offsets) = tokenizer.encode_batch(&texts, OnSpecial::Text, threads, &Unwatched).unwrap();
        prop_assert_eq!(offsets.len(), texts.len() + 1);
        for (text, ends) in texts.iter().zip(offsets.windows(2)) {
            prop_assert_eq!(&ids[ends[0] as usize..ends[1] as usize], &encode(&tokenizer, text)[..]);
        }
    }
}

#[test]
fn merges_from_ranks_are_those_that_made_the_ranks() {
    let (tokens, merges) = bytes_and(&[(97, 97), (256, 97), (97, 98), (256, 256), (259, 258)]);
    let listed: Vec<Option<&Vec<u8>>> = tokens.iter().map(Some).collect();
    // `aaaa` is made of `aaa` and `a` by then, never of `aa` twice, but its id stands: a rank list
    // joins whatever neighbours make a token.
    let (found, unreachable) = digram::ranks::merges_from_ranks(&listed).unwrap();
    assert_eq!(found.len() + unreachable.len(), merges.len());
    for merge in &found {
        let whole = [&tokens[merge.left as usize][..], &tokens[merge.right as usize]].concat();
        assert_eq!(whole, tokens[merge.id as usize]);
    }
}
