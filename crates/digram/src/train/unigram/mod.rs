//! Training of Unigram: Kudo, "Subword Regularization" (ACL 2018), as SentencePiece does it.
//!
//! Frequent substrings are the first pieces. In each round expectation maximization gives them probabilities, and then
//! those without which the likelihood of the text falls least are dropped. All sums over segments are of whole numbers,
//! so the result depends neither on the order of the segments nor on the number of threads.

mod learner;
mod numbers;
mod pieces;
mod seeds;
mod segments;
mod suffix_array;

use hashbrown::{HashMap, HashSet};

use crate::count::{Pieces as Pretokens, sort};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;

use learner::Learner;
use numbers::exp;
use pieces::{PieceText, Pieces, Scratch};
use seeds::{SeedLimits, seeds};
use segments::Segments;

/// The options of [`train_unigram`].
#[derive(Debug, Clone)]
pub struct UnigramOptions {
    /// The number of pieces, single characters included.
    pub pieces: usize,
    /// The number of substrings to start from.
    pub seeds: usize,
    /// A substring is a seed only if it occurs so often.
    pub min_count: u64,
    /// The length of the longest piece, in characters.
    pub max_chars: usize,
    /// The share of the pieces that remains after a round, between 0 and 1.
    pub shrinking: f64,
    /// The number of steps of expectation maximization in a round.
    pub steps: usize,
    /// The characters that are pieces.
    pub alphabet: Alphabet,
    /// Where no piece reaches over.
    pub cuts: Cuts,
    /// The number of threads.
    pub threads: usize,
    /// The memory that may be used, in bytes.
    pub memory: Option<u64>,
}

/// The single characters that are pieces. The others are unknown, and no piece has one.
#[derive(Debug, Clone)]
pub enum Alphabet {
    /// The most frequent ones, until they make up this share of the text.
    Covering(f64),
    /// This number of the most frequent ones.
    Most(usize),
    /// These.
    Given(Vec<char>),
}

/// Where pretokens are cut into segments.
#[derive(Debug, Clone, Default)]
pub struct Cuts {
    /// Whether pretokens are cut at spaces.
    pub spaces: Spaces,
    /// Texts that are in no piece.
    pub symbols: Vec<String>,
}

/// Whether pretokens are cut at spaces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spaces {
    /// They are not.
    #[default]
    Uncut,
    /// A space is the first character of a segment.
    First,
    /// A space is the last character of a segment.
    Last,
}

/// A learned vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedUnigram {
    /// The pieces with the logarithms of their probabilities, the highest first.
    pub pieces: Vec<(Vec<u8>, f64)>,
    /// Whether it has as many pieces as requested.
    pub is_full: bool,
}

/// How well pieces describe a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likelihood {
    /// The logarithm of the probability of the text: the sum over all segmentations.
    pub logarithm: f64,
    /// The number of pieces in the best segmentation of the text.
    pub pieces: u64,
}

/// The memory that training takes for each byte of distinct pretokens, in bytes.
const BYTE_MEMORY: u64 = 100;

impl Cuts {
    /// Calls `visit` with each part of a text between two symbols.
    fn words(&self, text: &str, visit: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        match self.spaces {
            Spaces::Uncut => visit(text),
            Spaces::Last => text.split_inclusive(' ').try_for_each(visit),
            Spaces::First => {
                let mut start = 0;
                for (at, _) in text.match_indices(' ').filter(|&(at, _)| at > 0) {
                    visit(&text[start..at])?;
                    start = at;
                }
                visit(&text[start..])
            }
        }
    }
}

/// Learns a vocabulary.
///
/// Takes about 100 bytes for each byte of distinct pretokens. [`Error::Option`] if there are more characters than
/// pieces, [`Error::Limit`] if the memory does not suffice.
pub fn train_unigram(
    counts: &dyn Pretokens,
    options: &UnigramOptions,
    interrupt: &dyn Interrupt,
) -> Result<TrainedUnigram> {
    check_memory(counts, options)?;
    let segments = Segments::new(counts, &options.cuts, interrupt)?;
    let alphabet = alphabet(&segments, options, interrupt)?;
    if alphabet.len() > options.pieces {
        let reason = format!(
            "there is room for {} tokens of text, but the alphabet has {} characters.",
            options.pieces,
            alphabet.len()
        );
        return Err(Error::Option { reason });
    }
    let mut segments = segments.only(&alphabet, interrupt)?;
    let (texts, weights) = first_pieces(&mut segments, &alphabet, options, interrupt)?;
    let mut learner = Learner::new(&segments, texts, options, interrupt)?;
    learner.start(&weights);
    learner.learn(interrupt)?;
    learner.finish()
}

fn check_memory(counts: &dyn Pretokens, options: &UnigramOptions) -> Result<()> {
    let need = counts.distinct_bytes().saturating_mul(BYTE_MEMORY);
    match options.memory {
        Some(limit) if need > limit => Err(Error::Limit {
            reason: format!(
                "training of Unigram takes about {} MB for the distinct pretokens of this corpus, more than memory_limit. \
                 Raise it, or leave out rare pretokens with Counts.filter.",
                need.div_ceil(1_000_000)
            ),
        }),
        _ => memory::check_available(memory::saturating_usize(need)),
    }
}

/// The characters that are pieces.
fn alphabet(
    segments: &Segments,
    options: &UnigramOptions,
    interrupt: &dyn Interrupt,
) -> Result<HashSet<char>> {
    let frequent = segments.characters(interrupt)?;
    let mut alphabet: HashSet<char> = match &options.alphabet {
        Alphabet::Given(characters) => characters.iter().copied().collect(),
        Alphabet::Most(limit) => frequent.iter().take(*limit).map(|&(character, _)| character).collect(),
        Alphabet::Covering(share) => {
            let all: u128 = frequent.iter().map(|&(_, count)| u128::from(count)).sum();
            let mut covered = 0u128;
            let is_missing = |&&(_, count): &&(char, u64)| {
                let before = covered as f64 / all as f64;
                covered += u128::from(count);
                before < *share
            };
            frequent.iter().take_while(is_missing).map(|&(character, _)| character).collect()
        }
    };
    if options.cuts.spaces != Spaces::Uncut {
        alphabet.insert(' ');
    }
    Ok(alphabet)
}

/// The characters and the seeds in the order of their texts, with their first weights.
fn first_pieces(
    segments: &mut Segments,
    alphabet: &HashSet<char>,
    options: &UnigramOptions,
    interrupt: &dyn Interrupt,
) -> Result<(Vec<PieceText>, Vec<u64>)> {
    let limits =
        SeedLimits { seeds: options.seeds, max_chars: options.max_chars, min_count: options.min_count };
    let mut found = Vec::new();
    for seed in seeds(segments, &limits, interrupt)? {
        memory::try_reserve(&mut found, 1)?;
        let text = PieceText { start: seed.start, len: seed.len as u32, is_character: false };
        found.push((text, seed.weight));
    }
    let frequent = segments.characters(interrupt)?;
    let used: HashSet<char> = frequent.iter().map(|&(character, _)| character).collect();
    let unused: Vec<(char, u64)> = alphabet.difference(&used).map(|&character| (character, 0)).collect();
    for (character, count) in frequent.into_iter().chain(unused) {
        let (start, len) = (segments.bytes.len(), character.len_utf8() as u32);
        memory::try_reserve(&mut segments.bytes, 4)?;
        segments.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        memory::try_reserve(&mut found, 1)?;
        found.push((PieceText { start, len, is_character: true }, count));
    }
    let text = |(text, _): &(PieceText, u64)| text.of(&segments.bytes);
    sort(&mut found, &|one, other| text(one).cmp(text(other)), interrupt)?;
    Ok(found.into_iter().unzip())
}

/// How well pieces with scores describe counted pretokens, the parts of which are cut. A character that is no piece has
/// the score `unknown`.
pub fn unigram_likelihood(
    counts: &dyn Pretokens,
    pieces: &[(Vec<u8>, f64)],
    unknown: f64,
    cuts: &Cuts,
    interrupt: &dyn Interrupt,
) -> Result<Likelihood> {
    let segments = Segments::new(counts, cuts, interrupt)?;
    let mut all: HashMap<Vec<u8>, f64> =
        pieces.iter().filter(|(bytes, _)| !bytes.is_empty()).cloned().collect();
    for (character, _) in segments.characters(interrupt)? {
        all.entry(character.to_string().into_bytes()).or_insert(unknown);
    }
    let mut all: Vec<(Vec<u8>, f64)> = all.into_iter().collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let (mut bytes, mut texts) = (Vec::new(), Vec::new());
    for (piece, _) in &all {
        texts.push(PieceText { start: bytes.len(), len: piece.len() as u32, is_character: false });
        bytes.extend_from_slice(piece);
    }
    let mut model = Pieces::new(texts, &bytes, interrupt)?;
    model.scores = all.iter().map(|(_, score)| *score).collect();
    model.shares = all.iter().map(|(_, score)| exp(*score)).collect();
    let (mut scratch, mut pacer) = (Scratch::default(), Pacer::new(interrupt));
    let mut found = Likelihood { logarithm: 0.0, pieces: 0 };
    for (index, &count) in segments.counts.iter().enumerate() {
        let text = segments.text(index)?.as_bytes();
        let (total, work) = model.total(text, &mut scratch)?;
        found.logarithm += total.ln() * count as f64;
        let (path, more) = model.best(text, None, &mut scratch)?;
        found.pieces = found.pieces.saturating_add(count.saturating_mul(path.len() as u64));
        pacer.after(work + more)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;

    fn options(pieces: usize) -> UnigramOptions {
        UnigramOptions {
            pieces,
            seeds: 1000,
            min_count: 2,
            max_chars: 16,
            shrinking: 0.75,
            steps: 2,
            alphabet: Alphabet::Covering(1.0),
            cuts: Cuts { spaces: Spaces::First, symbols: Vec::new() },
            threads: 2,
            memory: None,
        }
    }

    fn learn(texts: &[(&str, u64)], options: &UnigramOptions) -> Result<TrainedUnigram> {
        train_unigram(&Counts::from_pieces(texts.iter().copied())?, options, &Never)
    }

    fn texts(trained: &TrainedUnigram) -> Vec<&str> {
        trained.pieces.iter().map(|(bytes, _)| std::str::from_utf8(bytes).unwrap()).collect()
    }

    #[test]
    fn frequent_words_become_pieces_and_characters_remain() {
        let trained = learn(&[(" low lower low", 5), (" lowest", 1)], &options(10)).unwrap();
        let found = texts(&trained);
        assert!(trained.is_full && found.contains(&" low"), "{found:?}");
        assert!([" ", "l", "o", "w", "e", "r", "s", "t"].iter().all(|one| found.contains(one)), "{found:?}");
        assert!(trained.pieces.is_sorted_by(|one, other| one.1 >= other.1));
    }

    #[test]
    fn nothing_reaches_over_symbols_and_unknown_characters() {
        let mut options = options(30);
        options.cuts.symbols = vec!["ab".into()];
        options.alphabet = Alphabet::Given(vec!['x', 'y']);
        let trained = learn(&[("xyabxyyaxy", 9), ("xyab", 1)], &options).unwrap();
        let mut found = texts(&trained);
        found.sort_unstable();
        assert_eq!((found, trained.is_full), (vec![" ", "x", "xy", "y"], false));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let few = learn(&[("abc", 1)], &options(3)).unwrap_err();
        assert!(few.to_string().contains("the alphabet has 4 characters"), "{few}");
        let small = UnigramOptions { memory: Some(100), ..options(30) };
        assert!(matches!(learn(&[("abc", 1)], &small), Err(Error::Limit { .. })));
        let many = learn(&[("abc", 1 << 43)], &options(30));
        assert!(matches!(many, Err(Error::Limit { .. })), "{many:?}");
    }

    #[test]
    fn the_likelihood_is_the_sum_over_all_segmentations() {
        let counts = Counts::from_pieces([("ab", 2)]).unwrap();
        let pieces = [("a", 0.5f64), ("b", 0.25), ("ab", 0.125)].map(|(piece, p)| (piece.into(), p.ln()));
        let found = unigram_likelihood(&counts, &pieces, -9.0, &Cuts::default(), &Never).unwrap();
        assert!((found.logarithm - 2.0 * 0.25f64.ln()).abs() < 1e-12, "{found:?}");
        // A long text, whose probability is no number.
        let long = "ab".repeat(5000);
        let counts = Counts::from_pieces([(&long[..], 1)]).unwrap();
        let found = unigram_likelihood(&counts, &pieces, -9.0, &Cuts::default(), &Never).unwrap();
        assert!((found.logarithm / (5000.0 * 0.25f64.ln()) - 1.0).abs() < 1e-9, "{found:?}");
    }
}
