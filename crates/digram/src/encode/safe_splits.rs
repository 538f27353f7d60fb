//! Places at which a text can be split, because no merge crosses them.
//!
//! If no token of the vocabulary spans a place of a text, no merge joins the two sides, and the text can be
//! split there before merging. Scripts without spaces make long pretokens in which most neighbouring
//! characters occur together in no token: with these splits, Japanese pretokens of 25 bytes become pieces
//! of 3, most of which are tokens and need no merging.
//!
//! The pairs of characters that are neighbours in some token are stored in a hashed bit set. A false
//! positive prevents a valid split, which costs time and changes no result. A token may also begin or end
//! inside a character; then only the byte next to the place is known on that side. So there are four kinds
//! of pairs, and each place is tested for all of them. Those with a byte are looked up in one word of bits for each
//! character.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod beside;
mod cut_scripts;

use std::collections::HashSet;
use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::bits::{AsciiPairs, BitFilter, ascii_set, pair_hash};
use crate::cpu::SimdLevel;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::merges::Merge;
use crate::utf8::{decode, is_inside, three_bytes_at, two_bytes_at};
use crate::vocabulary::Vocabulary;

use super::lookup::GROUP;
use super::text_slice::TextSlice;
pub(super) use beside::BytesBeside;
pub(super) use cut_scripts::{CutScripts, LetterCounts};

/// What a token is known to contain on one side of a place: a whole character, or one byte.
#[derive(Clone, Copy)]
enum KnownNeighbour {
    Character(char),
    Byte(u8),
}

impl KnownNeighbour {
    /// A hash of two neighbours, which differs from that of their characters in the set of these alone.
    fn hash_with(self, right: KnownNeighbour) -> u64 {
        let number = |neighbour| match neighbour {
            KnownNeighbour::Character(c) => u32::from(c),
            KnownNeighbour::Byte(byte) => u32::from(char::MAX) + 1 + u32::from(byte),
        };
        pair_hash(!number(self), number(right))
    }
}

/// The pairs of neighbours that occur in some token.
pub(super) struct SafeSplits {
    /// The pairs of characters.
    pairs: BitFilter,
    /// All four kinds of pairs, with few false positives, for places that are tested one by one: a text of one character
    /// again and again would have no split at all if it were among the false positives of the other sets.
    all_pairs: BitFilter,
    /// Whether a space may belong to the symbol of the character beside it.
    joins_spaces: bool,
    /// The pairs of a character and a byte, and those of a last and a first byte.
    beside: Arc<BytesBeside>,
    scripts: CutScripts,
    /// ASCII pairs that can be split; a text without splits tests every place.
    ascii: AsciiRows,
    /// The same, computed before much text is read.
    ascii_pairs: OnceBox<AsciiPairs>,
    /// The same for places that are tested one by one, with few false positives.
    exact_ascii: AsciiRows,
    simd: SimdLevel,
}

/// The number of ASCII characters that are read together.
const TOGETHER: usize = 8;

/// A set of pairs of ASCII characters, a bit of a row for each second one. The row of a first one is computed at first
/// use: all rows would take as long as a page of text does. Two threads may both compute one; a lock would be held
/// forever in a process that was forked meanwhile.
struct AsciiRows(Box<[OnceBox<u128>; 128]>);

impl Default for AsciiRows {
    fn default() -> AsciiRows {
        AsciiRows(Box::new([const { OnceBox::new() }; 128]))
    }
}

impl AsciiRows {
    /// Whether the set contains a pair, by the function that computes a row; `None` if one of them is not ASCII.
    #[inline(always)]
    fn has(&self, before: u8, after: u8, row: impl FnOnce(u8) -> u128) -> Option<bool> {
        match (before, after) {
            (0..128, 0..128) => {
                let row = *self.0[usize::from(before)].get_or_init(|| Box::new(row(before)));
                Some(row >> after & 1 == 1)
            }
            _ => None,
        }
    }
}

/// A character of a text, with its first and last byte.
#[derive(Clone, Copy)]
struct Neighbour {
    c: char,
    first: u8,
    last: u8,
    /// Its bits of [`BytesBeside`].
    beside: u32,
}

/// Consecutive pretokens of a text, and the ends of pieces of them, up to [`GROUP`].
struct Pieces<'t> {
    text: &'t [u8],
    pretoken_ends: &'t [usize],
    ends: [usize; GROUP],
    count: usize,
}

/// A position in consecutive pretokens that are split.
struct Run {
    /// The number of the pretoken.
    number: usize,
    at: usize,
    /// The character before it.
    left: Neighbour,
}

/// Says which pretokens are split, and receives the pieces.
pub(super) trait PieceVisitor {
    /// Whether a pretoken may be split.
    fn may_split(&mut self, pretoken: TextSlice<'_>) -> bool;

    /// Receives up to [`GROUP`] pieces that follow one another: where the first starts, and the ends of all.
    fn visit(&mut self, start: usize, ends: &[usize]) -> Result<()>;
}

/// All pretokens are split.
impl<V: FnMut(usize, &[usize]) -> Result<()>> PieceVisitor for V {
    #[inline]
    fn may_split(&mut self, _: TextSlice<'_>) -> bool {
        true
    }

    #[inline]
    fn visit(&mut self, start: usize, ends: &[usize]) -> Result<()> {
        self(start, ends)
    }
}

impl SafeSplits {
    /// Collects the pairs of the tokens that the merges make; if `joins_spaces`, also each pair with a space, which
    /// may belong to the symbol of the character beside it.
    pub(super) fn new(vocabulary: &Vocabulary, merges: &[Merge], joins_spaces: bool) -> SafeSplits {
        SafeSplits::of(joins_spaces, |place| {
            for merge in merges {
                let Some(token) = vocabulary.get(merge.id) else { continue };
                let middle = vocabulary.len_of(merge.left);
                let (left, right) = token.split_at(middle);
                if let (KnownNeighbour::Character(_), KnownNeighbour::Character(_)) =
                    (last_whole(left), first_whole(right))
                {
                    // The other places have the same neighbours as in the parts. A part that no merge makes
                    // never occurs in a text, unless it is a symbol, which has no inner places.
                    place(token, middle);
                } else {
                    (1..token.len()).for_each(|at| place(token, at));
                }
            }
        })
    }

    /// Collects the pairs of all tokens.
    pub(super) fn of_tokens<'v>(tokens: impl Iterator<Item = &'v [u8]>) -> SafeSplits {
        SafeSplits::of(false, |place| {
            tokens.for_each(|token| (1..token.len()).for_each(|at| place(token, at)))
        })
    }

    /// Collects the pairs at the places in tokens that `each_place` gives.
    fn of(joins_spaces: bool, each_place: impl FnOnce(&mut dyn FnMut(&[u8], usize))) -> SafeSplits {
        let (mut pairs, mut all_pairs, mut beside) = (Vec::new(), Vec::new(), BytesBeside::new());
        if joins_spaces {
            beside.add(' ', u32::MAX);
        }
        let (mut parts, mut letters) = (HashSet::new(), LetterCounts::default());
        let mut place = |token: &[u8], at: usize| {
            // A place inside a character is never tested.
            if is_inside(token[at]) {
                if let (Some(c), width) = decode(token)
                    && width == token.len()
                {
                    letters.add_whole(c);
                }
                return;
            }
            let (left, right) = (last_whole(&token[..at]), first_whole(&token[at..]));
            all_pairs.push(left.hash_with(right));
            match (left, right) {
                (KnownNeighbour::Character(left), KnownNeighbour::Character(right)) => {
                    pairs.push(hash(left, right));
                    letters.add_joined(left, right);
                }
                (KnownNeighbour::Character(c), KnownNeighbour::Byte(first)) => {
                    beside.add(c, 1 << BytesBeside::bit_behind(first));
                }
                (KnownNeighbour::Byte(last), KnownNeighbour::Character(c)) => {
                    beside.add(c, 1 << BytesBeside::bit_before(last));
                }
                (KnownNeighbour::Byte(left), KnownNeighbour::Byte(right)) => {
                    parts.insert((left, right));
                }
            }
        };
        each_place(&mut place);
        parts.into_iter().for_each(|(last, first)| beside.add_behind_last(last, first));
        // One bit in sixteen is set: about 6 % of the valid splits are missed.
        SafeSplits {
            pairs: BitFilter::of(pairs, 16),
            all_pairs: BitFilter::of(all_pairs, 64),
            joins_spaces,
            beside: Arc::new(beside),
            scripts: letters.cut_scripts(),
            ascii: AsciiRows::default(),
            ascii_pairs: OnceBox::new(),
            exact_ascii: AsciiRows::default(),
            simd: SimdLevel::best(),
        }
    }

    /// Prepares for much text, which then is read faster.
    pub(super) fn expect_much(&self) {
        let row = |before| self.ascii_row(before, SafeSplits::spanned);
        self.ascii_pairs.get_or_init(|| Box::new(AsciiPairs::of_rows(row)));
    }

    /// The bytes beside characters of which tokens hold only a part.
    pub(super) fn beside(&self) -> &Arc<BytesBeside> {
        &self.beside
    }

    /// The scripts whose letters are joined by few tokens.
    pub(super) fn scripts(&self) -> &CutScripts {
        &self.scripts
    }

    /// Calls `piece` with the pieces between the splits of `text`, in order, until it fails. The second
    /// argument is the character, if the piece is a single one.
    #[inline]
    pub(super) fn split<'t>(
        &self,
        text: &'t [u8],
        interrupt: &dyn Interrupt,
        mut piece: impl FnMut(&'t [u8], Option<char>) -> Result<()>,
    ) -> Result<()> {
        let (Some(c), mut at) = decode(text) else {
            // Nothing is known about the places in bytes that are not UTF-8.
            return piece(text, None);
        };
        let mut left = self.neighbour(c, text[0], text[at - 1]);
        let (mut start, mut single, mut pacer) = (0, Some(c), Pacer::new(interrupt));
        while at < text.len() {
            let (Some(c), width) = decode(&text[at..]) else { return piece(&text[start..], None) };
            pacer.after(width)?;
            let right = self.neighbour(c, text[at], text[at + width - 1]);
            if self.spanned(left, right) {
                single = None;
            } else {
                piece(&text[start..at], single)?;
                (start, single) = (at, Some(c));
            }
            (left, at) = (right, at + width);
        }
        piece(&text[start..], single)
    }

    /// The length of the first piece of `text`.
    pub(super) fn first_piece_len(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<usize> {
        let (Some(c), mut at) = decode(text) else { return Ok(text.len()) };
        let (mut left, mut pacer) = (self.neighbour(c, text[0], text[at - 1]), Pacer::new(interrupt));
        while let (Some(c), width) = decode(&text[at..]) {
            pacer.after(width)?;
            let right = self.neighbour(c, text[at], text[at + width - 1]);
            if !self.spanned_exactly(left, right) {
                return Ok(at);
            }
            (left, at) = (right, at + width);
        }
        // Nothing is known about the places in bytes that are not UTF-8.
        Ok(text.len())
    }

    /// The last split of the first `len` bytes of a longer text, if there is one.
    pub(super) fn last_split(&self, text: &[u8], len: usize) -> Option<usize> {
        (1..=len).rev().find(|&at| self.can_split_at(text, at))
    }

    /// Calls [`visit`](PieceVisitor::visit) with the pieces of consecutive pretokens, in order, until it fails. The
    /// pretokens end at `pretoken_ends`, and the first starts at `start`; those for which
    /// [`may_split`](PieceVisitor::may_split) returns true are split, and may be others that follow such a one
    /// without a space.
    ///
    /// Pretokens of scripts without spaces are read like one text, without a branch on whether a place is a
    /// split or the end of a pretoken, neither of which can be predicted.
    pub(super) fn each_group(
        &self,
        text: &[u8],
        mut start: usize,
        pretoken_ends: &[usize],
        visitor: &mut impl PieceVisitor,
    ) -> Result<()> {
        let mut pieces = Pieces { text, pretoken_ends, ends: [0; GROUP], count: 0 };
        let mut group_start = start;
        let mut number = 0;
        while number < pretoken_ends.len() {
            let pretoken = TextSlice { text, start, end: pretoken_ends[number] };
            let first = if visitor.may_split(pretoken) { decode(pretoken.bytes()) } else { (None, 0) };
            if let (Some(c), width) = first {
                let left = self.neighbour(c, text[start], text[start + width - 1]);
                let mut run = Run { number, at: start + width, left };
                loop {
                    if run.left.c.is_ascii() {
                        self.read_ascii(&mut run, &mut pieces);
                    }
                    if pieces.count < GROUP {
                        match text.get(run.at) {
                            Some(0xc0..0xe0) => self.read_by::<2>(&mut run, &mut pieces, two_bytes_at),
                            Some(0xe0..0xf0) => self.read_three_byte_characters(&mut run, &mut pieces),
                            _ => (),
                        }
                    }
                    if pieces.count == GROUP {
                        visitor.visit(
                            std::mem::replace(&mut group_start, pieces.ends[GROUP - 1]),
                            &pieces.ends,
                        )?;
                        pieces.count = 0;
                    } else if run.at >= pretoken_ends[run.number] {
                        break;
                    } else {
                        let (Some(c), width) = decode(&text[run.at..]) else { break };
                        let right = self.neighbour(c, text[run.at], text[run.at + width - 1]);
                        pieces.ends[pieces.count] = run.at;
                        pieces.count += usize::from(!self.spanned(run.left, right));
                        run = Run { left: right, at: run.at + width, ..run };
                    }
                }
                number = run.number;
            }
            // Nothing is known about the places in bytes that are not UTF-8.
            start = pretoken_ends[number];
            number += 1;
            if pieces.count == GROUP {
                visitor.visit(std::mem::replace(&mut group_start, pieces.ends[GROUP - 1]), &pieces.ends)?;
                pieces.count = 0;
            }
            pieces.ends[pieces.count] = start;
            pieces.count += 1;
        }
        visitor.visit(group_start, &pieces.ends[..pieces.count])
    }

    /// Continues a run behind an ASCII character as long as its characters are ASCII, up to the end of the pretoken, and
    /// adds the ends of its pieces, until there are [`GROUP`].
    fn read_ascii(&self, run: &mut Run, pieces: &mut Pieces<'_>) {
        let end = pieces.pretoken_ends[run.number];
        let (mut at, mut before, mut count) = (run.at, run.left.last, pieces.count);
        if let Some(pairs) = self.ascii_pairs.get() {
            let text = &pieces.text[..end];
            while let Some(bytes) = text[at..].first_chunk::<TOGETHER>()
                && bytes.is_ascii()
                && let Some(free) = pieces.ends[count..].first_chunk_mut::<TOGETHER>()
            {
                let mut added = 0;
                for (offset, &byte) in bytes.iter().enumerate() {
                    free[added % TOGETHER] = at + offset;
                    added += usize::from(pairs.has_ascii(before, byte));
                    before = byte;
                }
                at += TOGETHER;
                count += added;
            }
        }
        while at < end
            && count < GROUP
            && let Some(is_split) = self.splits_ascii(before, pieces.text[at])
        {
            pieces.ends[count] = at;
            count += usize::from(is_split);
            (before, at) = (pieces.text[at], at + 1);
        }
        if at > run.at {
            (run.at, run.left) = (at, self.neighbour(before.into(), before, before));
        }
        pieces.count = count;
    }

    /// Continues a run as long as its characters have three bytes, up to the end of the last pretoken, and adds
    /// the ends of its pieces, until there are [`GROUP`].
    fn read_three_byte_characters(&self, run: &mut Run, pieces: &mut Pieces<'_>) {
        match self.simd {
            SimdLevel::Plain => self.read_by::<3>(run, pieces, three_bytes_at),
            // SAFETY: these levels are chosen only where the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => unsafe {
                avx2::read_three(self, run, pieces);
                self.read_by::<3>(run, pieces, three_bytes_at);
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => unsafe {
                avx512::read_three(self, run, pieces);
                self.read_by::<3>(run, pieces, three_bytes_at);
            },
        }
    }

    /// Does this for characters of `WIDTH` bytes, of which `character_at` gives the one at an offset of a text.
    // Only numbers in the loop: the compiler would pack a `Neighbour` into one, and unpack it in each turn.
    #[inline]
    fn read_by<const WIDTH: usize>(
        &self,
        run: &mut Run,
        pieces: &mut Pieces<'_>,
        character_at: impl Fn(&[u8], usize) -> Option<char>,
    ) {
        let Pieces { text, pretoken_ends, ends, count } = pieces;
        let Run { mut number, mut at, left } = *run;
        let pairs = self.pairs.view();
        let mut end_count = *count;
        let last = pretoken_ends[pretoken_ends.len() - 1];
        let (mut left_c, mut left_last, mut left_beside) = (left.c, left.last, left.beside);
        while at < last && end_count < GROUP {
            let Some(c) = character_at(text, at) else { break };
            let (first, beside) = (text[at], self.beside.of(c));
            let by_byte =
                left_beside >> BytesBeside::bit_behind(first) | beside >> BytesBeside::bit_before(left_last);
            let spanned = pairs.bit(hash(left_c, c)) | u64::from(by_byte & 1);
            let is_end = at >= pretoken_ends[number];
            ends[end_count] = at;
            end_count += usize::from(is_end) | (spanned ^ 1) as usize;
            number += usize::from(is_end);
            (left_c, left_last, left_beside) = (c, text[at + WIDTH - 1], beside);
            at += WIDTH;
        }
        *run =
            Run { number, at, left: Neighbour { c: left_c, last: left_last, beside: left_beside, ..left } };
        *count = end_count;
    }

    /// Whether no token spans the place `at` in any text with these two characters there: the same places as those of
    /// [`first_piece_len`](SafeSplits::first_piece_len), since who finds none here asks there.
    pub(super) fn can_split_at(&self, text: &[u8], at: usize) -> bool {
        let row = |before| self.ascii_row(before, SafeSplits::spanned_exactly);
        if let Some(is_split) = self.exact_ascii.has(text[at - 1], text[at], row) {
            return is_split;
        }
        let neighbour = |c, bytes: &[u8]| self.neighbour(c, bytes[0], bytes[bytes.len() - 1]);
        match (bstr::decode_last_utf8(&text[..at]), decode(&text[at..])) {
            ((Some(before), width), (Some(after), after_width)) => !self.spanned_exactly(
                neighbour(before, &text[at - width..at]),
                neighbour(after, &text[at..at + after_width]),
            ),
            _ => false,
        }
    }

    /// Whether two characters can be split; `None` if one of them is not ASCII.
    #[inline(always)]
    fn splits_ascii(&self, before: u8, after: u8) -> Option<bool> {
        self.ascii.has(before, after, |before| self.ascii_row(before, SafeSplits::spanned))
    }

    /// The ASCII characters from which one can be split that stands before them, by a predicate that is false then.
    #[cold]
    fn ascii_row(&self, before: u8, spanned: impl Fn(&SafeSplits, Neighbour, Neighbour) -> bool) -> u128 {
        let of = |byte: u8| self.neighbour(byte.into(), byte, byte);
        let before = of(before);
        ascii_set(|after| !spanned(self, before, of(after)))
    }

    #[inline(always)]
    fn neighbour(&self, c: char, first: u8, last: u8) -> Neighbour {
        Neighbour { c, first, last, beside: self.beside.of(c) }
    }

    /// As [`spanned`](SafeSplits::spanned), with few false positives.
    fn spanned_exactly(&self, left: Neighbour, right: Neighbour) -> bool {
        let lefts = [KnownNeighbour::Character(left.c), KnownNeighbour::Byte(left.last)];
        let rights = [KnownNeighbour::Character(right.c), KnownNeighbour::Byte(right.first)];
        let is_pair = |left: KnownNeighbour| {
            rights.iter().any(|&right| self.all_pairs.may_contain(left.hash_with(right)))
        };
        self.spanned(left, right)
            && (lefts.into_iter().any(is_pair) || self.joins_spaces && (left.c == ' ' || right.c == ' '))
    }

    /// Whether a token may span the place between two characters.
    #[inline(always)]
    fn spanned(&self, left: Neighbour, right: Neighbour) -> bool {
        let by_byte = BytesBeside::may_span((left.beside, left.last), (right.beside, right.first));
        self.pairs.may_contain(hash(left.c, right.c)) | by_byte
    }
}

#[inline(always)]
fn hash(left: char, right: char) -> u64 {
    pair_hash(left.into(), right.into())
}

/// Which of consecutive characters of three bytes, from `at` on, begin where a pretoken ends, one bit each. `number` is
/// that of the first pretoken that may end there, and then of the first that ends behind the last of these places.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ends_before_characters(pretoken_ends: &[usize], number: &mut usize, at: usize, characters: usize) -> u32 {
    let mut are_ends = 0;
    while let Some(end) = pretoken_ends.get(*number).filter(|&&end| end <= at + 3 * (characters - 1)) {
        are_ends |= 1 << end.saturating_sub(at).div_ceil(3);
        *number += 1;
    }
    are_ends
}

/// The character that ends where `text` does, or the last byte if the character starts before it.
fn last_whole(text: &[u8]) -> KnownNeighbour {
    if let Some(&byte) = text.last().filter(|byte| byte.is_ascii()) {
        return KnownNeighbour::Character(byte.into());
    }
    match bstr::decode_last_utf8(text).0 {
        Some(c) => KnownNeighbour::Character(c),
        None => KnownNeighbour::Byte(text[text.len() - 1]),
    }
}

/// The character that `text` starts with, or the first byte if the character ends after it.
fn first_whole(text: &[u8]) -> KnownNeighbour {
    match decode(text).0 {
        Some(c) => KnownNeighbour::Character(c),
        None => KnownNeighbour::Byte(text[0]),
    }
}

#[cfg(test)]
mod tests;
