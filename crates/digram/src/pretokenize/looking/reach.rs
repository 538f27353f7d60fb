//! How far a pattern looks beyond its match.

use crate::pretokenize::node::{Around, Look, Node};

/// More characters than this count as any number of them.
const FAR: usize = 1 << 12;

/// The maximum numbers of characters, before the start of a match and behind its end, on which it may depend. `None`
/// is any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pretokenize) struct Reach {
    pub(in crate::pretokenize) before: Option<usize>,
    pub(in crate::pretokenize) after: Option<usize>,
}

impl Reach {
    const NONE: Reach = Reach { before: Some(0), after: Some(0) };

    pub(in crate::pretokenize) fn of(node: &Node) -> Reach {
        match node {
            Node::Empty | Node::Literal(_) | Node::Set(_) => Reach::NONE,
            Node::Look(Look::Start | Look::LineStart) => Reach { before: Some(1), ..Reach::NONE },
            Node::Look(Look::End | Look::LineEnd) => Reach { after: Some(1), ..Reach::NONE },
            Node::Look(_) => Reach { before: Some(1), after: Some(1) },
            // A body that looks around does so at most at its ends.
            Node::Around(Around { ahead: true, .. }, body) => {
                let Reach { before, after } = Reach::of(body);
                Reach { before, after: sum(after, width(body)) }
            }
            Node::Around(Around { ahead: false, .. }, body) => {
                let Reach { before, after } = Reach::of(body);
                Reach { before: sum(before, width(body)), after }
            }
            Node::Repeat { part, .. } | Node::Group(_, part) | Node::Atomic(part) => Reach::of(part),
            Node::Concat(parts) | Node::Alternation(parts) => {
                parts.iter().map(Reach::of).fold(Reach::NONE, |all, part| Reach {
                    before: greater(all.before, part.before),
                    after: greater(all.after, part.after),
                })
            }
        }
    }
}

/// The maximum number of characters of a match.
fn width(node: &Node) -> Option<usize> {
    match node {
        Node::Empty | Node::Look(_) | Node::Around(..) => Some(0),
        Node::Literal(text) => limited(text.len()),
        Node::Set(_) => Some(1),
        Node::Repeat { part, max, .. } => match (width(part), max) {
            (Some(0), _) => Some(0),
            (Some(width), Some(max)) => limited(width.saturating_mul(*max as usize)),
            _ => None,
        },
        Node::Group(_, part) | Node::Atomic(part) => width(part),
        Node::Concat(parts) => parts.iter().map(width).fold(Some(0), sum),
        Node::Alternation(parts) => parts.iter().map(width).fold(Some(0), greater),
    }
}

fn limited(width: usize) -> Option<usize> {
    Some(width).filter(|&width| width <= FAR)
}

fn sum(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    limited(a? + b?)
}

fn greater(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    Some(a?.max(b?))
}
