"""`digram replay`: lines in a pipe, JSON, and a screen with keys on a terminal."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import digram
from digram.analysis.explain.lines.replay import played, screen
from digram.cli._screen import Screen
from digram.display import columns

Run = Callable[..., Result]
TEXT = "the cats sat there, 日本 the\nmats"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_lines_in_a_pipe(run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path) -> None:
    result = run("replay", "-t", tok_path, "--text", TEXT)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{digram.replay(tok, TEXT)}\n"
    assert run("replay", "-t", tok_path, input=TEXT).stdout == result.stdout
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    assert run("replay", "-t", tok_path, path).stdout == result.stdout
    assert "\x1b[48;5;" in run("replay", "-t", tok_path, "--color", path).stdout
    told = json.loads(run("replay", "-t", tok_path, "--json", path).stdout)
    assert told == digram.replay(tok, TEXT).to_dict()


def test_what_is_wrong(run: Run, tok_path: str, tmp_path: Path) -> None:
    assert run("replay", "-t", tok_path, tmp_path / "none").exit_code == 4
    assert run("replay", "-t", tok_path, tmp_path, "--text", "a").exit_code == 2
    assert run("replay", "-t", tok_path, "--text", "a", "--seconds", "0").exit_code == 2
    special = run("replay", "-t", tok_path, "--text", "<|end|>", "--special", "raise")
    assert special.exit_code == 3


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 12), (24, 60), (200, 15), (1, 1)])
def test_a_screen_holds_a_frame(
    tok: digram.Tokenizer, width: int, height: int, color: bool
) -> None:
    found = digram.replay(tok, TEXT * 9, pairs=30)
    for number in range(-1, len(found.frames)):
        lines = screen(found, number, color=color, width=width, height=height)
        assert len(lines) == max(height, 12)
        assert "q quit" in lines[-1]
        text = STYLE.sub("", "\n".join(lines))
        assert f"{number + 1:,} of {len(found.frames):,}" in text
        if width >= 80:
            assert max(map(columns, lines)) <= width


def test_new_tokens_are_bold_and_others_keep_their_colours(tok: digram.Tokenizer) -> None:
    found = digram.replay(tok, TEXT)
    before: dict[tuple[int, int], str] = {}
    kept = changed = 0
    for number, frame in enumerate(found.frames):
        shown = "".join(screen(found, number, color=True, width=4000, height=40))
        tokens = found.tokens(number)
        chips = re.findall(r"(\x1b\[1m)?\x1b\[48;5;(\d+);38;5;16m", shown)[-len(tokens) :]
        bold = [token for token, (mark, _) in zip(tokens, chips, strict=True) if mark]
        assert bold == [frame.merge.token] * frame.times
        ends = found.ends(number)
        now = dict(zip(zip([0, *ends], ends, strict=False), (c for _, c in chips), strict=True))
        assert all(a != b for a, b in zip(list(now.values())[1:], now.values(), strict=False))
        both = before.keys() & now.keys()
        kept += sum(before[place] == now[place] for place in both)
        changed += sum(before[place] != now[place] for place in both)
        before = now
    assert kept > 9 * changed


def test_the_text_scrolls_to_what_is_new(tok: digram.Tokenizer) -> None:
    text = "x\n" * 100 + "the"
    found = digram.replay(tok, text)
    lines = screen(found, 0, width=80, height=20)
    assert any("[th" in line or "[he" in line for line in lines)
    assert any(line.startswith("…") for line in lines)


def test_tokens_that_were_not_trained_here() -> None:
    definition = digram.train("banana", max_merges=2, pretokenizer=None).definition
    tok = digram.Tokenizer(replace(definition, training=None))
    shown = "\n".join(played(digram.replay(tok, "banana")))
    assert "count" not in shown
    assert "next" not in shown


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Starts a verb on a terminal of its own."""
    if sys.platform == "win32":
        pytest.skip("Windows has no terminals of this kind")
    started: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        started.append(Terminal(arguments))
        return started[-1]

    yield start
    for one in started:
        one.close()


class Terminal:
    """A process on a terminal, whose keys we press."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        import pty

        self.file, inside = pty.openpty()
        # The terminal must be the process's own, so that it can be asked for keys.
        own = (
            "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
            "os.execv(sys.executable, [sys.executable, '-m', 'digram', *sys.argv[1:]])"
        )
        settings = {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", own, *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, **settings},
            start_new_session=True,
        )
        os.close(inside)
        self.seen = ""

    def until(self, text: str, seconds: float = 60) -> str:
        """What was shown until it ends with a page that has this text."""
        start = time.monotonic()
        while text not in self.seen:
            assert time.monotonic() - start < seconds, self.seen
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.file, 1 << 16).decode("utf-8", "replace")
                except OSError:  # the process has closed it
                    assert text in self.seen, self.seen
        shown, self.seen = self.seen, ""
        return shown

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self.file, keys.encode())

    def code(self) -> int:
        """How it ended."""
        return self.process.wait(60)

    def close(self) -> None:
        """End what still runs."""
        self.process.kill()
        self.process.wait()
        os.close(self.file)


def test_keys(tok: digram.Tokenizer, tok_path: str, terminal: Callable[..., Terminal]) -> None:
    frames = len(digram.replay(tok, TEXT).frames)
    shown = terminal("replay", "-t", tok_path, "--text", TEXT)
    assert "\x1b[?1049h" in shown.until(f"0 of {frames}")
    for keys, number in ((" ", 1), ("n", 2), ("\x1b[C", 3), ("b", 2), ("\x1b[D", 1), ("G", frames)):
        shown.press(keys)
        shown.until(f"{number} of {frames}  ")
    shown.press("g")
    shown.until(f"0 of {frames}")
    shown.press("q")
    assert "\x1b[?1049l" in shown.until("\x1b[?1049l")
    assert shown.code() == 0


def test_it_plays_by_itself(
    tok: digram.Tokenizer, tok_path: str, terminal: Callable[..., Terminal]
) -> None:
    frames = len(digram.replay(tok, TEXT).frames)
    shown = terminal("replay", "-t", tok_path, "--text", TEXT, "--seconds", "0.02")
    shown.until("The end.")
    shown.press("\x1b")
    shown.until("\x1b[?1049l")
    assert shown.code() == 0
    again = terminal("replay", "-t", tok_path, "--text", TEXT)
    again.until(f"0 of {frames}")
    again.press("+++++++++p")
    again.until("The end.")


def test_ctrl_c_gives_the_terminal_back(tok_path: str, terminal: Callable[..., Terminal]) -> None:
    shown = terminal("replay", "-t", tok_path, "--text", TEXT)
    shown.until("q quit")
    shown.press("\x03")
    shown.until("\x1b[?1049l")
    assert shown.code() == 130


def test_no_wait_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python looks for signals before it waits, and one may come in the moment between."""
    waited: list[float] = []

    def wait(ready: list[int], _w: list[int], _x: list[int], seconds: float) -> tuple[Any, ...]:
        waited.append(seconds)
        return ready if len(waited) == 3 else [], [], []

    monkeypatch.setattr(select, "select", wait)
    read, write = os.pipe()
    try:
        os.write(write, b"n")
        assert Screen(read).key() == "n"
    finally:
        os.close(read)
        os.close(write)
    assert waited == [0.1] * 3
