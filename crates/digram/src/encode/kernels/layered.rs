//! Merging in two layers: all merges of the lower layer are applied before those of the upper layer.
//!
//! Superwords ([`Algorithm::Superwords`](super::Algorithm)) are defined this way. In training both kinds of
//! merges alternate, by their counts. Encoding need not alternate: a word takes part in a joining merge
//! only once it is a single token, and such a merge has a higher rank than all merges that made its parts.
//!
//! If merges are applied by rank alone, their list may be split at any rank, since low ranks are merged
//! before high ones. This pays off if the first merges stay inside words and later ones cross word
//! boundaries, as in SuperBPE: a line of text falls into words, most of which are looked up, and few
//! neighbours that join. Merging the bytes of whole lines by all ranks took five times as long. If the
//! pretokenizer keeps words apart, as the published ones do, no layer is built, since it would only bypass
//! the cache of pretokens.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::bits::{BitFilter, pair_hash};
use crate::cpu::SimdLevel;
use crate::error::{Error, Result};
use crate::interrupt::{Never, Pacer};
use crate::memory;
use crate::merges::{Merge, Merges, Rank};
use crate::model::Model;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::build::Ordinary;
use super::super::lookup::Group;
use super::super::symbols::{SymbolRun, Symbols};
use super::super::text_slice::TextSlice;
use super::super::{Context, Encoder, Scratch, Sink};
use super::long;
use super::short::{self, SHORT};

/// A layer is not built if fewer merges than this precede the first one that crosses a word boundary.
const MIN_LOWER_MERGES: usize = 1 << 8;

/// An encoder of the lower merges, and the upper ones.
pub(in crate::encode) struct Layered {
    lower: Encoder,
    vocabulary: Arc<Vocabulary>,
    simd: SimdLevel,
    /// Splits a pretoken into words, for superwords.
    words: Option<Arc<Pretokenizer>>,
    upper: Merges,
    beside: Beside,
}

impl Layered {
    /// For superwords: the merges of these ranks join words.
    pub(in crate::encode) fn of_words(
        model: &Model,
        symbols: &Arc<Symbols>,
        words: Arc<Pretokenizer>,
        ranks: &[Rank],
        ordinary: Ordinary<'_>,
    ) -> Result<Layered> {
        let all = model.merges.in_order();
        let is_rising = ranks.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_rising || ranks.last().is_some_and(|&rank| rank as usize >= all.len()) {
            let reason = "the ranks of the merges that join words are not those of merges, in rising order.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let is_upper = |rank: usize| ranks.binary_search(&(rank as Rank)).is_ok();
        Layered::new(model, symbols, Some(words), is_upper, ordinary)
    }

    /// Gives the same ids as merging by rank alone, for pretokenizers whose pretokens contain several
    /// words.
    pub(in crate::encode) fn by_rank(
        model: &Model,
        symbols: &Arc<Symbols>,
        pretokenizer: &Pretokenizer,
        ordinary: Ordinary<'_>,
    ) -> Result<Option<Layered>> {
        if !pretokenizer.joins_words() {
            return Ok(None);
        }
        let first = first_over_borders(&model.vocabulary, model.merges.in_order());
        let Some(first) = first.filter(|&rank| rank >= MIN_LOWER_MERGES && model.merges.is_rising()) else {
            return Ok(None);
        };
        Layered::new(model, symbols, None, |rank| rank >= first, ordinary).map(Some)
    }

    fn new(
        model: &Model,
        symbols: &Arc<Symbols>,
        words: Option<Arc<Pretokenizer>>,
        is_upper: impl Fn(usize) -> bool,
        ordinary: Ordinary<'_>,
    ) -> Result<Layered> {
        let all = model.merges.in_order();
        let (mut upper, mut lower) = (Vec::new(), Vec::with_capacity(all.len()));
        for (rank, merge) in all.iter().enumerate() {
            if is_upper(rank) { &mut upper } else { &mut lower }.push(*merge);
        }
        let beside = Beside::new(&upper, &lower);
        let upper = Merges::new(upper, &model.vocabulary)?;
        let lower = Arc::new(Merges::new(lower, &model.vocabulary)?);
        let vocabulary = model.vocabulary.clone();
        let model = Model { vocabulary: vocabulary.clone(), merges: lower, known: None };
        let lower = Encoder::by_rank(model, symbols.clone(), None, false, ordinary)?;
        Ok(Layered { lower, vocabulary, simd: SimdLevel::best(), words, upper, beside })
    }

    /// The tokens that neither a word nor joined words become, in rising order.
    pub(in crate::encode) fn unreachable(&self) -> Result<Vec<TokenId>> {
        let parts: HashMap<TokenId, (TokenId, TokenId)> =
            self.upper.in_order().iter().map(|merge| (merge.id, (merge.left, merge.right))).collect();
        let is_word = |id: TokenId| self.lower.unreachable().binary_search(&id).is_err();
        let mut unreachable = Vec::new();
        let (mut scratch, mut ids) = (Scratch::new(), Vec::new());
        for &id in self.lower.unreachable() {
            let (mut run, mut left) = (Vec::new(), vec![id]);
            while let Some(id) = left.pop() {
                match parts.get(&id) {
                    Some(&(first, second)) if !is_word(id) => left.extend([second, first]),
                    _ => run.push(id),
                }
            }
            ids.clear();
            let are_words = run.iter().all(|&id| is_word(id));
            self.join(&mut run, &mut Context { scratch: &mut scratch, interrupt: &Never }, &mut ids)?;
            if !are_words || ids != [id] {
                unreachable.push(id);
            }
        }
        Ok(unreachable)
    }

    /// Emits the ids of a pretoken. Offsets in errors are relative to the pretoken. The group of the scratch
    /// memory is not changed.
    pub(super) fn encode(
        &self,
        pretoken: TextSlice<'_>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        context.with_list(|context, run| match &self.words {
            Some(words) => self.encode_words(words, pretoken.bytes(), run, context, sink),
            None => context.with_list(|context, ids| {
                self.lower.lookup.encode_in_pieces(pretoken, context, ids)?;
                let mut pacer = Pacer::new(context.interrupt);
                ids.iter().try_for_each(|&id| {
                    pacer.after(1)?;
                    self.put(id, run, context, sink)
                })?;
                self.join(run, context, sink)
            }),
        })
    }

    /// The ids of a pretoken that is split into words; `run` is an empty list.
    fn encode_words(
        &self,
        words: &Pretokenizer,
        pretoken: &[u8],
        run: &mut Vec<TokenId>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        words.for_many(pretoken, 0, GoesOn::No, context.interrupt, |start, ends| {
            self.put_words(Group::new(pretoken, start, ends), run, context, sink)
        })?;
        self.join(run, context, sink)
    }

    /// Adds consecutive words of a pretoken.
    #[inline]
    fn put_words(
        &self,
        words: Group<'_>,
        run: &mut Vec<TokenId>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        words.pretokens().try_for_each(|word| match self.lower.lookup.whole(word) {
            Some(id) => self.put(id, run, context, sink),
            None => {
                self.join(run, context, sink)?;
                let encoded = self.lower.lookup.encode_alone(word, context, sink);
                encoded.map_err(|error| error.shifted(word.start))
            }
        })
    }

    /// Adds the next token to the run. If it cannot join the last one, the run is joined and emitted
    /// before.
    #[inline]
    fn put(
        &self,
        id: TokenId,
        run: &mut Vec<TokenId>,
        context: &mut Context<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if run.last().is_some_and(|&last| !self.beside.may_be(last, id)) {
            self.join(run, context, sink)?;
        }
        memory::try_reserve(run, 1)?;
        run.push(id);
        Ok(())
    }

    /// Applies the upper merges to the run, emits the result, and clears the run.
    #[inline]
    fn join(&self, run: &mut Vec<TokenId>, context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        let symbols = run.iter().copied();
        match run.len() {
            0 => {}
            1 => {
                sink.reserve(1)?;
                sink.push_id(run[0]);
            }
            count @ 2..=SHORT => {
                sink.reserve(count)?;
                short::merge(symbols, count, &self.upper, self.simd, sink);
            }
            _ => {
                let vocabulary = &*self.vocabulary;
                let symbols = symbols.map(|id| (id, vocabulary.len_of(id)));
                let len = symbols.clone().map(|(_, len)| len).sum();
                let (long, interrupt) = (&mut context.scratch.long, context.interrupt);
                long::merge(SymbolRun { symbols, len }, &self.upper, vocabulary, long, interrupt, sink)?;
            }
        }
        run.clear();
        Ok(())
    }
}

/// The rank of the first merge that joins the end of a word with the following space.
fn first_over_borders(vocabulary: &Vocabulary, merges: &[Merge]) -> Option<usize> {
    let token = |id| vocabulary.get(id).unwrap_or_default();
    let ends_a_word = |token: &[u8]| match bstr::decode_last_utf8(token) {
        (Some(c), _) => !c.is_whitespace(),
        (None, len) => len > 0,
    };
    merges
        .iter()
        .position(|merge| token(merge.right).first() == Some(&b' ') && ends_a_word(token(merge.left)))
}

/// The pairs of lower tokens that are neighbours in some upper token, as a hashed set: a false positive
/// costs time and changes no result.
struct Beside {
    pairs: Option<BitFilter>,
}

impl Beside {
    fn new(upper: &[Merge], lower: &[Merge]) -> Beside {
        let below: HashSet<TokenId> = lower.iter().map(|merge| merge.id).collect();
        // The first and the last lower token of each upper token.
        let mut ends: HashMap<TokenId, (TokenId, TokenId)> = HashMap::new();
        let mut pairs = Vec::with_capacity(upper.len());
        for &Merge { left, right, id } in upper {
            let (first, before) = ends.get(&left).copied().unwrap_or((left, left));
            let (after, last) = ends.get(&right).copied().unwrap_or((right, right));
            pairs.push(hash(before, after));
            // A token that is made in two ways may have two first and last tokens.
            if below.contains(&id) || ends.insert(id, (first, last)).is_some() {
                return Beside { pairs: None };
            }
        }
        Beside { pairs: Some(BitFilter::of(pairs, 16)) }
    }

    #[inline]
    fn may_be(&self, left: TokenId, right: TokenId) -> bool {
        self.pairs.as_ref().is_none_or(|pairs| pairs.may_contain(hash(left, right)))
    }
}

#[inline]
fn hash(left: TokenId, right: TokenId) -> u64 {
    pair_hash(left, right)
}

#[cfg(test)]
mod tests {
    use super::super::super::Affixes;
    use super::super::super::Unit;
    use super::super::naive;
    use super::*;

    /// Merges over three bytes, each of which makes a token that is not there yet.
    fn random_merges(next: &mut impl FnMut(usize) -> usize) -> (Vec<Vec<u8>>, Vec<Merge>) {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        let mut parts: Vec<TokenId> = b"ab ".iter().map(|&byte| byte.into()).collect();
        let mut merges = Vec::new();
        for _ in 0..60 {
            let (left, right) = (parts[next(parts.len())], parts[next(parts.len())]);
            let token = [&tokens[left as usize][..], &tokens[right as usize]].concat();
            if token.len() <= 12 && !tokens.contains(&token) {
                let id = tokens.len() as TokenId;
                merges.push(Merge { left, right, id });
                tokens.push(token);
                parts.push(id);
            }
        }
        (tokens, merges)
    }

    #[test]
    fn a_list_of_merges_may_be_cut_anywhere() {
        let mut next = naive::random();
        let mut joined = 0;
        for _ in 0..60 {
            let (tokens, merges) = random_merges(&mut next);
            let ids = Box::new(std::array::from_fn(|byte| byte as TokenId));
            let vocabulary = Vocabulary::new(tokens.into_iter().map(Some)).unwrap();
            let model = Model::new(vocabulary, merges.clone()).unwrap();
            let first = next(merges.len() + 1);
            let unit = Unit::Byte { ids };
            let symbols = Arc::new(Symbols::new(unit, &Affixes::NONE, &model.vocabulary, |_| true).unwrap());
            let layers = Layered::new(&model, &symbols, None, |rank| rank >= first, &|_| true).unwrap();
            let mut scratch = Scratch::new();
            for _ in 0..40 {
                // Also texts that are long enough for the kernel of long runs.
                let maximum = [12, 60, 300][next(3)];
                let len = 1 + next(maximum);
                let text: Vec<u8> = (0..len).map(|_| b"ab "[next(3)]).collect();
                let expected = naive::merge(text.iter().map(|&byte| byte.into()).collect(), &merges);
                let mut ids = Vec::new();
                let context = &mut Context { scratch: &mut scratch, interrupt: &Never };
                layers.encode(TextSlice::all(&text), context, &mut ids).unwrap();
                assert_eq!(ids, expected, "{text:?}, cut at {first} of {merges:?}");
                joined += usize::from(ids.iter().any(|&id| id as usize >= 256 + first));
            }
        }
        assert!(joined > 500, "{joined} texts had tokens of the upper layer");
    }
}
