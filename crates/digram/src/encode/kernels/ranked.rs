//! Merging by rank: the lowest rank first, of equal ranks the leftmost.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::merges::{Merge, Merges, Rank};
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::safe_splits::SafeSplits;
use super::super::symbols::{Join, Symbol, SymbolRun, Symbols, Unit};
use super::super::{Context, Sink};
use super::dropout::{self, DropoutChoices};
use super::first_merges::{FirstMerges, NO_MERGE};
use super::lockstep::Lockstep;
use super::short::{self, SHORT};
use super::{long, reach};

/// Merges that are applied by their ranks.
#[derive(Clone)]
pub(in crate::encode) struct Ranked {
    symbols: Arc<Symbols>,
    merges: Arc<Merges>,
    vocabulary: Arc<Vocabulary>,
    /// The merges that words start with, if the symbols are bytes and there are not too many merges.
    first_merges: Option<Arc<FirstMerges>>,
    simd: SimdLevel,
}

impl Ranked {
    /// Merges of these symbols. `splits` are the places that no token spans, if they are known.
    pub(in crate::encode) fn new(
        symbols: Arc<Symbols>,
        merges: Arc<Merges>,
        vocabulary: Arc<Vocabulary>,
        splits: Option<&SafeSplits>,
    ) -> Ranked {
        let first_merges = match symbols.unit() {
            // The highest rank stands for no merge there.
            _ if merges.in_order().len() > NO_MERGE as usize => None,
            Unit::Byte { ids } => {
                let beside = splits.map(SafeSplits::beside);
                Some(FirstMerges::new(ids, &merges, &vocabulary, beside))
            }
            Unit::Char { .. } => {
                let all = merges.in_order().iter().enumerate().map(|(rank, &merge)| (rank as Rank, merge));
                first_merges_of(&symbols, all, merges.is_rising(), &vocabulary)
            }
        };
        Ranked {
            symbols,
            merges,
            vocabulary,
            first_merges: first_merges.map(Arc::new),
            simd: SimdLevel::best(),
        }
    }

    /// Several pairs of `merges` may have one rank, if they make one token: `all` are the merges and these pairs, each
    /// with its rank. `None` if words cannot be merged in lockstep. Only pieces of up to [`SHORT`] bytes can be encoded.
    pub(super) fn of_ties(
        symbols: &Arc<Symbols>,
        merges: Merges,
        all: impl Iterator<Item = (Rank, Merge)> + Clone,
        vocabulary: &Arc<Vocabulary>,
    ) -> Option<Ranked> {
        let first_merges = first_merges_of(symbols, all, merges.is_rising(), vocabulary)?;
        Some(Ranked {
            symbols: symbols.clone(),
            merges: Arc::new(merges),
            vocabulary: vocabulary.clone(),
            first_merges: Some(Arc::new(first_merges)),
            simd: SimdLevel::best(),
        })
    }

    /// For each id, whether the bytes of its token encode to it; `None` if the merges alone do not
    /// determine that.
    pub(in crate::encode) fn reached(&self) -> Option<Vec<bool>> {
        reach::reached(self.vocabulary.size(), &self.merges, self.symbols.base())
    }

    /// Whether it can merge words in lockstep.
    #[inline]
    pub(super) fn merges_words(&self) -> bool {
        self.first_merges.is_some()
    }

    /// Whether a word can be merged in lockstep: one that is not UTF-8 has no symbols if these are characters.
    #[inline]
    pub(in crate::encode) fn has_symbols(&self, word: &[u8]) -> bool {
        self.first_merges.as_ref().is_some_and(|first_merges| first_merges.has_symbols(word))
    }

    /// Prefetches what is read for every pair of symbols of words that are merged in lockstep.
    #[cold]
    pub(in crate::encode) fn prefetch_filter(&self) {
        self.merges.prefetch_filter();
    }

    /// Merges up to [`WORDS`](super::lockstep::WORDS) words of up to `LEN` bytes in lockstep, which consist of symbols.
    #[inline]
    pub(in crate::encode) fn merge_words<'a, const LEN: usize>(
        &self,
        words: impl Iterator<Item = &'a [u8]>,
        lockstep: &mut Lockstep<LEN>,
    ) {
        let Some(first_merges) = &self.first_merges else { return };
        lockstep.start(words, first_merges, &self.merges, self.simd);
        lockstep.merge(&self.merges, self.simd);
    }

    /// Emits the ids of a piece of text.
    #[inline]
    pub(in crate::encode) fn encode(
        &self,
        piece: &[u8],
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let interrupt = context.interrupt;
        let mut join = RankJoin { ranked: self, scratch: &mut context.scratch.long, interrupt };
        self.symbols.join(piece, &mut join, interrupt, sink)
    }

    /// Emits the ids of a pretoken with some merges left out. Nothing is looked up, since the encoding of a
    /// pretoken is random here.
    pub(in crate::encode) fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        choices: &mut DropoutChoices,
        scratch: &mut dropout::DropoutScratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut join = DropoutJoin { merges: &self.merges, choices, scratch, interrupt };
        self.symbols.join(pretoken, &mut join, interrupt, sink)
    }
}

/// The merges that words of characters start with; `None` if such words cannot be merged in lockstep.
fn first_merges_of(
    symbols: &Symbols,
    all: impl Iterator<Item = (Rank, Merge)> + Clone,
    are_rising: bool,
    vocabulary: &Vocabulary,
) -> Option<FirstMerges> {
    let (ids, byte_ids) = symbols.character_ids()?;
    // No merge may join the bytes that stand for a character without a token.
    let of_bytes: HashSet<TokenId> = byte_ids.iter().copied().collect();
    let joins_bytes =
        all.clone().any(|(_, merge)| of_bytes.contains(&merge.left) || of_bytes.contains(&merge.right));
    (!joins_bytes).then(|| FirstMerges::of_characters(ids, byte_ids, all, are_rising, vocabulary))
}

struct RankJoin<'a> {
    ranked: &'a Ranked,
    scratch: &'a mut long::LongScratch,
    interrupt: &'a dyn Interrupt,
}

impl Join for RankJoin<'_> {
    #[inline]
    fn join(&mut self, run: SymbolRun<impl Iterator<Item = Symbol>>, sink: &mut impl Sink) -> Result<()> {
        let Ranked { merges, vocabulary, simd, .. } = self.ranked;
        if run.len <= SHORT {
            sink.reserve(run.len)?;
            short::merge(run.symbols.map(|(id, _)| id), run.len, merges, *simd, sink);
            return Ok(());
        }
        long::merge(run, merges, vocabulary, self.scratch, self.interrupt, sink)
    }
}

struct DropoutJoin<'a> {
    merges: &'a Merges,
    choices: &'a mut DropoutChoices,
    scratch: &'a mut dropout::DropoutScratch,
    interrupt: &'a dyn Interrupt,
}

impl Join for DropoutJoin<'_> {
    fn join(&mut self, run: SymbolRun<impl Iterator<Item = Symbol>>, sink: &mut impl Sink) -> Result<()> {
        let ids = run.symbols.map(|(id, _)| id);
        dropout::merge(ids, self.merges, self.choices, self.scratch, self.interrupt, sink)
    }
}
