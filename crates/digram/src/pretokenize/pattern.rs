//! Compiles the text of a regex to a small program over character sets.
//!
//! The syntax is that of the `regex` crate, plus one character of look-ahead: `(?!X)` and `(?=X)`
//! where X is one character or one set, as in `\s+(?!\S)`. A possessive repetition such as `\p{L}++` is
//! accepted if it can be proved that giving characters back would not help what follows: then it matches what
//! the plain one matches.

use hashbrown::HashMap;

use super::alphabet::Alphabet;
use super::effort::{Effort, Stopped};
use super::node::{Look, Node, RANGE_STEPS, Sets};
use super::set::Set;
use super::{syntax, unicode};

/// One instruction; targets are indices into the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inst {
    /// Read one character of the set, then continue at the target.
    Take { set: usize, then: u16 },
    /// Try the targets in order.
    Split(Vec<u16>),
    /// Continue at the target if the condition is true here.
    If { condition: Condition, then: u16 },
    /// The pattern has matched.
    Match,
}

/// A condition on the characters on either side of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// The next character exists and is in the set.
    Next(usize),
    /// There is no next character, or it is not in the set.
    NotNext(usize),
    /// At the start of the text.
    Start,
    /// At the end of the text.
    End,
    /// At the start of a line.
    LineStart { newline: usize },
    /// At the end of a line.
    LineEnd { newline: usize },
    /// At a word boundary; with `negate`, at any other position.
    WordBorder { word: usize, negate: bool },
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) start: u16,
    /// The sets that the instructions refer to by index.
    pub(super) sets: Vec<Set>,
}

/// The maximum number of instructions. Counted repetitions are expanded: `a{1,1000}` takes two thousand.
const MAX_INSTRUCTIONS: usize = 20_000;

/// The maximum length of a pattern in bytes; the published ones have at most 500.
const MAX_BYTES: usize = 1 << 16;

/// The maximum number of characters of a look-ahead that an error shows.
const MAX_SHOWN: usize = 60;

type Result<T> = std::result::Result<T, Stopped>;

/// Compiles `pattern`.
pub(super) fn compile(pattern: &str, effort: &mut Effort) -> Result<Program> {
    if pattern.len() > MAX_BYTES {
        let reason =
            format!("it has {} bytes, more than {MAX_BYTES}. Split with several patterns.", pattern.len());
        return Err(reason.into());
    }
    let (source, marks) = mark(pattern, effort)?;
    let mut sets = Sets::default();
    let node = syntax::read(&source, &mut sets, effort)?;
    program(&node, &sets, marks, effort)
}

/// The program of a syntax tree. Characters that represent look-aheads become conditions.
fn program(node: &Node, sets: &Sets, marks: Marks, effort: &mut Effort) -> Result<Program> {
    let mut compiler = Compiler {
        insts: vec![Inst::Match],
        sets: Vec::new(),
        set_indices: HashMap::new(),
        pattern_sets: sets,
        marks,
        is_possessive: false,
        effort,
    };
    let start = compiler.node(node, 0)?;
    let Compiler { insts, sets, marks, .. } = compiler;
    if marks.look_aheads.values().any(|look_ahead| !look_ahead.used) {
        return Err("look-ahead is not supported inside a set of characters.".into());
    }
    Ok(Program { insts, start, sets })
}

/// A look-ahead that was removed from a pattern before parsing.
struct LookAhead {
    negate: bool,
    set: Set,
    used: bool,
}

/// Noncharacters that represent what the parser does not support. They occur nowhere else in the pattern.
#[derive(Default)]
struct Marks {
    look_aheads: HashMap<char, LookAhead>,
    /// Stands behind each possessive repetition.
    possessive: Option<char>,
}

/// Replaces each `(?!X)` and `(?=X)`, and the last `+` of each possessive repetition, by a mark, since the
/// parser does not support them.
fn mark(pattern: &str, effort: &mut Effort) -> Result<(String, Marks)> {
    let mut unused_marks = ('\u{fdd0}'..='\u{fdef}').filter(|&c| !pattern.contains(c));
    let mut unused = || unused_marks.next().ok_or("it has too many look-aheads (more than 32).");
    let mut source = String::with_capacity(pattern.len());
    let mut marks = Marks::default();
    let mut rest = pattern;
    let mut in_set = 0usize;
    // Whether the previous character ends a repetition.
    let mut after_repetition = false;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let length = escape_length(rest);
            source.push_str(&rest[..length]);
            (rest, after_repetition) = (&rest[length..], false);
            continue;
        }
        if c == '+' && after_repetition && in_set == 0 {
            let mark = match marks.possessive {
                Some(mark) => mark,
                None => *marks.possessive.insert(unused()?),
            };
            source.push_str(&format!("(?-i:{mark})"));
            (rest, after_repetition) = (&rest[1..], false);
            continue;
        }
        after_repetition = in_set == 0 && matches!(c, '+' | '*' | '?' | '}');
        match c {
            '[' => in_set += 1,
            ']' => in_set = in_set.saturating_sub(1),
            _ => {}
        }
        let negate = rest.starts_with("(?!");
        if in_set == 0 && (negate || rest.starts_with("(?=")) {
            let body = lookahead_body(&rest[3..]).ok_or("a look-ahead is not closed.")?;
            let set = single_character(body, effort)?;
            let mark = unused()?;
            source.push_str(&format!("(?-i:{mark})"));
            marks.look_aheads.insert(mark, LookAhead { negate, set, used: false });
            rest = &rest[3 + body.len() + 1..];
        } else {
            source.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok((source, marks))
}

/// The length of the escape that `text` starts with: `\n`, `\p{Lu}`, `\x{a0}`.
fn escape_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((offset, c)) = chars.next() else { return text.len() };
    let end = offset + c.len_utf8();
    match text[end..].strip_prefix('{').and_then(|name| name.find('}')) {
        Some(close) if matches!(c, 'p' | 'P' | 'x' | 'u' | 'U') => end + close + 2,
        _ => end,
    }
}

/// The part of `text` before the parenthesis that closes the look-ahead; `None` if it is not closed.
fn lookahead_body(text: &str) -> Option<&str> {
    let (mut depth, mut in_set, mut escaped) = (0usize, false, false);
    for (offset, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_set = true,
            ']' => in_set = false,
            '(' if !in_set => depth += 1,
            ')' if !in_set && depth == 0 => return Some(&text[..offset]),
            ')' if !in_set => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The set in the body of a look-ahead; an error if the body is not one character or one set.
fn single_character(body: &str, effort: &mut Effort) -> Result<Set> {
    let mut sets = Sets::default();
    let set = match syntax::read(body, &mut sets, effort) {
        Ok(Node::Set(index)) => Some(sets.get(index).clone()),
        Ok(Node::Literal(text)) if text.len() == 1 => Some(Set::one(text[0])),
        Ok(_) | Err(Stopped::Refused(_)) => None,
        Err(stopped) => return Err(stopped),
    };
    set.ok_or_else(|| {
        let start: String = body.chars().take(MAX_SHOWN).collect();
        let ellipsis = if start.len() < body.len() { "…" } else { "" };
        format!("look-ahead can see one character or set, as in (?!\\S), not {start:?}{ellipsis}.").into()
    })
}

struct Compiler<'s, 'e, 'w> {
    insts: Vec<Inst>,
    sets: Vec<Set>,
    set_indices: HashMap<Set, usize>,
    /// The sets that the syntax tree refers to by index.
    pattern_sets: &'s Sets,
    marks: Marks,
    /// Whether the repetition that is compiled next is possessive.
    is_possessive: bool,
    effort: &'e mut Effort<'w>,
}

/// Programs are built back to front: each node is given the position to continue at.
impl Compiler<'_, '_, '_> {
    fn push(&mut self, inst: Inst) -> Result<u16> {
        if self.insts.len() >= MAX_INSTRUCTIONS {
            return Err(format!(
                "it needs more than {MAX_INSTRUCTIONS} steps. Shorten its counted repetitions."
            )
            .into());
        }
        self.insts.push(inst);
        Ok((self.insts.len() - 1) as u16)
    }

    fn set(&mut self, set: &Set) -> Result<usize> {
        self.effort.after(RANGE_STEPS * set.len())?;
        let next = self.sets.len();
        if let Some(&number) = self.set_indices.get(set) {
            return Ok(number);
        }
        if next == Alphabet::MAX_SETS {
            return Err(format!("it has more than {} sets of characters.", Alphabet::MAX_SETS).into());
        }
        self.set_indices.insert(set.clone(), next);
        self.sets.push(set.clone());
        Ok(next)
    }

    fn node(&mut self, node: &Node, then: u16) -> Result<u16> {
        self.effort.after(1)?;
        match node {
            Node::Empty => Ok(then),
            Node::Literal(text) => text.iter().rev().try_fold(then, |then, &c| self.character(c, then)),
            Node::Set(set) => {
                self.is_possessive = false;
                let set = self.set(self.pattern_sets.get(*set))?;
                self.push(Inst::Take { set, then })
            }
            Node::Look(look) => {
                self.is_possessive = false;
                let condition = self.look(*look)?;
                self.push(Inst::If { condition, then })
            }
            Node::Repeat { part, min, max, greedy } => self.repeat(part, *min, *max, *greedy, then),
            Node::Group(_, part) => self.node(part, then),
            Node::Concat(parts) => parts.iter().rev().try_fold(then, |then, part| self.node(part, then)),
            Node::Alternation(parts) => {
                // Empty parts add no instructions, only targets, so the targets are counted here.
                self.effort.after(4 * parts.len())?;
                // Alternatives that begin alike are joined, so what stands before may belong to any of them.
                let mut is_possessive = false;
                let target = |part| {
                    self.is_possessive = false;
                    let target = self.node(part, then)?;
                    is_possessive |= self.is_possessive;
                    Ok(target)
                };
                let targets = parts.iter().map(target).collect::<Result<_>>()?;
                self.is_possessive = is_possessive;
                self.push(Inst::Split(targets))
            }
        }
    }

    fn character(&mut self, c: char, then: u16) -> Result<u16> {
        self.is_possessive = self.marks.possessive == Some(c);
        if self.is_possessive {
            return Ok(then);
        }
        if let Some(look_ahead) = self.marks.look_aheads.get_mut(&c) {
            look_ahead.used = true;
            let (negate, set) = (look_ahead.negate, look_ahead.set.clone());
            let set = self.set(&set)?;
            let condition = if negate { Condition::NotNext(set) } else { Condition::Next(set) };
            return self.push(Inst::If { condition, then });
        }
        let set = self.set(&Set::one(c))?;
        self.push(Inst::Take { set, then })
    }

    fn repeat(&mut self, part: &Node, min: u32, max: Option<u32>, greedy: bool, then: u16) -> Result<u16> {
        if max.is_none() && part.may_be_empty(self.pattern_sets) == Some(true) {
            return Err("it repeats, without a maximum, a part that can match the empty string.".into());
        }
        if std::mem::take(&mut self.is_possessive) && !self.never_gives_back(part, then)? {
            return Err(
                "a possessive quantifier (as in a++ or a{1,3}+) is supported only if what follows could \
                        not use a character that it gave back. Write it without the last +."
                    .into(),
            );
        }
        let split = |inside: u16, after: u16| {
            Inst::Split(if greedy { vec![inside, after] } else { vec![after, inside] })
        };
        let mut then = then;
        match max {
            None => {
                // The loop refers to itself, so its instruction is reserved before its body is
                // known.
                let loop_start = self.push(Inst::Split(Vec::new()))?;
                let body = self.node(part, loop_start)?;
                self.insts[usize::from(loop_start)] = split(body, then);
                then = loop_start;
            }
            Some(max) => {
                let after = then;
                for _ in min..max {
                    let body = self.node(part, then)?;
                    then = self.push(split(body, after))?;
                }
            }
        }
        (0..min).try_fold(then, |then, _| self.node(part, then))
    }

    /// Whether a repetition of one character matches the same when it may give characters back: if what follows
    /// always matches, or never where a character of the repetition comes next.
    fn never_gives_back(&mut self, part: &Node, then: u16) -> Result<bool> {
        let set = match part {
            Node::Set(set) => self.pattern_sets.get(*set).clone(),
            Node::Literal(text) if text.len() == 1 => Set::one(text[0]),
            _ => return Ok(false),
        };
        let (mut seen, mut next) = (vec![false; self.insts.len()], vec![(then, true)]);
        let (mut may_use, mut always) = (false, false);
        while let Some((at, unconditional)) = next.pop() {
            self.effort.after(1)?;
            if std::mem::replace(&mut seen[usize::from(at)], true) {
                continue;
            }
            match &self.insts[usize::from(at)] {
                Inst::Match => {
                    may_use = true;
                    always |= unconditional;
                }
                Inst::Take { set: taken, .. } => {
                    let taken = &self.sets[*taken];
                    self.effort.after(RANGE_STEPS * (taken.len() + set.len()))?;
                    may_use |= !taken.intersection(&set).is_empty();
                }
                // The start of a loop that is being compiled: what it leads to is not known yet.
                Inst::Split(targets) if targets.is_empty() => return Ok(false),
                Inst::Split(targets) => next.extend(targets.iter().map(|&target| (target, unconditional))),
                Inst::If { condition, then } => {
                    let may_hold = match *condition {
                        Condition::End => false,
                        Condition::Next(wanted) => !self.sets[wanted].intersection(&set).is_empty(),
                        Condition::NotNext(refused) => !set.difference(&self.sets[refused]).is_empty(),
                        Condition::LineEnd { .. } => set.holds('\n'),
                        _ => true,
                    };
                    if may_hold {
                        next.push((*then, false));
                    }
                }
            }
        }
        Ok(always || !may_use)
    }

    fn look(&mut self, look: Look) -> Result<Condition> {
        Ok(match look {
            Look::Start => Condition::Start,
            Look::End => Condition::End,
            Look::LineStart => Condition::LineStart { newline: self.set(&Set::one('\n'))? },
            Look::LineEnd => Condition::LineEnd { newline: self.set(&Set::one('\n'))? },
            Look::WordBorder | Look::NotWordBorder => Condition::WordBorder {
                word: self.set(&unicode::word())?,
                negate: look == Look::NotWordBorder,
            },
            Look::Other => return Err("this kind of anchor is not supported; use ^, $, \\b or \\B.".into()),
        })
    }
}
