//! Byte-pair encoding as it is defined, without any cleverness: what the crate is held against.

#![allow(dead_code, reason = "each test file uses its part")]

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

/// Up to `most` merges with their counts, counting anew at each step.
pub fn train(mut words: Vec<Word>, mut tokens: Vec<Vec<u8>>, ties: Ties, most: usize) -> Vec<(Merge, u64)> {
    let mut learned = Vec::new();
    while learned.len() < most {
        let pairs = count(&words);
        let Some(&highest) = pairs.iter().map(|(_, count)| count).max() else { break };
        let best = pairs.iter().map(|(pair, count)| (*pair, *count)).filter(|(_, count)| *count == highest);
        let bytes =
            |(left, right): (u32, u32)| (tokens[left as usize].clone(), tokens[right as usize].clone());
        let (left, right) = match ties {
            Ties::Ids => best.map(|(pair, _)| pair).min(),
            Ties::FirstSeen => best.map(|(pair, _)| pair).next(),
            Ties::Lexicographic => best.map(|(pair, _)| pair).max_by_key(|pair| bytes(*pair)),
        }
        .expect("some pair has the highest count");
        let id = tokens.len() as u32;
        tokens.push([&tokens[left as usize][..], &tokens[right as usize]].concat());
        for (word, _) in &mut words {
            let mut merged = Vec::new();
            let mut at = 0;
            while at < word.len() {
                let found = word[at] == left && word.get(at + 1) == Some(&right);
                merged.push(if found { id } else { word[at] });
                at += 1 + usize::from(found);
            }
            *word = merged;
        }
        learned.push((Merge { left, right, id }, highest));
    }
    learned
}
