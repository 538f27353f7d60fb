//! From a model to what encodes by it: which tokens a text can become is found out once.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::events::Event;
use crate::index::TokenIndex;
use crate::memory::Way;
use crate::model::{Known, Model};
use crate::pretokenize::Pretokenizer;
use crate::vocabulary::TokenId;
use crate::watch::Unwatched;

use super::cuts::Cuts;
use super::events::Numbered;
use super::layers::Layers;
use super::singles::Singles;
use super::{Encoder, Scheme, Scratch, Unit, reach};

impl Encoder {
    /// An encoder of the pretokens that `pretokenizer` cuts; `ordinary` says which tokens text can
    /// become (special tokens and the bytes of a fallback are not).
    pub(crate) fn new(
        model: Model,
        unit: Unit,
        pretokenizer: &Pretokenizer,
        ignore_merges: bool,
        scheme: Option<Scheme>,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Encoder> {
        let ordinary: &dyn Fn(TokenId) -> bool = &ordinary;
        let by_rank = scheme.is_none();
        let mut events = None;
        let layers = match scheme {
            None => Layers::by_rank(&model, &unit, pretokenizer, ordinary)?,
            Some(Scheme::Superwords { .. }) if ignore_merges => {
                let reason = "words that join are found by merges, which cannot be ignored.";
                return Err(Error::Vocabulary { reason: reason.into() });
            }
            Some(Scheme::Superwords { words, ranks }) => {
                Some(Layers::of_words(&model, unit.clone(), words, &ranks, ordinary)?)
            }
            Some(Scheme::Events(_)) if ignore_merges || !model.merges.in_order().is_empty() => {
                let reason = "events are all that makes tokens; there are no merges beside them.";
                return Err(Error::Vocabulary { reason: reason.into() });
            }
            Some(Scheme::Events(given)) => {
                events = Some(given);
                None
            }
        };
        let mut encoder = Encoder::of_one_layer(model, unit, ignore_merges, events.as_deref(), ordinary)?;
        if let Some(layers) = layers {
            if !by_rank {
                // What a pretoken becomes, the words in it say: none is looked up whole.
                encoder.unreachable = layers.unreachable()?.into();
                encoder.whole = Arc::new(TokenIndex::new(&[]));
                encoder.whole_is_all = false;
            }
            (encoder.by_rank, encoder.layers) = (by_rank, Some(Box::new(layers)));
        }
        Ok(encoder)
    }

    /// One whose merges are applied all in the same way.
    pub(super) fn of_one_layer(
        model: Model,
        unit: Unit,
        ignore_merges: bool,
        events: Option<&[Event]>,
        ordinary: impl Fn(TokenId) -> bool,
    ) -> Result<Encoder> {
        let Model { vocabulary, merges, known } = model;
        let mut characters = hashbrown::HashMap::default();
        if let Unit::Char { .. } = unit {
            for (id, bytes) in vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
                let text = std::str::from_utf8(bytes).map_err(|_| Error::Vocabulary {
                    reason: format!("token {id} is not UTF-8, which a character vocabulary needs."),
                })?;
                let mut chars = text.chars();
                if let (Some(c), None) = (chars.next(), chars.next())
                    && characters.insert(c, id).is_some()
                {
                    return Err(Error::Vocabulary { reason: format!("character {c:?} has two tokens.") });
                }
            }
        }
        let events = match events {
            None => None,
            Some(events) => {
                let base = base_by_number(&unit, &characters);
                let tokens = vocabulary.iter().filter(|(id, _)| ordinary(*id));
                Some(Box::new(Numbered::new(&base, tokens, events, &vocabulary)?))
            }
        };
        let cuts = match &events {
            Some(events) => events.cuts(),
            None => Cuts::new(&vocabulary, merges.in_order()),
        };
        let mut encoder = Encoder {
            vocabulary,
            merges,
            unit,
            characters,
            whole: Arc::new(TokenIndex::new(&[])),
            whole_piece: None,
            cuts,
            singles: Singles::new(),
            unreachable: Arc::default(),
            whole_is_all: false,
            way: Way::best(),
            layers: None,
            by_rank: events.is_none(),
            events,
        };
        let known = known.filter(|_| encoder.by_rank && matches!(encoder.unit, Unit::Byte { .. }));
        encoder.unreachable = match &known {
            Some(known) => known.unreachable.clone(),
            None => encoder.find_unreachable(&ordinary)?.into(),
        };
        let all: Vec<_> = encoder.vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
        let trusted = |(id, _): &&(TokenId, &[u8])| encoder.unreachable.binary_search(id).is_err();
        let reached = || TokenIndex::new(&all.iter().filter(trusted).copied().collect::<Vec<_>>());
        let whole = || known.map_or_else(|| Arc::new(TokenIndex::new(&all)), |known| known.index);
        // What is found out of events is of no use without them.
        encoder.whole_is_all = encoder.by_rank && (encoder.unreachable.is_empty() || ignore_merges);
        if encoder.unreachable.is_empty() {
            encoder.whole = whole();
        } else if ignore_merges {
            (encoder.whole, encoder.whole_piece) = (whole(), Some(reached()));
        } else {
            encoder.whole = Arc::new(reached());
        }
        Ok(encoder)
    }

    /// What the encoder was made of, with what was found out.
    pub(crate) fn model(&self) -> Model {
        let known = self.whole_is_all && matches!(self.unit, Unit::Byte { .. });
        Model {
            vocabulary: self.vocabulary.clone(),
            merges: self.merges.clone(),
            known: known.then(|| Known { index: self.whole.clone(), unreachable: self.unreachable.clone() }),
        }
    }

    fn find_unreachable(&self, ordinary: &impl Fn(TokenId) -> bool) -> Result<Vec<TokenId>> {
        if self.by_rank
            && let Some(reached) = reach::reached(self.vocabulary.size(), &self.merges, self.base())
        {
            let unreachable = |id: &TokenId| ordinary(*id) && !reached[*id as usize];
            return Ok(self.vocabulary.iter().map(|(id, _)| id).filter(unreachable).collect());
        }
        let mut scratch = Scratch::new();
        let (mut unreachable, mut ids) = (Vec::new(), Vec::new());
        for (id, bytes) in self.vocabulary.iter().filter(|(id, _)| ordinary(*id)) {
            ids.clear();
            let known = self.merge(bytes, &mut scratch, &Unwatched, &mut ids);
            match known {
                Ok(()) => {}
                // A token of several characters, one of which has no token.
                Err(Error::UnknownCharacter { .. }) => ids.clear(),
                Err(error) => return Err(error),
            }
            if ids != [id] {
                unreachable.push(id);
            }
        }
        Ok(unreachable)
    }

    /// The tokens of single symbols.
    fn base(&self) -> Vec<TokenId> {
        match &self.unit {
            Unit::Byte { ids } => ids.to_vec(),
            Unit::Char { .. } => self.characters.values().copied().collect(),
        }
    }
}

/// The base tokens in the order of the numbers that events tell them by.
fn base_by_number(unit: &Unit, characters: &hashbrown::HashMap<char, TokenId>) -> Vec<TokenId> {
    match unit {
        Unit::Byte { ids } => ids.to_vec(),
        Unit::Char { .. } => {
            let mut sorted: Vec<_> = characters.iter().collect();
            sorted.sort_unstable();
            sorted.into_iter().map(|(_, &id)| id).collect()
        }
    }
}
