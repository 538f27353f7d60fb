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

/// Marks a place inside a token.
pub(super) const INSIDE: TokenId = TokenId::MAX - 1;

/// The order of the pretokens in the corpus.
pub(super) enum Order {
    /// In the order of first occurrence.
    FirstSeen,
    /// The most frequent first, which makes finding the count of a place fast.
    ByCount,
}

/// Symbols in one array.
///
/// A token made after the last compaction takes several places: the first and the last hold its id, those
/// between a mark. So both neighbours of a token are found from the lengths of tokens, without links, and a
/// merge writes four places.
#[derive(Default)]
pub(super) struct Corpus {
    places: Vec<TokenId>,
    /// The number of places of each token, by id.
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
    places: Vec<TokenId>,
    runs: WeightRuns,
    /// The number of tokens.
    tokens: usize,
}

impl CorpusBuilder {
    pub(super) fn new(tokens: usize) -> CorpusBuilder {
        CorpusBuilder { places: vec![BORDER], runs: WeightRuns::default(), tokens }
    }

    /// A builder with capacity for this many pretokens and places.
    pub(super) fn with_capacity(tokens: usize, places: usize, words: usize) -> Result<CorpusBuilder> {
        memory::check_available(places * size_of::<TokenId>() + words * size_of::<PretokenWeight>())?;
        let mut builder =
            CorpusBuilder { places: Vec::with_capacity(1 + places), ..CorpusBuilder::new(tokens) };
        builder.places.push(BORDER);
        builder.runs.reserve(words);
        Ok(builder)
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn push(&mut self, word: &[TokenId], count: u64) -> Result<()> {
        self.places.extend_from_slice(word);
        self.end(PretokenWeight::of(count))
    }

    /// Ends the current pretoken.
    fn end(&mut self, weight: PretokenWeight) -> Result<()> {
        self.places.push(BORDER);
        self.runs.push(weight, self.places.len());
        check_places(self.places.len())
    }

    /// Adds the pretokens of a part, and returns its length: the number of its symbols, without those
    /// outside the base.
    fn append(
        &mut self,
        part: &CorpusPart<'_>,
        symbols: &mut Symbols,
        interrupt: &dyn Interrupt,
    ) -> Result<u64> {
        let (mut length, mut pacer) = (0u64, Pacer::new(interrupt));
        for &(piece, count) in &part.pieces {
            let start = self.places.len();
            symbols.append(piece, &mut self.places, interrupt)?;
            pacer.after(1 + piece.len())?;
            let known = self.places[start..].iter().filter(|&&id| id != BORDER).count();
            length = length.saturating_add(count.saturating_mul(known as u64));
            if self.places.len() - start < 2 {
                self.places.truncate(start);
                continue;
            }
            self.end((part.weigh)(count))?;
        }
        Ok(length)
    }

    pub(super) fn finish(mut self) -> Corpus {
        self.runs.finish();
        Corpus { places: self.places, lengths: vec![1; self.tokens], runs: self.runs }
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
        let mut symbols = Symbols::new(base);
        let pieces = parts.iter().flat_map(|part| &part.pieces);
        let places = pieces.map(|(piece, _)| piece.len() + 1).sum::<usize>();
        if let Base::Bytes(_) = base {
            check_places(1 + places)?;
        }
        let mut words = CorpusBuilder::with_capacity(base.tokens().len(), places, 0)?;
        let lengths = parts.iter().map(|part| words.append(part, &mut symbols, interrupt));
        let lengths = lengths.collect::<Result<_>>()?;
        Ok((words.finish(), lengths))
    }

    /// The tokens by place, and the weights; only if nothing is merged yet.
    pub(super) fn into_parts(self) -> (Vec<TokenId>, WeightRuns) {
        (self.places, self.runs)
    }

    /// A cursor over the pretokens in their current form.
    pub(super) fn words(&self) -> PretokenCursor<'_> {
        PretokenCursor { corpus: self, at: 1 }
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of places of pretokens for whose weight `asked` returns true.
    pub(super) fn len_of(&self, asked: impl Fn(PretokenWeight) -> bool) -> usize {
        let runs = self.runs.iter().filter(|&(_, weight)| asked(weight));
        runs.map(|(places, _)| places.len()).sum()
    }

    /// Compacts the corpus: each symbol takes one place again, and pretokens of a single symbol are
    /// dropped. Visits each pair of neighbours with its count.
    pub(super) fn lay_out(
        &mut self,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(TokenId, TokenId, u64),
    ) -> Result<()> {
        let runs = std::mem::take(&mut self.runs);
        // The border at the very start stays.
        let (mut to, mut pacer) = (1, Pacer::new(interrupt));
        for (places, weight) in runs.iter() {
            let mut word = to;
            let mut at = places.start.max(1);
            while at < places.end {
                let id = self.places[at];
                if id != BORDER {
                    if to > word {
                        visit(self.places[to - 1], id, weight.count);
                    }
                    self.places[to] = id;
                    to += 1;
                    at += self.lengths[id as usize] as usize;
                    continue;
                }
                at += 1;
                pacer.after(1 + to - word)?;
                if to - word > 1 {
                    self.places[to] = BORDER;
                    to += 1;
                    word = to;
                }
                to = word;
            }
            if self.runs.end().max(1) < to {
                self.runs.push(weight, to);
            }
        }
        self.places.truncate(to);
        self.places.shrink_to(to);
        self.lengths.fill(1);
        self.runs.finish();
        Ok(())
    }

    /// Visits each pair of neighbours: its place, both tokens, and its weight. Only valid directly after a
    /// compaction.
    pub(super) fn for_each_pair(
        &self,
        interrupt: &dyn Interrupt,
        visit: impl FnMut(usize, TokenId, TokenId, PretokenWeight),
    ) -> Result<()> {
        self.for_each_pair_of(|_| true, interrupt, visit)
    }

    /// Like `for_each_pair`, for pretokens for whose weight `asked` returns true.
    pub(super) fn for_each_pair_of(
        &self,
        asked: impl Fn(PretokenWeight) -> bool,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(usize, TokenId, TokenId, PretokenWeight),
    ) -> Result<()> {
        let mut pacer = Pacer::new(interrupt);
        for (places, weight) in self.runs.iter().filter(|&(_, weight)| asked(weight)) {
            let mut start = places.start;
            while start < places.end {
                let end = places.end.min(start + CHECK_INTERVAL);
                // A run ends with a border, but a stretch of one may not.
                let mut left = self.places[start];
                let stretch = &self.places[start + 1..self.places.len().min(end + 1)];
                for (at, &right) in (start..).zip(stretch) {
                    if left != BORDER && right != BORDER {
                        visit(at, left, right, weight);
                    }
                    left = right;
                }
                pacer.after(end - std::mem::replace(&mut start, end))?;
            }
        }
        Ok(())
    }

    /// Prefetches a place.
    #[inline]
    pub(super) fn prefetch(&self, at: usize) {
        prefetch(&self.places[at]);
    }

    /// The weight of the pretoken at `at`.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> PretokenWeight {
        self.runs.weight(at)
    }

    /// Whether the pair of `left` and `right` is at `at`. Tokens only grow, so a pair that left a place
    /// does not return to it.
    #[inline]
    pub(super) fn has_pair(&self, at: usize, left: TokenId, right: TokenId) -> bool {
        self.places[at] == left && self.places[at + self.lengths[left as usize] as usize] == right
    }

    /// The token before the place where a token starts ([`BORDER`] if none), and its start.
    #[inline]
    pub(super) fn before(&self, at: usize) -> (TokenId, usize) {
        let id = self.places[at - 1];
        (id, if id == BORDER { at - 1 } else { at - self.lengths[id as usize] as usize })
    }

    /// The token after the one that starts at `at`; [`BORDER`] if none.
    #[inline]
    pub(super) fn after(&self, at: usize) -> TokenId {
        self.places[at + self.lengths[self.places[at] as usize] as usize]
    }

    /// Registers the token of `left` and `right`.
    pub(super) fn add_token(&mut self, left: TokenId, right: TokenId) -> TokenId {
        self.lengths.push(self.lengths[left as usize] + self.lengths[right as usize]);
        (self.lengths.len() - 1) as TokenId
    }

    /// Registers a token that takes one place.
    pub(super) fn add_symbol(&mut self) {
        self.lengths.push(1);
    }

    /// Writes a token of one place over a border.
    #[inline]
    pub(super) fn put(&mut self, at: usize, id: TokenId) {
        self.places[at] = id;
    }

    /// Writes token `id` over the pair of `left` and `right` at `at`.
    #[inline]
    pub(super) fn merge(&mut self, at: usize, left: TokenId, right: TokenId, id: TokenId) {
        let middle = at + self.lengths[left as usize] as usize;
        let end = middle + self.lengths[right as usize] as usize;
        // The marks come first: where a part has one place, that place is an end of the token.
        self.places[middle - 1] = INSIDE;
        self.places[middle] = INSIDE;
        self.places[at] = id;
        self.places[end - 1] = id;
    }
}

/// Fails if the places cannot be numbered with the 32 bits of a posting.
fn check_places(places: usize) -> Result<()> {
    match places > u32::MAX as usize {
        false => Ok(()),
        true => Err(Error::Limit {
            reason: "the distinct pretokens have more than 2^32 symbols together. Use a pretokenizer that cuts the text, less text, or a limit of memory.".into(),
        }),
    }
}

/// The maximal stretches of two or more symbols in which `wanted` holds for all neighbours.
pub(super) fn stretches(
    word: &[TokenId],
    wanted: impl Fn(TokenId, TokenId) -> bool,
) -> impl Iterator<Item = &[TokenId]> {
    word.chunk_by(move |&left, &right| wanted(left, right)).filter(|stretch| stretch.len() > 1)
}

/// Iterates over the pretokens of a corpus.
pub(super) struct PretokenCursor<'a> {
    corpus: &'a Corpus,
    at: usize,
}

impl PretokenCursor<'_> {
    /// Replaces the contents of `word` with the tokens of the next pretoken.
    pub(super) fn next_into(&mut self, word: &mut Vec<TokenId>) {
        word.clear();
        while let Some(&id) = self.corpus.places.get(self.at).filter(|&&id| id != BORDER) {
            word.push(id);
            self.at += self.corpus.lengths[id as usize] as usize;
        }
        self.at += 1;
    }
}

/// From text to base symbols.
pub(super) enum Symbols<'a> {
    Bytes(Box<[TokenId; 256]>),
    Chars(HashMap<char, TokenId>),
    Tokens(Box<Pretokens<'a>>),
}

impl Symbols<'_> {
    pub(super) fn new(base: &Base) -> Symbols<'_> {
        let number = |chars: &[char], from: usize| {
            Symbols::Chars(chars.iter().enumerate().map(|(i, &c)| (c, (from + i) as TokenId)).collect())
        };
        match base {
            Base::Bytes(order) => {
                let mut ids = Box::new([0; 256]);
                order.iter().enumerate().for_each(|(id, &byte)| ids[byte as usize] = id as TokenId);
                Symbols::Bytes(ids)
            }
            Base::Chars(chars) => number(chars, 0),
            Base::CharsAndBytes(chars) => number(chars, 256),
            Base::Tokens(tokenizer) => Symbols::Tokens(Box::new(tokenizer.pretokens())),
        }
    }

    /// Appends the symbols of a pretoken, with [`BORDER`] for characters that are not in the base.
    pub(super) fn append(
        &mut self,
        piece: &[u8],
        places: &mut Vec<TokenId>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match self {
            Symbols::Bytes(ids) => places.extend(piece.iter().map(|&byte| ids[byte as usize])),
            // A character outside the alphabet is never merged, like a border.
            Symbols::Chars(ids) => {
                places.extend(utf8(piece)?.chars().map(|c| ids.get(&c).copied().unwrap_or(BORDER)));
            }
            Symbols::Tokens(pretokens) => pretokens.append(piece, BORDER, places, interrupt)?,
        }
        Ok(())
    }
}

pub(super) fn utf8(piece: &[u8]) -> Result<&str> {
    std::str::from_utf8(piece).map_err(|error| Error::InvalidUtf8 { offset: error.valid_up_to() })
}
