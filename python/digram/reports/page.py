"""The page of a report: a document of its sections."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from digram._util.progress import amount
from digram.errors import several
from digram.reports import words
from digram.reports.parts import Markup, classed, element, key_figures, named_list, shown
from digram.reports.sections import Sections
from digram.reports.style import STYLE
from digram.tokenizer.summary import last_step, stopped_by

if TYPE_CHECKING:
    from digram.reports.gathering import Report

__all__ = ["framed", "page"]

_TEXTS = 6  # the number of texts in the first sentence


def page(of: Report) -> str:
    """The whole document."""
    sections = [("tokenizer", "The tokenizer", [named_list(_facts(of.tokenizer))])]
    sections += [(name, title, [*map(Markup, parts)]) for name, title, parts in Sections(of)]
    links = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in sections]
    inner = [
        _header(of),
        element("nav", element("ul", *links)),
        *(
            element("section", element("h2", title, id=name), *parts)
            for name, title, parts in sections
        ),
        _footer(),
    ]
    body, styles = classed("".join(inner))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(of.title)}: tokenizer report</title>\n<style>{STYLE}{styles}\n</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def framed(document: str) -> str:
    """A page inside a notebook, with its own styles, in a sandbox that runs no scripts."""
    style = "width:100%;height:40rem;border:1px solid rgba(128,128,128,.4);border-radius:6px"
    return f'<iframe sandbox srcdoc="{escape(document)}" style="{style}"></iframe>'


def _header(of: Report) -> Markup:
    facts, total = of.tokenizer, of.evaluation.total
    record = facts["training"]
    learned = ""
    if record is not None:
        learned = (
            f", learned from {several(record['documents'], 'document')} ({amount(record['bytes'])})"
        )
    unit = "byte" if facts["unit"] == "byte" else "character"
    needs = ", ".join(
        f"{one.bytes_per_token:.2f} bytes of {name}" for name, one in of.evaluation.by_name.items()
    )
    lead = f"A vocabulary of {facts['tokens']:,} tokens for {unit}-level BPE{learned}. "
    if len(of.evaluation.by_name) <= _TEXTS:
        lead += f"A token covers {needs}."
    keys = [
        ("Tokens", f"{facts['tokens']:,}", f"{facts['merges']:,} merges"),
        ("Bytes per token", f"{total.bytes_per_token:.3f}", "of all text"),
        ("Fertility", f"{total.fertility:.3f}", "tokens per word"),
        ("Whole words", words.share(total.whole_words), "are one token"),
        ("Coverage", words.share(total.coverage), "of the characters"),
        (
            "Vocabulary used",
            words.share(total.vocabulary_used),
            f"{total.tokens_used:,} tokens",
        ),
    ]
    costs = of.parallel and of.parallel.parallel
    if costs:
        premium = f"{costs.premium[costs.worst]:,.2f}×"
        keys.append(("Largest premium", premium, f"{costs.worst}, of {len(costs.premium)}"))
        keys.append(("Gini coefficient", f"{costs.gini:.3f}", "of the costs of languages"))
    return element(
        "header",
        element("p", "Tokenizer report", class_="kicker"),
        element("h1", of.title),
        element("p", lead, class_="lead"),
        key_figures(keys),
    )


def _facts(held: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The properties of the tokenizer, line by line."""
    special = held["special_tokens"]
    yield "tokens", f"{held['tokens']:,}, of which {held['base']:,} before any merge"
    yield "merges", f"{held['merges']:,}"
    if special:
        named = ", ".join(f"{text} ({id:,})" for text, id in [*special.items()][:8])
        more = f" and {len(special) - 8:,} more" if len(special) > 8 else ""
        yield "special tokens", f"{len(special):,}: {named}{more}"
    for name, ids in held["reserved"].items():
        yield f"reserved, {name}", f"{ids['count']:,} ids from {ids['first']:,}"
    yield "unit", held["unit"]
    if held["unit"] == "char":
        yield "unknown characters", str(held["on_unknown"])
    yield "pretokenizer", held["pretokenizer"] or ("a pattern" if held["patterns"] else "none")
    for pattern in held["patterns"]:
        yield "pattern", element("code", pattern)
    if held["digits"]:
        yield "digits", str(held["digits"])
    for kind, given in (held["rules"] or {}).items():
        if isinstance(given, list):
            yield f"rules, {kind}", f"{len(given):,}"
    if held["context_size"] is not None:
        yield "context", f"{held['context_size']:,}"
    if held["training"] is not None:
        yield from _training(held["training"])
    yield "digest", element("code", held["digest"])


def _training(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    step = last_step(record)
    did = "trained on" if step is None else f"last {step}, on"
    yield did, f"{several(record['documents'], 'document')}, {record['bytes']:,} bytes"
    yield "pretokens", f"{record['pretokens']:,}, {record['distinct_pretokens']:,} different"
    yield "ties", f"by {record['ties']}"
    yield "stopped by", stopped_by(record)
    options = [
        f"{name}={value!r}" for name, value in record["options"].items() if value is not None
    ]
    yield "options", element("code", ", ".join(options))


def _footer() -> Markup:
    from digram._core import __version__

    return element(
        "footer",
        f"Made by digram {__version__}. The same tokenizer and texts give the same page. The "
        "data of each figure is in the CSV file that ",
        element("code", "digram report --figures"),
        " writes beside SVG and PNG.",
    )
