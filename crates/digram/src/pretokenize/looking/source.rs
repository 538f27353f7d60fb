//! The text of a pattern as the parser can read it.
//!
//! The parser knows neither look-around, nor atomic groups, nor possessive repetitions. A look-around becomes a group
//! with a name that tells its kind, so that its body is parsed where it stands, with the flags in force there; so does
//! an atomic group. The last `+` of a possessive repetition becomes a mark, a noncharacter that occurs nowhere else in
//! the pattern.

use crate::pretokenize::effort::Stopped;
use crate::pretokenize::node::{Around, Node};

/// A group that the parser does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::pretokenize) enum Special {
    Around(Around),
    Atomic,
}

impl Special {
    /// The node of a group with this content.
    pub(in crate::pretokenize) fn node(self, part: Node) -> Node {
        match self {
            Special::Around(around) => Node::Around(around, Box::new(part)),
            Special::Atomic => Node::atomic(part),
        }
    }
}

/// The openings of these groups.
const OPENINGS: [(&str, Special); 5] = [
    ("(?=", Special::Around(Around { ahead: true, negate: false })),
    ("(?!", Special::Around(Around { ahead: true, negate: true })),
    ("(?<=", Special::Around(Around { ahead: false, negate: false })),
    ("(?<!", Special::Around(Around { ahead: false, negate: true })),
    ("(?>", Special::Atomic),
];

/// The maximum number of look-arounds and atomic groups in the text of a pattern.
const MAX_SPECIALS: usize = 256;

/// See the module.
pub(in crate::pretokenize) struct Source {
    pub(in crate::pretokenize) text: String,
    /// The look-arounds and atomic groups, in the order of their openings.
    pub(in crate::pretokenize) specials: Vec<Special>,
    /// Stands behind each possessive repetition.
    pub(in crate::pretokenize) possessive: Option<char>,
    /// With the number of one of these groups, its name.
    prefix: String,
    /// Offsets in the text behind which it differs, with the offset in the pattern there.
    shifts: Vec<(usize, usize)>,
}

impl Source {
    /// A pattern that is read as it is.
    pub(in crate::pretokenize) fn plain(pattern: &str) -> Source {
        Source {
            text: pattern.into(),
            specials: Vec::new(),
            possessive: None,
            prefix: String::new(),
            shifts: Vec::new(),
        }
    }

    pub(in crate::pretokenize) fn new(pattern: &str) -> Result<Source, Stopped> {
        let mut unused_marks = ('\u{fdd0}'..='\u{fdef}').filter(|&c| !pattern.contains(c));
        let unused_name = (0..).map(|number| format!("look{number}_")).find(|name| !pattern.contains(name));
        let prefix = unused_name.expect("a pattern has few names");
        let mut source = Source { prefix, text: String::with_capacity(pattern.len()), ..Source::plain("") };
        let mut rest = pattern;
        // The nesting depth of sets, and whether the next `]` is the first character of one.
        let (mut in_set, mut starts_set) = (0usize, false);
        // Whether the previous character ends a repetition.
        let mut after_repetition = false;
        while let Some(c) = rest.chars().next() {
            let offset = pattern.len() - rest.len();
            if c == '\\' {
                let length = escape_length(rest);
                source.text.push_str(&rest[..length]);
                (rest, after_repetition, starts_set) = (&rest[length..], false, false);
                continue;
            }
            if c == '+' && after_repetition && in_set == 0 {
                let mark =
                    match source.possessive {
                        Some(mark) => mark,
                        None => *source.possessive.insert(unused_marks.next().ok_or(
                            "it has all of the characters U+FDD0 to U+FDEF, which are not supported.",
                        )?),
                    };
                source.text.push_str(&format!("(?-i:{mark})"));
                source.shifts.push((source.text.len(), offset + 1));
                (rest, after_repetition) = (&rest[1..], false);
                continue;
            }
            after_repetition = in_set == 0 && matches!(c, '+' | '*' | '?' | '}');
            if in_set == 0
                && let Some(&(opening, special)) =
                    OPENINGS.iter().find(|(opening, _)| rest.starts_with(opening))
            {
                source.text.push_str(&format!("(?P<{}{}>", source.prefix, source.specials.len()));
                source.specials.push(special);
                if source.specials.len() > MAX_SPECIALS {
                    return Err(format!(
                        "it has more than {MAX_SPECIALS} look-arounds and atomic groups. Use fewer."
                    )
                    .into());
                }
                rest = &rest[opening.len()..];
                source.shifts.push((source.text.len(), offset + opening.len()));
                after_repetition = false;
                continue;
            }
            match c {
                '[' => (in_set, starts_set) = (in_set + 1, true),
                ']' if !starts_set => in_set = in_set.saturating_sub(1),
                '^' if starts_set && source.text.ends_with('[') => {}
                _ => starts_set = false,
            }
            source.text.push(c);
            rest = &rest[c.len_utf8()..];
        }
        Ok(source)
    }

    /// The look-around or atomic group that has this name.
    pub(in crate::pretokenize) fn special(&self, name: &str) -> Option<Special> {
        let number = name.strip_prefix(&self.prefix).filter(|_| !self.specials.is_empty())?;
        self.specials.get(number.parse::<usize>().ok()?).copied()
    }

    /// Whether there is something that is checked by what follows it.
    pub(in crate::pretokenize) fn gives_nothing_back(&self) -> bool {
        self.possessive.is_some() || self.specials.contains(&Special::Atomic)
    }

    /// The offset in the pattern of an offset in the text.
    pub(in crate::pretokenize) fn original_offset(&self, offset: usize) -> usize {
        let before = self.shifts.partition_point(|&(end, _)| end <= offset);
        let (end, original) = before.checked_sub(1).map_or((0, 0), |index| self.shifts[index]);
        // Inside what stands for another text: the start of that.
        let next = self.shifts.get(before).map_or(usize::MAX, |&(_, original)| original);
        (original + (offset - end)).min(next)
    }
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
