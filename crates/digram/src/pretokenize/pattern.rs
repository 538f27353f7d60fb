//! Compiles the text of a regex to a small program over character sets.
//!
//! The syntax is that of the `regex` crate, plus look-around. A look-ahead at one character or one set, as in
//! `\s+(?!\S)`, becomes a condition on the next character. The body of any other look-around becomes a program of
//! its own, a [`Scan`]. A possessive repetition such as `\p{L}++` is accepted if it can be proved that giving
//! characters back would not help what follows: then it matches what the plain one matches.

use hashbrown::HashMap;

use super::alphabet::Alphabet;
use super::effort::{Effort, Stopped};
use super::looking::{Reach, Source};
use super::node::{Around, Look, Node, RANGE_STEPS, Sets};
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
    /// Where the look-around with this index is true; with `negate`, at any other position.
    Scan { index: usize, negate: bool },
}

/// The body of a look-around. It only matters whether it matches, not where it ends.
#[derive(Debug)]
pub(super) struct Scan {
    /// Whether the body matches from a position on, not up to it. If so, the program reads it backward, from its
    /// end to the position.
    pub(super) ahead: bool,
    pub(super) insts: Vec<Inst>,
    pub(super) start: u16,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    pub(super) start: u16,
    /// The sets that the instructions refer to by index.
    pub(super) sets: Vec<Set>,
    /// The look-arounds, each behind those that its body contains.
    pub(super) scans: Vec<Scan>,
    /// How far around itself a match may look.
    pub(super) reach: Reach,
}

impl Program {
    /// Whether it may match without a character, if what is around allows it.
    pub(super) fn may_be_empty(&self) -> bool {
        let (mut seen, mut stack) = (vec![false; self.insts.len()], vec![self.start]);
        while let Some(position) = stack.pop() {
            if std::mem::replace(&mut seen[usize::from(position)], true) {
                continue;
            }
            match &self.insts[usize::from(position)] {
                Inst::Match => return true,
                Inst::Split(targets) => stack.extend(targets),
                Inst::If { then, .. } => stack.push(*then),
                Inst::Take { .. } => {}
            }
        }
        false
    }

    /// Whether it matches without a character at every position, whatever is around.
    pub(super) fn matches_nothing_anywhere(&self) -> bool {
        let (mut seen, mut stack) = (vec![false; self.insts.len()], vec![self.start]);
        while let Some(position) = stack.pop() {
            if std::mem::replace(&mut seen[usize::from(position)], true) {
                continue;
            }
            match &self.insts[usize::from(position)] {
                Inst::Match => return true,
                Inst::Split(targets) => stack.extend(targets),
                Inst::Take { .. } | Inst::If { .. } => {}
            }
        }
        false
    }
}

/// The maximum number of instructions. Counted repetitions are expanded: `a{1,1000}` takes two thousand.
const MAX_INSTRUCTIONS: usize = 20_000;

/// The maximum length of a pattern in bytes; the published ones have at most 500.
const MAX_BYTES: usize = 1 << 16;

/// The maximum number of different look-arounds.
const MAX_SCANS: usize = 24;

type Result<T> = std::result::Result<T, Stopped>;

/// Compiles `pattern`.
pub(super) fn compile(pattern: &str, effort: &mut Effort) -> Result<Program> {
    if pattern.len() > MAX_BYTES {
        let reason =
            format!("it has {} bytes, more than {MAX_BYTES}. Split with several patterns.", pattern.len());
        return Err(reason.into());
    }
    let source = Source::new(pattern)?;
    let mut sets = Sets::default();
    let node = syntax::read_source(&source, &mut sets, effort)?;
    program(&node, &sets, &source, effort)
}

/// The program of a syntax tree.
fn program(node: &Node, sets: &Sets, source: &Source, effort: &mut Effort) -> Result<Program> {
    let mut compiler = Compiler {
        insts: vec![Inst::Match],
        sets: Vec::new(),
        set_indices: HashMap::new(),
        scans: Vec::new(),
        bodies: Vec::new(),
        direction: Direction::Forward,
        pattern_sets: sets,
        possessive: source.possessive,
        gives_nothing_back: source.gives_nothing_back(),
        is_possessive: false,
        exits: HashMap::new(),
        effort,
    };
    let start = compiler.node(node, 0)?;
    let Compiler { insts, sets, scans, .. } = compiler;
    Ok(Program { insts, start, sets, scans, reach: Reach::of(node) })
}

/// What is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// The pattern, or the body of a look-ahead to check its repetitions.
    Forward,
    /// The body of a look-behind.
    Behind,
    /// The body of a look-ahead, which is read backward.
    Backward,
}

struct Compiler<'s, 'e, 'w> {
    insts: Vec<Inst>,
    sets: Vec<Set>,
    set_indices: HashMap<Set, usize>,
    /// The sets that the syntax tree refers to by index.
    pattern_sets: &'s Sets,
    scans: Vec<Scan>,
    /// The direction and the tree of each of them.
    bodies: Vec<(bool, Node)>,
    direction: Direction,
    /// The mark behind possessive repetitions.
    possessive: Option<char>,
    /// Whether something must keep its match whatever follows.
    gives_nothing_back: bool,
    /// Whether the repetition that is compiled next is possessive.
    is_possessive: bool,
    /// Of each loop that is being compiled, by its start, where it goes on behind.
    exits: HashMap<u16, u16>,
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
            Node::Literal(text) if self.direction == Direction::Backward => {
                text.iter().try_fold(then, |then, &c| self.character(c, then))
            }
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
            Node::Around(around, body) => {
                self.is_possessive = false;
                let condition = self.around(*around, body)?;
                self.push(Inst::If { condition, then })
            }
            Node::Repeat { part, min, max, greedy } => self.repeat(part, *min, *max, *greedy, then),
            Node::Group(_, part) => self.node(part, then),
            Node::Atomic(part) => self.atomic(part, then),
            Node::Concat(parts) if self.direction == Direction::Backward => {
                parts.iter().try_fold(then, |then, part| self.node(part, then))
            }
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
        let is_mark = self.possessive == Some(c);
        self.is_possessive = is_mark && self.direction == Direction::Forward;
        if is_mark && self.direction == Direction::Behind {
            return Err(
                "a possessive quantifier is not supported in a look-behind. Write it without the last +."
                    .into(),
            );
        }
        if is_mark {
            return Ok(then);
        }
        let set = self.set(&Set::one(c))?;
        self.push(Inst::Take { set, then })
    }

    fn around(&mut self, around: Around, body: &Node) -> Result<Condition> {
        let Around { ahead, negate } = around;
        let single = match body {
            Node::Set(set) => Some(self.pattern_sets.get(*set).clone()),
            Node::Literal(text) if text.len() == 1 => Some(Set::one(text[0])),
            _ => None,
        };
        if let Some(set) = single.filter(|_| ahead) {
            let set = self.set(&set)?;
            return Ok(if negate { Condition::NotNext(set) } else { Condition::Next(set) });
        }
        Ok(Condition::Scan { index: self.scan(ahead, body)?, negate })
    }

    /// The index of the look-around with this body. Equal ones are one.
    fn scan(&mut self, ahead: bool, body: &Node) -> Result<usize> {
        self.effort.after((1 + self.bodies.len()) * body.size())?;
        if let Some(index) = self.bodies.iter().position(|(of, other)| *of == ahead && other == body) {
            return Ok(index);
        }
        if ahead && self.gives_nothing_back {
            self.body(body, Direction::Forward)?;
        }
        let (insts, start) = self.body(body, if ahead { Direction::Backward } else { Direction::Behind })?;
        if self.scans.len() == MAX_SCANS {
            return Err(format!(
                "it has more than {MAX_SCANS} different look-arounds that see more than the next character. \
                 Use fewer, or split with several patterns."
            )
            .into());
        }
        self.scans.push(Scan { ahead, insts, start });
        self.bodies.push((ahead, body.clone()));
        Ok(self.scans.len() - 1)
    }

    /// A program of its own.
    fn body(&mut self, body: &Node, direction: Direction) -> Result<(Vec<Inst>, u16)> {
        let outer = (std::mem::replace(&mut self.insts, vec![Inst::Match]), self.direction);
        let exits = std::mem::take(&mut self.exits);
        self.direction = direction;
        let start = self.node(body, 0);
        self.is_possessive = false;
        let insts = std::mem::replace(&mut self.insts, outer.0);
        (self.direction, self.exits) = (outer.1, exits);
        start.map(|start| (insts, start))
    }

    /// A group that is compiled as any other, if it keeps its first match anyway.
    fn atomic(&mut self, part: &Node, then: u16) -> Result<u16> {
        self.is_possessive = false;
        if self.direction == Direction::Behind {
            return Err("an atomic group is not supported in a look-behind. Write it as (?:...).".into());
        }
        if self.direction == Direction::Forward && !self.keeps_first(part, then)? {
            return Err("an atomic group (?>...) is supported only if other matches of the group could not change \
                        the result: if all are of one length, if what follows always matches, or if the group \
                        ends with a repetition of one character that what follows could not use. Write it as \
                        (?:...)."
                .into());
        }
        self.node(part, then)
    }

    /// Whether another match of a part than the first is of no use: none is tried, or what follows fails behind it.
    fn keeps_first(&mut self, part: &Node, then: u16) -> Result<bool> {
        let (before, last) = match part {
            Node::Concat(parts) => match parts.split_last() {
                Some((last, before)) => (before, last),
                None => return Ok(true),
            },
            last => (&[][..], last),
        };
        let repeated = match last {
            Node::Repeat { part, greedy: true, .. } if before.iter().all(|one| one.length().is_some()) => {
                &**part
            }
            _ => &Node::Empty,
        };
        self.never_gives_back(repeated, then)
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
                self.exits.insert(loop_start, then);
                let body = self.node(part, loop_start)?;
                self.exits.remove(&loop_start);
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

    /// Whether a repetition matches the same when it may give characters back: if what follows always matches, or,
    /// for one of one character, never where a character of the repetition comes next.
    fn never_gives_back(&mut self, part: &Node, then: u16) -> Result<bool> {
        let single = match part {
            Node::Set(set) => Some(self.pattern_sets.get(*set).clone()),
            Node::Literal(text) if text.len() == 1 => Some(Set::one(text[0])),
            _ => None,
        };
        let is_known = single.is_some();
        let set = single.unwrap_or_else(|| Set::new(Vec::new()).negated());
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
                // The start of a loop that is being compiled: what its body begins with is not known yet.
                Inst::Split(targets) if targets.is_empty() => {
                    may_use = true;
                    next.extend(self.exits.get(&at).map(|&exit| (exit, unconditional)));
                }
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
        Ok(always || (is_known && !may_use))
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
