//! A pattern as a tree, simplified while it is built. Simplifying keeps the automaton small:
//! `a|b|c` becomes one set, like `[abc]`, and a common beginning of alternatives is written once.

use hashbrown::HashMap;

use super::effort::{Effort, Stopped};
use super::set::Set;

/// The steps counted for each range of a set that is processed.
pub(super) const RANGE_STEPS: usize = 4;

/// A node of a parsed pattern. Sets of characters are referred to by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Empty,
    Literal(Vec<char>),
    /// A character of a set that does not have exactly one character.
    Set(usize),
    Look(Look),
    /// An assertion that a pattern matches from a position on, or up to it.
    Around(Around, Box<Node>),
    Repeat {
        part: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// A capturing group, with its number. It is not joined with its neighbours.
    Group(u32, Box<Node>),
    /// A part that keeps its first match, whatever follows.
    Atomic(Box<Node>),
    Concat(Vec<Node>),
    Alternation(Vec<Node>),
}

/// An assertion about a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Start,
    End,
    LineStart,
    LineEnd,
    WordBorder,
    NotWordBorder,
    /// An assertion that the automata do not support.
    Other,
}

/// The kind of a look-around: `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) ahead: bool,
    pub(super) negate: bool,
}

/// The distinct sets of a pattern.
#[derive(Default)]
pub(super) struct Sets {
    sets: Vec<Set>,
    numbers: HashMap<Set, usize>,
}

impl Sets {
    pub(super) fn number(&mut self, set: Set, effort: &mut Effort) -> Result<usize, Stopped> {
        effort.after(1 + RANGE_STEPS * set.len())?;
        let next = self.sets.len();
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        Ok(number)
    }

    pub(super) fn get(&self, number: usize) -> &Set {
        &self.sets[number]
    }
}

impl Node {
    /// One character of a set.
    pub(super) fn set(set: Set, sets: &mut Sets, effort: &mut Effort) -> Result<Node, Stopped> {
        match set.single() {
            Some(c) => Ok(Node::Literal(vec![c])),
            None => sets.number(set, effort).map(Node::Set),
        }
    }

    /// A sequence of parts, which are already simplified.
    pub(super) fn concat(parts: Vec<Node>) -> Node {
        let mut joined: Vec<Node> = Vec::with_capacity(parts.len());
        let mut add = |part: Node| match (joined.last_mut(), part) {
            (_, Node::Empty) => {}
            (Some(Node::Literal(before)), Node::Literal(text)) => before.extend(text),
            (_, part) => joined.push(part),
        };
        for part in parts {
            match part {
                Node::Concat(parts) => parts.into_iter().for_each(&mut add),
                part => add(part),
            }
        }
        match joined.len() {
            0 => Node::Empty,
            1 => joined.remove(0),
            _ => Node::Concat(joined),
        }
    }

    /// An alternation, with earlier parts preferred.
    ///
    /// A common beginning of the parts is not written once, as `regex-syntax` does: if the beginning matches in
    /// several ways, what backtracking finds depends on the part that was begun.
    pub(super) fn alternation(
        parts: Vec<Node>,
        sets: &mut Sets,
        effort: &mut Effort,
    ) -> Result<Node, Stopped> {
        effort.after(parts.len())?;
        let mut alternatives = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Node::Alternation(parts) => alternatives.extend(parts),
                part => alternatives.push(part),
            }
        }
        effort.after(alternatives.len())?;
        if alternatives.len() == 1 {
            return Ok(alternatives.remove(0));
        }
        match union_of_sets(&alternatives, sets, effort)? {
            Some(set) => Node::set(set, sets, effort),
            None => Ok(Node::Alternation(alternatives)),
        }
    }

    /// A repetition of a part.
    pub(super) fn repeat(part: Node, min: u32, max: Option<u32>, greedy: bool) -> Node {
        // Repeating a part that matches only positions has no further effect.
        let (min, max) = match part.is_zero_width() {
            true => (min.min(1), Some(max.map_or(1, |max| max.min(1)))),
            false => (min, max),
        };
        match (min, max) {
            (0, Some(0)) => Node::Empty,
            (1, Some(1)) => part,
            _ => Node::Repeat { part: Box::new(part), min, max, greedy },
        }
    }

    /// A part of which no other match is tried when what follows does not match.
    pub(super) fn atomic(part: Node) -> Node {
        // All matches at a place are of one length, so they end at the same place.
        if part.length().is_some() { part } else { Node::Atomic(Box::new(part)) }
    }

    /// The number of characters of every match; `None` if it may differ.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Node::Empty | Node::Look(_) | Node::Around(..) => Some(0),
            Node::Literal(text) => Some(text.len()),
            Node::Set(_) => Some(1),
            Node::Repeat { part, min, max, .. } => {
                part.length().filter(|_| *max == Some(*min))?.checked_mul(*min as usize)
            }
            Node::Group(_, part) | Node::Atomic(part) => part.length(),
            Node::Concat(parts) => parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.length()?)),
            Node::Alternation(parts) => {
                let mut lengths = parts.iter().map(Node::length);
                let first = lengths.next()??;
                lengths.all(|length| length == Some(first)).then_some(first)
            }
        }
    }

    /// Whether it never consumes a character.
    fn is_zero_width(&self) -> bool {
        match self {
            Node::Empty | Node::Look(_) | Node::Around(..) => true,
            Node::Literal(_) | Node::Set(_) => false,
            Node::Repeat { part, .. } | Node::Group(_, part) | Node::Atomic(part) => part.is_zero_width(),
            Node::Concat(parts) | Node::Alternation(parts) => parts.iter().all(Node::is_zero_width),
        }
    }

    /// Whether it can match without consuming a character; `None` if a part of it cannot match at all.
    pub(super) fn may_be_empty(&self, sets: &Sets) -> Option<bool> {
        let all = |parts: &[Node]| -> Option<Vec<bool>> {
            parts.iter().map(|part| part.may_be_empty(sets)).collect()
        };
        match self {
            Node::Empty | Node::Look(_) | Node::Around(..) => Some(true),
            Node::Literal(_) => Some(false),
            Node::Set(set) => (!sets.get(*set).is_empty()).then_some(false),
            Node::Repeat { part, min, .. } => part.may_be_empty(sets).map(|is_empty| is_empty || *min == 0),
            Node::Group(_, part) | Node::Atomic(part) => part.may_be_empty(sets),
            Node::Concat(parts) => all(parts).map(|is_empty| is_empty.iter().all(|&is_empty| is_empty)),
            Node::Alternation(parts) => all(parts).map(|is_empty| is_empty.iter().any(|&is_empty| is_empty)),
        }
    }

    /// The number of its nodes and characters.
    pub(super) fn size(&self) -> usize {
        match self {
            Node::Literal(text) => 1 + text.len(),
            Node::Repeat { part, .. } | Node::Group(_, part) | Node::Atomic(part) | Node::Around(_, part) => {
                1 + part.size()
            }
            Node::Concat(parts) | Node::Alternation(parts) => 1 + parts.iter().map(Node::size).sum::<usize>(),
            _ => 1,
        }
    }
}

/// The union of alternatives, if each is one character, or each a set.
fn union_of_sets(parts: &[Node], sets: &Sets, effort: &mut Effort) -> Result<Option<Set>, Stopped> {
    let single_range = |part: &Node| match part {
        Node::Literal(text) if text.len() == 1 => Some((text[0], text[0])),
        _ => None,
    };
    if let Some(ranges) = parts.iter().map(single_range).collect::<Option<Vec<_>>>() {
        effort.after(RANGE_STEPS * ranges.len())?;
        return Ok(Some(Set::new(ranges)));
    }
    let mut ranges = Vec::new();
    for part in parts {
        let Node::Set(set) = part else { return Ok(None) };
        let set = sets.get(*set);
        effort.after(RANGE_STEPS * set.len())?;
        ranges.extend_from_slice(set.ranges());
    }
    Ok(Some(Set::new(ranges)))
}
