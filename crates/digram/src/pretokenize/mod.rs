//! Splitting text into pretokens.
//!
//! ```
//! use digram::pretokenize::{Pretokenizer, Stage};
//!
//! let words = Pretokenizer::new(&[Stage::Pattern(r" ?\p{L}+|\s+(?!\S)|\s+".into())])?;
//! let pieces: Vec<&[u8]> = words.split(b"two  words");
//! assert_eq!(pieces, [&b"two"[..], b" ", b" words"]);
//! # Ok::<(), digram::Error>(())
//! ```

mod after;
mod alphabet;
mod automaton;
mod blocks;
mod borders;
mod boundary_buffer;
mod class_tables;
mod digits;
mod effort;
mod family;
mod grouping;
mod joined;
mod kinds;
mod letters;
mod looking;
mod mask_splitter;
mod node;
mod partition;
mod parts;
mod pattern;
mod pattern_facts;
mod pieces;
mod rules;
mod set;
mod syntax;
mod tasks;
pub(crate) mod unicode;
mod whole;

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use automaton::{Automaton, Notes};
use borders::{Between, Borders};
use boundary_buffer::BoundaryBuffer;
use effort::{Effort, Stopped};
use looking::Looking;
use mask_splitter::MaskSplitter;
use rules::RuleFinder;

pub(crate) use letters::letters as letters_of_bytes;
pub use pattern_facts::PatternFacts;
pub use rules::{BLANKS, MOST_BLANKS, RuleMatch, Rules, SEPARATORS};
pub(crate) use tasks::{ALONE_BYTES, TASK_BYTES, TextPart, parts, split_points, tasks};
pub(crate) use whole::WholeMatch;

use crate::bits::AsciiPairs;
use crate::error::Result;
use crate::interrupt::{Interrupt, Never, Pacer};
use crate::memory;
use crate::utf8::{complete, is_inside};

/// Bytes of a pretoken between two calls of the visitor.
const PAUSE_INTERVAL: usize = 1 << 16;

/// Texts of up to this many bytes, as most pieces of an earlier stage are, are split by single steps, which take less time
/// than to read a whole block.
const STEPPED_BYTES: usize = 64;

/// The number of pairs of ASCII characters that each pattern is tested on.
const ASCII_PAIRS: usize = 128 * 128;

/// A stage of splitting. The text between matches becomes pieces too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Split at each match of a regex.
    Pattern(String),
    /// Split at each match of a regex, for which every byte is the letter by which `ByteLevel` writes it. So a
    /// character of several bytes may be split.
    LetterPattern(String),
    /// Split runs of digits (`\p{N}`) into groups of three, counted from the right.
    ThreesFromRight,
    /// Split off the matches of rules, which later stages keep whole.
    Rules(Rules),
}

/// Whether more text may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoesOn {
    /// The text is complete.
    No,
    /// More text may follow.
    Maybe,
}

enum Compiled {
    Pattern(Box<Pattern>),
    Looking(Box<Looking>),
    ThreesFromRight(Box<Pattern>),
    Rules(Box<RuleFinder>),
}

impl Compiled {
    /// A regex, for text in which every byte counts as its letter if `of_letters`.
    fn new(pattern: &str, of_letters: bool, effort: &mut Effort) -> Result<Compiled> {
        let mut compile = || {
            effort.after(ASCII_PAIRS)?;
            let program = pattern::compile(pattern, effort)?;
            if program.scans.is_empty() {
                match Automaton::of_program(&program, effort) {
                    Err(Stopped::MatchesNothing) if !program.matches_nothing_anywhere() => {}
                    automaton => return Ok(Compiled::Pattern(Pattern::new(automaton?, of_letters))),
                }
            }
            let looking = Looking::new(&program, effort)?;
            Ok(Compiled::Looking(Box::new(if of_letters { looking.of_letters() } else { looking })))
        };
        compile().map_err(|stopped: Stopped| stopped.at(pattern))
    }

    /// The pattern, for a stage that is one without look-around of any kind.
    fn pattern(&self) -> Option<&Pattern> {
        match self {
            Compiled::Pattern(pattern) | Compiled::ThreesFromRight(pattern) => Some(pattern),
            Compiled::Looking(_) | Compiled::Rules(_) => None,
        }
    }

    /// Whether the text is split at an offset inside it, decided from the characters around it, and for rules
    /// also from those before.
    fn between(&self, text: &[u8], offset: usize) -> Between {
        match self {
            Compiled::Pattern(pattern) | Compiled::ThreesFromRight(pattern) => pattern.between(text, offset),
            Compiled::Looking(_) => Between::Unknown,
            Compiled::Rules(rules) => rules.between(text, offset),
        }
    }

    /// Whether text is split between two characters, in any context.
    fn between_any(&self, pair: &[u8; 2]) -> Between {
        match self {
            Compiled::Rules(rules) => rules.between_any(pair, 1),
            other => other.between(pair, 1),
        }
    }
}

/// A compiled regex, with a [`MaskSplitter`] if it has one.
struct Pattern {
    automaton: Automaton,
    splitter: Option<MaskSplitter>,
    borders: Borders,
}

impl Pattern {
    fn new(automaton: Automaton, of_letters: bool) -> Box<Pattern> {
        let automaton = if of_letters { automaton.of_letters() } else { automaton };
        let splitter = if of_letters { None } else { MaskSplitter::new(&automaton) };
        let borders = Borders::new(&automaton);
        Box::new(Pattern { automaton, splitter, borders })
    }

    /// Calls `visit` with batches of pieces of `text[from..]`, which are the matches and the text between
    /// them: the start of the first piece, and the ends of all. Inside a long piece, `visit` is sometimes
    /// called without ends. `text[..from]` is context for look-behind. Returns the end of the last piece.
    /// All offsets are counted from `from`.
    #[inline]
    fn split<B>(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        visit: impl FnMut(usize, &[usize]) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        match &self.splitter {
            Some(splitter) if splitter.has_family() || text.len() - from > STEPPED_BYTES => {
                splitter.split(&self.automaton, &text[from..], goes_on, visit)
            }
            _ => in_batches(from, visit, |visit| self.step(text, from, goes_on, visit)),
        }
    }

    /// Calls `visit` with the end of each piece of `text`, and inside a long one with the last end again.
    #[inline]
    fn split_piece<B>(
        &self,
        text: &[u8],
        mut visit: impl FnMut(usize) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        match &self.splitter {
            Some(splitter) if text.len() > STEPPED_BYTES => {
                splitter.split(&self.automaton, text, GoesOn::No, |start, ends| match ends {
                    [] => visit(start),
                    ends => ends.iter().try_for_each(|&end| visit(end)),
                })
            }
            _ => self.step(text, 0, GoesOn::No, visit),
        }
    }

    /// Splits by single steps of the automaton.
    #[inline]
    fn step<B>(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        visit: impl FnMut(usize) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        self.automaton.split_from(text, from, text.len(), goes_on, &mut Notes::default(), visit)
    }

    /// What the characters around an offset inside `text` decide about it.
    fn between(&self, text: &[u8], offset: usize) -> Between {
        let alphabet = self.automaton.alphabet();
        self.borders.between(alphabet.last(&text[..offset]), alphabet.first(&text[offset..]).0)
    }
}

/// The pattern of texts whose pretokens begin with their spaces.
const AT_SPACES: &str = " ?[^ ]+| ";

/// Splits text into pretokens: the stages run in order, each on every piece of the previous one.
///
/// The concatenated pieces are always the text. Without stages a text is one piece; an empty text
/// has none.
pub struct Pretokenizer {
    stages: Vec<Compiled>,
    has_borders: bool,
    cuts_at_spaces: bool,
    joins_words: bool,
    /// The ASCII pairs that are always split.
    ascii: AsciiPairs,
}

impl std::fmt::Debug for Pretokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pretokenizer({} stages)", self.stages.len())
    }
}

impl Pretokenizer {
    /// Compiles the stages; [`crate::Error::Pattern`] names the pattern that is not supported and the reason.
    pub fn new(stages: &[Stage]) -> Result<Pretokenizer> {
        Pretokenizer::with_interrupt(stages, &Never)
    }

    /// Like [`Pretokenizer::new`], with an interrupt.
    ///
    /// The number of steps for compiling all patterns is limited, so that untrusted patterns that are too
    /// large end in an error soon.
    pub fn with_interrupt(stages: &[Stage], interrupt: &dyn Interrupt) -> Result<Pretokenizer> {
        let effort = &mut Effort::new(interrupt);
        let stages = &joined::joined(stages, &mut Effort::new(interrupt));
        let compile = |stage: &Stage| {
            Ok(match stage {
                Stage::Pattern(pattern) => Compiled::new(pattern, false, effort)?,
                Stage::LetterPattern(pattern) => Compiled::new(pattern, true, effort)?,
                Stage::ThreesFromRight => {
                    Compiled::ThreesFromRight(Pattern::new(Automaton::new(r"\p{N}+", effort)?, false))
                }
                Stage::Rules(rules) => Compiled::Rules(Box::new(RuleFinder::new(rules, effort)?)),
            })
        };
        let compiled: Vec<Compiled> = stages.iter().map(compile).collect::<Result<_>>()?;
        let patterns = || compiled.iter().filter_map(Compiled::pattern);
        let has_borders = patterns().any(|pattern| pattern.borders.any());
        let joins_words = patterns().all(|pattern| Borders::may_be_inside(&pattern.automaton));
        let ascii = AsciiPairs::of(|before, after| {
            is_border_of_stages(compiled.iter().map(|stage| stage.between_any(&[before, after])))
        });
        let cuts_at_spaces = matches!(&stages[..], [Stage::Pattern(pattern)] if pattern == AT_SPACES);
        Ok(Pretokenizer { stages: compiled, has_borders, cuts_at_spaces, joins_words, ascii })
    }

    /// Whether no text is ever split.
    pub fn is_whole(&self) -> bool {
        self.stages.is_empty()
    }

    /// Whether a text is one pretoken if it has no space behind its first byte.
    pub(crate) fn cuts_at_spaces(&self) -> bool {
        self.cuts_at_spaces
    }

    /// Whether a pretoken may contain a word boundary: a space directly after a character that is not white
    /// space. Matches of rules are not considered.
    pub fn joins_words(&self) -> bool {
        self.joins_words
    }

    /// Whether pretokens may begin or end inside a character.
    pub(crate) fn cuts_characters(&self) -> bool {
        self.stages.iter().any(|stage| match stage {
            Compiled::Pattern(pattern) | Compiled::ThreesFromRight(pattern) => {
                pattern.automaton.alphabet().reads_letters()
            }
            Compiled::Looking(looking) => looking.alphabet().reads_letters(),
            Compiled::Rules(_) => false,
        })
    }

    /// Whether a match of the first pattern may begin with the first character of `text`.
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        let pattern = self.stages.first().and_then(Compiled::pattern);
        pattern.is_some_and(|pattern| pattern.automaton.may_begin(text))
    }

    /// Whether a text begins with a match of the first pattern.
    pub(crate) fn begins_with_match(&self, text: &[u8]) -> bool {
        self.longest_match(text, 0).is_some_and(|end| end > 0)
    }

    /// Whether a range of `text` at which the first pattern splits it is a match, not the text between two.
    pub(crate) fn is_match(&self, text: &[u8], range: Range<usize>) -> bool {
        self.longest_match(text, range.start) == Some(range.end)
    }

    /// The end of the match of the first pattern that starts at an offset; the offset itself if there is none.
    fn longest_match(&self, text: &[u8], start: usize) -> Option<usize> {
        let Some(Compiled::Pattern(pattern)) = self.stages.first() else { return None };
        let mut pause = || ControlFlow::<Infallible>::Continue(());
        let ControlFlow::Continue(end) =
            pattern.automaton.longest(text, start, &mut Notes::default(), &mut pause);
        Some(end)
    }

    /// Whether two neighbouring characters are in no match of the first pattern or of the rules, in any text.
    pub(crate) fn is_gap(&self, before: char, after: char) -> bool {
        if let Some(Compiled::Rules(rules)) = self.stages.first() {
            let pair = String::from_iter([before, after]);
            return rules.between_any(pair.as_bytes(), before.len_utf8()) == Between::Gap;
        }
        self.stages.first().and_then(Compiled::pattern).is_some_and(
            |Pattern { automaton, borders, .. }| {
                let class = |c| automaton.alphabet().class(c);
                borders.between(class(before), class(after)) == Between::Gap
            },
        )
    }

    /// All pretokens of `text`, in order.
    pub fn split<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let mut pieces = Vec::new();
        let ControlFlow::Continue(()) = self.try_for_each(text, |piece| {
            pieces.push(piece);
            ControlFlow::<Infallible>::Continue(())
        });
        pieces
    }

    /// The end of each pretoken of `text`, in order.
    pub fn ends(&self, text: &[u8], interrupt: &dyn Interrupt) -> Result<Vec<usize>> {
        let mut result = Vec::new();
        self.for_many(text, 0, GoesOn::No, interrupt, |_, ends| {
            memory::try_reserve(&mut result, ends.len())?;
            result.extend_from_slice(ends);
            Ok(())
        })?;
        Ok(result)
    }

    /// The matches of the rules in `text`: range and kind, in order.
    pub fn rule_matches(
        &self,
        text: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<(Range<usize>, RuleMatch)>> {
        let mut matches = Vec::new();
        self.for_rule_matches(text, interrupt, |range, rule_match| {
            memory::try_reserve(&mut matches, 1)?;
            matches.push((range, rule_match));
            Ok(())
        })?;
        Ok(matches)
    }

    /// Calls `visit` with each match of the rules in `text`, in order.
    pub(crate) fn for_rule_matches(
        &self,
        text: &[u8],
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(Range<usize>, RuleMatch) -> Result<()>,
    ) -> Result<()> {
        let Some(Compiled::Rules(rules)) = self.stages.first() else { return Ok(()) };
        let (mut position, mut pacer) = (0, Pacer::new(interrupt));
        let flow = rules.split(text, |piece, rule_match| {
            let start = position;
            position += piece.len();
            let visited = rule_match.map_or(Ok(()), |rule_match| visit(start..position, rule_match));
            let paced = visited.and_then(|()| pacer.after(piece.len()));
            paced.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        flow.break_value().map_or(Ok(()), Err)
    }

    /// The start of the blanks between a number and a unit at an offset, if rules allow several and there are some.
    pub(crate) fn blanks_before_unit(&self, text: &[u8], offset: usize) -> Option<usize> {
        let Some(Compiled::Rules(rules)) = self.stages.first() else { return None };
        rules.blanks_before(text, offset)
    }

    /// Calls `visit` with each pretoken of `text`, in order, until it breaks.
    ///
    /// Bytes that are not UTF-8 are split like U+FFFD. Takes time linear in the text.
    #[inline]
    pub fn try_for_each<'t, B>(
        &self,
        text: &'t [u8],
        mut visit: impl FnMut(&'t [u8]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let flow = self.try_for_many(text, 0, GoesOn::No, |mut start, ends| {
            ends.iter().try_for_each(|&end| visit(&text[std::mem::replace(&mut start, end)..end]))
        });
        flow.map_continue(|_| ())
    }

    /// Like `try_for_each`, in batches: `visit` gets the start of the first pretoken and the ends of all.
    /// Returns the end of the last one.
    ///
    /// Starts at `from`, the start of a pretoken; the text before it is context for look-behind. All
    /// offsets are counted from there. If the text may continue, the pretokens at its end that depend on
    /// the continuation are left out.
    ///
    /// Inside a long pretoken `visit` is sometimes called without ends, so that it can break.
    #[inline]
    pub fn try_for_many<B>(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        mut visit: impl FnMut(usize, &[usize]) -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let text = match goes_on {
            GoesOn::No => text,
            GoesOn::Maybe => &text[..complete(text).max(from)],
        };
        let rest = &text[from..];
        match &self.stages[..] {
            // By far the most frequent case, kept free of dynamic calls.
            [Compiled::Pattern(pattern)] => pattern.split(text, from, goes_on, visit),
            [Compiled::Looking(looking)] => {
                in_batches(from, visit, |visit| looking.split(text, from, goes_on, visit))
            }
            [] if goes_on == GoesOn::Maybe || rest.is_empty() => ControlFlow::Continue(0),
            [] => visit(0, &[rest.len()]).map_continue(|()| rest.len()),
            stages => {
                let end = match goes_on {
                    GoesOn::No => rest.len(),
                    GoesOn::Maybe => self.last_border(rest, || visit(0, &[]))?,
                };
                in_batches(0, visit, |visit| {
                    let mut last = 0;
                    split_by(stages, &rest[..end], &mut |piece| {
                        last += piece.len();
                        visit(last)
                    })?;
                    ControlFlow::Continue(end)
                })
            }
        }
    }

    /// Like `try_for_many`, until `visit` or the interrupt fails; the interrupt is checked inside long
    /// pretokens too.
    #[inline]
    pub(crate) fn for_many(
        &self,
        text: &[u8],
        from: usize,
        goes_on: GoesOn,
        interrupt: &dyn Interrupt,
        mut visit: impl FnMut(usize, &[usize]) -> Result<()>,
    ) -> Result<usize> {
        let mut pacer = Pacer::new(interrupt);
        let flow = self.try_for_many(text, from, goes_on, |start, ends| {
            let visited = match ends.last() {
                Some(&end) => visit(start, ends).and_then(|()| pacer.after(end - start)),
                None => interrupt.check(),
            };
            visited.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        match flow {
            ControlFlow::Continue(end) => Ok(end),
            ControlFlow::Break(error) => Err(error),
        }
    }
}

impl Pretokenizer {
    /// Whether every text with these two characters around `offset` (for rules: and the same text before them)
    /// is split there: its pretokens are then those of its two parts.
    ///
    /// Most text has many such positions; patterns with look-behind have none.
    pub fn is_border(&self, text: &[u8], offset: usize) -> bool {
        if offset == 0 || offset >= text.len() || is_inside(text[offset]) {
            return false;
        }
        match self.ascii.has(text[offset - 1], text[offset]) {
            Some(is_split) if is_split || !self.has_rules() => is_split,
            _ => is_border_of_stages(self.stages.iter().map(|stage| stage.between(text, offset))),
        }
    }

    /// Like `is_border`, for any text before the two characters, or none.
    pub(crate) fn is_border_anywhere(&self, text: &[u8], offset: usize) -> bool {
        if !self.has_rules() {
            return self.is_border(text, offset);
        }
        offset > 0 && offset < text.len() && self.ascii.has(text[offset - 1], text[offset]) == Some(true)
    }

    /// The classes of a character, in 24 bits, on which it depends whether text is split beside it; `None` if they are
    /// not enough.
    pub(crate) fn classes(&self, c: char) -> Option<u64> {
        let class = |stage: &Compiled| Some(u64::from(stage.pattern()?.automaton.alphabet().class(c)));
        match self.stages.len() {
            ..=3 => self.stages.iter().try_fold(0, |classes, stage| Some(classes << 8 | class(stage)?)),
            _ => None,
        }
    }

    /// Whether some text has such a position.
    pub(crate) fn has_borders(&self) -> bool {
        self.has_borders
    }

    /// The last such position at or after `from`, in text that may continue: the character after it
    /// must be complete.
    pub fn last_border_so_far(&self, text: &[u8], from: usize) -> Option<usize> {
        let complete = &text[..complete(text)];
        let offsets = if self.has_borders { from..complete.len() } else { 0..0 };
        offsets.rev().find(|&offset| self.is_border(complete, offset))
    }

    /// The last such position; 0 if there is none. Meanwhile `pause` is called regularly, and may break.
    fn last_border<B>(
        &self,
        text: &[u8],
        mut pause: impl FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, usize> {
        let mut until = if self.has_borders { text.len() } else { 0 };
        while until > 0 {
            let from = until.saturating_sub(PAUSE_INTERVAL);
            if let Some(border) = (from..until).rev().find(|&offset| self.is_border(text, offset)) {
                return ControlFlow::Continue(border);
            }
            until = from;
            pause()?;
        }
        ControlFlow::Continue(0)
    }
}

/// Whether there is a border, decided by the first stage that does not report a gap.
fn is_border_of_stages(mut between: impl Iterator<Item = Between>) -> bool {
    between.find(|between| *between != Between::Gap) == Some(Between::Border)
}

/// Receives the pieces of a text; inside a long one, sometimes an empty piece.
type Visit<'v, 't, B> = &'v mut dyn FnMut(&'t [u8]) -> ControlFlow<B>;

fn split_by<'t, B>(stages: &[Compiled], text: &'t [u8], visit: Visit<'_, 't, B>) -> ControlFlow<B> {
    let Some((first, rest)) = stages.split_first() else {
        return visit(text);
    };
    let mut start = 0;
    let mut next = |end| &text[std::mem::replace(&mut start, end)..end];
    let mut each =
        |piece: &'t [u8]| if piece.is_empty() { visit(piece) } else { split_by(rest, piece, visit) };
    let split = match first {
        Compiled::Pattern(pattern) => pattern.split_piece(text, |end| each(next(end))),
        Compiled::Looking(looking) => looking.split(text, 0, GoesOn::No, |end| each(next(end))),
        Compiled::ThreesFromRight(pattern) => pattern.split_piece(text, |end| match next(end) {
            digits if !digits.is_empty() && pattern.automaton.may_begin(digits) => {
                digits::threes_from_right(digits).try_for_each(&mut each)
            }
            other => each(other),
        }),
        Compiled::Rules(rules) => {
            return rules.split(text, |piece, rule_match| match rule_match {
                None if !piece.is_empty() => split_by(rest, piece, visit),
                _ => visit(piece),
            });
        }
    };
    split.map_continue(|_| ())
}

/// Calls `visit` with batches of the ends that `split` finds in order, and with an empty one where it finds the last
/// end again. Both return the last end; those of `visit` are counted from `from`.
#[inline]
fn in_batches<B>(
    from: usize,
    visit: impl FnMut(usize, &[usize]) -> ControlFlow<B>,
    split: impl FnOnce(&mut dyn FnMut(usize) -> ControlFlow<B>) -> ControlFlow<B, usize>,
) -> ControlFlow<B, usize> {
    let mut ends = BoundaryBuffer::new(visit);
    let end = split(&mut |end| ends.push_or_pause(end - from))?;
    ends.finish()?;
    ControlFlow::Continue(end - from)
}
