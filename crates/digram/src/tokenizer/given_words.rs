//! Words of a text as it was given, whose ids are cached.
//!
//! A normalizer that cuts text into words changes each of them on its own: a text can be cut before it is normalized
//! where two characters decide that its words are those of its two parts. So words that were encoded before, as most
//! of a text are, need not be normalized and split again.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Tokenizer, push_added};
use crate::added_tokens::{AddedMatch, AddedTokens, OnSpecial};
use crate::encode::{Encoder, GROUP, Group, Scratch, Sink};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::normalize::Normalizer;
use crate::pretokenize::Pretokenizer;
use crate::utf8::decode;
use crate::vocabulary::TokenId;

/// The number of pairs of characters that are remembered.
const PAIRS: usize = 1 << 12;

/// The bits of a character in a pair.
const CHARACTER: u32 = 21;

/// The bits of a pair that say that it is known, and that a text is cut there.
const KNOWN: u64 = 1 << (2 * CHARACTER);
const CUT: u64 = KNOWN << 1;

/// Where a given text is cut.
pub(super) struct GivenCuts {
    /// The ASCII characters before which a text is cut, behind each of them.
    ascii: Box<[u128; 128]>,
    /// Other pairs of characters, found when a text has them.
    pairs: Box<[AtomicU64]>,
}

impl GivenCuts {
    /// Those of a normalizer that cuts text into words.
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &Pretokenizer) -> Option<Box<GivenCuts>> {
        let normalizer = normalizer.filter(|normalizer| {
            normalizer.has_words() && normalizer.has_seams() && !normalizer.depends_on_start()
        })?;
        let cut = |before, after| is_cut(normalizer, pretokenizer, char::from(before), char::from(after));
        let after = |before| (0..128).filter(|&after| cut(before, after)).fold(0, |bits, after| bits | 1 << after);
        let ascii = Box::new(std::array::from_fn(|before| after(before as u8)));
        let any = ascii.iter().any(|&after| after != 0);
        any.then(|| Box::new(GivenCuts { ascii, pairs: (0..PAIRS).map(|_| AtomicU64::new(0)).collect() }))
    }

    /// Whether a text is cut between two characters, of which one is not ASCII; `decide` is called if that is not
    /// known.
    #[inline]
    fn between(&self, before: char, after: char, decide: impl FnOnce() -> bool) -> bool {
        let pair = u64::from(u32::from(before)) << CHARACTER | u64::from(u32::from(after)) | KNOWN;
        let place = &self.pairs[(pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % PAIRS];
        let known = place.load(Ordering::Relaxed);
        if known & !CUT == pair {
            return known & CUT != 0;
        }
        let is_cut = decide();
        place.store(pair | if is_cut { CUT } else { 0 }, Ordering::Relaxed);
        is_cut
    }
}

/// Whether every text is cut between two characters. Not behind a space, so that words begin with theirs.
fn is_cut(normalizer: &Normalizer, pretokenizer: &Pretokenizer, before: char, after: char) -> bool {
    before != ' ' && normalizer.cuts_words(before, after, pretokenizer)
}

impl Tokenizer {
    /// Where given text is cut, if words of it can be encoded one by one.
    #[inline]
    pub(super) fn given_cuts(&self, special: OnSpecial<'_>) -> Option<&GivenCuts> {
        // Tokens that are found in normalized text may reach over several words.
        let is_late = || self.recognized(special).is_some_and(|set| set.has_pass(true));
        self.given_cuts.as_deref().filter(|_| !is_late())
    }

    /// Emits the ids of a text that is cut into words before it is normalized.
    pub(super) fn each_of_given(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let found = self.recognized(special).map(|set: &AddedTokens| set.matches_of_pass(false, text));
        let mut position = 0;
        for AddedMatch { range, token } in found.into_iter().flatten() {
            if position < range.start {
                self.each_given_word(cuts, text, position..range.start, special, scratch, interrupt, sink)?;
            }
            push_added(special, token, range.start, sink)?;
            position = range.end;
        }
        self.each_given_word(cuts, text, position..text.len(), special, scratch, interrupt, sink)
    }

    /// Emits the ids of a part of a text between added tokens.
    #[allow(clippy::too_many_arguments)]
    fn each_given_word(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        part: std::ops::Range<usize>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (start, part) = (part.start, &text[part]);
        let mut ends = std::mem::take(&mut scratch.given_ends);
        let encoded = self.each_word_of(cuts, part, &mut ends, special, scratch, interrupt, sink);
        scratch.given_ends = ends;
        encoded.map_err(|error| error.shifted(start))
    }

    #[allow(clippy::too_many_arguments)]
    fn each_word_of(
        &self,
        cuts: &GivenCuts,
        text: &[u8],
        ends: &mut Vec<usize>,
        special: OnSpecial<'_>,
        scratch: &mut Scratch,
        interrupt: &dyn Interrupt,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let (mut start, mut pacer) = (0, Pacer::new(interrupt));
        let encode_new = |scratch: &mut Scratch, word: &[u8], ids: &mut Vec<TokenId>| {
            self.each_normalized(word, special, scratch, interrupt, ids)
        };
        ends.clear();
        let (mut word, mut at) = (0, 0);
        while word < text.len() {
            at = self.next_cut(cuts, text, at);
            let is_long = at - word > Encoder::LONGEST_GIVEN;
            if !is_long {
                ends.push(at);
            }
            if ends.len() == GROUP || !ends.is_empty() && (is_long || at == text.len()) {
                let last = ends[ends.len() - 1];
                pacer.after_text(last - start)?;
                let group = Group::new(text, start, ends);
                self.encoder.encode_given(group, scratch, interrupt, sink, encode_new)?;
                ends.clear();
                start = last;
            }
            if is_long {
                pacer.after_text(at - word)?;
                let encoded = self.each_normalized(&text[word..at], special, scratch, interrupt, sink);
                encoded.map_err(|error| error.shifted(word))?;
                start = at;
            }
            word = at;
        }
        Ok(())
    }

    /// The first place after an offset at which a text is cut; the end of the text if there is none.
    #[inline]
    fn next_cut(&self, cuts: &GivenCuts, text: &[u8], from: usize) -> usize {
        let (mut before, len) = decode(&text[from..]);
        let mut at = from + len;
        while at < text.len() {
            let (after, len) = decode(&text[at..]);
            if let (Some(before), Some(after)) = (before, after) {
                let is_cut = match before.is_ascii() && after.is_ascii() {
                    true => cuts.ascii[before as usize] >> after as u32 & 1 != 0,
                    false => cuts.between(before, after, || self.decides_cut(before, after)),
                };
                if is_cut {
                    return at;
                }
            }
            before = after;
            at += len;
        }
        at
    }

    #[cold]
    #[inline(never)]
    fn decides_cut(&self, before: char, after: char) -> bool {
        let normalizer = self.normalizer.as_deref();
        normalizer.is_some_and(|normalizer| is_cut(normalizer, &self.pretokenizer, before, after))
    }
}
