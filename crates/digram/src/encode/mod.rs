//! Encoding: from the bytes of pretokens to ids.
//!
//! [`Lookup`](lookup::Lookup) caches what was encoded before; a [`Kernel`](kernels::Kernel) computes the
//! ids of what is new. All fast paths give the ids that the definition gives; the tests compare them with
//! it.

mod algorithm;
mod budget;
mod build;
mod character_ids;
mod kernels;
mod lattice;
mod lookup;
mod mark;
mod safe_splits;
mod scratch;
mod scratch_pool;
mod sink;
mod symbols;
mod text_slice;

use std::sync::Arc;

use hashbrown::HashSet;

use crate::error::{Error, Result};
use crate::index::TokenIndex;
use crate::interrupt::Interrupt;
use crate::merges::Merges;
use crate::vocabulary::{TokenId, Vocabulary};

pub use algorithm::{Addition, Affixes, Algorithm, Scores, Spelled, WordPieceRules};
use kernels::Kernel;
pub use kernels::KernelKind;
pub use kernels::dropout::Dropout;
pub(crate) use kernels::dropout::{DropoutChoices, DropoutScratch};
#[cfg(test)]
pub(crate) use kernels::naive;
pub(crate) use kernels::pieces::{Piece, Pieces};
use kernels::ranked::Ranked;
use kernels::scored::Scored;
pub(crate) use lattice::{Edge, Lattice, one_of};
use lookup::LONGEST_GIVEN;
use lookup::Lookup;
pub(crate) use lookup::{EncodeWords, GROUP, Group};
pub(crate) use mark::Mark;
use scratch::Context;
pub(crate) use scratch::Scratch;
pub(crate) use scratch_pool::{Place, Pooled, ScratchPool};
pub use scratch_pool::{cache_bytes, limit_cache};
pub(crate) use sink::{IdCount, IdHistogram, Sink};
use symbols::Symbols;
pub use symbols::{OnUnknown, Unit};
use text_slice::TextSlice;

/// The text that an unknown token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown<'a> {
    /// No token stands for unknown text.
    Nothing,
    /// One character.
    Character(TokenId),
    /// A whole pretoken.
    Pretoken(TokenId),
    /// Where one of these ids is, a [`Mark`] says what it stands for.
    Marked(&'a HashSet<TokenId>),
}

/// The part of a tokenizer that turns pretokens into ids.
pub(crate) struct Encoder {
    vocabulary: Arc<Vocabulary>,
    merges: Arc<Merges>,
    symbols: Arc<Symbols>,
    unreachable: Arc<[TokenId]>,
    /// Whether every pretoken that is a token becomes that token.
    whole_is_all: bool,
    /// All merges, if they are applied by rank alone.
    ranked: Option<Ranked>,
    lookup: Lookup,
    /// The words that are names of tokens in files, if such words become these tokens.
    names: Option<Names>,
    /// The token of unknown characters, if text may become it as an ordinary token too.
    ordinary_unknown: HashSet<TokenId>,
}

/// Words that are names of tokens in files.
struct Names {
    index: TokenIndex,
    /// The ids of tokens of another length than such a word, and that of unknown characters.
    marked: HashSet<TokenId>,
}

impl Encoder {
    pub(crate) fn unit(&self) -> &Unit {
        self.symbols.unit()
    }

    pub(crate) fn merges(&self) -> &Merges {
        &self.merges
    }

    /// Tokens whose own bytes are encoded to other ids, in rising order: no text becomes them by merging.
    pub(crate) fn unreachable(&self) -> &[TokenId] {
        &self.unreachable
    }

    /// How pretokens that are not tokens are encoded.
    pub(crate) fn kernel(&self) -> KernelKind {
        self.lookup.kernel().kind()
    }

    /// Whether every slice of a pretoken's ids is the encoding of the text of that slice.
    pub(crate) fn slices_are_valid(&self) -> bool {
        self.is_by_rank() && self.lookup.pieces_are_pretokens() && self.merges.is_rising()
    }

    /// Whether pretokens are merged by rank alone. Then the encoding of a part is mostly a part of the
    /// encoding.
    pub(crate) fn is_by_rank(&self) -> bool {
        self.ranked.is_some()
    }

    /// Whether words that are names of tokens in files become these tokens.
    pub(crate) fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Whether a pretoken is the token of unknown characters, as a whole.
    fn is_unknown_token(&self, pretoken: &[u8]) -> bool {
        let is_token = |id: &TokenId| self.vocabulary.get(*id) == Some(pretoken);
        self.whole_is_all && self.ordinary_unknown.iter().any(is_token)
    }

    fn is_name(&self, pretoken: &[u8]) -> bool {
        self.names.as_ref().is_some_and(|names| names.index.get(pretoken).is_some())
    }

    /// The text that the unknown token stands for.
    pub(crate) fn unknown(&self) -> Unknown<'_> {
        let kernel = self.lookup.kernel();
        let marked = match kernel {
            _ if self.names.is_some() => self.names.as_ref().map(|names| &names.marked),
            Kernel::Viterbi(viterbi) => Some(viterbi.marked()),
            Kernel::Scored(_) | Kernel::ScoreRanks(_) => kernel.merges_by_scores().map(Scored::marked),
            Kernel::WordLevel(words) => Some(words.marked()),
            Kernel::WordPiece(_) => None,
            _ => self.symbols.unknown_run().or(Some(&self.ordinary_unknown).filter(|ids| !ids.is_empty())),
        };
        if let Some(marked) = marked {
            return if marked.is_empty() { Unknown::Nothing } else { Unknown::Marked(marked) };
        }
        match (self.symbols.unit(), self.lookup.kernel()) {
            (Unit::Char { on_unknown: OnUnknown::Token(id) }, Kernel::WordPiece(_)) => Unknown::Pretoken(*id),
            (Unit::Char { on_unknown: OnUnknown::Token(id) }, _) => Unknown::Character(*id),
            _ => Unknown::Nothing,
        }
    }

    /// The number of bytes of `text` that an unknown character, its first one, has with the spaces that belong to it.
    #[inline]
    pub(crate) fn unknown_len(&self, text: &[u8]) -> usize {
        self.symbols.first_len(text)
    }

    /// The number of bytes of `text` that a token, its first one, stands for.
    #[inline]
    pub(crate) fn len_in_text(&self, token: &[u8], text: &[u8]) -> usize {
        match self.lookup.kernel() {
            Kernel::WordPiece(pieces) => pieces.len_in_text(token, text),
            _ => token.len(),
        }
    }

    /// Adds all segmentations of a pretoken, if the model has scores of them.
    pub(crate) fn push_segmentations(
        &self,
        pretoken: &[u8],
        lattice: &mut Lattice,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        match self.lookup.kernel() {
            Kernel::Viterbi(viterbi) => viterbi.push_segmentations(pretoken, lattice, interrupt),
            _ => {
                let reason = "other segmentations than the best one have scores only in Unigram models.";
                Err(Error::Option { reason: reason.into() })
            }
        }
    }

    /// Appends the marks of a pretoken, which starts at an offset.
    pub(crate) fn marks(
        &self,
        pretoken: &[u8],
        offset: usize,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        marks: &mut Vec<Mark>,
    ) -> Result<()> {
        let context = &mut Context { scratch, interrupt };
        let first = marks.len();
        match self.lookup.kernel() {
            _ if self.is_name(pretoken) => Mark::push(marks, 0..pretoken.len(), false)?,
            _ if self.has_names() => self.symbols.push_unknown(pretoken, marks)?,
            Kernel::Viterbi(viterbi) => viterbi.marks(pretoken, context, marks)?,
            Kernel::Scored(scored) => scored.marks(pretoken, context, marks)?,
            Kernel::ScoreRanks(kernel) => kernel.scored.marks(pretoken, context, marks)?,
            Kernel::WordLevel(words) => words.marks(pretoken, context, marks)?,
            _ if self.is_unknown_token(pretoken) => Mark::push(marks, 0..pretoken.len(), false)?,
            _ => self.symbols.push_unknown(pretoken, marks)?,
        }
        for mark in &mut marks[first..] {
            mark.start += offset;
            mark.end += offset;
        }
        Ok(())
    }

    /// Whether a pretoken can be split at `at`: no merge crosses that place, whatever else the pretoken
    /// contains.
    pub(crate) fn can_split_at(&self, pretoken: &[u8], at: usize) -> bool {
        self.lookup.can_split_at(pretoken, at)
    }

    /// Whether some pretoken may be split.
    pub(crate) fn has_splits(&self) -> bool {
        self.lookup.has_splits()
    }

    /// Whether the ids of every pretoken with these two characters around `at` begin with those of its part before
    /// it, and stand for the same bytes: no token crosses that place, but the ids of what follows may depend on what
    /// precedes it.
    pub(crate) fn can_end_beginning_at(&self, pretoken: &[u8], at: usize) -> bool {
        // A run of unknown characters is marked as a whole.
        let is_marked = || matches!(self.unknown(), Unknown::Marked(_));
        let last = || &pretoken[at - bstr::decode_last_utf8(&pretoken[..at]).1..at];
        self.lookup.can_end_beginning_at(pretoken, at) && (!is_marked() || self.whole(last()).is_some())
    }

    /// Whether some pretoken has such a place.
    pub(crate) fn has_beginnings(&self) -> bool {
        self.lookup.has_beginnings()
    }

    /// The token whose bytes are the whole pretoken, if there is one.
    #[inline]
    pub(crate) fn whole(&self, pretoken: &[u8]) -> Option<TokenId> {
        self.lookup.whole(TextSlice::all(pretoken))
    }

    /// Emits the ids of a group of pretokens.
    #[inline]
    pub(crate) fn encode(
        &self,
        group: Group<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.lookup.encode(group, &mut Context { scratch, interrupt }, sink)
    }

    /// The longest word of a given text that is cached, in bytes.
    pub(crate) const LONGEST_GIVEN: usize = LONGEST_GIVEN;

    /// Emits the ids of a group of words of the given text, each of up to [`LONGEST_GIVEN`](Encoder::LONGEST_GIVEN)
    /// bytes; `new` computes those of words that are not cached, which depend on nothing but their bytes.
    #[inline]
    pub(crate) fn encode_given(
        &self,
        group: Group<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
        new: &mut impl EncodeWords,
    ) -> Result<()> {
        self.lookup.encode_given(group, &mut Context { scratch, interrupt }, sink, new)
    }

    /// See [`Lookup::encodes_new_alone`].
    pub(crate) fn encodes_new_alone(&self) -> bool {
        self.lookup.encodes_new_alone()
    }

    /// See [`Lookup::encode_alone_each`].
    #[inline]
    pub(crate) fn encode_alone_each(
        &self,
        group: Group<'_>,
        bounds: &mut &[usize],
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        self.lookup.encode_alone_each(group, bounds, &mut Context { scratch, interrupt }, ids, ends)
    }

    /// Prepares for texts of this many bytes together.
    pub(crate) fn expect(&self, bytes: usize, scratch: &mut Scratch) {
        self.lookup.expect(bytes, &self.vocabulary, &mut scratch.table);
    }

    /// Emits the ids of a pretoken with some merges left out at random.
    pub(crate) fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        choices: &mut DropoutChoices,
        scratch: &mut DropoutScratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Some(ranked) = &self.ranked else {
            let reason = "dropout needs merges that are applied by rank alone, and this tokenizer applies them differently.";
            return Err(Error::Option { reason: reason.into() });
        };
        ranked.encode_with_dropout(pretoken, choices, scratch, interrupt, sink)
    }
}
