"""The corpus that every engine gets, and what one machine makes of it.

These tests run in an environment of their own, with `make test-engines`.
"""

from __future__ import annotations

import hashlib
import os
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import digram

SIZE = 6_000_000  # characters
OPTIONS: dict[str, Any] = {"vocab_size": 4_000, "special_tokens": ["<|endoftext|>"]}
SECONDS: list[str] = []
"""What each engine took, for the summary."""


@dataclass(frozen=True)
class Local:
    """What one machine makes of the corpus."""

    tok: digram.Tokenizer
    saved: bytes
    ids: str
    seconds: dict[str, float]
    options: dict[str, Any]

    def check_training(self, tok: digram.Tokenizer, folder: Path) -> None:
        """Refuses a tokenizer that differs in any bit of what is saved."""
        assert tok.digest == self.tok.digest
        assert saved(tok, folder) == self.saved

    def check_ids(self, lists: Iterable[Any]) -> None:
        """Refuses other ids than those of the texts, in their order."""
        assert digest(lists) == self.ids

    @contextmanager
    def timed(self, engine: str, verb: str) -> Iterator[None]:
        """Notes what an engine takes beside one machine."""
        started = time.perf_counter()
        yield
        took = time.perf_counter() - started
        SECONDS.append(
            f"{engine}: {verb} in {took:.1f} s, {took - self.seconds[verb]:+.1f} s to one machine"
        )


def digest(lists: Iterable[Any]) -> str:
    """SHA-256 of lists of ids."""
    sha = hashlib.sha256()
    for ids in lists:
        data = np.asarray(ids, np.uint32)
        sha.update(len(data).to_bytes(8, "little") + data.tobytes())
    return sha.hexdigest()


def saved(tok: digram.Tokenizer, folder: Path) -> bytes:
    path = folder / "tokenizer.json"
    tok.save(path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Real text: of the corpora where there are any, else the source of Python's library."""
    folder = Path(os.environ.get("DIGRAM_DATA", Path(__file__).parents[4] / "shared" / "data"))
    paths = [folder / "corpora" / name for name in ("en.txt", "multi.txt", "code.txt")]
    if not all(path.exists() for path in paths):
        paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    found: list[str] = []
    for path in paths:
        with path.open(encoding="utf-8", errors="ignore") as file:
            found += file.read(SIZE // len(paths)).split("\n\n")
    return found


@pytest.fixture(scope="session")
def local(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Local:
    seconds = {}
    tok = digram.train(texts, **OPTIONS)  # what is made at the first use is made
    for verb, do in (
        ("trained", lambda: digram.train(texts, threads=1, **OPTIONS)),
        ("encoded", lambda: tok.encode_batch(texts, threads=1)),
    ):
        started = time.perf_counter()
        do()
        seconds[verb] = time.perf_counter() - started
    size = sum(len(text.encode()) for text in texts)
    SECONDS.append(
        f"one machine, one thread, {size / 1e6:.1f} MB: "
        + ", ".join(f"{verb} in {took:.2f} s" for verb, took in seconds.items())
    )
    saving = saved(tok, tmp_path_factory.mktemp("local"))
    return Local(tok, saving, digest(tok.encode_batch(texts)), seconds, OPTIONS)


@pytest.fixture
def kill_once(tmp_path: Path) -> Callable[..., Any]:
    """A function over batches that kills a process in their midst, the first time it is run.

    `parents` says how far above the worker's own process the victim is. Engines carry functions
    of functions to their workers whole, so that these need no import of the tests.
    """
    marker = str(tmp_path / "killed")

    def make(parents: int = 0, name: str = "") -> Callable[[Iterable[Any]], Iterator[Any]]:
        def batches(found: Iterable[Any]) -> Iterator[Any]:
            import os
            import signal

            for number, batch in enumerate(found):
                if number == 2:
                    try:
                        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                    except FileExistsError:
                        pass
                    else:
                        victim = os.getpid()
                        for _ in range(parents):
                            with open(f"/proc/{victim}/stat") as stat:
                                victim = int(stat.read().rpartition(")")[2].split()[1])
                        with open(f"/proc/{victim}/comm") as comm:
                            assert name in comm.read()
                        os.kill(victim, signal.SIGKILL)
                yield batch

        return batches

    make.marker = Path(marker)  # type: ignore[attr-defined]
    return make


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the engines took."""
    for line in SECONDS:
        terminalreporter.write_line(line)
