"""Every fenced block of the documentation runs, and every link leads somewhere.

The blocks of a page run in order, in one namespace and one temporary folder.

- ```python    runs; where it has `>>>` lines it is a doctest, and its output is compared
- ```console   each `$ command` runs in a shell, and its output is compared (`...` stands for any)
- ```sh        commands that set up a machine, or never end; they cannot run here, and are listed
- anything else fails, so that no block escapes

A block of Python, or a command, that names `cl100k_base.tiktoken`, `gpt-4`, whose file it is, or
`gpt4`, the tokenizer in it, runs where the test data has that file; elsewhere the others run, and
the page is reported as skipped.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NEEDS = {ROOT / "docs" / "frames": "pyspark", ROOT / "docs" / "page.md": "uvicorn"}
"""Pages whose blocks need more: they run with `make test-engines` and `make test-web`."""
RUNNING = [
    page
    for page in PAGES
    if all(find_spec(need) for path, need in NEEDS.items() if page.is_relative_to(path))
]
PUBLISHED = "cl100k_base.tiktoken"
SET_UP = {
    "git clone <this repository> digram && cd digram",
    "python3 -m venv .venv && source .venv/bin/activate",
    "pip install .",
    'pip install ".[web]"',
    "digram serve -t tokenizer.json",  # which has no end; tests/web start it
    "digram serve -t old.json -t new.json --open",
    "digram serve -t r50k_base.tiktoken:r50k_base -t o200k_base.tiktoken:o200k_base",
    "digram serve -t tokenizer.json --port 8000 --allow-host localhost:9000",
    "ssh -L 9000:localhost:8000 far",
    "make setup",
    "make develop",
    "make demo",
    "make demo CORPUS=path/to/your/text",
    "make test",
    "make test-formats",
    "make test-faults",
    "make test-engines",
    "make test-exports",
    "make test-web",
    "make lint",
    "make format",
    "make docs",
    "make wheel",
    ".venv/bin/python tests/cli/test_help.py",
    "HYPOTHESIS_PROFILE=explore DIGRAM_CASES=50 .venv/bin/pytest tests -k properties",
    "DIGRAM_CASES=1 DIGRAM_MUTANTS=250000 .venv/bin/pytest tests/formats",
    "PROPTEST_CASES=100000 cargo test --package digram --test public encode::",
    "make bench",
    "make bench-guard",
    ".venv/bin/python tests/faults/mutate_files.py --cases 20000",
    ".venv/bin/python tests/faults/hostile_calls.py --calls 14000",
    ".venv/bin/python tests/faults/kill_encoding.py --corpus corpus.txt",
    ".venv/bin/python tests/faults/kill_saves.py",
    ".venv/bin/python tests/faults/kill_training.py --corpus corpus.txt",
    ".venv/bin/python tests/faults/linear.py",
    ".venv/bin/python tests/faults/memory_limits.py",
    "make valgrind",
    "make verify-families",
    "DIGRAM_CORPORA=whole cargo test --release -p digram --lib -- corpora",
    ".ci/run",
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the line of the page its first line stands on, and its text."""

    kind: str
    line: int
    text: str


def blocks(markdown: str) -> list[Block]:
    r"""The fenced blocks of a page, in order.

    >>> blocks("text\n```python\n1 + 1\n```\n")
    [Block(kind='python', line=3, text='1 + 1\n')]
    """
    found, kind, start, lines = [], None, 0, list[str]()
    for number, line in enumerate(markdown.splitlines(keepends=True), start=1):
        fence = re.match(r"\s*```(.*)", line)
        if fence is None:
            lines.append(line)
        elif kind is None:
            kind, start, lines = fence[1].strip(), number + 1, []
        else:
            found.append(Block(kind, start, "".join(lines)))
            kind = None
    assert kind is None, f"the block that starts on line {start} is never closed"
    return found


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Run plain code, or check a doctest; a failure names the line of the page."""
    if ">>>" not in block.text:
        code = "\n" * (block.line - 1) + block.text  # so that a traceback shows the page's lines
        exec(compile(code, str(page), "exec", dont_inherit=True), names)
        return
    examples = doctest.DocTestParser().get_examples(block.text)
    test = doctest.DocTest(examples, {}, page.name, str(page), block.line - 1, None)
    test.globs = names  # the page's own, where DocTest would work on a copy
    report = io.StringIO()
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.write, clear_globs=False)
    assert result.failed == 0, report.getvalue()


def run_console(block: Block, page: Path, runs_here: Callable[[str], bool]) -> None:
    """Run each `$ command` that `runs_here` and compare what it prints, on either stream."""
    checker = doctest.OutputChecker()
    # A colourless terminal 100 columns wide, and the commands of the interpreter that tests us.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    before, *runs = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not before.strip(), f"{page.name}, line {block.line}: output before any command"
    for run in runs:
        command, _, want = run.partition("\n")
        if not runs_here(command):
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        place = f"{page.name}, line {block.line}: $ {command}\n{done.stdout}"
        assert done.returncode == 0, f"{place}exit code {done.returncode}"
        assert checker.check_output(want, done.stdout, FLAGS), f"{place}expected:\n{want}"


@pytest.mark.parametrize("page", RUNNING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_folder: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(data_folder / "vocabs"))
    skip_if(run_page(page, data_folder / "vocabs" / PUBLISHED))


def test_pages_can_be_followed_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_folder: Path
) -> None:
    """Those that a newcomer reads first, in one folder: none trips over the files of another."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(data_folder / "vocabs"))
    pages = ("README.md", "docs/tutorial.md", "docs/training-files.md", "docs/sources.md")
    left_out = {run_page(ROOT / page, data_folder / "vocabs" / PUBLISHED) for page in pages}
    skip_if(True in left_out)


def skip_if(left_out: bool) -> None:
    if left_out:
        pytest.skip(f"all blocks ran but those of {PUBLISHED}, which is not in the test data")


def run_page(page: Path, published: Path) -> bool:
    """Run the blocks of a page in the current folder; whether some were left out."""
    names: dict[str, Any] = {"__name__": page.stem}
    left_out = False

    def runs_here(text: str) -> bool:
        nonlocal left_out
        needed = re.search(rf"{re.escape(PUBLISHED)}|\bgpt4[.(,]|gpt-4\b", text) is not None
        left_out |= needed and not published.exists()
        return not needed or published.exists()

    if published.exists() and not Path(PUBLISHED).exists():
        Path(PUBLISHED).symlink_to(published)
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            if runs_here(block.text):
                run_python(block, page, names)
        elif block.kind == "console":
            run_console(block, page, runs_here)
        elif block.kind == "sh":
            hidden = {line.split("  #")[0].strip() for line in block.text.splitlines()} - SET_UP
            assert hidden <= {""}, f"not a known set-up command, so it must run: {hidden}"
        else:
            pytest.fail(f"line {block.line}: a block of kind {block.kind!r}; see this file's top")
    return left_out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", prose):
        if not target.startswith("https://"):
            file = page.parent / target if target else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links to them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_table_of_contents_names_every_page() -> None:
    docs = ROOT / "docs"
    contents = (docs / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        if page.is_relative_to(docs) and page.name != "index.md":
            assert f"]({page.relative_to(docs).as_posix()})" in contents
