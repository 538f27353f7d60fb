//! Merging by rank: the lowest first, of equal ranks the leftmost.

use std::sync::Arc;

use crate::error::Result;
use crate::memory::Way;
use crate::merges::Merges;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::watch::Watch;

use super::super::symbols::{Join, Symbols};
use super::super::{Scratch, Sink};
use super::dropout::{self, Choices};
use super::short::{self, SHORT};
use super::{long, reach};

/// Merges that are applied by their ranks.
#[derive(Clone)]
pub(in crate::encode) struct Ranked {
    symbols: Arc<Symbols>,
    merges: Arc<Merges>,
    vocabulary: Arc<Vocabulary>,
    way: Way,
}

impl Ranked {
    pub(in crate::encode) fn new(
        symbols: Arc<Symbols>,
        merges: Arc<Merges>,
        vocabulary: Arc<Vocabulary>,
    ) -> Ranked {
        Ranked { symbols, merges, vocabulary, way: Way::best() }
    }

    /// For each id whether the bytes of its token become it, if that follows from the merges.
    pub(in crate::encode) fn reached(&self) -> Option<Vec<bool>> {
        reach::reached(self.vocabulary.size(), &self.merges, self.symbols.base())
    }

    /// Emits the ids of a piece of text.
    #[inline]
    pub(in crate::encode) fn encode(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.symbols.join(
            piece,
            &mut Merging { ranked: self, scratch: &mut scratch.long, watch },
            watch,
            sink,
        )
    }

    /// Emits the ids of a pretoken, some merges of which are left out. Nothing is looked up: what a
    /// whole pretoken becomes otherwise is one of many encodings here.
    pub(in crate::encode) fn encode_with_dropout(
        &self,
        pretoken: &[u8],
        choices: &mut Choices,
        scratch: &mut dropout::Scratch,
        watch: &dyn Watch,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut dropping = Dropping { merges: &self.merges, choices, scratch, watch };
        self.symbols.join(pretoken, &mut dropping, watch, sink)
    }
}

struct Merging<'a> {
    ranked: &'a Ranked,
    scratch: &'a mut long::Scratch,
    watch: &'a dyn Watch,
}

impl Join for Merging<'_> {
    #[inline]
    fn join(
        &mut self,
        symbols: impl Iterator<Item = (TokenId, usize)>,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let Ranked { merges, vocabulary, way, .. } = self.ranked;
        // Most words of most languages have up to 16 bytes: two vectors of keys to look through.
        if len <= 16 {
            sink.reserve(len)?;
            short::merge::<16>(symbols.map(|(id, _)| id), merges, *way, sink);
        } else if len <= SHORT {
            sink.reserve(len)?;
            short::merge::<SHORT>(symbols.map(|(id, _)| id), merges, *way, sink);
        } else {
            return long::merge(symbols, len, merges, vocabulary, self.scratch, self.watch, sink);
        }
        Ok(())
    }
}

struct Dropping<'a> {
    merges: &'a Merges,
    choices: &'a mut Choices,
    scratch: &'a mut dropout::Scratch,
    watch: &'a dyn Watch,
}

impl Join for Dropping<'_> {
    fn join(
        &mut self,
        symbols: impl Iterator<Item = (TokenId, usize)>,
        _: usize,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let ids = symbols.map(|(id, _)| id);
        dropout::merge(ids, self.merges, self.choices, self.scratch, self.watch, sink)
    }
}
