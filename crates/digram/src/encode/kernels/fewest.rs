//! The segmentation into the fewest tokens, by dynamic programming.
//!
//! From right to left, each place gets the number of tokens of the best segmentation of the text after it, and the first
//! token of that. Of equal numbers the longest first token is taken, so the segmentation of the rest after it is that
//! of the rest alone. A character without a token counts more than any number of tokens.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::interrupt::{Never, Pacer};
use crate::memory;
use crate::utf8;
use crate::vocabulary::{TokenId, Vocabulary};

use super::super::build::Ordinary;
use super::super::symbols::{OnUnknown, Symbols, Unit};
use super::super::{Context, Sink};
use super::check_len;
use super::pieces::{Piece, Pieces};

/// Finds the fewest tokens.
pub(in crate::encode) struct Fewest {
    pieces: Pieces,
    symbols: Arc<Symbols>,
}

/// Memory for a call.
#[derive(Default)]
pub(in crate::encode) struct FewestScratch {
    nodes: Vec<Node>,
}

/// The best segmentation of the text from a place on.
#[derive(Clone, Copy)]
struct Node {
    /// The number of tokens, and in the upper bits that of unknown characters.
    cost: u64,
    /// The first token and its length.
    id: TokenId,
    len: u32,
}

/// The id of a character that is no token, and what it costs.
const UNKNOWN: TokenId = TokenId::MAX;
const UNKNOWN_COST: u64 = 1 << 32;

/// More memory is freed after a call.
const KEEP: usize = 1 << 12;

impl Fewest {
    pub(in crate::encode) fn new(
        symbols: Arc<Symbols>,
        vocabulary: &Vocabulary,
        ordinary: Ordinary<'_>,
    ) -> Result<Fewest> {
        // The last of equal ones is kept, and the tokenizer takes the one with the lowest id elsewhere.
        let mut tokens: Vec<_> = vocabulary.iter().filter(|(id, _)| ordinary(*id)).collect();
        tokens.reverse();
        let pieces =
            Pieces::new(tokens.into_iter().map(|(id, bytes)| (bytes, Piece { id, score: 0.0 })), &Never)?;
        Ok(Fewest { pieces, symbols })
    }

    /// Emits the ids of a piece of text. Takes time linear in it and in the length of the longest token.
    pub(super) fn encode(&self, text: &[u8], context: &mut Context<'_>, sink: &mut impl Sink) -> Result<()> {
        check_len(text.len())?;
        if !self.symbols.are_bytes()
            && let Err(error) = std::str::from_utf8(text)
        {
            return Err(Error::InvalidUtf8 { offset: error.valid_up_to() });
        }
        let mut pacer = Pacer::new(context.interrupt);
        let nodes = &mut context.scratch.fewest.nodes;
        nodes.clear();
        memory::try_reserve(nodes, text.len() + 1)?;
        nodes.resize(text.len() + 1, Node { cost: 0, id: UNKNOWN, len: 0 });
        for at in (0..text.len()).rev() {
            let width = if self.symbols.are_bytes() { 1 } else { utf8::width(text[at]) };
            if !self.symbols.are_bytes() && utf8::is_inside(text[at]) {
                continue;
            }
            let mut best =
                Node { cost: nodes[at + width].cost + UNKNOWN_COST, id: UNKNOWN, len: width as u32 };
            let steps = self.pieces.each_prefix(&text[at..], |len, Piece { id, .. }| {
                let cost = nodes[at + len].cost + 1;
                // The shortest come first.
                if cost <= best.cost {
                    best = Node { cost, id, len: len as u32 };
                }
            });
            nodes[at] = best;
            pacer.after(steps)?;
        }
        sink.reserve(text.len())?;
        let mut at = 0;
        while at < text.len() {
            let Node { id, len, .. } = nodes[at];
            let end = at + len as usize;
            if id == UNKNOWN {
                self.unknown(text, at, end, sink)?
            } else {
                sink.push_id(id)
            }
            at = end;
        }
        if nodes.capacity() > KEEP {
            *nodes = Vec::new();
        }
        Ok(())
    }

    fn unknown(&self, text: &[u8], at: usize, end: usize, sink: &mut impl Sink) -> Result<()> {
        match self.symbols.unit() {
            Unit::Byte { ids } => sink.push_id(ids[usize::from(text[at])]),
            Unit::Char { on_unknown: OnUnknown::Token(id) } => sink.push_id(*id),
            Unit::Char { on_unknown: OnUnknown::Bytes { ids } } => {
                text[at..end].iter().for_each(|&byte| sink.push_id(ids[usize::from(byte)]));
            }
            Unit::Char { on_unknown: OnUnknown::Fail } => {
                let character = bstr::decode_utf8(&text[at..end]).0.unwrap_or_default();
                return Err(Error::UnknownCharacter { character, offset: at });
            }
        }
        Ok(())
    }
}
