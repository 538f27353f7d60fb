//! Trees are those of regex-syntax, but for alternatives that begin alike.

use proptest::prelude::*;
use regex_syntax::hir::{self, Hir, HirKind};

use super::*;
use crate::interrupt::Never;

/// The same tree, made from regex-syntax's own translation and tables.
fn tree_of_hir(hir: &Hir, sets: &mut Sets, effort: &mut Effort) -> Node {
    let mut set = |set: &hir::ClassUnicode| {
        let ranges = set.iter().map(|range| (range.start(), range.end())).collect();
        Node::Set(sets.number(Set::new(ranges), effort).unwrap())
    };
    match hir.kind() {
        HirKind::Empty => Node::Empty,
        HirKind::Literal(text) => Node::Literal(std::str::from_utf8(&text.0).unwrap().chars().collect()),
        HirKind::Class(hir::Class::Unicode(class)) => set(class),
        HirKind::Class(hir::Class::Bytes(class)) => set(&class.to_unicode_class().unwrap()),
        HirKind::Look(look) => Node::Look(match look {
            hir::Look::Start => Look::Start,
            hir::Look::End => Look::End,
            hir::Look::StartLF => Look::LineStart,
            hir::Look::EndLF => Look::LineEnd,
            hir::Look::WordUnicode => Look::WordBorder,
            hir::Look::WordUnicodeNegate => Look::NotWordBorder,
            _ => Look::Other,
        }),
        HirKind::Repetition(repetition) => Node::Repeat {
            part: Box::new(tree_of_hir(&repetition.sub, sets, effort)),
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
        },
        HirKind::Capture(group) => Node::Group(group.index, Box::new(tree_of_hir(&group.sub, sets, effort))),
        HirKind::Concat(parts) => {
            Node::Concat(parts.iter().map(|part| tree_of_hir(part, sets, effort)).collect())
        }
        HirKind::Alternation(parts) => {
            Node::Alternation(parts.iter().map(|part| tree_of_hir(part, sets, effort)).collect())
        }
    }
}

/// An alternation as regex-syntax makes it: with a common beginning written once.
fn joined(parts: Vec<Node>, sets: &mut Sets, effort: &mut Effort) -> Result<Node> {
    let alternatives = match Node::alternation(parts, sets, effort)? {
        Node::Alternation(alternatives) => alternatives,
        node => return Ok(node),
    };
    let common = common_prefix_len(&alternatives);
    if common == 0 {
        return Ok(Node::Alternation(alternatives));
    }
    let mut start = Vec::new();
    let mut ends = Vec::with_capacity(alternatives.len());
    for part in alternatives {
        let Node::Concat(mut parts) = part else { unreachable!("only those begin alike") };
        ends.push(Node::concat(parts.split_off(common)));
        start = parts;
    }
    start.push(joined(ends, sets, effort)?);
    Ok(Node::concat(start))
}

/// The number of parts that all alternatives begin with in common.
fn common_prefix_len(alternatives: &[Node]) -> usize {
    fn parts(node: &Node) -> &[Node] {
        match node {
            Node::Concat(parts) => parts,
            _ => &[],
        }
    }
    let Some((first, others)) = alternatives.split_first() else { return 0 };
    let shared = |other| parts(first).iter().zip(parts(other)).take_while(|(a, b)| a == b).count();
    others.iter().map(shared).min().unwrap_or(0)
}

/// Parts of patterns, some of them invalid.
const ATOMS: [&str; 58] = [
    "a",
    "b",
    "k",
    "K",
    "ſ",
    "ß",
    "é",
    "É",
    "Σ",
    "ab",
    "abc",
    "1",
    " ",
    "-",
    "#",
    "語",
    r"\n",
    r"\x61",
    r"\xe9",
    r"\xFF",
    r"\u00e9",
    r"\x{1F600}",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\d",
    r"\D",
    r"\pL",
    r"\PN",
    r"\p{Lu}",
    r"\P{Ll}",
    r"\p{Greek}",
    r"\p{gc=Lt}",
    r"\p{scx!=Latn}",
    r"\p{age:3.0}",
    r"\p{Any}",
    r"\P{any}",
    r"\p{Nope}",
    r"\p{sc=Nope}",
    ".",
    "^",
    "$",
    r"\A",
    r"\z",
    r"\b",
    r"\B",
    r"\<",
    "(?i)",
    "(?-i)",
    "(?s)",
    "(?m)",
    "(?U)",
    "(?R)",
    "(?x)",
    "(?u)",
    "(?-u)",
    "]",
];

const ITEMS: [&str; 33] = [
    "a",
    "b",
    "k",
    "ſ",
    "é",
    "a-c",
    "A-Z",
    "b-y",
    "à-ÿ",
    "α-ω",
    "\u{d000}-\u{f000}",
    "-",
    "^",
    "&",
    r"\]",
    r"\xe9",
    r"\x41-\x5a",
    r"\xFF",
    r"\w",
    r"\W",
    r"\s",
    r"\D",
    r"\p{Lu}",
    r"\P{L}",
    r"\p{Greek}",
    r"\p{gc!=Lo}",
    "[:alpha:]",
    "[:^upper:]",
    "[:lower:]",
    "[:word:]",
    "z-a",
    r"\b",
    "",
];

fn class() -> impl Strategy<Value = String> {
    let item = proptest::sample::select(&ITEMS[..]).prop_map(String::from);
    let open = proptest::sample::select(&["[", "[^"][..]);
    let items = move |inner: BoxedStrategy<String>| {
        (
            open.clone(),
            proptest::collection::vec(inner, 1..4),
            proptest::sample::select(&["", "", "&&", "--", "~~"][..]),
        )
            .prop_map(|(open, items, operation)| format!("{open}{}]", items.join(operation)))
    };
    let flat = items(item.boxed());
    flat.prop_recursive(3, 12, 3, move |inner| {
        let item = proptest::sample::select(&ITEMS[..]).prop_map(String::from);
        items(prop_oneof![item, inner].boxed())
    })
}

fn patterns() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        6 => proptest::sample::select(&ATOMS[..]).prop_map(String::from),
        2 => class(),
    ];
    let repeats = vec!["", "", "", "*", "+", "?", "{2}", "{0}", "{1}", "{0,3}", "{2,}", "{3,1}"];
    let groups = vec!["(?:", "(?:", "(", "(?P<n>", "(?i:", "(?-i:", "(?-u:", "(?s:", "(?m:", "(?U:", "(?x: "];
    atom.prop_recursive(5, 40, 4, move |inner| {
        let parts = proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            parts.clone().prop_map(|parts| parts.concat()),
            parts.clone().prop_map(|parts| parts.join("|")),
            (inner.clone(), parts).prop_map(|(start, parts)| {
                format!(
                    "(?:{})",
                    parts.iter().map(|part| format!("{start}+{part}")).collect::<Vec<_>>().join("|")
                )
            }),
            (proptest::sample::select(groups.clone()), inner.clone())
                .prop_map(|(group, inner)| format!("{group}{inner})")),
            (inner, proptest::sample::select(repeats.clone()), proptest::sample::select(&["", "?"][..]))
                .prop_map(|(inner, repeat, lazy)| format!("(?:{inner}){repeat}{lazy}")),
        ]
    })
}

/// Whether two trees are equal. With assertions that are not supported, for which a pattern is refused, only whether both
/// have one: different ones are alike here, so that what is joined may be more.
fn are_equal(one: &Node, other: &Node) -> bool {
    let is_refused = |tree: &Node| format!("{tree:?}").contains("Look(Other)");
    one == other || is_refused(one) && is_refused(other)
}

#[test]
fn different_assertions_that_are_not_supported_may_be_joined() {
    let (pattern, effort) = (r"(?:a+\<(?-u)|a+\b)", &mut Effort::new(&Never));
    let mut sets = Sets::default();
    let node = read_with(joined, &Source::plain(pattern), &mut sets, effort);
    let hir = regex_syntax::parse(pattern).unwrap();
    assert!(node.is_ok_and(|node| are_equal(&node, &tree_of_hir(&hir, &mut sets, effort))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_are_those_of_regex_syntax(pattern in patterns()) {
        let (mut sets, effort) = (Sets::default(), &mut Effort::new(&Never));
        let node = read_with(joined, &Source::plain(&pattern), &mut sets, effort);
        let hir = regex_syntax::ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(&pattern);
        match (node, hir) {
            (Ok(node), Ok(hir)) => {
                let other = tree_of_hir(&hir, &mut sets, effort);
                prop_assert!(are_equal(&node, &other), "{}: {:?} {:?}", pattern, node, other);
            }
            (Err(Stopped::Refused(_)), Err(_)) => {}
            (node, hir) => prop_assert!(false, "{}: {:?} {:?}", pattern, node, hir),
        }
    }
}

#[test]
fn a_mistake_and_what_is_not_supported_have_their_own_remedies() {
    let refused = |pattern| match read(pattern, &mut Sets::default(), &mut Effort::new(&Never)) {
        Err(Stopped::Refused(reason)) => reason,
        other => panic!("{pattern}: {:?}", other.is_ok()),
    };
    for pattern in ["(a", "*a", "[b-a]", "a{2,1}", "\\"] {
        assert!(refused(pattern).contains("). Correct it; "), "{pattern}: {}", refused(pattern));
    }
    for pattern in [r"(a)\1", r"\p{Nothing}", "(?=a)"] {
        assert!(refused(pattern).contains("). Write it without, "), "{pattern}: {}", refused(pattern));
    }
}
