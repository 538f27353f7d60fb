//! The corpus on disk, where it is too large for memory.
//!
//! It holds all pretokens as the tokens they are made of by now. A round takes into memory only the
//! stretches of them in which every pair of neighbours reaches its floor, and puts them back at its
//! end. That is all it needs (`docs/algorithm.md`, 17). While even the most frequent pair has no room,
//! a merge is made by going through the file.

use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};

use crate::count::{Folder, Piece, Pieces, Reader, Writer, merge_runs, put_number, sort, take_number};
use crate::error::{Error, Result};
use crate::vocabulary::TokenId;
use crate::watch::Watch;

use super::Base;
use super::corpus::{BORDER, Builder, Corpus, Order, Symbols, stretches};
use super::frequent::{Counting, Found, Frequent};
use super::need;
use super::stretches::{Stretches, Words};

/// The most runs that are sorted together.
const MOST_RUNS: usize = 64;

/// Tokens read between two questions to the watch.
const BETWEEN_CHECKS: usize = 1 << 18;

/// The size of a block of the file, in bytes.
const BLOCK: usize = 1 << 17;

/// All pretokens with more than one token, in a file of a folder of its own.
pub(super) struct Archive {
    folder: Folder,
    file: PathBuf,
    /// What a round may take, in bytes.
    memory: u64,
    /// Whether pretokens stand in the order they were first seen, each after what says when that was.
    by_first: bool,
    /// What was taken into memory: the stretches of these pairs.
    taken: Option<(HashSet<(TokenId, TokenId)>, Stretches)>,
}

impl Archive {
    /// Writes the counted pretokens to a new folder in `inside`, as base tokens. A round takes up to
    /// `memory` bytes.
    pub(super) fn new(
        pieces: &dyn Pieces,
        base: &Base,
        order: Order,
        memory: u64,
        inside: &Path,
        watch: &dyn Watch,
    ) -> Result<Archive> {
        let folder = Folder::temporary(inside)?;
        let by_first = matches!(order, Order::FirstSeen);
        let symbols = Symbols::new(base);
        let mut sorter =
            Sorter { folder: &folder, memory: memory / 2, words: Vec::new(), bytes: 0, runs: Vec::new() };
        let file = folder.file(&folder.new_name());
        let mut writer = Writer::create(&file, BLOCK)?;
        let mut word = Vec::new();
        pieces.for_each(&mut |piece| {
            word.clear();
            symbols.append(piece.bytes, &mut word)?;
            // What stands between characters that are in no token merges alone.
            let mut offset = 0;
            for run in word.split(|&symbol| symbol == BORDER) {
                if run.len() > 1 && piece.count > 0 {
                    let bytes = encoded(by_first.then_some((piece.first, offset)), run);
                    match by_first {
                        true => sorter.push(bytes, piece.count, watch)?,
                        false => {
                            write(&mut writer, &bytes, piece.count, watch)?;
                        }
                    }
                }
                offset += run.len() as u32 + 1;
            }
            Ok(())
        })?;
        writer.finish()?;
        let file = if by_first { sorter.finish(watch)? } else { file };
        Ok(Archive { folder, file, memory, by_first, taken: None })
    }

    /// Visits each pair of neighbours with its count.
    pub(super) fn for_each_pair(
        &self,
        watch: &dyn Watch,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        self.for_each(watch, |word, count| {
            word.windows(2).for_each(|pair| visit(pair[0], pair[1], count));
            Ok(())
        })
    }

    /// Calls `visit` with each pretoken and its count.
    fn for_each(
        &self,
        watch: &dyn Watch,
        mut visit: impl FnMut(&[TokenId], u64) -> Result<()>,
    ) -> Result<()> {
        let mut reader = Reader::open(&self.file)?;
        let (mut word, mut unasked) = (Vec::new(), 0);
        while reader.next()? {
            let Piece { bytes, count, .. } = reader.piece();
            self.decode(bytes, &mut word)?;
            unasked += 1 + word.len();
            if unasked > BETWEEN_CHECKS {
                unasked = 0;
                watch.check()?;
            }
            visit(&word, count)?;
        }
        Ok(())
    }

    /// Takes into memory what a round needs that follows these pairs, or as many of the most frequent
    /// ones as there is room for; the floor that they reach is returned with it. None if not even
    /// those with the highest count have room.
    pub(super) fn take(
        &mut self,
        frequent: &Frequent,
        tokens: usize,
        watch: &dyn Watch,
    ) -> Result<Option<(Corpus, u64)>> {
        let counts: HashMap<_, _> =
            frequent.complete().map(|found| ((found.left, found.right), found.count)).collect();
        let count = |left, right| counts.get(&(left, right)).copied().unwrap_or(0);
        let highest = counts.values().copied().max().unwrap_or(0);
        let (mut floor, mut taken) = (frequent.floor, Stretches::default());
        self.for_each(watch, |word, times| {
            stretches(word, |left, right| count(left, right) >= floor)
                .for_each(|stretch| taken.add(stretch, times));
            while floor <= highest && taken.memory() > self.memory {
                // Down to a half, so that it is done seldom.
                let lowest = taken.need(count).floor_within(self.memory / 2, floor + 1);
                floor = lowest.unwrap_or(if floor < highest { highest } else { u64::MAX });
                taken = taken.cut(|left, right| count(left, right) >= floor);
            }
            Ok(())
        })?;
        if floor > highest {
            return Ok(None);
        }
        let corpus = taken.corpus(tokens)?;
        let pairs = counts.into_iter().filter(|&(_, count)| count >= floor).map(|(pair, _)| pair).collect();
        self.taken = Some((pairs, taken));
        Ok(Some((corpus, floor)))
    }

    /// Puts back what was taken, as it is after the merges of a round, and visits each pair of
    /// neighbours with its count, as the other ways to go through the file do.
    pub(super) fn put_back(
        &mut self,
        corpus: &Corpus,
        watch: &dyn Watch,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let Some((pairs, taken)) = self.taken.take() else { return self.for_each_pair(watch, visit) };
        let (mut changed, mut stretch, mut results) = (corpus.words(), Vec::new(), Words::default());
        for _ in 0..taken.len() {
            changed.next_into(&mut stretch);
            results.push(&stretch);
        }
        let mut merged = Vec::new();
        let change = |word: &mut Vec<TokenId>| {
            merged.clear();
            for part in word.chunk_by(|&left, &right| pairs.contains(&(left, right))) {
                let is_taken = part.len() > 1;
                merged.extend_from_slice(if is_taken { results.get(taken.number_of(part)?) } else { part });
            }
            std::mem::swap(word, &mut merged);
            Ok(())
        };
        self.rewrite(watch, change, visit)
    }

    /// Takes as many pretokens as fit into memory, puts back what `work` made of them, and so on
    /// until the end.
    pub(super) fn in_parts(
        &mut self,
        tokens: usize,
        watch: &dyn Watch,
        mut work: impl FnMut(Corpus) -> Result<Corpus>,
    ) -> Result<()> {
        let file = self.folder.file(&self.folder.new_name());
        let mut writer = Writer::create(&file, BLOCK)?;
        let mut reader = Reader::open(&self.file)?;
        let (mut words, mut heads, mut word) = (Builder::new(tokens), Vec::new(), Vec::new());
        loop {
            let more = reader.next()?;
            if more {
                let Piece { bytes, count, .. } = reader.piece();
                self.decode(bytes, &mut word)?;
                words.push(&word, count)?;
                heads.push((bytes[..self.head()].to_vec(), count));
            }
            let needed = need::of(words.len() as u64, heads.len() as u64);
            if !more || needed + (heads.len() * Sorter::OF_WORD) as u64 > self.memory {
                let part = std::mem::replace(&mut words, Builder::new(tokens));
                let part = work(part.finish())?;
                let mut changed = part.words();
                for (mut bytes, count) in heads.drain(..) {
                    changed.next_into(&mut word);
                    if word.len() > 1 {
                        word.iter().for_each(|&symbol| put_number(&mut bytes, symbol.into()));
                        write(&mut writer, &bytes, count, watch)?;
                    }
                }
            }
            if !more {
                break;
            }
        }
        writer.finish()?;
        self.replace(file)
    }

    /// Merges a pair wherever it stands.
    pub(super) fn merge(
        &mut self,
        left: TokenId,
        right: TokenId,
        id: TokenId,
        watch: &dyn Watch,
        visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let change = |word: &mut Vec<TokenId>| {
            let mut to = 0;
            let mut at = 0;
            while at < word.len() {
                let is_pair = word[at] == left && word.get(at + 1) == Some(&right);
                word[to] = if is_pair { id } else { word[at] };
                at += 1 + usize::from(is_pair);
                to += 1;
            }
            word.truncate(to);
            Ok(())
        };
        self.rewrite(watch, change, visit)
    }

    /// The most frequent of the pairs that are `asked` for, at least so many as are `wanted`. All that
    /// occur `floor` times must be asked for.
    pub(super) fn frequent<K: Ord>(
        &self,
        floor: u64,
        wanted: usize,
        asked: impl Fn(TokenId, TokenId) -> bool,
        mut key: impl FnMut(&Found) -> K,
        watch: &dyn Watch,
    ) -> Result<Frequent> {
        let mut counting = Counting::new(floor, self.memory, wanted);
        while counting.begin() {
            self.for_each_pair(watch, |left, right, count| {
                counting.add(left, right, count, || asked(left, right));
            })?;
            counting.end(&mut key);
        }
        Ok(counting.finish())
    }

    /// Writes the file anew, each pretoken as `change` leaves it.
    fn rewrite(
        &mut self,
        watch: &dyn Watch,
        mut change: impl FnMut(&mut Vec<TokenId>) -> Result<()>,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let file = self.folder.file(&self.folder.new_name());
        let mut writer = Writer::create(&file, BLOCK)?;
        let mut reader = Reader::open(&self.file)?;
        let (mut word, mut bytes) = (Vec::new(), Vec::new());
        while reader.next()? {
            let piece = reader.piece();
            self.decode(piece.bytes, &mut word)?;
            change(&mut word)?;
            if word.len() > 1 {
                word.windows(2).for_each(|pair| visit(pair[0], pair[1], piece.count));
                bytes.clear();
                bytes.extend_from_slice(&piece.bytes[..self.head()]);
                word.iter().for_each(|&symbol| put_number(&mut bytes, symbol.into()));
                write(&mut writer, &bytes, piece.count, watch)?;
            }
        }
        writer.finish()?;
        self.replace(file)
    }

    fn replace(&mut self, file: PathBuf) -> Result<()> {
        let old = std::mem::replace(&mut self.file, file);
        std::fs::remove_file(&old).map_err(|error| Error::of_file(&error, &old))
    }

    /// How many bytes stand before the tokens of a pretoken.
    fn head(&self) -> usize {
        if self.by_first { size_of::<u64>() + size_of::<u32>() } else { 0 }
    }

    fn decode(&self, bytes: &[u8], word: &mut Vec<TokenId>) -> Result<()> {
        word.clear();
        let mut rest = bytes.get(self.head()..).unwrap_or_default();
        while !rest.is_empty() {
            let symbol = take_number(&mut rest).and_then(|number| TokenId::try_from(number).ok());
            word.push(symbol.ok_or_else(|| Error::Corrupt {
                path: self.file.clone(),
                offset: 0,
                reason: "a pretoken is not made of tokens.".into(),
            })?);
        }
        Ok(())
    }
}

/// A pretoken as it stands in the file, after what says when it was first seen: that of the whole
/// pretoken, and the place in it.
fn encoded(first: Option<(u64, u32)>, word: &[TokenId]) -> Vec<u8> {
    let head = |(first, offset): (u64, u32)| [&first.to_be_bytes()[..], &offset.to_be_bytes()].concat();
    let mut bytes = first.map_or_else(Vec::new, head);
    word.iter().for_each(|&symbol| put_number(&mut bytes, symbol.into()));
    bytes
}

fn write(writer: &mut Writer, bytes: &[u8], count: u64, watch: &dyn Watch) -> Result<()> {
    if writer.push(Piece { bytes, count, first: 0 })? { watch.check() } else { Ok(()) }
}

/// Sorts encoded pretokens in bounded memory.
struct Sorter<'a> {
    folder: &'a Folder,
    memory: u64,
    words: Vec<(Vec<u8>, u64)>,
    bytes: u64,
    runs: Vec<PathBuf>,
}

impl Sorter<'_> {
    /// What a pretoken takes beside its bytes.
    const OF_WORD: usize = 64;

    fn push(&mut self, bytes: Vec<u8>, count: u64, watch: &dyn Watch) -> Result<()> {
        self.bytes += (bytes.len() + Sorter::OF_WORD) as u64;
        self.words.push((bytes, count));
        if self.bytes > self.memory { self.write(watch) } else { Ok(()) }
    }

    fn write(&mut self, watch: &dyn Watch) -> Result<()> {
        sort(&mut self.words, &Ord::cmp, watch)?;
        let run = self.folder.file(&self.folder.new_name());
        let mut writer = Writer::create(&run, BLOCK)?;
        for (bytes, count) in self.words.drain(..) {
            write(&mut writer, &bytes, count, watch)?;
        }
        writer.finish()?;
        self.runs.push(run);
        self.bytes = 0;
        Ok(())
    }

    /// All of them in one file, in order.
    fn finish(mut self, watch: &dyn Watch) -> Result<PathBuf> {
        self.write(watch)?;
        while self.runs.len() > 1 {
            let some: Vec<PathBuf> = self.runs.drain(..self.runs.len().min(MOST_RUNS)).collect();
            let merged = self.folder.file(&self.folder.new_name());
            merge_runs(&some, &merged, BLOCK, watch)?;
            for run in some {
                std::fs::remove_file(&run).map_err(|error| Error::of_file(&error, &run))?;
            }
            self.runs.push(merged);
        }
        Ok(self.runs.swap_remove(0))
    }
}
