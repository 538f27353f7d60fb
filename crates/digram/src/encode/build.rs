//! Building an encoder from a model, including which tokens text can become.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::events::Event;
use crate::index::TokenIndex;
use crate::interrupt::{Interrupt, Never};
use crate::model::{Known, Model};
use crate::pretokenize::Pretokenizer;
use crate::vocabulary::{TokenId, Vocabulary};

use super::kernels::Kernel;
use super::kernels::events::ByEvents;
use super::kernels::fewest::Fewest;
use super::kernels::greedy::Greedy;
use super::kernels::layered::Layered;
use super::kernels::ranked::Ranked;
use super::kernels::score_ranks::ScoreRanks;
use super::kernels::scored::Scored;
use super::kernels::viterbi::Viterbi;
use super::kernels::word_level::WordLevel;
use super::kernels::wordpiece::WordPiece;
use super::lookup::{Lookup, Sums};
use super::safe_splits::SafeSplits;
use super::symbols::Symbols;
use super::text_slice::TextSlice;
use super::{Affixes, Algorithm, Context, Encoder, Names, OnUnknown, Scratch, Unit};

/// Which tokens text can become: special tokens and the bytes of a fallback are not among them.
pub(super) type Ordinary<'a> = &'a dyn Fn(TokenId) -> bool;

impl Encoder {
    /// An encoder for the pretokens that `pretokenizer` produces.
    pub(crate) fn new(
        model: Model,
        unit: Unit,
        pretokenizer: &Pretokenizer,
        algorithm: Algorithm,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Encoder> {
        let ordinary: Ordinary<'_> = &ordinary;
        let affixes = match &algorithm {
            Algorithm::Ranked { affixes, .. } => affixes.clone(),
            _ => Affixes::NONE,
        };
        let mut symbols = Symbols::new(unit, &affixes, &model.vocabulary, ordinary)?;
        if matches!(algorithm, Algorithm::Ranked { fuses_unknown: true, .. }) {
            symbols.fuse_unknown();
        }
        let symbols = Arc::new(symbols);
        let cuts_characters = pretokenizer.cuts_characters();
        if cuts_characters && (!symbols.are_bytes() || matches!(algorithm, Algorithm::Superwords { .. })) {
            let reason =
                "pretokens that end inside characters need bytes as units, and have no words in them.";
            return Err(Error::Vocabulary { reason: reason.into() });
        }
        let encoder = match algorithm {
            Algorithm::Ranked { ignore_merges, affixes, .. } => {
                // A run of unknown characters may reach over words.
                let has_words = symbols.unknown_run().is_none() && !cuts_characters;
                let layered = match has_words && affixes == Affixes::NONE {
                    true => Layered::by_rank(&model, &symbols, pretokenizer, ordinary)?,
                    false => None,
                };
                let layered = layered.map(|layered| Kernel::Layered(Box::new(layered)));
                match ignore_merges && affixes != Affixes::NONE {
                    true => Encoder::by_names(model, symbols, &affixes, ordinary),
                    false => Encoder::by_rank(model, symbols, layered, ignore_merges, ordinary),
                }
            }
            Algorithm::Superwords { words, ranks } => {
                let layered = Layered::of_words(&model, &symbols, words, &ranks, ordinary)?;
                let unreachable = layered.unreachable()?;
                let kernel = Kernel::Layered(Box::new(layered));
                // The words inside a pretoken determine its ids, so no pretoken is looked up whole.
                let lookup = Lookup::new(Arc::new(TokenIndex::new(&[])), None, None, kernel);
                Ok(Encoder::of(model, symbols, unreachable.into(), false, None, lookup))
            }
            Algorithm::Events(_) if !model.merges.in_order().is_empty() => {
                let reason = "with events there must be no merges.";
                Err(Error::Vocabulary { reason: reason.into() })
            }
            Algorithm::WordPiece(_) | Algorithm::WordLevel { .. } | Algorithm::Greedy
                if !model.merges.in_order().is_empty() =>
            {
                let reason = "only BPE has merges.";
                Err(Error::Vocabulary { reason: reason.into() })
            }
            // The first token depends on all that follows, so no pretoken is split.
            Algorithm::Fewest => {
                let kernel = Fewest::new(symbols.clone(), &model.vocabulary, ordinary)?;
                Encoder::of_kernel(model, symbols, Kernel::Fewest(Box::new(kernel)), None, ordinary)
            }
            // The end of a match depends on all that precedes it, so no pretoken is split.
            Algorithm::WordPiece(rules) => {
                let kernel = WordPiece::new(rules, symbols.unit(), &model.vocabulary, ordinary)?;
                Encoder::of_kernel(model, symbols, Kernel::WordPiece(Box::new(kernel)), None, ordinary)
            }
            Algorithm::WordLevel { splits } => {
                let kernel = WordLevel::new(splits, symbols.unit(), &model.vocabulary, ordinary)?;
                Encoder::of_kernel(model, symbols, Kernel::WordLevel(Box::new(kernel)), None, ordinary)
            }
            Algorithm::Greedy => {
                let kernel = Greedy::new(symbols.unit(), &model.vocabulary, ordinary)?;
                Encoder::of_kernel(model, symbols, Kernel::Greedy(Box::new(kernel)), None, ordinary)
            }
            Algorithm::Events(events) => Encoder::by_events(model, symbols, &events, ordinary),
            Algorithm::Unigram(_) | Algorithm::Scored { .. }
                if symbols.are_bytes() || !model.merges.in_order().is_empty() =>
            {
                let reason = "with scores the units are characters, and there are no merges.";
                Err(Error::Vocabulary { reason: reason.into() })
            }
            Algorithm::Unigram(scores) => {
                let viterbi = Viterbi::new(&scores, symbols.clone(), &model.vocabulary, ordinary)?;
                let spelled = scores.spelled.iter().map(|one| &one.text[..]);
                let splits =
                    SafeSplits::of_tokens(model.vocabulary.iter().map(|(_, bytes)| bytes).chain(spelled));
                let tokens: Vec<_> = model.vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
                let parts = Sums { splits, tokens: viterbi.certain_tokens(&tokens)? };
                let kernel = Kernel::Viterbi(Box::new(viterbi));
                let encoder = Encoder::of_kernel(model, symbols, kernel, None, ordinary)?;
                Ok(Encoder { lookup: encoder.lookup.with_sums(parts), ..encoder })
            }
            Algorithm::Scored { scores, unused } => {
                let scored = Scored::new(&scores, &unused, symbols.clone(), &model.vocabulary, ordinary)?;
                let splits = scored.splits(&scores, &model.vocabulary);
                let kernel = match unused.is_empty() {
                    true => ScoreRanks::kernel(scored, &scores, &symbols, &model.vocabulary, ordinary)?,
                    false => Kernel::Scored(Box::new(scored)),
                };
                Encoder::of_kernel(model, symbols, kernel, splits, ordinary)
            }
        };
        let mut encoder = encoder?;
        if let Unit::Char { on_unknown: OnUnknown::Token(id) } = encoder.symbols.unit() {
            let id = *id;
            let uses = |merge: &crate::merges::Merge| merge.left == id || merge.right == id;
            if encoder.merges.in_order().iter().any(uses) {
                // Other programs would merge unknown characters too.
                let reason = format!("the token {id} of unknown characters is a part of a merge.");
                return Err(Error::Vocabulary { reason });
            }
            if encoder.vocabulary.get(id).is_some() && ordinary(id) {
                encoder.ordinary_unknown.insert(id);
            }
        }
        if cuts_characters {
            encoder.lookup.look_up_whole();
        }
        Ok(encoder)
    }

    /// An encoder that applies merges by rank alone; `kernel` is an alternative implementation of that.
    pub(super) fn by_rank(
        model: Model,
        symbols: Arc<Symbols>,
        kernel: Option<Kernel>,
        ignore_merges: bool,
        ordinary: Ordinary<'_>,
    ) -> Result<Encoder> {
        // A place between two unknown characters of one token is no split.
        let joins_spaces = symbols.has_spaces();
        let splits = || SafeSplits::new(&model.vocabulary, model.merges.in_order(), joins_spaces);
        let splits = symbols.unknown_run().is_none().then(splits);
        let ranked = Ranked::new(
            symbols.clone(),
            model.merges.clone(),
            model.vocabulary.clone(),
            splits.as_ref().filter(|_| !joins_spaces),
        );
        let kernel = kernel.unwrap_or_else(|| Kernel::Ranked(ranked.clone()));
        let known = model.known.clone().filter(|_| symbols.are_bytes());
        let unreachable = match &known {
            Some(known) => known.unreachable.clone(),
            None => match ranked.reached() {
                Some(reached) => {
                    let all = model.vocabulary.iter().map(|(id, _)| id);
                    all.filter(|&id| ordinary(id) && !reached[id as usize]).collect()
                }
                None => unreachable(&model.vocabulary, &Kernel::Ranked(ranked.clone()), ordinary)?,
            },
        };
        let index = known.map(|known| known.index);
        let (whole, whole_piece) = wholes(&model.vocabulary, &unreachable, ignore_merges, index, ordinary);
        let whole_is_all = unreachable.is_empty() || ignore_merges;
        let lookup = Lookup::new(whole, whole_piece, splits, kernel);
        Ok(Encoder::of(model, symbols, unreachable, whole_is_all, Some(ranked), lookup))
    }

    /// An encoder that applies merges by rank, but to no word that is the name of a token in files.
    fn by_names(
        model: Model,
        symbols: Arc<Symbols>,
        affixes: &Affixes,
        ordinary: Ordinary<'_>,
    ) -> Result<Encoder> {
        let vocabulary = model.vocabulary.clone();
        let encoder = Encoder::by_rank(model, symbols, None, false, ordinary)?;
        let all = || vocabulary.iter().filter(|(id, _)| ordinary(*id));
        let words: Vec<_> = all().map(|(id, token)| (id, token.len(), affixes.named(token))).collect();
        let mut named: Vec<(TokenId, &[u8])> = words.iter().map(|(id, _, word)| (*id, &word[..])).collect();
        let other_length = words.iter().filter(|(_, len, word)| *len != word.len()).map(|(id, ..)| *id);
        let mut marked: HashSet<TokenId> = other_length.collect();
        if let Unit::Char { on_unknown: OnUnknown::Token(id) } = encoder.symbols.unit() {
            marked.insert(*id);
        }
        let index = TokenIndex::new(&named);
        let is_reached = |(id, _): &(TokenId, &[u8])| encoder.unreachable.binary_search(id).is_err();
        let reached: Vec<_> = all().filter(is_reached).collect();
        // Of equal bytes the name comes first.
        named.extend(&reached);
        let (whole, whole_piece) = (TokenIndex::new(&named), TokenIndex::new(&reached));
        let lookup = encoder.lookup.with_wholes(Arc::new(whole), whole_piece);
        Ok(Encoder { lookup, whole_is_all: false, names: Some(Names { index, marked }), ..encoder })
    }

    /// An encoder that replays the events of PickyBPE.
    fn by_events(
        model: Model,
        symbols: Arc<Symbols>,
        events: &[Event],
        ordinary: Ordinary<'_>,
    ) -> Result<Encoder> {
        let events = ByEvents::new(symbols.clone(), events, &model.vocabulary, ordinary)?;
        let splits = events.splits();
        let kernel = Kernel::Events(Box::new(events));
        let unreachable = unreachable(&model.vocabulary, &kernel, ordinary)?;
        let (whole, whole_piece) = wholes(&model.vocabulary, &unreachable, false, None, ordinary);
        let lookup = Lookup::new(whole, whole_piece, Some(splits), kernel);
        // The reachable tokens depend on the events, so they are not stored with the model.
        Ok(Encoder::of(model, symbols, unreachable, false, None, lookup))
    }

    /// An encoder of a kernel that has no merges.
    fn of_kernel(
        model: Model,
        symbols: Arc<Symbols>,
        kernel: Kernel,
        splits: Option<SafeSplits>,
        ordinary: Ordinary<'_>,
    ) -> Result<Encoder> {
        let budget = Budget(Cell::new(STEPS));
        let unreachable = unreachable_within(&model.vocabulary, &kernel, ordinary, &budget)?;
        let (whole, whole_piece) = wholes(&model.vocabulary, &unreachable, false, None, ordinary);
        let lookup = Lookup::new(whole, whole_piece, splits, kernel);
        Ok(Encoder::of(model, symbols, unreachable, false, None, lookup))
    }

    fn of(
        model: Model,
        symbols: Arc<Symbols>,
        unreachable: Arc<[TokenId]>,
        whole_is_all: bool,
        ranked: Option<Ranked>,
        lookup: Lookup,
    ) -> Encoder {
        let Model { vocabulary, merges, .. } = model;
        Encoder {
            vocabulary,
            merges,
            symbols,
            unreachable,
            whole_is_all,
            ranked,
            lookup,
            names: None,
            ordinary_unknown: HashSet::new(),
        }
    }

    /// The model that the encoder was built from, with the facts computed from it.
    pub(crate) fn model(&self) -> Model {
        let known = self.whole_is_all && self.symbols.are_bytes();
        let found = || Known { index: self.lookup.wholes().clone(), unreachable: self.unreachable.clone() };
        Model { vocabulary: self.vocabulary.clone(), merges: self.merges.clone(), known: known.then(found) }
    }
}

/// Encoding all tokens of a vocabulary takes a small part of this many steps, unless many of them are parts of very
/// long ones. They take less than a second.
const STEPS: usize = 1 << 26;

/// The steps between two checks: more than nearly all tokens take.
const STEPS_PER_CHECK: usize = 1 << 8;

/// Stops after a number of steps.
struct Budget(Cell<usize>);

impl Interrupt for Budget {
    fn check(&self) -> Result<()> {
        self.check_after(1)
    }

    fn check_after(&self, work: usize) -> Result<()> {
        let left = self.0.get().checked_sub(work).ok_or_else(|| Error::Limit {
            reason: "the tokens are too long: encoding each of them would take too much time.".into(),
        })?;
        self.0.set(left);
        Ok(())
    }

    fn interval(&self) -> usize {
        STEPS_PER_CHECK
    }
}

/// The tokens whose own bytes encode to other ids, in rising order; found by encoding each.
fn unreachable(vocabulary: &Vocabulary, kernel: &Kernel, ordinary: Ordinary<'_>) -> Result<Arc<[TokenId]>> {
    unreachable_within(vocabulary, kernel, ordinary, &Never)
}

fn unreachable_within(
    vocabulary: &Vocabulary,
    kernel: &Kernel,
    ordinary: Ordinary<'_>,
    interrupt: &dyn Interrupt,
) -> Result<Arc<[TokenId]>> {
    let mut scratch = Scratch::new();
    let (mut unreachable, mut ids) = (Vec::new(), Vec::new());
    for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
        ids.clear();
        let context = &mut Context { scratch: &mut scratch, interrupt };
        match kernel.encode(TextSlice::all(bytes), context, &mut ids) {
            Ok(()) => {}
            // A token of several characters or words, one of which has no token.
            Err(Error::UnknownCharacter { .. } | Error::UnknownWord { .. }) => ids.clear(),
            Err(error) => return Err(error),
        }
        if ids != [id] {
            unreachable.push(id);
        }
    }
    Ok(unreachable.into())
}

/// The tokens that a whole pretoken becomes, and those that a whole piece of one becomes if they differ.
/// `index` has all tokens, if it is known.
fn wholes(
    vocabulary: &Vocabulary,
    unreachable: &[TokenId],
    ignore_merges: bool,
    index: Option<Arc<TokenIndex>>,
    ordinary: Ordinary<'_>,
) -> (Arc<TokenIndex>, Option<TokenIndex>) {
    let all: Vec<_> = vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
    let is_reached = |(id, _): &&(TokenId, &[u8])| unreachable.binary_search(id).is_err();
    let reached = || TokenIndex::new(&all.iter().filter(is_reached).copied().collect::<Vec<_>>());
    let whole = || index.unwrap_or_else(|| Arc::new(TokenIndex::new(&all)));
    match (unreachable.is_empty(), ignore_merges) {
        (true, _) => (whole(), None),
        (false, true) => (whole(), Some(reached())),
        (false, false) => (Arc::new(reached()), None),
    }
}
