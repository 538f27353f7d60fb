//! The corpus on disk, for training within a memory limit.
//!
//! It stores all pretokens in their current tokens. A round reads into memory only the stretches in which
//! every pair of neighbours reaches the minimum count, which are sufficient (`docs/algorithm.md`, 17), and
//! writes them back at its end. If not even the most frequent pair fits, a merge is applied by rewriting the
//! file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::count::{Folder, Piece, Pieces, RunReader, RunWriter, Spill, read_varint, sort, write_varint};
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, Pacer};
use crate::vocabulary::TokenId;

use super::Base;
use super::corpus::{BORDER, Corpus, CorpusBuilder, Order, SymbolEncoder, stretches};
use super::frequent::{Frequent, PairCount, PairCounting};
use super::memory_need::{self, MemoryBudget};
use super::stretches::{Stretches, TokenSequences};

/// The size of a block of the file, in bytes.
const BLOCK_SIZE: usize = 1 << 17;

/// The memory of a pretoken that waits to be written, in addition to its bytes.
const PENDING_WORD_MEMORY: usize = 64;

/// All pretokens with more than one token, in a file in its own folder.
pub(super) struct Archive {
    folder: Arc<Folder>,
    file: PathBuf,
    /// The memory of a round, in bytes.
    memory: u64,
    /// Whether pretokens are in the order of first occurrence, each preceded by its sort key.
    by_first: bool,
    /// The stretches of the current round.
    round: Option<RoundStretches>,
}

/// The stretches that were read into memory, and their pairs.
struct RoundStretches {
    pairs: HashSet<(TokenId, TokenId)>,
    stretches: Stretches,
}

impl RoundStretches {
    /// A function that applies the merges of a round to a pretoken.
    fn merged(&self, corpus: &Corpus) -> impl FnMut(&mut Vec<TokenId>) -> Result<()> {
        let (mut changed, mut stretch, mut results) = (corpus.words(), Vec::new(), TokenSequences::default());
        for _ in 0..self.stretches.len() {
            changed.next_into(&mut stretch);
            results.push(&stretch);
        }
        let mut merged = Vec::new();
        move |word| {
            merged.clear();
            for part in word.chunk_by(|&left, &right| self.pairs.contains(&(left, right))) {
                let result = if part.len() > 1 { results.get(self.stretches.index_of(part)?) } else { part };
                merged.extend_from_slice(result);
            }
            std::mem::swap(word, &mut merged);
            Ok(())
        }
    }
}

impl Archive {
    /// Writes the counted pretokens, as base tokens, to a new folder in `parent`. Fails if one is too long.
    pub(super) fn new(
        pieces: &dyn Pieces,
        base: &Base,
        order: Order,
        budget: MemoryBudget,
        parent: &Path,
        interrupt: &dyn Interrupt,
    ) -> Result<Archive> {
        let memory = budget.memory;
        let by_first = matches!(order, Order::FirstSeen);
        let spill = Spill::new(Folder::temporary(parent)?, &[], Some(memory));
        let for_each = |visit: &mut dyn FnMut(Vec<u8>, u64) -> Result<()>| {
            for_each_encoded_run(pieces, base, by_first, budget, interrupt, visit)
        };
        if by_first {
            let (mut unsorted, mut bytes) = (Vec::new(), 0);
            for_each(&mut |run, count| {
                bytes += run.len() + PENDING_WORD_MEMORY;
                unsorted.push((run, count));
                if bytes as u64 > memory / 2 {
                    bytes = 0;
                    write_sorted(&mut unsorted, &spill, interrupt)?;
                }
                Ok(())
            })?;
            write_sorted(&mut unsorted, &spill, interrupt)?;
        } else {
            spill.write_run(interrupt, |push| {
                for_each(&mut |run, count| push(Piece { bytes: &run, count, first: 0 }))
            })?;
        }
        let (folder, name, _) = spill.into_run(interrupt)?;
        let file = folder.file(&name);
        Ok(Archive { folder, file, memory, by_first, round: None })
    }

    /// Visits each pair of neighbours with its count.
    pub(super) fn for_each_pair(
        &self,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        self.for_each_changed(interrupt, |_| Ok(()), visit)
    }

    /// Like `for_each_pair`, as if the stretches in memory had been written back.
    pub(super) fn for_each_merged_pair(
        &self,
        corpus: &Corpus,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        match &self.round {
            None => self.for_each_pair(interrupt, visit),
            Some(round) => self.for_each_changed(interrupt, round.merged(corpus), visit),
        }
    }

    fn for_each_changed(
        &self,
        interrupt: &dyn Interrupt,
        mut change: impl FnMut(&mut Vec<TokenId>) -> Result<()>,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        self.for_each(interrupt, |_, word, count| {
            change(word)?;
            word.windows(2).for_each(|pair| visit(pair[0], pair[1], count));
            Ok(())
        })
    }

    /// Calls `visit` with each pretoken, its count, and the bytes before its tokens.
    fn for_each(
        &self,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(&[u8], &mut Vec<TokenId>, u64) -> Result<()>,
    ) -> Result<()> {
        let mut reader = RunReader::open(&self.file)?;
        let (mut word, mut pacer) = (Vec::new(), Pacer::new(interrupt));
        while reader.next()? {
            let Piece { bytes, count, .. } = reader.piece();
            let (head, tokens) = bytes.split_at_checked(self.head_len()).unwrap_or_default();
            self.decode(tokens, &mut word)?;
            pacer.after(1 + word.len())?;
            visit(head, &mut word, count)?;
        }
        Ok(())
    }

    /// Reads into memory the stretches that a round needs for these pairs, or for as many of the most
    /// frequent ones as fit, and returns them with their minimum count. `None` if not even the most
    /// frequent pairs fit.
    pub(super) fn take(
        &mut self,
        frequent: &Frequent,
        tokens: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<(Corpus, u64)>> {
        let counts: HashMap<_, _> =
            frequent.complete().map(|pair| ((pair.left, pair.right), pair.count)).collect();
        let count_of = |left, right| counts.get(&(left, right)).copied().unwrap_or(0);
        let highest = counts.values().copied().max().unwrap_or(0);
        let (mut min_count, mut selected) = (frequent.min_count, Stretches::default());
        self.for_each(interrupt, |_, word, word_count| {
            stretches(word, |left, right| count_of(left, right) >= min_count)
                .for_each(|stretch| selected.add(stretch, word_count));
            while min_count <= highest && selected.memory() > self.memory {
                // To a half of the limit, so that this happens rarely.
                let lowest = selected.need(count_of).min_count_within(self.memory / 2, min_count + 1);
                min_count = lowest.unwrap_or(if min_count < highest { highest } else { u64::MAX });
                selected = selected.split(|left, right| count_of(left, right) >= min_count);
            }
            Ok(())
        })?;
        if min_count > highest {
            return Ok(None);
        }
        let corpus = selected.corpus(tokens)?;
        let pairs =
            counts.into_iter().filter(|&(_, count)| count >= min_count).map(|(pair, _)| pair).collect();
        self.round = Some(RoundStretches { pairs, stretches: selected });
        Ok(Some((corpus, min_count)))
    }

    /// Writes back the stretches in memory after the merges of a round, and visits each pair of neighbours
    /// with its count.
    pub(super) fn put_back(
        &mut self,
        corpus: &Corpus,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        match self.round.take() {
            None => self.for_each_pair(interrupt, visit),
            Some(round) => self.rewrite(interrupt, round.merged(corpus), visit),
        }
    }

    /// Repeatedly reads as many pretokens as fit into memory, and writes back the result of `work`, to the
    /// end.
    pub(super) fn in_parts(
        &mut self,
        tokens: usize,
        interrupt: &dyn Interrupt,
        mut work: impl FnMut(Corpus) -> Result<Corpus>,
    ) -> Result<()> {
        let file = self.new_file();
        let mut writer = RunWriter::create(&file, BLOCK_SIZE)?;
        let mut word = Vec::new();
        let mut write_back = |words: &mut CorpusBuilder, heads: &mut Vec<(Vec<u8>, u64)>| -> Result<()> {
            let part = work(std::mem::replace(words, CorpusBuilder::new(tokens)).finish())?;
            let mut changed = part.words();
            for (mut bytes, count) in heads.drain(..) {
                changed.next_into(&mut word);
                if word.len() > 1 {
                    append(&mut bytes, &word);
                    if writer.push(Piece { bytes: &bytes, count, first: 0 })? {
                        interrupt.check()?;
                    }
                }
            }
            Ok(())
        };
        let (mut words, mut heads) = (CorpusBuilder::new(tokens), Vec::new());
        self.for_each(interrupt, |head, word, count| {
            words.push(word, count)?;
            heads.push((head.to_vec(), count));
            let needed_memory = memory_need::bytes_of(words.len() as u64, heads.len() as u64);
            match needed_memory + (heads.len() * PENDING_WORD_MEMORY) as u64 > self.memory {
                true => write_back(&mut words, &mut heads),
                false => Ok(()),
            }
        })?;
        write_back(&mut words, &mut heads)?;
        writer.finish()?;
        self.replace(file)
    }

    /// Merges a pair at all its positions.
    pub(super) fn merge(
        &mut self,
        left: TokenId,
        right: TokenId,
        id: TokenId,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let change = |word: &mut Vec<TokenId>| {
            let mut write = 0;
            let mut read = 0;
            while read < word.len() {
                let is_pair = word[read] == left && word.get(read + 1) == Some(&right);
                word[write] = if is_pair { id } else { word[read] };
                read += 1 + usize::from(is_pair);
                write += 1;
            }
            word.truncate(write);
            Ok(())
        };
        self.rewrite(interrupt, change, visit)
    }

    /// The most frequent pairs for which `is_candidate` returns true, at least `minimum` of them. It must return
    /// true for all pairs that occur `min_count` times.
    pub(super) fn frequent<K: Ord>(
        &self,
        min_count: u64,
        minimum: usize,
        is_candidate: impl Fn(TokenId, TokenId) -> bool,
        mut key: impl FnMut(&PairCount) -> K,
        interrupt: &dyn Interrupt,
    ) -> Result<Frequent> {
        let mut counting = PairCounting::new(min_count, self.memory, minimum);
        while counting.begin() {
            self.for_each_pair(interrupt, |left, right, count| {
                counting.add(left, right, count, || is_candidate(left, right));
            })?;
            counting.end(&mut key);
        }
        Ok(counting.finish())
    }

    /// Rewrites the file, with each pretoken changed by `change`.
    fn rewrite(
        &mut self,
        interrupt: &dyn Interrupt,
        mut change: impl FnMut(&mut Vec<TokenId>) -> Result<()>,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let file = self.new_file();
        let mut writer = RunWriter::create(&file, BLOCK_SIZE)?;
        let mut bytes = Vec::new();
        self.for_each(interrupt, |head, word, count| {
            change(word)?;
            if word.len() > 1 {
                word.windows(2).for_each(|pair| visit(pair[0], pair[1], count));
                bytes.clear();
                bytes.extend_from_slice(head);
                append(&mut bytes, word);
                writer.push(Piece { bytes: &bytes, count, first: 0 })?;
            }
            Ok(())
        })?;
        writer.finish()?;
        self.replace(file)
    }

    fn new_file(&self) -> PathBuf {
        self.folder.file(&self.folder.new_name())
    }

    fn replace(&mut self, file: PathBuf) -> Result<()> {
        let old = std::mem::replace(&mut self.file, file);
        std::fs::remove_file(&old).map_err(|error| Error::of_file(&error, &old))
    }

    /// The number of bytes before the tokens of a pretoken.
    fn head_len(&self) -> usize {
        if self.by_first { size_of::<u64>() + size_of::<u32>() } else { 0 }
    }

    fn decode(&self, mut tokens: &[u8], word: &mut Vec<TokenId>) -> Result<()> {
        word.clear();
        while !tokens.is_empty() {
            let symbol = read_varint(&mut tokens).and_then(|number| TokenId::try_from(number).ok());
            word.push(symbol.ok_or_else(|| Error::Corrupt {
                path: self.file.clone(),
                offset: 0,
                reason: "a pretoken is not made of tokens.".into(),
            })?);
        }
        Ok(())
    }
}

/// Calls `visit` with each run of symbols that merges on its own, in the file's encoding, and its count.
/// With `by_first` the sort key comes first: the first occurrence of the whole pretoken, and the offset in
/// it.
fn for_each_encoded_run(
    pieces: &dyn Pieces,
    base: &Base,
    by_first: bool,
    budget: MemoryBudget,
    interrupt: &dyn Interrupt,
    visit: &mut dyn FnMut(Vec<u8>, u64) -> Result<()>,
) -> Result<()> {
    let mut symbols = SymbolEncoder::new(base);
    let (mut word, mut longest, mut pacer) = (Vec::new(), 0, Pacer::new(interrupt));
    pieces.for_each(&mut |piece| {
        longest = longest.max(piece.bytes.len() as u64);
        pacer.after(1 + piece.bytes.len())?;
        // After a pretoken that is too long, the others are only measured, since the error names the
        // longest.
        if longest > budget.pretoken || piece.count == 0 {
            return Ok(());
        }
        word.clear();
        symbols.append(piece.bytes, &mut word, interrupt)?;
        let mut offset = 0u32;
        // Symbols between characters without a token merge on their own.
        for run in word.split(|&symbol| symbol == BORDER) {
            if run.len() > 1 {
                let mut bytes = Vec::new();
                if by_first {
                    bytes.extend_from_slice(&piece.first.to_be_bytes());
                    bytes.extend_from_slice(&offset.to_be_bytes());
                }
                append(&mut bytes, run);
                visit(bytes, piece.count)?;
            }
            offset += run.len() as u32 + 1;
        }
        Ok(())
    })?;
    if longest > budget.pretoken { Err(budget.too_long(longest)) } else { Ok(()) }
}

/// Writes runs in the order of first occurrence, and clears the list.
fn write_sorted(runs: &mut Vec<(Vec<u8>, u64)>, spill: &Spill, interrupt: &dyn Interrupt) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    sort(runs, &Ord::cmp, interrupt)?;
    spill.write_run(interrupt, |push| {
        runs.drain(..).try_for_each(|(bytes, count)| push(Piece { bytes: &bytes, count, first: 0 }))
    })
}

/// Appends tokens in the file's encoding.
fn append(bytes: &mut Vec<u8>, word: &[TokenId]) {
    word.iter().for_each(|&symbol| write_varint(bytes, symbol.into()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Counts;
    use crate::interrupt::Never;
    use crate::train::Options;

    fn archive(pieces: &[(&str, u64)], order: Order, memory: u64) -> Archive {
        let counts = Counts::from_pieces(pieces.iter().copied()).unwrap();
        let budget = MemoryBudget { memory, pretoken: 100 };
        let parent = std::env::temp_dir();
        Archive::new(&counts, &Options::bytes(256).base, order, budget, &parent, &Never).unwrap()
    }

    fn words(archive: &Archive) -> Vec<(Vec<TokenId>, u64)> {
        let mut words = Vec::new();
        let visit = |_: &[u8], word: &mut Vec<TokenId>, count| {
            words.push((word.clone(), count));
            Ok(())
        };
        archive.for_each(&Never, visit).unwrap();
        words
    }

    #[test]
    fn pretokens_are_in_order_and_no_other_files_remain() {
        let pieces: Vec<(String, u64)> = (0..300).map(|n| (format!("{}x", 7919 * n % 1000), 1 + n)).collect();
        let pieces: Vec<(&str, u64)> = pieces.iter().map(|(piece, count)| (&piece[..], *count)).collect();
        let expected: Vec<(Vec<TokenId>, u64)> = pieces
            .iter()
            .map(|(piece, count)| (piece.bytes().map(TokenId::from).collect(), *count))
            .collect();
        // Limits that give a run per pretoken, which is more than are merged at once; a few runs; or one.
        for memory in [0, 20_000, 1 << 20] {
            for order in [Order::FirstSeen, Order::ByCount] {
                let archive = archive(&pieces, order, memory);
                assert_eq!(words(&archive), expected);
                let files = std::fs::read_dir(archive.file.parent().unwrap()).unwrap();
                assert_eq!(files.count(), 1);
            }
        }
    }

    #[test]
    fn merged_pairs_are_visited_without_writing() {
        let mut archive = archive(&[("abab", 3), ("xabx", 2), ("cd", 1)], Order::ByCount, 1 << 20);
        let pair = PairCount { left: 97, right: 98, count: 8, first: 0 };
        let frequent = Frequent { pairs: vec![pair], min_count: 8 };
        let (corpus, _) = archive.take(&frequent, 256, &Never).unwrap().unwrap();
        let mut corpus = corpus;
        let id = corpus.add_token(97, 98);
        // Both stretches are the same, and come after the border at the start.
        corpus.merge(1, 97, 98, id);
        let (mut merged_pairs, mut written_pairs) = (Vec::new(), Vec::new());
        let file = archive.file.clone();
        archive
            .for_each_merged_pair(&corpus, &Never, |l, r, count| merged_pairs.push((l, r, count)))
            .unwrap();
        assert_eq!(archive.file, file);
        assert_eq!(merged_pairs, [(id, id, 3), (120, id, 2), (id, 120, 2), (99, 100, 1)]);
        archive.put_back(&corpus, &Never, |l, r, count| written_pairs.push((l, r, count))).unwrap();
        assert_eq!(written_pairs, merged_pairs);
        assert_eq!(words(&archive)[0], (vec![id, id], 3));
    }
}
