//! Tokens that are found in text as a whole, before it is split: special ones only if the caller requests it, and
//! others in all text.
//!
//! They are found in two passes. The first searches for most tokens in the text as it was given. The second
//! searches for those with [`Matching::normalized`] in what is between the tokens of the first, after
//! normalization. In each pass the leftmost match counts, and of several that start there the longest. A match
//! that is dropped, because a word goes on beside it, still hides those that it overlaps. These are the rules of
//! Hugging Face's tokenizers.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use bstr::ByteSlice;

use crate::error::{Error, Result};
use crate::pretokenize::unicode;
use crate::utf8::{decode, white_space_at_start, without_white_space_at_end};
use crate::vocabulary::TokenId;

/// What to do with text that spells a special token.
#[derive(Debug, Clone, Copy)]
pub enum OnSpecial<'a> {
    /// It is encoded as plain text.
    Text,
    /// It becomes the special token.
    Parse,
    /// It is an error.
    Fail,
    /// It becomes the special token if it is one of these, and is plain text otherwise.
    Allow(&'a AddedTokens),
}

/// Where the text of an added token is that token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matching {
    /// White space before the text belongs to the token.
    pub lstrip: bool,
    /// White space after the text belongs to the token.
    pub rstrip: bool,
    /// Only where no word character is directly before or after the text.
    pub single_word: bool,
    /// It is searched for in normalized text, and only where no other token was found.
    pub normalized: bool,
    /// Spaces stand for a symbol that is no white space, so that they never belong to the token.
    pub keeps_spaces: bool,
}

/// A token that is found in text as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedToken {
    /// The text.
    pub text: String,
    /// The id.
    pub id: TokenId,
    /// Whether it is found only if the caller requests it, and left out of decoded text on request.
    pub is_special: bool,
    /// Where its text is the token.
    pub matching: Matching,
    /// What is searched for, and what it is decoded to, if that is not the text: its normal form.
    pub normal_form: Option<String>,
}

impl AddedToken {
    /// A special token that is found exactly as it is written.
    pub fn special(text: &str, id: TokenId) -> AddedToken {
        let matching = Matching::default();
        AddedToken { text: text.into(), id, is_special: true, matching, normal_form: None }
    }

    /// What is searched for.
    pub(crate) fn pattern(&self) -> &str {
        self.normal_form.as_deref().unwrap_or(&self.text)
    }
}

/// A set of added tokens with the automata that find them.
#[derive(Debug, Clone)]
pub struct AddedTokens {
    tokens: Vec<AddedToken>,
    /// The indices of the tokens in the order of their texts.
    by_text: Vec<usize>,
    /// The ids of all, in ascending order.
    ids: Vec<TokenId>,
    /// The ids of special tokens, in ascending order.
    special_ids: Vec<TokenId>,
    /// Those of them that decoding leaves out on request.
    left_out: Vec<TokenId>,
    /// Of the two passes.
    finders: [Option<Finder>; 2],
    crossed: Option<Box<BytePairs>>,
    /// The ranges of the characters of words, if a token depends on them.
    word: Box<[(char, char)]>,
    /// The length of the longest pattern, in bytes.
    longest: usize,
    depends_on_neighbours: bool,
}

/// An automaton for some of the tokens, with their indices.
#[derive(Debug, Clone)]
struct Finder {
    automaton: AhoCorasick,
    indices: Vec<usize>,
}

/// An added token in a text.
#[derive(Debug, Clone)]
pub(crate) struct AddedMatch<'a> {
    /// Its place, with the white space that belongs to it. After a token that took white space, the next one may
    /// start before the end of that.
    pub(crate) range: Range<usize>,
    pub(crate) token: &'a AddedToken,
}

impl AddedTokens {
    /// A set of tokens; fails if one is empty, or if a text or an id occurs twice.
    pub fn new(tokens: Vec<AddedToken>) -> Result<AddedTokens> {
        let fail = |reason: String| Err(Error::Vocabulary { reason });
        let text = |index: usize| &tokens[index].text;
        let mut by_text: Vec<usize> = (0..tokens.len()).collect();
        let mut ids: Vec<TokenId> = tokens.iter().map(|token| token.id).collect();
        by_text.sort_unstable_by_key(|&index| text(index));
        ids.sort_unstable();
        if by_text.first().is_some_and(|&index| text(index).is_empty()) {
            return fail("a special token is empty.".into());
        }
        if let Some(duplicates) = by_text.windows(2).find(|pair| text(pair[0]) == text(pair[1])) {
            return fail(format!("the special token {:?} is there twice.", text(duplicates[0])));
        }
        if let Some(duplicates) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return fail(format!("two special tokens have the id {}.", duplicates[0]));
        }
        let ids_of = |chosen: fn(&AddedToken) -> bool| {
            let mut ids: Vec<TokenId> =
                tokens.iter().filter(|token| chosen(token)).map(|token| token.id).collect();
            ids.sort_unstable();
            ids
        };
        let special_ids = ids_of(|token| token.is_special);
        let left_out = ids_of(|token| token.is_special && token.pattern() == token.text);
        let finders = [Finder::of(&tokens, false)?, Finder::of(&tokens, true)?];
        let crossed = BytePairs::crossed_by(&tokens);
        let word = match tokens.iter().any(|token| token.matching.single_word) {
            true => unicode::word_ranges(),
            false => Box::default(),
        };
        let longest = tokens.iter().map(|token| token.pattern().len()).max().unwrap_or(0);
        let depends_on_neighbours = tokens.iter().any(|token| {
            let Matching { lstrip, rstrip, single_word, .. } = token.matching;
            lstrip || rstrip || single_word
        });
        Ok(AddedTokens {
            tokens,
            by_text,
            ids,
            special_ids,
            left_out,
            finders,
            crossed,
            word,
            longest,
            depends_on_neighbours,
        })
    }

    /// The tokens in the order given.
    pub fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// Whether the set has no token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The ids of the special tokens, in ascending order.
    pub fn special_ids(&self) -> &[TokenId] {
        &self.special_ids
    }

    /// The id of the token with a text.
    pub fn id(&self, text: &str) -> Option<TokenId> {
        let found = self.by_text.binary_search_by_key(&text, |&index| &self.tokens[index].text);
        found.ok().map(|at| self.tokens[self.by_text[at]].id)
    }

    /// The tokens that are not special, and the special ones that have one of these ids, which are in ascending
    /// order.
    pub fn allowing(&self, ids: &[TokenId]) -> Result<AddedTokens> {
        let allowed = |token: &&AddedToken| !token.is_special || ids.binary_search(&token.id).is_ok();
        AddedTokens::new(self.tokens.iter().filter(allowed).cloned().collect())
    }

    /// Whether an id is that of one of these tokens. Takes logarithmic time.
    pub(crate) fn contains(&self, id: TokenId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// Whether an id is that of a special token.
    pub fn has_special(&self, id: TokenId) -> bool {
        self.special_ids.binary_search(&id).is_ok()
    }

    /// Whether decoding leaves out a token on request: it is special, and its text is not normalized. In Hugging
    /// Face's library, others are not recognized by their normal form.
    #[inline]
    pub(crate) fn may_leave_out(&self, id: TokenId) -> bool {
        // Their ids are usually above all others, so the first comparison decides most calls.
        self.left_out.first().is_some_and(|&first| id >= first) && self.left_out.binary_search(&id).is_ok()
    }

    /// The length of the longest text that is searched for, in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a token of the first pass, or of the second, may be found.
    pub(crate) fn has_pass(&self, normalized: bool) -> bool {
        self.finders[usize::from(normalized)].is_some()
    }

    /// Whether some token is matched depending on the characters beside it.
    pub(crate) fn depends_on_neighbours(&self) -> bool {
        self.depends_on_neighbours
    }

    /// Whether a token may reach over an offset between two bytes, or depend on both.
    pub(crate) fn may_cross(&self, before: u8, after: u8) -> bool {
        self.crossed.as_ref().is_some_and(|pairs| pairs.has(before, after))
    }

    /// The same for two characters, as the bytes that are next to each other.
    pub(crate) fn may_cross_between(&self, before: char, after: char) -> bool {
        let mut bytes = [[0; char::MAX.len_utf8()]; 2];
        let before = before.encode_utf8(&mut bytes[0]).as_bytes().last().copied();
        let after = after.encode_utf8(&mut bytes[1]).as_bytes().first().copied();
        before.zip(after).is_some_and(|(before, after)| self.may_cross(before, after))
    }

    /// The tokens in a text that is not normalized, or is normalized already, from `from` on.
    pub(crate) fn matches<'a>(&'a self, text: &'a [u8], from: usize) -> Matches<'a> {
        let [first, second] =
            self.finders.each_ref().map(|finder| Pass { finder: finder.as_ref(), next: from });
        Matches {
            set: self,
            text,
            position: from,
            piece: from,
            first,
            second,
            pending: None,
            is_first_over: false,
        }
    }

    /// The tokens of one of the two passes in a text.
    pub(crate) fn matches_of_pass<'a, 't>(&'a self, normalized: bool, text: &'t [u8]) -> PassMatches<'a, 't> {
        let pass = Pass { finder: self.finders[usize::from(normalized)].as_ref(), next: 0 };
        PassMatches { set: self, text, pass, position: 0 }
    }
}

impl Finder {
    fn of(tokens: &[AddedToken], normalized: bool) -> Result<Option<Finder>> {
        let is_of_pass = |index: &usize| {
            let token = &tokens[*index];
            token.matching.normalized == normalized && !token.pattern().is_empty()
        };
        let indices: Vec<usize> = (0..tokens.len()).filter(is_of_pass).collect();
        if indices.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(indices.iter().map(|&index| tokens[index].pattern()))
            .map_err(|error| Error::Limit { reason: format!("the special tokens are too many: {error}.") })?;
        Ok(Some(Finder { automaton, indices }))
    }
}

/// The search of one pass.
#[derive(Clone)]
struct Pass<'a> {
    finder: Option<&'a Finder>,
    /// Where it goes on.
    next: usize,
}

impl<'a> Pass<'a> {
    /// The next token in a range of a text, whose white space starts at `position` at the earliest.
    #[inline]
    fn find(
        &mut self,
        set: &'a AddedTokens,
        text: &[u8],
        range: Range<usize>,
        position: usize,
    ) -> Option<AddedMatch<'a>> {
        let finder = self.finder?;
        loop {
            if self.next > range.end {
                return None;
            }
            let found = finder.automaton.find(Input::new(text).range(self.next..range.end))?;
            self.next = found.end();
            let token = &set.tokens[finder.indices[found.pattern().as_usize()]];
            let (mut start, mut end) = (found.start(), found.end());
            let Matching { lstrip, rstrip, single_word, keeps_spaces, .. } = token.matching;
            if single_word {
                let before = bstr::decode_last_utf8(&text[range.start..start]).0;
                let after = decode(&text[end..range.end]).0;
                if [before, after].into_iter().flatten().any(|c| unicode::contains(&set.word, c)) {
                    continue;
                }
            }
            if lstrip {
                // Not before the end of the last token, also so that no white space is read again and again.
                let from = position.clamp(range.start, start);
                let before = &text[from..start];
                let spaces = if keeps_spaces { before.rfind_byte(b' ').map_or(0, |at| at + 1) } else { 0 };
                start = (from + without_white_space_at_end(before).max(spaces)).max(position);
            }
            if rstrip {
                let after = &text[end..range.end];
                let spaces = after.find_byte(b' ').filter(|_| keeps_spaces).unwrap_or(after.len());
                end += white_space_at_start(&after[..spaces]);
            }
            // White space that belongs to the last token is not another one.
            if start < end {
                return Some(AddedMatch { range: start..end, token });
            }
        }
    }
}

/// The tokens that one pass finds in a text.
pub(crate) struct PassMatches<'a, 't> {
    set: &'a AddedTokens,
    text: &'t [u8],
    pass: Pass<'a>,
    position: usize,
}

impl<'a> Iterator for PassMatches<'a, '_> {
    type Item = AddedMatch<'a>;

    fn next(&mut self) -> Option<AddedMatch<'a>> {
        let found = self.pass.find(self.set, self.text, 0..self.text.len(), self.position)?;
        self.position = found.range.end;
        Some(found)
    }
}

/// The tokens that both passes find in a text.
#[derive(Clone)]
pub(crate) struct Matches<'a> {
    set: &'a AddedTokens,
    text: &'a [u8],
    /// The end of the last token.
    position: usize,
    /// The start of what the second pass searches.
    piece: usize,
    first: Pass<'a>,
    second: Pass<'a>,
    /// The next token of the first pass, if it was searched for.
    pending: Option<AddedMatch<'a>>,
    is_first_over: bool,
}

impl<'a> Iterator for Matches<'a> {
    type Item = AddedMatch<'a>;

    #[inline]
    fn next(&mut self) -> Option<AddedMatch<'a>> {
        let all = self.text.len();
        if self.pending.is_none() && !self.is_first_over {
            self.pending = self.first.find(self.set, self.text, 0..all, self.position);
            self.is_first_over = self.pending.is_none();
        }
        if self.second.finder.is_some() {
            let end = self.pending.as_ref().map_or(all, |found| found.range.start);
            let piece = self.piece..end.max(self.piece);
            if let Some(found) = self.second.find(self.set, self.text, piece, self.position) {
                self.position = found.range.end;
                return Some(found);
            }
        }
        let found = self.pending.take()?;
        (self.position, self.piece, self.second.next) = (found.range.end, found.range.end, found.range.end);
        Some(found)
    }
}

/// Whether a byte may be the first of a character of white space.
fn may_start_white_space(byte: u8) -> bool {
    matches!(byte, 0xc2 | 0xe1..=0xe3) || char::from(byte).is_ascii_whitespace() || byte == 0x0b
}

/// Whether a byte may be the last of a character of white space.
fn may_end_white_space(byte: u8) -> bool {
    byte == 0x0b
        || char::from(byte).is_ascii_whitespace()
        || matches!(byte, 0x80..=0x8a | 0x9f | 0xa0 | 0xa8 | 0xa9 | 0xaf)
}

/// A set of pairs of bytes.
#[derive(Debug, Clone)]
struct BytePairs([[u64; 4]; 256]);

impl BytePairs {
    /// The pairs between which some token may be found, or on both of which it may depend; `None` if a token is
    /// only found on request, as it is written: such tokens are looked for where it matters.
    fn crossed_by(tokens: &[AddedToken]) -> Option<Box<BytePairs>> {
        let mut pairs = Box::new(BytePairs([[0; 4]; 256]));
        let mut any = false;
        for token in tokens {
            let AddedToken { is_special, matching, .. } = token;
            if *is_special && *matching == Matching::default() || token.pattern().is_empty() {
                continue;
            }
            any = true;
            let bytes = token.pattern().as_bytes();
            bytes.windows(2).for_each(|pair| pairs.insert(pair[0], pair[1]));
            let (first, last) = (bytes[0], bytes[bytes.len() - 1]);
            for byte in 0..=255 {
                if matching.single_word || matching.lstrip && may_end_white_space(byte) {
                    pairs.insert(byte, first);
                }
                if matching.single_word || matching.rstrip && may_start_white_space(byte) {
                    pairs.insert(last, byte);
                }
                if (matching.lstrip || matching.rstrip) && may_end_white_space(byte) {
                    let spaces = (0..=255).filter(|&other| may_start_white_space(other));
                    spaces.for_each(|other| pairs.insert(byte, other));
                }
            }
        }
        any.then_some(pairs)
    }

    fn insert(&mut self, before: u8, after: u8) {
        self.0[usize::from(before)][usize::from(after / 64)] |= 1 << (after % 64);
    }

    fn has(&self, before: u8, after: u8) -> bool {
        self.0[usize::from(before)][usize::from(after / 64)] >> (after % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tokens: &[(&str, Matching)]) -> AddedTokens {
        let added = |(id, &(text, matching)): (usize, &(&str, Matching))| AddedToken {
            text: text.into(),
            id: id as TokenId,
            is_special: false,
            matching,
            normal_form: None,
        };
        AddedTokens::new(tokens.iter().enumerate().map(added).collect()).unwrap()
    }

    fn found<'t>(tokens: &[(&str, Matching)], text: &'t str) -> Vec<&'t str> {
        let set = set(tokens);
        set.matches(text.as_bytes(), 0).map(|found| &text[found.range]).collect()
    }

    const PLAIN: Matching =
        Matching { lstrip: false, rstrip: false, single_word: false, normalized: false, keeps_spaces: false };
    const LATE: Matching = Matching { normalized: true, ..PLAIN };
    const WORD: Matching = Matching { single_word: true, ..PLAIN };
    const LEFT: Matching = Matching { lstrip: true, ..PLAIN };
    const RIGHT: Matching = Matching { rstrip: true, ..PLAIN };

    #[test]
    fn the_first_pass_comes_first_although_it_finds_less() {
        assert_eq!(found(&[("ab", PLAIN), ("abc", LATE)], "abcd abc"), ["ab", "ab"]);
        assert_eq!(found(&[("ab", PLAIN), ("cd", LATE)], "cdabcdcdab"), ["cd", "ab", "cd", "cd", "ab"]);
        assert_eq!(found(&[("ab", LATE), ("abc", LATE)], "abcd"), ["abc"]);
    }

    #[test]
    fn a_word_that_goes_on_is_no_token_and_hides_others() {
        assert_eq!(found(&[("abc", WORD), ("ab", PLAIN)], "abcd"), [""; 0]);
        assert_eq!(found(&[("m", WORD)], "m m_ ²m nm \u{301}m m-m"), ["m", "m", "m", "m"]);
    }

    #[test]
    fn white_space_beside_a_token_belongs_to_it() {
        assert_eq!(found(&[("<m>", LEFT)], "a \u{3000}<m> b"), [" \u{3000}<m>"]);
        assert_eq!(found(&[("<m>", RIGHT)], "a <m>\n b"), ["<m>\n "]);
        // The white space that a token took is not taken from it, but another token may overlap it.
        assert_eq!(found(&[("<m>", RIGHT), ("<n>", LEFT)], "<m>  <n>"), ["<m>  ", "<n>"]);
        assert_eq!(found(&[("<m>", RIGHT), (" b", PLAIN)], "<m> b"), ["<m> ", " b"]);
        let both = Matching { lstrip: true, ..RIGHT };
        assert_eq!(found(&[("\n\n", both)], "a\n\n\n\n\nb"), ["\n\n\n\n\n"]);
        assert_eq!(found(&[("<m>", RIGHT), (" b", LEFT)], "<m> b"), ["<m> ", "b"]);
        let both = Matching { keeps_spaces: true, ..both };
        assert_eq!(found(&[("<m>", both)], "\t \n<m>\t\n b"), ["\n<m>\t\n"]);
        assert_eq!(found(&[("<m>", both)], " <m> "), ["<m>"]);
    }

    #[test]
    fn every_match_is_inside_bytes_that_may_be_crossed() {
        let tokens = [("ab", PLAIN), ("<m>", LEFT), ("<n>", RIGHT), ("x y", LATE), ("w", WORD)];
        let set = set(&tokens);
        for text in ["ab <m> \u{a0}<n>\t\u{2003}x y w", "\u{3000}\u{85}<m><n>\u{1680}\u{0b}ab"] {
            for found in set.matches(text.as_bytes(), 0) {
                let inside = found.range.start + 1..found.range.end;
                for offset in inside.filter(|&offset| text.is_char_boundary(offset)) {
                    let bytes = text.as_bytes();
                    assert!(set.may_cross(bytes[offset - 1], bytes[offset]), "{text:?} {offset}");
                }
            }
        }
        assert!(!set.may_cross(b'c', b'd') && !set.may_cross(b'a', b' '));
        assert!(set.may_cross(b'q', b'w') && set.may_cross(b'w', b'q'));
    }
}
