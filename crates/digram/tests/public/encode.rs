//! Every way to encode gives what the definition gives.

use digram::added_tokens::AddedToken;
use digram::encode::{Algorithm, Unit};
use digram::merges::Merge;
use digram::model::Model;
use digram::pretokenize::{Pretokenizer, Stage};
use digram::ranks::Ranks;
use digram::tokenizer::Pipeline;
use digram::vocabulary::Vocabulary;
use digram::{Definition, Never, OnSpecial, Tokenizer};
use proptest::prelude::*;

use crate::cases::cases;
use crate::naive;

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
    tokenizer_of(tokens, merges, &[], ignore_merges)
}

fn tokenizer_of(
    tokens: &[Vec<u8>],
    merges: &[Merge],
    stages: &[Stage],
    ignore_merges: bool,
) -> Option<Tokenizer> {
    let definition = Definition {
        tokens: tokens.iter().cloned().map(Some).collect(),
        merges: merges.to_vec(),
        unit: Unit::Byte { ids: Box::new(std::array::from_fn(|byte| byte as u32)) },
        pipeline: Pretokenizer::new(stages).unwrap().into(),
        algorithm: Algorithm::by_rank(ignore_merges),
    };
    Tokenizer::new(definition).ok()
}

fn encode(tokenizer: &Tokenizer, text: &[u8]) -> Vec<u32> {
    let mut ids = Vec::new();
    tokenizer.encode(text, OnSpecial::Text, &Never, &mut ids).unwrap();
    ids
}

/// What `naive::encode` gives, in linear time, if each merge joins tokens that earlier merges made.
fn encode_by_rank(text: &[u8], merges: &[Merge]) -> Vec<u32> {
    let mut ids: Vec<u32> = text.iter().map(|&byte| byte.into()).collect();
    for merge in merges {
        let (mut kept, mut at) = (0, 0);
        while at < ids.len() {
            let joins = ids[at] == merge.left && ids.get(at + 1) == Some(&merge.right);
            ids[kept] = if joins { merge.id } else { ids[at] };
            (kept, at) = (kept + 1, at + 1 + usize::from(joins));
        }
        ids.truncate(kept);
    }
    ids
}

/// Letters of scripts with spaces and without, and others.
const LETTERS: [&str; 12] = ["क", "ख", "한", "할", "ש", "ל", "ж", "ア", "ィ", "é", "a", "😀"];

/// Merges of the bytes of these letters and spaces, and of their results.
fn merges_of_letters() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<Merge>)> {
    let bytes: Vec<usize> = LETTERS.concat().bytes().chain(*b"  ").map(usize::from).collect();
    let part = prop_oneof![proptest::sample::select(bytes), 256..600usize];
    proptest::collection::vec((part.clone(), part), 0..60).prop_map(|pairs| {
        let mut good = Vec::new();
        for (left, right) in pairs {
            let count = bytes_and(&good).0.len();
            let known =
                |part: usize| if part < 256 { part } else { 256 + (part - 256) % (count - 255) } as u32;
            let (left, right) = (known(left), known(right));
            if left.max(right) < count as u32 {
                good.push((left, right));
            }
        }
        bytes_and(&good)
    })
}

/// Whether each merge joins tokens that only earlier merges make.
fn is_rising(merges: &[Merge]) -> bool {
    let makes = |token: u32| move |merge: &Merge| merge.id == token;
    merges.iter().enumerate().all(|(number, merge)| {
        !merges[number..].iter().any(|later| makes(merge.left)(later) || makes(merge.right)(later))
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn long_pretokens_are_encoded_as_is_defined(
        (tokens, merges) in vocabularies(),
        parts in proptest::collection::vec((texts(), 1..2_000usize), 1..5),
    ) {
        let Some(tokenizer) = tokenizer(&tokens, &merges, false) else { return Err(TestCaseError::reject("refused")) };
        prop_assume!(is_rising(&merges));
        let text = parts.iter().map(|(part, times)| part.repeat(*times)).collect::<Vec<_>>().concat();
        let expected = encode_by_rank(&text, &merges);
        prop_assert!(encode(&tokenizer, &text) == expected, "{} bytes", text.len());
        prop_assert_eq!(tokenizer.count(&text, OnSpecial::Text, &Never).unwrap(), expected.len());
    }
}

proptest! {
    #![proptest_config(cases(150))]

    // Words of letters that few tokens join are looked up in pieces, then stored, then looked up whole.
    #[test]
    fn words_have_the_same_ids_each_time(
        (tokens, merges) in merges_of_letters(),
        words in proptest::collection::vec(
            (proptest::collection::vec(0..LETTERS.len(), 1..12), prop_oneof![20 => Just(1), 1 => 1..40usize]),
            1..60,
        ),
        order in proptest::collection::vec(any::<proptest::sample::Index>(), 1..3_000),
    ) {
        let stages = [Stage::Pattern(" ?[^ ]+| +".into())];
        let Some(tokenizer) = tokenizer_of(&tokens, &merges, &stages, false) else {
            return Err(TestCaseError::reject("refused"));
        };
        let words: Vec<String> = words
            .iter()
            .map(|(letters, times)| {
                let word: String = letters.iter().map(|&letter| LETTERS[letter]).collect();
                format!(" {}", word.repeat(*times))
            })
            .collect();
        let expected: Vec<Vec<u32>> = words
            .iter()
            .map(|word| naive::encode(word.bytes().map(u32::from).collect(), &merges))
            .collect();
        for part in order.chunks(order.len().div_ceil(4)) {
            let text: String = part.iter().map(|index| &words[index.index(words.len())][..]).collect();
            let ids: Vec<u32> =
                part.iter().flat_map(|index| expected[index.index(words.len())].iter().copied()).collect();
            prop_assert!(encode(&tokenizer, text.as_bytes()) == ids, "{}", text);
        }
    }
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn encoding_is_what_is_defined((tokens, merges) in vocabularies(), text in texts()) {
        // A list in which a part is made only later is refused, and says so.
        let Some(tokenizer) = tokenizer(&tokens, &merges, false) else { return Err(TestCaseError::reject("refused")) };
        let expected = naive::encode(text.iter().map(|&byte| byte.into()).collect(), &merges);
        prop_assert_eq!(encode(&tokenizer, &text), expected.clone());
        prop_assert_eq!(tokenizer.count(&text, OnSpecial::Text, &Never).unwrap(), expected.len());
        let mut decoded = Vec::new();
        tokenizer.decode(&expected, &Never, &mut decoded).unwrap();
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
        let (ids, offsets) = tokenizer.encode_batch(&texts, OnSpecial::Text, threads, &Never).unwrap();
        prop_assert_eq!(offsets.len(), texts.len() + 1);
        for (text, ends) in texts.iter().zip(offsets.windows(2)) {
            prop_assert_eq!(&ids[ends[0] as usize..ends[1] as usize], &encode(&tokenizer, text)[..]);
        }
    }
}

/// What ranks mean, step by step: of all neighbours whose bytes together are a token those of the
/// lowest rank join, the leftmost first; the last two parts are the pair of a token.
fn last_parts(tokens: &[Option<Vec<u8>>], token: &[u8]) -> Option<(u32, u32)> {
    let rank = |bytes: &[u8]| tokens.iter().position(|known| known.as_deref() == Some(bytes));
    let mut parts: Vec<Vec<u8>> = token.iter().map(|&byte| vec![byte]).collect();
    while parts.len() > 2 {
        let joins = parts.windows(2).enumerate().filter_map(|(at, two)| Some((rank(&two.concat())?, at)));
        let (_, at) = joins.min()?;
        let right = parts.remove(at + 1);
        parts[at].extend(right);
    }
    Some((rank(parts.first()?)? as u32, rank(parts.get(1)?)? as u32))
}

/// Tokens in rank order: single bytes (a few may be missing), and short texts of few letters. Many cases have more
/// texts than one batch of tokens holds.
fn ranks() -> impl Strategy<Value = Vec<Option<Vec<u8>>>> {
    let letters = || proptest::sample::select(&b"aab\xe3\x82"[..]);
    let text = prop_oneof![
        8 => proptest::collection::vec(letters(), 2..7),
        1 => proptest::collection::vec(letters(), 12..20),
        1 => (letters(), 2..40usize).prop_map(|(byte, len)| vec![byte; len]),
    ];
    let texts = proptest::collection::vec(proptest::option::weighted(0.9, text), 0..180);
    (texts, 0..40u8, any::<bool>()).prop_map(|(texts, late, sorted)| {
        let bytes = (0..=255u8).map(|byte| Some(vec![byte]));
        let mut tokens: Vec<Option<Vec<u8>>> = bytes.collect();
        let mut texts = texts;
        if sorted {
            texts.sort_by_key(|text| text.as_ref().map(Vec::len));
        }
        for text in texts {
            if text.is_none() || !tokens.contains(&text) {
                tokens.push(text);
            }
        }
        match late {
            0 => tokens[97] = None,
            1 => {
                let byte = tokens[97].take();
                tokens.insert(tokens.len() - (tokens.len() - 256) / 2, byte);
            }
            _ => {}
        }
        tokens
    })
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn merges_from_ranks_are_the_last_parts_of_each_token(tokens in ranks()) {
        let found = Ranks::new(Vocabulary::new(tokens.clone()).unwrap()).unwrap().merges(&Never);
        let (mut merges, mut unreachable) = (Vec::new(), Vec::new());
        for (id, token) in (0u32..).zip(&tokens) {
            let Some(token) = token.as_ref().filter(|token| token.len() > 1) else { continue };
            match last_parts(&tokens, token) {
                Some((left, right)) if left.max(right) < id => merges.push(Merge { left, right, id }),
                Some(_) => {
                    prop_assert!(found.is_err());
                    return Ok(());
                }
                None => unreachable.push(id),
            }
        }
        let (found, not_found) = found.unwrap();
        prop_assert_eq!(found.in_order(), &merges[..]);
        prop_assert_eq!(not_found, unreachable);
    }

    #[test]
    fn a_model_of_ranks_is_one_of_tokens_and_merges(tokens in ranks(), text in texts(), ignore in any::<bool>()) {
        let ranks = Ranks::new(Vocabulary::new(tokens.clone()).unwrap()).unwrap();
        let Ok(model) = Model::from_ranks(&ranks, &Never) else { return Ok(()) };
        let of = |model: Model| {
            let position = |byte| tokens.iter().position(|token| *token == Some(vec![byte as u8]));
            let ids = std::array::from_fn(|byte| position(byte).unwrap_or(0) as u32);
            let whole = Pretokenizer::new(&[]).unwrap();
            let algorithm = Algorithm::by_rank(ignore);
            let pipeline = Pipeline { added_tokens: vec![AddedToken::special("<s>", 500)], ..whole.into() };
            Tokenizer::with_model(model, pipeline, Unit::Byte { ids: Box::new(ids) }, algorithm)
        };
        let merges = model.merges().in_order().to_vec();
        let slowly = Model::new(Vocabulary::new(tokens.clone()).unwrap(), merges).unwrap();
        let stored = Model::from_bytes(&model.to_bytes()).unwrap();
        let (quick, slow) = (of(model), of(slowly));
        let (Ok(quick), Ok(slow), Ok(stored)) = (quick, slow, of(stored)) else {
            return Ok(()); // a byte has no token
        };
        for other in [&slow, &stored, &of(quick.model()).unwrap()] {
            prop_assert_eq!(quick.unreachable(), other.unreachable());
            prop_assert_eq!(encode(&quick, &text), encode(other, &text));
            for token in tokens.iter().flatten() {
                prop_assert_eq!(encode(&quick, token), encode(other, token));
                prop_assert_eq!(quick.token_to_id(token), other.token_to_id(token));
            }
            prop_assert_eq!(other.token(500), Some(&b"<s>"[..]));
            prop_assert_eq!(other.vocab_size(), 501);
        }
    }
}
