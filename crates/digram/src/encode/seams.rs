//! Places of a pretoken that nothing ever joined what stands on both sides of.
//!
//! They allow the ids of a part of a long pretoken to be derived from the ids of the whole
//! (`docs/algorithm.md`). Where tokens only grow, these are the places where a token ends.

use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::room;
use crate::vocabulary::TokenId;
use crate::watch::{Paced, Watch};

use super::{Encoder, Scratch, Tally, Unit};

/// A place that no token ever spanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seam {
    /// Where it is, in bytes.
    pub(crate) place: usize,
    /// The number of ids before it.
    pub(crate) count: usize,
}

impl Encoder {
    /// How a pretoken is cut into words that join, if that is how it is encoded.
    pub(crate) fn words(&self) -> Option<&Pretokenizer> {
        self.layers.as_ref().and_then(|layers| layers.words())
    }

    /// The seams of a pretoken, in order; the last of them is its end. `words` are where its words
    /// end, if [`Encoder::words`] join.
    pub(crate) fn seams(
        &self,
        pretoken: &[u8],
        words: &[usize],
        scratch: &mut Scratch,
        watch: &dyn Watch,
    ) -> Result<Vec<Seam>> {
        let mut seams = Vec::new();
        match (&self.events, &self.layers) {
            (Some(_), _) => self.seams_of_events(pretoken, scratch, watch, &mut seams)?,
            (None, Some(layers)) if layers.words().is_some() => {
                let mut ids = Vec::new();
                layers.encode_cut(pretoken, words, scratch, watch, &mut ids)?;
                self.push_ends(pretoken, &ids, watch, &mut seams)?;
            }
            _ => {
                let mut ids = Vec::new();
                self.encode(pretoken, 0, &[pretoken.len()], scratch, watch, &mut ids)?;
                self.push_ends(pretoken, &ids, watch, &mut seams)?;
            }
        }
        Ok(seams)
    }

    fn push_ends(
        &self,
        pretoken: &[u8],
        ids: &[TokenId],
        watch: &dyn Watch,
        seams: &mut Vec<Seam>,
    ) -> Result<()> {
        let (mut place, mut paced) = (0, Paced::new(watch));
        room::reserve(seams, ids.len())?;
        for (number, &id) in ids.iter().enumerate() {
            paced.after(1)?;
            place += self.len_in_text(id, &pretoken[place..]);
            seams.push(Seam { place, count: number + 1 });
        }
        Ok(())
    }

    fn seams_of_events(
        &self,
        pretoken: &[u8],
        scratch: &mut Scratch,
        watch: &dyn Watch,
        seams: &mut Vec<Seam>,
    ) -> Result<()> {
        let numbered = self.events.as_ref().expect("asked before");
        match &self.unit {
            Unit::Byte { ids } => {
                let symbols = pretoken.iter().map(|&byte| (ids[byte as usize], 1));
                let (len, sink) = (pretoken.len(), &mut Tally::default());
                numbered.merge_with_seams(symbols, len, &mut scratch.events, watch, sink, seams)
            }
            Unit::Char { on_unknown } => {
                let mut count = Tally::default();
                self.merge_characters(pretoken, on_unknown, watch, &mut count, |known, count| {
                    let symbols = known.chars().map(|c| (self.characters[&c], c.len_utf8()));
                    let start = known.as_ptr() as usize - pretoken.as_ptr() as usize;
                    let (first, before) = (seams.len(), count.0);
                    let scratch = &mut scratch.events;
                    numbered.merge_with_seams(symbols, known.len(), scratch, watch, count, seams)?;
                    for seam in &mut seams[first..] {
                        *seam = Seam { place: seam.place + start, count: seam.count + before };
                    }
                    Ok(())
                })?;
                // It may end with characters without a token.
                if seams.last().is_none_or(|seam| seam.place < pretoken.len()) {
                    seams.push(Seam { place: pretoken.len(), count: count.0 });
                }
                Ok(())
            }
        }
    }
}
