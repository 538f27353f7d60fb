"""From nothing to the ids of one line: import, load a published vocabulary, encode.

What a worker process, a command or a notebook waits for before its first token. Each program reads
the same file, in a fresh process; a second table is of what a pickle takes, as worker processes
that start anew get their tokenizer.
"""

from __future__ import annotations

import os.path
from time import perf_counter
from typing import TYPE_CHECKING, Any

# What else is imported here would be there for all programs that are measured.
if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.run import Options, Results, Task

LINE = "It's 2026, and the quick brown fox — naïve, 狐 — jumped over 1,234 lazy dogs.\n"
FILES = ("r50k_base.tiktoken", "cl100k_base.tiktoken", "o200k_base.tiktoken", "gpt2_tokenizer.json")
PICKLED = "digram, pickled"


def _encoding(path: str) -> str | None:
    """The published encoding of a file that does not say how text is cut."""
    name, suffix = os.path.splitext(os.path.basename(path))
    return name if suffix == ".tiktoken" else None


def _digram(path: str) -> Callable[[str], Any]:
    import digram

    return digram.load(path, encoding=_encoding(path)).encode


def _tiktoken(path: str) -> Callable[[str], Any]:
    import base64

    import tiktoken
    import tiktoken_ext.openai_public as published

    def ranks(*_: Any, **__: Any) -> dict[bytes, int]:  # the file instead of a download
        with open(path, "rb") as file:
            pairs = (line.split() for line in file.read().splitlines())
            return {base64.b64decode(token): int(rank) for token, rank in pairs}

    published.load_tiktoken_bpe = ranks
    published.data_gym_to_mergeable_bpe_ranks = ranks
    return tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[_encoding(path)]()).encode_ordinary


def _gigatoken(path: str) -> Callable[[str], Any]:
    import gigatoken

    tok: Any
    tok = gigatoken.Tokenizer.from_tiktoken(path) if _encoding(path) else gigatoken.Tokenizer(path)
    encode: Callable[[str], Any] = tok.encode
    return encode


def _fastokens(path: str) -> Callable[[str], Any]:
    import importlib

    fastokens = importlib.import_module("fastokens")
    if encoding := _encoding(path):
        tok = fastokens.Tokenizer.from_tiktoken(path, encoding=encoding)
    else:
        tok = fastokens.Tokenizer.from_file(path)
    return lambda text: tok.encode_ordinary(text).ids


def _tokenizers(path: str) -> Callable[[str], Any]:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(path)
    return lambda text: tok.encode(text, add_special_tokens=False).ids


LOADERS = {
    "digram": _digram,
    "tiktoken": _tiktoken,
    "gigatoken": _gigatoken,
    "fastokens": _fastokens,
    "tokenizers": _tokenizers,
}


def _reads(who: str, file: str) -> bool:
    """Whether a program reads such a file."""
    return who != ("tokenizers" if file.endswith(".tiktoken") else "tiktoken")


def measure(who: str, file: str) -> dict[str, Any]:
    """Milliseconds from before the import to the ids of a line, in this process."""
    if who == PICKLED:
        return _measure_pickle(file)
    started = perf_counter()
    ids = LOADERS[who](file)(LINE)
    taken = perf_counter() - started
    return {"ms": taken * 1e3, "digest": _digest(ids)}


def _measure_pickle(path: str) -> dict[str, Any]:
    """Milliseconds to write a pickle and to read it again, without the import, and its size."""
    import pickle

    import digram

    tok = digram.load(path, encoding=_encoding(path))
    started = perf_counter()
    stored = pickle.dumps(tok)
    written = perf_counter()
    again = pickle.loads(stored)
    ids = again.encode(LINE)
    taken = perf_counter() - written
    return {
        "dump": (written - started) * 1e3,
        "ms": taken * 1e3,
        "stored": len(stored),
        "digest": _digest(ids),
    }


def _digest(ids: Any) -> str:
    import hashlib

    return hashlib.sha256(repr([int(id) for id in ids]).encode()).hexdigest()


def run(options: Options) -> tuple[str, list[Task]]:
    """Both tables, and the measurements whose ids differ from digram's."""
    import importlib.util

    from benches.data import folder
    from benches.run import Task, disagreements, take_turns
    from benches.tables import markdown, number, times

    _compile()
    vocabularies = folder() / "vocabs"
    names = FILES[1:2] if options.quick else FILES
    files = [str(vocabularies / name) for name in names if (vocabularies / name).exists()]
    who = [name for name in LOADERS if options.wants(name) and importlib.util.find_spec(name)]
    groups = [
        [Task.of("load", one, file=file) for one in (*who, PICKLED) if _reads(one, file)]
        for file in files
    ]
    results = take_turns(groups, options)
    wrong = [task for group in groups for task in disagreements(results, group)]
    lines, pickles = [], []
    for file in files:
        taken = {one: _result(results, one, file, "ms") for one in (*who, PICKLED)}
        rivals = [ms for one, ms in taken.items() if ms and one not in ("digram", PICKLED)]
        ours = taken["digram"]
        ratio = times(min(rivals) / ours) if ours and rivals else "–"
        cells = [number(ms) if (ms := taken[one]) else "–" for one in who]
        lines.append([os.path.basename(file), *cells, ratio])
        dump, load, stored = (
            _result(results, PICKLED, file, name) for name in ("dump", "ms", "stored")
        )
        if dump and load and stored:
            size = f"{stored / 1e6:.2f} MB"
            pickles.append([os.path.basename(file), size, number(dump), number(load)])
    table = markdown(["ms", *who, "÷ the best"], lines)
    pickled = markdown(["digram's pickle", "size", "dump, ms", "load and encode, ms"], pickles)
    return f"## Load and encode one line\n\n{table}\n\n{pickled}", wrong


def _result(results: Results, who: str, file: str, name: str) -> float | None:
    from benches.run import Task

    result = results.get(Task.of("load", who, file=file))
    return result[name] if result else None


def _compile() -> None:
    """Writes the bytecode of digram, which an installed package brings and a clone may not."""
    import compileall
    import importlib.util

    spec = importlib.util.find_spec("digram")
    for place in (spec.submodule_search_locations or []) if spec else []:
        compileall.compile_dir(place, quiet=1)
