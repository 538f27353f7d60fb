//! Learning merges from counts.
//!
//! At each step the most frequent pair of neighbouring tokens becomes a token. Counts include overlapping
//! occurrences (`aaa` has the pair of `a` and `a` twice); a merge replaces from the left (`aaa` becomes
//! `aa`, `a`). Nothing is counted twice: a merge changes only the counts of adjacent pairs, and postings
//! list the positions of each pair.

mod alphabet;
mod archive;
mod candidate;
mod corpus;
mod fair;
mod forbidden;
mod frequent;
mod journal;
mod learner;
mod likelihood;
mod memory_need;
mod neighbours;
mod pair_counts;
mod pairs;
mod picky;
mod rounds;
mod sketch;
mod stretches;
mod superwords;
mod ties;
mod turns;
mod unigram;
mod weights;

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::count::{Counts, Pieces};
use crate::encode::{Algorithm, OnUnknown, Unit};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::merges::Merge;
use crate::tokenizer::{Definition, Pipeline, Tokenizer};
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

use archive::Archive;
use corpus::{Corpus, Order};
use learner::{Learner, Limits};
use memory_need::{FIXED_MEMORY, MemoryBudget};
use ties::{FirstSeen, Lexicographic, SmallestIds};

pub use alphabet::{Letters, characters, letters};
pub use fair::{Fairness, Language, train_fair};
pub use forbidden::Forbidden;
pub use journal::Journal;
pub use likelihood::train_by_likelihood;
pub use picky::{Picked, Picky, PickyStop, train_picky};
pub use superwords::{JoinOptions, Joined, WordMerges, join_words};
pub use turns::Window;
pub use unigram::{
    Alphabet, Cuts, Likelihood, Spaces, TrainedUnigram, UnigramOptions, train_unigram, unigram_likelihood,
};

/// The rule that chooses among pairs of equal count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ties {
    /// The smallest pair of ids. The merges do not depend on the order of the corpus.
    Ids,
    /// The pair whose first occurrence in the corpus, as merged so far, comes first.
    FirstSeen,
    /// The greatest pair of byte strings.
    Lexicographic,
    /// The greatest pair of byte strings, with bytes in the order of the characters that GPT-2 prints for
    /// them.
    Printable,
}

/// The tokens that training starts from.
#[derive(Debug, Clone)]
pub enum Base {
    /// The 256 bytes; the index is the id.
    Bytes(Box<[u8; 256]>),
    /// Distinct characters; the index is the id. Other characters are never merged.
    Chars(Vec<char>),
    /// The 256 bytes, then characters. Other characters are never merged.
    CharsAndBytes(Vec<char>),
    /// The tokens of a tokenizer: pretokens start as their encoding under it, and no merge makes a token
    /// that it already has. Text without a token is never merged.
    Tokens(Arc<Tokenizer>),
}

impl Base {
    /// The bytes of each base token, by id.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        let bytes =
            |bytes: &mut dyn Iterator<Item = u8>| -> Vec<Vec<u8>> { bytes.map(|byte| vec![byte]).collect() };
        let texts = |chars: &[char]| chars.iter().map(|c| c.to_string().into_bytes()).collect::<Vec<_>>();
        match self {
            Base::Bytes(order) => bytes(&mut order.iter().copied()),
            Base::Chars(chars) => texts(chars),
            Base::CharsAndBytes(chars) => [bytes(&mut (0..=255)), texts(chars)].concat(),
            Base::Tokens(tokenizer) => {
                let mut tokens = vec![Vec::new(); tokenizer.vocab_size()];
                let model = tokenizer.model();
                model.vocabulary().iter().for_each(|(id, token)| tokens[id as usize] = token.into());
                tokens
            }
        }
    }

    /// Tokens that merges must not make again.
    fn existing_tokens(&self) -> HashSet<Vec<u8>> {
        match self {
            Base::Tokens(_) => self.tokens().into_iter().collect(),
            _ => HashSet::new(), // merges of single symbols never make a token twice
        }
    }

    /// The unit of a tokenizer over these base tokens; unknown characters without bytes fail.
    fn unit(&self) -> Unit {
        match self {
            Base::Bytes(order) => {
                let mut ids = Box::new([0; 256]);
                for (id, &byte) in order.iter().enumerate() {
                    ids[byte as usize] = id as TokenId;
                }
                Unit::Byte { ids }
            }
            Base::Chars(_) => Unit::Char { on_unknown: OnUnknown::Fail },
            Base::CharsAndBytes(_) => {
                let ids = Box::new(std::array::from_fn(|byte| byte as TokenId));
                Unit::Char { on_unknown: OnUnknown::Bytes { ids } }
            }
            Base::Tokens(tokenizer) => tokenizer.unit().clone(),
        }
    }
}

/// Options of training.
#[derive(Debug, Clone)]
pub struct Options {
    /// The base tokens.
    pub base: Base,
    /// Stop after this many merges.
    pub max_merges: Option<usize>,
    /// Merge no pair that occurs less often; at least 1.
    pub min_frequency: u64,
    /// Make no token of more bytes.
    pub max_token_length: Option<usize>,
    /// Make no token that contains a partial character next to other bytes.
    pub whole_characters: bool,
    /// Merge none of these pairs, and make none of these tokens.
    pub forbidden: Arc<Forbidden>,
    /// The rule for equal counts.
    pub ties: Ties,
    /// About the number of pairs tracked in the first round. It affects time and memory, never the result.
    pub round: usize,
    /// The number of runners-up to keep with each merge, of the pairs that are frequent enough.
    pub runners_up: usize,
}

impl Options {
    /// A good size of the first round: half or twice as many pairs took longer, for 43 MB of English as for
    /// 129 MB of many languages and code.
    pub const ROUND: usize = 4_096;

    /// Bytes in the order of their values, up to `vocab_size` tokens, no other limit.
    pub fn bytes(vocab_size: usize) -> Options {
        Options {
            base: Base::Bytes(Box::new(std::array::from_fn(|byte| byte as u8))),
            max_merges: Some(vocab_size.saturating_sub(256)),
            min_frequency: 1,
            max_token_length: None,
            whole_characters: false,
            forbidden: Arc::default(),
            ties: Ties::Ids,
            round: Options::ROUND,
            runners_up: 0,
        }
    }

    fn check(&self) -> Result<()> {
        if self.min_frequency == 0 {
            return Err(Error::Option {
                reason: "min_frequency is 0, but a pair that does not occur cannot be merged.".into(),
            });
        }
        Ok(())
    }
}

/// A learned merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The parts and the new token, as ids that start with the base tokens.
    pub merge: Merge,
    /// The count of the pair in the corpus.
    pub count: u64,
    /// The pairs that would have come next, in order; see [`Options::runners_up`].
    pub runners_up: Box<[RunnerUp]>,
    /// The index of the language that the merge was made for, in which `count` was counted; see
    /// [`train_fair`].
    pub language: Option<u32>,
}

impl Learned {
    /// A merge without runners-up and language.
    fn new(merge: Merge, count: u64) -> Learned {
        Learned { merge, count, runners_up: Box::default(), language: None }
    }
}

/// A pair that lost against a merged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunnerUp {
    /// The part on the left.
    pub left: TokenId,
    /// The part on the right.
    pub right: TokenId,
    /// The count of the pair in the corpus.
    pub count: u64,
}

/// The reason why training stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The requested number of merges is reached.
    MaxMerges,
    /// All remaining pairs are too rare.
    MinFrequency,
    /// No pair remains that may be merged.
    NoPairs,
}

/// The result of training.
#[derive(Debug)]
pub struct Trained {
    /// The tokens that training started from.
    pub base: Base,
    /// The merges in the order they were learned; the first makes the first id after the base.
    pub merges: Vec<Learned>,
    /// Why training stopped.
    pub stop: Stop,
}

impl Trained {
    /// The bytes of each token, by id.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        let mut tokens = self.base.tokens();
        for Learned { merge, .. } in &self.merges {
            let token = [&tokens[merge.left as usize][..], &tokens[merge.right as usize]].concat();
            tokens.push(token);
        }
        tokens
    }

    /// A definition with these merges, after those of the base tokenizer, if there is one, whose added
    /// tokens are kept.
    pub fn into_definition(self, pipeline: impl Into<Pipeline>) -> Definition {
        let learned = self.merges.iter().map(|learned| learned.merge);
        let (merges, added_tokens, ignore_merges) = match &self.base {
            Base::Tokens(tokenizer) => (
                tokenizer.merges().iter().copied().chain(learned).collect(),
                tokenizer.added_tokens().tokens().to_vec(),
                tokenizer.ignores_merges(),
            ),
            _ => (learned.collect(), Vec::new(), false),
        };
        Definition {
            // A hole and a special token have no bytes.
            tokens: self
                .tokens()
                .into_iter()
                .map(|token| Some(token).filter(|token| !token.is_empty()))
                .collect(),
            merges,
            pipeline: Pipeline { added_tokens, ..pipeline.into() },
            unit: self.base.unit(),
            algorithm: Algorithm::by_rank(ignore_merges),
        }
    }
}

/// Learns merges from `counts`, and calls `on_merge` with each.
///
/// With [`Ties::Ids`] and [`Ties::Lexicographic`] the result depends on the counts alone, with
/// [`Ties::FirstSeen`] also on their order. `previous` are the first merges of the same training, if it is
/// resumed: they are repeated, which takes a fraction of the time, before training continues. Memory: about
/// 12 bytes per byte of distinct pretokens.
///
/// [`Error::Option`] for invalid options, [`Error::Limit`] for more than 2^32 bytes of distinct pretokens,
/// [`Error::Checkpoint`] if `previous` are not merges of this training.
pub fn train(
    counts: &Counts,
    options: &Options,
    previous: &[Learned],
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    let make_corpus = |order| Ok((Corpus::new(counts, &options.base, order, interrupt)?, None));
    learn(make_corpus, options, previous, on_merge, interrupt)
}

/// The minimum memory limit for merging, in bytes.
pub const MIN_MEMORY: u64 = 24 << 20;

/// The maximum memory per byte of distinct pretokens, and per separator between them: the position, and twice
/// its postings.
const POSITION_MEMORY: u64 = 16;

/// A memory limit for merging, and a folder for the data that exceeds it.
#[derive(Debug, Clone, Copy)]
pub struct MemoryLimit<'a> {
    /// The limit in bytes; at least [`MIN_MEMORY`]. No more than 32 GiB are used.
    pub bytes: u64,
    /// A folder, in which a temporary folder is created.
    pub folder: &'a Path,
}

/// Learns merges from counts in memory or on disk, within a memory limit if there is one.
///
/// Works in memory, like [`train`], if counts and merging fit into the limit; otherwise from disk, like
/// [`train_bounded`], with a limit reduced by the size of counts in memory. Counts on disk are read into
/// memory only if they can stay there.
///
/// # Errors
/// Those of [`train`] and of [`train_bounded`], and those of [`Pieces::to_memory`].
pub fn train_within(
    counts: &dyn Pieces,
    limit: Option<MemoryLimit<'_>>,
    options: &Options,
    previous: &[Learned],
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    match limit {
        Some(limit) if !fits(counts, limit.bytes) => {
            let bytes = limit.bytes.saturating_sub(counts.memory_in_use()).max(MIN_MEMORY);
            train_bounded(counts, MemoryLimit { bytes, ..limit }, options, previous, on_merge, interrupt)
        }
        _ => train(&*counts.to_memory(interrupt)?, options, previous, on_merge, interrupt),
    }
}

/// Whether [`train`] fits into `memory` bytes, including the counts.
fn fits(counts: &dyn Pieces, memory: u64) -> bool {
    fits_in_memory(counts.distinct_bytes() + counts.distinct(), counts.in_memory(), memory)
}

/// Like [`fits`], for a number of positions and the size of the counts.
fn fits_in_memory(positions: u64, counts: u64, memory: u64) -> bool {
    // Positions have 32 bits.
    positions < u64::from(u32::MAX) && FIXED_MEMORY + counts + positions * POSITION_MEMORY <= memory
}

/// Learns the same merges in bounded memory. The corpus is on disk; a round of merges reads it a few times
/// and writes it once, and less memory means more rounds. Disk: about 2 bytes per byte of distinct
/// pretokens, and as much again at the end of a round.
///
/// Those of [`train`]; [`Error::Io`]; [`Error::Option`] for a limit that is too small, in general or for
/// one long pretoken.
pub fn train_bounded(
    counts: &dyn Pieces,
    limit: MemoryLimit<'_>,
    options: &Options,
    previous: &[Learned],
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    let MemoryLimit { bytes, folder } = limit;
    if bytes < MIN_MEMORY {
        let reason =
            format!("a memory limit of {bytes} bytes is too low for merging; the minimum is {MIN_MEMORY}.");
        return Err(Error::Option { reason });
    }
    let make_corpus = |order| {
        let archive =
            Archive::new(counts, &options.base, order, MemoryBudget::within(bytes), folder, interrupt)?;
        Ok((Corpus::default(), Some(archive)))
    };
    learn(make_corpus, options, previous, on_merge, interrupt)
}

fn learn(
    make_corpus: impl Fn(Order) -> Result<(Corpus, Option<Archive>)>,
    options: &Options,
    previous: &[Learned],
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Trained> {
    let limits = limits(options)?;
    let previous = &previous[..previous.len().min(limits.max_merges)];
    let tokens = options.base.tokens();
    let (merges, stop) = match options.ties {
        Ties::Ids => {
            let corpus = make_corpus(Order::ByCount)?;
            Learner::new(corpus, tokens, SmallestIds, limits).learn(previous, on_merge, interrupt)
        }
        Ties::FirstSeen => {
            let corpus = make_corpus(Order::FirstSeen)?;
            Learner::new(corpus, tokens, FirstSeen, limits).learn(previous, on_merge, interrupt)
        }
        Ties::Lexicographic | Ties::Printable => {
            let corpus = make_corpus(Order::ByCount)?;
            let ties = Lexicographic::of(options.ties);
            Learner::new(corpus, tokens, ties, limits).learn(previous, on_merge, interrupt)
        }
    }?;
    Ok(Trained { base: options.base.clone(), merges, stop })
}

/// The limits that the options set, if they are valid.
fn limits(options: &Options) -> Result<Limits> {
    options.check()?;
    let maximum = MAX_VOCAB_SIZE - options.base.tokens().len();
    if options.max_merges.is_some_and(|merges| merges > maximum) {
        return Err(Error::Option {
            reason: format!("the vocabulary would be larger than {MAX_VOCAB_SIZE} tokens."),
        });
    }
    Ok(Limits::of(options, maximum))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::added_tokens::AddedToken;
    use crate::interrupt::Never;
    use crate::pretokenize::Pretokenizer;

    fn bounded(
        counts: &Counts,
        memory: u64,
        options: &Options,
        previous: &[Learned],
    ) -> Result<(Vec<Learned>, Stop)> {
        let make_corpus = |order| {
            let parent = std::env::temp_dir();
            // Any length: the real maximum does not fit into so little memory.
            let budget = MemoryBudget { memory, pretoken: u64::MAX };
            let archive = Archive::new(counts, &options.base, order, budget, &parent, &Never)?;
            Ok((Corpus::default(), Some(archive)))
        };
        let trained = learn(make_corpus, options, previous, &mut |_| Ok(()), &Never)?;
        Ok((trained.merges, trained.stop))
    }

    /// A merge with ids one higher from `first` on, if an unknown token has that id.
    fn shifted(learned: &Learned, has_unknown: bool, first: usize) -> Learned {
        let id = |id: TokenId| id + TokenId::from(has_unknown && id as usize >= first);
        let Merge { left, right, id: merged } = learned.merge;
        let merge = Merge { left: id(left), right: id(right), id: id(merged) };
        let runner_up = |next: &RunnerUp| RunnerUp { left: id(next.left), right: id(next.right), ..*next };
        Learned {
            merge,
            count: learned.count,
            runners_up: learned.runners_up.iter().map(runner_up).collect(),
            language: learned.language,
        }
    }

    #[test]
    fn more_than_2_pow_32_positions_do_not_fit() {
        let maximum = u64::from(u32::MAX) - 1;
        assert!(fits_in_memory(maximum, 0, u64::MAX));
        assert!(!fits_in_memory(maximum + 1, 0, u64::MAX));
        assert!(!fits_in_memory(maximum, 0, 60 << 30));
    }

    #[test]
    fn the_error_names_the_longest_pretoken_that_does_not_fit() {
        let pieces = [300_000, 10, 400_000, 350_000].map(|len| ("a".repeat(len), 1));
        let counts = Counts::from_pieces(pieces).unwrap();
        let limit = MemoryLimit { bytes: MIN_MEMORY, folder: &std::env::temp_dir() };
        let trained = train_bounded(&counts, limit, &Options::bytes(300), &[], &mut |_| Ok(()), &Never);
        let error = trained.unwrap_err().to_string();
        assert!(error.contains("400000 bytes cannot be merged in 24 MiB of memory; it needs 27."), "{error}");
    }

    /// `(a, bc)` may not be merged, since `abc` is there, and `(xa, bc)` may.
    #[test]
    fn a_forbidden_pair_can_lead_to_an_allowed_one() {
        let mut tokens: Vec<_> = (0..=255).map(|byte| Some(vec![byte])).collect();
        tokens.extend(["bc", "ab", "abc"].map(|token| Some(token.into())));
        let merge = |left, right, id| Merge { left, right, id };
        let tokenizer = Tokenizer::new(Definition {
            tokens,
            merges: vec![merge(98, 99, 256), merge(97, 98, 257), merge(257, 99, 258)],
            pipeline: Pretokenizer::new(&[]).unwrap().into(),
            unit: Options::bytes(256).base.unit(),
            algorithm: Algorithm::RANKED,
        });
        let base = Base::Tokens(Arc::new(tokenizer.unwrap()));
        let counts = Counts::from_pieces([("xabc", 10), ("pq", 9), ("rs", 8), ("tu", 7)]).unwrap();
        let options = Options { base, max_merges: Some(3), round: 1, ..Options::bytes(256) };
        for memory in [0, 100, 300, 1_000, 1 << 20] {
            let (merges, _) = bounded(&counts, memory, &options, &[]).unwrap();
            let pairs: Vec<_> =
                merges.iter().map(|learned| (learned.merge.left, learned.merge.right)).collect();
            assert_eq!(pairs, [(120, 97), (259, 256), (112, 113)], "{memory}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(120))]

        /// With memory for all pretokens, for a few, or for none.
        #[test]
        fn bounded_training_gives_the_same_merges(
            words in proptest::collection::hash_map(
                proptest::collection::vec(proptest::sample::select(&["a", "a", "a", "b", "c", "d", "é", "è", "€"][..]), 1..16),
                0..9u64, 0..40,
            ),
            ties in proptest::sample::select(&[Ties::Ids, Ties::FirstSeen, Ties::Lexicographic][..]),
            memory in proptest::sample::select(&[0, 100, 300, 1_000, 1 << 20][..]),
            (merges, min_frequency, longest, part, runners_up) in (0..60usize, 1..4u64, 2..20usize, 0..5usize, 0..3usize),
            (chars, whole_characters) in any::<(bool, bool)>(),
            weight in proptest::sample::select(&[1, 1 << 33, 1 << 45][..]),
            pattern in proptest::sample::select(&["aa+b?", "[bc]+", "never"][..]),
        ) {
            let [some_pair, some_token] = [(b"a".to_vec(), b"ab".to_vec()), (b"ca".to_vec(), Vec::new())];
            let forbidden = Arc::new(Forbidden::new([some_pair], [some_token.0], &[pattern.into()], &Never).unwrap());
            let words = words.into_iter().map(|(word, count)| (word.concat(), count * weight));
            let counts = Counts::from_pieces(words).unwrap();
            let base = if chars { Base::Chars("acd".chars().collect()) } else { Options::bytes(256).base };
            let options = Options {
                base, ties, min_frequency, max_merges: Some(merges), max_token_length: Some(longest),
                whole_characters, forbidden, round: 1, runners_up,
            };
            let expected = train(&counts, &options, &[], &mut |_| Ok(()), &Never).unwrap();
            let previous_len = expected.merges.len() * part / 4;
            let previous = &expected.merges[..previous_len];
            let result = bounded(&counts, memory, &options, previous).unwrap();
            prop_assert_eq!(result, (expected.merges.clone(), expected.stop));

            // So does training that goes on from a tokenizer of the first merges.
            let first = Options { max_merges: Some(previous_len), ..options.clone() };
            let first = train(&counts, &first, &[], &mut |_| Ok(()), &Never).unwrap();
            let uncut = Pretokenizer::new(&[]).unwrap();
            let mut definition = first.into_definition(uncut);
            if chars {
                let unknown = definition.tokens.len() as TokenId;
                definition.pipeline.added_tokens.push(AddedToken::special("<unknown>", unknown));
                definition.unit = Unit::Char { on_unknown: OnUnknown::Token(unknown) };
            }
            let tokenizer = Arc::new(Tokenizer::new(definition).unwrap());
            let continued = Options {
                max_merges: Some(merges - previous_len.min(merges)), base: Base::Tokens(tokenizer), ..options.clone()
            };
            let rest: Vec<Learned> = expected.merges[previous_len..].iter().map(|learned| shifted(learned, chars, 3 + previous_len)).collect();
            let (resumed, _) = bounded(&counts, memory, &continued, &rest[..rest.len() / 2]).unwrap();
            prop_assert_eq!(&resumed, &rest);
            let result = train(&counts, &continued, &[], &mut |_| Ok(()), &Never).unwrap();
            prop_assert_eq!((result.merges, result.stop), (rest, expected.stop));
        }
    }
}
