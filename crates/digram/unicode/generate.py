"""Writes the tables of Unicode that patterns are read with, from those of the crate regex-syntax.

Ids depend on which characters are letters, so the tables are ours and change with no dependency.
They were made once, from regex-syntax 0.8.11, which has those of Unicode 16.0.0 in its
`src/unicode_tables`, as `ucd-generate` wrote them from the Unicode Character Database:

    python crates/digram/unicode/generate.py SOURCE_OF_REGEX_SYNTAX

Numbers are written in digits of five bits, lowest first: the characters from `0` to `O`, those with
more to come from `P` to `o`. A set is, in turn, how many code points are left out and how many are
in it. Case is, for each character and each other form of it, how far the character is from the one
before, and twice how far the form is from it, and one more where the form stands before it.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src/pretokenize/unicode/tables.rs"
VERSION = "16.0.0"
BY_VALUE = {
    "General_Category": "general_category",
    "Script": "script",
    "Script_Extensions": "script_extension",
    "Grapheme_Cluster_Break": "grapheme_cluster_break",
    "Sentence_Break": "sentence_break",
    "Word_Break": "word_break",
}
"""The properties with values and the file of each; the ages of characters are told apart below."""

NOT_ALONE = {"cf", "sc", "lc"}
"""What is also the name of a property, and alone means a general category."""

Set = list[tuple[int, int]]
CHARACTER = r"'(\\u\{[0-9a-f]+\}|\\x[0-9a-f]{2}|\\.|[^\\])'"


def character(literal: str) -> int:
    if literal.startswith("\\u"):
        return int(literal[3:-1], 16)
    return ord(ast.literal_eval(f"'{literal}'"))


def sets(text: str) -> dict[str, Set]:
    """The sets of a file, by the name of each constant."""
    found = {}
    for name, body in re.findall(
        r"pub const (\w+): &'static \[\(char, char\)\] =\s*&\[(.*?)\];", text, re.S
    ):
        pairs = re.findall(rf"\(\s*{CHARACTER},\s*{CHARACTER}\s*\)", body)
        found[name] = [(character(first), character(last)) for first, last in pairs]
    return found


def by_name(text: str) -> dict[str, Set]:
    """The sets of a file by the names of what they hold."""
    constants = sets(text)
    table = text[text.index("BY_NAME") :]
    pairs = re.findall(r'\("(\w+)", (\w+)\)', table[: table.index("];")])
    return {name: constants[constant] for name, constant in pairs}


def folds(text: str) -> list[tuple[int, int]]:
    """Each character with each other form of it."""
    body = text[text.index("CASE_FOLDING_SIMPLE") :]
    entries = re.findall(rf"\({CHARACTER}, &\[(.*?)\]\)", body, re.S)
    return [
        (character(one), character(other))
        for one, others in entries
        for other in re.findall(CHARACTER, others)
    ]


def number(value: int) -> str:
    digits = ""
    while True:
        value, low = value >> 5, value & 31
        digits += chr(ord("0") + low + 32 * (value > 0))
        if not value:
            return digits


def encoded(ranges: Set) -> str:
    text, at = "", 0
    for first, last in ranges:
        text += number(first - at) + number(last + 1 - first)
        at = last + 1
    return text


def encoded_folds(pairs: list[tuple[int, int]]) -> str:
    text, at = "", 0
    for one, other in pairs:
        away = other - one
        text += number(one - at) + number(2 * away if away >= 0 else -2 * away + 1)
        at = one
    return text


def main(source: Path) -> None:
    folder = source / "src/unicode_tables"
    text = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.rs")}
    assert all(f"ucd-{VERSION}" in text[name] for name in [*BY_VALUE.values(), "age"])

    names = dict(re.findall(r'\("([a-z0-9]+)", "(\w+)"\)', text["property_names"]))
    values: dict[str, dict[str, str]] = {}
    for name, body in re.findall(
        r'\(\s*"(\w+)",\s*&\[(.*?)\s\],\s*\)', text["property_values"], re.S
    ):
        values[name] = dict(re.findall(r'\(\s*"([^"]+)",\s*"(\w+)",?\s*\)', body))

    # Those of each age first, in order: a version has the characters of all before it.
    ages = by_name(text["age"])
    order = sorted(ages, key=lambda age: [int(part) for part in age[1:].split("_")])
    stored: list[str] = [encoded(ages[age]) for age in order]

    def place(ranges: Set) -> int:
        one = encoded(ranges)
        if one not in stored[len(order) :]:
            stored.append(one)
        return stored.index(one, len(order))

    by_value: dict[str, dict[str, int]] = {
        "Age": {alias: order.index(age) for alias, age in values["Age"].items() if age in ages}
    }
    for name, file in BY_VALUE.items():
        known = by_name(text[file])
        if name == "General_Category":
            every = [(0, 0x10_FFFF)]
            taken, at = [], 0
            for first, last in known["Unassigned"]:
                taken += [(at, first - 1)] if at < first else []
                at = last + 1 if last != 0xD7FF else 0xE000
            taken += [(at, 0x10_FFFF)] if at <= 0x10_FFFF else []
            known |= {"any": every, "assigned": taken, "ascii": [(0, 0x7F)]}
            values[name] |= {special: special for special in ("any", "assigned", "ascii")}
        by_value[name] = {
            alias: place(known[value]) for alias, value in values[name].items() if value in known
        }

    binary = by_name(text["property_bool"])
    alone = {**by_value["Script"], **by_value["General_Category"]}
    for alias, name in names.items():
        if alias not in NOT_ALONE:
            alone.pop(alias, None)
            if name in binary:
                alone[alias] = place(binary[name])

    def entries(table: dict[str, int]) -> str:
        return "".join(f'    ("{name}", {table[name]}),\n' for name in sorted(table))

    properties = "".join(
        f'    ("{alias}", {name.upper()}),\n'
        for alias, name in sorted(names.items())
        if name in by_value
    )
    lines = [
        f"//! Unicode {VERSION}, as `crates/digram/unicode/generate.py` wrote it.",
        "",
        f"/// The ages of characters: the first {len(order)} sets, each without those before it.",
        f"pub(super) const AGES: usize = {len(order)};",
        "",
        "/// What `\\w`, `\\s` and `\\d` stand for.",
        f"pub(super) const WORD: u16 = {place(sets(text['perl_word'])['PERL_WORD'])};",
        f"pub(super) const SPACE: u16 = {place(binary['White_Space'])};",
        f"pub(super) const DIGIT: u16 = {by_value['General_Category']['nd']};",
        "",
        "/// The sets of what may stand alone, as in `\\p{Greek}`, by name.",
        f"pub(super) static ALONE: &[(&str, u16)] = &[\n{entries(alone)}];",
        "",
        "/// The properties of which a value is named, as in `\\p{scx=Greek}`.",
        f"pub(super) static BY_VALUE: &[(&str, &[(&str, u16)])] = &[\n{properties}];",
        "",
    ]
    for name, table in by_value.items():
        lines.append(f"static {name.upper()}: &[(&str, u16)] = &[\n{entries(table)}];\n")
    pairs = folds(text["case_folding_simple"])
    lines += [
        "/// Each character that has other forms in upper or lower case, with each of them.",
        f'pub(super) static CASE: &str = r"{encoded_folds(pairs)}";',
        "",
        f"pub(super) static SETS: [&str; {len(stored)}] = [",
        *(f'    r"{one}",' for one in stored),
        "];",
        "",
    ]
    TARGET.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
