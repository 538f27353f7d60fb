//! Words that join: the merges of words are done when those that join them begin.
//!
//! In training both kinds take turns, by their counts. Encoding need not: a word takes part in a
//! joining merge only once it is a single token, and such a merge has a higher rank than all those
//! that made its parts. So merging each word for itself, and what became single tokens afterwards,
//! gives what all merges in the order of their ranks give.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::merges::{Merge, Merges, Rank};
use crate::model::Model;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::vocabulary::TokenId;
use crate::watch::{Unwatched, Watch};

use super::short::{self, SHORT};
use super::{Encoder, Scratch, Sink, Unit, long};

/// An encoder of words, and what joins them.
pub(super) struct Superwords {
    words: Encoder,
    cut: Arc<Pretokenizer>,
    /// The merges that join words.
    merges: Merges,
    /// Whether a token is part of one of those, by id.
    joins: Vec<bool>,
}

impl Superwords {
    /// Sorts the merges of a model: those of the given ranks join words.
    pub(super) fn new(
        model: &Model,
        unit: Unit,
        cut: Arc<Pretokenizer>,
        ranks: &[Rank],
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Superwords> {
        let all = model.merges.in_order();
        let is_rising = ranks.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_rising || ranks.last().is_some_and(|&rank| rank as usize >= all.len()) {
            let reason = "the ranks of the merges that join words are not those of merges, in rising order.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let (mut joining, mut inner) = (Vec::with_capacity(ranks.len()), Vec::with_capacity(all.len()));
        for (rank, merge) in all.iter().enumerate() {
            let is_joining = ranks.binary_search(&(rank as Rank)).is_ok();
            if is_joining { &mut joining } else { &mut inner }.push(*merge);
        }
        let mut joins = vec![false; model.vocabulary.size()];
        for Merge { left, right, .. } in &joining {
            (joins[*left as usize], joins[*right as usize]) = (true, true);
        }
        let merges = Merges::new(joining, &model.vocabulary)?;
        let inner = Arc::new(Merges::new(inner, &model.vocabulary)?);
        let model = Model { vocabulary: model.vocabulary.clone(), merges: inner, known: None };
        let words = Encoder::new(model, unit, false, None, ordinary)?;
        Ok(Superwords { words, cut, merges, joins })
    }

    /// The tokens that neither a word nor words that join become, in rising order.
    pub(super) fn unreachable(&self) -> Result<Vec<TokenId>> {
        let joining = self.merges.in_order();
        let parts: HashMap<_, _> =
            joining.iter().map(|merge| (merge.id, (merge.left, merge.right))).collect();
        let mut made: Vec<TokenId> = joining.iter().map(|merge| merge.id).collect();
        made.sort_unstable();
        // A word that no merge of words makes may be one that words become.
        let mut unreachable: Vec<TokenId> =
            self.words.unreachable.iter().copied().filter(|id| made.binary_search(id).is_err()).collect();
        let is_reached = |id: TokenId| self.words.unreachable.binary_search(&id).is_err();
        let (mut scratch, mut ids) = (Scratch::new(), Vec::new());
        for &id in &made {
            let (mut run, mut left) = (Vec::new(), vec![id]);
            while let Some(id) = left.pop() {
                match parts.get(&id) {
                    Some(&(first, second)) if !is_reached(id) => left.extend([second, first]),
                    _ => run.push(id),
                }
            }
            ids.clear();
            let are_words = run.iter().all(|&id| is_reached(id));
            self.join(&mut run, &mut scratch, &Unwatched, &mut ids)?;
            if !are_words || ids != [id] {
                unreachable.push(id);
            }
        }
        unreachable.sort_unstable();
        Ok(unreachable)
    }

    /// Emits the ids of pretokens that stand one after the other in `text`, from `start`, each up to
    /// one of `ends`.
    pub(super) fn encode(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        ends.iter().try_for_each(|&end| {
            let from = std::mem::replace(&mut start, end);
            scratch
                .with_list(|scratch, run| self.encode_pretoken(&text[from..end], run, scratch, watch, sink))
                .map_err(|error| error.shifted(from))
        })
    }

    /// The ids of a pretoken; `run` is an empty list.
    fn encode_pretoken(
        &self,
        pretoken: &[u8],
        run: &mut Vec<TokenId>,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.cut.for_many(pretoken, 0, GoesOn::No, watch, |mut start, ends| {
            ends.iter().try_for_each(|&end| {
                let from = std::mem::replace(&mut start, end);
                let word = self.words.whole.get_in(pretoken, from, end);
                if let Some(id) = word.filter(|&id| self.joins[id as usize]) {
                    run.push(id);
                    return Ok(());
                }
                self.join(run, scratch, watch, sink)?;
                match word {
                    Some(id) => sink.one(id),
                    None => self.words.encode(pretoken, from, &[end], scratch, watch, sink)?,
                }
                Ok(())
            })
        })?;
        self.join(run, scratch, watch, sink)
    }

    /// Joins words that stand side by side, and empties the list of them.
    fn join(
        &self,
        run: &mut Vec<TokenId>,
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let symbols = || run.iter().copied();
        match run.len() {
            0 => {}
            1 => sink.one(run[0]),
            2..=16 => short::merge::<16>(symbols(), &self.merges, self.words.way, sink),
            17..=SHORT => short::merge::<SHORT>(symbols(), &self.merges, self.words.way, sink),
            _ => {
                let vocabulary = &*self.words.vocabulary;
                let with_lengths = symbols().map(|id| (id, vocabulary.len_of(id)));
                let len = with_lengths.clone().map(|(_, len)| len).sum();
                long::merge(with_lengths, len, &self.merges, vocabulary, &mut scratch.long, watch, sink)?;
            }
        }
        run.clear();
        Ok(())
    }
}
