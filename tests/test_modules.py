"""What stands behind `import digram`: all that pages name, and nothing before it is used."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import digram

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
# Rooms of the house that nobody looks into from outside.
INNER = {"cli"}


def alone(code: str) -> str:
    """What a process prints that has imported nothing yet."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_modules_are_found_without_an_import_of_their_own() -> None:
    modules = {one.name for one in pkgutil.iter_modules(digram.__path__)}
    public = sorted(name for name in modules - INNER if not name.startswith("_"))
    alone(f"import digram\nfor name in {public}: assert hasattr(digram, name), name")


def test_what_pages_call_is_there() -> None:
    """`digram.web.serve(...)`, as the README has it, after `import digram` alone."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    called = sorted(set(re.findall(r"\bdigram((?:\.[a-z_]+)+\.[A-Za-z_]+)\(", text)))
    assert ".web.serve" in called
    assert len(called) > 10
    lines = [f"digram{name}" for name in called]
    missing = alone(
        "import digram\n"
        f"for name in {lines!r}:\n"
        "    try: eval(name)\n"
        "    except AttributeError as error: print(name, error)\n"
        "    except ImportError: pass  # of an engine or package that is an extra\n"
    )
    assert missing == ""


def test_nothing_is_imported_before_it_is_used() -> None:
    loaded = alone(
        "import sys\nbefore = {*sys.modules}\nimport digram\n"
        "print(*sorted(name for name in {*sys.modules} - before if name.startswith('digram')))"
    )
    assert loaded.split() == ["digram", "digram._util", "digram._util.on_first_use"]


def test_every_name_of_a_package_is_there_on_first_use() -> None:
    for package in ("digram", "digram.decoders", "digram.formats", "digram.pretokenizers"):
        alone(f"import {package} as it\nfor name in it.__all__: assert hasattr(it, name), name")
        alone(f"import {package} as it\nassert {{*it.__all__}} <= {{*dir(it)}}")
        alone(f"import {package} as it\nassert not hasattr(it, 'no_such_name')")


def test_a_file_of_ranks_is_read_without_modules_that_it_does_not_need(tmp_path: Path) -> None:
    path = tmp_path / "few.tiktoken"
    digram.train("low low lower", vocab_size=258, pretokenizer="cl100k").save(path)
    loaded = alone(
        f"import sys, digram\ndigram.load({str(path)!r}, pretokenizer='cl100k').encode('low')\n"
        "print(*(name for name in sys.modules if name.startswith('digram.')))"
    ).split()
    assert "digram.formats.tiktoken" in loaded
    others = {
        *("decoders", "formats._affixes", "formats._bpe", "formats._json", "formats._names"),
        *("formats._wordpiece", "formats._word_level", "formats.huggingface"),
        *("formats.sentencepiece", "pretokenizers.normalizers", "pretokenizers.rules"),
        *("tokenizer.chat.chat", "tokenizer.encoding.call", "vocab.definition", "vocab.limits"),
        *("vocab.picky", "vocab.schemes", "vocab.special_roles", "vocab.template"),
    }
    assert not {f"digram.{name}" for name in others} & {*loaded}
