"""`digram replay`: replay training on a text."""

from __future__ import annotations

import shutil
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _loading, _options, _printing, _reading, _screen, _texts_by_file, _verbs

if TYPE_CHECKING:
    from digram.analysis.explain import Replay
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["replay"]

_PAUSE = 0.7  # seconds
_SHORTEST, _LONGEST = 0.02, 10.0


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram replay -t tokenizer.json --text 'Hello, world!'",
        "digram replay -t tokenizer.json poem.txt --seconds 0.5",
    ),
)
@_options.file_argument
@_loading.with_tokenizer
@_texts_by_file.text_option
@click.option(
    "--seconds",
    type=click.FloatRange(_SHORTEST, _LONGEST),
    metavar="N",
    help="Play automatically, one merge every N seconds.",
)
@_options.color_option
@_reading.source_options
@_options.special_option
@_options.json_option
def replay(
    *,
    tok: Tokenizer,
    file: str,
    text: str | None,
    seconds: float | None,
    color: bool | None,
    read_options: _reading.ReadOptions,
    special: Any,
    as_json: bool,
) -> None:
    """Replay training on FILE or stdin, merge by merge: the pairs of the text and their counts, the
    pair that is merged, the pairs that came next in training, the text in its new tokens, and the
    size of the vocabulary.

    On a terminal the space bar shows the next merge, b the previous one, p plays automatically,
    + and - change the speed, g and G show the first and the last merge, q quits. Without a
    terminal, all merges that occur in the text are printed. Counts of training are known for
    tokenizers trained by digram, the pairs that came next for those trained with --runners-up.
    Records of JSON and tables, and documents between separators, are played one after the other.
    """
    import digram

    colored = _printing.is_colored(color)
    for name, document, data in _texts_by_file.given(file, text, read_options):
        with _texts_by_file.where(name, document):
            found = digram.replay(tok, data, special=special)
        if as_json:
            _printing.emit_json(found.to_dict())
            continue
        with _screen.opened() as screen:
            if screen is not None:
                _play(found, screen, colored, seconds)
        if screen is None:
            _print(found, colored)


def _print(found: Replay, colored: bool) -> None:
    from digram.analysis.explain.lines.replay import played

    lines = played(found, color=colored, width=shutil.get_terminal_size().columns)
    while block := "".join([f"{line}\n" for line in islice(lines, 1000)]):
        _printing.emit(block)


def _play(found: Replay, screen: _screen.Screen, colored: bool, seconds: float | None) -> None:
    """Show frames as keys request them, until the user quits."""
    from digram.analysis.explain.lines.replay import screen as drawn

    last = len(found.frames) - 1
    number, pause, plays = -1, seconds or _PAUSE, seconds is not None
    while True:
        width, height = shutil.get_terminal_size()
        screen.draw(drawn(found, number, color=colored, width=width, height=height))
        plays = plays and number < last
        key = screen.key(pause if plays else None)
        if key in ("q", "escape"):
            return
        if key is None or key in ("space", "right", "enter", "n"):
            number += 1
        elif key in ("b", "left"):
            number -= 1
        elif key in ("g", "home"):
            number = -1
        elif key in ("G", "end"):
            number = last
        elif key == "p":
            plays = not plays
        elif key in ("+", "-"):
            pause = min(max(pause / 1.5 if key == "+" else pause * 1.5, _SHORTEST), _LONGEST)
        number = min(max(number, -1), last)
