//! A stretch of text between two cuts, as the search for its longest part with so many ids sees it.

use std::ops::Range;

use hashbrown::HashMap;

use super::Tokenizer;
use super::truncate::Search;
use crate::error::Result;
use crate::pretokenize::{GoesOn, Pretokenizer};
use crate::utf8::decode;
use crate::watch::Watch;

/// A stretch of text between two cuts: where its tokens end, and its pretokens.
pub(super) struct Stretch {
    pub(super) borders: Vec<usize>,
    pub(super) pretokens: Vec<usize>,
}

impl Stretch {
    pub(super) fn new(search: &mut Search<'_>, range: Range<usize>) -> Result<Stretch> {
        let text = &search.text[range.clone()];
        let tokenizer = search.tokenizer;
        let (mut borders, mut pretokens) = (Vec::new(), Vec::new());
        let mut ids = Vec::new();
        let (scratch, watch) = (&mut *search.scratch, search.watch);
        let split = tokenizer.pretokenizer.for_many(text, 0, GoesOn::No, watch, |mut start, ends| {
            for &end in ends {
                ids.clear();
                tokenizer.encoder.encode(text, start, &[end], scratch, watch, &mut ids)?;
                let mut at = start;
                for &id in &ids {
                    at += tokenizer.encoder.len_in_text(id, &text[at..]);
                    borders.push(at);
                }
                pretokens.push(end);
                start = end;
            }
            Ok(())
        });
        split.map_err(|error| error.shifted(range.start))?;
        Ok(Stretch { borders, pretokens })
    }
}

/// Where a text may begin without changing the pretokens from there on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Where any pretoken does.
    AtPretokens,
    /// Where one does that the first of several splits cut off.
    AtFirstSplit,
    /// That is not known: a pattern looks behind.
    Unknown,
}

/// The number of ids from a place on to the end, for texts that begin there.
pub(super) struct Counted {
    pub(super) begins: Begins,
    pub(super) known: HashMap<usize, usize>,
}

impl Counted {
    /// All ids of a stretch, and if every pretoken may begin a text, those from each of them on.
    pub(super) fn new(tokenizer: &Tokenizer, found: &Stretch) -> Counted {
        let pretokenizer = &tokenizer.pretokenizer;
        let all = found.borders.len();
        let mut known = HashMap::from([(0, all)]);
        if pretokenizer.looks_behind() {
            return Counted { begins: Begins::Unknown, known };
        }
        if !pretokenizer.may_begin_at_pretokens() {
            return Counted { begins: Begins::AtFirstSplit, known };
        }
        let mut ends = found.pretokens.iter().peekable();
        for (number, end) in found.borders.iter().enumerate() {
            if ends.next_if_eq(&end).is_some() {
                known.insert(*end, all - number - 1);
            }
        }
        Counted { begins: Begins::AtPretokens, known }
    }
}

/// A pretoken that the first of several splits cut off is looked for no farther than this, in bytes.
const FIRST_SPLIT: usize = 1 << 10;

/// Whether the first of several splits cuts at `end`, where it cut at `last` before.
pub(super) fn is_first_split(
    pretokenizer: &Pretokenizer,
    text: &[u8],
    last: usize,
    end: usize,
    watch: &dyn Watch,
) -> Result<bool> {
    if end == text.len() || end - last > FIRST_SPLIT {
        return Ok(end == text.len());
    }
    let seen = end + decode(&text[end..]).1;
    pretokenizer.ends_for_certain(&text[..seen], last, end, watch)
}
