//! Words: the parts of a normalized text that are encoded.
//!
//! Models such as WordPiece encode words without the white space between them, and tell by a space before a token
//! whether a word begins with it. So a text is cut, some parts are left out, and the others get a prefix or a
//! suffix.

use std::ops::Range;

use bstr::ByteSlice;

use super::Seam;
use super::matches::finder;
use super::traced::{Rewriter, Traced};
use super::unchanged::Unchanged;
use super::white_space::each_run;
use crate::error::Result;
use crate::interrupt::{Interrupt, Pacer};
use crate::memory;
use crate::pretokenize::{GoesOn, Pretokenizer, Stage, letters_of_bytes};
use crate::utf8::decode;

/// How text is cut into words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordRule {
    /// Regexes by which text is cut, one after the other.
    pub splits: Vec<String>,
    /// Parts that begin with a match of this regex are left out.
    pub removed: Option<String>,
    /// What each word gets at its start, unless it begins with that already.
    pub prefix: String,
    /// What each word gets at its end.
    pub suffix: String,
    /// A character of words that becomes a space, after the text is cut.
    pub space_symbol: Option<char>,
    /// Whether only words that come from the first character of the whole text get the prefix: as a rule the first
    /// word, but none if text was left out before it, and several if the character became several words.
    pub first: bool,
    /// Whether each byte of a word is written as its letter, between the prefix and the suffix, which are put in any
    /// case. Then no character becomes a space.
    pub letters: bool,
    /// What is left of the matches of the only split, and of the text between them. Else `removed` decides.
    pub keep: Option<Keep>,
    /// How each word is cut again.
    pub then: Option<Box<WordRule>>,
}

/// What is kept of the pieces of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The matches.
    Matches,
    /// What is between the matches.
    Between,
}

/// A compiled rule.
pub(super) struct Words {
    splitter: Pretokenizer,
    removed: Option<Removed>,
    prefix: String,
    suffix: String,
    space_symbol: Option<char>,
    first: bool,
    letters: Option<Box<[char; 256]>>,
    /// Also whether the matches may depend on what is beside them.
    keep: Option<(Keep, bool)>,
    then: Option<Box<Words>>,
    /// Whether text is cut at runs of white space first, which are left out.
    leaves_out_white_space: bool,
    /// Whether it is cut nowhere else.
    cuts_at_white_space: bool,
}

/// Which parts are left out.
struct Removed {
    rule: Pretokenizer,
    /// Those that begin with an ASCII character, by it.
    ascii: [Begins; 128],
    /// Other characters with which no match begins.
    others: Unchanged,
}

/// Whether a part with a first character begins with a match.
#[derive(Clone, Copy)]
enum Begins {
    Never,
    Always,
    /// What follows decides.
    Maybe,
}

impl Removed {
    fn new(regex: String) -> Result<Removed> {
        let looks_ahead = ["(?", "$", r"\b", r"\B", r"\z", r"\Z"].iter().any(|sign| regex.contains(sign));
        let rule = finder(regex)?;
        let ascii = std::array::from_fn(|byte| {
            let one = [byte as u8];
            match rule.may_begin(&one) {
                false => Begins::Never,
                true if !looks_ahead && rule.begins_with_match(&one) => Begins::Always,
                true => Begins::Maybe,
            }
        });
        Ok(Removed { rule, ascii, others: Unchanged::default() })
    }

    #[inline]
    fn contains(&self, part: &[u8]) -> bool {
        match part {
            [byte @ ..128, ..] => match self.ascii[usize::from(*byte)] {
                Begins::Never => false,
                Begins::Always => true,
                Begins::Maybe => self.rule.begins_with_match(part),
            },
            _ => {
                let begins_none = |c: char| !self.rule.may_begin(c.encode_utf8(&mut [0; 4]).as_bytes());
                let is_character = decode(part).0.is_some();
                !(is_character && self.others.first(part, begins_none).0) && self.rule.begins_with_match(part)
            }
        }
    }
}

impl Words {
    pub(super) fn new(rule: WordRule) -> Result<Words> {
        let WordRule { splits, removed, prefix, suffix, space_symbol, first, letters, keep, then } = rule;
        let keep = keep.map(|keep| (keep, splits.iter().any(|regex| may_look_around(regex))));
        let leaves_out_white_space =
            splits.first().is_some_and(|split| split == r"\s+") && removed.as_deref() == Some(r"\s");
        let cuts_at_white_space = leaves_out_white_space && splits.len() == 1 && keep.is_none();
        let splits: Vec<Stage> = splits.into_iter().map(Stage::Pattern).collect();
        let removed = removed.map(Removed::new).transpose()?;
        let then = then.map(|then| Words::new(*then)).transpose()?.map(Box::new);
        let letters = letters.then(|| Box::new(letters_of_bytes()));
        let splitter = Pretokenizer::new(&splits)?;
        Ok(Words {
            splitter,
            removed,
            prefix,
            suffix,
            space_symbol,
            first,
            letters,
            keep,
            then,
            leaves_out_white_space,
            cuts_at_white_space,
        })
    }

    /// The words of a text, one after the other; `visit_word` gets where each one starts in the text that the last rule
    /// cuts, and its end in what is returned. `starts` has the origins of the bytes at the start of the text, as [`Normalizer::starts`](super::Normalizer::starts) gives them.
    pub(super) fn cut(
        &self,
        text: &Traced,
        starts: &[[usize; 2]],
        interrupt: &dyn Interrupt,
        visit_word: &mut impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Traced> {
        let (mut rule, mut starts) = (self, starts);
        let (mut words, mut ends) = (None, vec![text.bytes.len()]);
        while let Some(then) = &rule.then {
            let mut inner = Vec::new();
            let text = words.as_ref().unwrap_or(text);
            words = Some(rule.cut_parts(text, &ends, starts, interrupt, &mut |_, end| {
                memory::try_reserve(&mut inner, 1)?;
                inner.push(end);
                Ok(())
            })?);
            (rule, starts, ends) = (then, &[], inner);
        }
        rule.cut_parts(words.as_ref().unwrap_or(text), &ends, starts, interrupt, visit_word)
    }

    /// The words of the parts of a text, which end at `bounds` and are cut each as a text of its own.
    fn cut_parts(
        &self,
        text: &Traced,
        bounds: &[usize],
        starts: &[[usize; 2]],
        interrupt: &dyn Interrupt,
        visit_word: &mut impl FnMut(usize, usize) -> Result<()>,
    ) -> Result<Traced> {
        let mut rewriter = Rewriter::new(text)?;
        let is_removed = |part: &[u8]| self.removed.as_ref().is_some_and(|removed| removed.contains(part));
        // A single space that is left out, and then put before a word again, is kept, which takes much less time.
        // With origins it is not, since it would have another one.
        let keeps_spaces = text.origins.is_none() && self.prefix == " ";
        let mut space = None;
        let mut visit = |part_at: Range<usize>, is_removed: bool| {
            let Range { start: from, end } = part_at;
            let part = &text.bytes[from..end];
            if is_removed {
                leave_out(&mut rewriter, space.take())?;
                if keeps_spaces && part == b" " {
                    space = Some(from);
                } else {
                    rewriter.keep_until(from)?;
                    rewriter.skip_until(end);
                }
                return Ok(());
            }
            let is_marked = !self.first || starts.get(from).is_some_and(|[start, _]| *start == 0);
            let is_prefixed = is_marked && !self.has_prefix(part);
            if !is_prefixed {
                leave_out(&mut rewriter, space.take())?;
            } else if space.take().is_none() && !self.prefix.is_empty() {
                rewriter.keep_until(from)?;
                self.prefix.chars().try_for_each(|c| rewriter.insert_before(c))?;
            }
            if let Some(letters) = &self.letters {
                rewriter.keep_until(from)?;
                part.iter().try_for_each(|byte| rewriter.replace_byte(letters[usize::from(*byte)]))?;
            } else if let Some(symbol) = self.space_symbol {
                self.replace_symbols(symbol, part, from, &mut rewriter)?;
            }
            if !self.suffix.is_empty() {
                rewriter.keep_until(end)?;
                self.suffix.chars().try_for_each(|c| rewriter.insert(c))?;
            }
            visit_word(from, rewriter.len_until(end))
        };
        let mut pacer = Pacer::new(interrupt);
        let mut first = 0;
        for &bound in bounds {
            let base = std::mem::replace(&mut first, bound);
            let whole = &text.bytes[base..bound];
            pacer.after(whole.len())?;
            if self.cuts_at_white_space {
                each_run(whole, interrupt, |run, is_white| {
                    visit(base + run.start..base + run.end, is_white)
                })?;
                continue;
            }
            if let Some((keep, _)) = self.keep {
                self.splitter.for_pieces(whole, interrupt, |piece, is_match| {
                    visit(base + piece.start..base + piece.end, is_match != (keep == Keep::Matches))
                })?;
                continue;
            }
            self.splitter.for_many(whole, 0, GoesOn::No, interrupt, |mut start, ends| {
                for &end in ends {
                    let part = base + std::mem::replace(&mut start, end)..base + end;
                    visit(part.clone(), is_removed(&text.bytes[part]))?;
                }
                Ok(())
            })?;
        }
        leave_out(&mut rewriter, space)?;
        rewriter.finish()
    }

    /// Puts spaces in place of a symbol in a part that starts at an offset.
    #[inline]
    fn replace_symbols(
        &self,
        symbol: char,
        part: &[u8],
        start: usize,
        rewriter: &mut Rewriter<'_>,
    ) -> Result<()> {
        let mut buffer = [0; 4];
        let symbol = symbol.encode_utf8(&mut buffer);
        // Nearly no word has one, and making a finder takes longer than reading a word.
        if !part.contains(&symbol.as_bytes()[0]) {
            return Ok(());
        }
        for place in part.find_iter(symbol) {
            rewriter.keep_until(start + place)?;
            rewriter.replace(' ')?;
        }
        Ok(())
    }

    fn has_prefix(&self, word: &[u8]) -> bool {
        if self.letters.is_some() {
            return false;
        }
        let is_symbol = |symbol: char| word.starts_with(symbol.encode_utf8(&mut [0; 4]).as_bytes());
        word.starts_with(self.prefix.as_bytes())
            || (self.prefix == " " && self.space_symbol.is_some_and(is_symbol))
    }

    /// Whether a word at the start of a text is not like one after an added token.
    pub(super) fn depend_on_start(&self) -> bool {
        self.first
    }

    /// Whether a text is one word, and a part that begins behind this seam has no prefix either.
    pub(super) fn only_mark_start(&self, seam: Seam) -> bool {
        let is_unmarked = self.prefix.is_empty() || self.prefix.chars().eq([seam.after]);
        is_unmarked && self.only_change_start(seam)
    }

    /// Whether a text is one word, of which only the start is changed, and neither character is.
    pub(super) fn only_change_start(&self, seam: Seam) -> bool {
        let is_one_word = self.splitter.is_whole() && self.removed.is_none() && self.suffix.is_empty();
        // Whether a word begins with a longer one already is not known from its first character.
        let is_decided = self.prefix.chars().nth(1).is_none();
        is_one_word
            && is_decided
            && self.are_cut_once()
            && ![seam.before, seam.after].map(Some).contains(&self.space_symbol)
    }

    /// What the cuts beside a character depend on, in 24 bits; `None` if that is not known.
    pub(super) fn classes(&self, c: char) -> Option<u64> {
        if self.splitter.is_whole() { None } else { self.splitter.classes(c) }
    }

    /// Whether text is cut at white space, which is left out.
    pub(super) fn are_beside_white_space(&self) -> bool {
        self.leaves_out_white_space && !self.first
    }

    /// Whether words are cut once, by splits, and their bytes are not replaced one by one.
    pub(super) fn are_cut_once(&self) -> bool {
        self.letters.is_none() && self.keep.is_none() && self.then.is_none()
    }

    /// Whether no word reaches over a character, and words do not depend on those on its other side.
    pub(super) fn separates(&self, c: Option<char>) -> bool {
        let is_removed = |c: char| {
            let removed = self.removed.as_ref();
            removed.is_some_and(|removed| removed.contains(c.encode_utf8(&mut [0; 4]).as_bytes()))
        };
        self.are_beside_white_space() && c.is_some_and(is_removed)
    }

    /// Whether text is always cut between two characters.
    pub(super) fn keeps_apart(&self, seam: Seam) -> bool {
        // What a match is must not depend on the other side, on which only the ends of pieces do not.
        let are_matches_sure = self.keep.is_none_or(|(_, looks_around)| !looks_around);
        are_matches_sure && seam.is_border(&self.splitter)
    }
}

/// Whether a regex may have an anchor or look-around; false only if it has none.
fn may_look_around(regex: &str) -> bool {
    let signs = ["(?=", "(?!", "(?<", "^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", r"\G"];
    let regex = regex.replace("[^", "[");
    signs.iter().any(|sign| regex.contains(sign))
}

/// Leaves out the space at an offset, if there is one.
#[inline]
fn leave_out(rewriter: &mut Rewriter<'_>, space: Option<usize>) -> Result<()> {
    if let Some(space) = space {
        rewriter.keep_until(space)?;
        rewriter.skip_until(space + 1);
    }
    Ok(())
}

/// A text that is ready to be split: normalized, and cut into words if there is a rule for them.
#[derive(Debug, Default)]
pub(crate) struct Prepared<T> {
    pub(crate) text: T,
    /// The end of each word; `None` if the text is not cut.
    pub(crate) word_ends: Option<Vec<usize>>,
}

impl Prepared<Traced> {
    /// An empty text.
    pub(crate) fn new(is_traced: bool, has_words: bool) -> Prepared<Traced> {
        Prepared { text: Traced::new(is_traced), word_ends: has_words.then(Vec::new) }
    }

    /// Appends a text, cut into words by a rule if there is one.
    pub(super) fn push(
        &mut self,
        text: Traced,
        starts: &[[usize; 2]],
        words: Option<&Words>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let before = self.text.bytes.len();
        let text = match (words, &mut self.word_ends) {
            (Some(words), Some(ends)) => words.cut(&text, starts, interrupt, &mut |_, end| {
                memory::try_reserve(ends, 1)?;
                ends.push(before + end);
                Ok(())
            })?,
            _ => text,
        };
        if before == 0 {
            self.text = text;
            return Ok(());
        }
        self.text.push(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Never;

    fn bert() -> WordRule {
        WordRule {
            splits: vec![r"\s+".into(), r"\p{P}".into()],
            removed: Some(r"\s".into()),
            prefix: " ".into(),
            ..WordRule::default()
        }
    }

    fn words_of(rule: WordRule, text: &str) -> Vec<(String, Vec<[usize; 2]>)> {
        let words = Words::new(rule).unwrap();
        let mut ends = Vec::new();
        let given = Traced::given(text.as_bytes(), 0, true).unwrap();
        let cut = words
            .cut(&given, given.origins.as_ref().unwrap(), &Never, &mut |_, end| {
                ends.push(end);
                Ok(())
            })
            .unwrap();
        let (mut start, origins) = (0, cut.origins.unwrap());
        let mut word = |&end: &usize| {
            let range = std::mem::replace(&mut start, end)..end;
            (String::from_utf8(cut.bytes[range.clone()].to_vec()).unwrap(), origins[range].to_vec())
        };
        ends.iter().map(&mut word).collect()
    }

    #[test]
    fn white_space_is_left_out_and_words_begin_with_a_space() {
        let words = words_of(bert(), " to be,\n\u{2003}or");
        let texts: Vec<&str> = words.iter().map(|(word, _)| &word[..]).collect();
        assert_eq!(texts, [" to", " be", " ,", " or"]);
        assert_eq!(words[1].1, [[4, 5], [4, 5], [5, 6]]);
    }

    #[test]
    fn a_prefix_that_is_there_is_not_put_again_and_a_suffix_comes_from_the_end() {
        let rule = WordRule { prefix: "▁".into(), suffix: "</w>".into(), ..WordRule::default() };
        assert_eq!(words_of(rule.clone(), "▁é")[0].0, "▁é</w>");
        let (word, origins) = &words_of(rule, "é")[0];
        assert_eq!((&word[..], origins[0], origins[8]), ("▁é</w>", [0, 2], [0, 2]));
    }

    #[test]
    fn a_symbol_becomes_a_space_after_the_text_is_cut() {
        let rule = WordRule { space_symbol: Some('▁'), ..bert() };
        let words = words_of(rule, "▁a▁▁b c");
        assert_eq!(words.iter().map(|(word, _)| &word[..]).collect::<Vec<_>>(), [" a  b", " c"]);
        assert_eq!(words[0].1, [[0, 3], [3, 4], [4, 7], [7, 10], [10, 11]]);
    }

    #[test]
    fn a_part_is_left_out_if_it_begins_with_a_whole_match() {
        let rule =
            WordRule { splits: vec!["ab-".into()], removed: Some("ab-".into()), ..WordRule::default() };
        let words = words_of(rule, "ab ab-ab-abab-é");
        assert_eq!(words.iter().map(|(word, _)| &word[..]).collect::<Vec<_>>(), ["ab ", "ab", "é"]);
    }

    #[test]
    fn only_words_of_the_first_character_get_the_prefix() {
        let rule = WordRule { first: true, ..bert() };
        let prefixed =
            |text: &str| words_of(rule.clone(), text).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
        assert_eq!(prefixed("a b"), [" a", "b"]);
        assert_eq!(prefixed(" a b"), ["a", "b"]);
    }

    #[test]
    fn words_are_cut_again_and_written_in_the_letters_of_bytes() {
        let letters = WordRule {
            splits: vec![r" ?\w+".into()],
            prefix: " ".into(),
            letters: true,
            ..WordRule::default()
        };
        let rule = WordRule { then: Some(Box::new(letters)), splits: vec![], removed: None, ..bert() };
        let words = words_of(rule, "é  b");
        assert_eq!(words.iter().map(|(word, _)| &word[..]).collect::<Vec<_>>(), [" ĠÃ©", " Ġ", " Ġb"]);
        assert_eq!(words[0].1, [[0, 2]; 7]);
        assert_eq!(words[2].1, [[3, 4], [3, 4], [3, 4], [4, 5]]);
    }

    #[test]
    fn matches_or_what_is_between_them_are_kept() {
        let kept = |keep| {
            let splits = vec![r"(?<=a)b|c+".into()];
            words_of(WordRule { splits, keep: Some(keep), ..WordRule::default() }, "bab cc")
                .into_iter()
                .map(|(word, _)| word)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(Keep::Matches), ["b", "cc"]);
        assert_eq!(kept(Keep::Between), ["ba", " "]);
    }

    #[test]
    fn text_is_cut_beside_white_space() {
        let words = Words::new(bert()).unwrap();
        let keeps_apart = |before, after| words.keeps_apart(Seam { before, after });
        assert!(keeps_apart('a', ' ') && keeps_apart(' ', 'a') && keeps_apart(',', ','));
        assert!(!keeps_apart('a', 'b') && !keeps_apart(' ', ' '));
    }
}
