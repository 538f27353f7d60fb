//! The corpus during training: the symbols of distinct pretokens, end to end.

use hashbrown::HashMap;

use crate::count::{Counts, sort};
use crate::cpu::prefetch;
use crate::error::{Error, Result};
use crate::interrupt::{CHECK_INTERVAL, Interrupt, Pacer};
use crate::memory;
use crate::tokenizer::Pretokens;
use crate::vocabulary::TokenId;

use super::Base;
use super::weights::{PretokenWeight, WeightRuns};

/// Separates pretokens, also at the start and the end. It is never merged.
pub(super) const BORDER: TokenId = TokenId::MAX;

/// Marks a position inside a token.
pub(super) const INSIDE: TokenId = TokenId::MAX - 1;

/// The order of the pretokens in the corpus.
pub(super) enum Order {
    /// In the order of first occurrence.
    FirstSeen,
    /// The most frequent first, which makes finding the count at a position fast.
    ByCount,
}

/// Symbols in one array.
///
/// A token made after the last compaction takes several positions: the first and the last hold its id, those
/// between a mark. So both neighbours of a token are found from the lengths of tokens, without links, and a
/// merge writes four positions.
#[derive(Default)]
pub(super) struct Corpus {
    symbols: Vec<TokenId>,
    /// The number of positions of each token, by id.
    lengths: Vec<u32>,
    runs: WeightRuns,
}

/// Pretokens that were counted together, in corpus order.
pub(super) struct CorpusPart<'a> {
    pieces: Vec<(&'a [u8], u64)>,
    /// The weight of a pretoken with a given count.
    weigh: &'a dyn Fn(u64) -> PretokenWeight,
}

impl<'a> CorpusPart<'a> {
    pub(super) fn new(
        counts: &'a Counts,
        order: Order,
        weigh: &'a dyn Fn(u64) -> PretokenWeight,
        interrupt: &dyn Interrupt,
    ) -> Result<CorpusPart<'a>> {
        let mut pieces = memory::try_collect(counts.iter().filter(|&(_, count)| count > 0))?;
        if let Order::ByCount = order {
            sort(&mut pieces, &|a, b| b.1.cmp(&a.1), interrupt)?;
        }
        Ok(CorpusPart { pieces, weigh })
    }
}

/// Builds a corpus.
pub(super) struct CorpusBuilder {
    symbols: Vec<TokenId>,
    runs: WeightRuns,
    /// The number of tokens.
    tokens: usize,
}

impl CorpusBuilder {
    pub(super) fn new(tokens: usize) -> CorpusBuilder {
        CorpusBuilder { symbols: vec![BORDER], runs: WeightRuns::default(), tokens }
    }

    /// A builder with capacity for this many pretokens and positions.
    pub(super) fn with_capacity(tokens: usize, positions: usize, words: usize) -> Result<CorpusBuilder> {
        memory::check_available(positions * size_of::<TokenId>() + words * size_of::<PretokenWeight>())?;
        let mut builder =
            CorpusBuilder { symbols: Vec::with_capacity(1 + positions), ..CorpusBuilder::new(tokens) };
        builder.symbols.push(BORDER);
        builder.runs.reserve(words);
        Ok(builder)
    }

    /// The number of positions.
    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    pub(super) fn push(&mut self, word: &[TokenId], count: u64) -> Result<()> {
        self.symbols.extend_from_slice(word);
        self.end(PretokenWeight::of(count))
    }

    /// Ends the current pretoken.
    fn end(&mut self, weight: PretokenWeight) -> Result<()> {
        self.symbols.push(BORDER);
        self.runs.push(weight, self.symbols.len());
        check_positions(self.symbols.len())
    }

    /// Adds the pretokens of a part, and returns its length: the number of its symbols, without those
    /// outside the base.
    fn append(
        &mut self,
        part: &CorpusPart<'_>,
        encoder: &mut SymbolEncoder,
        interrupt: &dyn Interrupt,
    ) -> Result<u64> {
        let (mut length, mut pacer) = (0u64, Pacer::new(interrupt));
        for &(piece, count) in &part.pieces {
            let start = self.symbols.len();
            encoder.append(piece, &mut self.symbols, interrupt)?;
            pacer.after(1 + piece.len())?;
            let base_symbols = self.symbols[start..].iter().filter(|&&id| id != BORDER).count();
            length = length.saturating_add(count.saturating_mul(base_symbols as u64));
            if self.symbols.len() - start < 2 {
                self.symbols.truncate(start);
                continue;
            }
            self.end((part.weigh)(count))?;
        }
        Ok(length)
    }

    pub(super) fn finish(mut self) -> Corpus {
        self.runs.finish();
        Corpus { symbols: self.symbols, lengths: vec![1; self.tokens], runs: self.runs }
    }
}

impl Corpus {
    pub(super) fn new(
        counts: &Counts,
        base: &Base,
        order: Order,
        interrupt: &dyn Interrupt,
    ) -> Result<Corpus> {
        let part = CorpusPart::new(counts, order, &PretokenWeight::of, interrupt)?;
        Ok(Corpus::of_parts(&[part], base, interrupt)?.0)
    }

    /// A corpus of several parts, and the length of each.
    pub(super) fn of_parts(
        parts: &[CorpusPart<'_>],
        base: &Base,
        interrupt: &dyn Interrupt,
    ) -> Result<(Corpus, Vec<u64>)> {
        let mut encoder = SymbolEncoder::new(base);
        let pieces = parts.iter().flat_map(|part| &part.pieces);
        let positions = pieces.map(|(piece, _)| piece.len() + 1).sum::<usize>();
        if let Base::Bytes(_) = base {
            check_positions(1 + positions)?;
        }
        let mut builder = CorpusBuilder::with_capacity(base.tokens().len(), positions, 0)?;
        let lengths = parts.iter().map(|part| builder.append(part, &mut encoder, interrupt));
        let lengths = lengths.collect::<Result<_>>()?;
        Ok((builder.finish(), lengths))
    }

    /// The tokens by position, and the weights; only if nothing is merged yet.
    pub(super) fn into_parts(self) -> (Vec<TokenId>, WeightRuns) {
        (self.symbols, self.runs)
    }

    /// A cursor over the pretokens in their current form.
    pub(super) fn words(&self) -> PretokenCursor<'_> {
        PretokenCursor { corpus: self, position: 1 }
    }

    /// The number of positions.
    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// The number of positions of pretokens for whose weight `predicate` returns true.
    pub(super) fn len_of(&self, predicate: impl Fn(PretokenWeight) -> bool) -> usize {
        let runs = self.runs.iter().filter(|&(_, weight)| predicate(weight));
        runs.map(|(range, _)| range.len()).sum()
    }

    /// Compacts the corpus: each symbol takes one position again, and pretokens of a single symbol are
    /// dropped. Visits each pair of neighbours with its count.
    pub(super) fn compact(
        &mut self,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let runs = std::mem::take(&mut self.runs);
        // The border at the start is kept.
        let (mut write, mut pacer) = (1, Pacer::new(interrupt));
        for (symbols, weight) in runs.iter() {
            let mut word_start = write;
            let mut read = symbols.start.max(1);
            while read < symbols.end {
                let id = self.symbols[read];
                if id != BORDER {
                    if write > word_start {
                        visit(self.symbols[write - 1], id, weight.count);
                    }
                    self.symbols[write] = id;
                    write += 1;
                    read += self.lengths[id as usize] as usize;
                    continue;
                }
                read += 1;
                pacer.after(1 + write - word_start)?;
                if write - word_start > 1 {
                    self.symbols[write] = BORDER;
                    write += 1;
                    word_start = write;
                }
                write = word_start;
            }
            if self.runs.end().max(1) < write {
                self.runs.push(weight, write);
            }
        }
        self.symbols.truncate(write);
        self.symbols.shrink_to(write);
        self.lengths.fill(1);
        self.runs.finish();
        Ok(())
    }

    /// Visits each pair of neighbours: its position, both tokens, and its weight. Only valid directly after a
    /// compaction.
    pub(super) fn for_each_pair(
        &self,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(usize, TokenId, TokenId, PretokenWeight),
    ) -> Result<()> {
        self.for_each_pair_of(|_| true, interrupt, visit)
    }

    /// Like `for_each_pair`, for pretokens for whose weight `predicate` returns true.
    pub(super) fn for_each_pair_of(
        &self,
        predicate: impl Fn(PretokenWeight) -> bool,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(usize, TokenId, TokenId, PretokenWeight),
    ) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        for (symbols, weight) in self.runs.iter().filter(|&(_, weight)| predicate(weight)) {
            let mut start = symbols.start;
            while start < symbols.end {
                let end = symbols.end.min(start + CHECK_INTERVAL);
                // A run ends with a border, but a stretch of one may not.
                let mut left = self.symbols[start];
                let stretch = &self.symbols[start + 1..self.symbols.len().min(end + 1)];
                for (position, &right) in (start..).zip(stretch) {
                    if left != BORDER && right != BORDER {
                        visit(position, left, right, weight);
                    }
                    left = right;
                }
                pacer.after(end - std::mem::replace(&mut start, end))?;
            }
        }
        Ok(())
    }

    /// Prefetches a position.
    #[inline]
    pub(super) fn prefetch(&self, position: usize) {
        prefetch(&self.symbols[position]);
    }

    /// The weight of the pretoken at `position`.
    #[inline]
    pub(super) fn weight(&self, position: usize) -> PretokenWeight {
        self.runs.weight(position)
    }

    /// Whether the pair of `left` and `right` is at a position. Tokens only grow, so a pair that left a position
    /// does not return to it.
    #[inline]
    pub(super) fn has_pair(&self, position: usize, left: TokenId, right: TokenId) -> bool {
        self.symbols[position] == left
            && self.symbols[position + self.lengths[left as usize] as usize] == right
    }

    /// The token before the position where a token starts ([`BORDER`] if none), and its start.
    #[inline]
    pub(super) fn before(&self, position: usize) -> (TokenId, usize) {
        let id = self.symbols[position - 1];
        (id, if id == BORDER { position - 1 } else { position - self.lengths[id as usize] as usize })
    }

    /// The token after the one that starts at `position`; [`BORDER`] if none.
    #[inline]
    pub(super) fn after(&self, position: usize) -> TokenId {
        self.symbols[position + self.lengths[self.symbols[position] as usize] as usize]
    }

    /// Registers the token of `left` and `right`.
    pub(super) fn add_token(&mut self, left: TokenId, right: TokenId) -> TokenId {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
        (self.lengths.len() - 1) as TokenId
    }

    /// Registers a token that takes one position.
    pub(super) fn add_symbol(&mut self) {
        self.lengths.push(1);
    }

    /// Writes a token of one position over a border.
    #[inline]
    pub(super) fn put(&mut self, position: usize, id: TokenId) {
        self.symbols[position] = id;
    }

    /// Writes token `id` over the pair of `left` and `right` at `position`.
    #[inline]
    pub(super) fn merge(&mut self, position: usize, left: TokenId, right: TokenId, id: TokenId) {
        let middle = position + self.lengths[left as usize] as usize;
        let end = middle + self.lengths[right as usize] as usize;
        // The marks come first: if a part has one position, that is an end of the token.
        self.symbols[middle - 1] = INSIDE;
        self.symbols[middle] = INSIDE;
        self.symbols[position] = id;
        self.symbols[end - 1] = id;
    }
}

/// Fails if the positions do not fit into the 32 bits of a posting.
fn check_positions(symbols: usize) -> Result<()> {
    match symbols > u32::MAX as usize {
        false => Ok(()),
        true => Err(Error::Limit {
            reason: "the distinct pretokens have more than 2^32 symbols together. Use a pretokenizer that cuts the text, less text, or a limit of memory.".into(),
        }),
    }
}

/// The maximal stretches of two or more symbols in which `predicate` holds for all neighbours.
pub(super) fn stretches(
    word: &[TokenId],
    predicate: impl Fn(TokenId, TokenId) -> bool,
) -> impl Iterator<Item = &[TokenId]> {
    word.chunk_by(move |&left, &right| predicate(left, right)).filter(|stretch| stretch.len() > 1)
}

/// Iterates over the pretokens of a corpus.
pub(super) struct PretokenCursor<'a> {
    corpus: &'a Corpus,
    position: usize,
}

impl PretokenCursor<'_> {
    /// Replaces the contents of `word` with the tokens of the next pretoken.
    pub(super) fn next_into(&mut self, word: &mut Vec<TokenId>) {
        word.clear();
        while let Some(&id) = self.corpus.symbols.get(self.position).filter(|&&id| id != BORDER) {
            word.push(id);
            self.position += self.corpus.lengths[id as usize] as usize;
        }
        self.position += 1;
    }
}

/// Encodes text as base symbols.
pub(super) enum SymbolEncoder<'a> {
    Bytes(Box<[TokenId; 256]>),
    Chars(HashMap<char, TokenId>),
    Tokens(Box<Pretokens<'a>>),
}

impl SymbolEncoder<'_> {
    pub(super) fn new(base: &Base) -> SymbolEncoder<'_> {
        let number_from = |chars: &[char], from: usize| {
            SymbolEncoder::Chars(chars.iter().enumerate().map(|(i, &c)| (c, (from + i) as TokenId)).collect())
        };
        match base {
            Base::Bytes(order) => {
                let mut ids = Box::new([0; 256]);
                order.iter().enumerate().for_each(|(id, &byte)| ids[byte as usize] = id as TokenId);
                SymbolEncoder::Bytes(ids)
            }
            Base::Chars(chars) => number_from(chars, 0),
            Base::CharsAndBytes(chars) => number_from(chars, 256),
            Base::Tokens(tokenizer) => SymbolEncoder::Tokens(Box::new(tokenizer.pretokens())),
        }
    }

    /// Appends the symbols of a pretoken, with [`BORDER`] for characters that are not in the base.
    pub(super) fn append(
        &mut self,
        piece: &[u8],
        symbols: &mut Vec<TokenId>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match self {
            SymbolEncoder::Bytes(ids) => symbols.extend(piece.iter().map(|&byte| ids[byte as usize])),
            // A character outside the alphabet is never merged, like a border.
            SymbolEncoder::Chars(ids) => {
                symbols.extend(utf8(piece)?.chars().map(|c| ids.get(&c).copied().unwrap_or(BORDER)));
            }
            SymbolEncoder::Tokens(pretokens) => pretokens.append(piece, BORDER, symbols, interrupt)?,
        }
        Ok(())
    }
}

pub(super) fn utf8(piece: &[u8]) -> Result<&str> {
    std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })
}
