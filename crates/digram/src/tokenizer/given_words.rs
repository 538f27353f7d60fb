//! Words of a text as it was given, whose ids are cached.
//!
//! A normalizer that cuts text into words changes each of them on its own: a text can be cut before it is normalized
//! where two characters decide that its words are those of its two parts. So words that were encoded before, as most
//! of a text are, need not be normalized and split again.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::Tokenizer;
use super::encoding::push_added;
use crate::added_tokens::{AddedMatch, AddedTokens, OnSpecial};
use crate::encode::{EncodeWords, Encoder, GROUP, Group, Scratch, Sink};
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::normalize::{JoinedTexts, Normalizer};
use crate::pretokenize::Pretokenizer;
use crate::utf8::{decode, is_inside};
use crate::vocabulary::TokenId;

/// The number of pairs of characters that are remembered.
const PAIRS: usize = 1 << 12;

/// The number of bytes after which the interrupt is checked where a text is not cut.
const PAUSE: usize = 1 << 16;

/// The bits of a character in a pair.
const CHARACTER: u32 = 21;

/// The bits of a pair that say that it is known, and that a text is cut there.
const KNOWN: u64 = 1 << (2 * CHARACTER);
const CUT: u64 = KNOWN << 1;

/// The number of kinds of characters.
const KINDS: usize = 64;

/// A character of no kind.
const NO_KIND: u8 = u8::MAX;

/// Kinds of characters between which a text is cut, or not, found when a text has them.
struct Kinds {
    /// One more than the number of a kind for each character of up to three bytes; 0 if that is not known.
    of: Box<[AtomicU8]>,
    /// What each kind depends on, and one more; 0 for none.
    numbers: [AtomicU64; KINDS],
    /// The kinds behind each.
    behind: [Behind; KINDS],
}

/// Of 64 characters or kinds those for which it is known whether a text is cut before them behind another one, and those
/// for which it is.
struct Behind([AtomicU64; 2]);

impl Behind {
    const fn unknown() -> Behind {
        Behind([const { AtomicU64::new(0) }; 2])
    }

    #[inline]
    fn of(&self, after: u8, decide: impl FnOnce() -> bool) -> bool {
        let Behind([known, cut]) = self;
        if known.load(Ordering::Acquire) >> after & 1 != 0 {
            return cut.load(Ordering::Relaxed) >> after & 1 != 0;
        }
        let is_cut = decide();
        cut.fetch_or(u64::from(is_cut) << after, Ordering::Relaxed);
        // Whoever sees that it is known sees the result.
        known.fetch_or(1 << after, Ordering::Release);
        is_cut
    }
}

impl Kinds {
    fn new() -> Kinds {
        Kinds {
            of: (0..1 << 16).map(|_| AtomicU8::new(0)).collect(),
            numbers: [const { AtomicU64::new(0) }; KINDS],
            behind: [const { Behind::unknown() }; KINDS],
        }
    }

    /// The kind of a character, or [`NO_KIND`].
    #[inline]
    fn of(&self, c: char, number: impl FnOnce() -> Option<u64>) -> u8 {
        let Some(known) = self.of.get(c as usize) else { return NO_KIND };
        match known.load(Ordering::Relaxed) {
            0 => self.find(known, number()),
            kind => kind - 1,
        }
    }

    #[cold]
    fn find(&self, known: &AtomicU8, number: Option<u64>) -> u8 {
        let Some(number) = number else { return NO_KIND };
        let is_it = |place: &AtomicU64| {
            let taken = place.compare_exchange(0, number + 1, Ordering::Relaxed, Ordering::Relaxed);
            taken.map_or_else(|other| other == number + 1, |_| true)
        };
        let Some(kind) = self.numbers.iter().position(is_it) else { return NO_KIND };
        known.store(kind as u8 + 1, Ordering::Relaxed);
        kind as u8
    }
}

/// Where a given text is cut.
pub(super) struct GivenCuts {
    /// The ASCII characters behind each of them, unless kinds decide.
    ascii: Box<[Behind; 128 * 2]>,
    /// The kinds of characters of up to three bytes, if kinds decide.
    kinds: Option<Kinds>,
    /// Other pairs of characters, found when a text has them.
    pairs: Box<[AtomicU64]>,
    /// Whether a text is cut only beside ASCII characters.
    only_beside_ascii: bool,
}

impl GivenCuts {
    /// Those of a normalizer that cuts text into words.
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &Pretokenizer) -> Option<Box<GivenCuts>> {
        let normalizer = normalizer.filter(|normalizer| {
            normalizer.has_words() && normalizer.has_seams() && !normalizer.depends_on_start()
        })?;
        let any =
            [' ', '\n', '.', '語'].into_iter().any(|after| is_cut(normalizer, pretokenizer, 'a', after));
        any.then(|| {
            Box::new(GivenCuts {
                ascii: Box::new([const { Behind::unknown() }; 128 * 2]),
                kinds: normalizer.side_number('a').map(|_| Kinds::new()),
                pairs: (0..PAIRS).map(|_| AtomicU64::new(0)).collect(),
                only_beside_ascii: normalizer.cuts_beside_ascii(),
            })
        })
    }

    /// Whether a text is cut between two characters; `decide` is called if that is not known.
    #[inline]
    fn between(&self, before: char, after: char, decide: impl FnOnce() -> bool) -> bool {
        if before.is_ascii() && after.is_ascii() {
            let (before, after) = (before as usize, after as u8);
            return self.ascii[2 * before + usize::from(after / 64)].of(after % 64, decide);
        }
        self.between_others(before, after, decide)
    }

    #[inline]
    fn between_others(&self, before: char, after: char, decide: impl FnOnce() -> bool) -> bool {
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

/// The place of the first ASCII character behind an offset, and the character before it.
#[inline]
fn last_before_ascii(text: &[u8], from: usize) -> (Option<char>, usize) {
    let until = text.len().min(from + PAUSE);
    let other = text[from..until].iter().position(u8::is_ascii);
    let at = other.map_or(until, |len| from + len);
    // It has up to four bytes, the first of which is no inner one.
    let start = (from..at).rev().take(4).find(|&start| !is_inside(text[start])).unwrap_or(from);
    match decode(&text[start..at]) {
        (c, len) if start + len == at => (c, at),
        _ => (None, at),
    }
}

/// Whether every text is cut between two characters. Not behind a space, so that words begin with theirs.
fn is_cut(normalizer: &Normalizer, pretokenizer: &Pretokenizer, before: char, after: char) -> bool {
    before != ' ' && normalizer.cuts_words(before, after, pretokenizer)
}

/// Computes the ids of words of a text.
struct NewWords<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a [u8],
    special: OnSpecial<'a>,
    interrupt: &'a dyn Interrupt,
}

impl EncodeWords for NewWords<'_> {
    fn encode(
        &mut self,
        words: &[[usize; 2]],
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let normalizer = self.tokenizer.normalizer.as_deref();
        if let Some(normalizer) = normalizer.filter(|normalizer| normalizer.joins_texts()) {
            let mut joined = std::mem::take(&mut scratch.joined);
            // They are nearly the same as the words that are cached.
            scratch.keeps_pretokens = false;
            let encoded = self.encode_joined(normalizer, words, &mut joined, scratch, ids, ends);
            scratch.keeps_pretokens = true;
            scratch.joined = joined;
            if encoded.is_ok() {
                return Ok(());
            }
            // The first error is found again, with its place.
            ids.clear();
            ends.clear();
        }
        for &[start, end] in words {
            let word = &self.text[start..end];
            let encoded = self.tokenizer.each_normalized(word, self.special, scratch, self.interrupt, ids);
            encoded.map_err(|error| error.shifted(start))?;
            ends.push(ids.len());
        }
        Ok(())
    }
}

impl NewWords<'_> {
    /// The same for words that are cut together once each is normalized.
    fn encode_joined(
        &self,
        normalizer: &Normalizer,
        words: &[[usize; 2]],
        joined: &mut JoinedTexts,
        scratch: &mut Scratch,
        ids: &mut Vec<TokenId>,
        ends: &mut Vec<usize>,
    ) -> Result<()> {
        let NewWords { tokenizer, text, interrupt, .. } = *self;
        let texts = words.iter().map(|&[start, end]| &text[start..end]);
        normalizer.push_texts(texts, joined, interrupt)?;
        let words = joined.words();
        for (start, word_ends) in joined.each() {
            tokenizer.for_words(words, start, word_ends, interrupt, |start, ends| {
                tokenizer.encoder.encode(Group::new(words, start, ends), scratch, interrupt, ids)
            })?;
            ends.push(ids.len());
        }
        Ok(())
    }
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
        let mut new = NewWords { tokenizer: self, text, special, interrupt };
        ends.clear();
        let (mut word, mut at) = (0, 0);
        while word < text.len() {
            at = self.next_cut(cuts, text, at, &mut pacer)?;
            let is_long = at - word > Encoder::LONGEST_GIVEN;
            if !is_long {
                ends.push(at);
            }
            if ends.len() == GROUP || !ends.is_empty() && (is_long || at == text.len()) {
                let last = ends[ends.len() - 1];
                pacer.after_text(last - start)?;
                let group = Group::new(text, start, ends);
                self.encoder.encode_given(group, scratch, interrupt, sink, &mut new)?;
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
    fn next_cut(&self, cuts: &GivenCuts, text: &[u8], from: usize, pacer: &mut Pacer<'_>) -> Result<usize> {
        let (mut before, len) = decode(&text[from..]);
        let (mut at, mut pause) = (from + len, from + PAUSE);
        if let Some(kinds) = &cuts.kinds {
            return self.next_cut_of_kinds(cuts, kinds, text, before, at, pacer);
        }
        if cuts.only_beside_ascii && !text[from].is_ascii() {
            (before, at) = last_before_ascii(text, from);
        }
        while at < text.len() {
            let (after, len) = decode(&text[at..]);
            if let (Some(before), Some(after)) = (before, after)
                && cuts.between(before, after, || self.decides_cut(before, after))
            {
                return Ok(at);
            }
            (before, at) = match after {
                Some(c) if cuts.only_beside_ascii && !c.is_ascii() => last_before_ascii(text, at),
                _ => (after, at + len),
            };
            if at > pause {
                pacer.after(PAUSE)?;
                pause += PAUSE;
            }
        }
        Ok(at)
    }

    /// The same where the kinds of most characters decide.
    #[inline]
    fn next_cut_of_kinds(
        &self,
        cuts: &GivenCuts,
        kinds: &Kinds,
        text: &[u8],
        mut before: Option<char>,
        mut at: usize,
        pacer: &mut Pacer<'_>,
    ) -> Result<usize> {
        let mut pause = at + PAUSE;
        let kind_of = |c| kinds.of(c, || self.side_number(c));
        let mut kind_before = before.map_or(NO_KIND, kind_of);
        while at < text.len() {
            let (after, len) = decode(&text[at..]);
            let kind = after.map_or(NO_KIND, kind_of);
            let is_cut = match (before, after) {
                (Some(before), Some(after)) if kind_before != NO_KIND && kind != NO_KIND => {
                    kinds.behind[usize::from(kind_before)].of(kind, || self.decides_cut(before, after))
                }
                (Some(before), Some(after)) => {
                    cuts.between(before, after, || self.decides_cut(before, after))
                }
                _ => false,
            };
            if is_cut {
                return Ok(at);
            }
            (before, kind_before) = (after, kind);
            at += len;
            if at > pause {
                pacer.after(PAUSE)?;
                pause += PAUSE;
            }
        }
        Ok(at)
    }

    /// What the cuts beside a character depend on.
    #[cold]
    #[inline(never)]
    fn side_number(&self, c: char) -> Option<u64> {
        // A text is never cut behind a space.
        let number = self.normalizer.as_deref()?.side_number(c)?;
        Some(number << 1 | u64::from(c == ' '))
    }

    #[cold]
    #[inline(never)]
    fn decides_cut(&self, before: char, after: char) -> bool {
        let normalizer = self.normalizer.as_deref();
        normalizer.is_some_and(|normalizer| is_cut(normalizer, &self.pretokenizer, before, after))
    }
}
