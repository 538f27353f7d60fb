//! Byte-pair encoding as it is defined, without any cleverness: what the crate is held against.

use digram::merges::Merge;
use digram::train::Ties;

pub type Word = (Vec<u32>, u64);

/// The lowest rank first, the leftmost first, until no merge applies.
pub fn encode(mut ids: Vec<u32>, merges: &[Merge]) -> Vec<u32> {
    let rank = |pair: &[u32]| merges.iter().position(|merge| [merge.left, merge.right] == pair);
    while let Some((rank, at)) =
        ids.windows(2).enumerate().filter_map(|(at, pair)| Some((rank(pair)?, at))).min()
    {
        ids.splice(at..at + 2, [merges[rank].id]);
    }
    ids
}

/// Pairs with their counts, in the order of first occurrence.
fn count(words: &[Word]) -> Vec<((u32, u32), u64)> {
    let mut counts: Vec<((u32, u32), u64)> = Vec::new();
    for (word, weight) in words {
        for pair in word.windows(2).map(|pair| (pair[0], pair[1])) {
            match counts.iter_mut().find(|(known, _)| *known == pair) {
                Some((_, count)) => *count += weight,
                None => counts.push((pair, *weight)),
            }
        }
    }
    counts
}

/// The best pair, with its count.
fn best(words: &[Word], tokens: &[Vec<u8>], ties: Ties) -> Option<((u32, u32), u64)> {
    let pairs = count(words);
    let highest = pairs.iter().map(|(_, count)| *count).max()?;
    let best = pairs.iter().filter(|(_, count)| *count == highest).map(|(pair, _)| *pair);
    let bytes = |(left, right): (u32, u32)| (tokens[left as usize].clone(), tokens[right as usize].clone());
    let letters = |(left, right)| (printed(&tokens[left as usize]), printed(&tokens[right as usize]));
    let pair = match ties {
        Ties::Ids => best.min(),
        Ties::FirstSeen => { best }.next(),
        Ties::Lexicographic => best.max_by_key(|pair| bytes(*pair)),
        Ties::Printable => best.max_by_key(|&(left, right)| letters((left, right))),
    };
    Some((pair?, highest))
}

/// The characters that GPT-2 prints for bytes.
pub fn printed(token: &[u8]) -> String {
    let is_itself = |byte: &u8| (33..=126).contains(byte) || (161..=255).contains(byte) && *byte != 173;
    let others: Vec<u8> = (0..=255).filter(|byte| !is_itself(byte)).collect();
    let letter = |byte: &u8| match others.iter().position(|other| other == byte) {
        Some(place) => char::from_u32(256 + place as u32).unwrap(),
        None => char::from(*byte),
    };
    token.iter().map(letter).collect()
}

fn merge(words: &mut [Word], left: u32, right: u32, id: u32) {
    for (word, _) in words {
        let mut merged = Vec::new();
        let mut at = 0;
        while at < word.len() {
            let found = word[at] == left && word.get(at + 1) == Some(&right);
            merged.push(if found { id } else { word[at] });
            at += 1 + usize::from(found);
        }
        *word = merged;
    }
}

/// Up to `maximum` merges with their counts, counting anew at each step.
pub fn train(
    mut words: Vec<Word>,
    mut tokens: Vec<Vec<u8>>,
    ties: Ties,
    maximum: usize,
) -> Vec<(Merge, u64)> {
    let mut learned = Vec::new();
    while learned.len() < maximum {
        let Some(((left, right), count)) = best(&words, &tokens, ties) else { break };
        let id = tokens.len() as u32;
        tokens.push([&tokens[left as usize][..], &tokens[right as usize]].concat());
        merge(&mut words, left, right, id);
        learned.push((Merge { left, right, id }, count));
    }
    learned
}

/// The words of a language to learn from, and those to measure.
pub type Language = (Vec<Word>, Vec<Word>);

/// The same for languages that take turns, and for which each merge was made: the one whose measured
/// words are longest, once `global` merges were made for all.
pub fn train_fair(
    mut languages: Vec<Language>,
    mut tokens: Vec<Vec<u8>>,
    ties: Ties,
    global: usize,
    min_frequency: u64,
    maximum: usize,
) -> Vec<(Merge, u64, Option<u32>)> {
    let length = |words: &[Word]| words.iter().map(|(word, weight)| word.len() as u64 * weight).sum::<u64>();
    let mut learned = Vec::new();
    let mut waiting: Vec<usize> = (0..languages.len()).rev().collect();
    while learned.len() < maximum && !waiting.is_empty() {
        let all: Vec<Word> = languages.iter().flat_map(|(words, _)| words.clone()).collect();
        let longest = waiting.iter().copied().max_by_key(|&one| length(&languages[one].1)).unwrap();
        let language = (learned.len() >= global).then_some(longest);
        let words = language.map_or(&all, |one| &languages[one].0);
        match best(words, &tokens, ties).filter(|&(_, count)| count >= min_frequency) {
            None if language.is_none() => break,
            None => waiting.retain(|&one| one != longest),
            Some(((left, right), count)) => {
                let id = tokens.len() as u32;
                tokens.push([&tokens[left as usize][..], &tokens[right as usize]].concat());
                for (words, measured) in &mut languages {
                    merge(words, left, right, id);
                    merge(measured, left, right, id);
                }
                learned.push((Merge { left, right, id }, count, language.map(|one| one as u32)));
            }
        }
    }
    learned
}
