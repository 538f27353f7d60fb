//! Parses the text of a regex into a tree. The syntax is that of the `regex` crate, read by its own
//! parser. The translation is done here, with tables of one version of Unicode and with counted
//! steps: folding the case of a thousand large sets would take longer than everything after it.

use regex_syntax::ast::{
    self, Ast, ClassPerlKind, ClassSet, ClassSetBinaryOpKind, ClassSetItem, ErrorKind, Flag, Span,
};

use super::effort::{Effort, Stopped};
use super::looking::Source;
use super::node::{Look, Node, RANGE_STEPS, Sets};
use super::set::Set;
use super::unicode::{self, Case, Unknown};

type Result<T> = std::result::Result<T, Stopped>;

/// The maximum nesting depth of groups, sets and repetitions.
const MAX_DEPTH: u32 = 100;

/// The steps of the parser for a byte, each of which may become part of the tree.
const BYTE_STEPS: usize = 16;

/// The tree of a pattern without look-around.
pub(super) fn read(pattern: &str, sets: &mut Sets, effort: &mut Effort) -> Result<Node> {
    read_source(&Source::plain(pattern), sets, effort)
}

/// The tree of a pattern whose look-arounds and atomic groups are written as groups with names.
pub(super) fn read_source(source: &Source, sets: &mut Sets, effort: &mut Effort) -> Result<Node> {
    read_with(Node::alternation, source, sets, effort)
}

/// Makes an alternation.
type Alternation = fn(Vec<Node>, &mut Sets, &mut Effort) -> Result<Node>;

fn read_with(
    alternation: Alternation,
    source: &Source,
    sets: &mut Sets,
    effort: &mut Effort,
) -> Result<Node> {
    effort.after(BYTE_STEPS * source.text.len())?;
    let ast = ast::parse::ParserBuilder::new()
        .nest_limit(MAX_DEPTH)
        .build()
        .parse(&source.text)
        .map_err(|error| refused(source, error.span(), error.kind(), remedy_of(error.kind())))?;
    let flags = Flags::default();
    let mut parser = PatternParser { alternation, flags, case: None, source, specials: 0, sets, effort };
    let node = parser.node(&ast)?;
    if parser.specials < source.specials.len() {
        let reason =
            "look-around and atomic groups are not supported inside a set of characters or a comment.";
        return Err(reason.into());
    }
    Ok(node)
}

/// The error for an unsupported construct, with the parser's message and the position.
fn unsupported(source: &Source, span: &Span, reason: &dyn std::fmt::Display) -> Stopped {
    refused(source, span, reason, WRITE_WITHOUT)
}

/// What to do about an error of the parser.
fn remedy_of(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::UnsupportedBackreference
        | ErrorKind::UnsupportedLookAround
        | ErrorKind::NestLimitExceeded(_) => WRITE_WITHOUT,
        _ => "Correct it; a character itself is written as in \\( or \\*.",
    }
}

/// The error at a position, with the remedy.
fn refused(source: &Source, span: &Span, reason: &dyn std::fmt::Display, remedy: &str) -> Stopped {
    let offset = source.original_offset(span.start.offset);
    format!("{reason} (at byte {offset}). {remedy}").into()
}

const WRITE_WITHOUT: &str = "Write it without, or split with several patterns one after the other.";

const NOT_UTF8: &str = "pattern can match invalid UTF-8";
const NOT_UNICODE: &str = "Unicode not allowed here";

/// The flags that groups such as `(?i)` turn on and off.
#[derive(Clone, Copy)]
struct Flags {
    any_case: bool,
    multi_line: bool,
    dot_takes_newline: bool,
    lazy: bool,
    unicode: bool,
    crlf: bool,
}

impl Default for Flags {
    fn default() -> Flags {
        let off = false;
        Flags { any_case: off, multi_line: off, dot_takes_newline: off, lazy: off, unicode: true, crlf: off }
    }
}

impl Flags {
    fn set(&mut self, flags: &ast::Flags) {
        let mut on = true;
        for item in &flags.items {
            match item.kind {
                ast::FlagsItemKind::Negation => on = false,
                ast::FlagsItemKind::Flag(Flag::CaseInsensitive) => self.any_case = on,
                ast::FlagsItemKind::Flag(Flag::MultiLine) => self.multi_line = on,
                ast::FlagsItemKind::Flag(Flag::DotMatchesNewLine) => self.dot_takes_newline = on,
                ast::FlagsItemKind::Flag(Flag::SwapGreed) => self.lazy = on,
                ast::FlagsItemKind::Flag(Flag::Unicode) => self.unicode = on,
                ast::FlagsItemKind::Flag(Flag::CRLF) => self.crlf = on,
                // The parser itself handles it.
                ast::FlagsItemKind::Flag(Flag::IgnoreWhitespace) => {}
            }
        }
    }
}

struct PatternParser<'e, 'w> {
    alternation: Alternation,
    flags: Flags,
    /// Made at first use.
    case: Option<Case>,
    source: &'e Source,
    /// The number of look-arounds and atomic groups that were read.
    specials: usize,
    sets: &'e mut Sets,
    effort: &'e mut Effort<'w>,
}

/// Recursion is limited by the parser's nesting limit.
impl PatternParser<'_, '_> {
    fn node(&mut self, ast: &Ast) -> Result<Node> {
        self.effort.after(1)?;
        match ast {
            Ast::Empty(_) => Ok(Node::Empty),
            Ast::Flags(flags) => {
                self.flags.set(&flags.flags);
                Ok(Node::Empty)
            }
            Ast::Literal(literal) => self.literal(literal),
            Ast::Dot(span) => self.dot(span),
            Ast::Assertion(assertion) => Ok(Node::Look(self.look(&assertion.kind))),
            Ast::ClassUnicode(class) => {
                let set = self.property(class)?;
                self.set(set)
            }
            Ast::ClassPerl(class) => {
                let set = self.perl(class)?;
                self.set(set)
            }
            Ast::ClassBracketed(class) => {
                let set = self.brackets(class)?;
                self.set(set)
            }
            Ast::Repetition(repetition) => {
                let part = self.node(&repetition.ast)?;
                let (min, max) = match &repetition.op.kind {
                    ast::RepetitionKind::ZeroOrOne => (0, Some(1)),
                    ast::RepetitionKind::ZeroOrMore => (0, None),
                    ast::RepetitionKind::OneOrMore => (1, None),
                    ast::RepetitionKind::Range(ast::RepetitionRange::Exactly(times)) => {
                        (*times, Some(*times))
                    }
                    ast::RepetitionKind::Range(ast::RepetitionRange::AtLeast(min)) => (*min, None),
                    ast::RepetitionKind::Range(ast::RepetitionRange::Bounded(min, max)) => (*min, Some(*max)),
                };
                Ok(Node::repeat(part, min, max, repetition.greedy != self.flags.lazy))
            }
            Ast::Group(group) => {
                let outside = self.flags;
                if let Some(flags) = group.flags() {
                    self.flags.set(flags);
                }
                let part = self.node(&group.ast)?;
                self.flags = outside;
                if let ast::GroupKind::CaptureName { name, .. } = &group.kind
                    && let Some(special) = self.source.special(&name.name)
                {
                    self.specials += 1;
                    return Ok(special.node(part));
                }
                Ok(match group.capture_index() {
                    Some(index) => Node::Group(index, Box::new(part)),
                    None => part,
                })
            }
            Ast::Concat(concat) => {
                let parts = concat.asts.iter().map(|part| self.node(part)).collect::<Result<_>>()?;
                Ok(Node::concat(parts))
            }
            Ast::Alternation(alternation) => {
                let parts = alternation.asts.iter().map(|part| self.node(part)).collect::<Result<_>>()?;
                (self.alternation)(parts, self.sets, self.effort)
            }
        }
    }

    fn set(&mut self, set: Set) -> Result<Node> {
        Node::set(set, self.sets, self.effort)
    }

    /// The character of a literal. In byte mode, a literal for a byte outside ASCII is an error.
    fn character(&self, literal: &ast::Literal) -> Result<char> {
        match literal.byte() {
            Some(128..) if !self.flags.unicode => Err(unsupported(self.source, &literal.span, &NOT_UTF8)),
            _ => Ok(literal.c),
        }
    }

    fn literal(&mut self, literal: &ast::Literal) -> Result<Node> {
        let c = self.character(literal)?;
        if !self.flags.any_case {
            return Ok(Node::Literal(vec![c]));
        }
        let set = self.folded(Set::one(c))?;
        self.set(set)
    }

    fn dot(&mut self, span: &Span) -> Result<Node> {
        if !self.flags.unicode {
            return Err(unsupported(self.source, span, &NOT_UTF8));
        }
        let excluded: &[char] = match (self.flags.dot_takes_newline, self.flags.crlf) {
            (true, _) => &[],
            (false, true) => &['\n', '\r'],
            (false, false) => &['\n'],
        };
        self.set(Set::new(excluded.iter().map(|&c| (c, c)).collect()).negated())
    }

    fn look(&self, kind: &ast::AssertionKind) -> Look {
        let Flags { multi_line, crlf, unicode, .. } = self.flags;
        match kind {
            ast::AssertionKind::StartText => Look::Start,
            ast::AssertionKind::EndText => Look::End,
            ast::AssertionKind::StartLine if !multi_line => Look::Start,
            ast::AssertionKind::EndLine if !multi_line => Look::End,
            ast::AssertionKind::StartLine if !crlf => Look::LineStart,
            ast::AssertionKind::EndLine if !crlf => Look::LineEnd,
            ast::AssertionKind::WordBoundary if unicode => Look::WordBorder,
            ast::AssertionKind::NotWordBoundary if unicode => Look::NotWordBorder,
            _ => Look::Other,
        }
    }

    /// The set with all characters that differ from its own only in case.
    fn folded(&mut self, set: Set) -> Result<Set> {
        if !self.flags.any_case {
            return Ok(set);
        }
        let mut ranges = set.ranges().to_vec();
        if self.flags.unicode {
            if self.case.is_none() {
                self.effort.after(Case::STEPS)?;
            }
            let others = self.case.get_or_insert_with(Case::new).others(&set);
            ranges.extend(others.map(|c| (c, c)));
        } else {
            let ascii = ('a'..='z').chain('A'..='Z').filter(|&c| set.holds(c));
            ranges.extend(
                ascii
                    .map(|c| if c < 'a' { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
                    .map(|c| (c, c)),
            );
        }
        self.effort.after(RANGE_STEPS * ranges.len())?;
        Ok(Set::new(ranges))
    }

    /// The set, or its complement. In byte mode the complement is an error, since it would contain
    /// bytes that are not UTF-8.
    fn negated(&mut self, set: Set, negated: bool, span: &Span) -> Result<Set> {
        if !negated {
            return Ok(set);
        }
        if !self.flags.unicode {
            return Err(unsupported(self.source, span, &NOT_UTF8));
        }
        self.effort.after(RANGE_STEPS * set.len())?;
        Ok(set.negated())
    }

    /// `\p{…}`
    fn property(&mut self, class: &ast::ClassUnicode) -> Result<Set> {
        if !self.flags.unicode {
            return Err(unsupported(self.source, &class.span, &NOT_UNICODE));
        }
        let result = match &class.kind {
            ast::ClassUnicodeKind::OneLetter(c) => unicode::alone(c.encode_utf8(&mut [0; 4])),
            ast::ClassUnicodeKind::Named(name) => unicode::alone(name),
            ast::ClassUnicodeKind::NamedValue { name, value, .. } => unicode::by_value(name, value),
        };
        let set = result.map_err(|unknown| {
            let message = match unknown {
                Unknown::Property => "Unicode property not found",
                Unknown::Value => "Unicode property value not found",
            };
            unsupported(self.source, &class.span, &message)
        })?;
        self.effort.after(RANGE_STEPS * set.len())?;
        let set = self.folded(set)?;
        self.negated(set, class.is_negated(), &class.span)
    }

    /// `\w`, `\s`, `\d`. They need no case folding, since they contain all forms of each of their
    /// characters.
    fn perl(&mut self, class: &ast::ClassPerl) -> Result<Set> {
        let set = match (self.flags.unicode, &class.kind) {
            (true, ClassPerlKind::Word) => unicode::word(),
            (true, ClassPerlKind::Space) => unicode::space(),
            (true, ClassPerlKind::Digit) => unicode::digit(),
            (false, ClassPerlKind::Word) => ascii(&ast::ClassAsciiKind::Word),
            (false, ClassPerlKind::Space) => ascii(&ast::ClassAsciiKind::Space),
            (false, ClassPerlKind::Digit) => ascii(&ast::ClassAsciiKind::Digit),
        };
        self.effort.after(RANGE_STEPS * set.len())?;
        self.negated(set, class.negated, &class.span)
    }

    /// `[…]`
    fn brackets(&mut self, class: &ast::ClassBracketed) -> Result<Set> {
        let set = self.class_set(&class.kind)?;
        let set = self.folded(set)?;
        self.negated(set, class.negated, &class.span)
    }

    fn class_set(&mut self, class: &ClassSet) -> Result<Set> {
        self.effort.after(1)?;
        match class {
            ClassSet::Item(item) => {
                let mut ranges = Vec::new();
                self.item(item, &mut ranges)?;
                self.effort.after(RANGE_STEPS * ranges.len())?;
                Ok(Set::new(ranges))
            }
            ClassSet::BinaryOp(operation) => {
                let (left, right) = (self.class_set(&operation.lhs)?, self.class_set(&operation.rhs)?);
                let (left, right) = (self.folded(left)?, self.folded(right)?);
                self.effort.after(RANGE_STEPS * (left.len() + right.len()))?;
                Ok(match operation.kind {
                    ClassSetBinaryOpKind::Intersection => left.intersection(&right),
                    ClassSetBinaryOpKind::Difference => left.difference(&right),
                    ClassSetBinaryOpKind::SymmetricDifference => {
                        left.difference(&right).union(&right.difference(&left))
                    }
                })
            }
        }
    }

    /// Adds the characters of one item of a set.
    fn item(&mut self, item: &ClassSetItem, ranges: &mut Vec<(char, char)>) -> Result<()> {
        self.effort.after(1)?;
        let set = match item {
            ClassSetItem::Empty(_) => return Ok(()),
            ClassSetItem::Union(union) => {
                return union.items.iter().try_for_each(|item| self.item(item, ranges));
            }
            ClassSetItem::Literal(literal) => {
                let c = self.item_character(literal)?;
                ranges.push((c, c));
                return Ok(());
            }
            ClassSetItem::Range(range) => {
                ranges.push((self.item_character(&range.start)?, self.item_character(&range.end)?));
                return Ok(());
            }
            ClassSetItem::Ascii(class) => {
                let set = self.folded(ascii(&class.kind))?;
                self.negated(set, class.negated, &class.span)?
            }
            ClassSetItem::Unicode(class) => self.property(class)?,
            ClassSetItem::Perl(class) => self.perl(class)?,
            ClassSetItem::Bracketed(class) => self.brackets(class)?,
        };
        self.effort.after(set.len())?;
        ranges.extend_from_slice(set.ranges());
        Ok(())
    }

    /// A character in a set; in byte mode it must be ASCII.
    fn item_character(&self, literal: &ast::Literal) -> Result<char> {
        let c = self.character(literal)?;
        if self.flags.unicode || c.is_ascii() {
            Ok(c)
        } else {
            Err(unsupported(self.source, &literal.span, &NOT_UNICODE))
        }
    }
}

/// `[:alpha:]` and its like.
fn ascii(kind: &ast::ClassAsciiKind) -> Set {
    use ast::ClassAsciiKind as Kind;
    let ranges: &[(char, char)] = match kind {
        Kind::Alnum => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        Kind::Alpha => &[('A', 'Z'), ('a', 'z')],
        Kind::Ascii => &[('\0', '\x7f')],
        Kind::Blank => &[('\t', '\t'), (' ', ' ')],
        Kind::Cntrl => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        Kind::Digit => &[('0', '9')],
        Kind::Graph => &[('!', '~')],
        Kind::Lower => &[('a', 'z')],
        Kind::Print => &[(' ', '~')],
        Kind::Punct => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        Kind::Space => &[('\t', '\r'), (' ', ' ')],
        Kind::Upper => &[('A', 'Z')],
        Kind::Word => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        Kind::Xdigit => &[('0', '9'), ('A', 'F'), ('a', 'f')],
    };
    Set::new(ranges.to_vec())
}

#[cfg(test)]
mod tests;
