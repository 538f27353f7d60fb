"""The reference has every public name once, every verb, and a docstring for each of them.

A page of docs/reference lists names in tables; `make docs` puts signatures and docstrings below.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import typing
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from test_docs import PAGES, ROOT

import digram
from digram import _core
from digram.cli import VERBS, cli, counts, grow

REFERENCE = ROOT / "docs" / "reference"
ENGINES = ("digram.distributed.spark", "digram.distributed.ray")
"""Modules whose engine may be missing here: only their text is looked at."""


def listed(page: Path) -> list[str]:
    """What stands in the first column of a page's tables."""
    return re.findall(r"^\| `([^`]+)` \|", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


IN_PARTS = {"IdRange", "Pass"}
"""Types of values that digram itself passes to its methods."""

NAMES = [
    name if name.startswith("digram.") or name == "digram" else f"digram.{name}"
    for page in sorted(REFERENCE.glob("*.md"))
    if page.name != "shell.md"
    for name in listed(page)
]


def find(name: str) -> Any:
    """What a name of the reference stands for; for a module of an engine, its definition."""
    module, _, last = name.rpartition(".")
    if module in ENGINES:
        text = (ROOT / "python" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        nodes = {
            n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)
        }
        return nodes[last]
    if name.startswith("digram.reference"):
        return import_module(name)
    return getattr(import_module(module), last)


def public_methods() -> list[tuple[str, Any]]:
    """The methods and properties of the classes of the reference that are digram's own."""
    found = []
    for name in NAMES:
        kind = find(name)
        if inspect.isclass(kind):
            for method in dir(kind):
                owner = next((c for c in kind.__mro__ if method in vars(c)), object)
                if not method.startswith("_") and owner.__module__.startswith("digram"):
                    found.append((f"{name}.{method}", getattr(kind, method)))
    return found


def test_each_public_name_is_listed_once() -> None:
    times = Counter(NAMES)
    assert [name for name, n in times.items() if n > 1] == []
    assert [name for name in digram.__all__ if f"digram.{name}" not in times] == []
    top = {name.removeprefix("digram.") for name in NAMES if name.count(".") == 1} - {"reference"}
    assert top - {*digram.__all__} == set()
    assert list(digram.__all__) == sorted(digram.__all__)


def test_types_of_public_parameters_can_be_looked_up() -> None:
    """A type in a signature is public, a choice that the site writes out, or explained."""
    callables = [getattr(digram, name) for name in digram.__all__]
    callables += [method for _, method in public_methods()]
    named: set[str] = set()
    for each in callables:
        if inspect.isfunction(each):
            found = [p.annotation for p in inspect.signature(each).parameters.values()]
            written = " ".join(one for one in found if isinstance(one, str))
            aliases = set(re.findall(r"(?<![\w.\"'])[A-Z]\w+", written))
            named |= aliases
    explained = (REFERENCE / "index.md").read_text(encoding="utf-8").partition("## Types")[2]
    sources = [path.read_text(encoding="utf-8") for path in ROOT.glob("python/digram/**/*.py")]
    choices = {one for text in sources for one in re.findall(r"^(\w+) = Literal\[", text, re.M)}
    known = {"None", *digram.__all__, *typing.__all__, *choices, *re.findall(r"`(\w+)`", explained)}
    assert len(named) > 15
    assert sorted(named - known - IN_PARTS) == []


def test_what_pages_call_is_listed() -> None:
    """`digram.web.serve(...)`, as the README has it."""
    text = "\n".join(
        page.read_text(encoding="utf-8") for page in PAGES if "CHANGELOG" not in page.name
    )
    called = set(re.findall(r"\bdigram(?:\.[a-z_]+)*\.[A-Za-z_]+(?=\()", text))
    called = {name for name in called if not name.startswith("digram.reference.")}
    assert len(called) > 40
    assert called - {*NAMES} == set()


@pytest.mark.parametrize("name", NAMES)
def test_each_listed_name_has_a_docstring(name: str) -> None:
    found = find(name)
    if isinstance(found, ast.FunctionDef | ast.ClassDef):
        assert ast.get_docstring(found)
    elif callable(found) or inspect.ismodule(found):
        assert inspect.getdoc(found)


def test_each_public_method_has_a_docstring() -> None:
    methods = public_methods()
    assert len(methods) > 150
    assert [
        name for name, method in methods if callable(method) and not inspect.getdoc(method)
    ] == []


@pytest.mark.parametrize(
    "method",
    [
        "encode",
        "encode_batch",
        "count",
        "counter",
        "intervals",
        "decode",
        "decode_bytes",
        "decoder",
        "tokens",
        "id_to_token",
        "token_to_id",
    ],
)
def test_the_most_used_methods_have_an_example_and_name_their_errors(method: str) -> None:
    """`help(tok.encode)` answers; the method may be written in Rust."""
    text = inspect.getdoc(getattr(digram.Tokenizer, method)) or ""
    assert ">>> " in text
    assert "Raises" in text or "raises" in text or method == "token_to_id"
    assert "See `digram" not in text


def test_the_examples_of_the_core_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    found = [test for test in finder.find(_core.Core, "Core", module=False) if test.examples]
    for test in found:
        runner.run(test)
    assert runner.summarize() == (0, runner.tries)
    assert len(found) >= 10, [test.name for test in found]


def test_each_verb_is_listed_once() -> None:
    verbs = [*VERBS]
    for group in (counts, grow):
        name = group.__name__.rpartition(".")[2]
        verbs += [f"{name} {verb}" for verb in group.VERBS]
    assert sorted(listed(REFERENCE / "shell.md")) == sorted(verbs)


def test_the_page_of_verbs_names_only_what_exists() -> None:
    """Each verb, each option of a verb, and each name in Python that the page shows exists."""
    page = (REFERENCE / "verbs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!\|)[^\n]*\| ([^|]+) \|([^|]*)\|$", page, flags=re.M)
    shown = [code for _, cell in rows for code in re.findall(r"`([^`]+)`", cell)]
    verbs = {name for name in [*listed(REFERENCE / "shell.md")] if " " not in name}
    named = set()
    for code in shown:
        assert code.startswith("digram "), code
        command: click.Command | None = cli
        for word in code.split()[1:]:
            if isinstance(command, click.Group):
                context = click.Context(command)
                command = command.get_command(context, word)
                assert command is not None, code
            elif word.startswith("-"):
                assert command is not None, code
                options = {name for option in command.params for name in option.opts}
                assert word in options, code
        named.add(code.split()[1])
    assert named == verbs
    owners = {
        "tok": digram.Tokenizer,
        "seq": digram.SequenceTokenizer,
        "space": digram.IdSpace,
        "history": digram.VocabularyHistory,
        "decoder": digram.Decoder,
    }
    methods = re.findall(r"\b(tok|seq|space|history|decoder)\.(\w+)", page)
    assert len(methods) > 30
    assert [f"{v}.{name}" for v, name in methods if not hasattr(owners[v], name)] == []


def test_the_site_names_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"[\w/-]+\.md", text[text.index("\nnav:") :])
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert {name for name in named if not name.startswith("project/")} == pages
    assert len({*named}) == len(named)
