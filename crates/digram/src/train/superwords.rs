//! Superwords: merges that cross the boundaries of pretokens.
//!
//! Merges inside words and merges of two neighbouring single-token words alternate, the more frequent pair
//! first. Joining changes no word, so the merges inside words are those without joining, and are learned
//! before (Schmidt et al., "Faster Superword Tokenization", arXiv 2604.05192). Here they are repeated, on a
//! corpus of neighbouring words: a word is a border until the merge that makes it a single token.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::count::{Counts, Pieces};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::merges::Merge;
use crate::pretokenize::GoesOn;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{MAX_VOCAB_SIZE, TokenId};

use super::corpus::{BORDER, Corpus, CorpusBuilder};
use super::learner::{Learner, Limits};
use super::pair_counts;
use super::ties::{FirstSeen, Lexicographic, SmallestIds, TieRule};
use super::{Learned, Stop, Ties};

/// The result of training inside words.
#[derive(Debug, Clone, Copy)]
pub struct WordMerges<'a> {
    /// Splits pretokens into words and merges them; its merges make the ids after the base, in order.
    pub tokenizer: &'a Tokenizer,
    /// The count of the pair of each merge.
    pub counts: &'a [u64],
    /// By id, whether a token may be joined.
    pub may_join: &'a [bool],
}

/// Limits and the tie-breaking rule.
#[derive(Debug, Clone, Copy)]
pub struct JoinOptions {
    /// The maximum number of merges of both kinds.
    pub max_merges: usize,
    /// Join no pair that occurs less often; at least 1.
    pub min_frequency: u64,
    /// Make no token of more bytes.
    pub max_token_length: Option<usize>,
    /// Make no token that contains a partial character next to other bytes.
    pub whole_characters: bool,
    /// The rule for pairs of words with equal counts. If a pair of words and a pair inside words are
    /// equally frequent, the latter comes first.
    pub ties: Ties,
}

/// The merges of both kinds.
#[derive(Debug)]
pub struct Joined {
    /// All merges in their order; the first makes the first id after the base.
    pub merges: Vec<Learned>,
    /// Whether each of them joins words.
    pub joins: Vec<bool>,
    /// The bytes of each token, by id.
    pub tokens: Vec<Vec<u8>>,
    /// Why training stopped.
    pub stop: Stop,
}

/// Learns which words to join. `counts` are of pretokens, which `words` splits into words.
///
/// Memory: the counts, and some 16 bytes for each word of the distinct pretokens.
///
/// # Errors
/// [`Error::Option`] for options that make no sense, [`Error::Limit`] for more than 2^32 words.
pub fn join_words(
    counts: &Counts,
    words: WordMerges<'_>,
    options: &JoinOptions,
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Joined> {
    let merges = words.tokenizer.merges();
    if options.max_merges > MAX_VOCAB_SIZE || merges.len() != words.counts.len() {
        return Err(Error::Option {
            reason: "the counts are not those of the merges of the tokenizer.".into(),
        });
    }
    match options.ties {
        Ties::Ids => join(counts, words, options, SmallestIds, on_merge, interrupt),
        Ties::FirstSeen => join(counts, words, options, FirstSeen, on_merge, interrupt),
        Ties::Lexicographic | Ties::Printable => {
            join(counts, words, options, Lexicographic::of(options.ties), on_merge, interrupt)
        }
    }
}

fn join<T: TieRule>(
    counts: &Counts,
    words: WordMerges<'_>,
    options: &JoinOptions,
    ties: T,
    on_merge: &mut dyn FnMut(&Learned) -> Result<()>,
    interrupt: &dyn Interrupt,
) -> Result<Joined> {
    let inner = words.tokenizer.merges();
    let bytes = |id| words.tokenizer.token(id).unwrap_or_default().to_vec();
    let base = inner.first().map_or(words.tokenizer.vocab_size(), |merge| merge.id as usize);
    let limits = Limits {
        max_merges: options.max_merges,
        min_frequency: options.min_frequency,
        max_token_length: options.max_token_length.unwrap_or(usize::MAX),
        whole_characters: options.whole_characters,
        forbidden: Arc::default(),
        round: 0,
        runners_up: 0,
        // Including words that are merged later, whose tokens would otherwise exist twice.
        existing: (0..words.tokenizer.vocab_size() as TokenId).map(bytes).collect(),
    };
    // A word has about four bytes or more.
    memory::check_available((counts.distinct_bytes() * 4 + counts.distinct() * RUN_MEMORY) as usize)?;
    let (corpus, positions) = corpus_of_runs(counts, words, base, T::MOVES, interrupt)?;
    let tokens = (0..base as TokenId).map(bytes).collect();
    let mut learner = Learner::new((corpus, None), tokens, ties, limits);
    // A pair of words is merged before the last merge that fits, or never.
    let minimum = if inner.len() >= options.max_merges { words.counts.last().copied() } else { None };
    learner.min_count = options.min_frequency.max(minimum.unwrap_or(1));
    let is_allowed = |left, right| learner.limits.allow(&learner.tokens, left, right);
    learner.pairs = pair_counts::pairs(&learner.corpus, learner.min_count, is_allowed, interrupt)?;
    learner.enqueue_all();

    let mut joins = Vec::new();
    let mut ids: Vec<TokenId> = (0..words.tokenizer.vocab_size() as TokenId).collect();
    let mut next = inner.iter().zip(words.counts).peekable();
    let stop = loop {
        if learner.merges.len() == options.max_merges {
            break Stop::MaxMerges;
        }
        interrupt.check()?;
        let best = learner.best().map(|index| (index, learner.pairs.get(index).count));
        let learned = match (best, next.peek()) {
            (Some((index, count)), inner) if inner.is_none_or(|&(_, of_word)| count > *of_word) => {
                let pair = learner.pairs.get(index);
                let (left, right) = (pair.left, pair.right);
                let id = learner.add_token(left, right);
                learner.corpus.add_token(left, right);
                learner.merge(index, id, interrupt)?;
                learner.limits.existing.insert(learner.tokens[id as usize].clone());
                joins.push(true);
                Learned::new(Merge { left, right, id }, count)
            }
            (best, Some(&(merge, &count))) => {
                if let Some((index, _)) = best {
                    learner.requeue(index);
                }
                next.next();
                let (left, right) = (ids[merge.left as usize], ids[merge.right as usize]);
                let id = learner.add_token(left, right);
                ids[merge.id as usize] = id;
                learner.corpus.add_symbol();
                learner.add_word(id, positions.of(merge.id), interrupt)?;
                joins.push(false);
                Learned::new(Merge { left, right, id }, count)
            }
            (_, None) if learner.is_merged(interrupt)? => break Stop::NoPairs,
            (_, None) => break Stop::MinFrequency,
        };
        on_merge(&learned)?;
        learner.merges.push(learned);
    };
    Ok(Joined { merges: learner.merges, joins, tokens: learner.tokens, stop })
}

/// Memory per run of words, without the words.
const RUN_MEMORY: u64 = 64;

/// The positions of each word.
struct WordPositions {
    /// By id, the start of the token's positions.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl WordPositions {
    fn of(&self, id: TokenId) -> &[u32] {
        &self.positions[self.starts[id as usize] as usize..self.starts[id as usize + 1] as usize]
    }
}

/// A corpus of the runs of neighbouring joinable words, in which words that are not single tokens yet are
/// borders; and the positions of the latter.
fn corpus_of_runs(
    counts: &Counts,
    words: WordMerges<'_>,
    base: usize,
    in_order: bool,
    interrupt: &dyn Interrupt,
) -> Result<(Corpus, WordPositions)> {
    let mut runs = runs(counts, words, interrupt)?;
    if !in_order {
        // The most frequent first, which makes finding the count at a position fast.
        crate::count::sort(&mut runs, &|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)), interrupt)?;
    }
    let mut builder = CorpusBuilder::new(base);
    let mut starts = vec![0u32; words.tokenizer.vocab_size() + 1];
    let mut pacer = Pacer::new(interrupt);
    for (run, count) in &runs {
        pacer.after(1 + run.len())?;
        let symbol = |&id: &TokenId| if (id as usize) < base { id } else { BORDER };
        builder.push(&run.iter().map(symbol).collect::<Vec<_>>(), *count)?;
        run.iter().filter(|id| **id as usize >= base).for_each(|&id| starts[id as usize + 1] += 1);
    }
    for id in 1..starts.len() {
        starts[id] += starts[id - 1];
    }
    let mut positions = vec![0; starts[starts.len() - 1] as usize];
    let (mut ends, mut position) = (starts.clone(), 1);
    for (run, _) in &runs {
        for &id in run.iter() {
            if id as usize >= base {
                positions[ends[id as usize] as usize] = position;
                ends[id as usize] += 1;
            }
            position += 1;
        }
        position += 1;
    }
    Ok((builder.finish(), WordPositions { starts, positions }))
}

/// A run of words and its count.
type WordRun = (Box<[TokenId]>, u64);

/// The distinct runs of two or more words, in the order of first occurrence.
fn runs(counts: &Counts, words: WordMerges<'_>, interrupt: &dyn Interrupt) -> Result<Vec<WordRun>> {
    let pretokenizer = words.tokenizer.pretokenizer();
    let mut indices: HashMap<Box<[TokenId]>, usize> = HashMap::new();
    let mut counts_by_index: Vec<u64> = Vec::new();
    let mut end = |run: &mut Vec<TokenId>, count: u64| {
        if run.len() > 1 {
            match indices.get(&run[..]) {
                Some(&index) => counts_by_index[index] += count,
                None => {
                    indices.insert(run[..].into(), counts_by_index.len());
                    counts_by_index.push(count);
                }
            }
        }
        run.clear();
    };
    let mut run = Vec::new();
    for (piece, count) in counts.iter().filter(|(_, count)| *count > 0) {
        pretokenizer.for_many(piece, 0, GoesOn::No, interrupt, |mut start, ends| {
            for &next in ends {
                let word = words.tokenizer.word(&piece[std::mem::replace(&mut start, next)..next]);
                match word.filter(|&id| words.may_join.get(id as usize).is_some_and(|may_join| *may_join)) {
                    Some(id) => run.push(id),
                    None => end(&mut run, count),
                }
            }
            Ok(())
        })?;
        end(&mut run, count);
    }
    let mut runs: Vec<WordRun> = indices.into_iter().map(|(run, index)| (run, index as u64)).collect();
    crate::count::sort(&mut runs, &|a, b| a.1.cmp(&b.1), interrupt)?;
    runs.iter_mut().for_each(|(_, count)| *count = counts_by_index[*count as usize]);
    Ok(runs)
}
