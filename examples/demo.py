"""Train a tokenizer, save it, load it, use it and look at it: the whole of digram in five steps.

    python examples/demo.py [CORPUS]

CORPUS is a file, a folder or a quoted pattern; without it, the source of Python's own standard
library. Writes demo-output/tokenizer.json. Ends with exit code 1 if a check fails.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

import digram
from digram._util.progress import amount
from digram.display.terminal import chip, columns, render, use_color

TOKENS = 8_000
END = "<|endoftext|>"
"""Separates documents, if a text has several."""
OUTPUT = Path("demo-output")
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "__pycache__"}
LINES = [
    ("Code", "for name, value in sorted(counts.items()): total += value"),
    ("English", "A tokenizer cuts text into the pieces that a model reads."),
    ("Anything", "Even 世界 and naïve 👋, for every text is bytes."),
]
COLOR = use_color(sys.stdout)


def main(arguments: list[str]) -> int:
    """Run the five steps; the exit code."""
    started = time.perf_counter()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows `?`
    print(bold("\n  digram") + dim("  byte-pair encoding, in five steps\n"))
    paths = corpus(arguments)
    tok = learn(paths)
    loaded = save_and_load(tok)
    good = loaded == tok
    good &= round_trip(loaded, paths)
    look(loaded)
    seconds = time.perf_counter() - started
    verdict = green("every check passed") if good else red("A CHECK FAILED")
    print(f"  {verdict}{dim(f', {seconds:.1f} s in all. Now it is yours:')}\n")
    command = os.path.relpath(Path(sys.executable).with_name("digram"))
    print(f"    {command} show -t {OUTPUT}/tokenizer.json --text 'your own words'")
    print(f"    {command} inspect -t {OUTPUT}/tokenizer.json\n")
    return 0 if good else 1


def corpus(arguments: list[str]) -> list[Path]:
    """The files to learn from."""
    begun = time.perf_counter()
    if arguments:
        what = f"your text, {arguments[0]}"
        paths = list(digram.files(*map(os.path.expanduser, arguments)).paths)
    else:
        what = "the source of Python's own standard library"
        paths = sources_below(Path(sysconfig.get_paths()["stdlib"]))
    size = sum(path.stat().st_size for path in paths)
    step(1, "Read", f"{what}.")
    row("files", f"{len(paths):,}")
    row("size", amount(size))
    row("time", f"{time.perf_counter() - begun:.2f} s to find them")
    print()
    return paths


def sources_below(folder: Path) -> list[Path]:
    """Its Python files, sorted, without tests and what was installed later."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name not in LEFT_OUT:
            found += sources_below(path)
        elif path.suffix == ".py" and path.is_file():
            found.append(path)
    return found


def learn(paths: list[Path]) -> digram.Tokenizer:
    """Train, and show the first merges."""
    step(2, "Train", "Start from the 256 bytes. Make the most frequent pair of")
    more("neighbours a token of its own, and again, until there are enough.")
    begun = time.perf_counter()
    documents = digram.files(*paths, separator=END)
    tok = digram.train(documents, vocab_size=TOKENS, special_tokens=[END])
    seconds = time.perf_counter() - begun
    assert tok.training is not None
    log = tok.merge_log
    print(dim(f"      {'merge':>6}  {'pair':<22}{'new token':<15}times in the text"))
    most = max((merge.count or 0 for merge in log), default=0)
    for merge in [*log[:8], *log[8:][-2:]]:
        if merge.rank == len(log) - 2 and len(log) > 10:
            print(dim(f"      {'…':>6}"))
        pair = padded(f"{chip(merge.left, 0, color=COLOR)} {chip(merge.right, 1, color=COLOR)}", 22)
        token = padded(chip(merge.token, 3, color=COLOR), 15)
        count = merge.count or 0
        bar = cyan("▇" * round(16 * count / most))
        print(f"      {merge.rank + 1:>6,}  {pair}{token}{count:>10,}  {bar}".rstrip())
    print()
    row("tokens", f"{len(tok):,} = 256 bytes + {len(log):,} merges + 1 special")
    row("time", f"{seconds:.2f} s, {amount(tok.training.bytes / seconds)}/s")
    print()
    return tok


def save_and_load(tok: digram.Tokenizer) -> digram.Tokenizer:
    """Through a file and back."""
    step(3, "Save", "One file, which Hugging Face's libraries read as it is.")
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "tokenizer.json"
    begun = time.perf_counter()
    tok.save(path)
    saved = time.perf_counter()
    loaded = digram.load(path)
    row("file", f"{path}, {amount(path.stat().st_size)}")
    row("time", f"{saved - begun:.2f} s to save, {time.perf_counter() - saved:.2f} s to load")
    row("check", check(loaded == tok, "what was loaded equals what was saved"))
    print()
    return loaded


def round_trip(tok: digram.Tokenizer, paths: list[Path]) -> bool:
    """Encode a file, decode it, and compare."""
    step(4, "Encode", "Text becomes ids, the numbers of its tokens, and ids become text.")
    path = max(paths, key=lambda path: path.stat().st_size)
    with path.open("rb") as file:
        text = file.read(10_000_000)
    part = "" if len(text) == path.stat().st_size else "the first "
    begun = time.perf_counter()
    ids = tok.encode(text)
    encoded = time.perf_counter()
    back = tok.decode_bytes(ids)
    decoded = time.perf_counter()
    row("file", f"{path.name}, {part}{len(text):,} bytes")
    row("ids", f"{len(ids):,}, so {bold(f'{len(text) / max(1, len(ids)):.2f} bytes per token')}")
    row("encode", f"{(encoded - begun) * 1000:.1f} ms, {amount(len(text) / (encoded - begun))}/s")
    row(
        "decode",
        f"{(decoded - encoded) * 1000:.1f} ms, {amount(len(text) / (decoded - encoded))}/s",
    )
    row("check", check(back == text, "the decoded bytes are the same, bit for bit"))
    print()
    return back == text


def look(tok: digram.Tokenizer) -> None:
    """A few lines as coloured tokens with their ids."""
    seen = f"Each {'colour' if COLOR else 'bracket'} is one token; a dot is a space"
    step(5, "Look", f"{seen}; below it stands its id.")
    for name, line in LINES:
        ids = tok.encode(line)
        tokens = f"{len(ids)} tokens for {len(line.encode())} bytes"
        print(f"\n      {bold(name)}{dim(f'  {tokens}')}")
        shown = render(tok.tokens(ids), ids, color=COLOR, width=70)
        print("".join(f"      {part}\n" for part in shown.splitlines()), end="")
    print()


def step(number: int, name: str, text: str) -> None:
    """The heading of a step."""
    print(f"  {cyan(str(number))} {bold(f'{name:<7}')} {text}")


def more(text: str) -> None:
    """A further line of a heading."""
    print(f"            {text}\n")


def row(name: str, text: str) -> None:
    """A fact."""
    print(f"      {dim(f'{name:<7}')} {text}")


def check(good: bool, text: str) -> str:
    """A fact that must hold."""
    return green(f"✓ {text}") if good else red(f"✗ NOT SO: {text}")


def padded(text: str, width: int) -> str:
    """The text and as many spaces as it lacks."""
    return text + " " * (width - columns(text))


def _style(code: str) -> Callable[[str], str]:
    return lambda text: f"\x1b[{code}m{text}\x1b[0m" if COLOR else text


bold, dim, red, green, cyan = map(_style, ("1", "2", "1;31", "32", "36"))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # as in `make demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except digram.DigramError as error:
        sys.exit(f"demo: {error}")
    except OSError as error:
        sys.exit(f"demo: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
